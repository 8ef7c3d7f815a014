"""Joints as a user writes them: plain Python classes, nothing compiled."""

from __future__ import annotations

import numpy as np

import mbkit as mb
from mbkit.lie import SE3, SO3


class CardanJoint(mb.Joint):
    """Rotation about x by q[0], then about the turned y by q[1]: two axes on a cross."""

    num_positions = num_velocities = 2

    def pose(self, q):
        (c1, s1), (c2, s2) = ((np.cos(x), np.sin(x)) for x in q)
        T = np.eye(4)
        T[:3, :3] = np.array([[1, 0, 0], [0, c1, -s1], [0, s1, c1]]) @ np.array(
            [[c2, 0, s2], [0, 1, 0], [-s2, 0, c2]]
        )
        return T

    def motion_subspace(self, q):
        # the x axis as seen from behind the second rotation, and the y axis
        return np.array(
            [[np.cos(q[1]), 0, np.sin(q[1]), 0, 0, 0], [0, 1, 0, 0, 0, 0]], dtype=float
        ).T

    def bias(self, q, v):
        rate = v[0] * v[1]
        return np.array([-np.sin(q[1]) * rate, 0, np.cos(q[1]) * rate, 0, 0, 0])


class EllipseJoint(mb.Joint):
    """Translation along an ellipse in the plane of x and z, without turning; q is its parameter."""

    num_positions = num_velocities = 1

    def __init__(self, name, a, b):
        super().__init__(name)
        self.a, self.b = a, b

    def pose(self, q):
        T = np.eye(4)
        T[:3, 3] = self.a * np.sin(q[0]), 0, -self.b * np.cos(q[0])
        return T

    def motion_subspace(self, q):
        return np.array([[0, 0, 0, self.a * np.cos(q[0]), 0, self.b * np.sin(q[0])]]).T

    def bias(self, q, v):
        rate = v[0] ** 2
        return np.array([0, 0, 0, -self.a * np.sin(q[0]) * rate, 0, self.b * np.cos(q[0]) * rate])


class BallJoint(mb.Joint):
    """A spherical joint at the origin, with a rotation matrix for its nine positions."""

    num_positions = 9
    num_velocities = 3

    def pose(self, q):
        T = np.eye(4)
        T[:3, :3] = q.reshape(3, 3)
        return T

    def motion_subspace(self, q):
        return np.eye(6)[:, :3]

    def bias(self, q, v):
        return np.zeros(6)

    def neutral(self):
        return np.eye(3).ravel()

    def retract(self, q, dx):
        return (q.reshape(3, 3) @ SO3.exp(dx)).ravel()

    def difference(self, q0, q1):
        return SO3.log(q0.reshape(3, 3).T @ q1.reshape(3, 3))

    def dexp_inv(self, x, v):
        return SO3.dexp_body_inv(x) @ v


class CylindricalJoint(mb.Joint):
    """Rotation about z by q[0] and translation along it by q[1]."""

    num_positions = num_velocities = 2

    def pose(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, q[1]], [0, 0, 0, 1]])

    def motion_subspace(self, q):
        return np.eye(6)[:, [2, 5]]

    def bias(self, q, v):
        return np.zeros(6)


class PlanarJoint(mb.Joint):
    """Motion in the plane of x and y: q = (angle, x, y), v in the axes of the successor."""

    num_positions = num_velocities = 3
    columns = slice(2, 5)

    def pose(self, q):
        (c, s), (x, y) = (np.cos(q[0]), np.sin(q[0])), q[1:]
        return np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, 0], [0, 0, 0, 1]])

    def motion_subspace(self, q):
        return np.eye(6)[:, self.columns]

    def bias(self, q, v):
        return np.zeros(6)

    def retract(self, q, dx):
        T = self.pose(q) @ SE3.exp(self.motion_subspace(q) @ dx)
        return np.array([q[0] + dx[0], *T[:2, 3]])

    def difference(self, q0, q1):
        return SE3.log(np.linalg.inv(self.pose(q0)) @ self.pose(q1))[self.columns]

    def dexp_inv(self, x, v):
        B = self.motion_subspace(None)
        return B.T @ SE3.dexp_body_inv(B @ x) @ B @ v


class StumblingJoint(EllipseJoint):
    """Raises what it is told to, or returns what it is told to, once q is beyond a limit."""

    def __init__(self, name, limit, *, error=None, bias=None):
        super().__init__(name, 1.0, 1.0)
        self.limit, self.error, self.wrong_bias = limit, error, bias

    def bias(self, q, v):
        if q[0] > self.limit:
            if self.error is not None:
                raise self.error
            return np.array(self.wrong_bias)
        return super().bias(q, v)
