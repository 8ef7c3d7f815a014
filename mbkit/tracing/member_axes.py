"""Axes and screws of the members of composite joints that stay free.

T = T_1 ... T_n, each T_i in the joint's frame. Another axis of a member is a turn Q about its
point: T_i becomes Q T_i Q^-1. In the memory of the joint these are other screws Ad_Q X where the
members are one product of exponentials, else another frame Q K of the member. Members of several
axes, and screws, are written anew: r, e, a and b of each X = (r e, a + r b).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.autodiff.tape import apply
from mbkit.errors import UsageError
from mbkit.joints import CompositeJoint
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.bases.screw_motion import ScrewMotion
from mbkit.joints.built_in import (
    HelicalPlanarJoint,
    ScrewJoint,
    TranslationalJoint,
    UniversalJoint,
)
from mbkit.joints.defaults.overriding import moves_as
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.tracing.joint_placements import screw_of, turned, unit, write_pitch

if TYPE_CHECKING:
    from mbkit.systems import System
    from mbkit.tracing.trace import Trace

__all__ = ["enter_member_axes", "is_of_member_axis"]

#: Numbers of a screw in the memory of a product of screws.
_SCREW = 10

#: Fields of members by which their screws are written anew, or their pitch.
_WRITTEN: dict[Any, tuple[str, ...]] = {
    UniversalJoint: ("axis1", "axis2"),
    TranslationalJoint: ("axes",),
    ScrewJoint: ("screw",),
    HelicalPlanarJoint: ("pitch",),
}


def is_of_member_axis(system: System, path: str) -> bool:
    """Return whether a parameter is the axis of a member of a composite joint."""
    found = _found(system, path)
    if found is None:
        return False
    field = path.rpartition(".")[2]
    return field == "axis" or field in _WRITTEN.get(type(found[1][-1]), ())


def enter_member_axes(trace: Trace) -> None:
    """Write those axes that stay free into the memory of composite joints."""
    for path in dict.fromkeys(each.path for each in trace.free):
        if is_of_member_axis(trace.system, path):
            _enter(trace, path)


def _found(system: System, path: str) -> tuple[int, list[Any]] | None:
    """Return the row of a composite joint, and the joints from it to a member by its path.

    -1 stands for the row of one that closes a loop.
    """
    kind, _, rest = path.partition(".")
    of_loops = [(-1, each) for each in system.arrays.closure.joints]
    for row, each in [*enumerate(system.arrays.joints), *of_loops]:
        joint: Any = getattr(each, "joint", each)
        if kind == "joints" and moves_as(joint, CompositeJoint):
            chain = _members(joint, rest.rpartition(".")[0])
            if chain is not None:
                return row, chain
    return None


def _members(joint: Any, path: str) -> list[Any] | None:
    """Return the joints that the names of a path lead through, from a composite joint on."""
    if path == joint.name:
        return [joint]
    if not moves_as(joint, CompositeJoint) or not path.startswith(f"{joint.name}."):
        return None
    for member in joint.members:
        chain = _members(member, path[len(joint.name) + 1 :])
        if chain is not None:
            return [joint, *chain]
    return None


def _enter(trace: Trace, path: str) -> None:
    found = _found(trace.system, path)
    assert found is not None
    k, chain = found
    joint, member = chain[0], chain[-1]
    if k < 0:
        raise UsageError(
            f"{trace.what}: {path!r} cannot stay free, since joint {joint.name!r} closes a loop; "
            f"let another joint close it, RelativeCoordinates(loop_joints=[...])."
        )
    row = trace.mirror.pointer_at(trace.workspace.record[0]["bodies"])[k]
    if joint.kernels() is None:
        raise UsageError(
            f"{trace.what}: {path!r} cannot stay free, since joint {joint.name!r} has a member in "
            f"Python; put a body between the members, or leave it out."
        )
    if not moves_as(member, MotionJoint):
        raise UsageError(
            f"{trace.what}: {path!r} cannot stay free, since {type(member).__name__} has a motion "
            f"of its own; leave it out."
        )
    owner, _, field = path.rpartition(".")
    if field != "axis":
        _write_anew(trace, k, chain, owner)
        return
    Q = turned(trace, member, trace.parameter(path), trace.parameter(f"{owner}.point"))
    _turn_in_memory(trace.mirror.pointer_at(row["parameters"]), chain, Q)
    _turn_pieces(trace, k, chain, Q)


def _write_anew(trace: Trace, k: int, chain: list[Any], owner: str) -> None:
    """Write the screws of a member, or its pitch, into the memory of a joint and of its pieces."""
    from mbkit.kernels.compile import array_address

    row = trace.mirror.pointer_at(trace.workspace.record[0]["bodies"])[k]
    table = trace.system.arrays.joint_pieces
    pieces = trace.mirror.pointer_at(array_address(table.table))
    own = pieces[int(table.first[k]) : int(table.first[k + 1])][_place(chain, _count_pieces)]
    memories = [trace.mirror.pointer_at(piece["parameters"]) for piece in own]
    memory, in_joint_frame = _memory_of(trace.mirror.pointer_at(row["parameters"]), chain)
    if isinstance(chain[-1], HelicalPlanarJoint):
        for each in (memory, *memories):
            write_pitch(each, trace.parameter(f"{owner}.pitch")[()])
        return
    screws = _screws(trace, chain[-1], owner, in_joint_frame=in_joint_frame)
    memory.reshape(-1, _SCREW)[...] = screws
    for each, screw in zip(
        memories, _screws(trace, chain[-1], owner, in_joint_frame=False), strict=True
    ):
        each[:_SCREW] = screw


def _row_of(memory: Any, joint: Any, member: Any) -> Any:
    """Return the row of a member, and all behind it, in the memory of a composite joint."""
    from mbkit.kernels.joints import composite

    # a member that holds its bodies where they are has no row
    names = [each.name for each in joint.members if each.num_velocities]
    return memory[composite.FIRST_MEMBER + composite.MEMBER_SIZE * names.index(member.name) :]


def _memory_of(memory: Any, chain: list[Any]) -> tuple[Any, bool]:
    """Return the screws, or all numbers, of a member, and whether they are in the joint's frame."""
    from mbkit.kernels.joints import composite

    joint, member = chain[:2]
    if joint.screw_product is not None:
        own = memory[: len(joint.parameters())]
        first, place = len(own) - _SCREW * _count_screws(joint), _place(chain, _count_screws)
        return own[first + _SCREW * place.start : first + _SCREW * place.stop], True
    own = memory[int(_row_of(memory, joint, member)[composite.PARAMETERS]) :]
    if len(chain) > 2:
        return _memory_of(own, chain[1:])
    if isinstance(member, HelicalPlanarJoint):
        return own[: len(member.parameters())], False
    count = _count_screws(member)
    size = 1 + 6 * (6 - member.num_velocities)
    return own[size : size + _SCREW * count], False


