"""Threads that take the runs of ensembles, one for each core.

Ctrl-C may come between any two statements of the main thread, also inside the functions of the
standard library that are written in Python: a lock that they hold is not released
then. So work goes to threads through C's queues alone, of which each call is done or is not.
Threads never see Ctrl-C.
"""

from __future__ import annotations

import _thread
import functools
import os
import time
from collections.abc import Callable
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

__all__ = ["cores", "on_cores"]


_tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
_threads: list[int] = []


def _forget_threads() -> None:
    global _tasks
    _tasks = SimpleQueue()
    _threads.clear()


# Threads do not survive a fork.
os.register_at_fork(after_in_child=_forget_threads)


def cores() -> int:
    """Return how many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run_tasks(tasks: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        tasks.get()()


def _start_threads() -> bool:
    """Start a thread for each core, which the end of the process ends; return whether any is there.

    Not those of `threading`: they are started and waited for by locks.
    """
    try:
        while len(_threads) < cores():
            _threads.append(_thread.start_new_thread(_run_tasks, (_tasks,)))
    except RuntimeError:  # as many as the system lets there be
        pass
    return bool(_threads)


def on_cores(task: Callable[[], None], groups: int, limit: NDArray[np.int64]) -> None:
    """Call ``task()`` on a thread for each core, but on no more than the task has groups of runs.

    No thread is left behind: whatever ends the waiting, Ctrl-C included, sets `limit` (1,), up to
    which run is wanted, to -1, and is raised when all have stopped. An exception meanwhile, such
    as another Ctrl-C, is not.
    """
    threads = min(cores(), groups)
    if threads < 2 or not _start_threads():
        task()
        return
    busy: set[int] = set()
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def take(number: int) -> None:
        error = None
        busy.add(number)
        try:
            if limit[0] >= 0:
                task()
        except BaseException as raised:
            error = raised
        finally:
            busy.discard(number)
            ended.put(error)

    try:
        for number in range(threads):
            _tasks.put(functools.partial(take, number))
        errors = [ended.get() for _ in range(threads)]
    except BaseException:
        limit[0] = -1  # a thread that starts after this stops before its first sample
        while busy:
            try:  # not contextlib.suppress: the functions it calls can be interrupted
                time.sleep(1e-4)
            except BaseException:  # noqa: S112
                continue
        raise
    for error in errors:
        if error is not None:
            raise error
