"""Derivatives of the dynamics: against differentiation, and the identities they must obey."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3
from tests.constraints.loops import closed, random_loops
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.systems.every_joint import (
    at_hard_place,
    each_hard_place,
    each_joint_of_one_s_own,
    each_kind_in_all_frames,
    moved_behind,
    with_kind_in_the_middle,
)
from tests.systems.test_mass_factor import ancestors
from tests.trees import MAKERS, random_inertia, random_mechanism, random_pose, random_state

#: What eighth-order differences of a recursion leave, of the largest entry.
NUMERIC = 1e-10


def along_steps(system, q, function):
    """Return the derivatives of function(q) along the unit steps, as columns."""
    steps = np.eye(system.ndx)
    return np.array(
        [derivative(lambda e, s=s: function(system.retract(q, e * s))) for s in steps]
    ).T


def along(x, function):
    """Return the derivatives of function(x) by the entries of x, as columns."""
    return np.array([derivative(lambda e, s=s: function(x + e * s)) for s in np.eye(len(x))]).T


def assert_close(found, expected, tolerance=NUMERIC, size=0.0):
    """Compare to a part of the largest entry, or of what the derivatives are of."""
    size = max(size, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)


def check(system, q, v, vdot, tolerance=NUMERIC):
    """Compare the derivatives of inverse dynamics with differences, and with forward dynamics."""
    d_q, d_v = system.inverse_dynamics_derivatives(q, v, vdot)
    check_forward(system, q, v, system.inverse_dynamics(q, v, vdot), (d_q, d_v))
    size = np.abs(system.inverse_dynamics(q, v, vdot)).max()
    expected = along_steps(system, q, lambda q: system.inverse_dynamics(q, v, vdot))
    assert_close(d_q, expected, tolerance, size)
    assert_close(d_v, along(v, lambda v: system.inverse_dynamics(q, v, vdot)), tolerance, size)


def check_forward(system, q, v, tau, given, wrenches=None):
    """M d_q = -D_q and M d_v = -D_v with those of inverse dynamics, and M d_tau = 1."""
    found = system.forward_dynamics_derivatives(q, v, tau, wrenches)
    M = system.mass_matrix(q)
    for each, other in zip(found, (*(-x for x in given), np.eye(system.nv)), strict=True):
        terms = np.abs(M) @ np.abs(each)  # what cancels in the product
        assert_close(M @ each, other, 1e-12, max(terms.max(), np.abs(tau).max()))


# ------------------------------------------------------------------ inverse dynamics, all joints


@each_kind_in_all_frames
def test_every_joint_either_way_round_in_all_frames(kind, frames, turned):
    system, state = with_kind_in_the_middle(np.random.default_rng(40), kind, frames, turned)
    check(system, state.q, state.v, state.vdot)


@pytest.mark.some(3)
@pytest.mark.parametrize("seed", range(3))
def test_trees_of_all_joints(seed):
    rng = np.random.default_rng(500 + seed)
    system = random_mechanism(rng, 26).assemble()
    state = random_state(rng, system)
    check(system, state.q, state.v, state.vdot)


def test_joints_that_are_added_from_the_tips_inwards():
    """Velocities of joints come before those of the joints between them and the world."""
    rng, kinds = np.random.default_rng(44), ("revolute", "spherical", "helical", "universal")
    mech = mb.Mechanism("upside down")
    bodies = [mech.add_body(mb.Body(f"body{k}", random_inertia(rng))) for k in range(12)]
    for k in reversed(range(12)):
        parent = bodies[rng.integers(max(0, k - 3), k)] if k else mech.world
        mech.add_joint(MAKERS[kinds[k % 4]](rng, f"joint{k}"), parent, bodies[k])
    system = mech.assemble()
    state = random_state(rng, system)
    check(system, state.q, state.v, state.vdot)


@each_hard_place
def test_hard_places(kind, angle):
    rng = np.random.default_rng(41)
    system, q = at_hard_place(rng, kind, angle)
    check(system, q, rng.normal(size=system.nv), rng.normal(size=system.nv))


@each_joint_of_one_s_own
@pytest.mark.some(3)
def test_joints_of_one_s_own_nonholonomic_and_absolute_ones(joint, turned):
    """A skate has more steps than velocities: d_q has as many columns."""
    rng = np.random.default_rng(42)
    system, q = moved_behind(joint, rng, turned)
    v, vdot = rng.normal(size=system.nv), rng.normal(size=system.nv)
    found = system.inverse_dynamics_derivatives(q, v, vdot)[0]
    assert found.shape == (system.nv, system.ndx)
    check(system, q, v, vdot)


def test_bodies_without_inertia_and_welded_ones():
    """Bodies of no mass between others, two of them welded together."""
    rng = np.random.default_rng(43)
    mech = mb.Mechanism("tree", gravity=rng.normal(size=3))
    nothing = mb.SpatialInertia.zero()
    inertias = [nothing, nothing, random_inertia(rng), random_inertia(rng)]
    inner = mech.world
    for i, (kind, inertia) in enumerate(
        zip(("universal", "fixed", "revolute", "fixed"), inertias, strict=True)
    ):
        outer = mech.add_body(mb.Body(f"b{i}", inertia))
        mech.add_joint(MAKERS[kind](rng, f"j{i}"), inner, outer, reference=random_pose(rng))
        inner = outer
    system = mech.assemble()
    state = random_state(rng, system)
    check(system, state.q, state.v, state.vdot)


def test_distance_from_the_origin_costs_no_accuracy():
    """A tree a thousand kilometres away has the derivatives of the same tree here.

    Measured from the origin, moments of 1e12 kg m^2 would leave four digits.
    """
    found, forward = [], []
    for place in ((0.0, 0.0, 0.0), (1e6, -1e6, 1e6)):
        rng = np.random.default_rng(44)
        mech = random_mechanism(rng, 12, turned_round=0.0, floating=True)
        system = mech.assemble()
        state = random_state(rng, system)
        q = state.q.copy()
        joint = next(n for n, e in mech.joints.items() if e.predecessor == "world")
        q[system.position_slice(joint)][4:] += place
        found.append(system.inverse_dynamics_derivatives(q, state.v, state.vdot))
        forward.append(system.forward_dynamics_derivatives(q, state.v, state.tau))
    for near, far in (*zip(*found, strict=True), *zip(*forward, strict=True)):
        assert_close(far, near, 1e-12)


# ----------------------------------------------------------------------------------- identities


@pytest.fixture(scope="module")
def case():
    """A tree of all joints, and a state."""
    system = all_joints().assemble()
    return system, random_state(np.random.default_rng(45), system)


def all_joints():
    return random_mechanism(np.random.default_rng(45), 24)


def test_the_bias_is_quadratic_in_the_velocity(case):
    """(d b / d v) v = 2 (b(q, v) - b(q, 0)), Euler's theorem; at rest it is zero."""
    system, s = case
    _, d_v = system.inverse_dynamics_derivatives(s.q, s.v, s.vdot)
    zero = np.zeros(system.nv)
    quadratic = system.bias_force(s.q, s.v) - system.bias_force(s.q, zero)
    assert_close(d_v @ s.v, 2.0 * quadratic, 1e-12)
    at_rest = system.inverse_dynamics_derivatives(s.q, zero, s.vdot)[1]
    np.testing.assert_allclose(at_rest, 0.0, atol=1e-12)


