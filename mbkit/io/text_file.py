"""Text files read with care: regular files alone, of a limited size, in UTF-8."""

from __future__ import annotations

import os
import pathlib
import stat
from typing import Any

from mbkit.errors import ModelFileError, UsageError, printable

_LONGEST = 1000  # characters of a message, beyond which it is a wrong value that goes on


def checked_path(path: Any, who: str) -> pathlib.Path:
    """Return the path of a file; UsageError in the name of `who` if it is none."""
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"{who}: path must be a string or a path, got {path!r}.")
    return pathlib.Path(path)


def checked_place(path: Any, who: str) -> pathlib.Path:
    """Return the path of a file or folder that is made; UsageError if it cannot be one."""
    if "\0" in str(place := checked_path(path, who)):
        raise UsageError(f"{who}: path must have no null character in it, got {str(place)!r}.")
    return place


def read_bytes(path: pathlib.Path, what: str, max_size: int) -> bytes:
    """Return the content of a regular file of at most `max_size` bytes, else raise ModelFileError.

    Anything else there (a folder, a device, a pipe) is refused before it is opened, since reading
    it could wait or go on for ever; the size is looked at before anything is read. `what` begins
    messages, such as "Model file 'arm.toml'".
    """
    try:
        _check_kind(path.stat(), what, max_size)
        with path.open("rb") as file:
            # again, for what was opened may not be what was looked at
            _check_kind(os.fstat(file.fileno()), what, max_size)
            return file.read(max_size)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        if isinstance(error, ModelFileError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"{what} cannot be read: {reason}.") from error


def _check_kind(status: os.stat_result, what: str, max_size: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a device or a pipe"
        raise ModelFileError(f"{what} cannot be read: it must be a regular file, and is {kind}.")
    if status.st_size > max_size:
        raise ModelFileError(f"{what} must have at most {max_size} bytes, got {status.st_size}.")


def decoded(content: bytes, what: str, name: str) -> str:
    """Return text from UTF-8, with or without a byte order mark; ModelFileError where it is none.

    Messages begin with `what`, and have `name` before the number of a line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start
        line = content.count(b"\n", 0, at) + 1
        raise ModelFileError(
            f"{what} must be UTF-8 text, got byte {error.object[at]:#x} at {at} ({name}:{line}); "
            "save it as UTF-8."
        ) from error


def read_text(path: pathlib.Path, what: str, max_size: int) -> str:
    """Return the text of a file; see `read_bytes` and `decoded`."""
    return decoded(read_bytes(path, what, max_size), what, printable(path.name))


def shortened(message: str) -> str:
    """Return a message as one printable line, without its middle if a value makes it very long."""
    if len(message) > _LONGEST:
        message = f"{message[: _LONGEST // 2]} ... {message[-_LONGEST // 2 :]}"
    return printable(message)
