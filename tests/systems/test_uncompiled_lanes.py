"""Batches in lanes where Python runs the kernels: every method, with every index looked at."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.calls import batches_in_lanes, chunks
from mbkit.kernels.compile import UNCOMPILED
from mbkit.kernels.lanes import native_width
from mbkit.systems.calls import lanes
from mbkit.systems.memory.in_lanes.functions import caller
from tests.every_representation import REPRESENTATIONS
from tests.systems.test_batches import (
    CHANGING,
    CONSTANT,
    DERIVATIVES,
    IN_DOUBLES,
    METHODS,
    MORE_DERIVATIVES,
    OF_CONSTRAINTS,
    OF_RATES,
    OF_SERIES,
    WITHOUT_OUT,
    closed_case,
    one,
)
from tests.trees import MAKERS, random_mechanism, random_state

if not UNCOMPILED:
    pytest.skip("lanes are compiled, and test_batches.py has them all", allow_module_level=True)

COUNT = 9  # a group of eight, and one that is not full

closed = closed_case  # states are nearly closed in the first half, and anywhere in the other


@pytest.fixture(autouse=True)
def _batches_are_in_lanes(monkeypatch):
    monkeypatch.setattr(lanes, "LEAST_SAMPLES", COUNT)
    monkeypatch.setattr(lanes, "LEAST_STATES", COUNT)
    monkeypatch.setattr(lanes, "LEAST_CLOSED", COUNT)


@pytest.fixture
def alone(monkeypatch):
    """The first samples of groups that were computed one by one, since a status was not OK."""
    found = []

    def noted(seat, batch, samples, first, last):
        found.append(first)
        return chunks.one_by_one(seat, batch, samples, first, last)

    compute = caller(batches_in_lanes.batch_in_lanes).function.__globals__["in_lanes"]
    assert compute.__globals__["one_by_one"]  # it is looked up, and stays there
    monkeypatch.setitem(compute.__globals__, "one_by_one", noted)
    return found


def states(system):
    """Return random states of a system."""
    rng = np.random.default_rng(13)
    found = [random_state(rng, system) for _ in range(COUNT)]
    names = ("q", "v", "vdot", "tau", "wrenches")
    return {name: np.array([getattr(each, name) for each in found]) for name in names}


@pytest.fixture(scope="module", params=REPRESENTATIONS, ids=lambda each: each.name)
def case(request):
    """A tree of every kind of joint, and states of it."""
    mech = random_mechanism(np.random.default_rng(11), len(MAKERS), reach=4)
    system = mech.assemble(mb.RelativeCoordinates(representation=request.param))
    return system, states(system)


@pytest.mark.parametrize("method", [*METHODS, *WITHOUT_OUT, *IN_DOUBLES])
def test_a_batch_is_its_samples(case, method, alone):
    """Bit by bit."""
    system, arguments = case
    call = (METHODS | WITHOUT_OUT | IN_DOUBLES)[method]
    expected = np.array([call(system, one(arguments, k)) for k in range(COUNT)])
    np.testing.assert_array_equal(call(system, arguments), expected)
    assert not alone


@pytest.mark.every_case
@pytest.mark.parametrize("method", DERIVATIVES)
def test_derivatives_of_a_batch_are_those_of_its_samples(method, alone):
    """Of joints of which some change; one that is not finite spoils no other."""
    kinds = CONSTANT[:6] + CHANGING
    system = random_mechanism(np.random.default_rng(12), 10, kinds, reach=4).assemble()
    arguments, call = states(system), DERIVATIVES[method]
    arguments["v"][5, 2] = np.nan
    group = 5 // native_width() * native_width()
    found = call(system, arguments, on_error="nan")
    expected = [call(system, one(arguments, k), on_error="nan") for k in range(COUNT)]
    for of_all, each in zip(found, zip(*expected, strict=True), strict=True):
        np.testing.assert_array_equal(of_all, np.array(each))
    assert set(alone) == ({group} if method.endswith("forward_dynamics") else set())


@pytest.mark.parametrize("method", OF_RATES)
def test_what_asks_for_rates_of_subspaces_is_in_a_batch_what_it_is_of_samples(method, alone):
    """Of joints of many kinds, some of them at rest."""
    kinds = [*[*MAKERS][::3], "composite"]
    system = random_mechanism(np.random.default_rng(13), len(kinds), kinds, reach=4).assemble()
    arguments, call = states(system), OF_RATES[method]
    arguments["v"][3] = 0.0
    arguments["v"][4:7, ::2] = 0.0
    expected = np.array([call(system, one(arguments, k)) for k in range(COUNT)])
    np.testing.assert_array_equal(call(system, arguments), expected)
    assert not alone


@pytest.mark.parametrize("method", [*MORE_DERIVATIVES, *OF_SERIES])
def test_more_derivatives_and_series_of_a_batch_are_those_of_its_samples(method, alone):
    """Of joints of which one has a motion subspace that changes."""
    kinds = (*CONSTANT[:4], "constant velocity")
    mech = random_mechanism(np.random.default_rng(14), 5, kinds, reach=2)
    system = mech.assemble(mb.RelativeCoordinates(representation=REPRESENTATIONS[2]))
    arguments = states(system)
    if method in OF_SERIES:
        call = OF_SERIES[method]
        expected = [np.array([call(system, one(arguments, k)) for k in range(COUNT)])]
        found = [call(system, arguments)]
    else:
        samples = [MORE_DERIVATIVES[method](system, one(arguments, k)) for k in range(COUNT)]
        expected = [np.array(each) for each in zip(*samples, strict=True)]
        found = MORE_DERIVATIVES[method](system, arguments)
    for of_all, each in zip(found, expected, strict=True):
        np.testing.assert_array_equal(of_all, each)
    assert not alone


@pytest.mark.every_case
@pytest.mark.parametrize("method", OF_CONSTRAINTS)
def test_constraints_of_a_batch_are_those_of_its_samples(closed, method, alone):
    """Of every kind; states that are nearly closed, and others."""
    system, arguments = closed
    arguments = {name: np.concatenate([rows[:5], rows[-4:]]) for name, rows in arguments.items()}
    call = OF_CONSTRAINTS[method]
    expected = np.array([call(system, one(arguments, k)) for k in range(COUNT)])
    np.testing.assert_array_equal(call(system, arguments), expected)
    assert not alone