def test_power_of_the_inertial_forces(case):
    """v^T (dM/dt) v / 2 = v^T (b - gravity): the kinetic energy changes by power alone.

    The change of M v is that of what it takes to accelerate by v from rest, without gravity.
    """
    system, s = case
    zero = np.zeros(system.nv)
    moving = system.inverse_dynamics_derivatives(s.q, zero, s.v)[0]
    still = system.inverse_dynamics_derivatives(s.q, zero, zero)[0]
    rate_of_T = 0.5 * s.v @ ((moving - still) @ system.rates(s.q, s.v))
    power = s.v @ (system.bias_force(s.q, s.v) - system.bias_force(s.q, zero))
    assert rate_of_T == pytest.approx(power, rel=1e-10)


def test_the_stiffness_of_gravity_is_symmetric():
    """At rest d_q is the Hessian of the potential energy, where steps are coordinates."""
    rng = np.random.default_rng(46)
    kinds = ("revolute", "prismatic", "helical", "universal", "angles", "rotation vector")
    system = random_mechanism(rng, 15, kinds).assemble()
    state = random_state(rng, system)
    zero = np.zeros(system.nv)
    d_q, _ = system.inverse_dynamics_derivatives(state.q, zero, zero)
    assert_close(d_q, d_q.T, 1e-11)


