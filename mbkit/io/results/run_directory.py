"""Run directories: a simulation on the disk while it goes, whole after any interruption.

==================  ================================================================================
``model.toml``      the model
``part-000000.npz`` rows, and the state at their end; more parts follow, each written once
``manifest.json``   how the run is computed; the first part is there before it
``result.nc``       the result, once the run has come to its end, was stopped or has failed
``lock``            held by the process that writes (flock), with its name in it
``reserve``         room for one more part, given back when the disk is full
==================  ================================================================================

Files are written under other names, flushed to the disk and renamed: a file with its name is whole.
No file is written through a link. Each has a checksum: parts and the result in their last line, the
manifest as its key ``crc32``, the model in the manifest.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import pathlib
import platform
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from mbkit.errors import ResultFileError, UsageError
from mbkit.io.replacement import replacement
from mbkit.io.results.manifest import manifest_text, parsed_manifest
from mbkit.io.results.parts import check_part, read_part, write_part

#: The value of the key ``mbkit_run`` in a manifest.
FORMAT_VERSION = 2

RESULT = "result.nc"
_MANIFEST = "manifest.json"
_MODEL = "model.toml"
_LOCK = "lock"
_RESERVE = "reserve"
_LARGEST = 256 * 2**20  # bytes of a manifest or a model, those of 20 000 bodies have 1 % of that
_PART = re.compile(r"part-(\d{6,})\.npz")
_UNFINISHED = re.compile(r"\.(part-\d{6,}\.npz|manifest\.json|model\.toml|result\.nc)\..*\.part")


@attrs.frozen
class RunDirectory:
    """The files of one run."""

    path: pathlib.Path = attrs.field(converter=pathlib.Path)

    # --------------------------------------------------------------------------- places

    @property
    def result(self) -> pathlib.Path:
        """Where the result file is, or is going to be."""
        return self.path / RESULT

    def part(self, number: int) -> pathlib.Path:
        """Return the name of a part."""
        return self.path / f"part-{number:06d}.npz"

    def parts(self) -> list[int]:
        """Return the numbers of the parts there are; ResultFileError where one is missing."""
        matches = (_PART.fullmatch(entry.name) for entry in self._entries())
        numbers = sorted(int(match[1]) for match in matches if match)
        for expected, number in enumerate(numbers):
            if number != expected:
                raise ResultFileError(
                    f"Run directory '{self.path}' lacks {self.part(expected).name}, and has "
                    f"{self.part(number).name}; put it back, or delete the parts after it."
                )
        return numbers

    def _entries(self) -> list[pathlib.Path]:
        try:
            return list(self.path.iterdir())
        except OSError as error:
            raise ResultFileError(
                f"Run directory '{self.path}' cannot be read: {error.strerror}."
            ) from error

    def has_run(self) -> bool:
        """Return whether a run was begun here that can be continued."""
        return os.path.isfile(self.path / _MANIFEST)

    # --------------------------------------------------------------------------- beginning

    def create(self) -> None:
        """Make the directory, or take an empty one; refuse one that is used.

        UsageError if it has a run, or anything else in it; ResultFileError if it cannot be made or
        written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        if self.has_run():
            raise UsageError(
                f"'{self.path}' has a run already; continue it by mbkit.resume('{self.path}') or "
                f"mbkit simulate --resume {self.path}, or, of a study, by mbkit run STUDY "
                "--resume; or choose another directory."
            )
        others = sorted(e.name for e in self._entries() if not _is_leftover(e.name))
        if others:
            raise UsageError(
                f"'{self.path}' must be a new or an empty directory, and has '{others[0]}' in it; "
                "choose another."
            )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing here; the lock ends with the process, however it ends.

        UsageError, with its name, if another process is writing here; ResultFileError if nothing
        can be written here.
        """
        import fcntl

        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            handle = os.open(self.path / _LOCK, flags, 0o666)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise self._leads_elsewhere() from error
            raise self._unwritable(error) from error
        try:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
                raise self._leads_elsewhere()
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.read(handle, 1000).decode(errors="replace")
                raise UsageError(
                    f"'{self.path}' is being written by {owner or 'another process'}; wait for "
                    "it, or stop it."
                ) from None
            except OSError as error:
                raise self._unwritable(error) from error
            with contextlib.suppress(OSError):  # a full disk: the lock holds without its name
                now = datetime.now(UTC).isoformat(timespec="seconds")
                os.ftruncate(handle, 0)
                os.pwrite(
                    handle, f"process {os.getpid()} on {platform.node()} since {now}".encode(), 0
                )
            yield
        finally:
            os.close(handle)

    def _leads_elsewhere(self) -> ResultFileError:
        return ResultFileError(
            f"Run directory '{self.path}': '{_LOCK}' is a link or no regular file, by which "
            "another file would be written; delete it."
        )

    def clean(self) -> None:
        """Delete files that a killed process has left half written."""
        for entry in self._entries():
            if _UNFINISHED.fullmatch(entry.name):
                try:
                    entry.unlink(missing_ok=True)
                except OSError as error:
                    raise self._unwritable(error) from error
        if not self.has_run():  # a start that has not come to its manifest
            for number in self.parts():
                self.part(number).unlink()

    def reserve(self, size: int) -> None:
        """Take `size` bytes of the disk for later; ResultFileError if they are not there."""
        if not hasattr(os, "posix_fallocate"):  # go without
            return
        try:
            (self.path / _RESERVE).unlink(missing_ok=True)  # a link, perhaps
            handle = os.open(self.path / _RESERVE, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            try:
                os.posix_fallocate(handle, 0, size)
            finally:
                os.close(handle)
        except OSError as error:
            self.release()
            if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):  # then go without
                return
            raise self._unwritable(error) from error

    def release(self) -> None:
        """Give back the memory that `reserve` took."""
        with contextlib.suppress(OSError):
            (self.path / _RESERVE).unlink(missing_ok=True)

    def check_room(self, size: float) -> None:
        """Raise ResultFileError unless the disk has room for `size` bytes."""
        try:
            disk = os.statvfs(self.path)
        except OSError as error:
            raise self._unwritable(error) from error
        free = disk.f_bavail * disk.f_frsize
        if size > free:
            raise ResultFileError(
                f"The run needs about {_amount(size)} in '{self.path}', and {_amount(free)} are "
                "free; use a larger save_every, dtype='float32', less to save, or another disk."
            )

    def _unwritable(self, error: OSError) -> ResultFileError:
        return ResultFileError(
            f"Run directory '{self.path}' cannot be written: {error.strerror or error}; choose a "
            "place that can be written to and has room."
        )

    # --------------------------------------------------------------------------- contents

    def write_model(self, text: str) -> None:
        """Write the model."""
        with replacement(self.path / _MODEL, follow=False) as temporary:
            temporary.write_bytes(text.encode())

    def read_model(self, manifest: Mapping[str, Any]) -> str:
        """Return the model; UsageError if it is no longer that of the manifest."""
        path = self.path / _MODEL
        content = _content(path)
        if hashlib.sha256(content).hexdigest() != manifest["model_sha256"]:
            raise UsageError(
                f"'{path}' has been changed since the run began; a run goes on with the model it "
                "began with. Put the file back, or start a new run."
            )
        return content.decode()

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest."""
        text = manifest_text({"mbkit_run": FORMAT_VERSION, **manifest})
        with replacement(self.path / _MANIFEST, follow=False) as temporary:
            temporary.write_bytes(text.encode())

    def read_manifest(self) -> dict[str, Any]:
        """Return the manifest.

        ResultFileError if there is none, or none that this mbkit reads, or if it was changed.
        """
        path = self.path / _MANIFEST
        if not os.path.lexists(self.path):
            raise ResultFileError(
                f"'{self.path}' has no run: there is no such directory; give the one that simulate "
                f"was given as output, as seen from '{os.getcwd()}'."
            )
        if not os.path.isfile(path):
            raise ResultFileError(
                f"'{self.path}' has no run: there is no {_MANIFEST} in it. A run that was stopped "
                "before it had one has confirmed nothing; start it again."
            )
        return parsed_manifest(_content(path), f"'{path}'", FORMAT_VERSION)

    def write_part(self, number: int, arrays: Mapping[str, Any]) -> None:
        """Write a part: arrays of numbers by name. An old one of this number is replaced."""
        write_part(self.part(number), arrays)

    def read_part(
        self, number: int, names: Collection[str] | None = None, *, known: bool = False
    ) -> dict[str, Any]:
        """Return the arrays of a part, or those of some names; see `mbkit.io.results.parts`."""
        return read_part(self.part(number), names, known=known)

    def check_parts(self, manifest: Mapping[str, Any]) -> None:
        """Raise ResultFileError unless all parts are those of the run; see `checked_parts`."""
        for _ in self.checked_parts(manifest):
            pass

    def checked_parts(self, manifest: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give numbers and arrays of all parts, looked at whether they are those of the run.

        ResultFileError if one is missing, damaged, or not the one that the run has written there.
        """
        before: dict[str, Any] | None = None
        for number in self.parts():
            part = self.read_part(number)
            check_part(self.part(number), number, part, before, manifest)
            before = {name: part[name] for name in ("t", "began", "step")}
            yield number, part

    def delete_parts(self) -> None:
        """Delete all parts, the last first, so that those that are left follow each other."""
        for number in reversed(self.parts()):
            self.part(number).unlink()


def _content(path: pathlib.Path) -> bytes:
    """Return the content of a file of a run, of any size that one has."""
    try:
        if not os.path.isfile(path):
            raise ResultFileError(f"'{path}' cannot be read: it must be a regular file.")
        if path.stat().st_size > _LARGEST:
            raise ResultFileError(
                f"'{path}' must have at most {_LARGEST} bytes, got {path.stat().st_size}."
            )
        return path.read_bytes()
    except OSError as error:
        raise ResultFileError(f"'{path}' cannot be read: {error.strerror}.") from error


def _is_leftover(name: str) -> bool:
    """Return whether a start that was killed before its manifest may have left this file."""
    known = name in (_MODEL, _LOCK, _RESERVE) or _PART.fullmatch(name)
    return bool(known or _UNFINISHED.fullmatch(name))


def _amount(size: float) -> str:
    unit = 2**20 if size < 2**30 else 2**30
    return f"{size / unit:.1f} {'MiB' if unit == 2**20 else 'GiB'}"
