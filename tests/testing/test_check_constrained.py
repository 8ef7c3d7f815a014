"""The check of integrators under constraints, with an implicit one in Python."""

from __future__ import annotations

import functools
import pathlib
import re

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.testing import check_integrator
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS
from mbkit.testing.integrators import measured_orders
from mbkit.testing.invariants import drift, multipliers_of_every_step

FREE, SHIFTED, FOUR_BAR = CONSTRAINED_PROBLEMS

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "custom-integrators.md"


@functools.cache
def alpha():
    """Return the generalized-alpha method of the page on integrators of one's own."""
    found = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    source = next(block for block in found if "class Alpha" in block)
    namespace = {"mb": mb, "np": np, "__name__": __name__}
    exec(compile(source, str(PAGE), "exec"), namespace)  # noqa: S102 - our own page
    return namespace["Alpha"]()


@pytest.mark.long
@pytest.mark.slow
def test_an_implicit_integrator_in_python_holds(check_integrator):
    """All laws, by the fixture, with its own multipliers and without projection."""
    report = check_integrator(alpha(), problems=[SHIFTED], most_steps=1024)
    laws = [line.law for line in report.lines]
    assert "order of multipliers on the top on shifts and turns" in laws
    assert "multipliers of every step on the top on shifts and turns" in laws


def test_the_fixture_fails_with_the_report(check_integrator):
    with pytest.raises(pytest.fail.Exception, match="FAIL  order of q on the spatial four-bar"):
        check_integrator(Wrong("order"), problems=[FOUR_BAR], most_steps=1024)


@attrs.frozen
class Wrong(mb.Integrator):
    """Heun's method, projected, with a mistake."""

    mistake: str

    takes_constraints = gives_multipliers = True

    @property
    def order(self):
        return 3 if self.mistake == "order" else 2

    def prepare(self, problem):
        right = mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN).prepare(problem)

        def advance(first, steps, rows):
            saved = 0
            for taken, k in enumerate(range(first, first + steps)):
                status, _, wrote = right(k, 1, rows._replace(t=rows.t[saved:], q=rows.q[saved:],
                                         v=rows.v[saved:], work=rows.work[saved:]))  # fmt: skip
                if status != 0:
                    return status, taken, saved
                if self.mistake == "open":
                    problem.q[-1] += 1e-8
                if wrote:
                    rows.q[saved] = problem.q
                    rows.multipliers[saved] = self.multipliers(problem, k)
                    saved += 1
            return 0, steps, saved

        return advance

    def multipliers(self, problem, k):
        """Return those of the state, late or with a bad start where that is the mistake."""
        system, t = problem.equations, problem.t0 + (k + 1) * problem.h
        exact = system.solve_dynamics(problem.q, problem.v, t=t)[1]
        if self.mistake == "late":
            return exact * (1.0 + problem.h)
        if self.mistake == "transient":
            return exact * (1.0 + problem.h * 0.9**k)
        return exact


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("mistake", "law"),
    [
        ("late", "order of multipliers on the spatial four-bar"),
        ("transient", "multipliers of every step on the spatial four-bar"),
        ("order", "order of v on the spatial four-bar"),
    ],
)
def test_mistakes_under_constraints_are_found_by_their_laws(mistake, law):
    report = check_integrator(Wrong(mistake), problems=[FOUR_BAR], most_steps=1024)
    assert law in [line.law for line in report.failed]


def test_loops_that_open_are_found():
    """By a small shift after they were closed."""
    lines = list(drift(Wrong("open"), FREE, 256))
    assert lines[0].law == "loops stay closed on the top on a free joint"
    assert lines[0].holds is False


def test_what_projection_keeps_is_kept():
    lines = list(drift(mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN), FREE, 64))
    assert [line.holds for line in lines] == [True, True]


def test_multipliers_with_their_order_pass_step_by_step():
    line = multipliers_of_every_step(Wrong("none"), FREE, 64)
    assert line.holds
    assert "kept to rounding" in line.remark


def test_steps_that_are_too_large_to_be_taken_are_left_out():
    """The order is measured from the first step size on that the method takes."""
    orders, steps = measured_orders(mb.RungeKuttaMuntheKaas(), FOUR_BAR, most_steps=1024)
    assert orders["q"] is not None
    assert steps <= 1024


def test_what_an_integrator_refuses_is_a_remark():
    report = check_integrator(Unwilling(), problems=[FREE])
    (line,) = [line for line in report.lines if line.law == "on the top on a free joint"]
    assert line.holds is None
    assert line.remark == "it does not take constraints"


class Unwilling(mb.Integrator):
    """Heun's method, which takes trees only."""

    order = 2

    def prepare(self, problem):
        return mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN).prepare(problem)


def test_exceptions_in_steps_in_python_end_a_run_that_keeps_what_it_had():
    """Both where the integrator reports them and where it lets them out."""

    class Stop(Exception):
        pass

    def tau(t, q, v):
        if t > 0.5:
            raise Stop
        return np.zeros(v.size)

    with pytest.raises(Stop) as caught:
        FREE.run(alpha(), 90, tau=tau, save_every=1)
    result = caught.value.result
    assert not result.completed
    assert result.t[-1] == pytest.approx(0.5)

    with pytest.raises(RuntimeError, match="let out") as caught:
        FREE.run(Careless(), 90, save_every=1)
    assert len(caught.value.result.t) >= 1


class Careless(mb.Integrator):
    """Raises in its second step."""

    order = 2
    takes_constraints = True

    def prepare(self, problem):
        def advance(first, steps, rows):
            if first + steps > 1:
                raise RuntimeError("let out")
            for part, value in zip(rows, (problem.h, problem.q, problem.v, 0.0, 0.0), strict=True):
                part[0] = value
            return 0, steps, 1

        return advance
