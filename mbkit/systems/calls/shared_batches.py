"""Batches that several threads compute: the memory they share, and threads that wait for batches.

A thread takes part without the lock of the interpreter, which it would have to wait for. It waits
for the next batch by looking at a word of memory for some tenths of a millisecond, and then sleeps:
to wake a thread takes as long as some hundred samples of a small robot. Nobody waits for a thread
that comes late; what it would have done is done by then.
"""

from __future__ import annotations

import _thread
import os
import time
from queue import SimpleQueue
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mbkit.kernels.calls.batches import BATCH, NUMBER, SEAT
from mbkit.kernels.compile import UNCOMPILED, array_address

__all__ = ["SharedBatch", "WaitingThread", "waiting_threads"]

#: How often a thread looks for the next batch before it sleeps: some tenths of a millisecond.
PATIENCE = 300_000

#: How often the caller looks whether others have finished their chunks before it sleeps itself.
LOOKS = 30_000

#: How long it sleeps then. [s]
NAP = 5e-5

#: A line of the cache, in integers.
_LINE = 8

#: The place of this field among the integers of a BATCH, after those that stay as they are.
_LIMIT = BATCH.fields["limit"][1] // 8  # type: ignore[index]


class SharedBatch:
    """The memory of a batch: what is computed, and a seat for each thread that takes part.

    It is used for one batch after the other, and never freed: a thread that comes late looks at it,
    and finds a batch of another number.

    Attributes
    ----------
    number : int
        Of the batch that is computed, or comes next.
    seats : list of ndarrays of SEAT, shape (1,)
        The first belongs to the caller, the others to waiting threads by their numbers.
    """

    def __init__(self) -> None:
        self.number = 1
        self._record = np.zeros(1, dtype=BATCH)
        self._words = self._record.view(np.int64)
        # in lines of the cache of their own
        counters = np.zeros(2 * _LINE + 1, dtype=np.int64)
        self._next, self._finished = counters[:1], counters[2 * _LINE :]
        record: Any = self._record[0]
        record["next"] = array_address(self._next)
        record["finished"] = array_address(self._finished)
        self._address = array_address(self._record)
        self.seats: list[Any] = []
        self._addresses: list[int] = []
        _every.append(self)

    @staticmethod
    def take() -> SharedBatch:
        """Return memory that no batch uses."""
        try:
            return _unused.pop()
        except IndexError:
            return SharedBatch()

    def begin(self, numbers: tuple[int, ...], vectors: tuple[Any, ...], out: Any) -> None:
        """Write what is computed: the fields of BATCH from `limit` to `option_in_lanes`, arrays."""
        self._words[_LIMIT:] = (
            *numbers,
            *[int(len(rows) > 1) for rows in vectors],
            *[array_address(rows) for rows in vectors],
            *[len(rows) for rows in vectors],
            *[rows.shape[1] for rows in vectors],
            array_address(out),
            out.shape[1],
        )
        self._finished[0] = 0
        self._next[0] = self.number * NUMBER

    def sit(self, k: int, space: int, in_lanes: tuple[int, ...]) -> int:
        """Prepare a seat and return its address; `in_lanes` are the fields behind `status`.

        The caller draws one chunk at a time: between two of them Ctrl-C is heard.
        """
        while k >= len(self.seats):
            self.seats.append(np.zeros(1, dtype=SEAT))
            self._addresses.append(array_address(self.seats[-1]))
        words = self.seats[k].view(np.int64)
        most = 1 if k == 0 else NUMBER
        words[: 5 + len(in_lanes)] = self._address, most, space, -1, 0, *in_lanes
        return self._addresses[k]

    def stop(self) -> None:
        """Let all threads stop at their next sample."""
        self._words[_LIMIT] = -1

    def end(self) -> None:
        """Wait until all threads have finished the chunks that they have drawn."""
        from mbkit.kernels.calls.waiting_threads import has_ended

        while not has_ended(self._address, self.number, LOOKS):
            time.sleep(NAP)

    def abandon(self) -> None:
        """Stop all threads and wait for them, whatever comes meanwhile: another Ctrl-C, say."""
        while True:
            try:  # not contextlib.suppress: what it calls can be interrupted itself
                self.stop()
                self.end()
            except BaseException:  # noqa: S112
                continue
            return

    def give_back(self) -> None:
        """Leave the memory to another batch, when this one has ended."""
        self.number += 1
        _unused.append(self)


@attrs.frozen(eq=False)
class WaitingThread:
    """A thread that takes part in batches.

    Attributes
    ----------
    post : ndarray of POST, shape (1,)
        What is handed over to it.
    state : ndarray of int64, shape (1,)
        Whether it is asleep, waits or is busy.
    calls : SimpleQueue
        Where it sleeps.
    """

    post: NDArray[Any]
    state: NDArray[np.int64]
    calls: SimpleQueue[None]
    address: int

    @classmethod
    def start(cls) -> WaitingThread:
        """Start a thread. Not one of `threading`: those are started and waited for by locks."""
        from mbkit.kernels.calls.waiting_threads import ASLEEP, POST

        post, state = np.zeros(1, dtype=POST), np.full(1, ASLEEP)
        post["state"] = array_address(state)
        made = cls(post, state, SimpleQueue(), array_address(post))
        _thread.start_new_thread(made._run, ())
        return made

    def _run(self) -> None:
        from mbkit.kernels.calls.waiting_threads import wait_for_batches

        while True:
            self.calls.get()
            wait_for_batches(self.address, PATIENCE)

    def hand_over(self, function: int, seat: int, number: int) -> None:
        """Let the thread take part in the batch with this number, unless it is busy."""
        from mbkit.kernels.calls.waiting_threads import WAITING, hand_over

        before = hand_over(self.address, function, seat, number)
        # one that is busy may sleep, if Ctrl-C came between these two lines
        if before != WAITING and self.calls.empty():
            self.calls.put(None)


_every: list[SharedBatch] = []
_unused: list[SharedBatch] = []
_threads: list[WaitingThread] = []


def _forget() -> None:
    _every.clear()
    _unused.clear()
    _threads.clear()


# Threads do not survive a fork.
os.register_at_fork(after_in_child=_forget)


def waiting_threads(count: int) -> list[WaitingThread]:
    """Return so many threads that wait for batches, or as many as the system lets there be."""
    try:
        while not UNCOMPILED and len(_threads) < count:
            _threads.append(WaitingThread.start())
    except RuntimeError:
        pass
    return _threads[: max(count, 0)]
