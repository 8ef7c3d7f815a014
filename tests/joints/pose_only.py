"""The joints of mbkit as a user would write them with `pose` alone, in plain numpy."""

from __future__ import annotations

import numpy as np

import mbkit as mb
from mbkit.lie import SE3, SO3, UnitQuaternion


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


def about(axis, angle):
    """A rotation by Rodrigues' formula."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def turned(R, point):
    """The pose of a rotation about a point."""
    T = np.eye(4)
    T[:3, :3] = R
    T[:3, 3] = point - R @ point
    return T


class PointTwin(mb.Joint):
    """A rotation about a point, in one of several coordinates."""

    def __init__(self, name, number, rotation, point):
        super().__init__(name)
        self.num_positions = self.num_velocities = number
        self.rotation, self.point = rotation, np.array(point)

    def pose(self, q):
        return turned(self.rotation(q), self.point)


class TranslationTwin(mb.Joint):
    """A sum of shifts."""

    def __init__(self, name, axes):
        super().__init__(name)
        self.axes = [np.array(axis) / np.linalg.norm(axis) for axis in axes]
        self.num_positions = self.num_velocities = len(axes)

    def pose(self, q):
        T = np.eye(4)
        for shift, axis in zip(q, self.axes, strict=True):
            T[:3, 3] += shift * axis
        return T


def frame_along(axis, point):
    """A frame at a point, turned as the shortest turn of z to the axis does."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    K = np.eye(4)
    u = skew([-y, x, 0.0])
    K[:3, :3] += u + u @ u / (1.0 + z)
    K[:3, 3] = point
    return K


class CylinderTwin(mb.Joint):
    """A turn about an axis and a shift along it."""

    num_positions = num_velocities = 2

    def __init__(self, name, axis, point):
        super().__init__(name)
        self.axis, self.point = np.array(axis) / np.linalg.norm(axis), np.array(point)

    def pose(self, q):
        T = turned(about(self.axis, q[0]), self.point)
        T[:3, 3] += q[1] * self.axis
        return T


class PlaneTwin(mb.Joint):
    """A turn and a place in a plane, which advances with a pitch, or freely along its normal."""

    def __init__(self, name, axis, point, pitch=0.0, number=3):
        super().__init__(name)
        self.num_positions = self.num_velocities = number
        self.K, self.pitch = frame_along(axis, point), pitch

    def pose(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        T = np.eye(4)
        T[:2, :2] = [[c, -s], [s, c]]
        T[:2, 3] = q[1:3]
        T[2, 3] = self.pitch * q[0] + (q[3] if len(q) > 3 else 0.0)
        return self.K @ T @ np.linalg.inv(self.K)

    def _turn(self, angle):
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s], [s, c]])

    def retract(self, q, dx):
        place = q[1:3] + self._turn(q[0] + 0.5 * dx[0]) @ dx[1:3]
        return np.concatenate([[q[0] + dx[0]], place, q[3:] + dx[3:]])

    def difference(self, q0, q1):
        back = self._turn(-0.5 * (q0[0] + q1[0])) @ (q1[1:3] - q0[1:3])
        return np.concatenate([[q1[0] - q0[0]], back, q1[3:] - q0[3:]])


class ProductTwin(mb.Joint):
    """Joints one after another."""

    def __init__(self, name, *members):
        super().__init__(name)
        self.members = members
        self.num_positions = self.num_velocities = sum(each.num_positions for each in members)

    def pose(self, q):
        T, first = np.eye(4), 0
        for each in self.members:
            T = T @ each.pose(q[first : first + each.num_positions])
            first += each.num_positions
        return T


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


