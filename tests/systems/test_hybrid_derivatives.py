"""Derivatives of hybrid dynamics of trees: those of the equations of motion, partly solved."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.systems.calls import lanes
from tests.reference.test_nonholonomic_joints import Skate
from tests.reference.user_joints import CardanJoint
from tests.systems.every_joint import behind
from tests.systems.test_batches import COUNT, FIRST, from_first, in_lanes_alone, one
from tests.systems.test_derivatives import assert_close
from tests.trees import MAKERS, random_inertia, random_mechanism, random_state

BY = ("q", "v", "tau", "vdot")


def check(system, q, v, tau, vdot, prescribed, t=0.3):
    """By hand: with e = M vdot + b - f, of which M_FF dvdot_F + de_F = dtau_F, dtau_P = de_P + ...

    F are the velocities that are free and P those whose accelerations are given.
    """
    found = system.derivatives(
        "hybrid_dynamics", q, v, tau, vdot=vdot, prescribed=prescribed, by=BY, t=t
    )
    moved, efforts = system.hybrid_dynamics(q, v, tau=tau, vdot=vdot, prescribed=prescribed, t=t)
    held = np.zeros(system.nv, dtype=bool)
    for name in prescribed:
        held[system.velocity_slice(name)] = True
    np.testing.assert_array_equal(found.values["vdot"][held], vdot[held])
    np.testing.assert_array_equal(found.values["tau"][~held], tau[~held])
    assert_close(found.values["vdot"], moved)
    assert_close(found.values["tau"], np.where(held, efforts, tau))
    M = system.mass_matrix(q)
    e_q, e_v = system.inverse_dynamics_derivatives(q, v, found.values["vdot"], t=t)
    sides = {"q": -e_q, "v": -e_v, "tau": np.diag(1.0 * ~held), "vdot": -M * held}
    for name, side in sides.items():
        expected = np.zeros((2, *side.shape))
        expected[0][~held] = np.linalg.solve(M[np.ix_(~held, ~held)], side[~held])
        expected[1][held] = M[np.ix_(held, ~held)] @ expected[0][~held] - side[held]
        if name == "vdot":
            expected[0] += np.diag(1.0 * held)
        if name == "tau":
            expected[1] += np.diag(1.0 * ~held)
        assert_close(np.array([found.vdot[name], found.tau[name]]), expected)


def some_of(rng, system, share=0.4):
    """Return the names of some joints."""
    return [name for name in system.joint_names if rng.random() < share]


@pytest.mark.some(3)
@pytest.mark.parametrize("turned", [0.0, 1.0], ids=["as set", "turned round"])
@pytest.mark.parametrize("kind", MAKERS)
def test_every_joint_free_and_driven(kind, turned):
    rng = np.random.default_rng(31)
    mech = random_mechanism(rng, 7, (kind, "revolute", kind), turned_round=turned, reach=3)
    system = mech.assemble()
    s = random_state(rng, system)
    for share in (0.3, 0.6):
        check(system, s.q, s.v, s.tau, s.vdot, some_of(rng, system, share))


@pytest.mark.slow
def test_a_tree_of_all_joints_with_forces():
    rng = np.random.default_rng(32)
    mech = random_mechanism(rng, 26)
    mech.add_force(mb.SpringDamper("tie", "body0", "body9", stiffness=9.0, damping=0.4))
    mech.add_force(mb.Drag("drag", "body5", linear=0.3, quadratic=0.4))
    system = mech.assemble()
    s = random_state(rng, system)
    for prescribed in ([], some_of(rng, system), list(system.joint_names)):
        check(system, s.q, s.v, s.tau, s.vdot, prescribed)


@pytest.mark.parametrize("held", [True, False], ids=["driven", "free"])
@pytest.mark.parametrize(
    "joint", [CardanJoint("own"), Skate("own")], ids=lambda j: type(j).__name__
)
def test_joints_in_python_and_nonholonomic_ones(joint, held):
    rng = np.random.default_rng(33)
    system = behind(joint, rng, False)
    q = system.retract(system.reference_configuration(), 0.6 * rng.normal(size=system.ndx))
    v, tau, vdot = rng.normal(size=(3, system.nv))
    names = [name for name in system.joint_names if (name == "own") == held]
    check(system, q, v, tau, vdot, names)


def test_efforts_and_accelerations_by_name_or_left_out():
    rng = np.random.default_rng(34)
    system = random_mechanism(rng, 4, ("revolute",)).assemble()
    s = random_state(rng, system)
    names, zero = system.joint_names, np.zeros(4)
    full = zero.copy()
    full[system.velocity_slice(names[1])] = 2.0
    for given, vectors in (
        ({"tau": {names[1]: 2.0}}, (full, zero)), ({"vdot": {names[1]: 2.0}}, (zero, full)),
    ):  # fmt: skip
        for prescribed in ([names[1]], [names[0]]):
            found, expected = (
                system.derivatives("hybrid_dynamics", s.q, s.v, prescribed=prescribed, by=BY, **x)
                for x in (given, dict(zip(("tau", "vdot"), vectors, strict=True)))
            )
            for what in ("vdot", "tau"):
                np.testing.assert_array_equal(found.values[what], expected.values[what])
                np.testing.assert_array_equal(
                    getattr(found, what)["q"], getattr(expected, what)["q"]
                )


@pytest.mark.usefixtures("two_threads")
@pytest.mark.compiled
def test_batches_are_what_their_samples_are(monkeypatch):
    """Bit by bit, in lanes; a sample that is not finite spoils no other."""
    monkeypatch.setattr(lanes, "MOST_ENTRIES", {})
    rng = np.random.default_rng(35)
    system = random_mechanism(rng, len(MAKERS), reach=4).assemble()
    states = [random_state(rng, system) for _ in range(COUNT)]
    arguments = {
        name: np.array([getattr(s, name) for s in states]) for name in ("q", "v", "tau", "vdot")
    }
    prescribed = some_of(rng, system)

    def call(a, **options):
        found = system.derivatives(
            "hybrid_dynamics", a["q"], a["v"], a["tau"], vdot=a["vdot"], prescribed=prescribed,
            by=BY, **options,
        )  # fmt: skip
        parts = [part[name] for part in (found.vdot, found.tau) for name in BY]
        values = [found.values[what][..., None] for what in ("vdot", "tau")]
        return np.concatenate([*parts, *values], axis=-1)

    expected = np.array([call(one(arguments, k)) for k in range(COUNT)])
    np.testing.assert_array_equal(call(arguments), expected)
    np.testing.assert_array_equal(call(from_first(arguments)), expected[FIRST:])
    broken = {**arguments, "v": arguments["v"].copy()}
    broken["v"][41] = np.nan
    found = call(broken, on_error="nan")
    np.testing.assert_array_equal(np.delete(found, 41, axis=0), np.delete(expected, 41, axis=0))
    assert np.isnan(found[41][:, :-1]).all()
    np.testing.assert_array_equal(in_lanes_alone(monkeypatch, lambda: call(arguments)), expected)
    with pytest.raises(mb.NotFiniteError):
        call(broken)


def test_joints_that_are_prescribed_by_functions_of_time():
    """Accelerations of the others, under wrenches that go with their bodies, at several times."""
    rng = np.random.default_rng(36)
    mech, inner = mb.Mechanism("driven"), "world"
    kinds = ("spherical", "motor", "universal", "motor", "planar")
    for k, kind in enumerate(kinds):
        mech.add_body(mb.Body(f"b{k}", random_inertia(rng)))
        joint = MAKERS["revolute" if kind == "motor" else kind](rng, f"{kind}{k}")
        mech.add_joint(joint.prescribe(np.sin) if kind == "motor" else joint, inner, f"b{k}")
        inner = f"b{k}"
    mech.add_force(mb.SpringDamper("tie", "b0", "b4", stiffness=9.0, damping=0.4))
    system = mech.assemble()
    q = system.retract(system.reference_configuration(), 0.4 * rng.normal(size=system.ndx))
    v, tau = rng.normal(size=(2, system.nv))
    wrenches, times = {"b2": rng.normal(size=6)}, np.array([0.2, 0.9])
    free = np.ones(system.nv, dtype=bool)
    for name in system.prescribed_joints:
        free[system.velocity_slice(name)] = False
    many = system.forward_dynamics_derivatives(q, v, tau, wrenches, t=times)
    for k, t in enumerate(times.tolist()):
        at, moving, _ = system.prescribed_rows(t, q, v)
        vdot = system.forward_dynamics(q, v, tau, wrenches, t=t)
        M = system.mass_matrix(at)[np.ix_(free, free)]
        e_q, e_v = system.inverse_dynamics_derivatives(at, moving, vdot, wrenches, t=t)
        for own, found, side in zip(
            system.forward_dynamics_derivatives(q, v, tau, wrenches, t=t), many,
            (-e_q, -e_v, np.eye(system.nv)), strict=True,
        ):  # fmt: skip
            expected = np.zeros_like(own)
            expected[np.ix_(free, free)] = np.linalg.solve(M, side[np.ix_(free, free)])
            assert_close(own, expected)
            assert_close(found[k], own)
