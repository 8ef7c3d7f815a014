"""Checksums in the last line of files, by which every byte before it is as it was written.

The line is ``mbkit CRC-32 89abcdef of 0000000000012345 bytes``. HDF5 and zip look at nothing behind
their own end, so that other programs read such files as ever. A CRC-32 finds all damage within four
bytes, and lets one of 4e9 other damaged files pass; it is read at the speed of the disk.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import Any

from mbkit.errors import ResultFileError

_FORM = "\nmbkit CRC-32 {:08x} of {:016d} bytes\n"
_LINE = re.compile(rb"\nmbkit CRC-32 ([0-9a-f]{8}) of (\d{16}) bytes\n")

#: How many bytes the line takes.
LINE_SIZE = len(_FORM.format(0, 0))

_BLOCK = 2**20


def checksum_line(content: bytes | memoryview) -> bytes:
    """Return the line that goes behind `content`."""
    return _FORM.format(zlib.crc32(content), len(content)).encode()


def add_checksum(file: Any) -> str:
    """Write the line at the end of a file; return the checksum of its content.

    The file is open for reading and writing, without a buffer; all of its content is read. OSError
    if it cannot be read or written.
    """
    size = file.seek(0, os.SEEK_END)
    line = _FORM.format(_crc(file, size), size).encode()
    file.seek(size)
    rest = line
    while rest:
        rest = rest[file.write(rest) :]
    return _named(line)


def checked(file: Any, what: str, remedy: str = "Take another copy of it.") -> str | None:
    """Return the result of `add_checksum`, of a file whose content is as it was written then.

    None if there is no checksum in its last line; ResultFileError, which begins with `what` and
    ends with `remedy`, if the content has another checksum or length.
    """
    size = file.seek(0, os.SEEK_END) - LINE_SIZE
    if size < 0:
        return None
    file.seek(size)
    line = file.read(LINE_SIZE)
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    expected, length = int(match[1], 16), int(match[2])
    if length != size:
        raise ResultFileError(
            f"{what} is damaged: it was written with {length} bytes before its last line, and has "
            f"{size}. {remedy}"
        )
    found = _crc(file, size)
    if found != expected:
        raise ResultFileError(
            f"{what} is damaged: its content was changed after it was written, by a disk, a copy "
            f"or an editor (its CRC-32 was {expected:08x}, and is {found:08x}). {remedy}"
        )
    return _named(line)


def _named(line: bytes) -> str:
    return line.decode().strip().removeprefix("mbkit ")


def _crc(file: Any, size: int) -> int:
    """Return the CRC-32 of the first bytes of a file, or of all where they are fewer."""
    file.seek(0)
    block, crc = memoryview(bytearray(min(size, _BLOCK))), 0
    while size > 0:
        count = file.readinto(block[: min(size, _BLOCK)])
        if not count:
            break
        crc = zlib.crc32(block[:count], crc)
        size -= count
    return crc
