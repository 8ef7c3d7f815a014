"""Several runs over time: a panel a column, a curve a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.results.result import Result
from mbkit.viz.figure import legend_of_runs, looks_of_runs, new_figure, verbatim
from mbkit.viz.panels import Floats, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["compared"]

_MOST = 10  # columns of a kind that are compared unasked


class _Column(NamedTuple):
    """The quantity that a panel of a comparison shows."""

    kind: str
    label: str
    is_logarithmic: bool


def compared(
    runs: Mapping[str, Result],
    drawn: Sequence[Sequence[Panel]],
    *,
    all_columns: bool,
    of_pyplot: bool,
) -> Figure:
    """Return a panel for each column that any run has, with one legend beside all of them.

    Of energies it is the total one, and the balance by its size, so that methods whose errors lie
    decades apart are distinct. By default, the first 10 columns of each kind.
    """
    curves = _curves(drawn)
    chosen = curves if all_columns else _first_of_each_kind(curves)
    wide = 2 if len(chosen) > 4 else 1
    deep = -(-len(chosen) // wide)
    figure = new_figure(size=(5.2 * wide + 3.2, 2.1 * deep + 0.7), of_pyplot=of_pyplot)
    grid = [*figure.subplots(deep, wide, sharex=True, squeeze=False).T.flat]
    looks, times = looks_of_runs(len(runs)), [run.t for run in runs.values()]
    for axes, (column, by_run) in zip(grid, chosen.items(), strict=False):
        axes.grid(visible=True, alpha=0.3)
        axes.set_title(verbatim(column.label), fontsize="small")
        for number, values in by_run.items():
            marker = "" if times[number].size > 1 else "o"
            axes.plot(times[number], values, marker=marker, **looks[number])
        if column.is_logarithmic and any(np.any(values > 0.0) for values in by_run.values()):
            axes.set_yscale("log")
    _finish(grid, len(chosen), deep)
    left_out = len(curves) - len(chosen)
    title = f"{left_out} more columns:\nname them in panels=" if left_out else ""
    legend_of_runs(figure, [*runs], title)
    return figure


def _curves(drawn: Sequence[Sequence[Panel]]) -> dict[_Column, dict[int, Floats]]:
    """Return the curves of each column, by the number of the run."""
    curves: dict[_Column, dict[int, Floats]] = {}
    for number, panels in enumerate(drawn):
        for panel in panels:
            for name, values in zip(panel.names, panel.columns.T, strict=True):
                if panel.kind == "energies" and name != "total":
                    continue
                column = _column(panel, name)
                seen = np.abs(values) if column.is_logarithmic else values
                if column.is_logarithmic:
                    seen = np.where(seen > 0.0, seen, np.nan)
                curves.setdefault(column, {})[number] = seen
    return curves


def _column(panel: Panel, name: str) -> _Column:
    if panel.kind == "energies":
        return _Column(panel.kind, "total energy [J]", is_logarithmic=False)
    if panel.kind == "balance":
        return _Column(panel.kind, "error of the energy balance, size [J]", True)
    if panel.kind == "residuals":
        return _Column(panel.kind, f"residual of the {name}", is_logarithmic=True)
    what, bracket, unit = panel.label.rpartition(" [")
    what = {"velocities v": "velocity of "}.get(what, "")
    return _Column(panel.kind, f"{what}{name}{bracket}{unit if bracket else ''}", False)


def _first_of_each_kind(curves: Mapping[_Column, Any]) -> dict[_Column, Any]:
    kept: dict[str, list[_Column]] = {}
    for column in curves:
        kept.setdefault(column.kind, []).append(column)
    return {column: curves[column] for each in kept.values() for column in each[:_MOST]}


def _finish(grid: Sequence[Axes], count: int, deep: int) -> None:
    """Name the time below the last panel of each column of the grid, and remove empty panels."""
    for axes in grid[count:]:
        axes.remove()
    for last in {min(deep, count), count}:
        grid[last - 1].set_xlabel("time t [s]")
        grid[last - 1].tick_params(labelbottom=True)
        grid[last - 1].margins(x=0.01)
