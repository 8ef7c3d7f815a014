"""Results over time, one or several compared, and phase portraits."""

from __future__ import annotations

import os
import pathlib
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import UsageError, several
from mbkit.results.ensemble import Ensemble
from mbkit.results.palette import COLOURS, FAULT, LINES
from mbkit.results.result import Result
from mbkit.viz.comparison import compared
from mbkit.viz.figure import BY_COLOUR, new_figure, verbatim
from mbkit.viz.panels import Floats, Panel, panels_of, wanted_columns
from mbkit.viz.phase import phase_portraits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot"]

_NAMED = 10  # curves of a panel with a name; the others are thin and grey behind them
_MOST_RUNS = 100  # drawn of an ensemble, evenly chosen
_MOST_NOTICES = 8
_WIDTH = 110  # characters in a line of the text above the panels


def plot(
    runs: Result | Ensemble | Iterable[Result] | Mapping[str, Result],
    path: str | os.PathLike[str] | None = None,
    *,
    panels: Iterable[str] | str | None = None,
    phase: Iterable[str] | str | None = None,
) -> Figure:
    """Draw a run over time, or compare several.

    Of one run, each unit has a panel, with a curve a joint: positions and velocities, outputs,
    energies, the error of their balance (the drift where nothing dissipates or supplies energy),
    and of mechanisms with constraints their residuals. Of several runs each column has a panel,
    with a curve a run. Warnings about the numbers stand above, events are dotted lines, and
    a result of one instant is drawn as points.

    Parameters
    ----------
    runs : Result, Ensemble, sequence of Result, or mapping of str to Result
        Runs to draw. Those of a sequence are named by the method or step in which they differ, or
        numbered; the keys of a mapping are names. Columns of the same name share a panel, also
        where the mechanisms differ.
    path : str or path, optional
        Where to write the picture, in the format of the suffix (.png, .svg, .pdf). Its folder
        must exist. Without it, the figure is one of pyplot's, and ``matplotlib.pyplot.show()``
        opens it.
    panels : sequence of str, optional
        Kinds of panels: "positions", "velocities", "outputs", "energies", "balance", "residuals",
        "multipliers" [N], and names of joints, of components such as "ball[2]", and of outputs. All
        but the multipliers, where left out.
    phase : sequence of str, optional
        Joints whose velocity is drawn over their position instead, one panel each; a dot is the
        start. A joint must have as many velocities as positions.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be changed or saved further.

    Raises
    ------
    UsageError
        If matplotlib is not installed, the picture cannot be written to `path`, `runs` are no
        results, or a joint has no phase portrait.
    NameUnknownError
        If no run has a quantity that `panels` or `phase` name.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("swing", gravity=(0, 0, -9.81))
    >>> ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    >>> bob = mech.add_body(mb.Body("bob", ball, mb.spatial.translation((0, 0, -1))))
    >>> axle = mech.add_joint(mb.RevoluteJoint("axle", axis=(0, 1, 0)), "world", bob)
    >>> start = {"q": {"axle": 1.0}}
    >>> fine, coarse = (mb.simulate(mech.assemble(), (0.0, 1.0), h, **start) for h in (0.01, 0.1))
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> figure = mb.plot([fine, coarse], folder / "swings.svg")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['h = 0.01 s', 'h = 0.1 s']
    >>> figure = mb.plot(fine, folder / "portrait.png", phase="axle")
    """
    if panels is not None and phase is not None:
        raise UsageError("plot: phase portraits are pictures of their own; leave panels= out.")
    chosen = _named_runs(runs)
    target = None if path is None else _checked_target(path)
    of_pyplot = path is None
    if phase is not None:
        figure = phase_portraits(chosen, phase, of_pyplot=of_pyplot)
    else:
        wanted = wanted_columns([*chosen.values()], panels)
        drawn = [panels_of(run, each) for run, each in zip(chosen.values(), wanted, strict=True)]
        if len(chosen) == 1:
            (run,) = chosen.values()
            figure = _one(run, drawn[0], of_pyplot=of_pyplot)
        else:
            figure = compared(chosen, drawn, all_columns=panels is not None, of_pyplot=of_pyplot)
    _notices(figure, chosen)
    if target is not None:
        _write(figure, target)
    return figure


def _named_runs(runs: Any) -> dict[str, Result]:
    """Return the runs by their names in the legend."""
    if isinstance(runs, Result):
        return {"": runs}
    if isinstance(runs, Ensemble):
        places = [place for place in np.ndindex(runs.shape) if runs.lengths[place]]
        chosen = np.linspace(0, len(places) - 1, min(len(places), _MOST_RUNS)).round().astype(int)
        samples = [(", ".join(map(str, places[k])), runs[places[k]]) for k in chosen]
        found = {f"sample {name}": run for name, run in samples}
    elif isinstance(runs, Mapping):
        found = {str(name): run for name, run in runs.items()}
    else:
        given = list(runs) if several(runs) and not isinstance(runs, str) else [runs]
        found = dict(zip(_told_apart(given), given, strict=True))
    if not found or not all(isinstance(run, Result) for run in found.values()):
        kinds = sorted({type(run).__name__ for run in found.values()}) or "none"
        raise UsageError(
            "plot: runs must be a result of mbkit.simulate, several in a list or by name in a "
            f"dict, or an ensemble, got {kinds if found else 'none at all'}; "
            "mbkit.load_result reads files."
        )
    return found


