"""Results as tables: a row for each instant, a column for each number, units beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.extras import extra_package
from mbkit.results.columns import velocity_units
from mbkit.results.labelled import LEVELS

if TYPE_CHECKING:
    from pandas import DataFrame

    from mbkit.results.ensemble import Ensemble
    from mbkit.results.result import Result

__all__ = ["Column", "columns_of_ensemble", "columns_of_result", "to_frame"]

_ENERGIES = ("kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy")
_LEVEL_UNITS = ("m", "m/s", "m/s^2")


class Column(NamedTuple):
    """One column of a table."""

    name: str
    unit: str  # "" where there is none, or it is not known
    values: Any  # (rows,)


def columns_of_result(run: Result) -> list[Column]:
    """Return the columns of one run; see `Result.to_dataframe`."""
    return list(_columns(run, run, lambda array: array))


def _output_units(run: Any, name: str, count: int) -> tuple[str, ...]:
    """Return the units of the numbers of an output; empty where the result does not have them."""
    units = run.options.get("output_units")
    units = units.get(name) if isinstance(units, Mapping) else None
    if isinstance(units, tuple) and len(units) == count:
        return tuple(map(str, units))
    return ("",) * count


def columns_of_ensemble(runs: Ensemble) -> list[Column]:
    """Return the columns of all runs, one below the other; see `Ensemble.to_dataframe`."""
    there = np.arange(runs.t.shape[-1]) < runs.lengths[..., None]
    places = np.nonzero(there)[:-1]
    names = [f"sample[{k}]" for k in range(len(places))] if len(places) > 1 else ["sample"]
    found = [Column(name, "", place) for name, place in zip(names, places, strict=True)]
    for name, values in runs.parameters.items():
        of_run = values[places].reshape(len(places[0]), -1)
        labels = (
            [name] if of_run.shape[1] == 1 else [f"{name}[{k}]" for k in range(of_run.shape[1])]
        )
        found += [Column(label, "", of_run[:, k]) for k, label in enumerate(labels)]
    return [*found, *_columns(runs, _Labels(runs.labels), lambda array: array[there])]


class _Labels:
    """The names of an ensemble, as attributes as those of a result."""

    def __init__(self, labels: Any) -> None:
        vars(self).update(labels)


def _columns(run: Any, labels: Any, rows: Callable[[Any], Any]) -> Iterator[Column]:
    """Go through the columns that all have; `rows` makes (rows, ...) of an array."""
    yield Column("time", "s", rows(run.t))
    positions, velocities = labels.position_names, labels.velocity_names
    units = labels.position_units or ("",) * len(positions)
    rates = velocity_units(positions, units, velocities)
    for prefix, array, names, of in (
        ("q", run.q, positions, units),
        ("v", run.v, velocities, rates),
    ):
        values = rows(array)
        for k, name in enumerate(names):
            yield Column(f"{prefix}.{name}", of[k], values[:, k])
    for name in _ENERGIES:
        yield Column(name, "J", rows(getattr(run, name)))
    if labels.constraint_names:
        multipliers, residuals = rows(run.multipliers), rows(run.residuals)
        for k, name in enumerate(labels.constraint_names):
            yield Column(f"multiplier.{name}", "N", multipliers[:, k])
        for k, (level, unit) in enumerate(zip(LEVELS, _LEVEL_UNITS, strict=True)):
            yield Column(f"residual.{level}", unit, residuals[:, k])
    for name, values in run.outputs.items():
        array = rows(values)
        units = _output_units(run, name, int(np.prod(array.shape[1:])))
        for unit, place in zip(units, np.ndindex(array.shape[1:]), strict=True):
            index = f"[{','.join(map(str, place))}]" if place else ""
            yield Column(f"output.{name}{index}", unit, array[(slice(None), *place)])


def to_frame(columns: list[Column]) -> DataFrame:
    """Return columns as a data frame of pandas, with their units in ``attrs["units"]``."""
    remedy = "A .csv file is saved without it."
    pandas = extra_package("pandas", "Data frames need pandas", "xarray", remedy)
    frame: DataFrame = pandas.DataFrame({each.name: each.values for each in columns})
    frame.attrs["units"] = {each.name: each.unit for each in columns}
    return frame