def test_only_joints_on_one_path_matter_to_each_other(case):
    """Joints of different branches have derivatives of zero, as they have in the mass matrix."""
    system, s = case
    d_q, d_v = system.inverse_dynamics_derivatives(s.q, s.v, s.vdot)
    inward = ancestors(all_joints(), system)
    apart = ~(inward | inward.T | np.eye(system.nv, dtype=bool))
    assert apart.any()
    np.testing.assert_array_equal(d_q[apart], 0.0)
    np.testing.assert_array_equal(d_v[apart], 0.0)


@pytest.mark.some(2)
@each_representation
def test_wrenches_go_with_the_bodies(representation):
    """Held fixed in the axes of the bodies, they are the same wrenches in all representations."""
    rng = np.random.default_rng(47)
    mech = random_mechanism(rng, 14)
    system = mech.assemble(mb.RelativeCoordinates(representation))
    s = random_state(rng, system)
    maps = representation.twist_map(system.poses(s.q))
    fixed = np.einsum("bji,bj->bi", maps, s.wrenches)

    def tau(q):
        back = np.linalg.inv(representation.twist_map(system.poses(q)))
        return system.inverse_dynamics(q, s.v, s.vdot, np.einsum("bji,bj->bi", back, fixed))

    d_q, d_v = system.inverse_dynamics_derivatives(s.q, s.v, s.vdot, s.wrenches)
    assert_close(d_q, along_steps(system, s.q, tau))
    np.testing.assert_array_equal(d_v, system.inverse_dynamics_derivatives(s.q, s.v, s.vdot)[1])
    name = system.body_names[3]
    by_name = system.inverse_dynamics_derivatives(s.q, s.v, s.vdot, {name: s.wrenches[3]})[0]
    alone = np.zeros_like(s.wrenches)
    alone[3] = s.wrenches[3]
    as_rows = system.inverse_dynamics_derivatives(s.q, s.v, s.vdot, alone)[0]
    np.testing.assert_array_equal(by_name, as_rows)


# ------------------------------------------------------------------------------ forward dynamics


def test_forward_dynamics():
    rng = np.random.default_rng(48)
    system = random_mechanism(rng, 10, reach=3).assemble()
    s = random_state(rng, system)
    d_q, d_v, d_tau = system.forward_dynamics_derivatives(s.q, s.v, s.tau)
    assert_close(
        d_q, along_steps(system, s.q, lambda q: system.forward_dynamics(q, s.v, s.tau)), 1e-9
    )
    assert_close(d_v, along(s.v, lambda v: system.forward_dynamics(s.q, v, s.tau)), 1e-9)
    assert_close(d_tau @ system.mass_matrix(s.q), np.eye(system.nv), 1e-10)


@pytest.mark.some(2)
@each_representation
def test_forward_dynamics_in_every_representation(representation):
    """With wrenches that move with their bodies; the kernel's accelerations are the system's."""
    rng = np.random.default_rng(47)
    coordinates = mb.RelativeCoordinates(representation)
    system = all_joints().assemble(coordinates)
    s = random_state(rng, system)
    vdot = system.forward_dynamics(s.q, s.v, s.tau, s.wrenches)
    given = system.inverse_dynamics_derivatives(s.q, s.v, vdot, s.wrenches)
    check_forward(system, s.q, s.v, s.tau, given, s.wrenches)
    own = system.derivatives("forward_dynamics", s.q, s.v, s.tau).values["vdot"]
    assert_close(own, system.forward_dynamics(s.q, s.v, s.tau), 1e-11)