def _screws(trace: Trace, member: Any, owner: str, *, in_joint_frame: bool) -> Any:
    """Return (r, e, a, b) of each screw of a member, in the joint's frame or in its own."""

    def value(field: str) -> Any:
        return trace.parameter(f"{owner}.{field}")

    none = np.zeros(3)
    if isinstance(member, ScrewJoint):
        w, v = screw_of(trace, member, owner)
        if member.rate == 0.0:
            return np.array([[0.0, *none, *v, *none]], dtype=object)
        r = apply("sqrt", w @ w)
        e = w / r
        along = (e @ v) * e
        return np.array([[r, *e, *along, *((v - along) / r)]], dtype=object)
    if isinstance(member, TranslationalJoint):
        return np.array([[0.0, *none, *unit(axis), *none] for axis in value("axes")], dtype=object)
    axes = [unit(value(field)) for field in _WRITTEN[UniversalJoint]]
    point = value("point") if in_joint_frame else none
    return np.array([[1.0, *e, *none, *np.cross(point, e)] for e in axes], dtype=object)


def _turn_in_memory(memory: Any, chain: list[Any], Q: Any) -> None:
    """Turn a member in the memory of a composite joint, which begins with the array."""
    from mbkit.kernels.joints import composite

    joint, member = chain[:2]
    if joint.screw_product is not None:
        own = memory[: len(joint.parameters())]
        screws = own[len(own) - _SCREW * _count_screws(joint) :].reshape(-1, _SCREW)
        for X in screws[_place(chain, _count_screws)]:
            R, e = Q[:3, :3], X[1:4].copy()
            X[1:4], X[4:7] = R @ e, R @ X[4:7]
            X[7:10] = R @ X[7:10] + (np.cross(Q[:3, 3], X[1:4]) if X[0] != 0.0 else 0.0)
        return
    entry = _row_of(memory, joint, member)
    if len(chain) > 2:
        _turn_in_memory(memory[int(entry[composite.PARAMETERS]) :], chain[1:], Q)
        return
    frame = entry[composite.FRAME : composite.MEMBER_SIZE]
    R, p = frame[:9].reshape(3, 3), frame[9:]
    frame[9:] = Q[:3, :3] @ p + Q[:3, 3]
    frame[:9] = (Q[:3, :3] @ R).ravel()


def _turn_pieces(trace: Trace, k: int, chain: list[Any], Q: Any) -> None:
    """Turn a member in the pieces of a joint, by which series are computed."""
    from mbkit.kernels.compile import array_address

    pieces = trace.system.arrays.joint_pieces
    table = trace.mirror.pointer_at(array_address(pieces.table))
    for piece in table[int(pieces.first[k]) : int(pieces.first[k + 1])][
        _place(chain, _count_pieces)
    ]:
        piece["p"] = Q[:3, :3] @ piece["p"] + Q[:3, 3]
        piece["R"] = Q[:3, :3] @ piece["R"]


def _place(chain: list[Any], count: Any) -> slice:
    """Return which parts of the outer joint are those of the last member of a chain."""
    start = 0
    for joint, member in itertools.pairwise(chain):
        for each in joint.members:
            if each is member:
                break
            start += count(each)
    return slice(start, start + count(chain[-1]))


def _count_screws(joint: Any) -> int:
    return _count_pieces(joint) if joint.num_velocities else 0


def _count_pieces(joint: Any) -> int:
    """Return how many pieces a joint has in `mbkit.systems.memory.joint_pieces`."""
    if moves_as(joint, CompositeJoint):
        return sum(map(_count_pieces, joint.members))
    if moves_as(joint, MotionJoint) and not isinstance(joint, ScrewMotion):
        return len(joint.motion.screws) if isinstance(joint.motion, ScrewProduct) else 1
    return 1
