"""Operations of the steps of a run, counted by taking some of them with numbers that count.

That needs kernels that Python runs: `operations_of` starts a process of its own, with
``NUMBA_DISABLE_JIT=1``, which runs this module.
"""

from __future__ import annotations

import collections
import pickle
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Rows
from mbkit.io.toml.loading import parse_model
from mbkit.simulation.preparation import prepare
from mbkit.simulation.stabilisation import PROJECTION
from mbkit.studies.laboratory.cases import Case
from mbkit.studies.laboratory.counting.counted import Counted, counting_places
from mbkit.studies.laboratory.counting.step_places import ALGORITHMS, Place, place_of
from mbkit.studies.laboratory.counting.uncompiled import answer_of
from mbkit.studies.laboratory.reference import Setting

__all__ = ["operations_of", "scaled"]

#: Steps by which methods of several steps begin, and steps that are like all that follow, but for
#: factorisations, of which they may have none: these are counted in both.
BEFORE, COUNTED = 5, 5

Counts = dict[str, Any]


@attrs.frozen(eq=False)
class _Steps:
    """Steps of a case whose operations are counted, in a form that another process can run."""

    model: str
    coordinates: Any
    integrator: Integrator
    h: float
    constraint_solver: Any
    stabilisation: Any
    base: str
    state: tuple[Any, Any]
    t0: float
    tau: Any
    before: int = BEFORE
    steps: int = COUNTED

    def counted(self) -> Counts:
        """Return operations by `Place`, of one evaluation, factorisation or step.

        On average; kernels are run by Python here. "bodies" are how many there are.
        """
        from mbkit.studies.laboratory.counting.twins import Twins

        base = parse_model(self.base).assemble()
        system = parse_model(self.model).assemble(self.coordinates)
        q, v = system.state_of(base, *self.state)
        last = self.before + self.steps
        kept = self.integrator.keeps_constraints or not system.num_velocity_constraints
        run = prepare(
            system, self.integrator, (self.t0, self.t0 + last * self.h), self.h, q=q, v=v,
            tau=self.tau, forces=(), events=(), save_every=last, save_at=None,
            stabilisation=PROJECTION if kept else self.stabilisation,
            constraint_solver=self.constraint_solver,
        )  # fmt: skip
        problem = run.problem
        rows = Rows.empty(1, problem.nq, problem.nv, problem.multipliers.size)
        advance = self.integrator.prepare(problem)
        if not hasattr(advance, "records"):  # as all that `advance_by` makes have them
            return {"reason": "steps in Python compute beside the kernels, which is not counted"}
        begun: Mapping[Any, int] = {}
        found: Mapping[Any, int] = {}
        counts, status = [], 0
        with Twins(Counted).in_use():
            for first, steps in ((0, self.before), (self.before, self.steps)):
                counts.append(problem.counted())
                begun = found
                with counting_places(place_of) as found:
                    if steps and status == 0:
                        status, _, _ = advance(first, steps, rows)
        if status != 0:
            return {"reason": f"a step ends with status {status}"}
        if not found:
            return {"reason": "the steps are not taken by kernels"}
        after = problem.counted()
        times = {each: count - counts[1].get(each, 0) for each, count in after.items()}
        times |= {"steps": self.steps, "factorisations": after.get("factorisations", 0)}
        each_time: collections.Counter[Place] = collections.Counter()
        for place in {*begun, *found}:
            total = found.get(place, 0) + begun.get(place, 0) * (place.each == "factorisations")
            each = place.each if times.get(place.each) else "steps"  # where it has no such count
            each_time[Place(place.algorithm, each)] += total / times[each]
        return {
            "begun": dict(begun), "begun_times": {**counts[1], "steps": self.before},
            "each_time": dict(each_time), "bodies": len(system.body_names) - 1,
        }  # fmt: skip


def operations_of(cases: Sequence[Case], setting: Setting) -> dict[str, Counts]:
    """Return operations of a step, an evaluation and a factorisation, by the choices but h.

    They are counted in some steps from the start, of the middle one of all sizes, without events.
    Where they cannot be, there is a ``reason``.
    """
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(_but_h(case), []).append(case)
    if callable(setting.tau):
        return {label: {"reason": "efforts are a function of time"} for label in groups}
    texts: dict[int, str] = {}
    given: dict[str, bytes] = {}
    found: dict[str, Counts] = {}
    for label, group in groups.items():
        case = group[len(group) // 2]
        try:
            if id(case.mechanism) not in texts:
                texts[id(case.mechanism)] = case.mechanism.assemble().model_text
            steps = _Steps(
                texts[id(case.mechanism)], case.coordinates, case.integrator, case.h,
                case.constraint_solver, case.stabilisation, setting.base.model_text,
                (setting.q, setting.v), setting.t_span[0], setting.tau,
            )  # fmt: skip
            given[label] = pickle.dumps(steps)
        except Exception as error:  # whatever a class of the user raises
            found[label] = {"reason": _told(error)}
    if given:
        found |= _by_python(given)
    return found


def scaled(case: Case, counts: dict[str, Counts], row: dict[str, Any]) -> dict[str, Any]:
    """Return the operations of a run by its counts of steps, or why they are not known."""
    known = counts.get(_but_h(case), {"reason": "nothing was counted"})
    if "reason" in known:
        return {"uncounted": known["reason"]}
    times = {each: row.get(each) or 0 for each in ("evaluations", "factorisations", "steps")}
    if not times["steps"]:  # of a run that failed
        return {}
    times["steps"] += row.get("rejected_steps") or 0
    parts = dict.fromkeys(ALGORITHMS, 0.0)
    for place, operations in known["begun"].items():
        parts[place.algorithm] += operations
    for place, operations in known["each_time"].items():
        begun = known["begun_times"].get(place.each, 0)
        parts[place.algorithm] += operations * max(times[place.each] - begun, 0)
    total = sum(parts.values())
    by = {f"operations_{name}": value for name, value in parts.items() if value}
    one = total / max(times["evaluations"], 1) / max(known["bodies"], 1)
    return {"operations": total, **by, "operations_per_body": one}


def _but_h(case: Case) -> str:
    return repr({name: label for name, label in case.choices.items() if name != "h"})


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split()):.200}"


def _by_python(given: dict[str, bytes]) -> dict[str, Counts]:
    """Return the counts of a process in which Python runs the kernels."""
    answer, reason = answer_of(__name__, pickle.dumps(given))
    if answer is None:
        return {label: {"reason": f"counting failed: {reason:.200}"} for label in given}
    found: dict[str, Counts] = pickle.loads(answer)  # noqa: S301 - of our own process
    return found


def main() -> None:
    """Read the cases to be counted from the standard input, write counts."""
    given = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own process
    out, sys.stdout = sys.stdout, sys.stderr  # output of others is no answer
    found: dict[str, Counts] = {}
    for label, text in given.items():
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found[label] = pickle.loads(text).counted()  # noqa: S301
        except Exception as error:  # of a joint, a force or an integrator of the user
            found[label] = {"reason": _told(error)}
    out.buffer.write(pickle.dumps(found))
    out.buffer.flush()


if __name__ == "__main__":
    main()
