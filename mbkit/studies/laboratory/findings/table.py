"""Tidy tables: a row a case, a column a factor or a measured quantity, with units."""

from __future__ import annotations

import csv
import io
import math
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError, suggestion
from mbkit.extras import extra_package
from mbkit.io.replacement import replacement
from mbkit.results.tidy import Column, to_frame

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

__all__ = ["Table"]


#: Factors that decide on others.
DECIDING = ("mechanism", "coordinates", "integrator")


def _rows(rows: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return tuple(rows)


def _units(units: Mapping[str, str]) -> dict[str, str]:
    return dict(units)


@final
@attrs.frozen(eq=False, repr=False)
class Table:
    """Rows of a study.

    Attributes
    ----------
    rows : tuple of dict
        Values by column: text, numbers, or nothing where a column does not apply.
    units : mapping of str to str
        All columns, in order, with their units; empty where they have none.
    factors : tuple of str
        Columns of choices; the others were measured.

    Examples
    --------
    >>> table = Table([{"h": 0.1, "error": 1e-2}, {"h": 0.05, "error": 2.5e-3}], {"h": "s"}, ("h",))
    >>> table["error"]
    array([0.01  , 0.0025])
    >>> print(table.markdown())
    | h [s] | error  |
    |-------|--------|
    | 0.1   | 0.01   |
    | 0.05  | 0.0025 |
    >>> len(table.select(h=0.1))
    1
    """

    rows: tuple[Mapping[str, Any], ...] = attrs.field(converter=_rows)
    units: dict[str, str] = attrs.field(converter=_units)
    factors: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        for name in (name for row in self.rows for name in row):
            self.units.setdefault(name, "")

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<Table: {len(self)} rows, {', '.join(self.columns)}>"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns in which any row has something."""
        return tuple(name for name in self.units if any(_is_there(r.get(name)) for r in self.rows))

    @property
    def varied(self) -> tuple[str, ...]:
        """Factors that differ from row to row, without names that follow from others before."""
        found: tuple[str, ...] = ()
        for name in sorted(self.factors, key=lambda name: name not in DECIDING):
            are_names = any(isinstance(row.get(name), str) for row in self.rows)
            before = found if are_names else ()
            if self._count(*before, name) > self._count(*before):
                found = (*found, name)
        return found

    def _count(self, *names: str) -> int:
        """Return how many different combinations of some columns there are."""
        return len({repr([row.get(name) for name in names]) for row in self.rows})

    def __getitem__(self, column: str) -> Any:
        if column not in self.units:
            raise UsageError(f"There is no column {column!r}; {suggestion(column, self.units)}")
        values = [row.get(column) for row in self.rows]
        if any(isinstance(value, str | list) for value in values):
            return np.array(["" if value is None else str(value) for value in values])
        return np.array([math.nan if value is None else float(value) for value in values])

    def select(self, **chosen: Any) -> Table:
        """Return the rows in which columns have these values."""
        for name in chosen:
            self[name]
        rows = [row for row in self.rows if all(row.get(k) == x for k, x in chosen.items())]
        return Table(rows, self.units, self.factors)

    def groups(self, *left_out: str) -> dict[str, Table]:
        """Return the rows that agree in all factors but some, by their common factors."""
        varied = [name for name in self.varied if name not in left_out]
        found: dict[str, list[Mapping[str, Any]]] = {}
        for row in self.rows:
            label = ", ".join(str(row.get(name, "")) for name in varied if row.get(name) != "")
            found.setdefault(label, []).append(row)
        return {label: Table(rows, self.units, self.factors) for label, rows in found.items()}

    def heads(self, columns: Iterable[str]) -> list[str]:
        """Return the heads of columns, with units."""
        return [name + (f" [{self.units[name]}]" if self.units[name] else "") for name in columns]

    # ------------------------------------------------------------------------------- forms

    def csv(self) -> str:
        """Return it as comma-separated values; all digits, heads with units."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = self.columns
        writer.writerow(self.heads(columns))
        for row in self.rows:
            cells = (row.get(name) for name in columns)
            writer.writerow([x if _is_there(x) else "" for x in cells])
        return text.getvalue()

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write it as comma-separated values; the file is replaced at once."""
        with replacement(pathlib.Path(path)) as file:
            file.write_text(self.csv(), encoding="utf-8")

    def to_pandas(self) -> DataFrame:
        """Return it as a data frame (needs pandas), with the units in ``attrs["units"]``."""
        return to_frame([Column(name, self.units[name], self[name]) for name in self.columns])

    def to_xarray(self) -> Dataset:
        """Return it as a data set over the dimension ``row`` (needs the extra ``xarray``)."""
        xarray = extra_package("xarray", "Data sets need xarray", "xarray")
        columns = {name: ("row", self[name], {"units": self.units[name]}) for name in self.columns}
        found: Dataset = xarray.Dataset(columns)
        return found

    def markdown(self, columns: str | Sequence[str] | None = None, *, digits: int = 3) -> str:
        """Return it, or some columns, as a table in Markdown that reads well as plain text too."""
        heads, *lines = self._cells(columns, digits)
        widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
        rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
        text = [
            "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
            for line in (heads, *lines)
        ]
        return "\n".join([text[0], rule, *text[1:]])

    def latex(self, columns: str | Sequence[str] | None = None, *, digits: int = 3) -> str:
        """Return it, or some columns, as a table in LaTeX with rules of the package booktabs."""
        heads, *lines = self._cells(columns, digits)
        body = [" & ".join(map(_in_latex, line)) + r" \\" for line in (heads, *lines)]
        return "\n".join([
            r"\begin{tabular}{" + "l" * len(heads) + "}", r"\toprule", body[0], r"\midrule",
            *body[1:], r"\bottomrule", r"\end{tabular}",
        ])  # fmt: skip

    def _cells(self, columns: str | Sequence[str] | None, digits: int) -> list[list[str]]:
        """Return the heads, then the rows, with so many significant digits."""
        if not (isinstance(digits, int) and 0 < digits < 18):
            raise UsageError(f"digits must be a whole number from 1 to 17, got {digits!r}.")
        given = self.columns if columns is None else columns
        names = [given] if isinstance(given, str) else list(given)
        for name in names:
            self[name]  # or it is unknown
        rows = [[shown(row.get(n), digits).replace("|", "/") for n in names] for row in self.rows]
        return [self.heads(names), *rows]


def _is_there(value: Any) -> bool:
    return (
        value is not None and value != "" and not (isinstance(value, float) and math.isnan(value))
    )


def shown(value: Any, digits: int = 3) -> str:
    """Return a value, a number with so many significant digits."""
    if not _is_there(value):
        return ""
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    return str(value)


def _in_latex(text: str) -> str:
    for letter in "\\&%$#_{}":
        text = text.replace(letter, r"\textbackslash " if letter == "\\" else f"\\{letter}")
    return text.replace("^", r"\textasciicircum ").replace("~", r"\textasciitilde ")
