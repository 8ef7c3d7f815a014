"""Every system keeps the contract of `mbkit.EquationsOfMotion`: each derivative is one."""

from __future__ import annotations

import inspect
import itertools

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from tests.constraints.examples import EXAMPLES
from tests.constraints.loops import LOOP_KINDS, closed, consistent, random_loops
from tests.every_representation import REPRESENTATIONS
from tests.forces.cases import every_force, tree
from tests.reference.test_nonholonomic_joints import SkateByHand
from tests.trees import random_inertia, random_mechanism, random_pose, random_state

#: Within a moment at which no table of the forces has a corner. [s]
TIME = 0.45


@attrs.frozen
class Case:
    """A system, and a state at which it may be looked at; where there are loops they are closed."""

    system: mb.System
    q: object
    v: object
    vdot: object
    multipliers: object


def case_of(system, q, rng):
    v = consistent(system, q, rng.normal(size=system.nv))
    return Case(
        system, q, v, rng.normal(size=system.nv),
        rng.normal(size=system.num_velocity_constraints),
    )  # fmt: skip


def forced_tree(representation):
    rng = np.random.default_rng(60)
    mech, single = tree(rng)
    system = mech.assemble(mb.RelativeCoordinates(representation))
    system = system.with_forces(every_force(rng, mech, single))
    return case_of(system, random_state(rng, system).q, rng)


def tree_of_all_joints(frames):
    rng = np.random.default_rng(61)
    system = random_mechanism(rng, 23).assemble(mb.RelativeCoordinates(body_frames=frames))
    return case_of(system, random_state(rng, system).q, rng)


def sleigh():
    """A joint with fewer velocities than steps, between others."""
    rng = np.random.default_rng(62)
    mech = mb.Mechanism("sleigh", gravity=rng.normal(size=3))
    bodies = [mech.add_body(mb.Body(f"b{i}", random_inertia(rng))) for i in range(3)]
    mech.add_joint(mb.RevoluteJoint("slope", axis=(1, 1, 0)), mech.world, bodies[0])
    mech.add_joint(SkateByHand("skate"), bodies[0], bodies[1], reference=random_pose(rng))
    mech.add_joint(mb.SphericalJoint("ball"), bodies[1], bodies[2], reference=random_pose(rng))
    system = mech.assemble()
    q = system.retract(system.reference_configuration(), rng.normal(size=system.ndx))
    return case_of(system, q, rng)


def one_loop(kind, representation):
    rng = np.random.default_rng(63)
    mech, q, loops = random_loops(rng, 6, (kind,))
    return case_of(closed(mech, loops, representation), q, rng)


def loops_of(kinds, tree_kinds, count, seed):
    rng = np.random.default_rng(seed)
    mech, q, loops = random_loops(rng, count, kinds, tree_kinds)
    return case_of(closed(mech, loops), q, rng)


EXACT = ("revolute", "prismatic", "helical", "spherical", "free", "cylindrical", "planar")

CASES = {
    **{f"forces, {r.name}": lambda r=r: forced_tree(r) for r in REPRESENTATIONS},
    **{f"tree, {f}": lambda f=f: tree_of_all_joints(f) for f in ("joint", "com", "world", "user")},
    "sleigh": sleigh,
    **{
        f"loop, {kind}": lambda kind=kind, r=r: one_loop(kind, r)
        for kind, r in zip(LOOP_KINDS, itertools.cycle(REPRESENTATIONS))
    },
    "three loops": lambda: loops_of(("revolute", "spherical", "universal"), EXACT, 12, 64),
    "many loops": lambda: loops_of(LOOP_KINDS[::2], (*EXACT, "universal", "composite"), 20, 65),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """Each system of the list."""
    return CASES[request.param]()


def along_steps(system, q, function):
    """Return the derivatives of function(q) along unit steps, last axis."""
    columns = [
        derivative(lambda e, s=s: np.asarray(function(system.retract(q, e * s))))
        for s in np.eye(system.ndx)
    ]
    return np.stack(columns, axis=-1)


def along(x, function):
    """Return the derivatives of function(x) by the entries of x, last axis."""
    columns = [derivative(lambda e, s=s: np.asarray(function(x + e * s))) for s in np.eye(len(x))]
    return np.stack(columns, axis=-1)


def assert_close(found, expected, tolerance=1e-9, size=1.0):
    """Compare to a part of the largest entry, or of what the derivative is of."""
    assert found.shape == expected.shape
    size = max(size, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)


# --------------------------------------------------------------------------------- the interface


def test_systems_have_all_methods_with_these_arguments(case):
    """A caller may give them by name."""
    assert isinstance(case.system, mb.EquationsOfMotion)
    for name, method in vars(mb.EquationsOfMotion).items():
        if not name.startswith("_") and inspect.isfunction(method):
            asked = inspect.signature(method).parameters
            given = inspect.signature(getattr(mb.System, name)).parameters
            in_order = [p.name for p in asked.values() if p.kind is not p.KEYWORD_ONLY]
            assert [*given][: len(in_order)] == in_order
            assert set(asked) <= set(given)
            needed = [p.name for p in given.values() if p.default is p.empty]
            assert needed == [p.name for p in asked.values() if p.default is p.empty]


# -------------------------------------------------------------------------- configuration group


def test_steps_lead_there_and_back(case):
    system, rng = case.system, np.random.default_rng(70)
    x = 0.4 * rng.normal(size=system.ndx)
    np.testing.assert_allclose(
        system.difference(case.q, system.retract(case.q, x)), x, rtol=0.0, atol=1e-11
    )
    np.testing.assert_allclose(system.retract(case.q, 0.0 * x), case.q, rtol=0.0, atol=1e-15)


def test_rates_are_those_of_the_motion(case):
    """Bodies move with the twists of v along the step that `rates` says."""
    system = case.system
    rates = system.rates(case.q, case.v)
    moved = derivative(lambda e: system.poses(system.retract(case.q, e * rates)))
    C = system.poses(case.q)
    V_b = mb.convert_twist(system.twists(case.q, case.v), C, system.representation, mb.BodyFixed())
    turning = np.swapaxes(C[:, :3, :3], -1, -2) @ moved[:, :3, :3]
    found = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=-1)
    assert_close(found, V_b[:, :3])
    shift = (np.swapaxes(C[:, :3, :3], -1, -2) @ moved[:, :3, 3:])[..., 0]
    assert_close(shift, V_b[:, 3:])


