"""Memory of large results serves the next ones, and never while anybody holds a result."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from mbkit.systems.memory.recycled import LEAST, MOST, RecycledMemory

NUMBERS = LEAST // 8


def address(array):
    return array.__array_interface__["data"][0]


def test_what_nobody_holds_is_used_again():
    memory = RecycledMemory()
    first = memory.empty((NUMBERS,), np.float64)
    place = address(first)
    del first
    assert address(memory.empty((2, NUMBERS // 2), np.float64)) == place


@pytest.mark.some(5)
@pytest.mark.parametrize(
    "part",
    [
        lambda array: array,
        lambda array: array[5:7],
        lambda array: array.reshape(2, -1).T[..., 0],
        memoryview,
        lambda array: np.asarray(memoryview(array)[3:4]),
        lambda array: lambda: array,
    ],
    ids=["array", "slice", "transpose", "buffer", "array of a buffer", "closure"],
)
def test_what_somebody_holds_in_part_is_left_alone(part):
    memory = RecycledMemory()
    array = memory.empty((NUMBERS,), np.float64)
    held, place = part(array), address(array)
    del array
    gc.collect()
    assert address(memory.empty((NUMBERS,), np.float64)) != place
    del held
    gc.collect()
    both = [memory.empty((NUMBERS,), np.float64) for _ in range(2)]
    assert place in map(address, both)


def test_small_ones_and_the_largest_are_new_arrays():
    memory = RecycledMemory()
    for size in (NUMBERS - 1, MOST // 8 + 1):
        assert memory.empty((size,), np.float64).base is None


def test_memory_that_is_kept_is_bounded():
    memory = RecycledMemory()
    held = [memory.empty((MOST // 8 // 4,), np.float64) for _ in range(9)]
    places = [address(each) for each in held]
    del held
    found = [memory.empty((MOST // 8 // 4,), np.float64) for _ in range(4)]
    assert {address(each) for each in found} <= set(places[-4:])
    assert sum(block.nbytes for block in memory._blocks) <= MOST


def test_types_and_shapes_are_those_of_numpy():
    memory = RecycledMemory()
    for dtype in (np.float32, np.float64):
        found = memory.empty((4, NUMBERS), dtype)
        assert (found.shape, found.dtype) == ((4, NUMBERS), dtype)
        assert found.flags.c_contiguous
        assert found.flags.writeable
        assert found.flags.aligned


def test_threads_never_have_the_same_memory():
    memory = RecycledMemory()
    wrong = []

    def fill(number):
        for _ in range(200):
            own = memory.empty((NUMBERS,), np.float64)
            own[::4096] = number
            if not (own[::4096] == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=fill, args=(k,)) for k in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
