"""Model files made malformed, and a program that loads them while every opened file is watched.

Run as a program of its own, since what watches cannot be taken off again:

    python tests/io/mutations.py FOLDER COUNT

It writes the mutants into FOLDER one after the other, and a summary in JSON to stdout.
"""

from __future__ import annotations

import faulthandler
import json
import pathlib
import random
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable

ROOT = pathlib.Path(__file__).parents[2]

#: Valid files of each format, with all that the format has.
ORIGINALS = {
    "urdf": [ROOT / "tests" / "data" / "gripper.urdf"],
    "sdf": [ROOT / "tests" / "data" / "gripper.sdf"],
    "toml": [ROOT / "tests" / "data" / "gripper.toml", ROOT / "tests" / "data" / "forces.toml"],
}

TOKEN = re.compile(rb"""[A-Za-z_][\w-]*|[-+]?[0-9][\w.+-]*|"[^"\n]*"|\s+|.""", re.DOTALL)
NUMBER = re.compile(rb"(?<![\w.])[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?(?![\w.])")
STRING = re.compile(rb'"[^"\n]*"')

ODD_NUMBERS = (
    b"nan", b"-inf", b"inf", b"1e999", b"-1e308", b"1e-320", b"9" * 400, b"9" * 5000, b"", b"1,0",
    b"0x10", b"1_000", b"1 2", b"true", b"${x}", "\u0661".encode(), b"-0.0", b"0", b"-1", b"1e",
)  # fmt: skip
ODD_STRINGS = (
    b'"../../../../etc/passwd"', b'"/etc/passwd"', b'"file:///etc/passwd"', b'""', b'"world"',
    b'"http://localhost:1/x.stl"', b'"package://../../etc/passwd"', b'"package:///etc/passwd"',
    b'"os:system"', b'"antigravity:Joint"', b'" base"', b'"a\\u0000b"', b'"hand"', b'"elbow"',
    b'"' + b"x" * 100_000 + b'"', b'"planar"', b'"revolute"', b'"\xff"', b'"[0]"', b'"drag"',
    b'"joint_effort"', b'"linear"',
)  # fmt: skip

Random = random.Random


def flip_bytes(data: bytes, rng: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 30))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _with_tokens(data: bytes, rng: Random, change: Callable[[list[bytes]], None]) -> bytes:
    tokens = TOKEN.findall(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        change(tokens)
    return b"".join(tokens)


def delete_tokens(data: bytes, rng: Random) -> bytes:
    return _with_tokens(data, rng, lambda tokens: tokens.pop(rng.randrange(len(tokens))) and None)


def double_tokens(data: bytes, rng: Random) -> bytes:
    def double(tokens: list[bytes]) -> None:
        at = rng.randrange(len(tokens))
        tokens.insert(at, tokens[at])

    return _with_tokens(data, rng, double)


def swap_tokens(data: bytes, rng: Random) -> bytes:
    def swap(tokens: list[bytes]) -> None:
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        tokens[i], tokens[j] = tokens[j], tokens[i]

    return _with_tokens(data, rng, swap)


def truncate(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data))]


def _replaced(data: bytes, rng: Random, what: re.Pattern[bytes], by: tuple[bytes, ...]) -> bytes:
    found = rng.choice(list(what.finditer(data)))
    return data[: found.start()] + rng.choice(by) + data[found.end() :]


def odd_number(data: bytes, rng: Random) -> bytes:
    return _replaced(data, rng, NUMBER, ODD_NUMBERS)


def odd_string(data: bytes, rng: Random) -> bytes:
    return _replaced(data, rng, STRING, ODD_STRINGS)


def _lines(data: bytes, rng: Random) -> tuple[list[bytes], int]:
    lines = data.split(b"\n")
    return lines, rng.randrange(len(lines))


def double_lines(data: bytes, rng: Random) -> bytes:
    lines, at = _lines(data, rng)
    end = at + rng.choice((1, 1, 5, 20))
    lines[end:end] = lines[at:end]
    return b"\n".join(lines)


def delete_lines(data: bytes, rng: Random) -> bytes:
    lines, at = _lines(data, rng)
    del lines[at : at + rng.choice((1, 1, 3))]
    return b"\n".join(lines)


def nest(data: bytes, rng: Random) -> bytes:
    lines, at = _lines(data, rng)
    depth = rng.choice((70, 1000, 100_000))
    deep = rng.choice((b"<a>", b"[", b"{a=", b"a.", b'<link name="a">', b"x=["))
    lines.insert(at, deep * depth)
    return b"\n".join(lines)


