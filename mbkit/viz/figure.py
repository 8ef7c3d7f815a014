"""Figures: where pictures are drawn, and distinct looks of curves of runs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbkit.extras import extra_package
from mbkit.results.palette import COLOURS, LINES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BY_COLOUR", "legend_of_runs", "looks_of_runs", "new_figure", "svg_of", "verbatim"]

BY_COLOUR = 7  # curves of distinct colours: all colours but the faint yellow
_LEGEND = 8  # runs with a name of those on a scale of colours


def new_figure(size: tuple[float, float], *, of_pyplot: bool) -> Figure:
    """Return an empty figure whose panels keep clear of each other, of a size in inches.

    pyplot keeps it, to be shown in a window, if it is one of its own. UsageError if matplotlib is
    not installed.
    """
    figures = extra_package("matplotlib.figure", "Plots need matplotlib", "plot")
    if not of_pyplot:
        # No window and no memory kept: files are written without a screen, too.
        figure: Figure = figures.Figure(figsize=size, layout="constrained")
        return figure
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="constrained")


def svg_of(figure: Figure) -> str:
    """Return a figure as an element of a page."""
    text = io.StringIO()
    figure.savefig(text, format="svg")
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]


def looks_of_runs(count: int) -> list[dict[str, Any]]:
    """Return colour and line of each of so many runs, dashed over each other; a scale of many."""
    if count <= BY_COLOUR:
        return [
            {"color": COLOURS[k], "linestyle": LINES[k], "linewidth": 1.2} for k in range(count)
        ]
    import matplotlib as mpl

    scale = mpl.colormaps["viridis"]
    return [{"color": scale(0.95 * k / (count - 1)), "linewidth": 0.8} for k in range(count)]


def legend_of_runs(figure: Figure, names: Sequence[str], title: str = "") -> None:
    """Put the names of runs beside the panels; of many, some from the first to the last."""
    if len(names) < 2 and not title:
        return
    from matplotlib.lines import Line2D

    count = len(names)
    shown: Sequence[int] = range(count)
    if count > BY_COLOUR:
        shown = [round(k * (count - 1) / (_LEGEND - 1)) for k in range(_LEGEND)]
    looks = looks_of_runs(count)
    handles = [Line2D([], [], label=verbatim(_short(names[k])), **looks[k]) for k in shown]
    figure.legend(
        handles=handles, loc="outside right upper", fontsize="small", frameon=False, title=title
    )


def _short(name: str) -> str:
    """Return a name that leaves room for the panels: the start and the end of a long one."""
    return name if len(name) <= 40 else f"{name[:12]} ... {name[-23:]}"


def verbatim(text: str) -> str:
    """Return a name as matplotlib draws it letter by letter: "$" starts no formula in it."""
    return text.replace("$", r"\$")
