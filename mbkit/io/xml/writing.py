"""Files of another format that a mechanism is written to, and notes on its parts that are lost."""

from __future__ import annotations

import pathlib
import warnings

from mbkit.errors import ModelFileError, ModelFileWarning, printable
from mbkit.io.replacement import written

__all__ = ["write_mechanism"]


def write_mechanism(
    target: pathlib.Path, form: str, name: str, content: str, notes: list[str]
) -> None:
    """Write a mechanism as text of a format, such as "URDF", and warn of its losses, the notes.

    The warning points at who called the function that calls this one.
    """
    with written(f"{form} file", target, ModelFileError) as temporary:
        temporary.write_text(content, encoding="utf-8", newline="\n")
    if notes:
        warnings.warn(
            f"{form} file '{printable(target)}' does not hold all of mechanism '{name}': "
            f"{'; '.join(notes)}.",
            ModelFileWarning,
            stacklevel=3,
        )
