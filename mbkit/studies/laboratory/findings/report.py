"""Reports of studies: tables as CSV, Markdown, LaTeX and netCDF, and one page of HTML."""

from __future__ import annotations

import html
import importlib.util
import json
import pathlib
from typing import Any

import numpy as np

from mbkit.errors import UsageError
from mbkit.io.replacement import replacement
from mbkit.studies.laboratory.directory import StudyDirectory
from mbkit.studies.laboratory.findings.findings import Findings
from mbkit.studies.laboratory.findings.plots import curves, curves_over, svg
from mbkit.studies.laboratory.findings.table import Table, shown
from mbkit.studies.laboratory.orders import orders_table
from mbkit.studies.laboratory.work_precision import AtMost, decades, work_at, work_table

__all__ = ["columns_of", "fastest", "page", "write"]

#: Measures that the page shows of each case, and those that papers' tables have.
SHOWN = (
    "steps", "error", "error_rotation", "error_position", "time", "time_spread", "evaluations",
    "newton_iterations", "factorisations", "rejected_steps", "operations", "operations_dynamics",
    "operations_constraints", "operations_matrices", "operations_steps", "operations_per_body",
    "energy_drift", "momentum_drift", "angular_momentum_drift", "constraint_position",
    "constraint_velocity", "constraint_acceleration", "singularity_distance",
)  # fmt: skip

#: Pictures of a sweep, and curves in one of them, at most.
MOST_PICTURES, MOST_CURVES = 24, 24

#: Combinations that a note names.
MOST_NAMES = 3

#: Rows of a table in LaTeX or Markdown.
MOST_ROWS = 400

#: Characters of a cell that stand in one line.
LINE = 60

STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #111 }
table { border-collapse: collapse; font-size: 85%; margin: 1em 0; display: block; overflow-x: auto }
th, td { padding: .2em .6em; border-bottom: 1px solid #ddd; text-align: left; white-space: nowrap }
th { border-bottom: 2px solid #888 }
td.text { white-space: normal; min-width: 40em }
svg { max-width: 100%; height: auto }
"""


def write(found: Findings, directory: pathlib.Path) -> None:
    """Write all tables and the page of a study into its directory."""
    place = StudyDirectory(directory)
    tables = derived(found)
    for name, table in tables.items():
        place.write(f"{name}.csv", table.csv())
        if _is_installed("xarray"):
            with replacement(place.path / f"{name}.nc") as file:
                table.to_xarray().to_netcdf(file, engine="h5netcdf")
    few = {name: _few(table) for name, table in tables.items()}
    texts = [f"## {name}\n\n{table.markdown(columns_of(table))}\n" for name, table in few.items()]
    place.write("tables.md", "\n".join(texts))
    texts = [f"% {name}\n{table.latex(columns_of(table))}\n" for name, table in few.items()]
    place.write("tables.tex", "\n".join(texts))
    place.write("report.html", page(found))


def derived(found: Findings) -> dict[str, Table]:
    """Return the tables of the findings, with orders and work where there are several steps."""
    tables = dict(found.tables)
    cases = tables.get("cases")
    if cases is not None and "h" in cases.varied and "error" in cases.columns:
        if len(set(cases["h"])) >= 3:
            tables.setdefault("orders", orders_table(cases))
        if "time" in cases.columns:
            tables.setdefault("work", work_table(cases))
    return tables


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _few(table: Table) -> Table:
    return Table(table.rows[:MOST_ROWS], table.units, table.factors)


def columns_of(table: Table) -> list[str]:
    """Return the columns that are worth showing: factors that vary, and measures."""
    measures = [name for name in table.columns if name not in table.factors]
    if "error" in measures:
        own = [name for name in measures if name.endswith("_drift") or name in SHOWN]
        measures = own + ["status"] * (len(set(table["status"])) > 1)
    return [*table.varied, *measures] or list(table.columns)


# --------------------------------------------------------------------------------------- page


def page(found: Findings) -> str:
    """Return the page of a study: one file of HTML that fetches nothing."""
    about = found.about
    title = f"{found.kind.replace('_', ' ').capitalize()}: {about.get('mechanism', '')}"
    parts = [f"<h1>{html.escape(title)}</h1>", *_summary(found)]
    parts += _pictures(found)
    for name, table in derived(found).items():
        parts.append(f"<h2>{html.escape(name.capitalize())}</h2>")
        parts.append(_in_html(table, columns_of(table)))
    if len(found.failed):
        parts.append("<h2>Not completed</h2>")
        parts.append(_in_html(found.failed, [*found.failed.varied, "status"]))
    if len(found.warned):
        parts.append("<h2>Warnings</h2>")
        parts.append(_in_html(found.warned, [*found.tables["cases"].varied, "warnings"]))
    parts.append("<h2>Study</h2>")
    parts.append(f"<pre>{html.escape(json.dumps(_plain(about), indent=1))}</pre>")
    head = f"<meta charset='utf-8'><title>{html.escape(title)}</title><style>{STYLE}</style>"
    body = "\n".join(parts)
    return f"<!DOCTYPE html>\n<html lang='en'><head>{head}</head><body>\n{body}\n</body></html>\n"


def _plain(about: Any) -> Any:
    return {name: value for name, value in about.items() if name != "cases"}


def _summary(found: Findings) -> list[str]:
    """Return the first paragraphs: the cases, the reference, the fastest method."""
    cases = found.tables.get("cases")
    if cases is None:
        return []
    varied = ", ".join(f"{len(set(cases[n]))} of {n}" for n in cases.varied) or "one case"
    lines = [f"<p>{len(cases)} cases: {html.escape(varied)}.</p>"]
    if len(found.failed):
        lines.append(f"<p>{len(found.failed)} of them were refused or failed, see below.</p>")
    if len(found.warned):
        lines.append(f"<p>{len(found.warned)} of them have warned of something, see below.</p>")
    if "error" not in cases.columns:
        return lines
    doubt = float(np.nanmax(cases["doubt"], initial=0.0))
    exact = f"uncertain by {doubt:.1e}" if doubt else "taken for exact"
    lines.append(f"<p>The reference is {exact}; errors are the largest of the motion.</p>")
    best = fastest(cases)
    return [*lines, "<h2>Fastest to an error</h2>", _in_html(best, best.columns)] if best else lines


def fastest(cases: Table, by: str = "time") -> Table:
    """Return the combination that takes the least time, or other work, to each error, by decades.

    The column is called "fastest", or "least" of other work; "note" names some of those whose
    largest step is more precise already, so that larger ones might take less.
    """
    rows = []
    best = "fastest" if by == "time" else "least"
    if {"error", by} <= set(cases.columns):
        groups = cases.groups("h").items()
        for level in decades(cases):
            found = [(work_at(g["error"], g[by], level), name) for name, g in groups]
            work, label = min(found)
            if np.isfinite(work):
                bounds = [name for each, name in found if isinstance(each, AtMost)]
                others = len(bounds) - MOST_NAMES
                names = "; ".join(bounds[:MOST_NAMES]) + (f"; {others} more" if others > 0 else "")
                note = f"at most, and perhaps less: {names}" if bounds else ""
                rows.append({"error": level, best: label, by: work, "note": note})
    return Table(rows, {"error": "", best: "", by: cases.units.get(by, ""), "note": ""})


def _pictures(found: Findings) -> list[str]:
    cases = found.tables.get("cases")
    if cases is None:
        return []
    if found.kind == "sweep":
        return _pictures_of_sweep(cases)
    pictures = [
        ("time", "error", "Work and precision"), ("evaluations", "error", "Evaluations and error"),
        ("operations", "error", "Operations and error"),
        ("h", "error", "Convergence"), ("h", "energy_drift", "Drift of the energy"),
        ("h", "constraint_position", "Drift of the constraints"),
        ("bodies", "time", "Time of a call"), ("bodies", "multiplications", "Multiplications"),
    ]  # fmt: skip
    parts = []
    for x, y, title in pictures:
        if x not in cases.columns or y not in cases.columns:
            continue
        if not np.nanmax(cases[y], initial=0.0) or (x == "h" and "h" not in cases.varied):
            continue
        try:
            step = "size" if x == "bodies" else "h"
            parts.append(f"<figure>{svg(curves(cases, x, y, title=title, step=step))}</figure>")
        except UsageError as error:  # no matplotlib
            return [f"<p>{html.escape(str(error))}</p>"]
    return parts


def _pictures_of_sweep(cases: Table) -> list[str]:
    """Return each output that changes over the first factor, by the second if there is one."""
    factors = [name for name in cases.varied if name not in _words(cases)]
    words = [name for name in cases.varied if name in _words(cases)]
    x, *by = [*factors, *words] or [""]
    if not factors or len(by) > 1 or (by and len(set(cases[by[0]])) > MOST_CURVES):
        return []
    given = {*cases.factors, *_words(cases)}
    outputs = [name for name in cases.columns if name not in given and _changes(cases[name])]
    try:
        drawn = [svg(curves_over(cases, x, y, *by)) for y in outputs[:MOST_PICTURES]]
    except UsageError as error:  # no matplotlib
        return [f"<p>{html.escape(str(error))}</p>"]
    return [f"<figure>{each}</figure>" for each in drawn]


def _changes(values: Any) -> bool:
    return np.unique(values[np.isfinite(values)]).size > 1


def _words(cases: Table) -> set[str]:
    """Return the columns that are no numbers."""
    return {name for name in cases.columns if cases[name].dtype.kind == "U"}


def _in_html(table: Table, columns: Any) -> str:
    heads = "".join(f"<th>{html.escape(head)}</th>" for head in table.heads(columns))
    rows = "".join(
        "<tr>" + "".join(_cell(shown(row.get(n))) for n in columns) + "</tr>\n" for row in table
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table>"


def _cell(text: str) -> str:
    kind = " class='text'" if len(text) > LINE else ""
    return f"<td{kind}>{html.escape(text)}</td>"
