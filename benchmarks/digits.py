"""Orders in numbers of 60 digits, where doubles leave no room for them.

The kernels run as Python does (NUMBA_DISABLE_JIT=1), on the numbers of gmpy2; `in_digits` starts
another process that does so.

python -m benchmarks.digits NAME/PROBLEM ...    prints orders as JSON
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import subprocess
import sys
import unittest.mock
import warnings
from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from benchmarks.catalogue import INTEGRATORS
from benchmarks.exact_tableaus import exact_tableau
from mbkit.integrators import bliedf
from mbkit.integrators.integrator import Rows
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS, FAST_TOPS, FAST_TOPS_ON_LOOPS
from mbkit.testing.convergence import Slope, fitted_slope
from mbkit.testing.integrator_contract import prepared
from mbkit.testing.standard_problems import STANDARD_PROBLEMS, StandardProblem
from tests.twins import Twins

ROOT = pathlib.Path(__file__).parents[1]

#: Bits of a number: 60 digits.
PRECISION = 200

#: What coefficients of methods may miss their order conditions by.
MISSED = 1e-34

#: Instants at which motions are compared; those of the second half count.
SAMPLES = 4

PROBLEMS = {
    problem.name: problem
    for problem in (*STANDARD_PROBLEMS, *FAST_TOPS, *CONSTRAINED_PROBLEMS, *FAST_TOPS_ON_LOOPS)
}


@attrs.frozen
class Course:
    """How long a motion is followed, and in how many steps.

    Attributes
    ----------
    end : float
        [s]
    steps : tuple of int
        Of those step sizes; multiples of `SAMPLES`.
    """

    end: float
    steps: tuple[int, ...]


#: By problem: of Runge-Kutta methods, and of BLieDF. Shorter than the motions for doubles, with so
#: many steps that slopes do not change any more from one to the next.
COURSES = {
    "torque-free body": (Course(1.0, (64, 96, 128, 192)), Course(0.5, (96, 128, 192, 256))),
    "heavy top": (Course(0.5, (64, 96, 128, 192)), Course(0.5, (96, 128, 192, 256))),
    "fast top": (Course(0.02, (96, 128, 192, 256)), Course(0.02, (128, 192, 256, 384))),
    "top on a free joint": (Course(0.5, (64, 96, 128, 192)), Course(0.5, (96, 128, 192, 256))),
    "top on shifts and turns": (Course(0.2, (48, 64, 96, 128)), Course(0.2, (64, 96, 128, 192))),
    "fast top on a free joint": (
        Course(0.02, (96, 128, 192, 256)), Course(0.02, (128, 192, 256, 384)),
    ),
    "fast top on shifts and turns": (
        Course(0.01, (48, 64, 96, 128)), Course(0.01, (128, 160, 192, 256)),
    ),
    "spatial four-bar": (Course(0.1, (96, 128, 192, 256)), Course(0.05, (64, 96, 128, 192))),
}  # fmt: skip

#: Of Dormand and Prince's method of order 8 the leading term of v is next to zero where the fast
#: top sets out, and those of q and of multipliers are so after ten revolutions and more: the next
#: one hides them for long.
LATE = Course(0.2, (5120, 6144, 7168, 8192))
OF_ORDER_8 = {"fast top": LATE, "fast top on a free joint": LATE}


def course_of(name: str, problem: str) -> Course:
    """Return how an integrator is measured on a problem."""
    if name == "RKMK dormand_prince8" and problem in OF_ORDER_8:
        return OF_ORDER_8[problem]
    return COURSES[problem][name.startswith("BLieDF")]


def dop853() -> mb.Tableau:
    """Return the coefficients that scipy's DOP853 has, as far as a step of one size needs them."""
    from scipy.integrate import DOP853

    return mb.Tableau("dop853", order=8, A=DOP853.A, b=DOP853.B)


def replaced(name: str) -> mb.Integrator:
    """Return an integrator of the catalogue, or what stands for it here.

    Scipy computes with doubles. A step of one size of its method on the local vector space is that
    of the Runge-Kutta-Munthe-Kaas method of the same coefficients.
    """
    if name == "local DOP853":
        return mb.RungeKuttaMuntheKaas(dop853())
    integrator = INTEGRATORS[name]
    if isinstance(integrator, mb.BLieDF):  # down to the rounding of the numbers
        return attrs.evolve(integrator, tolerance=1e-60)
    return integrator


# -------------------------------------------------------------------------- another process


@attrs.frozen
class Found:
    """What was found in many digits.

    Attributes
    ----------
    orders : dict of str to Slope
        By q, v and multipliers.
    end : list of float
        q and v at the end of the motion, in the smallest steps.
    """

    orders: dict[str, Slope]
    end: list[float]


def in_digits(cells: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Found]:
    """Return what is found, by names of integrators and of problems."""
    cells = list(cells)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.digits", *("/".join(cell) for cell in cells)],
        cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    return {
        cell: Found({what: Slope(*slope) for what, slope in orders.items()}, end)
        for cell, (orders, end) in zip(cells, found, strict=True)
    }


def main() -> None:
    """Measure what is asked for."""
    warnings.simplefilter("ignore")
    found = [measured(*argument.split("/")) for argument in sys.argv[1:]]
    print(json.dumps([(each.orders, each.end) for each in found]))


def measured(name: str, problem: str) -> Found:
    """Return what is found of an integrator on a problem."""
    integrator, course = replaced(name), course_of(name, problem)
    exact = reference(problem, course.end, 2 * course.steps[-1])
    runs = [Run(integrator, PROBLEMS[problem], course.end, steps) for steps in course.steps]
    errors = np.array([run.errors(exact) for run in runs])
    orders = {
        what: fitted_slope(course.steps, column)
        for what, column in zip(("q", "v", "multipliers"), errors.T, strict=False)
    }
    return Found(orders, [float(x) for x in (*runs[-1].q[-1], *runs[-1].v[-1])])


