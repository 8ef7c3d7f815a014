"""A result over time: positions, velocities, energies and how well their balance was kept."""

from __future__ import annotations

import math
import os
import pathlib
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mbkit.errors import UsageError
from mbkit.viz.figure import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mbkit.results.result import Result

# Longer legends would hide the curves; the others are drawn thin and grey behind the named ones.
_NAMED = 10

# Characters in a line of what stands above the panels.
_WIDTH = 110


def plot_result(run: Result, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw positions, velocities, energies and what their balance misses over time.

    That is the drift of the energy where nothing dissipates or supplies any. What may be wrong
    with the numbers stands above.

    Positions of different units (where the result knows them) get a panel each. A result of one
    instant is drawn as points.

    Parameters
    ----------
    run : Result
        What to draw.
    path : str or path, optional
        Where to write the picture; the suffix (.png, .svg, .pdf) says in which format. Its folder
        must exist. Without it, the figure is one of pyplot's, and ``matplotlib.pyplot.show()``
        opens it.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be changed or saved further.

    Raises
    ------
    UsageError
        If matplotlib is not installed, or the picture cannot be written to `path`.
    """
    if path is not None:
        _check_target(pathlib.Path(path))
    groups = _position_groups(run)
    figure = new_figure(size=(10.0, 2.6 * (len(groups) + 3)), of_pyplot=path is None)
    panels = figure.subplots(len(groups) + 3, 1, sharex=True)
    *position_panels, velocity_panel, energy_panel, balance_panel = panels
    for panel, (unit, columns) in zip(position_panels, groups.items(), strict=True):
        names = [run.position_names[column] for column in columns]
        _draw_columns(panel, run.t, run.q[:, columns], names)
        panel.set_ylabel(f"positions q [{unit or 1}]")
    _draw_columns(velocity_panel, run.t, run.v, run.velocity_names)
    velocity_panel.set_ylabel("velocities v [rad/s, m/s]")
    _draw_energies(energy_panel, run)
    _draw_balance(balance_panel, run)
    balance_panel.set_xlabel("time t [s]")
    balance_panel.margins(x=0.01)
    figure.align_ylabels()
    notices = [] if run.completed else [f"not completed: {run.message}"]
    if notices or run.warnings:
        lines = [textwrap.fill(text, _WIDTH) for text in (*notices, *run.warnings)]
        figure.suptitle("\n".join(lines), color="tab:red", fontsize="medium")
    if path is not None:
        _write(figure, pathlib.Path(path))
    return figure


def _check_target(path: pathlib.Path) -> None:
    if not os.path.isdir(path.parent):
        raise UsageError(f"Picture '{path}' is in a directory that does not exist; make it first.")


def _position_groups(run: Result) -> dict[str, list[int]]:
    """Return the columns of q by unit."""
    if not run.position_units:
        return {"rad, m or 1": list(range(len(run.position_names)))}
    groups: dict[str, list[int]] = {}
    for column, unit in enumerate(run.position_units):
        groups.setdefault(unit, []).append(column)
    return groups


def _draw_columns(
    panel: Axes, t: npt.NDArray[np.float64], columns: npt.NDArray[np.float64], names: Sequence[str]
) -> None:
    panel.grid(visible=True, alpha=0.3)
    if not names:
        panel.text(0.5, 0.5, "none", transform=panel.transAxes, ha="center", color="grey")
        return
    marker = _marker(t)
    for position, name in enumerate(names):
        if position < _NAMED:
            panel.plot(t, columns[:, position], marker, label=name, linewidth=1.2, zorder=2)
        else:
            panel.plot(t, columns[:, position], marker, color="0.75", linewidth=0.6, zorder=1)
    title = f"first {_NAMED} of {len(names)}" if len(names) > _NAMED else None
    _legend(panel, title)


def _draw_energies(panel: Axes, run: Result) -> None:
    marker = _marker(run.t)
    panel.plot(run.t, run.kinetic_energy, marker, label="kinetic", linewidth=1.2)
    panel.plot(run.t, run.potential_energy, marker, label="potential", linewidth=1.2)
    panel.plot(run.t, run.energy, marker, label="total", color="black", linewidth=1.2)
    for label, energy in (("dissipated", run.dissipated_energy), ("supplied", run.supplied_energy)):
        if np.any(energy):
            panel.plot(run.t, energy, marker, label=label, linewidth=1.2)
    panel.set_ylabel("energy [J]")
    panel.grid(visible=True, alpha=0.3)
    _legend(panel)


def _draw_balance(panel: Axes, run: Result) -> None:
    """Draw what the balance misses, which is the drift where no forces dissipate or supply."""
    panel.plot(run.t, run.energy_balance, _marker(run.t), color="black", linewidth=1.0)
    is_forced = bool(np.any(run.dissipated_energy) or np.any(run.supplied_energy))
    what = "missing in the balance" if is_forced else "energy - initial"
    panel.set_ylabel(f"{what} [J]")
    panel.grid(visible=True, alpha=0.3)
    peak = float(np.max(run.kinetic_energy))
    largest = float(np.max(np.abs(run.energy_balance)))
    if peak > 0.0 and math.isfinite(largest):
        panel.set_title(
            f"largest: {largest / peak:.1e} of the peak kinetic energy", fontsize="small"
        )


def _marker(t: npt.NDArray[np.float64]) -> str:
    return "-" if t.size > 1 else "o"


def _legend(panel: Axes, title: str | None = None) -> None:
    panel.legend(
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.005, 1.0),
        borderaxespad=0.0,
        fontsize="small",
        frameon=False,
    )


def _write(figure: Figure, path: pathlib.Path) -> None:
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise UsageError(
            f"Picture '{path}' cannot be written: {error.strerror or error}; choose a folder that "
            "can be written to and has room."
        ) from error
    except ValueError as error:
        raise UsageError(
            f"Picture '{path}' has a suffix that names no format: {error}; choose .png, .svg or "
            ".pdf."
        ) from error
