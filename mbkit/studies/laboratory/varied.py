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
from mbkit.simulation.named_start import entries_of
from mbkit.simulation.simulate import simulate
from mbkit.studies.laboratory.compare import start_of
from mbkit.systems import System

__all__ = ["Output", "Varied", "varied_of"]

_ENTRY = re.compile(r"(.*)\[(\d+)\]")

Output = Callable[[Result], Any]


@attrs.frozen(eq=False)
class Varied:
    """A mechanism of which numbers vary, and what is asked of each run."""

    system: System
    q: Any
    v: Any
    t_span: tuple[float, float]
    h: float
    integrator: Integrator
    vary: Mapping[str, Any]
    outputs: Mapping[str, Output]

    def row(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Return the outputs of the run with these numbers, or why there are none."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                system, q, v = self._changed(values)
                run = simulate(
                    system, self.t_span, self.h, q=q, v=v, integrator=self.integrator,
                    save_every=1, progress=False,
                )  # fmt: skip
                found = {name: float(each(run)) for name, each in self.outputs.items()}
        except Exception as error:  # of the run, or of an output of the user
            text = " ".join(str(error).split())
            return {**values, "status": f"{type(error).__name__}: {text:.300}"}
        return {**values, "status": "completed", **found}

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


def varied_of(
    mechanism: Any, t_span: Any, h: Any, vary: Any, outputs: Any, options: dict[str, Any]
) -> Varied:
    """Return what varies, checked; UsageError names what is wrong."""
    check_kind("mechanism", mechanism, Mechanism, "an mbkit.Mechanism")
    for name, given in (("vary", vary), ("outputs", outputs)):
        if not (isinstance(given, Mapping) and given):
            raise UsageError(f"{name} must be a dict with an entry at least, got {given!r}.")
    known = ("q", "v", "integrator", "coordinates")
    if unknown := next((name for name in options if name not in known), None):
        raise UsageError(f"There is no argument {unknown!r}; {suggestion(unknown, known)}")
    integrator = options.get("integrator", RungeKuttaMuntheKaas())
    system = mechanism.assemble(options.get("coordinates"))
    q, v = start_of(system, options.get("q"), options.get("v"))
    random = {str(name): _distribution(str(name), each) for name, each in vary.items()}
    try:
        span = (float(t_span[0]), float(t_span[1]))
    except (TypeError, ValueError, IndexError):
        raise UsageError(f"t_span must be start and end in seconds, got {t_span!r}.") from None
    made = Varied(system, q, v, span, h, integrator, random, dict(outputs))
    made.check()
    return made


def _distribution(name: str, given: Any) -> Any:
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
