"""Matrices multiplied a row at a time."""

import numpy as np
import pytest

from mbkit.kernels.compile import int64, kernel, stack
from mbkit.kernels.simd.matrix_product import multiply


@kernel(int64(stack))
def _product(matrices):
    multiply(matrices[0], matrices[1], matrices[2])
    return 0


@kernel(int64(stack))
def _into_the_first(matrices):
    multiply(matrices[0], matrices[1], matrices[0])
    return 0


@kernel(int64(stack))
def _into_the_second(matrices):
    multiply(matrices[0], matrices[1], matrices[1])
    return 0


@pytest.mark.parametrize(
    ("function", "out"), [(_product, 2), (_into_the_first, 0), (_into_the_second, 1)]
)
def test_it_is_the_product_and_touches_nothing_else(function, out):
    """Rows of four would reach beyond matrices of three."""
    rng = np.random.default_rng(3)
    memory = rng.normal(size=(5, 3, 3))
    expected = memory.copy()
    expected[1 + out] = memory[1] @ memory[2]
    function(memory[1:4])
    np.testing.assert_allclose(memory[1 + out], expected[1 + out], rtol=0, atol=1e-15)
    memory[1 + out] = expected[1 + out]
    assert (memory == expected).all()


def test_what_is_beside_a_matrix_does_not_come_in():
    """Not even where it is not a number."""
    memory = np.full((5, 3, 3), np.nan)
    memory[1] = memory[2] = np.diag([1.0, 2.0, 3.0])
    _product(memory[1:4])
    assert (memory[3] == np.diag([1.0, 4.0, 9.0])).all()
    assert np.isnan(memory[[0, 4]]).all()
