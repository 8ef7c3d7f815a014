"""The model file of the arm says what was published about it."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import mbkit as mb

MODEL = pathlib.Path(__file__).parents[2] / "examples" / "models" / "panda.toml"
READY = np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4])


@pytest.fixture(scope="module")
def arm():
    """The arm of the file."""
    return mb.load_model(MODEL).assemble()


def denavit_hartenberg(a, d, alpha, theta):
    """Rot(x, alpha) Trans(x, a) Rot(z, theta) Trans(z, d), Craig's convention."""
    (ca, sa), (ct, st) = ((np.cos(x), np.sin(x)) for x in (alpha, theta))
    return np.array(
        [
            [ct, -st, 0, a],
            [st * ca, ct * ca, -sa, -d * sa],
            [st * sa, ct * sa, ca, d * ca],
            [0, 0, 0, 1],
        ]
    )


@pytest.mark.parametrize("q", [np.zeros(7), READY, np.linspace(-1.5, 2.0, 7)])
def test_flange(arm, q):
    """The flange stands where the manufacturer's table puts it."""
    right = np.pi / 2
    table = [
        (0, 0.333, 0),
        (0, 0, -right),
        (0, 0.316, right),
        (0.0825, 0, right),
        (-0.0825, 0.384, -right),
        (0, 0, right),
        (0.088, 0, right),
        (0, 0.107, 0),
    ]
    expected = np.eye(4)
    for (a, d, alpha), theta in zip(table, [*q, 0.0], strict=True):
        expected = expected @ denavit_hartenberg(a, d, alpha, theta)
    found = arm.poses(q)[arm.body_index("flange")]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize(
    ("q", "torque"),
    [(READY, -1.738757), ([0.3, -0.5, 0.4, -2.1, 0.6, 1.9, -0.8], -8.000849)],
)
def test_gravity_torque_of_the_shoulder(arm, q, torque):
    """Joint 2 bears what the authors' own program for the gravity vector says.

    Their program has the coefficients as identified; masses and centres of mass were found from
    these afterwards, and reproduce them to some hundredths of a newton metre. A slip in any of
    them would show: the parts that add up here are of 5 to 50 N m. The authors take g = 9.80665.
    """
    found = arm.bias_force(q, np.zeros(7))[1] * 9.80665 / 9.81
    assert found == pytest.approx(torque, abs=0.05)
