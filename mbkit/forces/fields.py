"""Fields of forces: numbers, vectors and poses, checked with messages that name the force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from mbkit.errors import ForceError, GeometryError, MbkitError
from mbkit.spatial.arrays import (
    EQUAL,
    ORIGIN,
    FloatArray,
    check_array,
    frozen_array,
    frozen_number,
    shown,
)
from mbkit.spatial.frames import stored_pose

__all__ = [
    "EVERY_BODY",
    "array_field",
    "check_name_field",
    "choice",
    "names_or_all",
    "number",
    "point",
    "pose",
    "vector",
]


def _fault(force: Any, key: str, text: str, kind: type[MbkitError] = ForceError) -> MbkitError:
    error = kind(f"Force {getattr(force, 'name', '?')!r}: {key} {text}")
    error.key = key
    return error


def number(
    default: Any = attrs.NOTHING, *, least: float | None = None, above: float | None = None
) -> Any:
    """Return a field that is a finite number, at least `least`, above `above`."""

    def check(force: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not (isinstance(value, float) and np.isfinite(value)):
            raise _fault(
                force, attribute.name, f"must be a finite number, got {value!r}.", GeometryError
            )
        if least is not None and value < least:
            raise _fault(force, attribute.name, f"must be at least {least:g}, got {value!r}.")
        if above is not None and value <= above:
            raise _fault(force, attribute.name, f"must be above {above:g}, got {value!r}.")

    return attrs.field(default=default, converter=frozen_number, validator=check)


def vector(size: int, default: Any = attrs.NOTHING, *, least: float | None = None) -> Any:
    """Return a field that is a finite vector."""

    def check(force: Any, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
        what = f"Force {getattr(force, 'name', '?')!r}: {attribute.name}"
        try:
            check_array(value, (size,), what)
        except MbkitError as error:
            error.key = attribute.name
            raise
        if least is not None and value.min() < least:
            raise _fault(
                force, attribute.name, f"must have no entry below {least:g}, got {shown(value)}."
            )

    return array_field(check, default)


def array_field(
    check: Callable[[Any, attrs.Attribute[Any], FloatArray], None], default: Any
) -> Any:
    """Return a field that is a read-only array."""
    field: Any = attrs.field
    return field(
        default=default if default is attrs.NOTHING else frozen_array(default),
        converter=frozen_array,
        validator=check,
        eq=EQUAL,
        hash=False,
        repr=shown,
    )


def point() -> Any:
    """Return a field that is a point of a body, its origin by default."""
    return vector(3, ORIGIN)


def pose() -> Any:
    """Return a field that is a pose, the identity by default."""
    return array_field(stored_pose, np.eye(4))


def check_name_field(force: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check a field that names a joint or a body (a validator of attrs)."""
    if not isinstance(value, str):
        raise _fault(force, attribute.name, f"must be a name, got {value!r}.")


class _Every(tuple[str, ...]):
    """No names, which stand for all there are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "None"


#: The value of a field of names that was left out.
EVERY_BODY = _Every()


def names_or_all() -> Any:
    """Return a field that is a tuple of different names, `EVERY_BODY` by default and for None."""

    def check(force: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not (isinstance(value, tuple) and all(isinstance(each, str) for each in value)):
            raise _fault(force, attribute.name, f"must be a list of names, got {value!r}.")
        if not value and not isinstance(value, _Every):
            raise _fault(
                force, attribute.name, "must have a name; leave it out for all, got an empty list."
            )
        for each in value:
            if value.count(each) > 1:
                raise _fault(force, attribute.name, f"must have each name once, got {value!r}.")

    def convert(value: Any) -> Any:
        if value is None:
            return EVERY_BODY
        return tuple(value) if isinstance(value, list) else value

    return attrs.field(default=EVERY_BODY, converter=convert, validator=check)


def choice(*words: str) -> Any:
    """Return a field that is one of some words, the first by default."""

    def check(force: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value not in words:
            listed = " or ".join(map(repr, words))
            raise _fault(force, attribute.name, f"must be {listed}, got {value!r}.")

    return attrs.field(default=words[0], validator=check)
