"""Local coordinates X of a step in absolute coordinates: C = C_k psi(X), or C = psi(X) C_k.

Source: Mueller, Singularity-free Lie group integration and geometrically consistent evaluation of
multibody system models described in terms of standard absolute coordinates, sections 5 and 6, with
the formulas that are misprinted there put right (docs/absolute-coordinates.md lists them).
"""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from mbkit.errors import UsageError
from mbkit.final import FinalBuiltIns
from mbkit.kernels.joints.absolute import kinds as absolute_kinds
from mbkit.lie import SE3, Group, SO3xR3
from mbkit.representations import BodyFixed, Hybrid, Mixed, Spatial

if TYPE_CHECKING:
    from mbkit.representations import Representation

__all__ = [
    "LOCAL_COORDINATES",
    "SIDES",
    "DualRodrigues",
    "ExtendedRodrigues",
    "ExtendedWienerMilenkovic",
    "LocalCoordinates",
    "RodriguesPosition",
    "RotationVectorPosition",
    "ScrewCoordinates",
    "WienerMilenkovicPosition",
]

#: The values of `trivialised`.
SIDES = ("left", "right")


@attrs.frozen
class RotationMap:
    """The map of x to a rotation, one of `mbkit.kernels.joints.absolute.rotation_maps`.

    `kind` is its number in `mbkit.kernels.joints.absolute.kinds`, `range` the angle of the turn at
    which x, or its differential, ends. [rad]
    """

    kind: int
    range: float


_EXPONENTIAL = RotationMap(absolute_kinds.EXPONENTIAL, 2.0 * math.pi)
_CAYLEY = RotationMap(absolute_kinds.CAYLEY, math.pi)
_CAYLEY2 = RotationMap(absolute_kinds.CAYLEY2, 2.0 * math.pi)


class LocalCoordinates(FinalBuiltIns, abc.ABC):
    """A map psi from six numbers X to a group of poses, with psi(-X) = psi(X)^-1.

    X is scaled: psi(X) is exp(X) to first order, so that a step is the velocity times h. The first
    three turn. The maps stand in `mbkit.kernels.joints.absolute.local_coordinates`.

    Attributes
    ----------
    name : str
        How files call it.
    group : type
        `mbkit.lie.SE3`, or `mbkit.lie.SO3xR3`: which product of poses the step is a factor of.
    rotation : RotationMap
        The effect of the first three numbers.
    lift : int
        How they all become poses, by its number in `mbkit.kernels.joints.absolute.kinds`.
    """

    name: ClassVar[str]
    group: ClassVar[type[Group]]
    rotation: ClassVar[RotationMap]
    lift: ClassVar[int]

    def representation(self, trivialised: str = "left") -> Representation:
        """Return the representation of twists that velocities are in these coordinates.

        Parameters
        ----------
        trivialised : {"left", "right"}
            On which side of the pose the step is.

        Returns
        -------
        Representation
            Body-fixed and spatial twists on SE(3), mixed and hybrid ones on SO(3) x R^3.

        Raises
        ------
        UsageError
            If there is no such side.

        Examples
        --------
        >>> import mbkit as mb
        >>> mb.ScrewCoordinates().representation("left")
        BodyFixed()
        >>> mb.RodriguesPosition().representation("right")
        Hybrid()
        """
        check_side(trivialised, type(self).__name__)
        left, right = (BodyFixed(), Spatial()) if self.group is SE3 else (Mixed(), Hybrid())
        return left if trivialised == "left" else right


def check_side(value: Any, what: str) -> None:
    """Raise UsageError unless `value` is one of `SIDES`."""
    if not (isinstance(value, str) and value in SIDES):
        raise UsageError(
            f"{what}: trivialised must be 'left', for velocities in the axes of the body, or "
            f"'right', for those of the space; got {value!r}."
        )


class _Product(LocalCoordinates):
    """Rotation and translation for themselves: psi(x, y) = (psi(x), y)."""

    group = SO3xR3
    lift = absolute_kinds.PRODUCT


class _Dual(LocalCoordinates):
    """The map on dual vectors: psi(x, y) = (psi(x), dpsi_x y)."""

    group = SE3
    lift = absolute_kinds.DUAL


@final
@attrs.frozen
class ScrewCoordinates(_Dual):
    """X = (x, y) of C = exp(X) on SE(3): angle, axis and advance of a screw motion.

    In radians and metres. Singular where the step turns by 2 pi.
    """

    name = "screw_coordinates"
    rotation = _EXPONENTIAL


@final
@attrs.frozen
class RotationVectorPosition(_Product):
    """X = (rotation vector, shift in the axes of the space), on SO(3) x R^3.

    In radians and metres. Singular where the step turns by 2 pi.
    """

    name = "rotation_vector_position"
    rotation = _EXPONENTIAL


@final
@attrs.frozen
class RodriguesPosition(_Product):
    """X = (2 c, shift) with Rodrigues parameters c = n tan(angle / 2), on SO(3) x R^3.

    Algebraic; it ends where the step turns by pi.
    """

    name = "rodrigues_position"
    rotation = _CAYLEY


@final
@attrs.frozen
class WienerMilenkovicPosition(_Product):
    """X = (4 w, shift) with Wiener-Milenkovic parameters w = n tan(angle / 4), on SO(3) x R^3.

    The Cayley map of second order: algebraic; it ends where the step turns by 2 pi.
    """

    name = "wiener_milenkovic_position"
    rotation = _CAYLEY2


@final
@attrs.frozen
class DualRodrigues(_Dual):
    """X = (2 c, 2 d) of the Cayley map of 6x6 matrices, (I - ad)^-1 (I + ad) = Ad_C, on SE(3).

    The Rodrigues parameters of dual vectors. Algebraic; it ends where the step turns by pi. Not the
    same as `ExtendedRodrigues`: d differs by the factor I + c c^T.
    """

    name = "dual_rodrigues"
    rotation = _CAYLEY


@final
@attrs.frozen
class ExtendedWienerMilenkovic(_Dual):
    """X = (4 w, 4 u), the Wiener-Milenkovic parameters of dual vectors, on SE(3).

    The Cayley map of second order: algebraic; it ends where the step turns by 2 pi.
    """

    name = "extended_wiener_milenkovic"
    rotation = _CAYLEY2


@final
@attrs.frozen
class ExtendedRodrigues(LocalCoordinates):
    """X = (2 c, 2 d) of the Cayley map of 4x4 matrices, C = (I - X^)^-1 (I + X^), on SE(3).

    Mueller (62), (63). Algebraic; it ends where the step turns by pi.
    """

    name = "extended_rodrigues"
    group = SE3
    rotation = _CAYLEY
    lift = absolute_kinds.MATRIX


#: The local coordinates by the names that files have for them.
LOCAL_COORDINATES: dict[str, type[LocalCoordinates]] = {
    each.name: each
    for each in (
        ScrewCoordinates,
        RotationVectorPosition,
        RodriguesPosition,
        ExtendedRodrigues,
        WienerMilenkovicPosition,
        ExtendedWienerMilenkovic,
        DualRodrigues,
    )
}
