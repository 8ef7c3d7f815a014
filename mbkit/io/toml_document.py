"""TOML texts of others, read with care: what is wrong with one is told with its line."""

from __future__ import annotations

import tomllib
from typing import Any

from mbkit.errors import ModelFileError
from mbkit.io.text_file import shortened
from mbkit.io.toml_fault import toml_fault
from mbkit.io.toml_lines import line_nested_deeper, line_of, line_of_long_integer, lines_of_keys

__all__ = ["check_format", "read_document"]

#: Deepest nesting of brackets: Python's parser calls itself for each.
MAX_DEPTH = 64

#: Longest integer that Python reads from text, by its default.
MAX_DIGITS = 4300


def read_document(text: str, what: str, name: str) -> dict[str, Any]:
    """Return what a TOML text is parsed to: nested dictionaries, lists and values.

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
