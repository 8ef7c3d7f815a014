"""Numbers side by side: what is computed with them has the bits of doubles, lane by lane."""

import math

import numpy as np
import pytest

from mbkit.kernels.compile import call_address, floats, helper, int64, integers, kernel
from mbkit.kernels.elementary import all_lanes, any_lane, arctan2, select, sin_cos, sqrt

#: Numbers that functions and comparisons treat otherwise than others, and numbers of any size.
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.pi, 1e6, 1.1e6, -3e7, 1e300, 5e-324, math.inf, math.nan)


def numbers(count):
    """Return as many of them in any order, and as many again."""
    rng = np.random.default_rng(8)
    pool = np.concatenate([SPECIAL, rng.normal(size=40) * 10.0 ** rng.uniform(-8, 8, size=40)])
    return rng.choice(pool, size=(2, count))


def operations(x, y, scale, out):
    """All that kernels do with numbers; x and y: a pointer to one each, scale: to a double."""
    a = x[0]
    b = y[0]
    s = scale[0]
    out[0] = a + b
    out[1] = a - s
    out[2] = 2 * a * b + s
    out[3] = a / b
    out[4] = -a
    out[5] = abs(b)
    out[6] = sqrt(abs(a))
    out[7], out[8] = sin_cos(a)
    out[9] = arctan2(a, b)
    out[10] = select(a < b, a, 1.0)
    out[11] = select((a >= b) | ~(a == s), s, b)
    out[12] = select((a != b) & (b > 0.0), 1.0, 0.0)
    total = 0.0
    for _ in range(3):
        total += a * b
    out[13] = total
    out[14] = s * s - a
    out[15] = b + s * 3
    out[16] = a * b - b * s
    out[17] = s - a * s
    return 1 * any_lane(a > b) + 2 * all_lanes(a > b)


RESULTS = 18


@kernel(int64(int64, floats, floats, floats, floats))
def call(function, x, y, scale, out):
    return call_address(function, (x, y, scale, out))


_operations = helper(operations)


@kernel(int64(floats, floats, floats, floats, integers))
def one_by_one(x, y, scale, out, statuses):
    for j in range(x.shape[0]):
        statuses[j] = _operations(x[j:], y[j:], scale, out[RESULTS * j :])
    return 0


@pytest.mark.parametrize("width", [2, 4, 8])
def test_operations_have_the_bits_of_doubles(width):
    """Of numbers that are none too, and of angles for which the library is asked."""
    from mbkit.kernels.lanes import Lanes
    from mbkit.systems.memory.in_lanes.functions import address_in_lanes

    function = address_in_lanes(operations, "ppcp", Lanes(width))
    count = 64
    x, y = numbers(count)
    scale = np.array([0.7])
    expected, statuses = np.zeros((count, RESULTS)), np.zeros(count, dtype=np.int64)
    one_by_one(x, y, scale, expected.reshape(-1), statuses)
    for s in range(0, count, width):
        lines = aligned(RESULTS * width), aligned(width), aligned(width)
        lines[1][:], lines[2][:] = x[s : s + width], y[s : s + width]
        status = call(function, lines[1], lines[2], scale, lines[0])
        found = lines[0].reshape((RESULTS, width)).T
        np.testing.assert_array_equal(found, expected[s : s + width])
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected[s : s + width]))
        some = [bool(k & 1) for k in statuses[s : s + width]]
        assert status == 1 * any(some) + 2 * all(some)


@pytest.mark.compiled
@pytest.mark.parametrize("width", [8, 16])
def test_operations_in_single_precision_are_off_by_roundings(width):
    """Of the largest of the numbers that an operation adds."""
    from mbkit.kernels.lanes import SingleLanes, address_in_lanes

    function = address_in_lanes(operations, "ppcp", SingleLanes(width))
    rng = np.random.default_rng(9)
    count = 64
    x, y = (rng.normal(size=(2, count)) * 10.0 ** rng.uniform(-3, 3, count)).astype(np.float32)
    scale = np.array([0.7])
    expected, statuses = np.zeros((count, RESULTS)), np.zeros(count, dtype=np.int64)
    one_by_one(x.astype(float), y.astype(float), scale, expected.reshape(-1), statuses)
    size = np.maximum(np.abs(expected), ((1 + np.abs(x)) * (1 + np.abs(y)))[:, None])
    for s in range(0, count, width):
        lines = aligned(RESULTS * width // 2), aligned(width // 2), aligned(width // 2)
        out, *given = (each.view(np.float32) for each in lines)
        given[0][:], given[1][:] = x[s : s + width], y[s : s + width]
        status = call(function, lines[1], lines[2], scale, lines[0])
        error = np.abs(out.reshape((RESULTS, width)).T - expected[s : s + width])
        assert (error / size[s : s + width]).max() < 3 * np.finfo(np.float32).eps
        some = [bool(k & 1) for k in statuses[s : s + width]]
        assert status == 1 * any(some) + 2 * all(some)


def aligned(size):
    """Return zeros that begin where a line of the cache does."""
    memory = np.zeros(size + 8)
    first = -(memory.ctypes.data // 8) % 8
    return memory[first : first + size]


@pytest.mark.compiled
def test_a_branch_that_lanes_do_not_share_does_not_compile():
    """A mask has no truth value."""
    from numba.core.errors import TypingError

    from mbkit.kernels.lanes import Lanes, address_in_lanes

    with pytest.raises(TypingError, match="Mask8"):
        address_in_lanes(branching, "p", Lanes(8))


def branching(x):
    """Another way for numbers below zero."""
    if x[0] < 0.0:
        return 1
    return 0
