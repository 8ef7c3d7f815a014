"""The kernels on other numbers: 40 digits, against which doubles are held, and counted operations.

Another process, in which Python runs the kernels, computes what is looked at here.
"""

from __future__ import annotations

import collections
import decimal
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mbkit as mb
from tests.kernels.other_numbers import FRAMES, REPRESENTATIONS, trees

pytestmark = pytest.mark.long  # the other process takes five seconds

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found():
    done = subprocess.run(
        [sys.executable, "-m", "tests.kernels.other_numbers"],
        cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def exact(found, frames, name):
    """Return the results with 40 digits, by what they are."""
    results = found["exact"][f"{frames} {name}"]
    return {what: np.array([decimal.Decimal(x) for x in row]) for what, row in results.items()}


def deviation(a, b):
    """Greatest difference by the greatest entry of b."""
    with decimal.localcontext(prec=60):
        return float(np.abs(a - b).max() / np.abs(b).max())


@pytest.mark.parametrize("what", ["forward", "inverse", "mass"])
@pytest.mark.parametrize("frames", FRAMES)
def test_four_representations_agree_to_35_digits(found, frames, what):
    """Independent algorithms for one number: what they agree on is right."""
    reference = exact(found, frames, "body_fixed")[what]
    for name in REPRESENTATIONS:
        assert deviation(exact(found, frames, name)[what], reference) < 1e-35


@pytest.mark.parametrize("name", REPRESENTATIONS)
@pytest.mark.parametrize("frames", FRAMES)
def test_inverse_of_forward_dynamics_to_35_digits(found, frames, name):
    tau = next(state.tau for other, _, state in trees() if other == frames)
    expected = np.array([decimal.Decimal(x) for x in tau.tolist()])
    assert deviation(exact(found, frames, name)["there and back"], expected) < 1e-35


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_doubles_agree_with_40_digits(found, name):
    """Round-off alone, measured by the true solution."""
    for frames, system, state in trees(name):
        results = {
            "forward": system.forward_dynamics(state.q, state.v, state.tau),
            "inverse": system.inverse_dynamics(state.q, state.v, state.vdot),
            "mass": system.mass_matrix(state.q).ravel(),
        }
        for what, result in results.items():
            expected = exact(found, frames, name)[what].astype(float)
            assert np.abs(result - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("frames", FRAMES)
def test_derivatives_of_inverse_dynamics_to_20_digits(found, frames):
    """Differences of 1e-12 leave 1e-24; in doubles the same to rounding."""
    results = found["derivatives"][frames]
    exact, differences = (
        np.array([decimal.Decimal(x) for x in results[what]]) for what in ("exact", "differences")
    )
    assert deviation(exact, differences) < 1e-20
    system, state = next((system, state) for name, system, state in trees() if name == frames)
    d_q, d_v = system.inverse_dynamics_derivatives(state.q, state.v, state.vdot)
    expected = exact.astype(float)
    error = np.abs(np.concatenate([d_q.ravel(), d_v.ravel()]) - expected).max()
    assert error < 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize("frames", FRAMES)
def test_second_derivatives_of_inverse_dynamics_to_17_digits(found, frames):
    """Along any direction, second differences of 1e-10 leave 1e-20; in doubles to rounding."""
    results = {
        what: np.array([decimal.Decimal(x) for x in row])
        for what, row in found["second derivatives"][frames].items()
    }
    assert deviation(results["along"], results["differences"]) < 1e-17
    system, state = next((system, state) for name, system, state in trees() if name == frames)
    tensors = system.inverse_dynamics_second_derivatives(state.q, state.v, state.vdot)[:3]
    exact = results["tensors"].astype(float)
    error = np.abs(np.concatenate([each.ravel() for each in tensors]) - exact).max()
    assert error < 1e-13 * np.abs(exact).max()


@pytest.mark.parametrize("frames", FRAMES)
def test_hamilton_s_equations_to_20_digits(found, frames):
    """The rates of p against differences of M v along the motion; in doubles the same."""
    results = {
        what: np.array([decimal.Decimal(x) for x in row])
        for what, row in found["momenta"][frames].items()
    }
    system, state = next((system, state) for name, system, state in trees() if name == frames)
    nv = system.nv
    assert deviation(results["found"][:nv], results["expected"][:nv]) < 1e-35
    assert deviation(results["found"][nv:], results["expected"][nv:]) < 1e-20
    form, p = mb.MomentumForm(system), results["p"].astype(float)
    exact = np.split(results["found"].astype(float), 2)
    for own, true in zip(
        form.canonical_forward_dynamics(state.q, p, state.tau), exact, strict=True
    ):
        assert np.abs(own - true).max() < 1e-12 * np.abs(true).max()


def test_derivatives_of_forward_dynamics_to_rounding(found):
    """Of joints with several velocities too; differences with 40 digits leave 1e-24."""
    frames, system, state = list(trees())[-1]
    results = found["derivatives"][frames]
    own, differences = (
        np.array([decimal.Decimal(x) for x in results[what]]) for what in ("every", "forward")
    )
    assert deviation(own, differences) < 1e-20
    by = ("q", "v", "tau")
    every = system.derivatives("forward_dynamics", state.q, state.v, state.tau, by=by)
    compiled = system.forward_dynamics_derivatives(state.q, state.v, state.tau)
    exact = own.astype(float).reshape((3, system.nv, system.nv))
    for name, each, true in zip(by, compiled, exact, strict=True):
        assert np.abs(every[name] - true).max() < 1e-12 * np.abs(true).max()
        assert np.abs(each - true).max() < 1e-12 * np.abs(true).max()


@pytest.mark.parametrize(
    ("name", "additions", "multiplications"),
    [
        ("cross", 3, 6),
        ("dot", 2, 3),
        ("rotate", 6, 9),
        ("symmetric_times", 6, 9),
        # R^T w and R^T (v + w x p): two rotations, a cross product, a sum
        ("motion_to_child", 2 * 6 + 3 + 3, 2 * 9 + 6),
        # w1 x w2, v1 x w2 + w1 x v2
        ("motion_bracket", 3 * 3 + 3, 3 * 6),
        # three rows of R X, and six products of rows
        ("rotate_symmetric", 3 * 6 + 6 * 2, 3 * 9 + 6 * 3),
    ],
)
def test_operations_of_helpers(found, name, additions, multiplications):
    assert found["helpers"][name] == [additions, multiplications]


def test_every_kind_of_operation_is_counted(found):
    """Of 1/q - 2 c sqrt(q) + sin(q) cos(q) - (-q), of which 2 c is one of Python's own numbers."""
    assert found["helpers"]["all"] == {
        "additions": 3, "multiplications": 2, "divisions": 1, "roots": 1, "angles": 2,
    }  # fmt: skip


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_operations_by_body_do_not_depend_on_the_number_of_bodies(found, name):
    """Forward dynamics is O(n), and from the second body on exactly so."""
    two, four, eight = (
        collections.Counter(found["chains"][f"{name} {count}"]) for count in (2, 4, 8)
    )
    assert eight - four == collections.Counter({kind: 2 * n for kind, n in (four - two).items()})
    assert (four - two)["divisions"] == 2  # one a velocity
    assert (four - two)["angles"] == 4  # sine and cosine
