"""Timing of several functions side by side."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

#: Whether everything is run in the least size: whether it works, not how fast it is.
SMALL = bool(os.environ.get("MBKIT_BENCHMARKS_SMALL"))


def sized(usual: Any, small: Any) -> Any:
    """Return the usual size of something, or that of the smallest measurement."""
    return small if SMALL else usual


#: Rounds, and seconds that one function runs in one round.
ROUNDS = 40
SECONDS = 5e-3


@attrs.frozen
class Timings:
    """Seconds by call of each function, one entry a round."""

    rounds: Mapping[str, Any]

    def best(self, name: str) -> float:
        """Return the shortest time of a call. [s]."""
        return float(self.rounds[name].min())

    def median(self, name: str) -> float:
        """Return the median time of a call. [s]."""
        return float(np.median(self.rounds[name]))

    def ratio(self, name: str, other: str) -> float:
        """Return the median over the rounds of one function's time by another's.

        The two were measured within milliseconds, so that whatever slows the machine down for
        longer slows both down.
        """
        return float(np.median(self.rounds[name] / self.rounds[other]))


def interleaved(
    functions: Mapping[str, Callable[[], Any]],
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
    pause: float = 0.0,
) -> Timings:
    """Measure functions in turn, round by round, each in a loop that lasts about `seconds`.

    Parameters
    ----------
    functions : mapping of str to callable
        What is measured; called once before.
    rounds : int
        How often each is measured.
    seconds : float
        How long a loop lasts; a function that takes longer is called once. [s]
    pause : float
        Before each loop, for what the one before may have left running: threads of OpenMP keep
        turning for milliseconds. [s]

    Returns
    -------
    Timings
        Seconds by call.
    """
    rounds = sized(rounds, 1)
    counts = {}
    for name, function in functions.items():
        function()
        counts[name] = max(1, int(sized(seconds, 0.0) / _loop(function, sized(3, 1))))
    found: dict[str, list[float]] = {name: [] for name in functions}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, function in functions.items():
                if pause:
                    time.sleep(pause)
                    function()
                found[name].append(_loop(function, counts[name]))
    finally:
        gc.enable()
    return Timings({name: np.array(times) for name, times in found.items()})


def _loop(function: Callable[[], Any], count: int) -> float:
    repetitions = range(count)
    start = time.perf_counter()
    for _ in repetitions:
        function()
    return (time.perf_counter() - start) / count
