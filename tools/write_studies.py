"""Run the studies of docs/studies, and write their tables and pictures into their pages.

python tools/write_studies.py              all of them
python tools/write_studies.py heavy-top    some of them
"""

from __future__ import annotations

import os
import pathlib
import sys

import mbkit as mb
from mbkit.studies.laboratory.plots import curves
from mbkit.studies.laboratory.report import fastest

PLACE = pathlib.Path(__file__).parents[1] / "docs" / "studies"
BEGIN, END = "<!-- written by make studies -->", "<!-- end -->"
COLUMNS = (
    "coordinates", "integrator", "error", "time", "evaluations", "factorisations", "energy_drift",
    "constraint_position", "constraint_velocity",
)  # fmt: skip


def main() -> None:
    """Run studies, and write their pages."""
    names = sys.argv[1:] or [file.stem for file in sorted(PLACE.glob("*.toml"))]
    for name in names:
        study = mb.load_study(PLACE / f"{name}.toml")
        study.output.parent.mkdir(exist_ok=True)
        found = study.compare(study.output, progress=True)
        page = PLACE / f"{name}.md"
        before, _, rest = page.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        page.write_text(f"{before}{BEGIN}\n\n{told(name, found)}\n\n{END}{after}")
        sys.stdout.write(f"{page}, {study.output / 'report.html'}\n")


def told(name: str, found: mb.studies.Findings) -> str:
    """Return the tables of a page, and write its picture."""
    cases = found.table
    picture = PLACE.parent / "images" / f"study-{name}.png"
    curves(cases, "time", "error", title="Work and precision").savefig(picture, dpi=90)
    h = sorted(set(cases["h"]))[1]
    manifest = mb.studies.load_findings(found.directory or "").about
    machine = manifest["machine"]
    link = os.path.relpath(picture, PLACE)
    return "\n\n".join([
        f"**{len(cases)} cases, h = {h:g} s**",
        cases.select(h=h).markdown([each for each in COLUMNS if each in cases.columns]),
        "**Fastest to an error**",
        fastest(cases).markdown(),
        f"![Work and precision]({link})",
        "Measured on {processor}, {cores} cores, Python {python}.".format(**machine),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
