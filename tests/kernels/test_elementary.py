"""Sine and cosine of the kernels, against many digits."""

import math

import numpy as np
import pytest
from mpmath import mp

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import sin_cos


@helper
def compiled(x):
    return sin_cos(x)


@pytest.mark.parametrize("size", [1e-9, 0.8, 4.0, 1e3, 9.9e5, 1e7])
def test_sine_and_cosine_have_their_digits(size):
    """Within 1.5 units of the last digit at random angles, and next to multiples of pi/2."""
    rng = np.random.default_rng(3)
    turns = np.round(rng.uniform(-size, size, 100) / (math.pi / 2)) * (math.pi / 2)
    with mp.workdps(60):
        for x in map(float, (*rng.uniform(-size, size, 200), *turns)):
            for found, exact in zip(compiled(x), (mp.sin(x), mp.cos(x)), strict=True):
                assert abs(found - exact) <= 1.5 * np.spacing(abs(float(exact))), x


@pytest.mark.filterwarnings("ignore:invalid value")  # of numpy, where Python runs the kernels
def test_what_is_no_angle_has_no_sine():
    for x in (math.inf, -math.inf, math.nan):
        assert np.isnan(compiled(x)).all()
    assert compiled(0.0) == (0.0, 1.0)
