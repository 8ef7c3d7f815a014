"""Some calls of the fuzz kit, and the kit itself: that it sees what it is for."""

import signal
import subprocess
import sys

import numpy as np
import pytest

import mbkit as mb
from tests.robustness import one_by_one
from tests.robustness.calls import Broken, outcome
from tests.robustness.fuzz import fuzz
from tests.robustness.guarded_memory import guarded, guarded_copy

pytestmark = pytest.mark.compiled

CALLS = 400  # of the kit: a few seconds where kernels are compiled


@pytest.mark.long
def test_everything_public_keeps_the_law():
    """Results of the right shape or errors of mbkit; no crash, no hang, no foreign exception."""
    assert fuzz(600.0, seed=4, most=CALLS) == []


@pytest.mark.long
def test_each_parameter_refuses_each_odd_value():
    """One parameter is odd, all others are right. `make fuzz` takes all values, this one of 27."""
    assert one_by_one.faults(every=27) == []


def test_writing_behind_guarded_memory_ends_the_process():
    code = (
        "import ctypes; from tests.robustness.guarded_memory import guarded\n"
        "a = guarded(3); ctypes.memset(a.ctypes.data, 0, 24)\n"
        "ctypes.memset(a.ctypes.data + 24, 0, 1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == -signal.SIGSEGV


def test_guarded_memory_holds_what_it_should():
    np.testing.assert_array_equal(guarded_copy([[1.0, 2.0]]), [[1.0, 2.0]])
    assert np.isnan(guarded(2, 3)).all()
    assert guarded(0).shape == (0,)


def test_the_kit_sees_a_foreign_exception_and_a_wrong_shape():
    with pytest.raises(Broken, match="foreign ZeroDivisionError"):
        outcome(lambda: 1 / 0)
    with pytest.raises(Broken, match="shape"):
        outcome(lambda: np.zeros(3), (2,))

    def fails():
        raise mb.ShapeError("x")

    assert outcome(fails) == "ShapeError"
    assert outcome(lambda: np.zeros((5, 2)), (2,)) == "result"
