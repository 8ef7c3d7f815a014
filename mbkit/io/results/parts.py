"""Parts of a run: rows and the state at their end, in a file with a checksum that says whose it is.

A part is an npz file, whose arrays are not packed and hold numbers, or texts of one length. Beside
rows and state it has ``run``, the number by which its run calls itself in the manifest; ``number``,
its place among the parts; and the steps ``began`` and ``step`` between which its rows are.
"""

from __future__ import annotations

import io
import os
import pathlib
import zipfile
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from mbkit.errors import ResultFileError, printable
from mbkit.interrupts import HeldInterrupts
from mbkit.io.replacement import replacement
from mbkit.io.results.checksum import checked, checksum_line
from mbkit.results.labelled import CONSTRAINT_VARIABLES, VARIABLES

#: The data of a result that parts may hold.
ROWS = ("t", *VARIABLES, *CONSTRAINT_VARIABLES)

_SINGLE = ("run", "number", "began", "step")
_REMEDY = "put it back, or delete it and the parts after it to go on from the one before."


def write_part(path: pathlib.Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays of numbers by name. An old part of this name is replaced."""
    image = io.BytesIO()
    with HeldInterrupts():  # a zip file that is interrupted raises another error as it is closed
        np.savez(image, **dict(arrays))
    content = image.getbuffer()
    with replacement(path, follow=False) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.write(checksum_line(content))


def read_part(
    path: pathlib.Path, names: Collection[str] | None, *, known: bool = False
) -> dict[str, Any]:
    """Return the arrays of a part, or those of some names; ResultFileError if it is damaged.

    `known`: the checksum of the file was compared before; those of single arrays are always
    compared.
    """
    what = f"'{printable(path)}'"
    try:
        with HeldInterrupts():  # Ctrl-C would leave a zip file that is half open
            return _contents(path, what, names, known=known)
    except ResultFileError:
        raise
    except Exception as error:  # zip files and numpy's headers have many ways to be wrong
        reason = printable(error).rstrip(".")
        raise ResultFileError(f"{what} is damaged ({reason}); {_REMEDY}") from error


def _contents(
    path: pathlib.Path, what: str, names: Collection[str] | None, *, known: bool
) -> dict[str, Any]:
    if not os.path.isfile(path):  # opening a pipe would wait
        raise OSError("it is not there, or no regular file")
    with path.open("rb") as opened:
        if not known and checked(opened, what, _REMEDY.capitalize()) is None:
            raise OSError("its last line, a checksum, is lost: it was cut, or written anew")
        opened.seek(0)
        with zipfile.ZipFile(opened) as entries:
            size = sum(each.file_size for each in entries.infolist())
            packed = any(each.compress_type for each in entries.infolist())
        if packed or size > path.stat().st_size:
            raise OSError("its arrays are packed")
        opened.seek(0)
        with np.load(opened, allow_pickle=False) as file:
            return {n: file[n] for n in file.files if names is None or n in names}


def check_part(
    path: pathlib.Path,
    number: int,
    part: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    manifest: Mapping[str, Any],
) -> None:
    """Raise ResultFileError unless a part, the file of that number, has its place in a run.

    Of the part before it, None for the first, ``step`` and ``t`` are looked at.
    """
    what = f"'{printable(path)}'"
    missing = [name for name in ("t", *_SINGLE) if name not in part]
    if missing or any(part[name].shape != () for name in _SINGLE):
        raise ResultFileError(f"{what} is damaged (it lacks {', '.join(missing)}); {_REMEDY}")
    run, own, began, step = (int(part[name]) for name in _SINGLE)
    if run != manifest["run"]:
        raise ResultFileError(
            f"{what} belongs to another run: to the run {run}, and the manifest beside it has the "
            f"run {manifest['run']}; {_REMEDY}"
        )
    if own != number:
        raise ResultFileError(
            f"{what} is part {own} of the run under the name of part {number}; {_REMEDY}"
        )
    expected = 0 if before is None else int(before["step"])
    last = 0 if before is None else manifest["options"]["steps"]
    if began != expected or not began <= step <= last:
        raise ResultFileError(
            f"{what} has the steps from {began} to {step}, and must go on from step {expected}, "
            f"to {last} at most: it is an older or a newer one than those beside it; {_REMEDY}"
        )
    _check_rows(what, part, before, manifest["options"])


def _check_rows(
    what: str, part: Mapping[str, Any], before: Mapping[str, Any] | None, options: Mapping[str, Any]
) -> None:
    """Raise ResultFileError unless there is a row for each time, and times are those of steps."""
    t = part["t"]
    rows = [name for name in part if name in ROWS or name.startswith("output_")]
    other = [name for name in rows if part[name].shape[:1] != t.shape]
    if t.ndim != 1 or other:
        raise ResultFileError(
            f"{what} is damaged ({', '.join(other)} must have a row for each time); {_REMEDY}"
        )
    steps = (t - options["t_span"][0]) / options["h"]
    if before is not None and before["t"].size:
        steps = np.concatenate([(before["t"][-1:] - options["t_span"][0]) / options["h"], steps])
    first = 0.0 if before is None else float(before["began"])
    inside = steps.size == 0 or (first - 0.5 <= steps[0] and steps[-1] <= part["step"] + 0.5)
    if not (inside and np.all(np.diff(steps) >= 0.0)):
        raise ResultFileError(
            f"{what} is damaged (its times are not those of its steps); {_REMEDY}"
        )
