"""Round-off of each representation, by how far the mechanism stands from the world's origin.

The reference has 50 digits: the same kernels, run as Python on mpmath's numbers in a process of its
own. ``NUMBA_DISABLE_JIT=1 python -m benchmarks.precision`` prints it as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from benchmarks.mechanisms import MIXED, REVOLUTE, benchmark_tree
from benchmarks.operations import REPRESENTATIONS, uncompiled_json
from benchmarks.report import Row, Table
from benchmarks.timing import sized
from tests.trees import random_mechanism, random_state

#: Away from the world's origin. [m]
DISTANCES = {"1 m away": 1.0, "1 km away": 1e3, "1000 km away": 1e6}

#: In which direction: none of the axes.
DIRECTION = np.array([0.48, -0.6, 0.64])

BODIES = sized(7, 3)
STATES = sized(20, 1)
DIGITS = 50

ALGORITHMS = ("inverse dynamics", "forward dynamics")


@attrs.frozen
class Case:
    """A mechanism at a place, and states of it."""

    title: str
    mechanism: mb.Mechanism
    distance: float

    def system(self, representation: mb.Representation) -> mb.System:
        """Return the equations of motion."""
        return self.mechanism.assemble(mb.RelativeCoordinates(representation))

    def states(self) -> list[Any]:
        """Return random states, the same in every process."""
        rng = np.random.default_rng(1)
        system = self.system(mb.BodyFixed())
        states = [random_state(rng, system) for _ in range(STATES)]
        for name, edge in self.mechanism.joints.items():
            if isinstance(edge.joint, mb.FreeJoint):
                origin = slice(
                    system.position_slice(name).start + 4, system.position_slice(name).stop
                )
                for state in states:
                    state.q[origin] += self.distance * DIRECTION
        return states


def cases() -> Iterator[Case]:
    """Give what is measured."""
    for where, distance in DISTANCES.items():
        place = tuple(distance * DIRECTION)
        for title, kinds in (("revolute tree", REVOLUTE), ("mixed tree", MIXED)):
            mechanism = benchmark_tree(BODIES, kinds, place=place)
            yield Case(f"{title}, {where}", mechanism, distance)
        rng = np.random.default_rng(2)
        floating = random_mechanism(rng, BODIES, ("revolute", "spherical"), floating=True)
        yield Case(f"floating tree, {where}", floating, distance)


def exact() -> dict[str, Any]:
    """Return the results of every case, by title and algorithm, rounded to doubles."""
    import mpmath

    from mbkit.kernels.body_fixed import algorithms
    from mbkit.studies.laboratory.counting.number_types import OtherNumbers

    mpmath.mp.dps = DIGITS
    functions = {
        "inverse dynamics": (algorithms.inverse_dynamics, "vdot"),
        "forward dynamics": (algorithms.forward_dynamics, "tau"),
    }
    found: dict[str, Any] = {}
    for case in cases():
        system = case.system(mb.BodyFixed())
        numbers = OtherNumbers(system, mpmath.mpf)
        for what, (function, given) in functions.items():
            found[f"{case.title}, {what}"] = [
                [
                    float(x)
                    for x in numbers.call(
                        function, state.q, state.v, getattr(state, given), system.nv
                    )
                ]
                for state in case.states()
            ]
    return found


def precision() -> Table:
    """Return relative errors."""
    reference = uncompiled_json("benchmarks.precision")
    rows = []
    for case in cases():
        for what in ALGORITHMS:
            title = f"{case.title}, {what}"
            errors = {
                name: _error(case, what, representation, np.array(reference[title]))
                for name, representation in REPRESENTATIONS.items()
            }
            cells = [f"{error:.0e}" if error < 1.0 else "refused" for error in errors.values()]
            rows.append(Row(title, extra=cells))
    return Table(
        f"Errors by the greatest entry, median of {STATES} states, against {DIGITS} digits",
        rows,
        extra=tuple(REPRESENTATIONS),
    )


def _error(case: Case, what: str, representation: mb.Representation, expected: Any) -> float:
    """Return the median error; infinite where most states are refused."""
    system = case.system(representation)
    method = getattr(system, what.replace(" ", "_"))
    errors = []
    for state, exact_result in zip(case.states(), expected, strict=True):
        x = state.vdot if what == "inverse dynamics" else state.tau
        found = method(state.q, state.v, x, on_error="nan")
        error = np.abs(found - exact_result).max() / np.abs(exact_result).max()
        errors.append(float(error) if np.isfinite(error) else np.inf)
    return float(np.median(errors))


if __name__ == "__main__":
    print(json.dumps(exact()))
