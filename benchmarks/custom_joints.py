"""Cost of a custom joint, in the forward dynamics of 30 bodies."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mbkit as mb
import mbkit.lie
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from mbkit.joints import JointKernels
from mbkit.kernels.joints import spherical
from tests.trees import random_inertia, random_pose, random_state

BODIES = sized(30, 4)

#: Ratios of times, and microseconds a call.
COMPILED, SCREW, PYTHON, POSE_ONLY = 1.1, 1.6, 3.0, 200.0


@mb.joint_kernel("motion")
def revolute_motion(slot, parameters, q, v, R, p, S, bias):  # type: ignore[no-untyped-def]
    """About z."""
    c, s = math.cos(q[0]), math.sin(q[0])
    for j in range(9):
        R[j] = 0.0
    for j in range(6):
        S[j] = 0.0
        bias[j] = 0.0
    R[0], R[1], R[3], R[4], R[8] = c, -s, s, c, 1.0
    p[0], p[1], p[2] = 0.0, 0.0, 0.0
    S[2] = 1.0
    return 0


class PoseOnly(mb.Joint):
    """A revolute joint about z by its pose."""

    num_positions = num_velocities = 1

    def pose(self, q: Any) -> Any:
        """Return the rotation."""
        T = np.eye(4)
        c, s = np.cos(q[0]), np.sin(q[0])
        T[:2, :2] = [[c, -s], [s, c]]
        return T


class Python(PoseOnly):
    """The same with all methods."""

    def motion_subspace(self, q: Any) -> Any:
        """Return S."""
        return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]).T

    def bias(self, q: Any, v: Any) -> Any:
        """Return zero."""
        return np.zeros(6)


class Compiled(Python):
    """The same with a compiled form."""

    def kernels(self) -> JointKernels:
        """Return it."""
        return JointKernels(motion=revolute_motion)


class Rodrigues(mb.Joint):
    """A helix about any axis through any point by its pose, as a user writes it."""

    num_positions = num_velocities = 1

    def pose(self, q: Any) -> Any:
        """Return the pose."""
        axis, point = np.array([1.0, 2.0, -2.0]) / 3.0, np.array([0.3, -0.2, 0.9])
        x, y, z = axis
        K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        T = np.eye(4)
        T[:3, :3] += np.sin(q[0]) * K + (1.0 - np.cos(q[0])) * K @ K
        T[:3, 3] = point - T[:3, :3] @ point + 0.1 * q[0] * axis
        return T


class FreePoseOnly(mb.Joint):
    """A free joint by pose, retract and difference."""

    num_positions, num_velocities = 7, 6

    def neutral(self) -> Any:
        """Return the identity."""
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def pose(self, q: Any) -> Any:
        """Return the pose."""
        T = np.eye(4)
        T[:3, :3] = mb.lie.UnitQuaternion.Ad(q[:4])
        T[:3, 3] = q[4:]
        return T

    def retract(self, q: Any, dx: Any) -> Any:
        """Return q exp(dx)."""
        group = mb.lie.UnitQuaternion
        position = (self.pose(q) @ mb.lie.SE3.exp(dx))[:3, 3]
        return np.concatenate([group.compose(q[:4], group.exp(dx[:3])), position])

    def difference(self, q0: Any, q1: Any) -> Any:
        """Return the step."""
        return mb.lie.SE3.log(mb.lie.SE3.inverse(self.pose(q0)) @ self.pose(q1))


class CompiledBall(mb.Joint):
    """The spherical joint's own functions in the class of somebody else."""

    num_positions, num_velocities = 4, 3

    def __init__(self, name: str) -> None:
        super().__init__(name)
        own = mb.SphericalJoint(name)
        self._own = own

    def pose(self, q: Any) -> Any:
        """Return the rotation."""
        return self._own.pose(q)

    def retract(self, q: Any, dx: Any) -> Any:
        """Return q exp(dx)."""
        return self._own.retract(q, dx)

    def difference(self, q0: Any, q1: Any) -> Any:
        """Return the step."""
        return self._own.difference(q0, q1)

    def neutral(self) -> Any:
        """Return the identity."""
        return self._own.neutral()

    def kernels(self) -> JointKernels:
        """Return the functions of the built-in joint, compiled through the public door."""
        return JointKernels(
            motion=mb.joint_kernel("motion")(spherical.motion.function),
            retract=mb.joint_kernel("retract")(spherical.retract.function),
            difference=mb.joint_kernel("difference")(spherical.difference.function),
            dexp_inv=mb.joint_kernel("dexp_inv")(spherical.dexp_inv.function),
        )


