"""Findings in the directory of a study: written with their report, and read again."""

from __future__ import annotations

import json
import os
from typing import Any

import attrs

from mbkit.studies.laboratory.directory import StudyDirectory
from mbkit.studies.laboratory.findings.findings import Findings
from mbkit.studies.laboratory.findings.report import write
from mbkit.studies.laboratory.findings.table import Table
from mbkit.studies.laboratory.work_precision import AtMost

__all__ = ["kept", "load_findings"]

#: The file of tables that are made of all cases, such as statistics.
TABLES = "tables.json"


def kept(found: Findings, directory: str | os.PathLike[str]) -> Findings:
    """Write tables and report of all cases of a directory; return the findings with its place."""
    place = StudyDirectory(directory)
    further = {name: _plain(table) for name, table in found.tables.items() if name != "cases"}
    if further:
        place.write(TABLES, json.dumps({"kind": found.kind, "tables": further}, indent=1) + "\n")
    write(load_findings(directory), place.path)
    return attrs.evolve(found, directory=place.path)


def load_findings(directory: str | os.PathLike[str]) -> Findings:
    """Return the findings of a study so far, from its directory.

    Parameters
    ----------
    directory : str or path
        Of a study.

    Returns
    -------
    Findings
        Of all cases that were finished.

    Raises
    ------
    ResultFileError
        If there is no study, or it is damaged.
    """
    place = StudyDirectory(directory)
    about = place.manifest()
    rows = [row for key in about["cases"] if (row := place.known(key)) is not None]
    tables = {"cases": Table(rows, about["units"], tuple(about["factors"]))}
    further = place.table(TABLES)
    kind = further.get("kind", about["kind"])
    made = {name: _table(each) for name, each in further.get("tables", {}).items()}
    return Findings(kind, {**made, **tables}, about, place.path)


def _plain(table: Table) -> dict[str, Any]:
    """Return a table as JSON has it."""
    rows = [
        {
            name: {"at_most": float(each)} if isinstance(each, AtMost) else each
            for name, each in row.items()
        }
        for row in table
    ]
    return {"rows": rows, "units": table.units, "factors": list(table.factors)}


def _table(given: dict[str, Any]) -> Table:
    rows = [
        {
            name: AtMost(each["at_most"]) if isinstance(each, dict) else each
            for name, each in row.items()
        }
        for row in given["rows"]
    ]
    return Table(rows, given["units"], tuple(given["factors"]))
