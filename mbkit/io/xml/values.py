"""Attributes, texts and children of elements: strictly read, each fault with its line."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from mbkit.errors import suggestion
from mbkit.io.xml.elements import Element
from mbkit.io.xml.faults import Hint, Made, Reading
from mbkit.spatial import FloatArray, rotation_from_quaternion

# ASCII digits; float() alone would take 1_0, nan, infinity and digits of other scripts. No two
# parts can take the same digits, so that it looks at each of them once.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST = 400  # characters of a number: more than the longest double with all its digits

_UNIT = 1e-3  # the error in length of a quaternion of three digits
_SHOWN = 60  # characters of a wrong value in a message


class Part:
    """One element while it is read: parts that no method has returned are noted as not read.

    `owner` is the name of its element in messages: "link 'arm', <inertial>"; `path` its place by
    tags, for elements not read: "link/inertial".
    """

    def __init__(self, element: Element, owner: str, path: str, reading: Reading) -> None:
        self.element, self.owner, self.path, self.reading = element, owner, path, reading
        self.line = element.line
        self._asked: set[str] = set()
        self._children: set[str] = set()
        self._has_text = False

    # -------------------------------------------------------------------------- attributes

    def text(self, key: str, *, required: bool = True) -> str | None:
        """Return an attribute as it stands, None where there is none, which is a fault if so."""
        self._asked.add(key)
        value = self.element.attributes.get(key)
        if value is None and required:
            self.fault(f"must have the attribute {key}; give it.")
        return value

    def numbers(self, key: str, count: int, default: Any = None) -> FloatArray:
        """Return an attribute of `count` numbers; without a default it must be there."""
        text = self.text(key, required=default is None)
        stand_in = np.zeros(count) if default is None else np.array(default, dtype=np.float64)
        return stand_in if text is None else self._numbers(key, text, stand_in)

    def _numbers(self, key: str, text: str, stand_in: FloatArray) -> FloatArray:
        """Return the numbers of a text, as many as those that stand in for wrong ones."""
        words, count = text.split(), len(stand_in)
        if len(words) != count:
            many = "a number" if count == 1 else f"{count} numbers"
            self.fault(f"{key} must be {many}, got {_shown(text)}; separate numbers by blanks.")
            return stand_in
        values = [self._number(key, word) for word in words]
        return stand_in if None in values else np.array(values, dtype=np.float64)

    def number(self, key: str, default: float | None = None) -> float:
        """Return an attribute that is a number; without a default it must be there."""
        return float(self.numbers(key, 1, None if default is None else [default])[0])

    def _number(self, key: str, word: str) -> float | None:
        if len(word) > _LONGEST:
            self.fault(
                f"{key} must be a number of at most {_LONGEST} characters, got {len(word)}: "
                f"{_shown(word)}; round it."
            )
            return None
        if not _NUMBER.fullmatch(word):
            self.fault(
                f"{key} must be a number, got {_shown(word)}; give a decimal number, such as 0.5 "
                "or 1e-3."
            )
            return None
        value = float(word)
        if not math.isfinite(value):
            self.fault(f"{key} must be finite, got {_shown(word)}; give a smaller number.")
            return None
        return value

    # ---------------------------------------------------------------------------- contents

    def content(self) -> str:
        """Return the text in the element."""
        self._has_text = True
        return self.element.text

    def content_numbers(self, count: int) -> FloatArray:
        """Return the text in the element as `count` numbers."""
        return self._numbers("the text", self.content(), np.zeros(count))

    def rotation_from_xyzw(self, key: str, values: FloatArray) -> FloatArray:
        """Return the rotation (3, 3) of a quaternion with the scalar last; identity at a fault."""
        quaternion = np.roll(values, 1)
        length = float(np.linalg.norm(quaternion))
        if not abs(length - 1.0) <= _UNIT:
            self.fault(
                f"{key} must be of length 1 to {_UNIT:g}, got length {length:.6g}; give x, y, "
                "z and the scalar part of a unit quaternion."
            )
            return np.eye(3)
        return rotation_from_quaternion(quaternion / length)

    # ---------------------------------------------------------------------------- children

    def child(self, tag: str, *, required: bool = False) -> Part | None:
        """Return the child of that name, None where there is none; two of them are a fault."""
        found = self.children(tag)
        if not found and required:
            self.fault(f"must have an element <{tag}>; give it.")
        for again in found[1:]:
            again.fault(f"is given twice, first in line {found[0].line}; remove one of them.")
        return found[0] if found else None

    def children(self, tag: str) -> list[Part]:
        """Return all children of that name."""
        self._children.add(tag)
        return [
            Part(each, f"{self.owner}, <{tag}>", f"{self.path}/{tag}", self.reading)
            for each in self.element.children
            if each.tag == tag
        ]

    # ------------------------------------------------------------------------------- notes

    def fault(self, message: str, hint: Hint = str) -> None:
        """Note a fault in the line of this element; `hint` as for `Reading.fault`."""
        self.reading.fault(self.line, f"{self.owner}: {message}", hint)

    def attempt(self, make: Callable[[], Made]) -> Made | None:
        """Return the result of `make`; its errors of mbkit are noted, and None returned."""
        return self.reading.attempt(self.line, self.owner, make)

    def done(self, ignored: Collection[str] = ()) -> None:
        """Note the rest as not read; `ignored` are attributes without meaning."""
        for key in self.element.attributes:
            if key not in self._asked and key not in ignored and not key.startswith("xmlns"):
                self.reading.unread(f"{self.path}@{key}", self.line)
        for child in self.element.children:
            if child.tag not in self._children:
                self.reading.unread(f"{self.path}/{child.tag}", child.line)
        if self.element.text and not self._has_text:
            self.reading.unread(f"{self.path}/text()", self.line)

    def unknown(self, what: str, value: str | None, known: Collection[str]) -> None:
        """Note that a value is none of those there are."""
        hint = functools.partial(suggestion, value, known)
        self.fault(f"{what} {_shown(value)} is not known; ", hint)


def _shown(text: str | None) -> str:
    return repr(text if text is None or len(text) <= _SHOWN else text[:_SHOWN] + "...")