# ---------------------------------------------------------------------------- many digits


@functools.cache
def number() -> Any:
    """Return what makes numbers of many digits."""
    import gmpy2

    gmpy2.get_context().precision = PRECISION
    return gmpy2.mpfr


_tableaus: dict[str, list[tuple[Any, Any]]] = {}


def _pairs(tableau: mb.Tableau) -> list[tuple[Any, Any]]:
    """Return what stands for the coefficients of a tableau."""
    if tableau.name not in _tableaus:
        A, b = exact_tableau(tableau, number(), MISSED)
        _tableaus[tableau.name] = [(tableau.A, A), (tableau.b, b), (tableau.c, A.sum(axis=1))]
    return _tableaus[tableau.name]


def exact_coefficients(integrator: mb.Integrator) -> list[tuple[Any, Any]]:
    """Return doubles that an integrator has, and numbers that stand for them."""
    if isinstance(integrator, mb.RungeKuttaMuntheKaas):
        return _pairs(integrator.tableau)
    formula = bliedf.BackwardDifferences(integrator.steps)
    fractions = formula.alpha, formula.gamma, (formula.slope, *formula.nodes)
    return [
        *_pairs(mb.tableaus.DORMAND_PRINCE8),
        *(
            (doubles, [number()(part.numerator) / part.denominator for part in parts])
            for doubles, parts in zip(bliedf.numbers_of(formula), fractions, strict=True)
        ),
    ]


def make_exact(twins: Twins, system: mb.System) -> None:
    """Let all numbers of a system agree that were computed from each other in doubles.

    Axes of screws have length one, and what inverts the inertia of a floating body does.
    """
    from mbkit.kernels.compile import pointer_at
    from mbkit.kernels.elementary import sqrt
    from mbkit.kernels.joints.parameter_header import count_of, rest_of
    from mbkit.kernels.joints.screw_product import SCREW_SIZE, motion

    one = np.eye(3, dtype=int)
    for body in twins.of(system.arrays.bodies):
        if body.motion == motion.address:
            parameters = pointer_at(body.parameters)
            first = rest_of(parameters)
            for k in range(first, first + SCREW_SIZE * count_of(parameters), SCREW_SIZE):
                axis = parameters[k + 1 : k + 4]
                axis[:] = axis / sqrt(axis @ axis)
        if body.floating:
            floating = pointer_at(body.floating)
            com = body.first_moment / body.mass
            xx, xy, xz, yy, yz, zz = body.moment
            moment = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            moment = moment - body.mass * ((com @ com) * one - np.outer(com, com))
            axes = floating[:9].reshape((3, 3))
            for _ in range(2):  # E I E^T = 1, by Newton's method
                axes[:] = (3 * one - axes @ moment @ axes.T) @ axes / 2
            floating[9:12] = com
            floating[12] = 1 / sqrt(body.mass)


class Run:
    """A motion in many digits, at the `SAMPLES` instants."""

    def __init__(
        self, integrator: mb.Integrator, problem: StandardProblem, end: float, steps: int
    ) -> None:
        self.problem = problem
        self._run = run = prepared(integrator, problem)
        self._own = own = attrs.evolve(
            run.problem, h=number()(end) / steps, save_every=steps // SAMPLES
        )
        with unittest.mock.patch.object(bliedf, "DORMAND_PRINCE5", mb.tableaus.DORMAND_PRINCE8):
            advance = integrator.prepare(own)
        rows = Rows.empty(SAMPLES, own.nq, own.nv, own.multipliers.size)
        self._twins = twins = Twins(number(), exact_coefficients(integrator))
        with twins.in_use():
            make_exact(twins, problem.system)
            state = own.close(own.t0, own.q, own.v)
            if state == 0:
                state, _, _ = advance(0, steps, rows)
            if state != 0:
                raise RuntimeError(f"{integrator!r} on the {problem.name}: status {state}")
            self.q, self.v = twins.of(rows.q), twins.of(rows.v)
            self.multipliers = twins.of(rows.multipliers)
            if problem.is_constrained and not integrator.gives_multipliers:
                self.multipliers = np.array([*map(self._multipliers, self.q, self.v)])

    def _multipliers(self, q: Any, v: Any) -> Any:
        """Return those of a state, by its forward dynamics."""
        own = self._own
        if own.accelerate(own.t0, q.copy(), v.copy(), own.v_stage, own.work) != 0:
            raise RuntimeError(f"no multipliers on the {self.problem.name}")
        return self._twins.of(self._run.workspace.closure.multipliers).copy()

    def _difference(self, exact: Any, q: Any) -> Any:
        from mbkit.kernels.configuration import difference

        out = np.zeros(self._own.ndx, dtype=object)
        difference.function(self._own.space, 0, exact, q, q, out)
        return out

    def errors(self, exact: Run) -> list[float]:
        """Return how far q, v and multipliers are from another run, as `StandardProblem` does."""
        late = slice(SAMPLES // 2 - 1, None)
        with self._twins.in_use():
            parts = [np.array([*map(self._difference, exact.q[late], self.q[late])])]
        pairs = [(self.v, exact.v)]
        if self.problem.is_constrained:
            pairs.append((self.multipliers, exact.multipliers))
        parts += [(found - wanted)[late] / np.abs(wanted).max() for found, wanted in pairs]
        return [float((part**2).sum(axis=1).mean()) ** 0.5 for part in parts]


@functools.cache
def reference(name: str, end: float, steps: int) -> Run:
    """Return a motion of order 8."""
    return Run(mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8), PROBLEMS[name], end, steps)


if __name__ == "__main__":
    main()
