"""Executors that stay in this process."""

from __future__ import annotations

import concurrent.futures
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, final

import attrs

from mbkit.executors.executor import Executor, Outcome, check_workers, number_of_workers

__all__ = ["SerialExecutor", "ThreadsExecutor"]


@final
@attrs.frozen
class SerialExecutor(Executor):
    """One task after the other, in this process."""

    side_by_side: ClassVar[bool] = False

    def run(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        *,
        time_limit: float | None = None,
    ) -> Iterator[Outcome]:
        """Call a function for each of the tasks, in order; see `Executor.run`."""
        for index, task in enumerate(tasks):
            yield Outcome(index, function(task))


@final
@attrs.frozen
class ThreadsExecutor(Executor):
    """Tasks in threads of this process.

    Compiled time loops leave the lock of the interpreter to others; code written in Python, such
    as assembly, outputs, and joints and forces of users, takes turns. Warnings are not shown.

    Attributes
    ----------
    workers : int, optional
        Number of threads; that of the processors if left out.
    """

    workers: int | None = attrs.field(default=None, validator=check_workers)

    def run(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        *,
        time_limit: float | None = None,
    ) -> Iterator[Outcome]:
        """Call a function for each of the tasks; see `Executor.run`."""
        pool = concurrent.futures.ThreadPoolExecutor(number_of_workers(self.workers))
        # Filters of warnings are those of the process, and a task that changes them may leave them
        # to others: none is shown or raised, as in processes of their own.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                futures = {pool.submit(function, task): k for k, task in enumerate(tasks)}
                for future in concurrent.futures.as_completed(futures):
                    yield Outcome(futures[future], future.result())
            finally:
                pool.shutdown(cancel_futures=True)
