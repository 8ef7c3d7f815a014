"""Wrenches on bodies from outside as inputs of functions of CasADi, and maps of steps."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.peers.test_casadi_closed import DRIVEN
from tests.peers.test_casadi_closed_kinematics import mechanism
from tests.peers.test_casadi_evaluations import assert_computes, assert_same, tree
from tests.trees import random_pose

casadi = pytest.importorskip("casadi")

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")


def loaded(system, given):
    """Return names of bodies, inputs with wrenches on these, and them as a system takes them."""
    names = [system.body_names[-1], system.body_names[1]]
    rows = np.random.default_rng(17).normal(size=(2, 6))
    return names, given | {"wrenches": rows}, dict(zip(names, rows, strict=True))


@pytest.mark.some(4)
@pytest.mark.parametrize("k", range(6))
def test_dynamics_of_trees(k):
    """Of every joint, in the representation of the system, beside its own forces."""
    system, given = tree(k)
    names, given, W = loaded(system, given)
    q, v, vdot, tau, t = (given[name] for name in ("q", "v", "vdot", "tau", "t"))
    held = [system.joint_names[1]]
    for name, expected, options in (
        ("inverse_dynamics", system.inverse_dynamics(q, v, vdot, W, t=t), {}),
        ("forward_dynamics", system.forward_dynamics(q, v, tau, W, t=t), {}),
        (
            "hybrid_dynamics",
            system.hybrid_dynamics(q, v, tau=tau, vdot=vdot, prescribed=held, wrenches=W, t=t),
            {"prescribed": held},
        ),
    ):
        assert_computes(system, given, name, expected, wrenches=names, **options)
    for joint in system.joint_names:
        expected = system.reaction(joint, q, v, tau, W, t=t)
        assert_computes(system, given, "reaction", expected, wrenches=names, joint=joint)


@pytest.mark.some(3)
@pytest.mark.parametrize("k", range(6))
def test_derivatives_carry_them_with_their_bodies(k):
    """As those of the system, whose wrenches are constant in the axes of the bodies."""
    system, given = tree(k)
    system = system.without_forces()  # some of which the system differentiates by differences
    names, given, W = loaded(system, given)
    q, v, vdot, tau = (given[name] for name in ("q", "v", "vdot", "tau"))
    for name, expected in (
        ("inverse_dynamics_derivatives", system.inverse_dynamics_derivatives(q, v, vdot, W)),
        ("forward_dynamics_derivatives", system.forward_dynamics_derivatives(q, v, tau, W)),
        (
            "inverse_dynamics_second_derivatives",
            system.inverse_dynamics_second_derivatives(q, v, vdot, W),
        ),
    ):
        assert_computes(system, given, name, expected, 1e-10, wrenches=names)


@pytest.mark.some(3)
@pytest.mark.parametrize("k", range(4))
def test_derivatives_by_wrenches(k):
    """Of inverse dynamics -J^T, and by q at constant numbers of W, by differences."""
    system, given = tree(k)
    names, given, W = loaded(system, given)
    function = mb.casadi_function(
        system, "derivatives", of="inverse_dynamics", by=["wrenches", "q"], wrenches=names
    )
    by_W, by_q = function(*(given[name] for name in function.name_in()))
    q, v, vdot, t = (given[name] for name in ("q", "v", "vdot", "t"))
    J = np.vstack([system.jacobian(name, q) for name in names])
    assert_same(by_W, -J.T.reshape(-1, 2, 6))
    step = 1e-4

    def efforts(x):
        return system.inverse_dynamics(system.retract(q, x), v, vdot, W, t=t)

    slopes = [
        (8.0 * (efforts(e) - efforts(-e)) - efforts(2 * e) + efforts(-2 * e)) / (12.0 * step)
        for e in step * np.eye(system.ndx)
    ]
    assert_same(by_q, np.array(slopes).T, 1e-9)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", DRIVEN)
def test_closed_mechanisms(name):
    """Accelerations, multipliers, efforts of actuators, and what joints bear."""
    system, _, given = mechanism(name)
    names, given, W = loaded(system, given)
    q, v, vdot, tau = (given[name] for name in ("q", "v", "vdot", "tau"))
    expected = system.solve_dynamics(q, v, tau, W)
    assert_computes(system, given, "solve_dynamics", expected, 1e-11, wrenches=names)
    assert_computes(system, given, "forward_dynamics", expected[0], 1e-11, wrenches=names)
    held = DRIVEN[name][0]
    expected = system.closed_inverse_dynamics(q, v, vdot, actuated=held, tau=tau, wrenches=W)
    both = expected.efforts, expected.multipliers
    assert_computes(
        system, given, "closed_inverse_dynamics", both, 1e-11, wrenches=names, actuated=held
    )
    for joint in (system.joint_names[0], system.loop_joints[0]):
        expected = system.reaction(joint, q, v, tau, W, minimum_norm=True)
        assert_computes(
            system, given, "reaction", expected, 1e-11, wrenches=names, joint=joint,
            minimum_norm=True,
        )  # fmt: skip


def test_parameters_stay_free_beside_them():
    system, given = tree(2)
    names, given, W = loaded(system, given)
    place = f"joints.{system.joint_names[0]}.S_pred"
    values = {place: random_pose(np.random.default_rng(2)), "bodies.body1.mass": 2.3}
    labels = {path: f"p{k}" for k, path in enumerate(values)}
    given = given | {labels[path]: value for path, value in values.items()}
    state = (given[name] for name in ("q", "v", "tau"))
    expected = system.with_parameters(values).forward_dynamics(*state, W, t=given["t"])
    assert_computes(
        system, given, "forward_dynamics", expected, 1e-11, wrenches=names, parameters=labels
    )


def test_maps_of_steps_are_inverse():
    """Their product is one, and the derivative of the linear map by the rate is its matrix."""
    system, given = tree(1)
    forth = mb.casadi_function(system, "dexp")
    back = mb.casadi_function(system, "dexp_inv")
    assert forth.name_in() == back.name_in() == ["dx", "rate"]
    assert_same(back(given["dx"], forth(given["dx"], given["rate"])), given["rate"])
    slopes = mb.casadi_function(system, "derivatives", of="dexp_inv", by=["rate"])
    matrix = system.dexp_inv(given["dx"], np.eye(system.ndx)).T
    assert_same(slopes(given["dx"], given["rate"]), matrix)


@pytest.mark.parametrize(
    ("wrenches", "match"),
    [
        ("body1", "must be the name"),
        ([1], "the name of a body"),
        (["body1", "body1"], "each once"),
        (["bodi1"], "no body 'bodi1'; did you mean 'body1'"),
        (["tool"], "'tool' is a frame on body 'body1'"),
        (np.zeros((9, 6)), "names of the bodies"),
    ],
)
def test_bodies_are_named(wrenches, match):
    system, _ = tree(0)
    with pytest.raises(mb.MbkitError, match=match):
        mb.casadi_function(system, "forward_dynamics", wrenches=wrenches)


def test_what_takes_no_wrenches_says_so():
    system, _ = tree(0)
    with pytest.raises(mb.UsageError, match="'mass_matrix' takes no wrenches"):
        mb.casadi_function(system, "mass_matrix", wrenches=["body1"])
    with pytest.raises(mb.UsageError, match="vdot must be True or False"):
        mb.casadi_function(system, "reaction", joint=system.joint_names[0], vdot=[1.0])
