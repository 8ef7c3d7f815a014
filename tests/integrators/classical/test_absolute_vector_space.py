"""Scipy's methods on absolute joints: in coordinates of the group, and on positions as numbers."""

import functools

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from tests.every_representation import in_turn

ORIENTATIONS = (mb.UnitQuaternion(), mb.RotationVector(), mb.EulerAngles(), mb.EulerAngles("zxz"))
LOCAL = (mb.ScrewCoordinates(), mb.RodriguesPosition(), mb.ExtendedWienerMilenkovic())


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("local", LOCAL, ids=repr)
@pytest.mark.parametrize("orientation", ORIENTATIONS, ids=repr)
def test_positions_change_as_the_steps_say(orientation, local, side):
    joint = mb.AbsoluteJoint("free", orientation, local, side)
    q = joint.retract(joint.neutral(), np.array([0.3, 0.5, -0.4, 1.0, 2.0, 3.0]))
    w = np.random.default_rng(1).normal(size=6)
    expected = derivative(lambda e: joint.retract(q, e * w))
    np.testing.assert_allclose(joint.position_rates(q, w), expected, rtol=0.0, atol=1e-11)


@functools.cache
def top(orientation, local, side):
    """A heavy top as a body on an absolute joint, held by a ball joint."""
    mech = mb.Mechanism("top", gravity=(0, 0, -9.81))
    inertia = mb.SpatialInertia.from_com(2.0, (0.2, 0.6, -0.1), np.diag([0.3, 0.5, 0.75]))
    body = mech.add_body(mb.Body("top", inertia))
    mech.add_joint(mb.AbsoluteJoint("free", orientation, local, side), mech.world, body)
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, body)
    return mech.assemble(mb.RelativeCoordinates(loop_joints=["tip"]))


JOINTS = {
    f"{orientation!r}-{local!r}-{side}": (orientation, local, side)
    for orientation in ORIENTATIONS[:3]
    for local in LOCAL
    for side in ("left", "right")
}
METHODS = (
    mb.LocalVectorSpace("DOP853"),
    mb.QuaternionVectorSpace("DOP853"),
    mb.QuaternionVectorSpace("DOP853", norm="constrained"),
)


@pytest.mark.some(8)
@pytest.mark.parametrize(
    ("joint", "integrator"), in_turn(JOINTS, {repr(each): each for each in METHODS})
)
def test_all_formulations_move_alike(joint, integrator):
    """To the error of order 8; the frame of the body is at the tip, so that all v are the same."""
    reference = top(mb.UnitQuaternion(), mb.ScrewCoordinates(), "left")
    system, v = top(*joint), [1, 3, -2, 0, 0, 0]
    exact = mb.simulate(reference, (0.0, 0.5), 2e-3, v=v, progress=False)
    run = mb.simulate(system, (0.0, 0.5), 0.025, v=v, integrator=integrator, progress=False)
    found, expected = system.poses(run.q[-1]), reference.poses(exact.q[-1])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("norm", ["renormalised", "constrained"])
@pytest.mark.parametrize("rtol", [None, 1e-8], ids=["one step", "own steps"])
def test_rotation_vectors_as_numbers_go_on_through_whole_turns(rtol, norm):
    """Rates are singular there; each step ends below half a turn, and the next begins there."""
    mech = mb.Mechanism("stone", gravity=(0, 0, 0))
    body = mb.Body("stone", mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.diag([1.0, 2.0, 3.0])))
    mech.add_joint(mb.FreeJoint("free"), mech.world, mech.add_body(body))
    system = mech.assemble(mb.AbsoluteCoordinates(mb.RotationVector()))
    v, span = [0.1, 0.2, 3.0, 0.1, 0.2, 0.3], (0.0, 10.0)
    expected = mb.simulate(system, span, 0.01, v=v, integrator=mb.LocalVectorSpace("RK45"))
    method = mb.QuaternionVectorSpace("RK45", norm=norm, rtol=rtol)
    run = mb.simulate(system, span, 0.01, v=v, integrator=method, progress=False)
    assert np.linalg.norm(run.q[:, :3], axis=1).max() < np.pi + 1e-12
    np.testing.assert_allclose(system.poses(run.q), system.poses(expected.q), rtol=0.0, atol=1e-5)


# ------------------------------------------------------------------------------- gimbal lock


def ball(sequence):
    """A body with equal moments, which turns on as it turns."""
    mech = mb.Mechanism("ball", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("ball", mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.eye(3))))
    mech.add_joint(mb.FreeJoint("free"), mech.world, body)
    return mech.assemble(mb.AbsoluteCoordinates(mb.EulerAngles(sequence)))


