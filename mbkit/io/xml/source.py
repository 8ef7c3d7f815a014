"""Texts of files, with the names that messages have for them."""

from __future__ import annotations

import os
import pathlib
from typing import Any, NamedTuple

from mbkit.errors import UsageError, check_kind, printable

__all__ = ["Source", "source_of"]


class Source(NamedTuple):
    """Where a text comes from.

    Attributes
    ----------
    path : str
        The file, "text" without one.
    folder : path or None
        That of the file; None without one.
    what, name : str
        Begin of messages, and the word before the number of a line.
    """

    path: str
    folder: pathlib.Path | None
    what: str
    name: str


def source_of(form: str, text: Any, source: Any) -> Source:
    """Return the source of a text that ``parse_FORM`` is given; UsageError where one is no text."""
    form_in_names = form.lower()
    if not isinstance(text, str):
        raise UsageError(
            f"parse_{form_in_names}: text must be a string, got {type(text).__name__}; decode "
            f"bytes as UTF-8, or give the file to read_{form_in_names}."
        )
    if source is None:
        return Source("text", None, f"{form} file 'text'", "text")
    who = f"parse_{form_in_names}: source"
    check_kind(who, source, (str, os.PathLike), "a path, or a name")
    path = pathlib.PurePath(source)
    what = f"{form} file '{printable(source)}'"
    return Source(source, pathlib.Path(source).parent, what, printable(path.name))
