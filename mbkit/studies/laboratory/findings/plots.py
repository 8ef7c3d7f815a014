"""Pictures of studies: curves that differ in colour, marker and line, legends beside them."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.extras import extra_package
from mbkit.results.palette import COLOURS, LINES
from mbkit.studies.laboratory.findings.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curves", "curves_over", "svg"]

#: How many whole numbers have all a label on an axis, the largest of them, and how many times the
#: one before each is at least.
_FEW, _SHORT, _APART = 10, 9999.0, 1.2

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")

#: Factors shown by colour, by marker, by line: the first of these that are varied.
ORDER = ("algorithm", "integrator", "coordinates", "representation", "mechanism", "loop_joints",
         "joint_coordinates", "body_frames", "constraint_solver", "stabilisation")  # fmt: skip


def curves(table: Table, x: str, y: str, *, title: str = "", step: str = "h") -> Figure:
    """Return y over x, a curve for each combination of factors but the step, both logarithmic.

    UsageError if matplotlib is not installed.
    """
    figure = _figure(9.0, 4.6)
    from matplotlib.lines import Line2D

    varied = sorted((name for name in table.varied if name != step), key=_rank)
    channels = [varied[:1], varied[1:2], varied[2:]]
    styles: list[dict[str, Any]] = [{} for _ in channels]
    axes = figure.subplots()
    for group in table.groups(step).values():
        keys = [", ".join(str(group.rows[0].get(name)) for name in names) for names in channels]
        looks = []
        for known, key, choices in zip(styles, keys, (COLOURS, MARKERS, LINES), strict=True):
            looks.append(known.setdefault(key, choices[len(known) % len(choices)]))
        a, b = group[x], group[y]
        fine = np.isfinite(a) & np.isfinite(b) & (a > 0.0) & (b > 0.0)
        order = np.argsort(group[step][fine]) if step in group.units else np.argsort(a[fine])
        axes.plot(
            a[fine][order], b[fine][order], color=looks[0], marker=looks[1], linestyle=looks[2],
            markersize=4.5, linewidth=1.1,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    _tick_few(axes, table[x])
    axes.set_xlabel(table.heads([x])[0].replace("_", " "))
    axes.set_ylabel(table.heads([y])[0].replace("_", " "))
    axes.set_title(title, fontsize="medium")
    axes.grid(visible=True, which="major", alpha=0.3)
    handles: list[Any] = []
    for names, known, attribute in zip(
        channels, styles, ("color", "marker", "linestyle"), strict=True
    ):
        if not names:
            continue
        handles.append(Line2D([], [], linestyle="none", label=", ".join(names).replace("_", " ")))
        for key, look in known.items():
            shape: dict[str, Any] = {"color": "0.3", "marker": "", "linestyle": "-"}
            if attribute == "marker":
                shape["linestyle"] = "none"
            handles.append(Line2D([], [], label=f"  {key}", **(shape | {attribute: look})))
    if handles:
        figure.legend(handles=handles, loc="outside right upper", fontsize="x-small", frameon=False)
    return figure


def curves_over(table: Table, x: str, y: str, by: str = "") -> Figure:
    """Return y over x, a curve for each value of the column `by`, with its legend beside.

    Positive numbers over two decades are on logarithmic axes. UsageError if matplotlib is not
    installed.
    """
    figure = _figure(7.0, 3.4)
    axes = figure.subplots()
    values = list(dict.fromkeys(row.get(by) for row in table)) if by else [None]
    for k, value in enumerate(values):
        rows = Table([row for row in table if not by or row.get(by) == value], table.units)
        fine = np.isfinite(rows[x]) & np.isfinite(rows[y])
        a, b = rows[x][fine], rows[y][fine]
        order = np.argsort(a)
        look: dict[str, Any] = {
            "color": COLOURS[k % len(COLOURS)],
            "marker": MARKERS[k % len(MARKERS)],
        }
        axes.plot(
            a[order], b[order], markersize=4.5, linewidth=1.1, **look,
            label=f"{value:g}" if isinstance(value, int | float) else value,
        )  # fmt: skip
    for column, scale in ((x, axes.set_xscale), (y, axes.set_yscale)):
        numbers = table[column][np.isfinite(table[column])]
        if numbers.size and numbers.min() > 0.0 and numbers.max() >= 100.0 * numbers.min():
            scale("log")
    axes.set_xlabel(table.heads([x])[0])
    axes.set_ylabel(table.heads([y])[0])
    axes.grid(visible=True, which="major", alpha=0.3)
    if by:
        title = table.heads([by])[0]
        figure.legend(loc="outside right upper", fontsize="x-small", frameon=False, title=title)
    return figure


def _tick_few(axes: Any, numbers: Any) -> None:
    """Put ticks of the x axis, which is logarithmic, where few whole numbers are, and only there.

    Their labels would overlap otherwise where these are within two decades.
    """
    few = np.unique(numbers[np.isfinite(numbers)])
    is_short = 1 < few.size <= _FEW and few[0] > 0.0 and few[-1] <= _SHORT
    if is_short and (few == np.round(few)).all() and (few[1:] >= _APART * few[:-1]).all():
        axes.set_xticks(few, [f"{number:.0f}" for number in few])
        axes.set_xticks([], minor=True)


def _figure(width: float, height: float) -> Figure:
    figures = extra_package("matplotlib.figure", "Pictures need matplotlib", "plot")
    figure: Figure = figures.Figure(figsize=(width, height), layout="constrained")
    return figure


def _rank(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def svg(figure: Figure) -> str:
    """Return a figure as text that stands in HTML, the same each time."""
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "mbkit", "svg.fonttype": "path"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    drawn = text.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    return re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
