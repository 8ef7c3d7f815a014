"""Threads that take part in batches without the lock of the interpreter, and wait for the next one.

A thread looks at a word of memory for the next batch, and falls asleep after so many looks.
"""

import numpy as np

from mbkit.kernels.calls.atomics import read, replace, write
from mbkit.kernels.calls.chunks import BATCH, NUMBER
from mbkit.kernels.compile import call_address, int64, kernel, records_at

#: A thread that waits for batches.
POST = np.dtype(
    [
        ("state", np.int64),  # address of an integer, one of these:
        ("function", np.int64),  # what is called for its seat and the number of the batch
        ("seat", np.int64),
        ("number", np.int64),
    ]
)

ASLEEP, WAITING, BUSY = range(3)


@kernel(int64(int64, int64), nogil=True)
def wait_for_batches(address, patience):
    """Take part in each batch that is handed over, until none was for so many looks."""
    post = records_at(address, 1, POST)[0]
    replace(post.state, ASLEEP, WAITING)
    while True:
        looks = 0
        while looks < patience:
            looks += 1
            if read(post.state) == BUSY:
                call_address(post.function, (post.seat, post.number))
                write(post.state, WAITING)
                looks = 0
        if replace(post.state, WAITING, ASLEEP):
            return 0


@kernel(int64(int64, int64, int64, int64))
def hand_over(address, function, seat, number):
    """Let a thread take part in a batch; return its state before.

    One that was ASLEEP has to be woken then; one that is BUSY gets nothing. This kernel holds the
    lock of the interpreter, so that no other thread hands over meanwhile.
    """
    post = records_at(address, 1, POST)[0]
    state = read(post.state)
    if state == BUSY:
        return state
    post.function = function
    post.seat = seat
    post.number = number
    if not replace(post.state, state, BUSY):  # it has just fallen asleep, or come
        write(post.state, BUSY)
        return ASLEEP
    return state


@kernel(int64(int64, int64, int64), nogil=True)
def has_ended(address, number, patience):
    """End a batch: let no thread draw another chunk, and wait for those that are drawn.

    Returns 1 if all are finished, 0 after so many looks.
    """
    batch = records_at(address, 1, BATCH)[0]
    seen = read(batch.next)
    while seen < (number + 1) * NUMBER:
        if replace(batch.next, seen, (number + 1) * NUMBER):
            batch.drawn = min(seen - number * NUMBER, batch.chunks)
        seen = read(batch.next)
    for _ in range(patience):
        if read(batch.finished) == batch.drawn:
            return 1
    return 0
