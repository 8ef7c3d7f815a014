"""From a table of a file to coordinates, by names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from mbkit.coordinates import AbsoluteCoordinates, RelativeCoordinates
from mbkit.coordinates.description import COORDINATES
from mbkit.errors import UsageError, suggestion
from mbkit.io.toml.fields import converter
from mbkit.representations import BodyFixed, Representation


@attrs.frozen
class _Relative:
    """Options of relative coordinates in a file, besides representation and body frames."""

    loop_joints: tuple[str, ...] | None = None
    length: float | None = None


def read_coordinates(
    table: Mapping[str, Any],
    representation: Representation | None = None,
    body_frames: str | None = None,
) -> AbsoluteCoordinates | RelativeCoordinates:
    """Return the coordinates of a table: ``type``, "relative" by default, and the fields of these.

    The representation of relative coordinates, and the frames in which they run, stand beside the
    table. UsageError if there is no such type, or other keys do not go with it;
    cattrs.BaseValidationError if a field is unknown, or its value does not fit.

    Examples
    --------
    >>> read_coordinates({"type": "absolute", "local": "rodrigues_position"}).local
    RodriguesPosition()
    """
    fields: dict[str, Any] = _plain(table)
    name = fields.pop("type", "relative")
    if not isinstance(name, str) or name not in COORDINATES:
        raise UsageError(
            f"there are no coordinates {name!r}; {suggestion(name, COORDINATES)}"
        ).about("type")
    if name == "absolute":
        for key, value in (("representation", representation), ("body_frames", body_frames)):
            if value is not None:
                raise UsageError(
                    f"absolute coordinates go without '{key}': bodies have their own frames, and "
                    f"twists are what the velocities are, by 'local' and 'trivialised'."
                )
        found: AbsoluteCoordinates = converter().structure(fields, AbsoluteCoordinates)
        return found
    given = converter().structure(fields, _Relative)
    return RelativeCoordinates(
        BodyFixed() if representation is None else representation,
        "joint" if body_frames is None else body_frames,
        given.loop_joints,
        length=given.length,
    )


def _plain(value: Any) -> Any:
    """Return a table as a file gives it: results hold theirs frozen."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value
