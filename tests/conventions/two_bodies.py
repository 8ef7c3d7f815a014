"""A free base with an arm, in motion: the case that all programs were given."""

from __future__ import annotations

import attrs
import numpy as np

import mbkit as mb

#: Origin of the hinge, roll, pitch and yaw of its frame in the base, and its axis there.
ORIGIN, RPY, AXIS = (0.3, -0.2, 0.5), (0.4, -0.3, 0.8), (0.36, 0.48, 0.8)
BASE = mb.SpatialInertia.from_com(
    3.0, (0.1, -0.2, 0.3), [[0.5, 0.05, -0.04], [0.05, 0.6, 0.03], [-0.04, 0.03, 0.7]]
)
ARM = mb.SpatialInertia.from_com(
    2.0, (0.05, 0.1, -0.15), [[0.2, 0.01, 0.02], [0.01, 0.3, -0.03], [0.02, -0.03, 0.4]]
)
#: Quaternion and position of the base, angle; body-fixed twist and rate; their rates.
Q = np.array([0.8, -0.2, 0.4, 0.4, 0.7, -1.1, 0.4, 0.6])
V = np.array([0.3, -0.5, 0.7, 0.2, 0.9, -0.4, 1.3])
VDOT = np.array([0.6, 0.1, -0.8, 1.1, -0.3, 0.5, -0.9])
#: On the arm, in hybrid representation.
WRENCH = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0])


def seat():
    """Return the pose of the hinge in the base."""
    roll, pitch, yaw = RPY
    turns = [((0, 0, 1), yaw), ((0, 1, 0), pitch), ((1, 0, 0), roll)]
    C = mb.spatial.translation(ORIGIN)
    for axis, angle in turns:
        C = C @ mb.spatial.rotation(axis, angle)
    return C


@attrs.frozen
class Case:
    """The system, the arm's motion in body-fixed twists, and what acts."""

    system: mb.System = attrs.field()
    C: np.ndarray
    twist: np.ndarray
    acceleration: np.ndarray
    jacobian: np.ndarray

    @property
    def b(self):
        return mb.BodyFixed()

    def velocity_map(self, program):
        """Return G of all velocities."""
        G = np.eye(7)
        G[:6, :6] = program.free_joint.velocity_map(Q[:7])
        return G


def two_bodies() -> Case:
    mechanism = mb.Mechanism("two bodies")
    base = mechanism.add_body(mb.Body("base", inertia=BASE))
    arm = mechanism.add_body(mb.Body("arm", inertia=ARM))
    mechanism.add_joint(mb.FreeJoint("root"), mechanism.world, base)
    hinge = mb.RevoluteJoint("hinge", axis=AXIS)
    mechanism.add_joint(hinge, base, arm, frames=(seat(), np.eye(4)))
    system = mechanism.assemble()
    return Case(
        system,
        system.poses(Q)[2],
        system.twists(Q, V)[2],
        system.accelerations(Q, V, VDOT)[2],
        system.jacobian("arm", Q),
    )
