"""Memory of large arrays: a computation that needs more than there is is refused by name."""

from __future__ import annotations

import math
import os
import pathlib
from collections.abc import Iterator

from mbkit.errors import MbkitError

#: Below that the free memory is not checked. [bytes]
LARGE = 2**26

_NUMBER = 8  # bytes


class NoMemoryError(MbkitError, MemoryError):
    """Arrays for which there is no memory; nothing has been computed, and nothing overwritten."""


def check_memory(numbers: float, what: str, remedy: str) -> None:
    """Raise NoMemoryError unless there is memory for so many numbers of 64 bits.

    The system may promise more memory than it has, and end the process where it is used. The
    message begins with their name, and ends with the remedy.
    """
    size = _NUMBER * numbers
    if size < LARGE:
        return
    there = available_memory()
    if size > there:
        raise NoMemoryError(
            f"{what} takes {_gib(size)} of memory, and {_gib(there)} is free; {remedy}."
        )


def available_memory() -> float:
    """Return how much this process can still use: of the machine, its group, its limit. [bytes].

    Infinity where it is not known.
    """
    return max(0.0, min(_sizes(), default=math.inf))


def _sizes() -> Iterator[float]:
    yield from _of_machine()
    yield from _of_group()
    yield from _of_limit()


def _of_machine() -> Iterator[float]:
    try:
        lines = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        kib = {
            key: int(rest.split()[0]) for key, _, rest in (each.partition(":") for each in lines)
        }
        yield 1024.0 * (kib["MemAvailable"] + kib.get("SwapFree", 0))
    except (OSError, ValueError, KeyError):
        return


def _of_group() -> Iterator[float]:
    """Yield the memory free in the group of a container; pages of files that were read can go."""
    root = pathlib.Path("/sys/fs/cgroup")
    try:
        most = int((root / "memory.max").read_text(encoding="ascii"))  # "max": no limit
        used = int((root / "memory.current").read_text(encoding="ascii"))
        lines = (root / "memory.stat").read_text(encoding="ascii").splitlines()
        yield float(most - used + int(dict(each.split() for each in lines)["inactive_file"]))
    except (OSError, ValueError, KeyError):
        return


def _of_limit() -> Iterator[float]:
    """Yield the memory that `ulimit -v` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            yield float(limit - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, OSError, ValueError):
        return


def _gib(size: float) -> str:
    return f"{size / 2**30:.3g} GiB"
