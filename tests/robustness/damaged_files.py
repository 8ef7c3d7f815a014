"""Damaged files: each is read with exactly its numbers, or refused by an error of mbkit.

    python -m tests.robustness.damaged_files --seconds 60 --seed 1

`main` does that in child processes, which may take 500 MiB more than they begin with: a crash, a
hang, a foreign exception and an altered number are counted and printed with their case, which
``--case SEED NUMBER`` makes again. `fuzz` of `tests.robustness.fuzz` calls ``main(seconds, seed)``.

What is damaged: result files, as they are and without their checksum (then other numbers are told
of by a warning); run directories of a run that was killed and of one that was stopped, which are
loaded and resumed; studies; model files in TOML and URDF, by `tests.io.mutations`.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from tests.io import mutations
from tests.results.conftest import make_result
from tests.robustness.damages import BYTES, FOLDERS, files_of
from tests.robustness.progress import Progress, say
from tests.simulation.long_runs import ball_and_hinge, simulate
from tests.studies.conftest import MODEL, STUDY

ROOT = pathlib.Path(__file__).parents[2]

#: Seconds for one case; reading a file takes some ms, resuming a run some hundred.
PATIENCE = 180.0

#: What a child may take beside what it has when it begins. [bytes]
MEMORY = 500 << 20

#: Cases of one child, for less than a minute; then another one goes on.
GENERATION = 1000

Random = random.Random


class Broken(Exception):
    """The law is broken: what is in the message."""


# ------------------------------------------------------------------------------- what is damaged


@attrs.frozen
class Originals:
    """Sound files, and what they say."""

    folder: pathlib.Path
    result: mb.Result
    whole: mb.Result  # of the runs that are not at their end

    @classmethod
    def make(cls, folder: pathlib.Path) -> Originals:
        """Write them."""
        from mbkit.simulation.long_runs import recording

        log = mb.EventLog(
            t=[0.1], names=("floor",), q=np.ones((1, 4)), v=np.zeros((1, 3)),
            q_after=np.ones((1, 4)), v_after=np.ones((1, 3)),
        )  # fmt: skip
        result = make_result(
            events=log, constraint_names=("a", "b"), multipliers=np.arange(10.0).reshape(5, 2),
            residuals=np.full((5, 3), 1e-9),
        )  # fmt: skip
        result.save(folder / "result.nc")
        system = ball_and_hinge().assemble()
        recording.PART_SIZE = 0  # sixteen rows a part
        whole = simulate(system, folder / "whole", events=(EVENT,))
        for name, end, options in (
            ("stopped", 0.7, {}), ("killed", 0.7, {}), ("other", 0.5, {"v": np.ones(4)}),
        ):  # fmt: skip
            Trouble.at = end
            simulate(system, folder / name, events=(EVENT,), **options)
            Trouble.at = np.inf
        (folder / "killed/result.nc").unlink()
        (folder / "arm.toml").write_text(MODEL)
        (folder / "swing.toml").write_text(STUDY)
        return cls(folder, result, whole)


class Trouble:
    """When a run is stopped."""

    at = np.inf


def passing(t, q, v):
    """Go through zero where the first angle is 0.5; end the run at some time by Ctrl-C."""
    if t > Trouble.at:
        raise KeyboardInterrupt
    return q[0] - 0.5


EVENT = mb.Event("passing", passing)


def assert_same(one: mb.Result, other: mb.Result) -> None:
    """Compare all that two results say, number by number."""
    for field in attrs.fields(mb.Result):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if field.name == "events":
            same = first.names == second.names and all(
                np.array_equal(getattr(first, name), getattr(second, name), equal_nan=True)
                for name in ("t", "q", "v", "q_after", "v_after")
            )
        elif isinstance(first, np.ndarray):
            same = np.array_equal(first, second, equal_nan=True)
        else:
            same = first == second
        if not same:
            raise Broken(f"{field.name} is {first!r:.300}, and was {second!r:.300}")


def assert_begins(part: mb.Result, whole: mb.Result) -> None:
    """Compare the rows that a result has with those of the whole run."""
    count = part.t.size
    for name in ("t", "q", "v", "kinetic_energy", "potential_energy"):
        if not np.array_equal(getattr(part, name), getattr(whole, name)[:count]):
            raise Broken(f"{name} is not that of the run")
    if (part.position_names, part.model) != (whole.position_names, whole.model):
        raise Broken("names or model are not those of the run")


# ------------------------------------------------------------------------------- cases


def damaged_result(originals: Originals, place: pathlib.Path, rng: Random) -> str:
    data = (originals.folder / "result.nc").read_bytes()
    path = place / "run.nc"
    path.write_bytes(rng.choice(BYTES)(data, rng))
    assert_same(mb.load_result(path), originals.result)
    return "result"


def damaged_content(originals: Originals, place: pathlib.Path, rng: Random) -> str:
    """Damage a file and give it the checksum of what it has: HDF5 itself sees the damage."""
    from mbkit.io.results.checksum import LINE_SIZE, checksum_line

    data = (originals.folder / "result.nc").read_bytes()[:-LINE_SIZE]
    path = place / "run.nc"
    changed = rng.choice(BYTES)(data, rng)
    path.write_bytes(changed + checksum_line(changed))
    mb.load_result(path)
    return "content"


def damaged_run(originals: Originals, place: pathlib.Path, rng: Random) -> str:
    name = rng.choice(("killed", "killed", "stopped"))
    folder = place / name
    shutil.copytree(originals.folder / name, folder)
    rng.choice(FOLDERS)(folder, originals.folder / "other", rng)
    before = {each.name: each.is_file() and each.read_bytes() for each in files_of(folder)}
    refused = None
    try:
        assert_begins(mb.load_result(folder), originals.whole)
    except mb.MbkitError as error:
        refused = error
    if refused or rng.random() < 0.3:
        try:
            assert_same(mb.resume(folder, events=(EVENT,), progress=False), originals.whole)
        except mb.MbkitError as error:
            after = {each.name: each.is_file() and each.read_bytes() for each in files_of(folder)}
            if before != after:
                raise Broken(f"a refused resume changed files: {error}") from error
            raise
    if refused:
        raise refused
    return name


def damaged_study(originals: Originals, place: pathlib.Path, rng: Random) -> str:
    for name in ("arm.toml", "swing.toml"):
        shutil.copy(originals.folder / name, place / name)
    file = place / rng.choice(("arm.toml", "swing.toml"))
    kinds = [each for each in mutations.MUTATIONS if each is not mutations.doctype]
    with contextlib.suppress(IndexError):  # nothing of that kind is in the file
        file.write_bytes(rng.choice((*kinds, *BYTES))(file.read_bytes(), rng))
    mb.load_study(place / "swing.toml")
    return "study"


def damaged_model(originals: Originals, place: pathlib.Path, rng: Random) -> str:
    suffix, _, data = mutations.mutant(rng.randrange(10**9))
    path = place / f"model.{suffix}"
    path.write_bytes(data)
    mutations.load(path)
    return suffix


CASES = (damaged_result, damaged_content, damaged_run, damaged_study, damaged_model)


def damage(originals: Originals, seed: int, number: int) -> str:
    """Make the case of a number and read it; return its kind and whether it was refused.

    Raises
    ------
    Broken
        If it was read with other numbers, or another exception than mbkit's came out.
    """
    rng = random.Random(f"{seed} {number}")  # noqa: S311 - not for secrets
    case = CASES[number % len(CASES)]
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", mb.ResultFileWarning)
        try:
            return f"{case(originals, pathlib.Path(name), rng)}: as it was"
        except (mb.MbkitError, mb.ResultFileWarning) as error:
            if len(str(error)) > 100_000:
                raise Broken(f"a message of {len(str(error))} characters") from error
            return f"{case.__name__}: refused"
        except Broken:
            raise
        except BaseException as error:
            raise Broken("".join(traceback.format_exception(error)[-8:])) from error


# ------------------------------------------------------------------------------- processes


def child(log: pathlib.Path, seed: int, number: int, until: float, last: int) -> None:
    """Make cases one after the other; what becomes of each is a line of the log."""
    from mbkit.plugins import registry

    registry().load()
    with tempfile.TemporaryDirectory() as name, log.open("a", buffering=1) as file:
        originals = Originals.make(pathlib.Path(name))
        damage(originals, seed, 2)  # imports what it takes
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        while number < last and time.time() < until:
            file.write(json.dumps({"number": number}) + "\n")
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            try:
                line = {"outcome": damage(originals, seed, number)}
            except Broken as error:
                line = {"fault": str(error)}
            file.write(json.dumps({"number": number} | line) + "\n")
            number += 1
        faulthandler.cancel_dump_traceback_later()


def fuzz(seconds: float, seed: int, count: int = 10**9) -> tuple[Counter[str], list[str]]:
    """Make cases for some seconds, or so many; return what became of them, and the faults."""
    until, number = time.time() + seconds, 0
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    progress = Progress("damaged files")
    while number < count and time.time() < until:
        lines, error = _generation(seed, number, until, min(count, number + GENERATION))
        for line in lines:
            if "fault" in line:
                faults.append(f"--case {seed} {line['number']}: {line['fault']}")
            elif "outcome" in line:
                outcomes[line["outcome"]] += 1
        if not lines:  # or the time was over when it had begun
            faults += [f"no case was made: {error}"] if error else []
            break
        number = lines[-1]["number"] + 1
        if error:
            faults.append(f"--case {seed} {number - 1}: {error}")
        progress.tell(number, len(faults))
    progress.close(number, len(faults))
    return outcomes, faults


def _generation(
    seed: int, number: int, until: float, last: int
) -> tuple[list[dict[str, Any]], str]:
    """Let a child make cases up to `last`; return the lines of its log, and how it failed."""
    with tempfile.TemporaryDirectory() as name:
        log = pathlib.Path(name) / "log"
        log.touch()
        command = [sys.executable, "-m", "tests.robustness.damaged_files", "--child", str(log),
                   "--case", str(seed), str(number)]  # fmt: skip
        command += ["--until", str(until), str(last)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=ROOT, env=environment
        )
        lines = [json.loads(line) for line in log.read_text().splitlines() if line[-1:] == "}"]
    failed = done.returncode != 0
    return lines, f"ended with {done.returncode}: {done.stderr[-3000:]}" if failed else ""


def main(seconds: float, seed: int) -> int:
    """Damage files for some time, print what broke the law, and return how often that was."""
    outcomes, faults = fuzz(seconds, seed)
    for outcome, number in sorted(outcomes.items()):
        say(f"  {outcome}: {number}")
    for fault in faults:
        say(f"\n{fault}")
    return len(faults)


def _command_line() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, nargs=2, metavar=("SEED", "NUMBER"))
    parser.add_argument("--child", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, *given.case, given.until[0], int(given.until[1]))
        return 0
    if given.case:
        with tempfile.TemporaryDirectory() as name:
            said = damage(Originals.make(pathlib.Path(name)), *given.case)
        say(said)
        return 0
    return 1 if main(given.seconds, given.seed) else 0


if __name__ == "__main__":
    sys.exit(_command_line())
