"""Panels of plots: the columns of a result by quantity and unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from mbkit.errors import MbkitError, NameUnknownError, UsageError
from mbkit.given_values import as_list
from mbkit.results.columns import columns_of
from mbkit.results.entries import output_words, position_words, velocity_words
from mbkit.results.summary import balance
from mbkit.results.tidy import columns_of_result

if TYPE_CHECKING:
    from mbkit.results.result import Result

__all__ = ["KINDS", "Panel", "Wanted", "panels_of", "wanted_columns"]

Floats = npt.NDArray[np.float64]

#: Columns that are wanted, by kind of panel, in the order in which they are drawn; None for all.
Wanted = Mapping[str, Sequence[int] | None]


class Panel(NamedTuple):
    """Curves of one unit over the time."""

    kind: str
    label: str  # of the vertical axis
    names: tuple[str, ...]
    columns: Floats  # (k, len(names))
    is_logarithmic: bool = False
    title: str = ""


def wanted_columns(runs: Sequence[Result], panels: Iterable[str] | str | None) -> list[Wanted]:
    """Return the requested columns of each run: by kinds of panels, joints, components and outputs.

    A name of a joint stands for its positions and velocities. UsageError if `panels` are no names,
    NameUnknownError for a name that no run has.
    """
    if panels is None:
        return [_all_there(run) for run in runs]
    names = as_list(panels)
    if not names or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"plot: panels must name at least one kind of panel ({', '.join(KINDS)}), joint or "
            f"output, such as ['energies', 'elbow'], got {panels!r}."
        )
    found: list[dict[str, list[int] | None]] = [{} for _ in runs]
    for name in names:
        errors: list[MbkitError] = []
        for run, wanted in zip(runs, found, strict=True):
            try:
                _want(run, name, wanted)
            except NameUnknownError as error:
                errors.append(error)
        if len(errors) == len(runs):
            raise errors[0]
    return list(found)


def panels_of(run: Result, wanted: Wanted) -> list[Panel]:
    """Return the panels of one run, a panel a unit."""
    return [panel for kind, columns in wanted.items() for panel in KINDS[kind](run, columns)]


def _all_there(run: Result) -> dict[str, None]:
    """Return the kinds of panels for which a run has numbers, multipliers apart."""
    kinds = ["positions", "velocities", "outputs", "energies", "balance", "residuals"]
    if not run.outputs:
        kinds.remove("outputs")
    if not run.constraint_names or np.isnan(run.residuals).all():
        kinds.remove("residuals")
    return dict.fromkeys(kinds)


def _want(run: Result, name: str, wanted: dict[str, list[int] | None]) -> None:
    """Add the columns that a name stands for."""
    if name in KINDS:
        wanted[name] = None
        return
    if name in run.outputs:
        _add(wanted, "outputs", [k for k, each in enumerate(_outputs_of(run)) if each[0] == name])
        return
    joints = (*run.joint_names, *run.outputs, *KINDS)
    of_q = columns_of(name, run.position_names, joints, run.options, "plot: panels", run.body_names)
    _add(wanted, "positions", of_q)
    if name in (*run.joint_names, *run.velocity_names):
        _add(wanted, "velocities", columns_of(name, run.velocity_names, joints, {}, ""))


def _add(wanted: dict[str, list[int] | None], kind: str, columns: int | list[int]) -> None:
    more = [columns] if isinstance(columns, int) else columns
    before = wanted.setdefault(kind, [])
    if before is not None:
        before += [column for column in more if column not in before]


def _positions(run: Result, columns: Sequence[int] | None) -> list[Panel]:
    units = [unit or "1" for unit in run.position_units] or ["rad, m or 1"] * run.q.shape[1]
    words = position_words(run.position_names, run.position_units, run.options)
    return _by_unit("positions", "positions q", words, units, run.q, columns)


def _velocities(run: Result, columns: Sequence[int] | None) -> list[Panel]:
    units = [unit or "rad/s, m/s" for unit in run.velocity_units]
    of_positions = run.position_names, run.position_units
    words = velocity_words(run.velocity_names, *of_positions, run.options)
    return _by_unit("velocities", "velocities v", words, units, run.v, columns)


def _outputs_of(run: Result) -> list[tuple[str, str, str, Floats]]:
    """Return name, label, unit and values of the numbers of all outputs."""
    tables = [each for each in columns_of_result(run) if each.name.startswith("output.")]
    found = []
    for name, array in run.outputs.items():
        own, tables = tables[: array[:1].size], tables[array[:1].size :]
        words = output_words([each.unit for each in own])
        labels = [f"{name} {word}" for word in words]
        labels = labels or [each.name.removeprefix("output.") for each in own]
        found += [
            (name, label, each.unit, each.values) for label, each in zip(labels, own, strict=True)
        ]
    return found


def _outputs(run: Result, columns: Sequence[int] | None) -> list[Panel]:
    found = _outputs_of(run)
    values = np.stack([each[3] for each in found], axis=1) if found else np.empty((run.t.size, 0))
    units, labels = [each[2] for each in found], [each[1] for each in found]
    return _by_unit("outputs", "outputs", labels, units, values, columns)


def _by_unit(
    kind: str,
    label: str,
    names: Sequence[str],
    units: Sequence[str],
    values: Floats,
    columns: Sequence[int] | None,
) -> list[Panel]:
    """Return a panel for each unit; if there is none, an empty panel with a note."""
    groups: dict[str, list[int]] = {}
    for column in range(len(names)) if columns is None else columns:
        groups.setdefault(units[column], []).append(column)
    return [
        Panel(
            kind, f"{label} [{unit}]" if unit else label, tuple(names[k] for k in group),
            values[:, group],
        )
        for unit, group in groups.items()
    ] or [Panel(kind, label, (), values[:, :0])]  # fmt: skip


def _energies(run: Result, _columns: Sequence[int] | None) -> list[Panel]:
    by_name = {
        "kinetic": run.kinetic_energy, "potential": run.potential_energy, "total": run.energy,
        "dissipated": run.dissipated_energy, "supplied": run.supplied_energy,
    }  # fmt: skip
    kept = [name for name in by_name if name not in _FORCED or np.any(by_name[name])]
    columns = np.stack([by_name[name] for name in kept], axis=1)
    return [Panel("energies", "energy [J]", tuple(kept), columns)]


_FORCED = ("dissipated", "supplied")


def _balance(run: Result, _columns: Sequence[int] | None) -> list[Panel]:
    """Return the error of the energy balance: the drift where no forces dissipate or supply."""
    is_forced = bool(np.any(run.dissipated_energy) or np.any(run.supplied_energy))
    what = "error of the energy balance" if is_forced else "energy - initial"
    part = balance(run)[1]
    title = f"largest: {part:.1e} of the peak kinetic energy" if np.isfinite(part) else ""
    columns = run.energy_balance[:, None]
    return [Panel("balance", f"{what} [J]", ("balance",), columns, title=title)]


def _residuals(run: Result, _columns: Sequence[int] | None) -> list[Panel]:
    names = ("position [m]", "velocity [m/s]", "acceleration [m/s^2]")
    positive = np.where(run.residuals > 0.0, run.residuals, np.nan)
    return [Panel("residuals", "residuals", names, positive, is_logarithmic=True)]


def _multipliers(run: Result, columns: Sequence[int] | None) -> list[Panel]:
    names = run.constraint_names
    units = ["N"] * len(names)
    return _by_unit("multipliers", "multipliers", names, units, run.multipliers, columns)


#: The functions that make the panels of each kind.
KINDS: dict[str, Callable[[Result, Sequence[int] | None], list[Panel]]] = {
    "positions": _positions,
    "velocities": _velocities,
    "outputs": _outputs,
    "energies": _energies,
    "balance": _balance,
    "residuals": _residuals,
    "multipliers": _multipliers,
}
