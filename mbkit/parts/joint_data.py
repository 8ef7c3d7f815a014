"""Data of a joint besides its motion: limits and friction."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import ModelError, ShapeError
from mbkit.joints import Joint
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown


def _or_default(value: Any, default: float) -> FloatArray:
    array = frozen_array(default if value is None else value)
    # where all entries are the default, one number has the same meaning
    if array.dtype.kind == "f" and array.size and (array == default).all():
        array = frozen_array(default)
    return array


def _or_minus_infinity(value: Any) -> FloatArray:
    return _or_default(value, -np.inf)


def _or_infinity(value: Any) -> FloatArray:
    return _or_default(value, np.inf)


def _or_zero(value: Any) -> FloatArray:
    return _or_default(value, 0.0)


_ENTRIES: dict[str, Any] = {"eq": EQUAL, "hash": False, "repr": shown}


def _check_fields(instance: JointLimits | JointFriction) -> None:
    """Raise unless every field is a number or a list of them, none of them NaN."""
    for field in attrs.fields(type(instance)):
        value = getattr(instance, field.name)
        what = f"{type(instance).__name__}: {field.name}"
        if value.dtype.kind != "f" or value.ndim > 1 or value.size == 0:
            raise ShapeError(
                f"{what} must be a number, or one for each entry of the joint, got {shown(value)}."
            ).about(field.name)
        if np.isnan(value).any():
            raise ModelError(
                f"{what} must be numbers, got {shown(value)}; leave it out where there is none."
            ).about(field.name)
        if field.name not in ("lower", "upper") and (value < 0.0).any():
            raise ModelError(
                f"{what} must be zero or positive, got {shown(value)}; it is a size, which holds "
                "in both directions."
            ).about(field.name)


def _fit(instance: Any, key: str, count: int, joint: Joint, entries: str) -> FloatArray:
    """Return an entry for each of a joint's positions or velocities, shape (count,)."""
    value: FloatArray = getattr(instance, key)
    if value.ndim == 1 and value.size != count:
        raise ShapeError(
            f"Joint {joint.name!r}: {key} must be a number or {count} of them, one for each of its "
            f"{entries}, got {value.size}."
        ).about(key)
    return np.full(count, value)


@final
@attrs.frozen
class JointLimits:
    """Limits of a joint's positions, velocities and efforts, as data: no equation has them.

    `inverse_kinematics` keeps to those of positions.

    Each is a number, or one for each position or velocity of the joint; infinity where there is
    no limit.

    Attributes
    ----------
    lower, upper : ndarray, shape () or (positions of the joint,), default -inf and inf
        Least and greatest position. [rad, m]
    velocity : ndarray, shape () or (velocities of the joint,), default inf
        Greatest absolute velocity. [rad/s, m/s]
    effort : ndarray, shape () or (velocities of the joint,), default inf
        Greatest absolute generalized force. [N m, N]

    Raises
    ------
    ModelError
        If a limit is NaN, `lower` infinite or above `upper`, `upper` minus infinite, or `velocity`
        or `effort` negative.
    ShapeError
        If something is neither a number nor a list of numbers.

    Examples
    --------
    >>> JointLimits(lower=-1.5, upper=1.5, effort=12.0)
    JointLimits(lower=-1.5, upper=1.5, velocity=inf, effort=12.0)
    """

    lower: FloatArray = attrs.field(default=-np.inf, converter=_or_minus_infinity, **_ENTRIES)
    upper: FloatArray = attrs.field(default=np.inf, converter=_or_infinity, **_ENTRIES)
    velocity: FloatArray = attrs.field(default=np.inf, converter=_or_infinity, **_ENTRIES)
    effort: FloatArray = attrs.field(default=np.inf, converter=_or_infinity, **_ENTRIES)

    def __attrs_post_init__(self) -> None:
        _check_fields(self)
        for key, never in (("lower", np.inf), ("upper", -np.inf)):
            if (getattr(self, key) == never).any():
                raise ModelError(
                    f"JointLimits: {key} must leave positions, got {shown(getattr(self, key))}; "
                    f"{-never:g} stands for no limit."
                ).about(key)
        sizes = {value.size for value in (self.lower, self.upper) if value.ndim}
        if len(sizes) == 2 or (self.lower > self.upper).any():
            raise ModelError(
                f"JointLimits: lower must be at most upper, entry by entry, got "
                f"{shown(self.lower)} and {shown(self.upper)}; exchange them, or leave one out."
            ).about("lower")

    def of_positions(self, joint: Joint) -> FloatArray:
        """Return (lower, upper) of every position of a joint, shape (nq of the joint, 2)."""
        pair = np.empty((joint.num_positions, 2))
        for k, key in enumerate(("lower", "upper")):
            pair[:, k] = _fit(self, key, len(pair), joint, "positions")
        return pair

    def of_velocities(self, joint: Joint) -> FloatArray:
        """Return the limit of every velocity of a joint, shape (nv of the joint,)."""
        return _fit(self, "velocity", joint.num_velocities, joint, "velocities")

    def of_efforts(self, joint: Joint) -> FloatArray:
        """Return the limit of every generalized force of a joint, shape (nv of the joint,)."""
        return _fit(self, "effort", joint.num_velocities, joint, "velocities")

    def check_fits(self, joint: Joint) -> None:
        """Raise ShapeError unless the limits have as many entries as the joint.

        ModelError, if they limit positions that are composed, such as quaternions.
        """
        for key, limits in zip(("lower", "upper"), self.of_positions(joint).T, strict=True):
            if not joint.positions_add and np.isfinite(limits).any():
                raise ModelError(
                    f"Joint {joint.name!r}: {key} must be left out, got "
                    f"{shown(getattr(self, key))}: positions of a {type(joint).__name__} are "
                    "composed, not added, so that limits of single ones have no meaning."
                ).about(key)
        self.of_velocities(joint)
        self.of_efforts(joint)


@final
@attrs.frozen
class JointFriction:
    """Friction in a joint, as data: the equations of motion do not have it.

    The generalized force against a velocity v is ``damping v + friction sign(v)``.

    Attributes
    ----------
    damping : ndarray, shape () or (velocities of the joint,), default 0
        Viscous. [N m s/rad, N s/m]
    friction : ndarray, shape () or (velocities of the joint,), default 0
        Coulomb's. [N m, N]

    Raises
    ------
    ModelError
        If one is NaN or negative.
    ShapeError
        If one is neither a number nor a list of numbers.

    Examples
    --------
    >>> JointFriction(damping=0.1)
    JointFriction(damping=0.1, friction=0.0)
    """

    damping: FloatArray = attrs.field(default=0.0, converter=_or_zero, **_ENTRIES)
    friction: FloatArray = attrs.field(default=0.0, converter=_or_zero, **_ENTRIES)

    def __attrs_post_init__(self) -> None:
        _check_fields(self)
        for key in ("damping", "friction"):
            if np.isinf(getattr(self, key)).any():
                raise ModelError(
                    f"JointFriction: {key} must be finite, got {shown(getattr(self, key))}; "
                    "hold the bodies by an mbkit.FixedJoint."
                ).about(key)

    def check_fits(self, joint: Joint) -> None:
        """Raise ShapeError unless there are as many entries as the joint has velocities."""
        for key in ("damping", "friction"):
            _fit(self, key, joint.num_velocities, joint, "velocities")
