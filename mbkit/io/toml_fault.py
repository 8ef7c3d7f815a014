"""Faults of TOML texts, in words of our own where a name stands twice."""

from __future__ import annotations

import re
import tomllib

__all__ = ["toml_fault"]

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
        hint = " It looks like XML; a URDF has the suffix .urdf." if text.startswith("<") else ""
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
    """Return the full name of what the last line gives, or else that line itself."""
    if table := _TABLE.match(lines[-1]):
        return table[1].strip()
    key = _KEY.match(lines[-1])
    if key is None:  # the end of a value of several lines
        return f"the key whose value ends with '{lines[-1].strip()}'"
    headers = (_TABLE.match(each) for each in reversed(lines))
    header = next((each[1].strip() for each in headers if each), "")
    return f"{header}.{key[1]}" if header else key[1]
