"""Joints that generate a motion subgroup, with a choice of coordinates of it."""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np

from mbkit.errors import ModelError, suggestion
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.joints.motions.screw_sum import ScrewSum
from mbkit.spatial.arrays import FloatArray, owner, with_key

#: The values of `coordinates`.
GROUP = "group"
FIRST_KIND = "first kind"
SECOND_KIND = "second kind"
COORDINATES = (GROUP, FIRST_KIND, SECOND_KIND)


class SubgroupJoint(MotionJoint):
    """T is an element of a subgroup of SE(3), written in coordinates of a chosen kind.

    ``"group"``
        An element of the group itself. Velocities are the twist of the successor in its own axes,
        so that S is constant; there is no singular configuration.
    ``"first kind"``
        T = exp(X_1 q_1 + ... + X_n q_n) with the screws of the group; v is dq/dt. Singular where
        the sum turns by 2 pi.
    ``"second kind"``
        T = exp(X_a q_1) exp(X_b q_2) ..., in an order of the user's; v is dq/dt.
    """

    coordinates: str
    order: tuple[str, ...] | None

    #: The kinds that a class has, the order of the factors unless the user gives one, and how many
    #: eigenvalues of a turn in the group are not one.
    kinds: tuple[str, ...] = COORDINATES
    default_order: ClassVar[tuple[str, ...]] = ()
    turning: int = 2

    #: Closed forms of where the joint is, of the first kind and of the second.
    charts: tuple[str | None, str | None] = ("planar_sum", "turn_and_shifts")

    @property
    @abc.abstractmethod
    def freedoms(self) -> dict[str, FloatArray]:
        """The screws (6,) of the group, in the canonical frame, by the names that `order` has."""

    @abc.abstractmethod
    def group_motion(self) -> Motion:
        """Return the motion in group elements."""

    def stored_wrenches(self) -> FloatArray:
        """Return a basis of the wrenches that do no work in the group, in the canonical frame.

        The twists of a subgroup are the same seen from the successor, wherever it stands.
        """
        twists = np.array(list(self.freedoms.values()))
        return np.linalg.svd(twists)[2][len(twists) :].T

    @functools.cached_property
    def motion(self) -> Motion:
        """The motion in the chosen coordinates, in the canonical frame."""
        if self.coordinates == GROUP:
            return self.group_motion()
        freedoms = self.freedoms
        order = tuple(freedoms) if self.coordinates == FIRST_KIND else self.factors
        screws = np.array([freedoms[name] for name in order])
        units = tuple("rad" if X[:3].any() else "m" for X in screws)
        if self.coordinates == FIRST_KIND:
            W = self.stored_wrenches()
            return ScrewSum(screws, units, W, self.turning, self.charts[0])
        measure = self.second_kind_measure()
        return ScrewProduct(screws, units, self.stored_wrenches(), measure, self.charts[1])

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors in coordinates of the second kind, in their order."""
        return self.default_order if self.order is None else self.order

    @property
    def singularity_remedy(self) -> str:
        """A way to avoid singular configurations, as text; see `mbkit.Joint.singularity`."""
        if self.singularity(self.neutral()) == math.inf:
            return ""
        return f"coordinates={GROUP!r} has no singular configuration"

    def second_kind_measure(self) -> tuple[Callable[[Any], Any], int] | None:
        """Return of which angle the volume of S is the sine or cosine, None if it is one.

        Here for a turn about z, and shifts: x and y are orthogonal wherever they stand, unless the
        turn is between them. A shift along z commutes with all.
        """
        turn, x, y = (self.factors.index(name) for name in ("angle", "x", "y"))
        if (turn < x) == (turn < y):
            return None
        return np.cos, turn

    def order_fits(self, order: tuple[str, ...]) -> bool:
        """Return whether factors in this order reach every element: each freedom once."""
        return sorted(order) == sorted(self.freedoms)

    def order_rule(self) -> str:
        """Return the rule of `order_fits` in words."""
        return f"must have each of {', '.join(map(repr, self.freedoms))} once"


def as_order(value: Any) -> Any:
    """Return names as a tuple; another value is returned unchanged, for the check that follows."""
    return tuple(value) if isinstance(value, (list, tuple, str)) else value


def check_coordinates(joint: SubgroupJoint, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check the field `coordinates` (a validator of attrs)."""
    with_key("coordinates", _known_kind, joint, value)


def _known_kind(joint: SubgroupJoint, value: Any) -> None:
    if not (isinstance(value, str) and value in joint.kinds):
        raise ModelError(
            f"{owner(joint)}: coordinates must be one of {', '.join(map(repr, joint.kinds))}, got "
            f"{value!r}; {suggestion(value, joint.kinds)}"
        )


def check_order(joint: SubgroupJoint, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check the field `order` (a validator of attrs)."""
    with_key("order", _fitting_order, joint, value)


def _fitting_order(joint: SubgroupJoint, value: Any) -> None:
    if value is None:
        return
    if joint.coordinates != SECOND_KIND:
        raise ModelError(
            f"{owner(joint)}: order is that of the factors of coordinates={SECOND_KIND!r}, got "
            f"coordinates={joint.coordinates!r}; leave it out, or ask for these."
        )
    names = set(joint.freedoms)
    known = isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    if not (known and names.issuperset(value) and joint.order_fits(value)):
        shown = list(value) if isinstance(value, tuple) else value
        raise ModelError(
            f"{owner(joint)}: order {joint.order_rule()}, got {shown!r}; the default is "
            f"{list(joint.default_order)!r}."
        )
