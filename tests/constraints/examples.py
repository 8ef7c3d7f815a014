"""Constraints of every kind that mbkit brings, with skew directions and points."""

from __future__ import annotations

import numpy as np

import mbkit as mb
from mbkit.lie import SE3

_ANGLES = np.linspace(0.0, 2.0 * np.pi, 17)
_TIMES = np.linspace(-0.6, 2.1, 10)
_FRAME = SE3.exp(np.array([0.2, 0.5, -0.3, 1.0, 2.0, 3.0]))
_POINTS = {"point_a": (0.1, 0.2, 0.3), "point_b": (0.3, -0.1, 0.2)}
_PLANE = {"normal": (1.0, 2.0, 3.0), "point_a": (0.1, 0.2, 0.3), "center": (0.1, 0.2, -0.3)}


def lift(angle):
    """The profile of a cam."""
    return 0.1 * (1.0 - np.cos(angle)) + 0.02 * np.sin(2.0 * angle)


def path(t):
    """Where a prescribed point is."""
    return np.array([np.sin(t), np.cos(2.0 * t), t * t])


def pose(t):
    """Where a prescribed frame is."""
    return SE3.exp(np.array([0.3, -0.8, 0.5, 1.0, -0.2, 0.6]) * np.sin(t))


EXAMPLES = (
    mb.Distance("rod", "a", "b", length=0.5, **_POINTS),
    mb.Distance("rod to the world", "world", "b", length=0.5, **_POINTS),
    mb.PointOnLine("slot", "a", "b", axis=(1, 2, 3), **_POINTS),
    mb.PointOnLine("wire", "b", "world", axis=(1, -2, 3), **_POINTS),
    mb.PointOnPlane("plane", "a", "b", normal=(1, 2, 3), **_POINTS),
    mb.PointOnPlane("table", "world", "b", **_POINTS),
    mb.GearRatio("gears", "i", "j", ratio=-0.3, offset=0.2),
    mb.PolynomialCoupling("polynomial", "i", "j", coefficients=(1.0, 0.3, -0.2, 0.5, 0.1)),
    mb.PolynomialCoupling("locked", "i", "j", coefficients=(0.4,)),
    mb.Cam("cam", "i", "j", positions=_ANGLES, lift=lift(_ANGLES), periodic=True),
    mb.Cam("part of a cam", "i", "j", positions=4.0 * _ANGLES - 12.0, lift=lift(_ANGLES)),
    mb.JointCoupling("function", "i", "j", lambda q: q * np.sin(q)),
    mb.RollingSphere("ball", "a", "b", radius=0.3, **_PLANE),
    mb.RollingSphere("ball on the ground", "world", "b", radius=0.3),
    mb.RollingDisc("disc", "a", "b", radius=0.3, axis=(1.0, 1.0, -0.3), **_PLANE),
    mb.RollingDisc("disc on the ground", "world", "b", radius=0.3),
    mb.PrescribedPoint("followed", "a", path, point=(0.1, 0.2, 0.3)),
    mb.PrescribedPoint(
        "in a table", "a", point=(0.1, 0.2, 0.3), times=_TIMES,
        positions=np.stack([path(t) for t in _TIMES]),
    ),
    mb.PrescribedPose("frame", "a", pose, frame=_FRAME),
    mb.PrescribedPose(
        "frame in a table", "a", frame=_FRAME, times=_TIMES,
        poses=np.stack([pose(t) for t in _TIMES]),
    ),
)  # fmt: skip

#: Those that lanes compute: of mbkit's functions alone.
IN_LANES = tuple(each for each in EXAMPLES if getattr(each.kernel(), "function", None))


def constrained(constraints):
    """Return bodies that have these constraints, and a configuration near to which some hold."""
    mech = mb.Mechanism("constraints")
    box = mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    joints = (
        ("a", "world", mb.FreeJoint("of a")), ("b", "world", mb.FreeJoint("of b")),
        ("c", "a", mb.RevoluteJoint("i")), ("d", "a", mb.PrismaticJoint("j")),
    )  # fmt: skip
    for name, parent, joint in joints:
        mech.add_body(mb.Body(name, box))
        mech.add_joint(joint, parent, name)
    for each in constraints:
        mech.add_constraint(each)
    system = mech.assemble()
    return system, system.reference_configuration()
