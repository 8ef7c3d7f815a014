"""Check that the links and joints of a URDF file are one tree."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence

from mbkit.errors import listed, suggestion
from mbkit.io.urdf.document import UrdfJoint, UrdfLink
from mbkit.io.xml.faults import Reading


def check_tree(
    links: Sequence[UrdfLink],
    joints: Sequence[UrdfJoint],
    reading: Reading,
    *,
    is_complete: bool = True,
) -> str:
    """Return the root link, which is no child, "" for none; joints that make it no tree are faults.

    Links and joints are in the order of the file. If they are not complete, errors that a missing
    one might mend are no faults.
    """
    names = _unique("link", links, reading)
    known = _unique("joint", joints, reading)
    parent_of: dict[str, UrdfJoint] = {}
    for joint in joints:
        _check_joint(joint, names, parent_of, reading)
        if joint.mimic is not None:
            _check_mimic(joint, known, reading)
    if not is_complete:
        return ""
    if not links:
        reading.fault(1, "<robot>: must have a link, got none; write at least one <link>.")
        return ""
    unique = {link.name: link for link in reversed(links)}  # duplicates are noted already
    roots = [link for link in links if link.name not in parent_of and unique[link.name] is link]
    if len(roots) > 1:
        shown = listed(roots, lambda root: f"{root.name!r} (line {root.line})")
        reading.fault(
            roots[1].line,
            f"link {roots[1].name!r}: all links but one must be the child of a joint; no joint "
            f"leads to {shown}. Join them to one root.",
        )
    _check_cycles(links, parent_of, reading)
    return roots[0].name if roots else ""


def _unique(kind: str, items: Sequence[UrdfLink | UrdfJoint], reading: Reading) -> dict[str, int]:
    """Return the lines of the names; a name that stands twice is a fault."""
    lines: dict[str, int] = {}
    for item in items:
        if item.name in lines:
            reading.fault(
                item.line,
                f"{kind} {item.name!r}: the name is taken by the {kind} in line "
                f"{lines[item.name]}; rename or remove one of them.",
            )
        else:
            lines[item.name] = item.line
    return lines


def _check_joint(
    joint: UrdfJoint, links: dict[str, int], parent_of: dict[str, UrdfJoint], reading: Reading
) -> None:
    what = f"joint {joint.name!r}"
    for tag, end in (("parent", joint.parent), ("child", joint.child)):
        if end not in links:
            hint = functools.partial(suggestion, end, links)
            reading.fault(joint.line, f"{what}: {tag} {end!r} is no link; ", hint)
    if joint.parent == joint.child:
        reading.fault(
            joint.line,
            f"{what}: connects link {joint.child!r} to itself; parent and child must differ.",
        )
    first = parent_of.setdefault(joint.child, joint)
    if first is not joint:
        reading.fault(
            joint.line,
            f"{what}: link {joint.child!r} is the child of joint {first.name!r} (line "
            f"{first.line}) already; a URDF is a tree, in which no two joints lead to one link.",
        )


def _check_mimic(joint: UrdfJoint, names: Collection[str], reading: Reading) -> None:
    assert joint.mimic is not None
    what = f"joint {joint.name!r}, <mimic>"
    if joint.mimic.joint == joint.name:
        reading.fault(joint.line, f"{what}: couples the joint to itself; name another joint.")
    elif joint.mimic.joint not in names:
        hint = functools.partial(suggestion, joint.mimic.joint, names)
        reading.note(joint.line, f"{what}: {joint.mimic.joint!r} is no joint; ", hint)


def _check_cycles(
    links: Sequence[UrdfLink], parent_of: dict[str, UrdfJoint], reading: Reading
) -> None:
    """Note a fault for each cycle: links from which the way to the parents never ends."""
    settled: set[str] = set()
    for link in links:
        path: dict[str, None] = {}  # in order
        name = link.name
        while name not in settled and name not in path and name in parent_of:
            path[name] = None
            name = parent_of[name].parent
        if name in path:
            cycle = list(path)[list(path).index(name) :]
            if len(cycle) > 1:  # a link joined to itself is noted already
                shown = listed(parent_of[each].name for each in cycle)
                line = min(parent_of[each].line for each in cycle)
                reading.fault(
                    line,
                    f"joints {shown} close a loop; a URDF is a tree, so cut one of them, and "
                    "close the loop by a <loop_joint>.",
                )
        settled.update(path)
