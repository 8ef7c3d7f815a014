"""Copies of arrays in kernels."""

import numpy as np

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, kernel


@kernel(float64(floats, floats))
def _middle(target, source):
    assign(target[1:3], source)
    return target.sum()


def test_assign_writes_as_many_numbers_as_the_target_has():
    target, source = np.zeros(4), np.array([1.0, 2.0, 4.0])
    assert _middle(target, source) == 3.0
    np.testing.assert_array_equal(target, [0.0, 1.0, 2.0, 0.0])
