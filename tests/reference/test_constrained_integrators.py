"""Integrators of constrained and stiff systems, on a small size of what the benchmarks measure."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from benchmarks.catalogue import SQUEEZED, STIFF, UNCORRECTED
from benchmarks.constrained_runs import (
    EXTRAPOLATED_STEPS,
    condition,
    extrapolated_error,
    governor_error,
    matrix_of,
    squeezer_error,
)
from benchmarks.orders import Cell, cell, orders
from benchmarks.report import written
from mbkit.integrators.step_memory import StepMemory
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS, FAST_TOPS_ON_LOOPS
from mbkit.testing.convergence import Slope
from mbkit.testing.standard_problems import STANDARD_PROBLEMS

FREE, SHIFTED, FOUR_BAR = CONSTRAINED_PROBLEMS


@pytest.mark.some(2)
@pytest.mark.parametrize("formulation", ["stabilized_index2", "index3"])
@pytest.mark.parametrize("problem", [*FAST_TOPS_ON_LOOPS, FOUR_BAR], ids=lambda p: p.name)
def test_the_condition_of_newtons_matrix_does_not_depend_on_the_step(problem, formulation):
    """From h = 1e-2 s to 1e-6 s; unscaled it grows with h^-4."""
    found = [condition(problem, formulation, h) for h in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)]
    assert max(found) < 3.0 * min(found)
    assert max(found) < 1e5


def test_the_matrix_is_put_together_from_its_factors():
    """With rows exchanged more than once."""
    S = np.array([[0.0, 2.0, 1.0], [4.0, 1.0, 0.0], [2.0, 8.0, 1.0]])
    LU = np.array([[4.0, 1.0, 0.0], [0.5, 7.5, 1.0], [0.0, 4.0 / 15.0, 11.0 / 15.0]])
    step = object.__new__(StepMemory)
    step._fields = {"matrix": LU.ravel(), "pivots": np.array([1, 2, 2]), "n": 3}
    np.testing.assert_allclose(matrix_of(step), S, atol=1e-15)


@pytest.mark.parametrize("h", [1e-3, 2e-3])
@pytest.mark.parametrize("name", STIFF)
def test_implicit_integrators_run_the_governor_where_explicit_ones_fail(name, h):
    """At three and six times the step at which RKMK4 is stable, to a part in ten thousand."""
    assert governor_error(STIFF[name], h) < 1e-4


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, (_, steps) in SQUEEZED.items() if steps < 20_000])
def test_andrews_squeezer_is_exact_at_the_steps_that_are_named(name):
    """A03: to 1e-10 rad after 0.03 s; methods of order 2 need more steps, in the benchmarks."""
    error, _ = squeezer_error(*SQUEEZED[name])
    assert error < 1e-10


@pytest.mark.long
@pytest.mark.slow
def test_the_error_of_rattlie_has_even_powers_of_the_step():
    """A03: a symmetric method; two runs without their h^2 are exact to 1e-10 rad."""
    error, _ = extrapolated_error(mb.RATTLie(), EXTRAPOLATED_STEPS)
    assert error < 1e-10


@pytest.mark.long
@pytest.mark.parametrize("name", UNCORRECTED)
def test_without_its_correction_bliedf_misses_its_order(name):
    """On groups that do not commute increments do not just add; with the correction it has it."""
    integrator, order = UNCORRECTED[name]
    corrected = attrs.evolve(integrator, correction=True)
    for problem in (STANDARD_PROBLEMS[0], SHIFTED):
        assert cell(integrator, problem, order=order).missed > 0.5
        assert cell(corrected, problem).missed <= 0.1


@pytest.mark.long
def test_tables_of_orders_have_what_is_claimed(tmp_path):
    """Two integrators on two problems, written between the marks of a page."""
    chosen = {"RKMK4": mb.RungeKuttaMuntheKaas(), "alpha": mb.GeneralizedAlpha()}
    found = orders(chosen, free=STANDARD_PROBLEMS[:1], constrained=[SHIFTED], most_steps=2048)
    assert [row.met for table in found[:2] for row in table.rows] == [True] * 4
    page = tmp_path / "orders.md"
    page.write_text("before\n<!-- written by make bench -->\nold\n<!-- end -->\nafter\n")
    written(found, page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("<!-- end -->\nafter\n")
    assert "old" not in text
    assert "| alpha" in text


def test_orders_that_are_missed_or_not_measured_are_marked():
    """Bold, a question mark, and a dash; each with its distance."""
    slope = Slope(1.8, 0.02)
    assert str(Cell(2, {"q": Slope(2.01, 0.0), "v": slope})) == "2.01 **1.80**"
    assert Cell(2, {"q": slope}).missed == pytest.approx(0.2)
    assert (str(Cell(2, {"q": None})), Cell(2, {"q": None}).missed) == ("?", np.inf)
    assert str(Cell(2, {})) == "-"


class Unwilling(mb.Integrator):
    """Takes nothing."""

    order = 2

    def prepare(self, problem):
        raise mb.UsageError("not this one")


def test_what_is_refused_has_no_order():
    assert cell(Unwilling(), STANDARD_PROBLEMS[0], 1024).orders == {}
