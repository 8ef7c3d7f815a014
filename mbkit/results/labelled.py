"""A result as a data set of xarray: the shape that result files have too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mbkit.extras import extra_package

if TYPE_CHECKING:
    from xarray import Dataset

    from mbkit.results.result import Result

# Name, dimensions and attributes of every variable that is an array over time.
VARIABLES: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "q": (("time", "position"), {"long_name": "positions"}),
    "v": (("time", "velocity"), {"long_name": "velocities"}),
    "kinetic_energy": (("time",), {"long_name": "kinetic energy", "units": "J"}),
    "potential_energy": (("time",), {"long_name": "potential energy", "units": "J"}),
    "dissipated_energy": (("time",), {"long_name": "dissipated energy", "units": "J"}),
    "supplied_energy": (("time",), {"long_name": "supplied energy", "units": "J"}),
}

# Name, field of the log, dimensions and attributes of the data of events.
EVENT_VARIABLES: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "event_name": ("names", ("event",), {}),
    "event_time": ("t", ("event",), {"units": "s"}),
    "event_q": ("q", ("event", "position"), {"long_name": "positions before"}),
    "event_v": ("v", ("event", "velocity"), {"long_name": "velocities before"}),
    "event_q_after": ("q_after", ("event", "position"), {"long_name": "positions after"}),
    "event_v_after": ("v_after", ("event", "velocity"), {"long_name": "velocities after"}),
}

# The same of systems with constraints.
CONSTRAINT_VARIABLES: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "multipliers": (("time", "constraint"), {"long_name": "Lagrange multipliers", "units": "N"}),
    "residuals": (
        ("time", "level"),
        {"long_name": "largest constraint residual, its rate and acceleration"},
    ),
}

# Levels at which constraints hold.
LEVELS = ("position", "velocity", "acceleration")

# Those that files of earlier versions do not have.
LATER_VARIABLES = ("dissipated_energy", "supplied_energy")

# Name and field of every coordinate that is a list of names.
LABELS = {
    "position": "position_names",
    "velocity": "velocity_names",
    "body": "body_names",
    "joint": "joint_names",
}


def attributes(run: Result) -> dict[str, Any]:
    """Return the data besides arrays and labels, as numbers and text (mappings as JSON)."""
    return {
        "completed": int(run.completed),
        "message": run.message,
        "model": run.model,
        "options": to_json(run.options),
        "versions": to_json(run.versions),
        "position_units": to_json(run.position_units),
        "warnings": to_json(run.warnings),
        "outputs": to_json(list(run.outputs)),
    }


def output_variables(run: Result) -> Iterator[tuple[tuple[str, str], tuple[str, ...], Any]]:
    """Go through outputs: the name of the variable and that of the user, dimensions, array.

    Names of users may have characters that names of variables may not.
    """
    for k, (name, array) in enumerate(run.outputs.items()):
        axes = (f"output_{k}_axis_{j}" for j in range(1, array.ndim))
        yield (f"output_{k}", name), ("time", *axes), array


def to_json(value: Any) -> str:
    """Return JSON text of the plain values that a result holds."""
    return json.dumps(value, default=_as_dict, ensure_ascii=False)


def _as_dict(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):  # a read-only view of a dict, which json does not know
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in a result")


def to_dataset(run: Result) -> Dataset:
    """Return `run` as a data set of xarray; see `Result.to_xarray`."""
    xarray = extra_package("xarray", "to_xarray needs xarray", "xarray")
    coords: dict[str, Any] = {"time": ("time", run.t, {"units": "s", "long_name": "time"})}
    coords |= {label: list(getattr(run, field)) for label, field in LABELS.items()}
    data = {name: (dims, getattr(run, name), about) for name, (dims, about) in VARIABLES.items()}
    if run.constraint_names:
        coords |= {"constraint": list(run.constraint_names), "level": list(LEVELS)}
        for name, (dims, about) in CONSTRAINT_VARIABLES.items():
            data[name] = (dims, getattr(run, name), about)
    if len(run.events):
        for name, (field, dims, about) in EVENT_VARIABLES.items():
            value = getattr(run.events, field)
            data[name] = (dims, list(value) if field == "names" else value, about)
    for (variable, label), dims, array in output_variables(run):
        data[variable] = (dims, array, {"long_name": label})
    found: Dataset = xarray.Dataset(data, coords, attributes(run))
    return found
