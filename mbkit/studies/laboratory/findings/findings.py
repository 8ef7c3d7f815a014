"""Findings of a study: tables, and descriptions of the study."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from typing import Any, final

import attrs

from mbkit.studies.laboratory.findings.table import Table

__all__ = ["Findings"]


@final
@attrs.frozen(eq=False, repr=False)
class Findings:
    """Tables of a study.

    Attributes
    ----------
    kind : str
        "compare", "convergence", "work_precision", "scaling", "sensitivity", "ensemble" or
        "sweep".
    tables : mapping of str to Table
        By name; the first is the main one.
    about : mapping
        The subject of the study: the setting, the factors, the reference with its doubt.
    directory : path or None
        Where it stands on disk.
    """

    kind: str
    tables: Mapping[str, Table]
    about: Mapping[str, Any]
    directory: pathlib.Path | None = None

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(table)} rows" for name, table in self.tables.items())
        return f"<Findings of {self.kind}: {sizes}>"

    @property
    def table(self) -> Table:
        """The main table."""
        return next(iter(self.tables.values()))

    @property
    def failed(self) -> Table:
        """The rows that did not come to their end, with the reason."""
        return self._cases(lambda row: row.get("status") not in (None, "completed"))

    @property
    def warned(self) -> Table:
        """The rows of runs that have warned of something, in the column `warnings`."""
        return self._cases(lambda row: bool(row.get("warnings")))

    def _cases(self, chosen: Callable[[Mapping[str, Any]], bool]) -> Table:
        """Return the rows of cases that are chosen."""
        cases = self.tables.get("cases", self.table)
        return Table([row for row in cases if chosen(row)], cases.units, cases.factors)