def test_prescribed_joints_move_as_they_are_told():
    """Nothing acts on them, and what is said of their state is ignored."""
    rng = np.random.default_rng(49)
    mech = mb.Mechanism("arm", gravity=rng.normal(size=3))
    inner = mech.world
    for i in range(4):
        body = mech.add_body(mb.Body(f"b{i}", random_inertia(rng)))
        joint = mb.RevoluteJoint(f"j{i}", axis=rng.normal(size=3))
        given = joint.prescribe(lambda t: np.sin(3.0 * t)) if i == 1 else joint
        mech.add_joint(given, inner, body, reference=random_pose(rng))
        inner = body
    system = mech.assemble()
    q, v, tau = rng.normal(size=(3, system.nv))
    found = system.forward_dynamics_derivatives(q, v, tau, t=0.3)
    expected = (
        along(q, lambda q: system.forward_dynamics(q, v, tau, t=0.3)),
        along(v, lambda v: system.forward_dynamics(q, v, tau, t=0.3)),
        along(tau, lambda tau: system.forward_dynamics(q, v, tau, t=0.3)),
    )
    for each, other in zip(found, expected, strict=True):
        assert_close(each, other, 1e-9)
        np.testing.assert_array_equal(each[1], 0.0)
        np.testing.assert_array_equal(each[:, 1], 0.0)


def test_a_joint_that_moves_no_inertia_is_named():
    """A point mass on the axis of a joint that carries a slider."""
    mech = mb.Mechanism("point on axis")
    arm = mech.add_body(mb.Body("arm"))
    mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.from_com(1.0, (0, 0, 1.0))))
    mech.add_joint(mb.RevoluteJoint("turn", axis=(0, 0, 1)), mech.world, arm)
    mech.add_joint(mb.PrismaticJoint("slide", axis=(0, 0, 1)), arm, mass)
    with pytest.raises(mb.SingularMassMatrixError, match="turn"):
        mech.assemble().forward_dynamics_derivatives([0.1, 0.2], [0.0, 0.0])


def test_closed_systems_are_refused():
    mech, _, loops = random_loops(np.random.default_rng(55), 4, ("revolute",))
    system = closed(mech, loops)
    with pytest.raises(mb.UsageError, match="has loops"):
        system.forward_dynamics_derivatives(np.zeros(system.nq), np.zeros(system.nv))


# ---------------------------------------------------------------------------------------- forces


def test_forces_of_every_kind():
    rng = np.random.default_rng(50)
    mech, single = tree(rng)
    system = mech.assemble().with_forces(every_force(rng, mech, single))
    s = random_state(rng, system)
    t = 0.45  # between the samples of what is interpolated
    d_q, d_v = system.force_derivatives(s.q, s.v, t)
    # rounding of the force, by the step of 1e-5
    tolerance = 1e-10 * np.abs(system.generalized_forces(s.q, s.v, t)).max()
    expected = along_steps(system, s.q, lambda q: system.generalized_forces(q, s.v, t))
    np.testing.assert_allclose(d_q, expected, rtol=0.0, atol=tolerance)
    expected = along(s.v, lambda v: system.generalized_forces(s.q, v, t))
    np.testing.assert_allclose(d_v, expected, rtol=0.0, atol=tolerance)


def test_linear_springs_and_dampers_are_exact():
    """-k and -d to the last digit; springs only where coordinates add."""
    rng = np.random.default_rng(51)
    mech = random_mechanism(rng, 6, ("revolute", "planar", "prismatic", "spherical", "angles"))
    planar = next(n for n, e in mech.joints.items() if isinstance(e.joint, mb.PlanarJoint))
    adding = [n for n, e in mech.joints.items() if e.joint.positions_add]
    for k, name in enumerate(adding):
        mech.add_force(mb.JointSpring(f"s{k}", name, stiffness=10.0 + k, rest=0.3))
    for k, name in enumerate(mech.joints):
        mech.add_force(mb.JointDamper(f"d{k}", name, damping=0.1 + k))
    alone = mech.assemble()
    state = random_state(rng, alone)
    d_q, d_v = alone.force_derivatives(state.q, state.v)
    stiffness, damping = np.zeros(alone.nv), np.zeros(alone.nv)
    for k, name in enumerate(adding):
        stiffness[alone.velocity_slice(name)] = 10.0 + k
    for k, name in enumerate(mech.joints):
        damping[alone.velocity_slice(name)] = 0.1 + k
    np.testing.assert_array_equal(d_q, -np.diag(stiffness))
    np.testing.assert_array_equal(d_v, -np.diag(damping))
    with pytest.raises(mb.ForceError, match="do the work of its potential energy"):
        alone.with_forces([mb.JointSpring("sheet", planar, stiffness=3.0)])


