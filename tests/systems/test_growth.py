"""Work before the first evaluation grows as the bodies do: lines that run are counted."""

from __future__ import annotations

import functools
import pathlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbkit as mb
from benchmarks.absolute import (
    hanging_chain,
    hanging_ladder,
    rimmed_wheel,
    row_of_four_bars,
    wheel,
)
from mbkit.systems.memory.body_tree import _levels
from mbkit.systems.memory.workspace import _carriers

PACKAGE = pathlib.Path(mb.__file__).parent
COUNTED = tuple(f"{PACKAGE / name}/" for name in ("coordinates", "systems", "topology"))

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


def in_package(code: types.CodeType) -> bool:
    return code.co_filename.startswith(COUNTED)


def lines_of(
    action: Callable[[], Any], counted: Callable[[types.CodeType], bool] = in_package
) -> int:
    """Return how many lines of some functions run."""
    count = 0

    def line(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: Any, *_: Any) -> Any:
        return line if counted(frame.f_code) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def first_evaluation(mech: mb.Mechanism, coordinates: Any) -> None:
    system = mech.assemble(coordinates)
    q, v = system.reference_configuration(), np.zeros(system.nv)
    system.forward_dynamics(q, v, v)


def pulled(count: int) -> mb.Mechanism:
    """Return a chain whose bodies are all on springs to the last one, and some of them in wind."""
    mech = hanging_chain(count)
    for k in range(count - 1):
        ends = f"bar{k}", f"bar{count - 1}"
        mech.add_force(mb.SpringDamper(f"k{k}", *ends, 10.0, point_a=(0.1, 0, 0)))
        mech.add_force(mb.Drag(f"drag{k}", f"bar{k}", linear=0.1, angular=0.1))
    return mech


@pytest.mark.long
@pytest.mark.compiled  # lines of Python are counted
@pytest.mark.parametrize("coordinates", [mb.RelativeCoordinates(), mb.AbsoluteCoordinates()])
@pytest.mark.parametrize(
    "make", [hanging_chain, hanging_ladder, row_of_four_bars, rimmed_wheel, wheel, pulled]
)
def test_assembly_and_first_evaluation_grow_as_the_bodies_do(
    make: Callable[[int], mb.Mechanism], coordinates: Any
) -> None:
    """From 40 to 80 as from 20 to 40, but for what any size has."""
    first_evaluation(make(9), coordinates)  # what is imported or compiled once
    mechanisms = [make(count) for count in (20, 40, 80)]
    small, middle, large = (
        lines_of(functools.partial(first_evaluation, mech, coordinates)) for mech in mechanisms
    )
    assert large - middle <= 2.0 * (middle - small) * 1.1


def test_ways_of_sites_and_springs_are_what_steps_along_them_find() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        count = 2 + seed % 15
        parent = [0, *(int(rng.integers(max(0, k - 3), k)) for k in range(1, count))]
        sites = [int(rng.integers(count)) for _ in range(rng.integers(3))]
        springs = [
            (int(rng.integers(count)), int(rng.integers(count))) for _ in range(rng.integers(6))
        ]
        moved, meet = set(), set()
        for a, b in [*((0, row) for row in sites), *springs]:
            while a != b:
                a, b = min(a, b), max(a, b)
                moved.add(b)
                b = parent[b]
            meet.add(a)
        own, common = _carriers(parent, sites, springs)
        assert set(own) == moved
        assert set(common) - moved == meet - moved - {0}


def test_depths_of_bodies_in_any_order_are_counted_in_few_rounds() -> None:
    """Of a chain, as many as its length has binary digits."""
    rng = np.random.default_rng(0)
    names = [0, *(1 + rng.permutation(500)).tolist()]
    parents = [-1] * len(names)
    for below, above in zip(names[1:], names[:-1], strict=True):
        parents[below] = above
    assert [level.tolist() for level in _levels(parents)] == [[name] for name in names]
    lines = lines_of(lambda: _levels(parents), lambda code: code is _levels.__code__)
    assert lines < 3 * len(names).bit_length() + 10
