"""The joints of mbkit as a user would write them with `pose` alone, in plain numpy."""

from __future__ import annotations

import numpy as np

import mbkit as mb
from mbkit.lie import SE3, UnitQuaternion


def skew(x):
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


class AxisJoint(mb.Joint):
    """A screw about an axis through a point, by Rodrigues' formula: turns and shifts with q."""

    num_positions = num_velocities = 1

    def __init__(self, name, axis, point=(0, 0, 0), turn=1.0, shift=0.0):
        super().__init__(name)
        self.axis = np.array(axis) / np.linalg.norm(axis)
        self.point, self.turn, self.shift = np.array(point), turn, shift

    def pose(self, q):
        angle = self.turn * q[0]
        K = skew(self.axis)
        T = np.eye(4)
        T[:3, :3] += np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
        T[:3, 3] = self.point - T[:3, :3] @ self.point + self.shift * q[0] * self.axis
        return T


class ScrewTwin(mb.Joint):
    """Exp(X q) by the exponential of mbkit."""

    num_positions = num_velocities = 1

    def __init__(self, name, screw):
        super().__init__(name)
        self.screw = np.array(screw)

    def pose(self, q):
        return SE3.exp(self.screw * q[0])


class BallTwin(mb.Joint):
    """Rotation about a point; the matrix of a quaternion, written out."""

    num_positions, num_velocities = 4, 3

    def __init__(self, name, point):
        super().__init__(name)
        self.point = np.array(point)

    def neutral(self):
        return np.array([1.0, 0.0, 0.0, 0.0])

    def pose(self, q):
        w, x, y, z = q / np.sqrt(q @ q)
        T = np.zeros((4, 4))
        T[0, :3] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
        T[1, :3] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
        T[2, :3] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
        T[:3, 3] = self.point - T[:3, :3] @ self.point
        T[3, 3] = 1
        return T

    def retract(self, q, dx):
        moved = UnitQuaternion.compose(q, UnitQuaternion.exp(dx))
        return moved / np.linalg.norm(moved)

    def difference(self, q0, q1):
        return UnitQuaternion.log(UnitQuaternion.compose(UnitQuaternion.inverse(q0), q1))


class FreeTwin(mb.Joint):
    """Any motion, on SE(3): a quaternion and a position."""

    num_positions, num_velocities = 7, 6

    def neutral(self):
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def pose(self, q):
        T = np.eye(4)
        T[:3, :3] = UnitQuaternion.Ad(q[:4])
        T[:3, 3] = q[4:]
        return T

    def retract(self, q, dx):
        quaternion = UnitQuaternion.compose(q[:4], UnitQuaternion.exp(dx[:3]))
        position = (self.pose(q) @ SE3.exp(dx))[:3, 3]
        return np.concatenate([quaternion / np.linalg.norm(quaternion), position])

    def difference(self, q0, q1):
        return SE3.log(SE3.inverse(self.pose(q0)) @ self.pose(q1))


class WeldTwin(mb.Joint):
    """No motion."""

    num_positions = num_velocities = 0

    def pose(self, q):
        return np.eye(4)


AXIS, POINT = (1.0, 2.0, -2.0), (0.3, -0.2, 0.9)
SCREW = (0.3, -1.1, 0.6, 0.2, 0.5, -0.7)

#: Each joint of mbkit, and the same joint by its pose.
TWINS = {
    "screw": (lambda n: mb.ScrewJoint(n, screw=SCREW), lambda n: ScrewTwin(n, SCREW)),
    "revolute": (
        lambda n: mb.RevoluteJoint(n, axis=AXIS, point=POINT),
        lambda n: AxisJoint(n, AXIS, POINT),
    ),
    "prismatic": (
        lambda n: mb.PrismaticJoint(n, axis=AXIS),
        lambda n: AxisJoint(n, AXIS, turn=0.0, shift=1.0),
    ),
    "helical": (
        lambda n: mb.HelicalJoint(n, axis=AXIS, point=POINT, pitch=-0.3),
        lambda n: AxisJoint(n, AXIS, POINT, shift=-0.3),
    ),
    "spherical": (
        lambda n: mb.SphericalJoint(n, point=POINT),
        lambda n: BallTwin(n, POINT),
    ),
    "free": (mb.FreeJoint, FreeTwin),
    "fixed": (mb.FixedJoint, WeldTwin),
}
