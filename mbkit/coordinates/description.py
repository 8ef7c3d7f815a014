"""Coordinates as tables of names, from which a file assembles a model again."""

from __future__ import annotations

from typing import Any

import attrs

from mbkit.coordinates.absolute import AbsoluteCoordinates
from mbkit.coordinates.relative import RelativeCoordinates

#: The strategies by the names that files have for them.
COORDINATES: dict[str, type[Any]] = {
    "relative": RelativeCoordinates,
    "absolute": AbsoluteCoordinates,
}


def described(coordinates: Any) -> dict[str, Any] | None:
    """Return absolute coordinates as a table of names, lists and numbers.

    None for other coordinates; for relative ones results store the loop joints.

    Examples
    --------
    >>> import mbkit as mb
    >>> table = described(mb.AbsoluteCoordinates(mb.EulerAngles("xyz"), mb.RodriguesPosition()))
    >>> table["orientation"], table["local"], table["trivialised"]
    ({'type': 'euler_angles', 'sequence': 'xyz'}, 'rodrigues_position', 'left')
    """
    if not isinstance(coordinates, AbsoluteCoordinates):
        return None
    orientation: Any = coordinates.orientation
    options = attrs.asdict(orientation)
    name = coordinates.orientation.name
    table: dict[str, Any] = {
        "type": "absolute",
        "orientation": {"type": name, **options} if options else name,
        "local": coordinates.local.name,
        "trivialised": coordinates.trivialised,
    }
    if coordinates.length is not None:
        table["length"] = coordinates.length
    if coordinates.joints:
        table["joints"] = list(coordinates.joints)
    return table
