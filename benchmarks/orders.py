"""The orders of all integrators, measured, as the tables of docs/orders.md.

python benchmarks/orders.py            all of them, half an hour; writes the page
python benchmarks/orders.py RATTLie    rows whose names begin so; prints them
"""

from __future__ import annotations

import pathlib
import sys
import warnings
from collections.abc import Mapping, Sequence

import attrs

import mbkit as mb
from benchmarks.absolute_tops import TOPS
from benchmarks.catalogue import INTEGRATORS, UNCORRECTED
from benchmarks.digits import in_digits
from benchmarks.report import Row, Table, written
from benchmarks.timing import sized
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS, FAST_TOPS, FAST_TOPS_ON_LOOPS
from mbkit.testing.convergence import Slope
from mbkit.testing.integrators import measured_orders
from mbkit.testing.standard_problems import STANDARD_PROBLEMS, StandardProblem
from mbkit.testing.verdicts import ORDER_BOUND

#: Where the tables stand.
PAGE = pathlib.Path(__file__).parents[1] / "docs" / "orders.md"

#: The problems of the two tables.
FREE = (*STANDARD_PROBLEMS[:2], *FAST_TOPS)
CONSTRAINED = (*CONSTRAINED_PROBLEMS[:2], *FAST_TOPS_ON_LOOPS, CONSTRAINED_PROBLEMS[2])

#: From this order on doubles have no room between rounding and the leading term; nor for the
#: multipliers of these integrators, which hold second differences of positions.
HIGH = 6
SECOND_DIFFERENCES = tuple(
    f"BLieDF {k}, {name}" for k in (4, 5) for name in ("stabilised", "index 3")
)

#: Steps that are not exceeded, and by methods of order 1: tops that spin fast want them short.
MOST_STEPS, MOST_OF_FIRST_ORDER = sized((8192, 262144), (256, 256))

#: What the small size measures.
FEW = {name: INTEGRATORS[name] for name in ("Crouch-Grossman 4", "BLieDF 2, index 3")}

#: Of methods whose runs end where quaternions drift from length one: a fast top wants short steps.
MOST_OF_DRIFTING = sized(32768, 256)

#: The same in absolute coordinates, which have more rounding, and up to which order they have room
#: above it.
MOST_STEPS_IN_COORDINATES, MOST_ORDER_IN_COORDINATES = sized(2900, 256), 4


@attrs.frozen
class Cell:
    """What was measured of an integrator on a problem.

    Attributes
    ----------
    claimed : int
        The order it should have.
    orders : mapping of str to Slope or None
        By q, v and multipliers; empty where the problem is refused.
    in_digits : bool
        Whether in 60 digits rather than in doubles.
    """

    claimed: int
    orders: Mapping[str, Slope | None]
    in_digits: bool = False

    @property
    def missed(self) -> float:
        """By how much the worst order is missed; infinite where one could not be measured."""
        return max(
            (
                float("inf") if slope is None else abs(slope.value - self.claimed)
                for slope in self.orders.values()
            ),
            default=0.0,
        )

    @property
    def uncertainty(self) -> float:
        """The largest standard error."""
        return max((slope.uncertainty for slope in self.orders.values() if slope), default=0.0)

    def __str__(self) -> str:
        text = " ".join(self._text(slope) for slope in self.orders.values()) or "-"
        return f"{text} (60)" if self.in_digits else text

    def _text(self, slope: Slope | None) -> str:
        if slope is None:
            return "?"
        text = f"{slope.value:.2f}"
        return text if abs(slope.value - self.claimed) <= ORDER_BOUND else f"**{text}**"


