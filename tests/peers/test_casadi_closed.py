"""Dynamics of closed mechanisms as functions of CasADi: multipliers and efforts of actuators."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME
from tests.peers.test_casadi import same

casadi = pytest.importorskip("casadi")

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")

#: Mechanisms, redundant rows among them, and joints whose actuators give them every motion.
DRIVEN = {
    "four-bar": (["A"], ["A", "B"]),
    "Bricard": (["joint1"], ["joint1", "joint2", "joint4"]),
    "spatial slider-crank": (["pivot"],),
    "parallelogram": (["A"], ["A", "C"]),
    "five-bar": (["left shoulder", "right shoulder"],),
    "delta robot": (["hip1", "hip2", "hip3"],),
}


def motion(rng, system):
    """Return q, v, vdot that satisfy the constraints, and forces."""
    start = system.close_loops(system.reference_configuration())
    q = system.close_loops(system.retract(start, 0.1 * rng.normal(size=system.ndx)))
    v, vdot, tau = rng.normal(size=(3, system.nv))
    A = system.constraint_jacobian(q)
    back = np.linalg.pinv(A, rcond=1e-9)
    v = v - back @ (A @ v)
    return q, v, vdot - back @ (A @ vdot + system.constraint_bias(q, v)), tau


@pytest.mark.parametrize("name", DRIVEN)
def test_multipliers(name):
    """As those of `solve_dynamics`, the least ones where rows depend on others."""
    system = BY_NAME[name].system()
    q, v, _, tau = motion(np.random.default_rng(31), system)
    function = mb.casadi_function(system, "solve_dynamics")
    assert function.name_out() == ["vdot", "multipliers"]
    for found, expected in zip(function(q, v, tau), system.solve_dynamics(q, v, tau), strict=True):
        assert same(found, expected, 1e-12)


@pytest.mark.parametrize(
    ("name", "actuated"), [(name, each) for name, several in DRIVEN.items() for each in several]
)
def test_efforts_of_actuators(name, actuated):
    """As those of `closed_inverse_dynamics`; with them forward dynamics gives the motion back."""
    system = BY_NAME[name].system()
    q, v, vdot, tau = motion(np.random.default_rng(32), system)
    weights = {actuated[-1]: 3.0}
    for minimise in (None, "constraint", weights):
        function = mb.casadi_function(
            system, "closed_inverse_dynamics", actuated=actuated, minimise=minimise
        )
        efforts, multipliers = function(q, v, vdot, tau)
        expected = system.closed_inverse_dynamics(
            q, v, vdot, actuated=actuated, tau=tau, minimise=minimise or "effort"
        )
        assert same(efforts, expected.efforts, 1e-12)
        assert same(multipliers, expected.multipliers, 1e-12)
        total = efforts.full().ravel() + tau
        assert np.allclose(system.forward_dynamics(q, v, total), vdot, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["Bricard", "delta robot"])
def test_inverse_dynamics_is_that_of_the_tree(name):
    """With multipliers as unknowns it states the dynamics of the closed mechanism."""
    system = BY_NAME[name].system()
    q, v, vdot, _ = motion(np.random.default_rng(33), system)
    function = mb.casadi_function(system, "inverse_dynamics")
    assert same(function(q, v, vdot), system.inverse_dynamics(q, v, vdot))
    by_q, by_v, by_vdot = function.jacobian()(q, v, vdot, np.zeros(system.nv))
    expected = system.derivatives("inverse_dynamics", q, v, vdot=vdot, by=("q", "v", "vdot"))
    E = np.array([system.position_rates(q, e) for e in np.eye(system.ndx)]).T
    assert same(by_q @ E, expected["q"], 1e-10)
    assert same(by_v, expected["v"], 1e-10)
    assert same(by_vdot, expected["vdot"], 1e-10)


def test_derivatives_of_multipliers_are_those_of_mbkit():
    system = BY_NAME["delta robot"].system()
    q, v, _, tau = motion(np.random.default_rng(34), system)
    function = mb.casadi_function(system, "solve_dynamics")
    outputs = [np.zeros(system.nv), np.zeros(system.num_velocity_constraints)]
    parts = function.jacobian()(q, v, tau, *outputs)
    expected = system.derivatives("forward_dynamics", q, v, tau, by=("q", "v", "tau"))
    E = np.array([system.position_rates(q, e) for e in np.eye(system.ndx)]).T
    for k, found in enumerate((expected, expected.multipliers)):
        by_q, by_v, by_tau = parts[3 * k : 3 * k + 3]
        assert same(by_q @ E, found["q"], 1e-10)
        assert same(by_v, found["v"], 1e-10)
        assert same(by_tau, found["tau"], 1e-10)


def test_derivatives_of_efforts_by_the_motion():
    """By vdot: the efforts of a redundant drive are linear in it."""
    system = BY_NAME["parallelogram"].system()
    q, v, vdot, tau = motion(np.random.default_rng(35), system)
    function = mb.casadi_function(system, "closed_inverse_dynamics", actuated=["A", "C"])
    A = system.constraint_jacobian(q)
    along = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, 1e-9) :].T  # steps that are allowed

    def efforts(change):
        return system.closed_inverse_dynamics(
            q, v, vdot + along @ change, actuated=["A", "C"], tau=tau
        ).efforts

    nothing = np.zeros(system.nv), np.zeros(len(A))
    by_vdot = function.jacobian()(q, v, vdot, tau, *nothing)[2].full()
    rates = np.array([efforts(e) - efforts(-e) for e in np.eye(along.shape[1])]).T / 2.0
    assert same(casadi.DM(by_vdot @ along), rates, 1e-10)


def test_what_does_not_move_every_motion_is_named():
    system = BY_NAME["five-bar"].system()
    with pytest.raises(mb.UsageError, match=r"its actuators stand still.*more joints"):
        mb.casadi_function(system, "closed_inverse_dynamics", actuated=["left shoulder"])
    with pytest.raises(mb.UsageError, match="needs the joints that have actuators"):
        mb.casadi_function(system, "closed_inverse_dynamics")
    with pytest.raises(mb.UsageError, match="takes no minimise"):
        mb.casadi_function(system, "inverse_dynamics", minimise="effort")
    with pytest.raises(mb.UsageError, match=r"minimise must be .* got 'least'"):
        mb.casadi_function(
            system, "closed_inverse_dynamics", actuated=["left shoulder"], minimise="least"
        )
    tree = mb.Mechanism("tree")
    body = tree.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    tree.add_joint(mb.RevoluteJoint("hinge"), tree.world, body)
    for name, actuated in (("solve_dynamics", None), ("closed_inverse_dynamics", ["hinge"])):
        with pytest.raises(mb.UsageError, match="has no constraints"):
            mb.casadi_function(tree.assemble(), name, actuated=actuated)
