"""Colours: numbers from 0 to 1, or as the web writes them."""

from __future__ import annotations

import re
from typing import Any

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.spatial.arrays import frozen_array, with_key

#: Red, green, blue and opacity, from 0 to 1.
Color = tuple[float, float, float, float]

_HEX = re.compile(r"#([0-9a-fA-F]{6})([0-9a-fA-F]{2})?")


def as_color(value: Any) -> Any:
    """Return red, green, blue and opacity; other values return unchanged, to be refused.

    Examples
    --------
    >>> as_color("#ff8000")
    (1.0, 0.5019607843137255, 0.0, 1.0)
    >>> as_color((0.2, 0.4, 0.6))
    (0.2, 0.4, 0.6, 1.0)
    """
    if isinstance(value, str):
        found = _HEX.fullmatch(value)
        if found is None:
            return value
        value = tuple(byte / 255.0 for byte in bytes.fromhex(found[1] + (found[2] or "")))
    entries = frozen_array(value)
    if entries.dtype.kind != "f" or entries.shape not in ((3,), (4,)):
        return value
    return (*entries.tolist(), 1.0)[:4]


def check_color(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Raise UsageError unless a field is a colour or None (a validator of attrs)."""
    name = getattr(instance, "name", None)
    what = type(instance).__name__ if name is None else f"Body {name!r}"
    with_key(attribute.name, checked_color, value, f"{what}: {attribute.name}")


def checked_color(value: Any, what: str) -> Color | None:
    """Return a colour, or None for None; UsageError, which begins with `what`, if it is neither."""
    color: Color | None = as_color(value)
    entries = frozen_array(color if isinstance(color, tuple) else ())
    fits = entries.shape == (4,) and (np.abs(entries - 0.5) <= 0.5).all()
    if color is not None and not fits:
        raise UsageError(
            f"{what} must be three or four numbers from 0 to 1, or text such as '#3366cc', got "
            f"{value!r}."
        )
    return color