def orders(
    integrators: Mapping[str, mb.Integrator] = sized(INTEGRATORS, FEW),
    *,
    uncorrected: Mapping[str, tuple[mb.Integrator, int]] = sized(UNCORRECTED, {}),
    free: Sequence[StandardProblem] = FREE,
    constrained: Sequence[StandardProblem] = CONSTRAINED,
    tops: Sequence[StandardProblem] = TOPS,
    most_steps: int = MOST_STEPS,
) -> list[Table]:
    """Return tables: motions without constraints, with them, the top in absolute coordinates.

    And one of methods that miss their order.

    Parameters
    ----------
    integrators : mapping of str to Integrator
        What is measured, by name.
    uncorrected : mapping of str to tuple of Integrator and int
        What misses its order on groups, and that order.
    free, constrained, tops : sequence of StandardProblem
        On which motions.
    most_steps : int
        Steps of a motion that are not exceeded.
    """
    all_of_them = {name: (each, each.order) for name, each in integrators.items()}
    closed = {name: each for name, each in all_of_them.items() if each[0].takes_constraints}
    known = many_digits(all_of_them, [*free, *constrained])
    tables = [
        table("Orders of q and v without constraints", all_of_them, free, most_steps, known=known),
        table(
            "Orders of q, v and multipliers under constraints",
            closed,
            constrained,
            most_steps,
            known=known,
        ),
    ]
    low = {name: each for name, each in closed.items() if each[1] <= MOST_ORDER_IN_COORDINATES}
    title = "Orders of q, v and multipliers of the heavy top in absolute coordinates"
    tables.append(table(title, low, tops, MOST_STEPS_IN_COORDINATES))
    if uncorrected:
        title = "Without its correction BLieDF misses the orders 3 and 4"
        problems = (*free, *constrained)
        tables.append(table(title, uncorrected, problems, most_steps, bar=None))
    return tables


def many_digits(
    integrators: Mapping[str, tuple[mb.Integrator, int]], problems: Sequence[StandardProblem]
) -> dict[tuple[str, str], Cell]:
    """Return the cells that are measured in 60 digits, by integrator and problem."""
    wanted = [
        (name, problem.name)
        for name, (integrator, order) in integrators.items()
        for problem in problems
        if INTEGRATORS.get(name) == integrator
        and (order >= HIGH or (problem.is_constrained and name in SECOND_DIFFERENCES))
        and (integrator.takes_constraints or not problem.is_constrained)
    ]
    return {
        (name, problem): Cell(integrators[name][1], found.orders, in_digits=True)
        for (name, problem), found in (in_digits(wanted) if wanted else {}).items()
    }


def table(
    title: str,
    integrators: Mapping[str, tuple[mb.Integrator, int]],
    problems: Sequence[StandardProblem],
    most_steps: int,
    bar: float | None = ORDER_BOUND,
    known: Mapping[tuple[str, str], Cell] | None = None,
) -> Table:
    """Return the table of some integrators on some problems: a bar is how far orders may be off."""
    known = known or {}
    rows = []
    for name, (integrator, order) in integrators.items():
        cells = [
            known.get((name, problem.name)) or cell(integrator, problem, most_steps, order)
            for problem in problems
        ]
        worst = max(each.missed for each in cells)
        largest = max(each.uncertainty for each in cells)
        extra = [str(order), *map(str, cells), f"{largest:.2f}"]
        rows.append(Row(name, value=worst, bar=bar, extra=extra))
    heads = ["order", *(problem.name for problem in problems), "+-"]
    return Table(title, rows, extra=heads)


def cell(
    integrator: mb.Integrator,
    problem: StandardProblem,
    most_steps: int = MOST_STEPS,
    order: int | None = None,
) -> Cell:
    """Return the orders of an integrator on a problem; none where it refuses it."""
    order = integrator.order if order is None else order
    if order == 1:
        most_steps *= MOST_OF_FIRST_ORDER // MOST_STEPS
    if not integrator.stays_on_group:
        most_steps *= MOST_OF_DRIFTING // MOST_STEPS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        try:
            found, _ = measured_orders(integrator, problem, order=order, most_steps=most_steps)
        except mb.UsageError:
            return Cell(order, {})
        except mb.MbkitError:
            names = ("q", "v", "multipliers")[: 3 if problem.is_constrained else 2]
            return Cell(order, dict.fromkeys(names))
    return Cell(order, found)


def main() -> None:
    """Measure, print, and write the page where all were measured."""
    prefixes = tuple(sys.argv[1:])
    chosen = {
        name: each
        for name, each in INTEGRATORS.items()
        if not prefixes or name.startswith(prefixes)
    }
    found = orders(chosen, uncorrected={} if prefixes else UNCORRECTED)
    print("\n\n".join(each.markdown() for each in found))
    if not prefixes:
        written(found, PAGE)


if __name__ == "__main__":
    main()
