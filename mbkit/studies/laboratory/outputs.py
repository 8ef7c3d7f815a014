"""Outputs of the runs of a sweep: columns by name, and functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import UsageError, suggestion
from mbkit.results import Result
from mbkit.results.columns import velocity_units
from mbkit.simulation.long_runs.identity import fingerprint
from mbkit.simulation.outputs.by_name import checked_outputs
from mbkit.systems import System

__all__ = [
    "NAMED", "Outputs", "function_of_module", "outputs_of", "unit_of_varied", "units_of",
    "units_of_recorded",
]  # fmt: skip

Columns = dict[str, Any]


def _end(run: Result) -> Columns:
    names = {"q": (run.position_names, run.q), "v": (run.velocity_names, run.v)}
    states = {
        f"end.{kind}.{name}": float(values[-1, k])
        for kind, (own, values) in names.items()
        for k, name in enumerate(own)
    }
    return {"end.t": float(run.t[-1]), **states}


def _energy_drift(run: Result) -> Columns:
    return {"energy_drift": float(np.abs(run.energy_balance).max())}


def _constraints(run: Result) -> Columns:
    if run.multipliers.shape[1] == 0:
        return {}
    levels = ("constraint_position", "constraint_velocity", "constraint_acceleration")
    return dict(zip(levels, np.abs(run.residuals).max(axis=0).tolist(), strict=True))


def _counts(run: Result) -> Columns:
    return {"steps": run.options["steps_taken"], **run.options["counts"]}


def _warnings(run: Result) -> Columns:
    return {"warnings": f"{' '.join(run.warnings):.300}"} if run.warnings else {}


def _wall_time(run: Result) -> Columns:
    return {"wall_time": run.options["wall_time"]}


#: Columns by the names that select them; all of them where none are selected.
NAMED: dict[str, Callable[[Result], Columns]] = {
    "end": _end, "energy_drift": _energy_drift, "constraints": _constraints, "counts": _counts,
    "warnings": _warnings, "wall_time": _wall_time,
}  # fmt: skip


def units_of(system: System) -> dict[str, str]:
    """Return the columns that have names, in the order of tables, with their units."""
    q, q_units, v = system.position_names, system.position_units, system.velocity_names
    v_units = velocity_units(q, q_units, v)
    return {
        "end.t": "s",
        **{f"end.q.{name}": unit for name, unit in zip(q, q_units, strict=True)},
        **{f"end.v.{name}": unit for name, unit in zip(v, v_units, strict=True)},
        "energy_drift": "J", "constraint_position": "m", "constraint_velocity": "m/s",
        "constraint_acceleration": "m/s^2", "steps": "", "evaluations": "", "newton_iterations": "",
        "factorisations": "", "rejected_steps": "", "warnings": "", "wall_time": "s",
    }  # fmt: skip


#: Units of numbers that have the same in all models, by the end of their name.
_UNITS = {
    "h": "s", "gravity": "m/s^2", "mass": "kg", "com": "m",
    "moment_about_com": "kg m^2",
}  # fmt: skip


def unit_of_varied(system: System, name: str) -> str:
    """Return the unit of a quantity that a sweep varies; empty where the name does not fix it."""
    place = name.removeprefix("initial.")
    if place.startswith(("q.", "v.")):
        return units_of(system).get(f"end.{place}", "")
    name = name.removeprefix("parameters.").partition("[")[0]
    if name.startswith("bodies."):
        name = name.rpartition(".")[2]
    return _UNITS.get(name, "")


@attrs.frozen
class Outputs:
    """The outputs of a run in a study.

    Attributes
    ----------
    names : tuple of str
        Of `NAMED`.
    functions : mapping of str to callable
        ``function(run)`` returns the number of a column.
    recorded : tuple of str
        Of the `outputs` of `simulate`, such as "main.effort": their least, largest and last values.
    """

    names: tuple[str, ...] = tuple(NAMED)
    functions: Mapping[str, Callable[[Result], Any]] = attrs.field(factory=dict)
    recorded: tuple[str, ...] = ()

    def __call__(self, run: Result) -> Columns:
        """Return the columns of a run."""
        found: Columns = {}
        for name in self.names:
            found |= NAMED[name](run)
        for name in self.recorded:
            found |= _over_time(name, run.outputs[name])
        return found | {name: float(each(run)) for name, each in self.functions.items()}

    def identity(self) -> dict[str, Any]:
        """Return the identity of outputs."""
        functions = {name: fingerprint(each) for name, each in self.functions.items()}
        more = {"recorded": list(self.recorded)} if self.recorded else {}
        return {"names": list(self.names), "functions": functions, **more}


def _over_time(name: str, values: Any) -> Columns:
    """Return the columns of a recorded output (k, ...): least, largest and last value, by entry."""
    found = {"min": values.min(axis=0), "max": values.max(axis=0), "end": values[-1]}
    return {
        f"{kind}.{name}{_index(place)}": float(array[place])
        for kind, array in found.items()
        for place in np.ndindex(array.shape)
    }


def _index(place: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, place))}]" if place else ""


def units_of_recorded(system: System, names: tuple[str, ...]) -> dict[str, str]:
    """Return the columns of recorded outputs of one number or one vector, with their units."""
    found = {}
    for output in checked_outputs(system, names):
        units = output.units(system)
        for kind in ("min", "max", "end"):
            for k, unit in enumerate(units):
                index = f"[{k}]" if len(units) > 1 else ""
                found[f"{kind}.{output.label}{index}"] = unit
    return found


def outputs_of(given: Any, what: Any = None) -> Outputs:
    """Return outputs: all that have names, some of them, functions of modules, or by name.

    Where none are given, `what` may be a study, whose own outputs are among all.
    """
    if given is None:
        return Outputs(recorded=getattr(what, "outputs", ()))
    if isinstance(given, Mapping):
        for name, each in given.items():
            if not callable(each):
                raise UsageError(f"outputs: {name!r} must be a function of a Result, got {each!r}.")
        return Outputs((), {str(name): each for name, each in given.items()})
    texts = [given] if isinstance(given, str) else given
    if not (isinstance(texts, list | tuple) and all(isinstance(each, str) for each in texts)):
        raise UsageError(
            f"outputs must be names, 'MODULE:FUNCTION', or a dict of functions, got {given!r}."
        )
    names = [text for text in texts if ":" not in text and "." not in text]
    recorded = [text for text in texts if ":" not in text and "." in text]
    if unknown := next((name for name in names if name not in NAMED), None):
        raise UsageError(
            f"outputs: there is no {unknown!r}; {suggestion(unknown, NAMED)} Functions are "
            "'MODULE:FUNCTION', and what runs record is 'NAME.QUANTITY', such as 'main.effort'."
        )
    functions = {
        text.rpartition(":")[2]: function_of_module("outputs", text)
        for text in texts
        if ":" in text
    }
    return Outputs(tuple(names), functions, tuple(dict.fromkeys(recorded)))


def function_of_module(argument: str, text: str) -> Callable[..., Any]:
    """Return the function of "MODULE:FUNCTION"; UsageError, with the argument, if there is none."""
    module, _, name = text.rpartition(":")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{argument}: {text!r}: {error}.") from error
    if not callable(found):
        raise UsageError(f"{argument}: module {module!r} has no function {name!r}.")
    return found  # type: ignore[no-any-return]
