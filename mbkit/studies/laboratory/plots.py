"""Pictures of studies: curves told apart by colour, marker and line, legends beside them."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import UsageError
from mbkit.studies.laboratory.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curves", "svg"]

#: Colours that everybody can tell apart: Okabe and Ito 2008, yellow last, for it is faint.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)), (0, (8, 3)))

#: Which factor is told by colour, by marker, by line: the first of these that are varied.
ORDER = ("algorithm", "integrator", "coordinates", "representation", "mechanism", "loop_joints",
         "body_frames", "constraint_solver", "stabilisation")  # fmt: skip


def curves(table: Table, x: str, y: str, *, title: str = "", step: str = "h") -> Figure:
    """Return y over x, a curve for each combination of factors but the step, both logarithmic.

    UsageError if matplotlib is not installed.
    """
    try:
        import matplotlib.figure
        from matplotlib.lines import Line2D
    except ImportError as error:
        raise UsageError(
            "Pictures need matplotlib, which is not installed; pip install 'mbkit[plot]'."
        ) from error
    varied = sorted((name for name in table.varied if name != step), key=_rank)
    channels = [varied[:1], varied[1:2], varied[2:]]
    styles: list[dict[str, Any]] = [{} for _ in channels]
    figure = matplotlib.figure.Figure(figsize=(9.0, 4.6), layout="constrained")
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
