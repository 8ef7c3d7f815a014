"""Joints that close loops of a URDF file: elements of simulators, not of the format.

<loop_joint> is that of Isaac Sim's importer, and of Drake's before it was MultibodyPlant;
<drake:ball_constraint> is Drake's. The format itself has trees alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from mbkit.errors import suggestion
from mbkit.given_values import check_name
from mbkit.io.urdf.document import UrdfJoint, UrdfLink, UrdfLoop
from mbkit.io.urdf.origin import pose_in
from mbkit.io.xml.angles import rpy_from_rotation
from mbkit.io.xml.faults import Reading
from mbkit.io.xml.quoting import numbers_text, quoteattr
from mbkit.io.xml.values import Part
from mbkit.joints import FixedJoint, Joint, PrismaticJoint, RevoluteJoint, SphericalJoint
from mbkit.model import Connection
from mbkit.spatial import translation

_KINDS: dict[str, Callable[..., Joint]] = {
    "spherical": SphericalJoint,
    "revolute": RevoluteJoint,
    "continuous": RevoluteJoint,
    "prismatic": PrismaticJoint,
    "fixed": FixedJoint,
}
_HAS_AXIS = (RevoluteJoint, PrismaticJoint)

_BALL = "drake:ball_constraint"


def read_loops(robot: Part) -> list[UrdfLoop]:
    """Return all joints of a <robot> that close loops; faults are noted."""
    found = [_loop_joint(each) for each in robot.children("loop_joint")]
    found += [_ball(each) for each in robot.children(_BALL)]
    return [each for each in found if each is not None]


def check_loops(
    loops: Sequence[UrdfLoop],
    links: Iterable[UrdfLink],
    joints: Iterable[UrdfJoint],
    reading: Reading,
) -> None:
    """Note a fault where a loop has a name that is taken, or a link that is not there."""
    known = {link.name for link in links}
    lines = {joint.name: joint.line for joint in joints}
    for loop in loops:
        what = f"loop joint {loop.name!r}"
        if loop.name in lines:
            reading.fault(
                loop.line,
                f"{what}: the name is taken by the joint in line {lines[loop.name]}; rename it.",
            )
        lines.setdefault(loop.name, loop.line)
        for end in loop.links:
            if end not in known:
                hint = functools.partial(suggestion, end, known)
                reading.fault(loop.line, f"{what}: {end!r} is no link; ", hint)
        if loop.links[0] == loop.links[1]:
            reading.fault(loop.line, f"{what}: connects link {loop.links[0]!r} to itself.")


def _loop_joint(part: Part) -> UrdfLoop | None:
    name = part.text("name") or ""
    part.owner = f"loop joint {name!r}"
    before = part.reading.num_faults
    part.attempt(lambda: check_name("Joint", name))
    kind = part.text("type") or ""
    if kind and kind not in _KINDS:
        part.unknown("type", kind, _KINDS)
    # Isaac Sim's own pages write <link1> twice
    ends = [*part.children("link1"), *part.children("link2")]
    if len(ends) != 2:
        part.fault(f"must have <link1> and <link2>, got {len(ends)} of them.")
    links = [end.text("link") or "" for end in ends]
    poses = [pose_in(end) for end in ends]
    axis = part.child("axis")
    direction = np.array((1.0, 0.0, 0.0))
    if axis is not None:
        direction = axis.numbers("xyz", 3)
        axis.done()
    part.done()
    if part.reading.num_faults > before:
        return None
    make = _KINDS[kind]
    about = {"axis": direction} if make in _HAS_AXIS else {}
    joint = part.attempt(lambda: make(name, **about))
    if joint is None:
        return None
    return UrdfLoop(name, kind, joint, (links[0], links[1]), poses[0], poses[1], part.line)


def _ball(part: Part) -> UrdfLoop | None:
    """Return a ball that holds a point of one body on one of another."""
    before = part.reading.num_faults
    names, points = [], []
    for tag in ("body_A", "body_B"):
        body = part.child(f"{_BALL}_{tag}", required=True)
        names.append("" if body is None else body.text("name") or "")
        if body is not None:
            body.done()
    for tag in ("p_AP", "p_BQ"):
        point = part.child(f"{_BALL}_{tag}", required=True)
        points.append(np.zeros(3) if point is None else point.numbers("value", 3))
        if point is not None:
            point.done()
    part.done()
    if part.reading.num_faults > before:
        return None
    name = f"{names[0]} meets {names[1]}"
    first, second = (translation(point) for point in points)
    return UrdfLoop(
        name, "spherical", SphericalJoint(name), (names[0], names[1]), first, second, part.line
    )


# ------------------------------------------------------------------------------------ writing


def is_written(joint: Joint) -> bool:
    """Whether a joint that closes a loop can be written."""
    return type(joint) in _KINDS.values()


def loop_lines(edge: Connection) -> list[str]:
    """Return the lines of a <loop_joint>: with the point of the joint in both origins."""
    joint = edge.joint
    kind = next(kind for kind, each in _KINDS.items() if each is type(joint))
    # a turn about an axis without limits
    kind = "continuous" if kind == "revolute" else kind
    lines = [f"  <loop_joint name={quoteattr(joint.name)} type={quoteattr(kind)}>"]
    ends = ((edge.predecessor, edge.S_pred), (edge.successor, edge.S_succ))
    for number, (link, S) in enumerate(ends, start=1):
        C = S @ translation(getattr(joint, "point", np.zeros(3)))
        xyz, rpy = numbers_text(C[:3, 3]), numbers_text(rpy_from_rotation(C[:3, :3]))
        lines.append(f'    <link{number} link={quoteattr(link)} xyz="{xyz}" rpy="{rpy}"/>')
    if isinstance(joint, _HAS_AXIS):
        lines.append(f'    <axis xyz="{numbers_text(joint.axis)}"/>')
    return [*lines, "  </loop_joint>"]
