"""Small systems with all that callers can meet: trees and loops, compiled and in Python."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import mbkit as mb

__all__ = ["SUBJECTS", "Slide", "subject"]

_BOX = mb.SpatialInertia.box(1.0, size=(0.2, 0.4, 0.6))


class Slide(mb.Joint):
    """A prismatic joint in Python, by its pose; `pose_of` may be replaced."""

    def __init__(self, name: str, pose_of: Any = None) -> None:
        self.name = name
        self.pose_of = pose_of

    num_positions = num_velocities = 1

    def pose(self, q: Any) -> Any:
        if self.pose_of is not None:
            return self.pose_of(q)
        return mb.spatial.translation((q[0], 0.0, 0.0))


def _tree() -> mb.Mechanism:
    mech = mb.Mechanism("tree", gravity=(0, 0, -9.81))
    names = ("base", "upper", "lower", "hand")
    bodies = [mech.world, *(mech.add_body(mb.Body(name, _BOX)) for name in names)]
    joints = (
        mb.FreeJoint("free"), mb.SphericalJoint("ball"), mb.RevoluteJoint("hinge", axis=(0, 1, 0)),
        mb.PrismaticJoint("slide"),
    )  # fmt: skip
    for k, joint in enumerate(joints):
        mech.add_joint(joint, bodies[k], bodies[k + 1])
    mech.add_force(mb.JointSpring("spring", "slide", stiffness=10.0))
    mech.add_force(mb.SpringDamper("tie", "world", "hand", stiffness=5.0, rest_length=0.1))
    return mech


def _in_python() -> mb.Mechanism:
    mech = mb.Mechanism("in python", gravity=(0, 0, -9.81))
    first, second = (mech.add_body(mb.Body(name, _BOX)) for name in ("cart", "bob"))
    mech.add_joint(Slide("rail"), mech.world, first)
    swing = mb.RevoluteJoint("swing", axis=(0, 1, 0)).prescribe(np.sin)
    mech.add_joint(swing, first, second)
    mech.add_force(mb.ForceFunction("push", lambda t, q, v: -q - v, joints="rail"))
    return mech


def _four_bar() -> mb.Mechanism:
    mech = mb.Mechanism("four-bar", gravity=(0, 0, -9.81))
    bodies = [mech.add_body(mb.Body(f"bar {k}", _BOX)) for k in range(3)]
    ends = [mech.world, *bodies]
    for k, x in enumerate(((0, 0), (0, 0.3), (0.5, 0.6))):
        joint = mb.RevoluteJoint(f"hinge {k}", axis=(0, 1, 0), point=(x[0], 0, x[1]))
        mech.add_joint(joint, ends[k], ends[k + 1])
    pin = mb.RevoluteJoint("pin", axis=(0, 1, 0), point=(0.6, 0, 0))
    mech.add_joint(pin, mech.world, bodies[2])
    return mech


SUBJECTS: dict[str, Any] = {
    "tree": lambda: _tree().assemble(),
    "in python": lambda: _in_python().assemble(),
    "four-bar": lambda: _four_bar().assemble(mb.RelativeCoordinates(loop_joints=["pin"])),
    "absolute": lambda: _four_bar().assemble(mb.AbsoluteCoordinates()),
    "nothing": lambda: mb.Mechanism("nothing").assemble(),
}


@functools.cache
def subject(name: str) -> mb.System:
    """Return a system; each is made once a process."""
    return SUBJECTS[name]()
