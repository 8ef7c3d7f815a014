"""Methods of mbkit's own joints call compiled code: with what, and in functions that are traced."""

import numpy as np
import pytest

import mbkit as mb
from tests.joints.pose_only import TWINS

MOVING = [name for name, (make, _) in TWINS.items() if make("joint").num_velocities]


class Around(mb.Joint):
    """A joint in Python that takes its poses and steps from another one."""

    def __init__(self, joint):
        super().__init__(joint.name)
        self.joint = joint
        self.num_positions, self.num_velocities = joint.num_positions, joint.num_velocities

    def neutral(self):
        return self.joint.neutral()

    def pose(self, q):
        return self.joint.pose(q)

    def retract(self, q, dx):
        return self.joint.retract(q, dx)

    def difference(self, q0, q1):
        return self.joint.difference(q0, q1)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize("seed", [None, 3])
def test_joints_in_python_may_call_them(name, seed):
    """Motion subspace, bias and dexp_inv by tracing through the compiled functions' source."""
    joint = TWINS[name][0]("joint")
    around, rng = Around(joint), np.random.default_rng(seed)
    q = joint.neutral() if seed is None else joint.random(rng)
    v = rng.normal(size=joint.num_velocities)
    S, bias = joint.motion_subspace(q), joint.bias(q, v)
    np.testing.assert_allclose(around.motion_subspace(q), S, atol=1e-14)
    np.testing.assert_allclose(around.bias(q, v), bias, atol=1e-13)
    x = 0.2 * v
    np.testing.assert_allclose(around.dexp_inv(x, v), joint.dexp_inv(x, v), atol=1e-13)


@pytest.mark.parametrize("q", [[], [0.1], [0.1, 0.2, 0.3], [[0.1, 0.2]]])
def test_positions_of_another_number_are_refused(q):
    """Compiled code would read beyond them."""
    joint = mb.CylindricalJoint("sleeve")
    with pytest.raises(mb.ShapeError, match=r"q must have shape \(2,\), got"):
        joint.pose(q)


@pytest.mark.parametrize("joint", [mb.SphericalJoint("ball"), mb.FreeJoint("free")])
def test_quaternions_of_another_length_are_refused(joint):
    """By the name of the joint."""
    q = 1.1 * joint.neutral()
    with pytest.raises(mb.ConfigurationError, match=f"Joint '{joint.name}': .* unit quaternion"):
        joint.pose(q)
