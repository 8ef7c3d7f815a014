"""Frames of a model of SDF: which is where, and on which link.

Source: "Pose Frame Semantics", SDFormat 1.7 and later: links, joints, frames and nested models are
frames; a pose is relative to the frame that it names, else to that of its model, that of a joint to
its child, and that of a frame to its ``attached_to``. Files of versions 1.4 to 1.6, which name
no frames, follow the same rules.
"""

from __future__ import annotations

import functools

import attrs
import numpy as np

from mbkit.errors import suggestion
from mbkit.io.xml.values import Part
from mbkit.spatial import FloatArray, inverse

MODEL, WORLD = "__model__", "world"


@attrs.define
class Place:
    """A frame: its pose relative to another one, and the link it moves with."""

    part: Part
    pose: FloatArray
    relative: str
    attached: str = ""  # "" for links
    inner: Scope | None = None  # of a nested model


@attrs.define
class Scope:
    """The frames of a model, or of a world, by their names there.

    `prefix` is the prefix of these names, and `pose` that of the model in the world.
    """

    prefix: str
    own: str  # the name of the frame of the model, or of the world
    pose: FloatArray
    canonical: str = ""  # the link that the frame of the model moves with
    is_static: bool = False
    places: dict[str, Place] = attrs.field(factory=dict)
    _poses: dict[str, FloatArray | None] = attrs.field(factory=dict)

    def add(self, name: str, place: Place) -> None:
        """Add a frame; a name that stands twice is a fault."""
        if name in self.places or name in (MODEL, WORLD):
            place.part.fault(f"the name {name!r} is taken in its model; rename it.")
        else:
            self.places[name] = place

    def pose_of(self, name: str, part: Part) -> FloatArray:
        """Return the pose of a frame in the model; the identity where there is none: a fault."""
        if name == self.own:
            return np.eye(4)
        place, inside = self._place(name, part)
        if place is None:
            return np.eye(4)
        if inside:
            assert place.inner is not None
            within = place.inner.pose_of(inside, part)
            return self.pose_of(name.split("::", maxsplit=1)[0], part) @ within
        if name in self._poses:
            known = self._poses[name]
            if known is None:
                part.fault(f"the pose of {name!r} is relative to itself; break the circle.")
                return np.eye(4)
            return known
        self._poses[name] = None
        default = place.attached if place.inner is None else ""
        base = self.pose_of(place.relative or default or self.own, place.part)
        found: FloatArray = base @ place.pose
        self._poses[name] = found
        return found

    def in_world(self, name: str, part: Part) -> FloatArray:
        """Return the pose of a frame in the world."""
        return self.pose @ self.pose_of(name, part)

    def link_of(self, name: str, part: Part) -> str:
        """Return the link, by its whole name, that a frame moves with, or "world"."""
        seen = set()
        while True:
            if name == self.own:
                name = self.canonical
                if not name:
                    return WORLD
            place, inside = self._place(name, part)
            if place is None or name in seen:
                if place is not None:
                    part.fault(f"the frame {name!r} is attached to itself; break the circle.")
                return ""
            if place.inner is not None:
                return place.inner.link_of(inside or place.inner.own, part)
            if not place.attached:
                return self.prefix + name
            seen.add(name)
            name = place.attached

    def _place(self, name: str, part: Part) -> tuple[Place | None, str]:
        """Return a frame, or the model that it is in and its name there; None is a fault."""
        first, _, inside = name.partition("::")
        place = self.places.get(first)
        if place is None or (inside and place.inner is None):
            hint = functools.partial(suggestion, name, self.places)
            part.fault(f"there is no frame {name!r} in its model; ", hint)
            return None, ""
        return place, inside


def placed(place: Place, outer: Scope, name: str, foremost: str) -> None:
    """Set the pose of a nested model, of whose frames `foremost` is placed; its own by default."""
    assert place.inner is not None
    if foremost:
        place.pose = place.pose @ inverse(place.inner.pose_of(foremost, place.part))
    place.inner.pose = outer.in_world(name, place.part)