def knows_rates(joint):
    """Whether a joint of one's own says how its positions change, or lets them add."""
    own = type(joint)
    return own.retract is mb.Joint.retract or own.position_rates is not mb.Joint.position_rates


def test_position_rates_are_those_of_the_positions(case):
    """Of systems whose joints all say them; quaternions stay of length one."""
    system = case.system
    if any(joint and not knows_rates(joint) for joint in system.arrays.joints):
        with pytest.raises(mb.JointError, match=r"define position_rates\(q, w\)"):
            system.position_rates(case.q, case.v)
        return
    found = system.position_rates(case.q, case.v)
    rates = system.rates(case.q, case.v)
    assert_close(found, derivative(lambda e: system.retract(case.q, e * rates)))
    for k in system.quaternions:
        assert abs(found[k : k + 4] @ case.q[k : k + 4]) < 1e-14


def test_dexp_is_the_differential_of_the_retraction(case):
    system, rng = case.system, np.random.default_rng(71)
    x, rate = 0.4 * rng.normal(size=(2, system.ndx))
    there = system.retract(case.q, x)
    expected = derivative(lambda e: system.difference(there, system.retract(case.q, x + e * rate)))
    moving = system.dexp(x, rate)
    assert_close(moving, expected)
    assert_close(system.dexp_inv(x, moving), rate, 1e-12)


# -------------------------------------------------------------------------------------- dynamics


def test_the_mass_matrix_is_what_accelerations_need(case):
    system, (q, v, vdot) = case.system, (case.q, case.v, case.vdot)
    M = system.mass_matrix(q)
    assert_close(system.mass_action(q, vdot), M @ vdot, 1e-12)
    b, f = system.bias_force(q, v), system.generalized_forces(q, v, TIME)
    assert_close(M @ vdot + b - f, system.inverse_dynamics(q, v, vdot, t=TIME), 1e-12)
    zero = np.zeros(system.nv)
    np.testing.assert_array_equal(b - f, system.inverse_dynamics(q, v, zero, t=TIME))


def test_derivatives_of_inverse_dynamics(case):
    system, (q, v, vdot) = case.system, (case.q, case.v, case.vdot)
    d_q, d_v = system.inverse_dynamics_derivatives(q, v, vdot, t=TIME)
    size = np.abs(system.inverse_dynamics(q, v, vdot, t=TIME)).max()
    expected = along_steps(system, q, lambda q: system.inverse_dynamics(q, v, vdot, t=TIME))
    assert_close(d_q, expected, size=size)
    expected = along(v, lambda v: system.inverse_dynamics(q, v, vdot, t=TIME))
    assert_close(d_v, expected, size=size)


def test_derivatives_of_forces(case):
    system, (q, v) = case.system, (case.q, case.v)
    d_q, d_v = system.force_derivatives(q, v, TIME)
    size = np.abs(system.generalized_forces(q, v, TIME)).max()
    expected = along_steps(system, q, lambda q: system.generalized_forces(q, v, TIME))
    assert_close(d_q, expected, size=size)
    assert_close(d_v, along(v, lambda v: system.generalized_forces(q, v, TIME)), size=size)


# ----------------------------------------------------------------------------------- constraints


def test_numbers_of_constraints(case):
    system = case.system
    assert system.constraint_residual(case.q).shape == (system.num_position_constraints,)
    A = system.constraint_jacobian(case.q)
    assert A.shape == (system.num_velocity_constraints, system.nv)
    assert_close(system.constraint_velocity(case.q, case.v), A @ case.v, 1e-12)


