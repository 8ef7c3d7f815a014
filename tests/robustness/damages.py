"""Ways to damage a file or a folder of files, each by random numbers that are given."""

from __future__ import annotations

import pathlib
import random
import shutil
from collections.abc import Callable

Random = random.Random


# ------------------------------------------------------------------------------- damage to bytes


def flip_bits(data: bytes, rng: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8, 100))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _range(data: bytes, rng: Random) -> tuple[int, int]:
    size = min(len(data), rng.choice((1, 4, 8, 64, 512, 4096, len(data))))
    first = rng.randrange(len(data) - size + 1)
    return first, first + size


def zero_bytes(data: bytes, rng: Random) -> bytes:
    first, last = _range(data, rng)
    return data[:first] + bytes(last - first) + data[last:]


def random_bytes(data: bytes, rng: Random) -> bytes:
    first, last = _range(data, rng)
    return data[:first] + rng.randbytes(last - first) + data[last:]


def delete_bytes(data: bytes, rng: Random) -> bytes:
    first, last = _range(data, rng)
    return data[:first] + data[last:]


def double_bytes(data: bytes, rng: Random) -> bytes:
    first, last = _range(data, rng)
    return data[:last] + data[first:]


def swap_bytes(data: bytes, rng: Random) -> bytes:
    size = rng.choice((8, 512))
    changed = bytearray(data)
    i, j = (rng.randrange(max(1, len(data) - size)) // 8 * 8 for _ in range(2))
    changed[i : i + size], changed[j : j + size] = data[j : j + size], data[i : i + size]
    return bytes(changed[: len(data)])


def truncate(data: bytes, rng: Random) -> bytes:
    return data[: rng.choice((rng.randrange(len(data)), max(0, len(data) - rng.randrange(1, 80))))]


def append(data: bytes, rng: Random) -> bytes:
    return data + rng.choice((b"\n", bytes(512), rng.randbytes(64), data))


BYTES: tuple[Callable[[bytes, Random], bytes], ...] = (
    flip_bits, zero_bytes, random_bytes, delete_bytes, double_bytes, swap_bytes, truncate, append,
)  # fmt: skip


# ------------------------------------------------------------------------------- damage to folders


def files_of(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(each for each in folder.iterdir() if each.name not in ("lock", "reserve"))


def damage_file(folder: pathlib.Path, others: pathlib.Path, rng: Random) -> None:
    file = rng.choice(files_of(folder))
    file.write_bytes(rng.choice(BYTES)(file.read_bytes(), rng))


def swap_files(folder: pathlib.Path, others: pathlib.Path, rng: Random) -> None:
    one, other = rng.sample(files_of(folder), 2)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def double_file(folder: pathlib.Path, others: pathlib.Path, rng: Random) -> None:
    one, other = (rng.choice(files_of(folder)) for _ in range(2))
    number = len(list(folder.glob("part-*.npz")))
    shutil.copy(one, rng.choice((folder / f"part-{number:06d}.npz", other.with_suffix(".x"))))


def delete_file(folder: pathlib.Path, others: pathlib.Path, rng: Random) -> None:
    rng.choice(files_of(folder)).unlink()


def foreign_file(folder: pathlib.Path, others: pathlib.Path, rng: Random) -> None:
    """Put a file of another run in the place of one, or beside them."""
    file = rng.choice(files_of(others))
    shutil.copy(file, folder / file.name)


def folder_for_file(folder: pathlib.Path, others: pathlib.Path, rng: Random) -> None:
    file = rng.choice(files_of(folder))
    file.unlink()
    file.mkdir()


FOLDERS = (damage_file,) * 6 + (swap_files, double_file, delete_file, foreign_file, folder_for_file)