BOMB = b'<!DOCTYPE robot [<!ENTITY a0 "ha">%s]>\n' % b"".join(
    b'<!ENTITY a%d "&a%d;&a%d;">' % (i + 1, i, i) for i in range(40)
)
DOCTYPES = (
    BOMB,
    b'<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n',
    b'<!DOCTYPE robot SYSTEM "file:///etc/passwd">\n',
    b'<!DOCTYPE robot PUBLIC "x" "http://localhost:1/x.dtd">\n',
    b'<!DOCTYPE robot [<!ENTITY % p SYSTEM "/etc/passwd"> %p;]>\n',
    b"<!DOCTYPE robot>\n",
    b'<?xml-stylesheet href="file:///etc/passwd"?>\n',
    b'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>\n',
)


def doctype(data: bytes, rng: Random) -> bytes:
    lines, _ = _lines(data, rng)
    lines.insert(rng.choice((0, 1, 2, 5)), rng.choice(DOCTYPES))
    return b"\n".join(lines).replace(b"gripper", rng.choice((b"&a40;", b"&x;", b"gripper")), 1)


def encode(data: bytes, rng: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    coding = rng.choice(("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "cp037", "utf-7"))
    declared = rng.choice(("utf-16", "latin-1", "idna", "nonsense", "utf-8", "cp1252"))
    if rng.random() < 0.5:
        return text.encode(coding, "replace")
    text = text.replace('version="1.0"', f'version="1.0" encoding="{declared}"', 1)
    return text.replace("gripper", "gr\u00efpper", 1).encode(
        rng.choice(("utf-8", "latin-1")), "replace"
    )


def null(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + b"\0" * rng.choice((1, 100)) + data[at:]


MUTATIONS = (
    flip_bytes, delete_tokens, double_tokens, swap_tokens, truncate, odd_number, odd_string,
    double_lines, delete_lines, nest, doctype, encode, null,
)  # fmt: skip


def mutant(number: int) -> tuple[str, str, bytes]:
    """Return the format, the kind and the content of a mutant; the same for the same number."""
    rng = random.Random(number)  # noqa: S311 - not for secrets
    count = len(ORIGINALS)
    suffix = [*ORIGINALS][number % count]
    mutation = MUTATIONS[(number // count) % len(MUTATIONS)]
    originals = ORIGINALS[suffix]
    data = originals[number // (count * len(MUTATIONS)) % len(originals)].read_bytes()
    for _ in range(rng.choice((1, 1, 1, 2))):
        data = mutation(data, rng)
    return suffix, mutation.__name__, data


def load(path: pathlib.Path) -> None:
    """Load a file as users do, with its meshes looked for."""
    import mbkit as mb

    if path.suffix == ".urdf":
        mb.read_urdf(path).mesh_files([path.parent])
    if path.suffix == ".sdf":
        mb.read_sdf(path).mesh_files([path.parent])
    mb.load_model(path)


def main(folder: pathlib.Path, count: int) -> None:
    """Load mutants and print what became of them."""
    import mbkit as mb
    from mbkit.plugins import registry

    registry().load()  # the plugins there are, which no file has a say in
    warnings.simplefilter("ignore", mb.ModelFileWarning)
    mutants = [mutant(number) for number in range(count)]
    for originals in ORIGINALS.values():
        for original in originals:
            load(original)  # imports all that it takes
    opened: list[str] = []
    faulthandler.dump_traceback_later(300, exit=True)
    sys.addaudithook(lambda event, arguments: watch(event, arguments, folder, opened))
    outcomes: Counter[str] = Counter()
    wrong, slowest = [], (0.0, "")
    for number, (suffix, kind, data) in enumerate(mutants):
        path = folder / f"mutant{number}.{suffix}"
        path.write_bytes(data)
        started = time.perf_counter()
        try:
            load(path)
        except mb.MbkitError as error:
            message = str(error)
            outcomes[f"{suffix} refused"] += 1
            if not re.search(rf"{re.escape(path.name)}:\d+", message) or len(message) > 100_000:
                wrong.append(f"{number} {kind}: {message[:300]}")
        except BaseException as error:
            wrong.append(f"{number} {kind}: {type(error).__name__}: {str(error)[:300]}")
        else:
            outcomes[f"{suffix} loaded"] += 1
        slowest = max(slowest, (time.perf_counter() - started, f"{number} {kind}"))
        path.unlink()
    seen = list(opened)
    with open(__file__, "rb"):
        pass
    json.dump(
        {
            "outcomes": outcomes,
            "wrong": wrong,
            "slowest": slowest,
            "opened": seen,
            "watched": len(opened) == len(seen) + 1,
        },
        sys.stdout,
    )


WATCHED = ("open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system")


def watch(
    event: str, arguments: tuple[object, ...], folder: pathlib.Path, opened: list[str]
) -> None:
    """Note what is opened outside of the folder, and whatever else leaves the process."""
    if event not in WATCHED:
        return
    name = arguments[0]
    if event == "open" and (isinstance(name, int) or str(name).startswith(f"{folder}/")):
        return
    opened.append(f"{event} {name}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
