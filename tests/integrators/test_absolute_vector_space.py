"""Scipy's methods on absolute joints: in coordinates of the group, and on positions as numbers."""

import functools

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.differences import derivative

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


@pytest.mark.parametrize(
    "integrator",
    [
        mb.LocalVectorSpace("DOP853"),
        mb.QuaternionVectorSpace("DOP853"),
        mb.QuaternionVectorSpace("DOP853", norm="constrained"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("local", LOCAL, ids=repr)
@pytest.mark.parametrize("orientation", ORIENTATIONS[:3], ids=repr)
def test_all_formulations_move_alike(orientation, local, side, integrator):
    """To the error of order 8; the frame of the body is at the tip, so that all v are the same."""
    reference = top(mb.UnitQuaternion(), mb.ScrewCoordinates(), "left")
    system, v = top(orientation, local, side), [1, 3, -2, 0, 0, 0]
    exact = mb.simulate(reference, (0.0, 0.5), 2e-3, v=v, progress=False)
    run = mb.simulate(system, (0.0, 0.5), 0.025, v=v, integrator=integrator, progress=False)
    found, expected = system.poses(run.q[-1]), reference.poses(exact.q[-1])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8)


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