def past_lock(method, h, ratio, phase):
    """Return the error of a turn by 1 rad/s past lock, at a distance of h / ratio."""
    system, s = ball("zyx"), h / ratio
    start = 0.5 + phase * h
    x = np.array([np.cos(s) * np.sin(start), np.sin(s), np.cos(s) * np.cos(start)])
    y = np.cross([0, 0, 1.0], x) / np.hypot(x[0], x[1])
    C = np.eye(4)
    C[:3, :3] = np.column_stack([x, y, np.cross(x, y)])
    q = mb.AbsoluteJoint("free", mb.EulerAngles("zyx")).configuration_from_pose(C)
    v = [*(C[:3, :3].T @ [0.0, -1.0, 0.0]), 0, 0, 0]
    run = mb.simulate(system, (0.0, 1.0), h, q=q, v=v, integrator=method, progress=False)
    exact = mb.spatial.rotation((0, -1, 0), 1.0)[:3, :3] @ C[:3, :3]
    return np.abs(system.poses(run.q[-1])[1, :3, :3] - exact).max()


FIXED = [
    mb.QuaternionVectorSpace(method, norm=norm)
    for method in ("RK23", "RK45", "DOP853")
    for norm in ("renormalised", "constrained")
]


@pytest.mark.long
@pytest.mark.parametrize("phase", [0.0, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("method", FIXED, ids=repr)
def test_steps_past_lock_are_right_or_refused(method, phase):
    """Nothing is silently wrong by as much as a step turns; where lock is twice as far, all go."""
    h = 0.05
    for ratio in (1e3, 30.0, 8.0, 4.0, 2.0, 1.2):
        with pytest.raises(mb.ConfigurationError, match=r"'ball \(free\)'.*gimbal lock.*group"):
            past_lock(method, h, ratio, phase)
    assert past_lock(method, h, 0.5, phase) < 1e-2 * h


@pytest.mark.some(3)
@pytest.mark.parametrize("ratio", [1.0, 1e2, 1e4])
def test_steps_of_their_own_size_pass_lock(ratio):
    assert past_lock(mb.QuaternionVectorSpace(rtol=1e-8), 0.05, ratio, 0.3) < 1e-6


@pytest.mark.long
def test_newtons_method_names_lock_where_it_fails():
    for ratio in (2.0, 8.0, 1e3):
        with pytest.raises(mb.ConfigurationError, match=r"may come within.*gimbal lock"):
            past_lock(mb.QuaternionVectorSpace("Radau"), 0.05, ratio, 0.3)


@pytest.mark.parametrize("speed", [0.0, 1.0], ids=["at rest", "turning"])
@pytest.mark.parametrize("rtol", [None, 1e-8], ids=["one step", "own steps"])
@pytest.mark.parametrize("method", ["RK45", "Radau"])
@pytest.mark.parametrize("norm", ["renormalised", "constrained"])
@pytest.mark.parametrize("sequence", ["zxz", "yxy"])
def test_lock_at_the_start_is_named(sequence, norm, method, rtol, speed):
    """Where the first axis is the last one, it is the neutral orientation."""
    integrator = mb.QuaternionVectorSpace(method, norm=norm, rtol=rtol)
    v = speed * np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    with pytest.raises(mb.ConfigurationError, match=r"are at gimbal lock.*UnitQuaternion\(\)"):
        mb.simulate(ball(sequence), (0.0, 0.1), 0.01, v=v, integrator=integrator, progress=False)


def test_a_turn_about_the_middle_axis_alone_goes_through():
    """The other angles stay what they are, so that no rate is infinite."""
    system = ball("zyx")
    method = mb.QuaternionVectorSpace()
    v = [0, 2.0, 0, 0, 0, 0]
    run = mb.simulate(system, (0.0, 1.0), 0.01, v=v, integrator=method, progress=False)
    exact = mb.spatial.rotation((0, 1, 0), 2.0)
    np.testing.assert_allclose(system.poses(run.q[-1])[1], exact, rtol=0.0, atol=1e-13)


def test_the_time_to_lock_is_that_of_the_nearest_joint():
    """Of joints that have none it is never; members of a composite count."""
    mech = mb.Mechanism("two")
    angles = mb.AbsoluteJoint("inner", mb.EulerAngles("zxz"))
    for name, joint in (
        ("a", mb.SphericalJoint("of a")),
        ("b", mb.CompositeJoint("of b", mb.FixedJoint("plate"), angles)),
    ):
        mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(joint, mech.world, name)
    system = mech.assemble()
    q, v = system.reference_configuration(), np.zeros(system.nv)
    assert system.time_to_lock(q, v) == (0.0, "of b")
    q[system.position_slice("of b")][1] = 0.3
    assert system.time_to_lock(q, v) == (np.inf, "")
    v[system.velocity_slice("of b")][1] = 0.5  # across the last axis, beside the middle one
    assert system.time_to_lock(q, v) == (pytest.approx(np.sin(0.3) / 0.5), "of b")