def _told_apart(runs: Sequence[Any]) -> list[str]:
    """Return names by the options in which runs differ, or by number."""
    options = [run.options if isinstance(run, Result) else {} for run in runs]
    parts: list[list[str]] = [[] for _ in runs]
    for key in ("integrator", "h", "coordinates", "representation"):
        told = [str(each.get(key, "")) for each in options]
        if len(set(told)) > 1 and all(told):
            for part, text in zip(parts, told, strict=True):
                part.append(f"h = {text} s" if key == "h" else text)
    names = [", ".join(part) for part in parts]
    if len(set(names)) == len(names):
        return names
    return [", ".join(filter(None, (f"run {k + 1}", name))) for k, name in enumerate(names)]


# ------------------------------------------------------------------------------------ one run


def _one(run: Result, panels: Sequence[Panel], *, of_pyplot: bool) -> Figure:
    """Return a panel a unit, with a curve a column and its legend beside."""
    figure = new_figure(size=(10.0, 2.5 * len(panels) + 0.3), of_pyplot=of_pyplot)
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(all_axes, panels, strict=True):
        _draw_columns(axes, run.t, panel)
        _mark_events(axes, run)
    all_axes[-1].set_xlabel("time t [s]")
    all_axes[-1].margins(x=0.01)
    figure.align_ylabels()
    return figure


def _draw_columns(axes: Axes, t: Floats, panel: Panel) -> None:
    axes.grid(visible=True, alpha=0.3)
    axes.set_ylabel(panel.label)
    axes.set_title(panel.title, fontsize="small")
    if _is_empty(axes, panel):
        return
    marker = "" if t.size > 1 else "o"
    count = len(panel.names)
    for k, (name, column) in enumerate(zip(panel.names, panel.columns.T, strict=True)):
        if k >= _NAMED:
            axes.plot(t, column, marker=marker, color="0.75", linewidth=0.6, zorder=1)
            continue
        look: dict[str, Any] = {
            "color": COLOURS[k % BY_COLOUR],
            "linestyle": LINES[k // BY_COLOUR],
        }
        if name in ("total", "balance"):
            look["color"] = "black"
        axes.plot(t, column, marker=marker, label=verbatim(name), linewidth=1.2, zorder=2, **look)
    if panel.is_logarithmic:
        axes.set_yscale("log")
    if panel.kind != "balance":
        _legend(axes, f"first {_NAMED} of {count}" if count > _NAMED else None)


def _is_empty(axes: Axes, panel: Panel) -> bool:
    """Whether there is nothing to draw, which the panel then notes."""
    if not panel.names:
        text = "none"
    elif np.isnan(panel.columns).all():
        text = "all zero" if panel.is_logarithmic else "not saved"
    else:
        return False
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color="grey")
    return True


def _mark_events(axes: Axes, run: Result) -> None:
    """Draw a dotted line where something happened, few as they are."""
    if len(run.events) <= 20:
        for t in run.events.t:
            axes.axvline(t, color="0.4", linestyle=":", linewidth=0.8, zorder=0)


def _legend(axes: Axes, title: str | None = None) -> None:
    axes.legend(
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.005, 1.0),
        borderaxespad=0.0,
        fontsize="small",
        frameon=False,
    )


# ------------------------------------------------------------------------- around the panels


def _notices(figure: Figure, runs: Mapping[str, Result]) -> None:
    """Write the warnings of each run above the panels."""
    lines = []
    for name, run in runs.items():
        texts = [*([] if run.completed else [f"not completed: {run.message}"]), *run.warnings]
        lines += [f"{name}: {text}" if name else text for text in texts]
    if len(lines) > _MOST_NOTICES:
        lines = [*lines[:_MOST_NOTICES], f"and {len(lines) - _MOST_NOTICES} more"]
    if lines:
        filled = "\n".join(textwrap.fill(verbatim(line), _WIDTH) for line in lines)
        figure.suptitle(filled, color=FAULT, fontsize="medium")


def _checked_target(path: Any) -> pathlib.Path:
    try:
        target = pathlib.Path(path)
    except TypeError as error:
        raise UsageError(
            f"plot: path must be the name of a picture, such as 'run.png', got {path!r}; compare "
            "several runs in a list: mbkit.plot([one, other])."
        ) from error
    if not os.path.isdir(target.parent):
        raise UsageError(f"Picture '{path}' is in a directory that does not exist; make it first.")
    return target


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
