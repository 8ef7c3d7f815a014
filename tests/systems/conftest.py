"""Batches of a few samples, cut as large ones are on two cores."""

import time

import pytest

from mbkit.kernels.calls import chunks
from mbkit.kernels.compile import UNCOMPILED
from mbkit.systems.calls import batches
from mbkit.systems.calls.shared_batches import SharedBatch

#: The place of the number of chunks among the numbers that a batch begins with.
CHUNKS = 3


@pytest.fixture
def two_threads(monkeypatch):
    """Batches are cut in as many chunks as can be, and a waiting thread computes the first of them.

    By themselves they would be one chunk each, or done before another thread is awake. Uncompiled,
    the caller computes all chunks.
    """
    cut, shared_out = [], []
    begin, take_part = SharedBatch.begin, chunks.take_part

    def begin_and_note(self, numbers, vectors, out):
        begin(self, numbers, vectors, out)
        cut.append((self, numbers[CHUNKS]))

    def take_part_after_others(function, seat, number):
        shared, count = cut[-1]
        if count > 1 and not UNCOMPILED:
            shared_out.append(_is_begun(shared, number))
        return take_part(function, seat, number)

    monkeypatch.setattr(batches, "cores", lambda: 2)
    monkeypatch.setattr(batches, "SMALLEST_CHUNK", 1)
    monkeypatch.setattr(SharedBatch, "begin", begin_and_note)
    monkeypatch.setattr(chunks, "take_part", take_part_after_others)
    yield
    assert max(count for _, count in cut) > 1
    assert UNCOMPILED or any(shared_out)


def _is_begun(shared, number):
    """Return whether a thread has drawn a chunk of a batch, or does in a while.

    One that is just about to leave the batch before does not.
    """
    end = time.monotonic() + 1.0
    while shared._next[0] == number * chunks.NUMBER and time.monotonic() < end:
        time.sleep(0.0)  # it may want the lock of the interpreter to wake up
    return shared._next[0] > number * chunks.NUMBER
