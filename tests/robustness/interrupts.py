"""Ctrl-C at random moments: batches, runs, run directories, and the loading of kernels.

    python -m tests.robustness.interrupts --interrupts 100000 --seed 1

Each case is called many times in a process of its own, with one SIGINT or two at a random moment of
the call. After each: the call has raised KeyboardInterrupt, has returned all of the right result,
or, of a run, the part of it that was reached; the handler of SIGINT is the one from before; the
next calls, of which some are undisturbed, give every bit of the first; and in the end the process
ends. A process that hangs prints where its threads are, and has failed.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import numpy as np

import mbkit as mb
from mbkit.lie import SE3
from tests.robustness.interrupted import CASES, Case

#: Time after which a process that has not come to its next interrupt hangs. [s]
PATIENCE = 60.0

#: How often the second of two interrupts follows the first. [s]
SOON = 2e-4

#: Python's own code of `import`. Ctrl-C after it has taken a lock and before the `try` that gives
#: the lock back leaves it held, whoever imports (`cb` of `_get_module_lock`).
IMPORTS = "<frozen importlib._bootstrap>"


def _is_taken_amiss(frame: Any) -> bool:
    """Whether Python itself does not stand Ctrl-C there: in its imports, and in `__set_name__`.

    What `__set_name__` raises while a class is made becomes a RuntimeError (until Python 3.12).
    """
    return frame is not None and (
        frame.f_code.co_filename == IMPORTS or frame.f_code.co_name == "__set_name__"
    )


class Chance:
    """Sends SIGINT at moments of a call; never outside of it.

    Attributes
    ----------
    sent : int
        How often it was sent during the last call.
    """

    def __init__(self) -> None:
        self.sent = 0
        self._left = 0
        self._pause = SOON
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGALRM, self._alarm)

    def _alarm(self, number: int, frame: Any) -> None:
        if self._left == 0:
            return
        if _is_taken_amiss(frame):
            signal.setitimer(signal.ITIMER_REAL, SOON)
            return
        self._left -= 1
        self.sent += 1
        if self._left:
            signal.setitimer(signal.ITIMER_REAL, self._pause)
        signal.raise_signal(signal.SIGINT)

    def call(self, function: Callable[[], Any], delays: tuple[float, ...]) -> Any:
        """Call a function, and interrupt it once for each delay, counted from the one before.

        Raises
        ------
        KeyboardInterrupt
            If the function has let it through.
        """
        self.sent = 0
        self._pause = max(delays[-1], 1e-6)
        try:
            self._left = len(delays)
            signal.setitimer(signal.ITIMER_REAL, max(delays[0], 1e-6))
            return function()
        finally:
            self._left = 0  # nothing looks at signals before this statement is done


# ----------------------------------------------------------------------------------- looking


def _same(found: Any, expected: Any) -> bool:
    """Whether a result is all of the right one."""
    if not isinstance(expected, mb.Result):
        return np.array_equal(found, expected)
    fields = ("t", "q", "v", "kinetic_energy", "potential_energy")
    return (
        found.completed
        and all(np.array_equal(getattr(found, f), getattr(expected, f)) for f in fields)
        and repr(list(found.events)) == repr(list(expected.events))
    )


def _part(found: Any, expected: Any) -> bool:
    """Whether a result says that it is a part, and is one."""
    if not isinstance(expected, mb.Result) or found.completed or "Interrupted" not in found.message:
        return False
    count = int(np.isin(found.t, expected.t).sum())
    return (
        count >= found.t.size - 1
        and all(  # the last may lie between saved ones
            np.array_equal(getattr(found, f)[:count], getattr(expected, f)[:count])
            for f in ("t", "q", "v")
        )
    )


def _random(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, *name.encode()])


def disturb(name: str, interrupts: int, seed: int) -> Counter[str]:
    """Interrupt one case so many times; return what came of it, by word.

    Raises
    ------
    AssertionError
        If anything else came of it than may.
    """
    case = CASES[name]()
    expected, _ = _undisturbed(case)
    again, usual = _undisturbed(case)
    assert _same(again, expected), "two undisturbed calls differ"
    rng = _random(name, seed)
    chance, outcomes = Chance(), Counter()
    for _ in range(interrupts):
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        delays = (rng.uniform(0.0, 1.2 * usual),)
        if rng.random() < 0.3:
            delays += (rng.uniform(0.0, SOON),)
        case.prepare()
        outcome = _outcome(case, chance, delays, expected)
        outcomes[outcome] += 1
        outcomes["interrupts"] += chance.sent
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "handler was left"
        if outcome in ("raised", "part"):
            rest = case.settle()
            assert rest is None or _same(rest, expected), "what was interrupted does not go on"
        if rng.random() > 0.25:
            continue
        found, took = _undisturbed(case)
        assert _same(found, expected), f"the next call has another result, after {outcome}"
        usual += 0.1 * (took - usual)
    signal.setitimer(signal.ITIMER_REAL, 0.0)  # or it ends the process
    faulthandler.cancel_dump_traceback_later()
    return outcomes


def _undisturbed(case: Case) -> tuple[Any, float]:
    """Return the result of a call, and the time that it took. [s]."""
    case.prepare()
    began = time.perf_counter()
    return case.call(), time.perf_counter() - began


def _outcome(case: Case, chance: Chance, delays: tuple[float, ...], expected: Any) -> str:
    try:
        found = chance.call(case.call, delays)
    except KeyboardInterrupt:
        assert chance.sent, "KeyboardInterrupt out of nothing"
        return "raised"
    if _same(found, expected):
        return "complete" if chance.sent else "too late"
    assert chance.sent, "another result without any interrupt"
    assert _part(found, expected), f"neither all nor a part of the result: {found}"
    return "part"


# ------------------------------------------------------------------------- loading of kernels

#: Calls that load kernels, in a process that has loaded none.
LOADING: tuple[str, ...] = ("batch", "one call", "energies", "constrained", "events")


def disturb_loading(name: str, interrupts: int, seed: int) -> Counter[str]:
    """Interrupt the first call of a process, again and again until it comes to its end."""
    rng = _random(name, seed)
    outcomes: Counter[str] = Counter()
    nx.Graph()  # networkx bears no Ctrl-C while it is imported
    _, expected = _in_fork(name, [])
    while outcomes["interrupts"] < interrupts:
        most = rng.choice([0.02, 0.2, 1.0])
        sent, summary = _in_fork(name, rng.uniform(0.0, most, size=10).tolist())
        assert summary == expected, "interrupts of loading changed the result"
        outcomes["interrupts"] += sent
        outcomes["processes"] += 1
    return outcomes


def _in_fork(name: str, delays: list[float]) -> tuple[int, bytes]:
    """Call a case in a fork of this process; return how many interrupts came, and its result."""
    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                file.write(_interrupted_first_call(name, delays))
                file.flush()
                code = 0
            except BaseException:
                traceback.print_exc()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        assert status == 0, f"a process ended with {os.waitstatus_to_exitcode(status)}"
        file.seek(0)
        return int(file.readline()), file.read()


def _interrupted_first_call(name: str, delays: list[float]) -> bytes:
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    chance, sent = Chance(), 0
    for delay in delays:
        with contextlib.suppress(KeyboardInterrupt):
            chance.call(lambda: CASES[name]().call(), (delay,))
        sent += chance.sent
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "handler was left"
    found = CASES[name]().call()
    arrays = (found.t, found.q, found.v) if isinstance(found, mb.Result) else (found,)
    thread = threading.Thread(target=SE3.exp, args=(np.zeros(6),), daemon=True)
    thread.start()  # which finds no lock that the main thread has left
    thread.join(PATIENCE / 2)
    if thread.is_alive():
        faulthandler.dump_traceback(all_threads=True)
    assert not thread.is_alive(), "another thread cannot load kernels any more"
    return b"\n".join([str(sent).encode(), *(each.tobytes() for each in arrays)])


# -------------------------------------------------------------------------------- processes


def in_a_process(
    names: Iterable[str], interrupts: int, seed: int, *, loading: bool = False
) -> Counter[str]:
    """Interrupt cases in a process of their own, which must end in time and print no errors.

    Parameters
    ----------
    names : iterable of str
        Of `CASES`.
    interrupts : int
        How many chances, for each of them.
    seed : int
        Of the moments.
    loading : bool
        Whether it is the loading of their kernels that is interrupted.

    Returns
    -------
    Counter
        What came of the interrupts, by word.
    """
    what = ",".join(names)
    done = subprocess.run(
        [sys.executable, "-m", "tests.robustness.interrupts", "--cases", what]
        + ["--interrupts", str(interrupts), "--seed", str(seed)] + ["--loading"] * loading,
        capture_output=True, text=True, timeout=3600.0, check=False,
    )  # fmt: skip
    odd = any(line.split(":")[0].endswith("Error") for line in done.stderr.splitlines())
    if done.returncode or odd:
        raise AssertionError(f"'{what}', seed {seed}, ended with {done.returncode}:\n{done.stderr}")
    words = (line.split(" ", 1) for line in done.stdout.splitlines())
    return Counter({word: int(count) for count, word in words})


def disturb_all(seed: int, enough: Callable[[int], bool]) -> int:
    """Interrupt everything, until so many interrupts are enough; return what has failed."""
    failed, total = 0, Counter()
    for turn in itertools.count(seed):
        for name, loading in [*((n, False) for n in CASES), *((n, True) for n in LOADING)]:
            try:
                outcomes = in_a_process([name], 20 if loading else 3000, turn, loading=loading)
                print(f"{name}, seed {turn}: {dict(outcomes)}", flush=True)
                total += outcomes
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(error, flush=True)
            if enough(total["interrupts"]):
                print(
                    f"interrupts of calls, seeds {seed} to {turn}: {dict(total)}; {failed} failed"
                )
                return failed
    return failed


def main(seconds: float, seed: int) -> int:
    """Interrupt everything for about so many seconds; return how many processes have failed."""
    ends = time.monotonic() + seconds
    return disturb_all(seed, lambda _: time.monotonic() > ends)


def _command_line() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interrupts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", help="in this process")
    parser.add_argument("--loading", action="store_true", help="of their kernels")
    args = parser.parse_args()
    if args.cases is None:
        sys.exit(disturb_all(args.seed, lambda count: count >= args.interrupts) > 0)
    total: Counter[str] = Counter()
    for name in args.cases.split(","):
        total += (disturb_loading if args.loading else disturb)(name, args.interrupts, args.seed)
    for word, count in total.items():
        print(count, word)


if __name__ == "__main__":
    _command_line()
