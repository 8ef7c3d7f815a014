"""Joints that close loops: their rows against differentiation, and the equations of motion."""

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.loops import LOOP_KINDS, closed, consistent, random_loops
from tests.every_representation import REPRESENTATIONS, each_representation
from tests.joints import pose_only
from tests.trees import MAKERS, random_state

each_kind = pytest.mark.parametrize("kind", LOOP_KINDS)


def moved(system, q, v, t):
    """The configuration that v leads to in the time t, along a curve with this velocity."""
    return system.retract(q, t * v)


def richardson(function, h):
    """The derivative of a function of one number at zero, to order six."""
    d = [(function(k * h) - function(-k * h)) / (2 * k * h) for k in (1, 2, 3)]
    return 1.5 * d[0] - 0.6 * d[1] + 0.1 * d[2]


def case(kind, seed=3):
    rng = np.random.default_rng(seed)
    mech, q, loops = random_loops(rng, 6, (kind,))
    system = closed(mech, loops)
    return system, q, rng


@pytest.mark.some(3)
@each_kind
def test_loops_close_where_they_were_closed(kind):
    system, q, _ = case(kind)
    joint = MAKERS[kind](np.random.default_rng(0), "any")
    assert system.num_position_constraints == 6 - joint.num_velocities
    assert np.abs(system.constraint_residual(q)).max() < 2e-14 * system.arrays.closure.length


@pytest.mark.some(3)
@each_kind
def test_jacobian_is_the_derivative_of_the_residual(kind):
    system, q, _ = case(kind)
    A = system.constraint_jacobian(q)
    for direction in np.eye(system.nv):
        expected = richardson(
            lambda t, d=direction: system.constraint_residual(moved(system, q, d, t)), 2e-4
        )
        np.testing.assert_allclose(A @ direction, expected, atol=2e-10 * (1 + np.abs(A).max()))


@pytest.mark.some(3)
@each_kind
def test_velocity_and_acceleration_are_rates(kind):
    """A vdot + A' v, by way of the velocity at neighbouring states of a motion that keeps loops."""
    system, q, rng = case(kind)
    v = consistent(system, q, rng.normal(size=system.nv))
    A = system.constraint_jacobian(q)
    vdot = rng.normal(size=system.nv)
    np.testing.assert_allclose(system.constraint_velocity(q, v), A @ v, atol=1e-12)
    bias = system.constraint_bias(q, v)
    np.testing.assert_allclose(
        system.constraint_acceleration(q, v, vdot), A @ vdot + bias, atol=1e-11
    )
    vdot = vdot - np.linalg.pinv(A, rcond=1e-9) @ (A @ vdot + bias)

    def rate(t):
        """A v on a curve with this velocity and acceleration, which leaves the loops with t^3."""
        x = t * v + 0.5 * t * t * vdot
        there = system.retract(q, x)
        # of a group, the velocity of q exp(x) is dexp(x) xdot: by difference of neighbours
        e = 1e-5
        near = [system.retract(q, (t + s) * v + 0.5 * (t + s) ** 2 * vdot) for s in (-e, e)]
        return system.constraint_velocity(there, system.difference(*near) / (2 * e))

    scale = 1 + np.abs(bias).max() + np.abs(A).max() * np.abs(vdot).max()
    found = richardson(rate, 1e-2)
    # the wrenches turn with the joint, and the velocity has no part along them: nothing is left
    np.testing.assert_allclose(found, np.zeros(len(bias)), atol=3e-6 * scale)


@pytest.mark.some(3)
@each_kind
def test_wrenches_do_no_work_on_motions_of_the_joint(kind):
    """What the tree does along its velocities is what the wrenches of the rows do."""
    system, q, rng = case(kind)
    multipliers = rng.normal(size=system.num_velocity_constraints)
    v = consistent(system, q, rng.normal(size=system.nv))
    power = multipliers @ system.constraint_jacobian(q) @ v
    assert abs(power) < 1e-11 * (1 + np.abs(multipliers).sum())


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")  # some depend on others
@each_representation
@pytest.mark.parametrize("kinds", [LOOP_KINDS[::3], LOOP_KINDS[1::3], LOOP_KINDS[2::3]])
def test_equations_of_motion_hold(representation, kinds):
    """Several loops of several joints on a tree of all joints, against the tree's equations."""
    rng = np.random.default_rng(11)
    mech, q, loops = random_loops(rng, 24, kinds[:3])
    system = closed(mech, loops, representation)
    state = random_state(rng, system)
    v = consistent(system, q, state.v)
    vdot, multipliers = system.solve_dynamics(q, v, state.tau, state.wrenches)
    A = system.constraint_jacobian(q)
    np.testing.assert_allclose(
        A @ vdot + system.constraint_bias(q, v), 0.0, atol=1e-8 * (1 + np.abs(vdot).max())
    )
    tree = system.inverse_dynamics(q, v, vdot, state.wrenches)
    np.testing.assert_allclose(
        tree, state.tau + A.T @ multipliers, atol=1e-9 * (1 + np.abs(tree).max())
    )
    np.testing.assert_allclose(
        system.forward_dynamics(q, v, state.tau, state.wrenches), vdot, rtol=1e-12, atol=1e-12
    )