def _tree(make: Callable[[str], Any]) -> mb.System:
    rng = np.random.default_rng(0)
    mech = mb.Mechanism("tree")
    bodies = [mech.world]
    for i in range(BODIES):
        parent = bodies[rng.integers(max(0, i - 2), i + 1)]
        bodies.append(mech.add_body(mb.Body(f"body{i}", random_inertia(rng))))
        frames = random_pose(rng, 0.3), np.eye(4)
        mech.add_joint(make(f"joint{i}"), parent, bodies[-1], frames=frames)
    return mech.assemble()


def custom_joints() -> Table:
    """Return the costs of joints through the table, in Python, and by their pose alone."""
    systems = {
        "revolute": _tree(mb.RevoluteJoint),
        "compiled": _tree(Compiled),
        "python": _tree(Python),
        "pose": _tree(PoseOnly),
        "helix": _tree(Rodrigues),
        "spherical": _tree(mb.SphericalJoint),
        "ball": _tree(CompiledBall),
        "free": _tree(FreePoseOnly),
    }
    calls: dict[str, Callable[[], Any]] = {}
    for name, system in systems.items():
        state = random_state(np.random.default_rng(1), system)
        calls[name] = _call(system, state)
    for twins in (("revolute", "compiled", "python", "pose"), ("spherical", "ball")):
        first = calls[twins[0]]()
        for name in twins[1:]:
            difference = np.abs(calls[name]() - first).max() / np.abs(first).max()
            if not difference < 1e-10:
                raise RuntimeError(f"{name} differs from {twins[0]} by {difference:.1e}")
    found = interleaved(calls)
    own = _own_methods()
    return Table(
        f"Joints of one's own, forward dynamics of {BODIES} bodies",
        [
            Row(
                "spherical joint as a plugin, compiled, against built in",
                found.best("ball"), found.best("spherical"),
                found.ratio("ball", "spherical"), COMPILED,
            ),
            Row(
                "revolute joint as a plugin, compiled, against built in",
                found.best("compiled"), found.best("revolute"),
                found.ratio("compiled", "revolute"), SCREW,
            ),
            Row(
                "a call of a Python joint, over its own methods",
                value=1e6 * (found.best("python") / BODIES - own), bar=PYTHON, unit="us",
            ),
            *(
                Row(
                    f"a call of a joint by its pose, {what}",
                    value=1e6 * found.best(name) / BODIES, bar=POSE_ONLY, unit="us",
                )
                for name, what in (
                    ("pose", "about z"), ("helix", "helix about any axis"), ("free", "free"),
                )
            ),
        ],
    )  # fmt: skip


def _call(system: mb.System, state: Any) -> Callable[[], Any]:
    return lambda: system.forward_dynamics(state.q, state.v, state.tau)


def _own_methods() -> float:
    """Return what the three methods of a Python joint take, called from Python. [s]."""
    joint, q, v = Python("joint"), np.array([0.3]), np.array([0.7])
    best = math.inf
    for _ in range(sized(20, 2)):
        start = time.perf_counter()
        for _ in range(sized(2000, 2)):
            joint.pose(q)
            joint.motion_subspace(q)
            joint.bias(q, v)
        best = min(best, (time.perf_counter() - start) / 2000)
    return best
