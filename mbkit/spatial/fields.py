"""Fields of forces and constraints: numbers, vectors and poses; messages name the owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import GeometryError, MbkitError
from mbkit.given_values import as_number
from mbkit.spatial.arrays import (
    EQUAL,
    ORIGIN,
    FloatArray,
    check_array,
    check_direction,
    frozen_array,
    shown,
)
from mbkit.spatial.frames import stored_pose


@final
@attrs.frozen
class Fields:
    """Fields of one kind of objects: their name in messages, and the class of errors."""

    what: str
    error: type[MbkitError]

    def fault(
        self, owner: Any, key: str, text: str, kind: type[MbkitError] | None = None
    ) -> MbkitError:
        """Return an error about a field."""
        return (kind or self.error)(f"{self.name_of(owner)}: {key} {text}").about(key)

    def name_of(self, owner: Any) -> str:
        """Return the name of an object for messages."""
        return f"{self.what} {getattr(owner, 'name', '?')!r}"

    def number(
        self,
        default: Any = attrs.NOTHING,
        *,
        least: float | None = None,
        above: float | None = None,
    ) -> Any:
        """Return a field that is a finite number, at least `least`, above `above`."""

        def check(owner: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
            if not isinstance(value, float):
                text = f"must be a number, got {value!r}."
                raise self.fault(owner, attribute.name, text)
            if not np.isfinite(value):
                text = f"must be a finite number, got {value!r}."
                raise self.fault(owner, attribute.name, text, GeometryError)
            if least is not None and value < least:
                text = (
                    f"must be at least {least:g}, got {value!r}; give a number from {least:g} on."
                )
                raise self.fault(owner, attribute.name, text)
            if above is not None and value <= above:
                text = f"must be above {above:g}, got {value!r}; give a larger number."
                raise self.fault(owner, attribute.name, text)

        return attrs.field(default=default, converter=as_number, validator=check)

    def vector(self, size: int, default: Any = attrs.NOTHING, *, least: float | None = None) -> Any:
        """Return a field that is a finite vector."""

        def check(owner: Any, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
            what = f"{self.name_of(owner)}: {attribute.name}"
            try:
                check_array(value, (size,), what)
            except MbkitError as error:
                error.key = attribute.name
                raise
            if least is not None and value.min() < least:
                text = f"must have no entry below {least:g}, got {shown(value)}."
                raise self.fault(owner, attribute.name, text)

        return array_field(check, default)

    def direction(self, default: Any = attrs.NOTHING) -> Any:
        """Return a field that is a vector of any length but zero."""
        return array_field(check_direction, default)

    def point(self) -> Any:
        """Return a field that is a point of a body, its origin by default."""
        return self.vector(3, ORIGIN)

    def pose(self) -> Any:
        """Return a field that is a pose, the identity by default."""
        return array_field(stored_pose, np.eye(4))

    def check_name(self, owner: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        """Check a field that names a joint or a body (a validator of attrs)."""
        if not isinstance(value, str):
            name = getattr(value, "name", None)
            text = (
                f"got {value!r}."
                if not isinstance(name, str)
                else f"give {name!r}, not the object."
            )
            raise self.fault(owner, attribute.name, f"must be a name, {text}")

    def names_or_all(self) -> Any:
        """Return a field that is a tuple of different names; `EVERY_BODY` by default, for None."""

        def check(owner: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
            if not (isinstance(value, tuple) and all(isinstance(each, str) for each in value)):
                text = f"must be a list of names, got {value!r}."
                raise self.fault(owner, attribute.name, text)
            if not value and not isinstance(value, _Every):
                text = "must have a name; leave it out for all, got an empty list."
                raise self.fault(owner, attribute.name, text)
            for each in value:
                if value.count(each) > 1:
                    text = f"must have each name once, got {value!r}."
                    raise self.fault(owner, attribute.name, text)

        def convert(value: Any) -> Any:
            if value is None:
                return EVERY_BODY
            return tuple(value) if isinstance(value, list) else value

        return attrs.field(default=EVERY_BODY, converter=convert, validator=check)

    def choice(self, *words: str) -> Any:
        """Return a field that is one of some words, the first by default."""

        def check(owner: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
            if not (isinstance(value, str) and value in words):
                listed = " or ".join(map(repr, words))
                raise self.fault(owner, attribute.name, f"must be {listed}, got {value!r}.")

        return attrs.field(default=words[0], validator=check)


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


class _Every(tuple[str, ...]):
    """No names, which stand for all there are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "None"


#: The value of a field of names that was left out.
EVERY_BODY = _Every()
