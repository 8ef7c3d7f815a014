"""Files that are replaced at once: the name stands for the whole old one or the whole new one."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterator

from mbkit.errors import MbkitError, printable

# The longest part of the target's name in that of the temporary file, which has more to it and
# must still be a name that the file system allows.
_NAME_SHOWN = 100


@contextlib.contextmanager
def replacement(target: pathlib.Path, *, follow: bool = True) -> Iterator[pathlib.Path]:
    """Give a new, empty file beside `target`, which takes its place when the block ends.

    It is in the same folder under a hidden name that no other process has. If the block raises, it
    is deleted and the target stays as it was. Through a link the file that it leads to is written,
    and the link stays, unless `follow` is false: then the link itself is replaced. OSError if there
    can be no such file, or it cannot take that place.
    """
    if "\0" in str(target):
        raise OSError("no file has a name with a null character")
    if not follow and target.is_symlink():
        pass
    elif target.is_symlink():
        target = pathlib.Path(os.path.realpath(target))
        if not os.path.exists(target):
            raise OSError("it is a link to a file that is not there")
    elif os.path.exists(target) and not os.path.isfile(target):
        raise OSError(f"it is {'a directory' if os.path.isdir(target) else 'no regular file'}")
    prefix = f".{target.name[:_NAME_SHOWN]}."
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=".part")
    os.close(handle)
    temporary = pathlib.Path(name)
    try:
        yield temporary
        temporary.chmod(_mode(target))
        _flush_to_disk(temporary)
        temporary.replace(target)
        flush_folder(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def written(what: str, target: pathlib.Path, fault: type[MbkitError]) -> Iterator[pathlib.Path]:
    """Replace as `replacement` does; raise `fault`, which names `what`, if it cannot write."""
    try:
        with replacement(target) as temporary:
            yield temporary
    except OSError as error:
        raise fault(
            f"{what} '{printable(target)}' cannot be written: {error.strerror or error}; choose a "
            "folder that can be written to and has room."
        ) from error


def check_writable(target: pathlib.Path) -> None:
    """Raise OSError if `replacement` of `target` would do so now; nothing is left behind."""
    with contextlib.suppress(_NotMeantError), replacement(target):
        raise _NotMeantError


class _NotMeantError(Exception):
    """Ends a replacement that was only a trial."""


def _mode(target: pathlib.Path) -> int:
    """Return the permissions for a file: those it has, or those of new files of the process."""
    if os.path.exists(target):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _flush_to_disk(path: pathlib.Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def flush_folder(path: pathlib.Path) -> None:
    """Wait until the names in a folder are on the disk; otherwise a power cut may undo a rename."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
