"""Calls that read arrays where Python keeps them: what they take, and what they leave."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import mbkit as mb
from mbkit.systems.calls.direct import REFUSED, new_arrays
from mbkit.systems.calls.evaluations import INVERSE_DYNAMICS, MASS_MATRIX, POSES
from tests.trees import random_mechanism, random_state

COUNT = 6


@pytest.fixture(scope="module")
def system():
    return random_mechanism(np.random.default_rng(5), COUNT).assemble()


@pytest.fixture(scope="module")
def state(system):
    return random_state(np.random.default_rng(6), system)


def status(system, what, out, *vectors):
    evaluator = system.evaluator
    workspace = evaluator.take()
    try:
        return evaluator.direct(what, evaluator.function(what))(workspace.record, out, *vectors)
    finally:
        evaluator.give_back(workspace)


def other_order(array):
    return array.astype(array.dtype.newbyteorder())


def apart(array):
    return np.repeat(array, 2, axis=-1)[..., ::2]


def read_only(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


OTHERS = {
    "a list": lambda array: array.tolist(),
    "None": lambda array: None,
    "a number": lambda array: 0.5,
    "a word": lambda array: "q",
    "a mask": np.ma.masked_array,
    "single precision": lambda array: array.astype(np.float32),
    "integers of eight bytes": lambda array: array.astype(np.int64),
    "complex numbers": lambda array: array.astype(complex),
    "the other order of bytes": other_order,
    "numbers apart": apart,
    "a read-only array": read_only,
    "one more number": lambda array: np.append(array, 0.0),
    "one number less": lambda array: array[:-1],
    "one more axis": lambda array: array[None],
    "no axis": lambda array: np.array(0.5),
}


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_anything_but_an_array_of_the_shape_is_refused(system, state, other, place):
    """Nothing is computed then: the result is as it was."""
    given = [state.q, state.v, state.vdot]
    given[place] = other(given[place])
    out = np.full(system.nv, 7.0)
    assert status(system, INVERSE_DYNAMICS, out, *given) == REFUSED
    np.testing.assert_array_equal(out, 7.0)


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_results_are_looked_at_as_well(system, state, other):
    out = other(np.zeros((system.nv, system.nv)))
    assert status(system, MASS_MATRIX, out, state.q) == REFUSED


def test_the_result_is_that_of_a_batch(system, state):
    """Vectors, matrices and stacks of matrices, bit for bit."""
    for what, given in ((INVERSE_DYNAMICS, (state.q, state.v, state.vdot)),
                        (MASS_MATRIX, (state.q,)), (POSES, (state.q,))):  # fmt: skip
        out = np.empty(system.evaluator.arguments.shape(what.result))
        assert status(system, what, out, *given) == 0
        method = getattr(system, what.function)
        np.testing.assert_array_equal(out, method(*(each[None] for each in given))[0])


def test_arrays_that_were_pickled_are_taken(system, state):
    """Their dtype is another object than numpy's own."""
    given = [pickle.loads(pickle.dumps(each)) for each in (state.q, state.v, state.vdot)]  # noqa: S301
    assert status(system, INVERSE_DYNAMICS, np.empty(system.nv), *given) == 0


def test_no_reference_is_lost(system, state):
    """Results and arguments belong to the caller alone when the call is over."""
    given = (np.empty(system.nv), state.q, state.v, state.vdot)
    before = [sys.getrefcount(each) for each in given]
    for _ in range(10):
        status(system, INVERSE_DYNAMICS, *given)
        status(system, INVERSE_DYNAMICS, given[0], state.q, state.v, state.vdot[:-1])
    assert [sys.getrefcount(each) for each in given] == before


def test_a_failed_call_names_it_as_before(system, state):
    with pytest.raises(mb.ShapeError, match="'v'"):
        system.inverse_dynamics(state.q, state.v[:-1], state.vdot)
    with pytest.raises(mb.ShapeError, match="out"):
        system.mass_matrix(state.q, out=np.zeros((2, 2)))


@pytest.mark.parametrize("shape", [(), (0,), (3,), (4, 3), (0, 0), (2, 5, 3)])
def test_new_arrays_are_those_of_numpy(shape):
    """Of the type, flags and bytes that numpy.empty gives, each with memory of its own."""
    new = new_arrays(shape)
    first, second, numpys = new(), new(), np.empty(shape)
    for each in (first, second):
        assert type(each) is np.ndarray
        assert (each.shape, each.strides, each.dtype) == (shape, numpys.strides, numpys.dtype)
        assert each.base is None
        assert repr(each.flags) == repr(numpys.flags)
    first[...] = 1.0
    second[...] = 2.0
    np.testing.assert_array_equal(first, np.ones(shape))
    assert sys.getrefcount(first) == sys.getrefcount(numpys)


def test_memory_that_is_not_there_is_reported():
    with pytest.raises(MemoryError):
        new_arrays((2**45,))()  # more than there are addresses
