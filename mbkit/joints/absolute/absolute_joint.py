"""A free joint in absolute coordinates: any orientation, and steps by any of the maps."""

from __future__ import annotations

import functools
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.joints.absolute.local_coordinates import (
    LOCAL_COORDINATES,
    LocalCoordinates,
    ScrewCoordinates,
    check_side,
)
from mbkit.joints.absolute.orientations import ORIENTATIONS, Orientation, UnitQuaternion
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.motions.absolute_motion import AbsoluteMotion
from mbkit.lie import UnitQuaternion as Group
from mbkit.lie.arrays import pose
from mbkit.spatial.arrays import FloatArray, owner, with_key


def _check_one_of(instance: object, key: str, value: Any, known: dict[str, Any]) -> None:
    if type(value) in known.values():
        return
    names = ", ".join(f"mbkit.{kind.__name__}()" for kind in known.values())
    remedy = (
        "call it" if isinstance(value, type) and value in known.values() else "take one of them"
    )
    raise UsageError(f"{owner(instance)}: {key} must be one of {names}, got {value!r}; {remedy}.")


def check_orientation(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check a field that is an orientation (a validator of attrs)."""
    with_key(attribute.name, _check_one_of, instance, attribute.name, value, ORIENTATIONS)


def check_local(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check a field that is local coordinates (a validator of attrs)."""
    with_key(attribute.name, _check_one_of, instance, attribute.name, value, LOCAL_COORDINATES)


def check_trivialised(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check a field that is a side of the pose (a validator of attrs)."""
    with_key(attribute.name, check_side, value, owner(instance))


@final
@attrs.frozen(slots=False)  # a dictionary for the cached property
class AbsoluteJoint(MotionJoint):
    """No restriction at all, in absolute coordinates: q = (orientation, position).

    The position is that of the successor's joint frame in the predecessor's, [m], its orientation
    is written in the coordinates `orientation`. A step X leads to

        C psi(X) (left-trivialised),   psi(X) C (right-trivialised),

    with the map psi and the group of `local`. The velocity v is its twist, which does not depend on
    the orientation: [rad/s, m/s]

    ================= =================================== ========================================
    group             left                                right
    ================= =================================== ========================================
    SE(3)             body-fixed (w^b, R^T rdot)          spatial (w^s, rdot + r x w^s)
    SO(3) x R^3       mixed (w^b, rdot)                   hybrid (w^s, rdot)
    ================= =================================== ========================================

    Steps are scaled: X is v h to first order. The joint is regular at every orientation. Where
    positions of the orientation jump, at |rho| = pi of a rotation vector and at the gimbal lock of
    angles, the pose does not.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    orientation : UnitQuaternion, RotationVector or EulerAngles, default UnitQuaternion()
        The coordinates of the orientation: the first four, or three, positions.
    local : ScrewCoordinates, RotationVectorPosition, RodriguesPosition, ExtendedRodrigues, \
WienerMilenkovicPosition, ExtendedWienerMilenkovic or DualRodrigues, default ScrewCoordinates()
        The local coordinates of steps.
    trivialised : {"left", "right"}
        On which side of the pose they are.

    Raises
    ------
    UsageError
        If one of them is something else.

    References
    ----------
    .. [1] A. Mueller, "Singularity-free Lie group integration and geometrically consistent
       evaluation of multibody system models described in terms of standard absolute coordinates",
       section 6.

    Examples
    --------
    The default is the `FreeJoint` in group elements:

    >>> import mbkit as mb
    >>> mb.AbsoluteJoint("free").neutral()
    array([1., 0., 0., 0., 0., 0., 0.])

    A shift by (1, 0, 0) after a quarter turn, in the axes of the body and in those of the space:

    >>> q = np.array([0.0, 0.0, np.pi / 2, 0.0, 0.0, 0.0])
    >>> step = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    >>> on_se3 = mb.AbsoluteJoint("free", mb.RotationVector(), mb.ScrewCoordinates())
    >>> on_se3.retract(q, step)[3:].round(12) + 0.0
    array([0., 1., 0.])
    >>> apart = mb.AbsoluteJoint("free", mb.RotationVector(), mb.RotationVectorPosition())
    >>> apart.retract(q, step)[3:].round(12) + 0.0
    array([1., 0., 0.])
    """

    name: str
    orientation: Orientation = attrs.field(default=UnitQuaternion(), validator=check_orientation)
    local: LocalCoordinates = attrs.field(default=ScrewCoordinates(), validator=check_local)
    trivialised: str = attrs.field(default="left", validator=check_trivialised)

    @functools.cached_property
    def motion(self) -> AbsoluteMotion:
        """The motion in the chosen coordinates."""
        left = self.trivialised == "left"
        what = f"{owner(self)}: orientation"
        return AbsoluteMotion(self.orientation, self.local, left, what)

    @property
    def velocity_twist(self) -> str:
        """The representation that velocities are in the local coordinates, by its name."""
        return self.local.representation(self.trivialised).name

    def random(self, rng: np.random.Generator) -> FloatArray:
        """Return a configuration: orientations are uniform."""
        if self.quaternions:
            return super().random(rng)
        Q = rng.normal(size=4)
        T = pose(Group.Ad(Q / np.linalg.norm(Q)), rng.normal(size=3))
        return self.motion.configuration_from_pose(T)