def test_many_rows_are_solved_by_blocks():
    """Beyond the rows that make one block, against dense linear algebra."""
    rng = np.random.default_rng(5)
    mech, q, loops = random_loops(rng, 40, ("revolute",) * 12, ("spherical", "free"))
    system = closed(mech, loops)
    assert len(system.arrays.closure.blocks) == 12
    v = consistent(system, q, rng.normal(size=system.nv))
    vdot, multipliers = system.solve_dynamics(q, v)
    A, M = system.constraint_jacobian(q), system.mass_matrix(q)
    m = len(A)
    K = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    right = np.concatenate([-system.bias_force(q, v), -system.constraint_bias(q, v)])
    expected = np.linalg.solve(K, right)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(vdot, expected[: system.nv], atol=1e-9 * scale)
    np.testing.assert_allclose(multipliers, expected[system.nv :], atol=1e-8 * scale)


def test_redundant_loops_give_the_least_multipliers_and_are_named_once():
    """A loop closed twice by the same joint: each carries half."""
    rng = np.random.default_rng(2)
    mech, q, loops = random_loops(rng, 8, ("revolute",), ("spherical", "universal"))
    once = closed(mech, loops)
    v = consistent(once, q, rng.normal(size=once.nv))
    edge = mech.joints["loop0"]
    twin = mb.RevoluteJoint("twin", axis=edge.joint.axis, point=edge.joint.point)
    mech.add_joint(twin, edge.predecessor, edge.successor, frames=(edge.S_pred, edge.S_succ))
    twice = closed(mech, (*loops, "twin"))
    vdot, single = once.solve_dynamics(q, v)
    with pytest.warns(mb.RedundantConstraintsWarning, match="5 redundant constraints: 'twin"):
        found, both = twice.solve_dynamics(q, v)
    np.testing.assert_allclose(found, vdot, atol=1e-8 * np.abs(vdot).max())
    half = np.concatenate([single, single]) / 2.0
    np.testing.assert_allclose(both, half, atol=1e-6 * np.abs(single).max())
    twice.solve_dynamics(q, v)  # told once: a second warning would be an error


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", ["revolute", "spherical", "cylindrical", "fixed"])
def test_joints_in_python_close_loops(kind):
    """A joint that gives its pose alone, in the place of one of mbkit with the same poses."""
    rng = np.random.default_rng(4)
    mech, q, loops = random_loops(rng, 6, (kind,), ("spherical", "revolute", "universal"))
    edge = mech.joints["loop0"]
    own = edge.joint
    twin = {
        "revolute": lambda: pose_only.AxisJoint("loop0", own.axis, own.point),
        "spherical": lambda: pose_only.BallTwin("loop0", own.point),
        "cylindrical": lambda: pose_only.CylinderTwin("loop0", own.axis, own.point),
        "fixed": lambda: pose_only.WeldTwin("loop0"),
    }[kind]()
    other = mb.Mechanism("in Python", gravity=mech.gravity)
    for body in mech.bodies.values():
        other.add_body(body)
    for name, each in mech.joints.items():
        joint = twin if name == "loop0" else each.joint
        frames = (each.S_pred, each.S_succ)
        other.add_joint(joint, each.predecessor, each.successor, frames=frames)
    systems = closed(mech, loops), closed(other, loops)
    v = consistent(systems[0], q, rng.normal(size=systems[0].nv))
    expected, found = (system.forward_dynamics(q, v) for system in systems)
    np.testing.assert_allclose(found, expected, atol=1e-8 * (1 + np.abs(expected).max()))
    assert np.abs(systems[1].constraint_residual(q)).max() < 1e-13


@pytest.mark.some(4)
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_runs_keep_loops_closed(representation):
    """Positions and velocities over a second, with groups in the tree and in the loop."""
    rng = np.random.default_rng(8)
    mech, q, loops = random_loops(
        rng, 5, ("universal",), ("spherical", "revolute", "planar", "universal", "helical")
    )
    system = closed(mech, loops, representation)
    v = consistent(system, q, 0.3 * rng.normal(size=system.nv))
    run = mb.simulate(system, t_span=(0.0, 0.3), h=1e-3, q=q, v=v)
    assert np.abs(system.constraint_residual(run.q)).max() < 1e-11
    assert np.abs(system.constraint_velocity(run.q, run.v)).max() < 1e-11


def test_initial_states_that_leave_loops_open_are_refused():
    system, q, rng = case("revolute")
    off = system.retract(q, 1e-3 * np.ones(system.nv))
    with pytest.raises(mb.ConstraintError, match=r"'loop0\[\d\]' by .* m. Close them first"):
        mb.simulate(system, t_span=(0.0, 0.1), h=1e-2, q=off)
    with pytest.raises(mb.ConstraintError, match=r"opens loops: 'loop0\[\d\]' at .* m/s"):
        mb.simulate(system, t_span=(0.0, 0.1), h=1e-2, q=q, v=rng.normal(size=system.nv))
