"""Threads that take part in batches, and wait for the next one.

A thread takes part without the lock of the interpreter, which it would have to wait for. It waits
for the next batch by looking at a word of memory for about a millisecond, and then sleeps:
to wake a thread takes as long as some hundred samples of a small robot. Nobody waits for a thread
that comes late; others have done its work by then.
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

from mbkit.kernels.calls.spin_waits import (
    ASLEEP,
    POST,
    WAITING,
    hand_over,
    has_ended,
    wait_for_batches,
)
from mbkit.kernels.compile import UNCOMPILED, array_address
from mbkit.systems.calls.shared_batches import SharedBatch

__all__ = ["WaitingThread", "abandon", "end", "waiting_threads"]

#: How often a thread looks for the next batch before it sleeps. A look takes a cycle or two: half a
#: millisecond and more, for longer than others take for a chunk, after which the next batch comes.
PATIENCE = 2_000_000

#: How often the caller looks whether others have finished their chunks before it sleeps itself.
LOOKS = PATIENCE

#: How long it sleeps then; the operating system makes it twice as long, or more. [s]
NAP = 5e-5


@attrs.frozen(eq=False)
class WaitingThread:
    """A thread that takes part in batches.

    Attributes
    ----------
    post : ndarray of POST, shape (1,)
        The work that is handed over to it.
    state : ndarray of int64, shape (1,)
        Whether it is asleep, waits or is busy.
    calls : SimpleQueue
        Where it sleeps.
    address : int
        Of the post.
    """

    post: NDArray[Any]
    state: NDArray[np.int64]
    calls: SimpleQueue[None]
    address: int

    @classmethod
    def start(cls) -> WaitingThread:
        """Start a thread. Not one of `threading`: those are started and waited for by locks."""
        post, state = np.zeros(1, dtype=POST), np.full(1, ASLEEP)
        post["state"] = array_address(state)
        made = cls(post, state, SimpleQueue(), array_address(post))
        _thread.start_new_thread(made._run, ())
        return made

    def _run(self) -> None:
        while True:
            self.calls.get()
            wait_for_batches(self.address, PATIENCE)

    def hand_over(self, function: int, seat: int, number: int) -> None:
        """Let the thread take part in the batch with this number, unless it is busy."""
        before = hand_over(self.address, function, seat, number)
        # one that is busy may sleep, if Ctrl-C came between these two lines
        if before != WAITING and self.calls.empty():
            self.calls.put(None)


_threads: list[WaitingThread] = []

# They do not survive a fork.
os.register_at_fork(after_in_child=_threads.clear)


def waiting_threads(count: int) -> list[WaitingThread]:
    """Return so many threads that wait for batches, or as many as the system lets there be."""
    try:
        while not UNCOMPILED and len(_threads) < count:
            _threads.append(WaitingThread.start())
    except RuntimeError:
        pass
    return _threads[: max(count, 0)]


def end(shared: SharedBatch) -> None:
    """Wait until all threads have finished the chunks of a batch that they have drawn."""
    while not has_ended(shared.address, shared.number, LOOKS):
        time.sleep(NAP)


def abandon(shared: SharedBatch) -> None:
    """Stop all threads and wait for them, even if another Ctrl-C comes meanwhile."""
    while True:
        try:  # not contextlib.suppress: the functions it calls can be interrupted
            shared.stop()
            end(shared)
        except BaseException:  # noqa: S112
            continue
        return