def test_the_jacobian_is_the_derivative_of_the_residual(case):
    """Where loops are closed, and joints holonomic."""
    system, q = case.system, case.q
    if system.ndx != system.nv:
        pytest.skip("a step of a nonholonomic joint need not be a motion")
    residual = np.abs(system.constraint_residual(q)).max(initial=0.0)
    assert residual < 1e-12
    expected = along_steps(system, q, system.constraint_residual)
    assert_close(system.constraint_jacobian(q), expected)


def test_derivative_of_jacobian_times_velocity(case):
    """At closed loops, and at open ones."""
    system, rng = case.system, np.random.default_rng(72)
    v = rng.normal(size=system.nv)
    near = system.retract(case.q, 1e-2 * rng.normal(size=system.ndx))
    for q in (case.q, near):
        found = system.constraint_jacobian_velocity_derivative(q, v)
        size = np.abs(system.constraint_jacobian(q)).max(initial=0.0)
        expected = along_steps(system, q, lambda q: system.constraint_jacobian(q) @ v)
        assert_close(found, expected, size=size)


def test_derivative_of_constraint_forces(case):
    system, rng = case.system, np.random.default_rng(73)
    near = system.retract(case.q, 1e-2 * rng.normal(size=system.ndx))
    for q in (case.q, near):
        found = system.constraint_force_derivative(q, case.multipliers)
        size = np.abs(system.constraint_jacobian(q)).max(initial=0.0)
        expected = along_steps(
            system, q, lambda q: system.constraint_jacobian(q).T @ case.multipliers
        )
        assert_close(found, expected, size=size)


def test_both_derivatives_are_of_one_jacobian(case):
    """multipliers . D_q(A v) = v . D_q(A^T multipliers)."""
    system, (q, v) = case.system, (case.q, case.v)
    along_v = case.multipliers @ system.constraint_jacobian_velocity_derivative(q, v)
    along_l = v @ system.constraint_force_derivative(q, case.multipliers)
    assert_close(along_v, along_l, 1e-10, np.abs(v).max() * np.abs(case.multipliers).max(initial=1))


def test_the_bias_is_the_rate_of_the_constraints(case):
    """dA/dt v = D_q(A v) rates(q, v), for a velocity that keeps the loops closed."""
    system, (q, v) = case.system, (case.q, case.v)
    found = system.constraint_jacobian_velocity_derivative(q, v) @ system.rates(q, v)
    assert_close(system.constraint_bias(q, v), found)


@pytest.mark.some(2)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a loop"])
@pytest.mark.parametrize("constraint", EXAMPLES, ids=lambda each: each.name)
def test_derivatives_of_other_constraints(constraint, beside):
    """Both derivatives of the Jacobian, also for constraints that are functions of time."""
    rng = np.random.default_rng(75)
    mech = mb.Mechanism("two", gravity=rng.normal(size=3))
    inner = mech.world
    for body, joint in (
        ("a", mb.FreeJoint("free")), ("c", mb.RevoluteJoint("i", axis=(1, 2, 2))),
        ("d", mb.HelicalJoint("j", axis=(0, 1, 2), pitch=0.2)), ("b", mb.SphericalJoint("of b")),
    ):  # fmt: skip
        outer = mech.add_body(mb.Body(body, random_inertia(rng)))
        mech.add_joint(joint, inner, outer, reference=random_pose(rng))
        inner = outer
    mech.add_constraint(constraint)
    if beside:
        mech.add_joint(mb.UniversalJoint("loop"), "a", "b", frames=(random_pose(rng),) * 2)
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["loop"] if beside else []))
    q = system.retract(system.reference_configuration(), 0.5 * rng.normal(size=system.ndx))
    v, multipliers = rng.normal(size=system.nv), rng.normal(size=system.num_velocity_constraints)
    A = system.constraint_jacobian(q, TIME)
    found = system.constraint_jacobian_velocity_derivative(q, v, TIME)
    expected = along_steps(system, q, lambda q: system.constraint_jacobian(q, TIME) @ v)
    assert_close(found, expected, size=np.abs(A).max())
    found = system.constraint_force_derivative(q, multipliers, TIME)
    expected = along_steps(system, q, lambda q: system.constraint_jacobian(q, TIME).T @ multipliers)
    assert_close(found, expected, size=np.abs(A).max())


# ---------------------------------------------------------------------------------- many samples


def test_leading_axes(case):
    """Derivatives of several states at once are those of each."""
    system, rng = case.system, np.random.default_rng(74)
    q = np.stack([system.retract(case.q, s) for s in 0.1 * rng.normal(size=(2, system.ndx))])
    calls = {
        "inverse dynamics": lambda q: system.inverse_dynamics_derivatives(q, case.v, case.vdot),
        "A v": lambda q: (system.constraint_jacobian_velocity_derivative(q, case.v),),
        "A^T l": lambda q: (system.constraint_force_derivative(q, case.multipliers),),
    }
    for call in calls.values():
        for k, several in enumerate(call(q)):
            for one, state in zip(several, q, strict=True):
                np.testing.assert_array_equal(one, call(state)[k])
