"""Lanes as arrays, where Python runs the kernels: values, masks, and what is beyond the memory."""

import traceback

import numpy as np
import pytest

from mbkit.kernels.compile import (
    UNCOMPILED,
    array_address,
    call_address,
    floats,
    floats_at,
    int64,
    kernel,
    records_at,
)
from mbkit.kernels.elementary import all_lanes, any_lane, select

if not UNCOMPILED:
    pytest.skip("lanes are compiled", allow_module_level=True)

from mbkit.kernels.lanes import Lanes, record_of_lanes
from mbkit.systems.memory.in_lanes.functions import address_in_lanes

PAIR = np.dtype([("a", np.float64), ("b", np.float64, (2, 2)), ("k", np.int64)])


@kernel(int64(int64, int64, floats))
def call(function, address, x):
    return call_address(function, (address, x))


def run(function, memory, x):
    """Call a function of the form "sp" for two lanes."""
    return call(address_in_lanes(function, "sp", Lanes(2)), array_address(memory), x)


def exchanged(address, x):
    """Numbers that are read are values, whatever is written where they were."""
    numbers = floats_at(address, 2)
    first = numbers[0]
    numbers[0] = numbers[1]
    numbers[1] = first
    total = numbers[0]
    total += x[0]
    numbers[1] += 0.0 * total
    return 0


def test_numbers_are_values():
    memory = np.array([1.0, 2.0, 3.0, 4.0])
    assert run(exchanged, memory, np.ones(2)) == 0
    np.testing.assert_array_equal(memory, [3.0, 4.0, 1.0, 2.0])


def in_records(address, x):
    """Fields are numbers, arrays of them, and integers that all samples share."""
    pairs = records_at(address, 2, PAIR)
    pairs[1].a = 2.0 * x[0]
    pairs[1].b[1, 0] = max(pairs[1].a, 3.0)
    pairs[1].b.reshape(-1)[3] = select(x[0] > 1.0, x[0], -1.0)
    return 10 * pairs[1].k + any_lane(x[0] > 1.0) - all_lanes(x[0] > 1.0)


def test_records_lie_in_memory_as_those_of_compiled_code():
    kind = record_of_lanes(PAIR, Lanes(2))
    memory = np.zeros(2 * kind.size // 8)
    row = memory[kind.size // 8 :]
    row.view(np.int64)[kind.offset("k") // 8] = 7
    assert run(in_records, memory, np.array([1.0, 2.0])) == 71
    np.testing.assert_array_equal(row[:10], [2, 4, 0, 0, 0, 0, 3, 4, -1, 2])
    with pytest.raises(IndexError, match="bytes of lanes"):
        run(in_records, memory[:-1], np.array([1.0, 2.0]))


def beyond(address, x):
    """There is one number."""
    return int(x[1] == 0.0)


def branching(address, x):
    """Another way for numbers below zero."""
    return 1 if x[0] < 0.0 else 0


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (beyond, IndexError, "out of bounds"),
        (branching, TypeError, "any_lane, all_lanes or select"),
    ],
)
def test_errors_name_the_line_of_the_kernel(function, error, message):
    """Where compiled code would read beyond, or would not be compiled."""
    with pytest.raises(error, match=message) as caught:
        run(function, np.zeros(2), np.zeros(2))
    lines = [frame.name for frame in traceback.extract_tb(caught.tb)]
    assert function.__name__ in lines
