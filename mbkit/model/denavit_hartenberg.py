"""Serial arms by the parameters of Denavit and Hartenberg, in both conventions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import GeometryError, UsageError, check_choice
from mbkit.given_values import as_number
from mbkit.joints import Joint, PrismaticJoint, RevoluteJoint
from mbkit.parts.body import Body
from mbkit.parts.joint_data import JointLimits
from mbkit.spatial import FloatArray, SpatialInertia, inverse
from mbkit.spatial.arrays import frozen_array
from mbkit.spatial.frames import check_pose

if TYPE_CHECKING:
    from mbkit.model.mechanism import Mechanism

_CONVENTIONS = ("standard", "modified")
_KINDS = ("revolute", "prismatic")


def _check_number(row: DenavitHartenbergRow, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not (isinstance(value, float) and math.isfinite(value)):
        raise GeometryError(
            f"DenavitHartenbergRow: {attribute.name} must be a finite number, got {value!r}; give "
            "lengths in metres and angles in radians."
        )


def _check_kind(row: DenavitHartenbergRow, _: attrs.Attribute[Any], value: Any) -> None:
    check_choice("DenavitHartenbergRow: kind", value, _KINDS)


def _check_data(row: DenavitHartenbergRow, attribute: attrs.Attribute[Any], value: Any) -> None:
    kind = {"inertia": SpatialInertia, "limits": JointLimits}[attribute.name]
    if not isinstance(value, kind):
        raise UsageError(
            f"DenavitHartenbergRow: {attribute.name} must be an mbkit.{kind.__name__}, got "
            f"{value!r}; make one, or leave it out."
        )


@final
@attrs.frozen(kw_only=True)
class DenavitHartenbergRow:
    """One row of a table of Denavit-Hartenberg parameters: a joint, and the link beyond it.

    The position q of the joint is added to `theta` where it is revolute, to `d` where it is
    prismatic.

    Attributes
    ----------
    a : float, default 0
        Distance of the z axes, along x. [m]
    alpha : float, default 0
        Angle between the z axes, about x. [rad]
    d : float, default 0
        Distance of the x axes, along z. [m]
    theta : float, default 0
        Angle between the x axes, about z. [rad]
    kind : {"revolute", "prismatic"}
        Type of the joint.
    inertia : SpatialInertia, default zero
        Of the link, in its Denavit-Hartenberg frame.
    limits : JointLimits, default none
        Of q.
    joint, link : str, optional
        Their names; default "joint1" and "link1", and so on.

    Raises
    ------
    GeometryError, UsageError
        If a parameter is no finite number, there is no such kind, or inertia or limits are none.

    Notes
    -----
    The pose of link i in link i - 1 is Rz(theta) Tz(d) Tx(a) Rx(alpha) in the standard convention,
    and Rx(alpha) Tx(a) Rz(theta) Tz(d) in the modified one, Craig's, which writes a_(i-1) and
    alpha_(i-1) for the a and alpha of row i. A table read in the wrong one is another robot.
    Sources: Siciliano, Sciavicco, Villani, Oriolo: Robotics (2009), section 2.8.2; Craig:
    Introduction to Robotics (3rd ed., 2005), equation 3.6.

    Examples
    --------
    >>> DenavitHartenbergRow(a=0.4, alpha=1.5).kind
    'revolute'
    """

    a: float = attrs.field(default=0.0, converter=as_number, validator=_check_number)
    alpha: float = attrs.field(default=0.0, converter=as_number, validator=_check_number)
    d: float = attrs.field(default=0.0, converter=as_number, validator=_check_number)
    theta: float = attrs.field(default=0.0, converter=as_number, validator=_check_number)
    kind: str = attrs.field(default="revolute", validator=_check_kind)
    inertia: SpatialInertia = attrs.field(factory=SpatialInertia.zero, validator=_check_data)
    limits: JointLimits = attrs.field(factory=JointLimits, validator=_check_data)
    joint: str | None = None
    link: str | None = None


def _screw(axis: int, angle: float, distance: float) -> FloatArray:
    """Return the pose of a turn about a coordinate axis and a shift along it."""
    C = np.eye(4)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    c, s = math.cos(angle), math.sin(angle)
    C[[j, j, k, k], [j, k, j, k]] = c, -s, s, c
    C[axis, 3] = distance
    return C


def add_denavit_hartenberg(
    mechanism: Mechanism, rows: Iterable[DenavitHartenbergRow], convention: str, base: ArrayLike
) -> None:
    """Add the links and joints of a table; see `Mechanism.from_denavit_hartenberg`."""
    if not (isinstance(convention, str) and convention in _CONVENTIONS):
        raise UsageError(
            f"convention must be 'standard' (Denavit and Hartenberg, Paul) or 'modified' (Craig), "
            f"got {convention!r}."
        )
    before, near = mechanism.world, frozen_array(base)
    check_pose(near, f"Mechanism {mechanism.name!r}: base")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, DenavitHartenbergRow):
            raise UsageError(
                f"Row {number} must be an mbkit.DenavitHartenbergRow, got {row!r}; write "
                "mbkit.DenavitHartenbergRow(a=..., alpha=..., d=..., theta=...)."
            )
        about_z, about_x = _screw(2, row.theta, row.d), _screw(0, row.alpha, row.a)
        # The joint's motion is along z of the frame before it, or of its own: on the left of
        # C = Rz Tz Tx Rx, or on the right of C = Rx Tx Rz Tz.
        if convention == "standard":
            frames = near, inverse(about_z @ about_x)
        else:
            frames = near @ about_x @ about_z, np.eye(4)
        link = mechanism.add_body(Body(row.link or f"link{number}", row.inertia))
        name = row.joint or f"joint{number}"
        joint: Joint = RevoluteJoint(name) if row.kind == "revolute" else PrismaticJoint(name)
        mechanism.add_joint(joint, before, link, frames=frames, limits=row.limits)
        before, near = link, np.eye(4)
