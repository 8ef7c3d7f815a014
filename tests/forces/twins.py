"""The forces of mbkit once more, in numpy and from their formulas.

Those on bodies are written in hybrid twists unless they say otherwise.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import mbkit as mb


class Twin(mb.Force):
    """A force in Python that stands for a compiled one."""

    def __init__(self, of):
        super().__init__(of.name)
        self.of = of
        self.joints, self.bodies = of.joints, of.bodies


class JointSpring(Twin):
    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = -self.of.stiffness * (q - self.of.rest)

    def potential_energy(self, t, q, poses):
        return 0.5 * self.of.stiffness * np.sum((q - self.of.rest) ** 2)


class JointDamper(Twin):
    power = "dissipated"

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = -self.of.damping * v


class DryFriction(Twin):
    power = "dissipated"

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = -self.of.friction * np.tanh(v / self.of.smoothing)


def _table(values, times, kind, t):
    if times.size == 0:
        return values[0]
    t = np.clip(t, times[0], times[-1])
    if kind == "cubic":
        return CubicSpline(times, values)(t)
    columns = values.reshape(len(values), -1)
    return np.array([np.interp(t, times, column) for column in columns.T]).reshape(values.shape[1:])


class JointEffort(Twin):
    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = _table(self.of.effort, self.of.times, self.of.interpolation, t)


class LimitStop(Twin):
    """As one force, of which part is conservative: only its generalized forces are compared."""

    def evaluate(self, t, q, v, poses, twists, out):
        above = np.maximum(q - self.of.upper, 0.0)
        below = np.maximum(self.of.lower - q, 0.0)
        a, k = self.of.damping, self.of.stiffness
        out[:] = k * below * np.maximum(1 - a * v, 0) - k * above * np.maximum(1 + a * v, 0)


def _arm(pose, point):
    return pose[:3, :3] @ point


def _velocity(pose, twist, point):
    return twist[3:] + np.cross(twist[:3], _arm(pose, point))


class SpringDamper(Twin):
    acts_on = "bodies"

    def evaluate(self, t, q, v, poses, twists, out):
        of = self.of
        arms = [_arm(C, r) for C, r in zip(poses, (of.point_a, of.point_b), strict=True)]
        d = poses[1, :3, 3] + arms[1] - poses[0, :3, 3] - arms[0]
        length = np.linalg.norm(d)
        points = (of.point_a, of.point_b)
        u = [_velocity(*each) for each in zip(poses, twists, points, strict=True)]
        rate = (u[1] - u[0]) @ d / length
        f = (of.stiffness * (length - of.rest_length) + of.damping * rate) * d / length
        out[0] = *np.cross(arms[0], f), *f
        out[1] = *np.cross(arms[1], -f), *-f


class Bushing(Twin):
    acts_on = "bodies"

    def evaluate(self, t, q, v, poses, twists, out):
        of = self.of
        A, B = poses[0] @ of.frame_a, poses[1] @ of.frame_b
        R = A[:3, :3]
        x = Rotation.from_matrix(R.T @ B[:3, :3]).as_rotvec()
        d = B[:3, 3] - A[:3, 3]
        w = twists[1, :3] - twists[0, :3]
        u_b = _velocity(poses[1], twists[1], of.frame_b[:3, 3])
        u_a = _velocity(poses[0], twists[0], of.frame_a[:3, 3]) + np.cross(twists[0, :3], d)
        f = -R @ (of.stiffness[3:] * (R.T @ d) + of.damping[3:] * (R.T @ (u_b - u_a)))
        # dexp_{-x}^-1 by the columns of its transpose: dexp_x^-1 as the inverse of a sum
        dexp, term = np.zeros((3, 3)), np.eye(3)
        skew = np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
        for k in range(1, 40):
            dexp += term
            term = term @ skew / (k + 1)
        m = -R @ (np.linalg.solve(dexp.T, of.stiffness[:3] * x) + of.damping[:3] * (R.T @ w))
        arm = _arm(poses[1], of.frame_b[:3, 3])
        out[1] = *(m + np.cross(arm, f)), *f
        arm = B[:3, 3] - poses[0, :3, 3]
        out[0] = *(-m - np.cross(arm, f)), *-f


class BodyWrench(Twin):
    acts_on = "bodies"

    def evaluate(self, t, q, v, poses, twists, out):
        of = self.of
        W = _table(of.wrench, of.times, of.interpolation, t)
        m, f = W[:3], W[3:]
        R = poses[0, :3, :3]
        if of.axes == "body":
            m, f = R @ m, R @ f
        out[0] = *(m + np.cross(R @ of.point, f)), *f


class Drag(Twin):
    acts_on = "bodies"

    def resistance(self, poses, twists):
        """Return the velocities against the medium, and what acts against them."""
        of = self.of
        u = _velocity(poses[0], twists[0], of.point) - of.wind
        f = -(of.linear + of.quadratic * np.linalg.norm(u)) * u
        w = twists[0, :3]
        return u, w, f, -(of.angular + of.angular_quadratic * np.linalg.norm(w)) * w

    def evaluate(self, t, q, v, poses, twists, out):
        _, _, f, m = self.resistance(poses, twists)
        out[0] = *(m + np.cross(_arm(poses[0], self.of.point), f)), *f

    def powers(self, t, q, v, poses, twists):
        u, w, f, m = self.resistance(poses, twists)
        return -(f @ u) - m @ w, f @ self.of.wind


TWINS = {
    mb.JointSpring: JointSpring,
    mb.JointDamper: JointDamper,
    mb.DryFriction: DryFriction,
    mb.JointEffort: JointEffort,
    mb.LimitStop: LimitStop,
    mb.SpringDamper: SpringDamper,
    mb.Bushing: Bushing,
    mb.BodyWrench: BodyWrench,
    mb.Drag: Drag,
}
