"""Orientations of bodies in absolute coordinates."""

from __future__ import annotations

import abc
import itertools
import math
from typing import Any, ClassVar, final

import attrs
import numpy as np

from mbkit.errors import ModelError
from mbkit.final import FinalBuiltIns
from mbkit.joints.motions.quaternion_rates import quaternion_rate
from mbkit.kernels.joints.absolute import kinds as absolute_kinds
from mbkit.lie import SO3
from mbkit.spatial.arrays import FloatArray, with_key

#: Distances from gimbal lock below which rates have lost all but half of their digits.
_LOCKED = 1e-8

#: Parts of an angular velocity that turn about the middle axis alone, but for rounding.
_STRAIGHT = 1e-9


class Orientation(FinalBuiltIns, abc.ABC):
    """The positions that an orientation has.

    The way from them to a quaternion and back is in `mbkit.kernels.joints.absolute.orientations`.

    Velocities have nothing to do with it: they are twists, and regular wherever these positions
    are not.

    Attributes
    ----------
    name : str
        How files call it.
    num_positions : int
        Three or four.
    unit : str
        Of each of them.
    kind : int
        Its number in `mbkit.kernels.joints.absolute.kinds`.
    """

    name: ClassVar[str]
    num_positions: ClassVar[int]
    unit: ClassVar[str]
    kind: ClassVar[int]

    @property
    def axes(self) -> tuple[int, int, int]:
        """The axes that angles are about, 0 for x; of no meaning elsewhere."""
        return 0, 0, 0

    @abc.abstractmethod
    def rates(self, positions: FloatArray, w: FloatArray) -> FloatArray:
        """Return the rate of the positions while the body turns with w (3,), in its own axes."""

    def time_to_lock(self, positions: FloatArray, w: FloatArray) -> float:
        """Return how soon a body that turns with w may be where rates are infinite; see `Joint`."""
        return math.inf


@final
@attrs.frozen
class UnitQuaternion(Orientation):
    """Orientation in four positions (w, x, y, z), a quaternion of length one: singular nowhere.

    This is a choice of coordinates. `mbkit.lie.UnitQuaternion` is the group of these quaternions,
    with its exponential and the like.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.AbsoluteJoint("free", orientation=mb.UnitQuaternion()).neutral()
    array([1., 0., 0., 0., 0., 0., 0.])
    """

    name = "unit_quaternion"
    num_positions = 4
    unit = ""
    kind = absolute_kinds.QUATERNION

    def rates(self, positions: FloatArray, w: FloatArray) -> FloatArray:
        """Return Q (0, w) / 2."""
        return quaternion_rate(positions, w)


@final
@attrs.frozen
class RotationVector(Orientation):
    """Orientation in a rotation vector rho of three positions: axis times angle.

    A step leads to the principal one, |rho| <= pi: where a body turns through half a turn, q jumps
    from rho to its opposite, while the body moves on smoothly.

    Examples
    --------
    >>> import mbkit as mb
    >>> joint = mb.AbsoluteJoint("free", orientation=mb.RotationVector())
    >>> q = joint.retract(np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0]), np.eye(6)[2])
    >>> bool(np.isclose(q[2], 4.0 - 2.0 * np.pi))
    True
    """

    name = "rotation_vector"
    num_positions = 3
    unit = "rad"
    kind = absolute_kinds.ROTATION_VECTOR

    def rates(self, positions: FloatArray, w: FloatArray) -> FloatArray:
        """Return dexp_body^-1(rho) w, which is singular at |rho| = 2 pi."""
        rate: FloatArray = SO3.dexp_body_inv(positions) @ w
        return rate


def _as_text(value: Any) -> Any:
    """Return a sequence of letters as one string; the validator reports a wrong type."""
    is_letters = isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)
    return "".join(value) if is_letters else value


def _check_sequence(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    with_key("sequence", _three_axes, value)


def _three_axes(value: Any) -> None:
    fits = (
        isinstance(value, str)
        and len(value) == 3
        and set(value) <= set("xyz")
        and all(a != b for a, b in itertools.pairwise(value))
    )
    if not fits:
        raise ModelError(
            f"EulerAngles: sequence must be three of x, y, z, neighbours of which differ, got "
            f"{value!r}; yaw, pitch and roll are 'zyx'."
        )


@final
@attrs.frozen
class EulerAngles(Orientation):
    """Orientation in three angles about axes of the body, one turn after another.

    The axis of each turn is where the turns before have left it (intrinsic). The first and the
    third are between -pi and pi; the second is between -pi/2 and pi/2 where the axes are three
    different ones, and between 0 and pi where the last is the first again. At the ends of the range
    of the second (gimbal lock) many angles stand for one orientation: q may jump there, while the
    body moves on smoothly.

    Attributes
    ----------
    sequence : str, default "zyx"
        The axes in their order: yaw, pitch and roll are "zyx". Any of the twelve.

    Raises
    ------
    ModelError
        If `sequence` is not three axes, neighbours of which differ.

    Examples
    --------
    >>> import mbkit as mb
    >>> joint = mb.AbsoluteJoint("free", orientation=mb.EulerAngles("zyx"))
    >>> joint.pose(np.array([np.pi / 2, 0.0, 0.0, 1.0, 2.0, 3.0])).round(12) + 0.0
    array([[ 0., -1.,  0.,  1.],
           [ 1.,  0.,  0.,  2.],
           [ 0.,  0.,  1.,  3.],
           [ 0.,  0.,  0.,  1.]])
    """

    sequence: str = attrs.field(default="zyx", converter=_as_text, validator=_check_sequence)

    name = "euler_angles"
    num_positions = 3
    unit = "rad"
    kind = absolute_kinds.EULER_ANGLES

    @property
    def axes(self) -> tuple[int, int, int]:
        """The axes, 0 for x."""
        first, second, third = ("xyz".index(letter) for letter in self.sequence)
        return first, second, third

    def rates(self, positions: FloatArray, w: FloatArray) -> FloatArray:
        """Return the rates of the angles, which are not finite at gimbal lock.

        w is the sum of the turns about the axes, each turned back by the turns behind it.
        """
        axes = np.eye(3)[list(self.axes)]
        back = [SO3.exp(-angle * axis) for angle, axis in zip(positions, axes, strict=True)]
        a, b, c = back[2] @ back[1] @ axes[0], back[2] @ axes[1], axes[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            crossed = np.array([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
            rate: FloatArray = crossed @ w / (a @ np.cross(b, c))
        return rate

    def time_to_lock(self, positions: FloatArray, w: FloatArray) -> float:
        """Return the distance from gimbal lock by the angular velocity across the last axis.

        The distance is that of the first axis from the last, |cos| of the middle angle or |sin|
        where they are the same one. It is never, for a body that turns about the middle axis alone:
        the other angles are then constant.
        """
        first, middle, last = self.axes
        s = abs(math.sin(positions[1]) if first == last else math.cos(positions[1]))
        if s < _LOCKED:
            return 0.0
        # b is the middle axis in those of the body, c the last one
        c, turn = np.eye(3)[last], positions[2]
        b = math.cos(turn) * np.eye(3)[middle] - math.sin(turn) * np.cross(c, np.eye(3)[middle])
        along, beside = float(b @ w), float(np.cross(c, b) @ w)
        across = math.hypot(along, beside)
        return math.inf if abs(beside) <= _STRAIGHT * across else s / across


#: The orientations by the names that files have for them.
ORIENTATIONS: dict[str, type[Orientation]] = {
    each.name: each for each in (UnitQuaternion, RotationVector, EulerAngles)
}
