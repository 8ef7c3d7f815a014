"""A mechanism of which numbers vary from run to run."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import UsageError, check_kind, suggestion
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas
from mbkit.model import Mechanism
from mbkit.results import Result
from mbkit.simulation.simulate import simulate
from mbkit.simulation.start import initial_state, number_of_steps
from mbkit.studies.laboratory.directory import code_of, digest
from mbkit.systems import System
from mbkit.systems.calls.by_name import entries_of

__all__ = ["Output", "Varied", "check_entries", "distribution", "row_of", "varied_of"]

_ENTRY = re.compile(r"(.*)\[(\d+)\]")

Output = Callable[[Result], Any]


@attrs.frozen(eq=False)
class Varied:
    """A mechanism of which numbers vary, and what is asked of each run."""

    system: System
    q: Any
    v: Any
    t_span: tuple[float, float]
    h: float | None
    integrator: Integrator | None
    vary: Mapping[str, Any]
    outputs: Mapping[str, Output]

    @property
    def setting(self) -> dict[str, Any]:
        """What identifies the runs, but for the numbers that vary and what is asked."""
        return {
            "model": digest(self.system.model_text), "q": self.q.tolist(), "v": self.v.tolist(),
            "t_span": list(self.t_span), "h": self.h, "integrator": repr(self.integrator),
            "coordinates": repr(self.system.coordinates),
            **code_of(self.system, integrator=self.integrator),
        }  # fmt: skip

    def row(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Return the outputs of the run with these numbers, or why there are none."""
        return row_of(self.run, self._asked, values)

    def _asked(self, run: Result) -> dict[str, float]:
        return {name: float(each(run)) for name, each in self.outputs.items()}

    def run(self, values: Mapping[str, float]) -> Result:
        """Return the run with these numbers."""
        system, q, v = self._changed(values)
        return simulate(
            system, self.t_span, self.h, q=q, v=v, integrator=self.integrator, save_every=1,
            progress=False,
        )  # fmt: skip

    def _changed(self, values: Mapping[str, float]) -> tuple[System, Any, Any]:
        q, v = self.q.copy(), self.v.copy()
        changes: dict[str, Any] = {}
        for name, value in values.items():
            kind, _, rest = name.partition(".")
            if kind in ("q", "v"):
                (q if kind == "q" else v)[self._entry(kind, rest)] = value
                continue
            entry = _ENTRY.fullmatch(name)
            if entry is None:
                changes[name] = value
                continue
            array = np.array(changes.get(entry[1], self.system.parameters[entry[1]]))
            array.reshape(-1)[int(entry[2])] = value
            changes[entry[1]] = array
        system = self.system.with_parameters(changes) if changes else self.system
        if system.num_velocity_constraints:
            named = [name[2:] for name in values if name.startswith(("q.", "v."))]
            q, v = system.close_loops(q, v, fixed=list(dict.fromkeys(named)))
        return system, q, v

    def _entry(self, kind: str, name: str) -> slice:
        found = entries_of(self.system, kind, name)
        if found.stop - found.start != 1:
            raise UsageError(
                f"vary: '{kind}.{name}' has {found.stop - found.start} numbers; name one of them, "
                f"such as '{kind}.{name}[0]'."
            )
        return found

    def check(self) -> None:
        """Raise UsageError where a name, a range or an output is none."""
        for name in self.vary:
            kind, _, rest = name.partition(".")
            if kind in ("q", "v") and name not in self.system.parameters:
                self._entry(kind, rest)
                continue
            entry = _ENTRY.fullmatch(name)
            base = name if entry is None else entry[1]
            if base not in self.system.parameters:
                raise UsageError(f"vary: {name!r} is unknown; {suggestion(name, self._known())}")
            size = np.size(self.system.parameters[base])
            if (entry is None) != (size == 1) or (entry is not None and int(entry[2]) >= size):
                raise UsageError(
                    f"vary: {base!r} has {size} numbers; name one of them, as in '{base}[0]'."
                )
        for name, each in self.outputs.items():
            if not callable(each):
                raise UsageError(f"outputs: {name!r} must be a function of a Result, got {each!r}.")

    def _known(self) -> list[str]:
        joints = [f"{kind}.{joint}" for kind in "qv" for joint in self.system.joint_names]
        return [*self.system.parameters, *joints]

    def middle(self) -> dict[str, float]:
        """Return the medians of what varies."""
        return {name: float(each.ppf(0.5)) for name, each in self.vary.items()}


def row_of(
    run: Callable[[Any], Result], asked: Callable[[Result], dict[str, Any]], values: Any
) -> dict[str, Any]:
    """Return what is asked of the run with some values, or why there is nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = run(values)
            found = asked(result)
    except Exception as error:  # of the run, or of an output of the user
        text = " ".join(str(error).split())
        return {**values, "status": f"{type(error).__name__}: {text:.300}"}
    return {**values, "status": "completed" if result.completed else result.message, **found}


def check_entries(**given: Any) -> None:
    """Raise UsageError unless each argument is a mapping with an entry."""
    for name, each in given.items():
        if not (isinstance(each, Mapping) and each):
            raise UsageError(f"{name} must be a dict with an entry at least, got {each!r}.")


def varied_of(
    mechanism: Any,
    t_span: Any,
    h: Any,
    vary: Mapping[str, Any],
    outputs: Mapping[str, Output],
    options: dict[str, Any],
    *,
    values: Callable[[str, Any], Any],
) -> Varied:
    """Return what varies, checked, with the values of a name as given; UsageError names faults."""
    check_kind("mechanism", mechanism, Mechanism, "an mbkit.Mechanism")
    known = ("q", "v", "integrator", "coordinates")
    if unknown := next((name for name in options if name not in known), None):
        raise UsageError(f"There is no argument {unknown!r}; {suggestion(unknown, known)}")
    integrator = options.get("integrator", None if h is None else RungeKuttaMuntheKaas())
    system = mechanism.assemble(options.get("coordinates"))
    named = {str(name): values(str(name), each) for name, each in vary.items()}
    span, step, _ = number_of_steps(t_span, h)
    start = initial_state(system, span[0], options.get("q"), options.get("v"))
    h = None if h is None else step
    made = Varied(system, start.q, start.v, span, h, integrator, named, dict(outputs))
    made.check()
    return made


def distribution(name: str, given: Any) -> Any:
    """Return a distribution: uniform from a pair of numbers, or the one that was given."""
    if callable(getattr(given, "ppf", None)):
        return given
    try:
        low, high = (float(each) for each in given)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError(
            f"vary: {name!r} must be a pair of numbers, low and high, or a distribution of "
            f"scipy.stats, got {given!r}."
        )
    from scipy import stats

    return stats.uniform(low, high - low)
