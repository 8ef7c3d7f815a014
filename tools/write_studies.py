"""Run the studies of docs/studies, and write their tables and pictures into their pages.

python tools/write_studies.py              all of them
python tools/write_studies.py heavy-top    some of them

Each study, a file NAME.toml or NAME.py, is written where a page has the mark of its name; reports
and tables go to results/studies/NAME. It is run from the beginning, so that times are of this
machine and this moment. On one that is busy times would mislead, and are left out of the pages.
"""

from __future__ import annotations

import datetime as dt
import os
import pathlib
import runpy
import shutil
import sys
import time
from collections.abc import Sequence

import numpy as np

import mbkit as mb
from mbkit.studies.laboratory.findings.plots import curves
from mbkit.studies.laboratory.findings.report import fastest

ROOT = pathlib.Path(__file__).parents[1]
PLACE, RESULTS = ROOT / "docs" / "studies", ROOT / "results" / "studies"
BEGIN, END = "<!-- {}: written by make studies -->", "<!-- {}: end -->"
COLUMNS = (
    "coordinates", "loop_joints", "constraint_solver", "stabilisation", "integrator", "error",
    "evaluations", "factorisations", "operations", "time", "energy_drift", "constraint_position",
    "constraint_velocity", "status",
)  # fmt: skip

#: Of a second of work, how much a process has to get that times are to be relied upon.
AT_REST = 0.95


def main() -> None:
    """Run studies, and write their pages."""
    files = {file.stem: file for file in sorted([*PLACE.glob("*.toml"), *PLACE.glob("*.py")])}
    for name in sys.argv[1:] or files:
        begin, end = BEGIN.format(name), END.format(name)
        page = next(page for page in PLACE.glob("*.md") if begin in page.read_text())
        directory = RESULTS / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.parent.mkdir(parents=True, exist_ok=True)
        quiet = is_quiet()
        if files[name].suffix == ".toml":
            found, told = mb.load_study(files[name]).findings(directory, progress=True), compared
        else:
            found, told = runpy.run_path(str(files[name]))["studied"](directory), scaled
        quiet = quiet and is_quiet()
        parts = told(name, found, quiet)
        text = "\n\n".join([*parts, measured(directory, quiet)])
        before, _, rest = page.read_text().partition(begin)
        page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}")
        sys.stdout.write(f"{page}, {directory / 'report.html'}\n")


def is_quiet() -> bool:
    """Return whether a process gets a core for itself now."""
    wall, own = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < 1.0:
        pass
    return time.process_time() - own >= AT_REST * (time.perf_counter() - wall)


def compared(name: str, found: mb.studies.Findings, quiet: bool) -> list[str]:
    """Return tables and picture of a comparison."""
    cases = found.table
    h = sorted(set(cases["h"]))[1]
    table = cases.select(h=h)
    parts = [
        f"**{len(cases)} cases, h = {h:g} s**",
        table.markdown(shown(table, COLUMNS, quiet)),
        "**Least operations to an error**",
        fastest(cases, "operations").markdown(),
    ]
    if quiet:
        parts += ["**Fastest to an error**", fastest(cases).markdown()]
    return [*parts, picture(name, cases, "operations", "error", "Operations and error")]


def scaled(name: str, found: mb.studies.Findings, quiet: bool) -> list[str]:
    """Return tables and picture of dynamics over the number of bodies."""
    cases = found.tables["cases"]
    rows, few = [], sorted(set(cases["size"]))[-2:]
    for group in cases.groups("size").values():
        row = {key: group.rows[0][key] for key in ("mechanism", "algorithm", "representation")}
        last = group.rows[-1]
        for what in ("multiplications", "additions", "divisions", "angles"):
            more = np.diff([group.select(size=int(n))[what][0] for n in few])[0]
            row[what] = float(f"{more / (few[1] - few[0]):.4g}")
        row["time"] = 1e9 * last["time_least"] / last["size"]
        rows.append(row)
    order = list(dict.fromkeys(row["algorithm"] for row in rows))
    kinds = list(dict.fromkeys(row["mechanism"] for row in rows))
    rows.sort(key=lambda row: (order.index(row["algorithm"]), kinds.index(row["mechanism"])))
    parts = []
    for what in order:
        own = [row for row in rows if row["algorithm"] == what]
        parts += [f"**{what.replace('_', ' ').capitalize()}**", in_columns(own, quiet)]
    chains = cases.select(mechanism="revolute")
    return [*parts, picture(name, chains, "bodies", "multiplications", "Chains of revolute joints")]


def in_columns(rows: Sequence[dict[str, object]], quiet: bool) -> str:
    """Return a table with a row a kind of joint, and a column a representation."""
    names = list(dict.fromkeys(str(row["representation"]) for row in rows))
    table: dict[str, dict[str, object]] = {}
    for row in rows:
        line = table.setdefault(str(row["mechanism"]), {"joints": row["mechanism"]})
        text = f"{row['multiplications']:g} + {row['additions']:g}"
        if quiet:
            text += f", {row['time']:.0f} ns"
        line[str(row["representation"])] = text
    units = dict.fromkeys(("joints", *names), "")
    return mb.studies.Table(list(table.values()), units).markdown(list(units))


def shown(table: mb.studies.Table, columns: Sequence[str], quiet: bool) -> list[str]:
    """Return the columns of a page: those that say something, without times of a busy machine."""
    factors = {"coordinates", "integrator", "loop_joints", "constraint_solver", "stabilisation"}
    silent = factors - set(table.varied) | (set() if quiet else {"time"})
    if set(table["status"]) == {"completed"}:
        silent |= {"status"}
    return [each for each in columns if each in table.columns and each not in silent]


def picture(name: str, cases: mb.studies.Table, x: str, y: str, title: str) -> str:
    """Write a picture; return the line that shows it."""
    file = PLACE.parent / "images" / f"study-{name}.png"
    step = "size" if x == "bodies" else "h"
    curves(cases, x, y, title=title, step=step).savefig(file, dpi=90)
    return f"![{title}]({os.path.relpath(file, PLACE)})"


def measured(directory: pathlib.Path, quiet: bool) -> str:
    """Return when and on what it was measured."""
    machine = mb.studies.load_findings(directory).about["machine"]
    today = dt.datetime.now(dt.UTC).date()
    about = f"Measured on {today}, on {machine['processor']}, {machine['cores']} cores, Python "
    text = about + f"{machine['python']}."
    if quiet:
        return text
    return f"{text} It was busy: times are left out; `make studies` has them on a machine at rest."


if __name__ == "__main__":
    main()