def test_forces_in_python_and_none():
    rng = np.random.default_rng(52)
    system = random_mechanism(rng, 4, ("revolute",)).assemble()
    state = random_state(rng, system)
    for each in system.force_derivatives(state.q, state.v):
        np.testing.assert_array_equal(each, np.zeros((4, 4)))

    class Swing(mb.Force):
        joints = ("joint0", "joint2")

        def evaluate(self, t, q, v, poses, twists, out):
            out[:] = np.sin(q[0]) * v[1] ** 2, np.cos(q[1] - t)

    with_one = system.with_forces([Swing("swing")])
    d_q, d_v = with_one.force_derivatives(state.q, state.v, 0.2)
    expected = along(state.q, lambda q: with_one.generalized_forces(q, state.v, 0.2))
    np.testing.assert_allclose(d_q, expected, rtol=0.0, atol=1e-10)
    expected = along(state.v, lambda v: with_one.generalized_forces(state.q, v, 0.2))
    np.testing.assert_allclose(d_v, expected, rtol=0.0, atol=1e-10)


# --------------------------------------------------------------------------- samples and failures


def test_many_samples_at_once():
    """Leading axes broadcast, as everywhere; each sample is what it is alone."""
    rng = np.random.default_rng(53)
    mech, single = tree(rng, 8)
    system = mech.assemble().with_forces(every_force(rng, mech, single))
    states = [random_state(rng, system) for _ in range(6)]
    q = np.array([s.q for s in states]).reshape(2, 3, -1)
    v, vdot = states[0].v, np.array([s.vdot for s in states[:3]])
    several = (
        system.inverse_dynamics_derivatives(q, v, vdot),
        system.forward_dynamics_derivatives(q, v, vdot),
        system.force_derivatives(q, v, 0.45),
    )
    for i, j in np.ndindex(2, 3):
        alone = (
            system.inverse_dynamics_derivatives(q[i, j], v, vdot[j]),
            system.forward_dynamics_derivatives(q[i, j], v, vdot[j]),
            system.force_derivatives(q[i, j], v, 0.45),
        )
        for found, expected in zip(several, alone, strict=True):
            for a, b in zip(found, expected, strict=True):
                assert a.shape == (2, 3, *b.shape)
                np.testing.assert_array_equal(a[i, j], b)


def test_samples_that_fail():
    system = mb.Mechanism("ball")
    body = system.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    system.add_joint(mb.SphericalJoint("ball"), system.world, body)
    system = system.assemble()
    q = np.array([[1.0, 0, 0, 0], [2.0, 0, 0, 0]])
    zero = np.zeros(3)
    with pytest.raises(mb.ConfigurationError, match="ball"):
        system.inverse_dynamics_derivatives(q[1], zero, zero)
    with pytest.raises(mb.ShapeError, match="vdot"):
        system.inverse_dynamics_derivatives(q[0], zero, zero[:2])
    for call in (
        lambda: system.inverse_dynamics_derivatives(q, zero, zero, on_error="nan"),
        lambda: system.forward_dynamics_derivatives(q, zero, on_error="nan"),
    ):
        for each in call():
            assert np.isfinite(each[0]).all()
            assert np.isnan(each[1]).all()


def test_a_step_is_along_the_group():
    """A free body: d_q at rest is how its weight turns against it, -(0; R^T m g) cross the step."""
    mech = mb.Mechanism("body", gravity=(0.0, 0.0, -10.0))
    inertia = mb.SpatialInertia.from_com(2.0, (0.1, 0.2, 0.3), np.eye(3))
    mech.add_joint(mb.FreeJoint("free"), mech.world, mech.add_body(mb.Body("body", inertia)))
    system = mech.assemble()
    pose = SE3.exp(np.array([0.4, -0.8, 0.3, 0.2, 0.1, -0.5]))
    q = system.retract(system.reference_configuration(), SE3.log(pose))
    d_q, _ = system.inverse_dynamics_derivatives(q, np.zeros(6), np.zeros(6))
    weight = pose[:3, :3].T @ [0.0, 0.0, 20.0]  # what holds it, in its axes
    turned = np.cross(weight, np.eye(3)).T  # columns weight x e_k
    moments = np.cross([0.1, 0.2, 0.3], turned.T).T
    np.testing.assert_allclose(d_q[3:, :3], turned, atol=1e-13)
    np.testing.assert_allclose(d_q[:3, :3], moments, atol=1e-13)
    np.testing.assert_allclose(d_q[:, 3:], 0.0, atol=1e-13)