class RodriguesTwin(mb.Joint):
    """Any motion in a quaternion and a position, with steps of twice Rodrigues parameters.

    From the left they turn in the axes of the body and shift in those of the space; from the right
    they move the space, by the Cayley map of dual vectors.
    """

    num_positions, num_velocities = 7, 6

    def __init__(self, name, *, right=False):
        super().__init__(name)
        self.right = right

    def neutral(self):
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def pose(self, q):
        T = np.eye(4)
        T[:3, :3] = UnitQuaternion.Ad(q[:4])
        T[:3, 3] = q[4:]
        return T

    def retract(self, q, dx):
        c = dx[:3] / 2
        square = 1.0 + c @ c
        turn = np.concatenate([[1.0], c]) / np.sqrt(square)
        if not self.right:
            return np.concatenate([UnitQuaternion.compose(q[:4], turn), q[4:] + dx[3:]])
        shift = (dx[3:] + np.cross(c, dx[3:])) / square
        place = UnitQuaternion.Ad(turn) @ q[4:] + shift
        return np.concatenate([UnitQuaternion.compose(turn, q[:4]), place])

    def difference(self, q0, q1):
        back = UnitQuaternion.inverse(q0[:4])
        if not self.right:
            turn = UnitQuaternion.compose(back, q1[:4])
            return np.concatenate([2.0 * turn[1:] / turn[0], q1[4:] - q0[4:]])
        turn = UnitQuaternion.compose(q1[:4], back)
        c, shift = turn[1:] / turn[0], q1[4:] - UnitQuaternion.Ad(turn) @ q0[4:]
        y = shift - np.cross(c, shift) + c * (c @ shift)
        return np.concatenate([2.0 * c, y])


class ScrewCoordinates(mb.Joint):
    """Any motion as one exponential."""

    num_positions = num_velocities = 6

    def pose(self, q):
        return SE3.exp(q)


class WeldTwin(mb.Joint):
    """No motion."""

    num_positions = num_velocities = 0

    def pose(self, q):
        return np.eye(4)


AXIS, POINT = (1.0, 2.0, -2.0), (0.3, -0.2, 0.9)
NORMAL = (1.0, 2.0, 2.0)
FIRST, SECOND = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0), np.array([0.6, 0.0, 0.8])
X, Y, Z = np.eye(3)
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
    "mixed": (lambda n: mb.AbsoluteJoint(n, local=mb.RodriguesPosition()), RodriguesTwin),
    "spatial": (
        lambda n: mb.AbsoluteJoint(n, local=mb.DualRodrigues(), trivialised="right"),
        lambda n: RodriguesTwin(n, right=True),
    ),
    "fixed": (mb.FixedJoint, WeldTwin),
    "cylindrical": (
        lambda n: mb.CylindricalJoint(n, AXIS, POINT),
        lambda n: CylinderTwin(n, AXIS, POINT),
    ),
    "universal": (
        lambda n: mb.UniversalJoint(n, axis1=FIRST, axis2=SECOND, point=POINT),
        lambda n: PointTwin(n, 2, lambda q: about(FIRST, q[0]) @ about(SECOND, q[1]), POINT),
    ),
    "constant velocity": (
        lambda n: mb.ConstantVelocityJoint(n, NORMAL, POINT),
        lambda n: PointTwin(n, 2, lambda q: SO3.exp(frame_along(NORMAL, POINT)[:3, :2] @ q), POINT),
    ),
    "translational": (
        lambda n: mb.TranslationalJoint(n, axes=[AXIS, NORMAL, SECOND]),
        lambda n: TranslationTwin(n, [AXIS, NORMAL, SECOND]),
    ),
    "planar": (
        lambda n: mb.PlanarJoint(n, NORMAL, POINT),
        lambda n: PlaneTwin(n, NORMAL, POINT),
    ),
    "helical planar": (
        lambda n: mb.HelicalPlanarJoint(n, NORMAL, POINT, pitch=-0.3),
        lambda n: PlaneTwin(n, NORMAL, POINT, pitch=-0.3),
    ),
    "Schoenflies": (
        lambda n: mb.SchoenfliesJoint(n, NORMAL, POINT),
        lambda n: PlaneTwin(n, NORMAL, POINT, number=4),
    ),
    "composite": (
        lambda n: mb.CompositeJoint(
            n, mb.RevoluteJoint("a", AXIS, POINT), mb.CylindricalJoint("b", NORMAL, (0, 0.1, 0))
        ),
        lambda n: ProductTwin(
            n, AxisJoint("a", AXIS, POINT), CylinderTwin("b", NORMAL, (0, 0.1, 0))
        ),
    ),
    "rotation vector": (
        lambda n: mb.SphericalJoint(n, POINT, coordinates="first kind"),
        lambda n: PointTwin(n, 3, SO3.exp, POINT),
    ),
    "angles": (
        lambda n: mb.SphericalJoint(n, POINT, coordinates="second kind", order="xyz"),
        lambda n: PointTwin(
            n, 3, lambda q: about(X, q[0]) @ about(Y, q[1]) @ about(Z, q[2]), POINT
        ),
    ),
    "screw coordinates": (
        lambda n: mb.FreeJoint(n, coordinates="first kind"),
        ScrewCoordinates,
    ),
}
