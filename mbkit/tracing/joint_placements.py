"""Axes and places of joints that stay free.

A joint leads by S_pred T S_succ^-1, T = K T' K^-1, with T' the compiled form in its frame K. Other
axes are other frames K, by a motion Q: T becomes Q T Q^-1, Q being a turn about the joint's point.
In the rows of the kernels the change is in two places, where the joint sits on its parent, and the
pose of the body's frame in that of the joint; inertias and all that is fixed to bodies stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.autodiff.tape import Traced, apply
from mbkit.errors import UsageError
from mbkit.joints import JOINT_TYPES, Joint
from mbkit.joints.built_in import (
    HelicalPlanarJoint,
    ScrewJoint,
    TranslationalJoint,
    UniversalJoint,
)
from mbkit.joints.defaults.overriding import moves_as
from mbkit.kernels import layout
from mbkit.tracing.parameters import Free

if TYPE_CHECKING:
    from mbkit.systems import System
    from mbkit.tracing.trace import Trace

__all__ = ["enter_places", "is_of_places", "screw_of", "turned", "unit", "write_pitch"]

_PLACES = ("S_pred", "S_succ")

#: Numbers of a screw in the memory of a product of screws; its direction, if it turns or slides.
_SCREW = 10
_TURNS, _SLIDES = slice(1, 4), slice(4, 7)

#: The normal of a plane of translations, among the wrenches in the memory of its joint.
_NORMAL = slice(22, 25)

#: The pitch of a helical planar joint in its memory, and the last of the three wrenches before it.
_PITCH, _WRENCH = 19, 13

#: Fields that are directions in the memory of a joint, by its class and their names.
_IN_MEMORY: dict[Any, dict[str, slice]] = {
    UniversalJoint: {"axis1": _TURNS, "axis2": _TURNS},
    TranslationalJoint: {"axes": _SLIDES},
}


def is_of_places(system: System, each: Free) -> bool:
    """Return whether the numbers of a system are no polynomials of a parameter, but known here."""
    found = _owner(system, each.path)
    if found is None:
        return False
    name, field = found
    if field in _PLACES:
        return each.shape == (4, 4)
    joint = _joints(system).get(name)
    if field in _IN_MEMORY.get(type(joint), ()):
        return True
    if field == "pitch" and moves_as(joint, HelicalPlanarJoint):
        return True
    return (field == "axis" and type(joint) in JOINT_TYPES.values()) or _is_screw(joint, field)


def _owner(system: System, path: str) -> tuple[str, str] | None:
    """Return the joint and the field of a parameter, None where it is not of a joint."""
    kind, _, rest = path.partition(".")
    name, _, field = rest.rpartition(".")
    return (name, field) if kind == "joints" and name in system.joint_places else None


def _joints(system: System) -> dict[str, Joint]:
    """Return the joints as they were given, by name, those that close loops included."""
    every = *system.arrays.joints, *system.arrays.closure.joints
    return {each.name: getattr(each, "joint", each) for each in every if each is not None}


def _is_screw(joint: Joint | None, field: str) -> bool:
    """Return whether a field is the screw of a joint whose axis is nearby, if it has one."""
    return moves_as(joint, ScrewJoint) and field == "screw" and not joint.is_far


def enter_places(trace: Trace) -> None:
    """Write those axes and places that stay free into the rows of the kernels."""
    fields: dict[str, set[str]] = {}
    for each in trace.free:
        found = _owner(trace.system, each.path)
        if found is not None and is_of_places(trace.system, each):
            fields.setdefault(found[0], set()).add(found[1])
    for name, given in fields.items():
        _Place(trace, name, given).enter()


class _Place:
    """A joint, and the fields of it that stay free."""

    def __init__(self, trace: Trace, name: str, fields: set[str]) -> None:
        self.trace, self.name, self.fields = trace, name, fields
        self.joint = _joints(trace.system).get(name)
        self.rates: tuple[Any, Any] | None = None  # rate and lead of a screw, if they change

    def enter(self) -> None:
        """Write all that changes."""
        system, record = self.trace.system, self.trace.workspace.record[0]
        Q = self._motion()
        names = [joint.name if joint else "" for joint in system.arrays.joints]
        if self.name in names:
            i = names.index(self.name)
            row = self.trace.mirror.pointer_at(record["bodies"])[i]
            self._move_row(row, Q)
            pieces = system.arrays.joint_pieces
            chain = pieces.table[pieces.first[i] : pieces.first[i + 1]]
            self._write_directions([row["parameters"]], [each["parameters"] for each in chain])
            return
        closure = system.arrays.closure
        if self.name not in closure.names[: closure.num_joints]:
            raise UsageError(
                f"{self.trace.what}: joint {self.name!r} of system '{system.name}' does not move, "
                f"and bodies that it joins are one; the turn of its place cannot stay free, its "
                f"position can: name entries such as 'joints.{self.name}.S_pred[0, 3]'."
            )
        k = closure.names.index(self.name)
        self._move_sites(k, Q)
        row = self.trace.mirror.pointer_at(self._closure["joints"])[k + 1]
        self._write_directions([row["parameters"]], [])

    @property
    def _closure(self) -> Any:
        memory: Any = self.trace.workspace.closure
        return memory.record[0]

    # ------------------------------------------------------------------------- what is given

    def _value(self, field: str) -> Any:
        return self.trace.parameter(f"joints.{self.name}.{field}")

    def _before(self, place: str) -> Any:
        """Return a place as it is in the system, with positions that stay free."""
        if place in self.fields:
            return np.array(self.trace.system.parameters[f"joints.{self.name}.{place}"])
        return self._value(place)

    def _change(self, place: str) -> Any:
        """Return S_0^-1 S."""
        if place not in self.fields:
            return np.eye(4)
        return _inverse(self._before(place)) @ self._value(place)

    def _motion(self) -> Any:
        """Return Q."""
        joint: Any = self.joint
        if "axis" in self.fields:
            return turned(self.trace, joint, self._value("axis"), self._value("point"))
        if "screw" not in self.fields:
            return np.eye(4)
        w, v = screw_of(self.trace, joint, f"joints.{self.name}")
        if joint.rate == 0.0:
            lead = apply("sqrt", v @ v)
            self.rates = 0.0, lead
            return _pose(_along(self.trace, v / lead), np.zeros(3)) @ _inverse(
                joint.canonical_frame
            )
        rate = apply("sqrt", w @ w)
        e = w / rate
        self.rates = rate, e @ v
        K = _pose(_along(self.trace, e), np.cross(e, v / rate))
        return K @ _inverse(joint.canonical_frame)

    # ---------------------------------------------------------------------- what it changes

    def _move_row(self, row: Any, Q: Any) -> None:
        """Move a joint of the tree.

        X = Y S K becomes Y S Q K, with S its place on the parent and Y the frame there. The body's
        frame in that of the joint, B = (S' K)^-1 Z, becomes (S' Q K)^-1 Z.
        """
        trace, place = self.trace, self.trace.system.joint_places[self.name]
        ends = [*zip(_PLACES, (place.predecessor, place.successor), strict=True)]
        (near, _), (far, child) = ends[::-1] if row["reversed"] else ends
        B = np.eye(4)
        if row["own_frame"]:
            numbers = trace.mirror.floats_at(row["own_frame"], layout.OWN_FRAME_SIZE)
            B = _pose(numbers[:9].reshape(3, 3), numbers[9:])
        frame = self._frame(child)
        K = _inverse(B @ frame @ self._before(far))
        X = _pose(row["R"], row["p"]) @ _inverse(K) @ self._change(near) @ Q @ K
        row["R"], row["p"] = X[:3, :3], X[:3, 3]
        if self.fields == {near}:
            return
        B = _inverse(K) @ _inverse(self._change(far) @ Q) @ K @ B
        row["kind"] = {
            layout.SCREW: layout.SCREW_IN_OWN_FRAME, layout.TABLE: layout.TABLE_IN_OWN_FRAME
        }.get(int(row["kind"]), row["kind"])  # fmt: skip
        row["own_frame"] = trace.new(np.concatenate([B[:3, :3].ravel(), B[:3, 3]]))
        if self.rates is not None:
            sign = -1.0 if row["reversed"] else 1.0
            row["rate"], row["lead"] = (sign * x for x in self.rates)

    def _move_sites(self, k: int, Q: Any) -> None:
        """Move a joint that closes a loop: the frames on both bodies between which it acts."""
        place = self.trace.system.joint_places[self.name]
        sites = self.trace.mirror.pointer_at(self._closure["sites"])
        bodies = place.predecessor, place.successor
        for site, S, body in zip(sites[2 * k : 2 * k + 2], _PLACES, bodies, strict=True):
            near = self._frame(body) @ self._before(S)
            C = _pose(site["place_R"], site["place_p"])
            C = near @ self._change(S) @ Q @ _inverse(near) @ C
            site["place_R"], site["place_p"] = C[:3, :3], C[:3, 3]
        if self.rates is not None:
            row = self.trace.mirror.pointer_at(self._closure["joints"])[k + 1]
            row["rate"], row["lead"] = self.rates

    def _frame(self, body: str) -> Any:
        """Return the pose of a body of the user in the frame of its row."""
        frames = self.trace.mirror.pointer_at(self.trace.workspace.record[0]["frames"])
        frame = frames[self.trace.system.body_index(body)]
        return _pose(frame["R"], frame["p"])

    def _write_directions(self, whole: list[Any], pieces: list[Any]) -> None:
        """Write directions into the memory of a joint, and into that of its pieces."""
        if "pitch" in self.fields:
            for address in (*whole, *pieces):
                write_pitch(self.trace.mirror.pointer_at(address), self._value("pitch")[()])
        fields = _IN_MEMORY.get(type(self.joint), {})
        rows = [(fields[f], axis) for f in fields for axis in np.atleast_2d(self._value(f))]
        if not self.fields.intersection(fields):
            return
        if isinstance(self.joint, TranslationalJoint) and len(rows) == 2:
            for address in whole:
                normal = unit(np.cross(*(axis for _, axis in rows)))
                self.trace.mirror.pointer_at(address)[_NORMAL] = normal
        for k, (entries, axis) in enumerate(rows):
            for address in whole:
                memory = self.trace.mirror.pointer_at(address)
                memory[len(memory) - _SCREW * (len(rows) - k) :][entries] = unit(axis)
            for address in pieces[k : k + 1]:
                self.trace.mirror.pointer_at(address)[entries] = unit(axis)


def screw_of(trace: Trace, joint: Any, owner: str) -> Any:
    """Return (w, v) of a screw joint; UsageError if it slides and its axis stays free."""
    w, v = np.split(trace.parameter(f"{owner}.screw"), 2)
    if joint.rate == 0.0 and any(isinstance(x, Traced) for x in w):
        raise UsageError(
            f"{trace.what}: '{owner}.screw' cannot stay free as a whole, since the joint only "
            f"slides, and with the least turn is another one, whose q is an angle; name the "
            f"entries of its shift, '{owner}.screw[3]' to '[5]'."
        )
    return w, v


def write_pitch(memory: Any, pitch: Any) -> None:
    """Write the pitch of a helical planar joint, and the wrench that it bears along its axis."""
    size = apply("sqrt", 1.0 + pitch * pitch)
    memory[_PITCH], memory[_WRENCH + 2], memory[_WRENCH + 5] = pitch, -pitch / size, 1.0 / size


def turned(trace: Trace, joint: Any, axis: Any, point: Any) -> Any:
    """Return the turn Q about a point that brings the axis of a joint to another one."""
    R = _along(trace, unit(axis)) @ _along(trace, unit(joint.axis)).T
    return _pose(R, point - R @ point)


def _along(trace: Trace, e: Any) -> Any:
    """Return `mbkit.joints.bases.axes.frame_along`, in either half space."""
    sign = trace.sign(e[2])
    x, y, z = sign * e
    c = 1.0 / (1.0 + z)
    R = [[1.0 - x * x * c, -x * y * c, x], [-x * y * c, 1.0 - y * y * c, y], [-x, -y, z]]
    return np.array(R, dtype=object) * np.array([1.0, sign, sign], dtype=object)


def unit(axis: Any) -> Any:
    """Return the unit vector along an axis."""
    axis = np.asarray(axis, dtype=object)
    return axis / apply("sqrt", axis @ axis)


def _pose(R: Any, p: Any) -> Any:
    C = np.eye(4).astype(object)
    C[:3, :3], C[:3, 3] = R, p
    return C


def _inverse(C: Any) -> Any:
    return _pose(C[:3, :3].T, -C[:3, :3].T @ C[:3, 3])
