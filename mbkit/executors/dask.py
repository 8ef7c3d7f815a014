"""Tasks on a cluster of dask: workers of this machine, or those of any scheduler."""

from __future__ import annotations

import logging
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs

from mbkit.errors import UsageError
from mbkit.executors.executor import Executor, Outcome, check_workers, number_of_workers
from mbkit.executors.worker_process import Helper, packed
from mbkit.extras import extra_package

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["DaskExecutor"]

#: Tasks that are sent together, at most, and how many such batches each worker gets at least: the
#: scheduler takes some milliseconds for each, and the last one may keep the others waiting.
MOST_TOGETHER, BATCHES = 64, 16

#: How often dask tries a batch again that raises, such as where a file cannot be written.
RETRIES = 2

#: Seconds until a scheduler has to answer.
PATIENCE = 20.0


@final
@attrs.frozen
class DaskExecutor(Executor):
    """Tasks on a cluster of dask (extra ``sweep``).

    Each worker of the cluster has a process for the tasks, so that one that ends its process, or
    does not end in time, takes nothing else along; the tasks of a worker that dies go to others.

    Attributes
    ----------
    workers : int, optional
        Number of workers of a local cluster; that of the processors if left out.
    scheduler : str, optional
        Address of a scheduler, such as "tcp://10.0.0.1:8786", instead of a local cluster. Its
        workers need the same packages, and see the directory of the study under the same path.
    """

    ends_tasks: ClassVar[bool] = True
    workers: int | None = attrs.field(default=None, validator=check_workers)
    scheduler: str | None = None

    def __attrs_post_init__(self) -> None:
        if self.scheduler is not None and self.workers is not None:
            raise UsageError("workers are those of the scheduler; leave out one of the two.")

    def run(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        *,
        time_limit: float | None = None,
    ) -> Iterator[Outcome]:
        """Call a function for each of the tasks; see `Executor.run`."""
        distributed = extra_package("distributed", "Executor 'dask' needs dask", "sweep")
        if not tasks:
            return  # without a cluster, which takes seconds to start
        sent = packed(function)
        with ExitStack() as stack:
            client = self._client(stack)
            threads = sum(client.nthreads().values()) or 1
            size = max(1, min(MOST_TOGETHER, math.ceil(len(tasks) / (threads * BATCHES))))
            futures = {}
            for first in range(0, len(tasks), size):
                some = range(first, min(first + size, len(tasks)))
                batch = [packed(tasks[k]) for k in some]
                future = client.submit(
                    _run_batch, sent, sys.path, batch, time_limit, pure=False, retries=RETRIES
                )
                futures[future] = some
            for future in distributed.as_completed(list(futures), loop=client.loop):
                some = futures.pop(future)
                if future.status == "cancelled":
                    raise UsageError(
                        "The scheduler of dask has gone. What was finished is kept: start again."
                    )
                if future.status == "error":
                    fault = future.exception()
                    if isinstance(fault, UsageError):
                        raise fault
                    reason = f"{type(fault).__name__}: {fault}"
                    yield from (Outcome(k, None, reason) for k in some)
                    continue
                for k, (value, reason) in zip(some, future.result(), strict=True):
                    yield Outcome(k, value, reason)

    def _client(self, stack: ExitStack) -> Client:
        """Return a connection to the scheduler, closed with the stack, as are its processes."""
        from distributed import Client, LocalCluster

        if self.scheduler is None:
            cluster = LocalCluster(
                n_workers=number_of_workers(self.workers), threads_per_worker=1,
                dashboard_address=None, host="127.0.0.1", silence_logs=logging.CRITICAL,
                # Its server has any port that is free, and not the one that everybody has.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            )  # fmt: skip
            stack.enter_context(cluster)
            own: Client = stack.enter_context(Client(cluster, set_as_default=False))
            return own
        try:
            client = Client(self.scheduler, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"There is no scheduler of dask at {self.scheduler!r}: {error}; start one by "
                "'dask scheduler', and workers by 'dask worker ADDRESS'."
            ) from error
        stack.enter_context(client)
        stack.callback(client.run, _close_helpers)
        return client


# ---------------------------------------------------------------------------- in a worker

_helpers: dict[int, tuple[bytes, Helper]] = {}  # by thread: the function, and its process


def _run_batch(
    function: bytes, path: list[str], batch: list[bytes], time_limit: float | None
) -> list[tuple[Any, str]]:
    """Return value and reason of each task of a batch."""
    helper = _helper_of(function, path)
    return [helper.call(task, time_limit) for task in batch]


def _helper_of(function: bytes, path: list[str]) -> Helper:
    """Return the process of this thread for a function; one for another function is ended."""
    own = threading.get_ident()
    there, helper = _helpers.get(own, (b"", None))
    if helper is None or there != function:
        if helper is not None:
            helper.close()
        helper = Helper(function, list(dict.fromkeys([*sys.path, *path])))
        _helpers[own] = function, helper
    return helper


def _close_helpers() -> None:
    for _, helper in _helpers.values():
        helper.close()
    _helpers.clear()
