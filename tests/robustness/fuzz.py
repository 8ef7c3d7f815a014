"""Everything public with odd arguments, faulty callbacks and damaged files, for some time.

    python -m tests.robustness.fuzz --seconds 60 --seed 1

Child processes make the calls. A crash, a call that does not end, and an exception that is not
mbkit's are reported with what makes them again: ``python -m tests.robustness.fuzz --case SEED
NUMBER``. A part of the time is for `damaged_files`. How far it is, is said twice a minute.
"""

from __future__ import annotations

import argparse
import faulthandler
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

from tests.robustness.progress import Progress, say

__all__ = ["fuzz", "main"]

#: How long one call may compute: kernels may have to be compiled in it. [s]
PATIENCE = 120.0

#: How long it may take, on a machine that has other work as well. [s]
DEADLINE = 900.0

#: Memory of a child; more is refused by the system. [bytes]
MEMORY = 12 << 30

#: How many calls of a child are of callbacks: one in so many.
CALLBACKS = 8

#: The part of the time that is for damaged files.
FILES = 0.2

#: Calls of one child; then another one goes on.
GENERATION = 50_000


class Findings:
    """What children wrote down, line by line: what was called, and what broke the law."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.number = -1  # of the last call
        self.call = "before the first call"
        self.found: dict[str, str] = {}  # by kind
        self.progress = Progress("calls")

    def read(self, log: Any) -> bool:
        """Take in what is new in a log; return whether something was."""
        grown = False
        while True:
            start, line = log.tell(), log.readline()
            if not line.endswith("\n"):  # not written to its end
                log.seek(start)
                return grown
            grown, said = True, json.loads(line)
            self.number, self.call = said["number"], said["call"]
            if "fault" in said:
                self.add(said["kind"], said["fault"])
            self.progress.tell(self.number + 1, len(self.found))

    def add(self, kind: str, fault: str) -> None:
        """Note what broke the law, and say it where it is the first of its kind."""
        if kind not in self.found:
            self.found[kind] = f"--case {self.seed} {self.number}: {self.call}\n{fault}"
            say(f"\n{self.found[kind]}\n")


def fuzz(seconds: float, seed: int, most: int = 10**9) -> list[str]:
    """Let children make `most` calls, or as many as fit; return what broke the law, by kind."""
    until = time.monotonic() + seconds
    findings = Findings(seed)
    while time.monotonic() < until and findings.number + 1 < most:
        first = findings.number + 1
        error = _watched(findings, until, min(most, first + GENERATION))
        if error:
            findings.add(f"{error} {findings.number}", error)
        if findings.number < first:
            break
    findings.progress.close(findings.number + 1, len(findings.found))
    return list(findings.found.values())


def _watched(findings: Findings, until: float, most: int) -> str:
    """Run a child until the time is over or it ends; return how it ended if not by itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.touch()
        command = [sys.executable, "-m", "tests.robustness.fuzz", "--child", str(path)]
        command += ["--seconds", str(until - time.monotonic()), "--most", str(most)]
        command += ["--case", str(findings.seed), str(findings.number + 1)]
        with path.open() as log, path.with_suffix(".errors").open("w+") as errors:
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
            since, spent = time.monotonic(), 0.0
            while child.poll() is None:
                time.sleep(0.05)
                if findings.read(log):
                    since, spent = time.monotonic(), _computed(child.pid)
                elif _computed(child.pid) - spent > PATIENCE or time.monotonic() - since > DEADLINE:
                    child.kill()
                    child.wait()
                    return "hangs"
            findings.read(log)
            if child.returncode == 0:
                return ""
            errors.seek(0)
            return f"ended with {child.returncode}: {errors.read()[-3000:]}"


def _computed(process: int) -> float:
    """Return how long a process has computed, all its threads together, in s."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
        say(text)
        say(outcome(call, expected))
        return 0
    return _everything(given.seconds, given.seed)


def _everything(seconds: float, seed: int) -> int:
    """Call everything and damage files, in some seconds together; sum up, return 1 for faults."""
    from tests.robustness import damaged_files  # children need not load it

    until = time.monotonic() + seconds
    faults = len(fuzz((1.0 - FILES) * seconds, seed))
    files = damaged_files.main(max(1.0, until - time.monotonic()), seed)
    say(f"\n{faults} kinds of faults in calls, {files} faults with damaged files, seed {seed}")
    return 1 if faults or files else 0


if __name__ == "__main__":
    sys.exit(main())
