"""A check of integrators: their order, conserved quantities, and the contract of their steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from mbkit.errors import MbkitError, UsageError
from mbkit.integrators import Integrator
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS
from mbkit.testing.convergence import Slope, errors_of_steps
from mbkit.testing.integrator_contract import contract, far_too_large, prepared
from mbkit.testing.invariants import (
    drift,
    energy,
    group,
    loops,
    momentum,
    multipliers_of_every_step,
)
from mbkit.testing.laws import text_of
from mbkit.testing.report import Line, Report
from mbkit.testing.standard_problems import SAMPLES, STANDARD_PROBLEMS, StandardProblem
from mbkit.testing.verdicts import Measured, highest_line, order_line

__all__ = ["check_integrator", "measured_orders"]

#: Errors below are those of the reference solution, and of rounding.
FLOOR = 3e-13

#: The same of methods that solve for their steps: rounding is divided by h there, that of
#: constraints twice.
SOLVED_FLOOR = 1e-11
CONSTRAINED_FLOOR = 1e-10

#: And of methods that let quaternions drift from length one: their rates have more rounding than
#: angular velocities, and where steps are not small the runs end.
DRIFT_FLOOR, DRIFT_RATIO = 1e-10, 2.0**0.25

#: Steps from which the order is measured, by order, and the most there are.
FIRST_STEPS = {1: 512, 2: 128, 3: 64}
MOST_STEPS = 8192

#: Step sizes that are halved need a wide range, which high orders do not have above the floor.
RATIOS = {1: 2.0, 2: 2.0, 3: 2.0, 4: 2.0**0.5, 5: 2.0**0.5}

#: From this order on few steps are taken: their numbers are closer where fewer instants are
#: compared, and from one to the next so much of the error goes that the floor has to be higher.
FEW_STEPS, FEW_SAMPLES, FEW_FLOOR = 6, 4, 1e-12

#: On how many points loops are checked of methods with an adaptive step size.
OWN_STEPS = 256


def check_integrator(
    integrator: Integrator,
    *,
    problems: Iterable[StandardProblem] = (*STANDARD_PROBLEMS, *CONSTRAINED_PROBLEMS),
    most_steps: int = MOST_STEPS,
) -> Report:
    """Measure an integrator on standard problems, and look whether its steps keep their contract.

    1. Order: error of q, on its group, of v and, under constraints, of the multipliers over the
       second half of a motion, for the four smallest step sizes above the floor of rounding, each
       half of the one before (less from order 4 on); the slope is within 0.1 of
       ``integrator.order``, or above it on some motion. Multipliers of an integrator that gives
       them have it in every step but for the first ``2 order``.
    2. Energy, and the momentum of a free body: with the step their changes fall at least as the
       order; how energy drifts over 4096 steps is a remark.
    3. Group: quaternions keep length one, or, without `stays_on_group`, drift from it by the
       order.
    4. Constraints: positions stay closed to rounding; velocities do, or are closed ever better with
       the order.
    5. Contract of `mbkit.Integrator`: steps give the same bits however they are cut into calls,
       go on from the problem's state alone, save the right rows, look at events, and
       leave the last complete step after a failure. A step that is far too large ends in finite
       numbers or in an error of mbkit, with the steps before it.

    A law is undecided, ``?`` in the report, where rounding or `most_steps` come before its number
    is clear, and the errors before agree with the order better than with a lower one: no failure.
    In double precision orders up to 5 are shown, on some motions those from 6 on; multipliers that
    a method solves for have less room. See docs/custom-integrators.md.

    Problems with constraints are for integrators that take them, and those that an integrator
    refuses with a `UsageError` are remarks. So are the laws on errors by the step, of one
    that is `adaptive`: its form with steps of one size has an order.

    Parameters
    ----------
    integrator : Integrator
        The integrator to check.
    problems : iterable of StandardProblem
        Motions on which the order is measured.
    most_steps : int
        Steps of a motion that are not exceeded. A method in Python of order 2 is checked in seconds
        with 1024 of them; so few that they leave fewer than four step sizes fail.

    Returns
    -------
    Report
        A line a law; print it, or call its ``raise_if_failed()``.

    Raises
    ------
    UsageError
        If it is no integrator, or claims no order.

    Examples
    --------
    >>> import mbkit as mb
    >>> import mbkit.testing
    >>> report = mbkit.testing.check_integrator(mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN))
    >>> report.holds
    True
    """
    if not isinstance(integrator, Integrator):
        raise UsageError(
            f"check_integrator needs an mbkit.Integrator, got {integrator!r}; call it with an "
            "instance, such as check_integrator(MyIntegrator())."
        )
    order = getattr(integrator, "order", None)
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        found = f"got {order!r}" if hasattr(integrator, "order") else "and there is none"
        raise UsageError(
            f"{type(integrator).__name__}: order, that of convergence, must be an integer from 1 "
            f"on, {found}; write for example order = 2 in the class."
        )
    lines: list[Line] = []
    taken: list[StandardProblem] = []
    measured: list[Measured] = []
    for problem in problems:
        refusal = _refusal(integrator, problem)
        if refusal is None:
            taken.append(problem)
            lines += _on_problem(integrator, problem, most_steps, measured)
        else:
            lines.append(Line(f"on the {problem.name}", None, remark=refusal))
    lines.append(highest_line(measured, order))
    top = STANDARD_PROBLEMS[1]
    lines += _until_an_error("quaternions keep length one", group(integrator, top))
    lines += _until_an_error("steps keep their contract", contract(integrator, top))
    for problem in (top, *(each for each in taken if each.is_constrained)):
        lines += far_too_large(integrator, problem)
    return Report(f"{integrator!r}, order {order}", tuple(lines))


def measured_orders(
    integrator: Integrator,
    problem: StandardProblem,
    *,
    order: int | None = None,
    most_steps: int = MOST_STEPS,
) -> tuple[dict[str, Slope | None], int]:
    """Return the measured orders of "q", "v" and "multipliers", and the most steps that were taken.

    None stands for an order that fewer than four step sizes above the floor of rounding show. Steps
    are chosen by the expected order, the one it claims if left out. MbkitError if it takes no step
    size.

    Examples
    --------
    >>> import mbkit as mb
    >>> from mbkit.testing.standard_problems import STANDARD_PROBLEMS
    >>> orders, _ = measured_orders(mb.RungeKuttaMuntheKaas(), STANDARD_PROBLEMS[0])
    >>> bool(abs(orders["q"].value - 4.0) < 0.1)
    True
    """
    found, most = _measured(integrator, problem, order or integrator.order, most_steps)
    return {what: each.slope for what, each in found.items()}, most


def _measured(
    integrator: Integrator, problem: StandardProblem, expected: int, most_steps: int
) -> tuple[dict[str, Measured], int]:
    """Return the errors of q, v and multipliers, and the most steps that were taken."""
    least = FLOOR if expected < FEW_STEPS else FEW_FLOOR
    if integrator.keeps_constraints:
        least = CONSTRAINED_FLOOR if problem.is_constrained else SOLVED_FLOOR
    ratio = RATIOS.get(expected, 2.0**0.25)
    if not integrator.stays_on_group:
        least, ratio = max(least, DRIFT_FLOOR), min(ratio, DRIFT_RATIO)

    def floors(steps: int) -> tuple[float, ...]:
        if not problem.is_constrained:
            return least, least
        own = problem.rounding_of_multipliers(steps) if integrator.gives_multipliers else 0.0
        return least, least, max(least, own)

    samples = SAMPLES if expected < FEW_STEPS else FEW_SAMPLES
    counts, errors = errors_of_steps(
        lambda steps: problem.errors(problem.sampled(integrator, steps, samples)),
        FIRST_STEPS.get(expected, 16), ratio=ratio, floors=floors,
        most=most_steps, multiple=samples,
    )  # fmt: skip
    if not counts:
        return {what: Measured.none() for what in "qv"}, 0
    rounding = np.array([floors(count) for count in counts])
    names = ("q", "v", "multipliers")[: errors.shape[1]]
    columns = zip(names, errors.T, rounding.T, strict=True)
    found = {what: Measured.above(counts, each, below) for what, each, below in columns}
    return found, counts[-1]


def _refusal(integrator: Integrator, problem: StandardProblem) -> str | None:
    """Return why an integrator is not run on a problem; None if it is."""
    if problem.is_constrained and not integrator.takes_constraints:
        return "it does not take constraints"
    try:
        prepared(integrator, problem, tau=problem.tau)
    except UsageError as error:
        return str(error)
    except MbkitError:
        return None  # such as by too large a step
    return None


def _on_problem(
    integrator: Integrator, problem: StandardProblem, most_steps: int, seen: list[Measured]
) -> Iterator[Line]:
    """Yield the orders, and the conserved quantities; measurements are added to those of before."""
    if integrator.adaptive:
        remark = "its step size is adaptive; check the form with steps of one size"
        yield Line(
            f"orders, and what falls with the step, on the {problem.name}", None, remark=remark
        )
        if problem.is_constrained:
            yield loops(integrator, problem, OWN_STEPS)[0]
        return
    try:
        found, most = _measured(integrator, problem, integrator.order, most_steps)
    except MbkitError as error:
        yield Line(f"order on the {problem.name}", False, remark=text_of(error))
        return
    seen += found.values()
    for what, measured in found.items():
        law = f"order of {what} on the {problem.name}"
        yield order_line(law, measured, integrator.order, most_steps)
    steps = max(SAMPLES, most // (4 * SAMPLES) * SAMPLES)
    if problem.conservative:
        yield energy(integrator, problem, steps, long=most_steps // 2)
    if problem is STANDARD_PROBLEMS[0]:
        yield momentum(integrator, problem, steps)
    if problem.is_constrained:
        yield from drift(integrator, problem, steps)
    if problem.is_constrained and integrator.gives_multipliers:
        yield multipliers_of_every_step(integrator, problem, steps)


def _until_an_error(law: str, lines: Iterator[Line]) -> Iterator[Line]:
    """Yield lines; where a check ends in an error of mbkit, a line with `law` broken."""
    try:
        yield from lines
    except MbkitError as error:
        yield Line(law, False, remark=text_of(error))
