"""TOML texts of others, read with care: messages give each fault with its line."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from mbkit.errors import ModelFileError
from mbkit.io.text_file import shortened
from mbkit.io.toml_text.lines import (
    line_nested_deeper,
    line_of,
    line_of_long_integer,
    lines_of_keys,
)

__all__ = ["check_format", "read_document", "toml_fault"]

#: Deepest nesting of brackets: Python's parser calls itself for each.
MAX_DEPTH = 64

#: Longest integer that Python reads from text, by its default.
MAX_DIGITS = 4300


def read_document(text: str, what: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML text: nested dictionaries, lists and values.

    ModelFileError, which begins with `what` and has `name` before the number of a line, if it is no
    TOML, or could take Python's parser very long.
    """
    if line := line_nested_deeper(text, MAX_DEPTH):
        raise ModelFileError(
            f"{what} is nested too deeply, more than {MAX_DEPTH} brackets or parts of a key "
            f"({name}:{line}); a model needs ten."
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelFileError(f"{what} {shortened(toml_fault(error, text, name))}") from error
    except ValueError as error:  # of Python, for integers that take it time by their square
        raise ModelFileError(
            f"{what} has an integer of more than {MAX_DIGITS} digits "
            f"({name}:{line_of_long_integer(text, MAX_DIGITS)}); give a number that is meant."
        ) from error


def check_format(
    document: dict[str, Any], key: str, version: int, text: str, what: str, name: str
) -> None:
    """Raise ModelFileError unless a document says at `key` that it has the version read here.

    The other arguments are as for `read_document`.
    """
    if key not in document and "mbkit_study" in document:
        raise ModelFileError(
            f"{what} is a study, and no model: run it by 'mbkit run'; with a table [compare] it is "
            "a comparison."
        )
    if key not in document:
        raise ModelFileError(
            f"{what} must say its format; begin it with '{key} = {version}' ({name}:1)."
        )
    found = document[key]
    if type(found) is not int or found != version:
        line = line_of((key,), lines_of_keys(text))
        raise ModelFileError(
            f"{what} has the format {key} = {found!r:.40} ({name}:{line}); this mbkit "
            f"reads {version}."
        )


# How Python's parser calls the ways in which a key or a table can be given twice. The last two may
# name a key of an inline table, as seen from there.
_GIVEN_TWICE = re.compile(
    r"Cannot (?:declare|overwrite|redefine)"
    r"|Cannot mutate immutable namespace (?P<path>\(.*?\)) \("
    r"|Duplicate inline table key (?P<key>'.*?') \("
)

# Its messages end with the place that it had reached: this, or the end of the document.
_PLACE = re.compile(r"\(at line (\d+), column \d+\)")

# A line that gives a table, and the beginning of one that gives a key. A row of numbers, which
# has commas, is neither.
_TABLE = re.compile(r"\s*\[{1,2}([^\[\],=]+)\]{1,2}\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w.-])+)\s*=""")


def toml_fault(error: tomllib.TOMLDecodeError, text: str, name: str) -> str:
    r"""Return the end, after the file's name, of a message on a text that the parser refused.

    Examples
    --------
    >>> text = "[bodies.rod]\nmass = 1.0\nmass = 2.0"
    >>> try:
    ...     tomllib.loads(text)
    ... except tomllib.TOMLDecodeError as error:
    ...     print(toml_fault(error, text, "m.toml").partition(";")[0])
    gives bodies.rod.mass twice, the second time in line 3 (m.toml:3)
    """
    place = _PLACE.search(str(error))
    # The parser counts \n alone; splitlines would also count other ends of lines.
    lines = text.split("\n")
    line = int(place[1]) if place else len(lines)
    twice = _GIVEN_TWICE.match(str(error))
    if twice is None:
        hint = ""
        if text.startswith("<"):
            hint = " It looks like XML; a URDF has the suffix .urdf."
        elif lines[line - 1].count("{") > lines[line - 1].count("}"):
            hint = " TOML 1.0 has tables in braces in one line; write longer ones as [bodies.rod]."
        return f"is no TOML: {error} ({name}:{line}).{hint}"
    key = _name(lines[:line])
    inner = ".".join(re.findall("'(.*?)'", twice["path"] or twice["key"] or ""))
    if twice["key"] or not key.startswith(inner):
        key = f"{key}.{inner}"
    return (
        f"gives {key} twice, the second time in line {line} ({name}:{line}); "
        "each name is given once, so rename "
        "or remove one of them."
    )


def _name(lines: list[str]) -> str:
    """Return the full name of the key of the last line, or else that line itself."""
    if table := _TABLE.match(lines[-1]):
        return table[1].strip()
    key = _KEY.match(lines[-1])
    if key is None:  # the end of a value of several lines
        return f"the key whose value ends with '{lines[-1].strip()}'"
    headers = (_TABLE.match(each) for each in reversed(lines))
    header = next((each[1].strip() for each in headers if each), "")
    return f"{header}.{key[1]}" if header else key[1]
