"""Words for the entries of joints with several coordinates, for legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mbkit.results.columns import velocity_units

__all__ = ["output_words", "position_words", "velocity_words"]

_QUATERNION = ("w", "x", "y", "z")
_POINT = ("x", "y", "z")
_SPIN = ("about x", "about y", "about z")
_SPEED = ("along x", "along y", "along z")
_OF_OUTPUTS = {
    ("N m",) * 3 + ("N",) * 3: (
        *(f"torque {word}" for word in _SPIN), *(f"force {word}" for word in _SPEED)
    ),
    ("rad/s",) * 3 + ("m/s",) * 3: (*_SPIN, *_SPEED),
    ("rad/s",) * 3: _SPIN,
    ("m/s",) * 3: _SPEED,
    ("m",) * 3: _POINT,
}  # fmt: skip


def position_words(
    names: Sequence[str], units: Sequence[str], options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the names of positions with a word for what each is, where that is known.

    Known are unit quaternions, four positions without unit, with the position behind them; and
    bodies in absolute coordinates, whose orientation the options of a run name.

    Examples
    --------
    >>> names = ["crank", *(f"ball[{k}]" for k in range(4))]
    >>> position_words(names, ["rad", "", "", "", ""], {})
    ('crank', 'ball[0] w', 'ball[1] x', 'ball[2] y', 'ball[3] z')
    """
    angles = _angles(options)
    found = list(names)
    for own in _joints(names):
        kinds = [units[k] for k in own] if len(units) == len(names) else []
        words: tuple[str, ...] = ()
        if kinds in ([""] * 4, [""] * 4 + ["m"] * 3):
            words = (*_QUATERNION, *_POINT)
        elif angles and kinds == ["rad"] * 3 + ["m"] * 3:
            words = (*angles, *_POINT)
        for k, word in zip(own, words, strict=False):
            found[k] = f"{names[k]} {word}"
    return tuple(found)


def velocity_words(
    names: Sequence[str],
    position_names: Sequence[str],
    units: Sequence[str],
    options: Mapping[str, Any],
) -> tuple[str, ...]:
    """Return the names of velocities with a word for what each is, where that is known.

    Of the joints of `position_words`, angular velocities and those of the body's origin.

    Examples
    --------
    >>> names = [f"ball[{k}]" for k in range(4)]
    >>> velocity_words(names[:3], names, ["", "", "", ""], {})
    ('ball[0] about x', 'ball[1] about y', 'ball[2] about z')
    """
    known = {
        label.rpartition("[")[0]
        for label, word in zip(
            position_names, position_words(position_names, units, options), strict=True
        )
        if label != word
    }
    rates, found = velocity_units(position_names, units, names), list(names)
    for own in _joints(names):
        if names[own[0]].rpartition("[")[0] not in known:
            continue
        if [rates[k] for k in own] in (["rad/s"] * 3, ["rad/s"] * 3 + ["m/s"] * 3):
            for k, word in zip(own, (*_SPIN, *_SPEED), strict=False):
                found[k] = f"{names[k]} {word}"
    return tuple(found)


def output_words(units: Sequence[str]) -> tuple[str, ...]:
    """Return a word for each number of an output of a run, in axes of the world; () where unknown.

    Known by their units are reactions and wrenches, twists, positions, and velocities of points and
    of rotation.

    Examples
    --------
    >>> output_words(("N m",) * 3 + ("N",) * 3)[2:4]
    ('torque about z', 'force along x')
    >>> output_words(("m",) * 3)
    ('x', 'y', 'z')
    """
    return _OF_OUTPUTS.get(tuple(units), ())


def _joints(names: Sequence[str]) -> list[list[int]]:
    """Return the columns of each joint with several entries."""
    found: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        joint, bracket, _ = name.rpartition("[")
        if bracket:
            found.setdefault(joint, []).append(k)
    return list(found.values())


def _angles(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words for three angles of orientation of absolute coordinates; () elsewhere."""
    coordinates = options.get("coordinates")
    if not isinstance(coordinates, Mapping) or coordinates.get("type") != "absolute":
        return ()
    orientation = coordinates.get("orientation")
    if orientation == "rotation_vector":
        return ("turn x", "turn y", "turn z")
    if isinstance(orientation, Mapping) and len(sequence := orientation.get("sequence", "")) == 3:
        return tuple(f"angle {axis}" for axis in sequence)
    return ("angle 1", "angle 2", "angle 3")
