"""Everything public with odd arguments and faulty callbacks, in child processes, for some time.

    python -m tests.robustness.fuzz --seconds 60 --seed 1

A crash, a call that does not end, and an exception that is not mbkit's are reported with what makes
them again: ``python -m tests.robustness.fuzz --case SEED NUMBER``.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["fuzz", "main"]

#: How long one call may take: kernels may have to be compiled in it. [s]
PATIENCE = 120.0

#: Memory of a child; more is refused by the system. [bytes]
MEMORY = 12 << 30

#: How many calls of a child are of callbacks: one in so many.
CALLBACKS = 8


def fuzz(seconds: float, seed: int, most: int = 10**9) -> list[str]:
    """Let children make `most` calls, or as many as fit; return what broke the law, by kind."""
    found: dict[str, str] = {}
    until = time.monotonic() + seconds
    number = made = 0
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        while time.monotonic() < until and number < most:
            log.write_text("")
            error = _watched(log, until, seed, (number, most))
            lines = [json.loads(line) for line in log.read_text().splitlines() if line[-1:] == "}"]
            for line in lines:
                if "fault" in line:
                    text = f"--case {seed} {line['number']}: {line['call']}\n{line['fault']}"
                    found.setdefault(line["kind"], text)
            last = lines[-1] if lines else {"number": number - 1, "call": "before the first call"}
            made += last["number"] - number + 1
            if error:
                found[f"{error} {last['number']}"] = (
                    f"--case {seed} {last['number']}: {error}\n{last['call']}"
                )
            number = last["number"] + 1
            if not lines:
                break
    _say(f"{made} calls, {len(found)} kinds of faults")
    return list(found.values())


def _watched(log: Path, until: float, seed: int, numbers: tuple[int, int]) -> str:
    """Run a child until the time is over or it ends; return how it ended if not by itself."""
    command = [sys.executable, "-m", "tests.robustness.fuzz", "--child", str(log)]
    command += ["--seconds", str(until - time.monotonic()), "--case", str(seed), str(numbers[0])]
    command += ["--most", str(numbers[1])]
    with log.with_suffix(".errors").open("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        size, since = -1, time.monotonic()
        while child.poll() is None:
            time.sleep(0.05)
            grown = log.stat().st_size
            if grown != size:
                size, since = grown, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                child.kill()
                child.wait()
                return "hangs"
        if child.returncode == 0:
            return ""
        errors.seek(0)
        return f"ended with {child.returncode}: {errors.read()[-3000:]}"


def _call(seed: int, number: int) -> Any:
    """Return a call of the kit by its number."""
    from tests.robustness import callbacks, calls

    rng = np.random.default_rng([seed, number])
    source = callbacks if rng.integers(CALLBACKS) == 0 else calls
    return source.calls(rng)


def _child(log: Path, seconds: float, seed: int, number: int, most: int) -> None:
    """Call, and write each call down before it is made."""
    from tests.robustness.calls import Broken, outcome

    until = time.monotonic() + seconds
    with log.open("a", buffering=1) as file:
        while time.monotonic() < until and number < most:
            text, call, expected = _call(seed, number)
            line = {"number": number, "call": text[:600]}
            file.write(json.dumps(line) + "\n")
            try:
                outcome(call, expected)
            except Broken as error:
                line |= {"fault": str(error), "kind": _kind(str(error), text)}
                file.write(json.dumps(line) + "\n")
            number += 1


def _kind(fault: str, text: str) -> str:
    """Return what faults of one cause have in common: the exception, and where it came from."""
    places = [line.strip() for line in fault.splitlines() if "mbkit/" in line and "line" in line]
    where = places[-1] if places else text.split("(", maxsplit=1)[0]
    return f"{fault.split(':', maxsplit=1)[0]} {where}"


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; return 1 where something broke the law."""
    parser = argparse.ArgumentParser(description=__doc__, prog="tests.robustness.fuzz")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, nargs=2, metavar=("SEED", "NUMBER"))
    parser.add_argument("--most", type=int, default=10**9, help=argparse.SUPPRESS)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child or given.case:
        warnings.simplefilter("ignore")
        faulthandler.enable()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if given.child:
        _child(given.child, given.seconds, *given.case, given.most)
        sys.stdout.flush()
        os._exit(0)  # threads of a batch that was refused need not end
    if given.case:
        from tests.robustness.calls import outcome

        text, call, expected = _call(*given.case)
        _say(text)
        _say(outcome(call, expected))
        return 0
    faults = fuzz(given.seconds, given.seed)
    for fault in faults:
        _say(f"\n{fault}")
    return 1 if faults or _files(given.seconds, given.seed) else 0


def _files(seconds: float, seed: int) -> int:
    """Damage files as well, where that part of the kit is there."""
    name = "tests.robustness.damaged_files"
    if importlib.util.find_spec(name) is None:
        return 0
    return int(importlib.import_module(name).main(seconds, seed) or 0)


if __name__ == "__main__":
    sys.exit(main())
