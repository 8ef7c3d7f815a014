"""Derivatives along shared directions are those along directions of their own."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

import mbkit as mb
from benchmarks.absolute import hanging_chain, hanging_ladder, row_of_four_bars
from mbkit.kernels.duals import DIRECTIONS
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.on_duals.directions import Directions
from mbkit.systems.derivatives.on_duals.exact_constraints import ExactConstraints


def braced_row() -> mb.System:
    """Windows with rods across them, and a gear between distant ones."""
    mech = row_of_four_bars(6)
    for k in (1, 4):
        mech.add_constraint(mb.Distance(f"brace{k}", f"bar{k}", f"rod{k}", 0.9))
    mech.add_constraint(mb.GearRatio("gear", "ground1", "ground5", 2.0))
    return mech.assemble()


def relative(make: Any, count: int) -> Any:
    return lambda: make(count).assemble()


def absolute(make: Any, count: int) -> Any:
    return lambda: make(count).assemble(mb.AbsoluteCoordinates())


CASES = {
    "row": relative(row_of_four_bars, 6),
    "ladder": relative(hanging_ladder, 4),
    "absolute row": absolute(row_of_four_bars, 4),
    "absolute chain": absolute(hanging_chain, 6),
    "braced row": braced_row,
}


def alone(arrays: Any) -> Any:
    """The same arrays, without the knowledge which bodies carry what."""
    return attrs.evolve(arrays, closure=attrs.evolve(arrays.closure, supports=()))


@pytest.mark.some(2)
@pytest.mark.compiled
@pytest.mark.parametrize("case", CASES)
def test_derivatives_are_the_same(case: str) -> None:
    system = CASES[case]()
    exact = ExactConstraints.of(system.evaluator)
    assert exact is not None
    rng = np.random.default_rng(3)
    q = system.retract(system.reference_configuration(), 0.3 * rng.normal(size=(2, system.ndx)))
    v, vdot = rng.normal(size=(2, 2, system.nv))
    multipliers = rng.normal(size=(2, system.num_velocity_constraints))
    states = TimedStates(q, v, np.zeros(2))
    given = np.concatenate([vdot, multipliers], axis=1)
    for entries in (
        range(system.ndx + system.nv),
        range(system.ndx),
        range(system.ndx, system.ndx + 1),
    ):
        found = exact.by_entries(entries, states, given)
        exact._directions[entries] = Directions.of(alone(system.arrays), entries, DIRECTIONS)
        for one, other in zip(found, exact.by_entries(entries, states, given), strict=True):
            np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-11)
        del exact._directions[entries]


def test_their_number_does_not_grow_with_a_row() -> None:
    counts = []
    for windows in (10, 20, 40):
        system = row_of_four_bars(windows).assemble()
        entries = range(system.ndx + system.nv)
        counts.append(Directions.of(system.arrays, entries, DIRECTIONS).total)
    assert counts[0] == counts[1] == counts[2] < 20
