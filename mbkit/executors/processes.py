"""Tasks in processes of this machine."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, final

import attrs

from mbkit.executors.executor import Executor, Outcome, check_workers, number_of_workers
from mbkit.executors.worker_process import Helper, packed

__all__ = ["ProcessesExecutor"]


@final
@attrs.frozen
class ProcessesExecutor(Executor):
    """Tasks in several processes of this machine, each with one task at a time.

    A process that ends is replaced, and its task alone is affected: it is tried again, twice, where
    others have killed the process, and fails where it has ended it itself, or exceeds the limit.

    Attributes
    ----------
    workers : int, optional
        Number of processes; that of the processors if left out.
    """

    ends_tasks: ClassVar[bool] = True
    workers: int | None = attrs.field(default=None, validator=check_workers)

    def run(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        *,
        time_limit: float | None = None,
    ) -> Iterator[Outcome]:
        """Call a function for each of the tasks; see `Executor.run`."""
        sent, todo = packed(function), iter(enumerate(tasks))
        done: queue.Queue[Outcome | BaseException] = queue.Queue()
        lock, stopped = threading.Lock(), threading.Event()

        def work(helper: Helper) -> None:
            """Take tasks as long as there are any; a process belongs to one thread."""
            try:
                while not stopped.is_set():
                    with lock:
                        index, task = next(todo, (-1, None))
                    if index < 0:
                        return
                    done.put(Outcome(index, *helper.call(packed(task), time_limit)))
            except BaseException as error:
                done.put(error)
            finally:
                helper.close()

        count = min(number_of_workers(self.workers), len(tasks))
        helpers = [Helper(sent, sys.path) for _ in range(count)]
        threads = [threading.Thread(target=work, args=(each,), daemon=True) for each in helpers]
        for thread in threads:
            thread.start()
        try:
            for _ in tasks:
                outcome = done.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                yield outcome
        finally:
            stopped.set()
            for helper in helpers:
                helper.stop()
            for thread in threads:
                thread.join()
