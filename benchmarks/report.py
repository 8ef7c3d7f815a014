"""A table of measured values beside their targets."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
from collections.abc import Sequence
from typing import Any

import attrs

from benchmarks.timing import SMALL

#: The marks between which tables stand in a page.
BEGIN, END = "<!-- written by make bench -->", "<!-- end -->"


@attrs.frozen
class Row:
    """One line of a table.

    Attributes
    ----------
    what : str
        What was measured.
    mbkit, peer : float or None
        Times. [s]
    value : float or None
        What the bar is about: a ratio of times, or seconds.
    bar : float or None
        What the value must not exceed.
    unit : str
        Of the value: "" for a ratio, or "s".
    extra : sequence of str
        Cells of the table's further columns.
    """

    what: str
    mbkit: float | None = None
    peer: float | None = None
    value: float | None = None
    bar: float | None = None
    unit: str = ""
    extra: Sequence[str] = ()

    @property
    def met(self) -> bool | None:
        """Whether the value keeps to the bar; None if there is none."""
        return None if self.bar is None or self.value is None else self.value <= self.bar

    def cells(self) -> list[str]:
        """Return the cells of the line."""
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return [
            self.what,
            *self.extra,
            _time(self.mbkit),
            _time(self.peer),
            "" if self.value is None else f"{self.value:.2f}{self.unit and ' ' + self.unit}",
            "" if self.bar is None else f"{self.bar:.3g}{self.unit and ' ' + self.unit}",
            verdict,
        ]


@attrs.frozen
class Table:
    """A table with a title.

    Attributes
    ----------
    title : str
        What is compared.
    rows : sequence of Row
        The lines.
    peer : str
        Name of the other program, "" if there is none.
    extra : sequence of str
        Heads of further columns, which follow the first.
    """

    title: str
    rows: Sequence[Row]
    peer: str = ""
    extra: Sequence[str] = ()

    def markdown(self) -> str:
        """Return the table as markdown that reads well as plain text too."""
        ratio = "ratio" if self.peer else "measured"
        head = ["", *self.extra, "mbkit", self.peer, ratio, "bar", ""]
        lines = [head, *(row.cells() for row in self.rows)]
        kept = [0, *(k for k in range(1, len(head)) if any(line[k] for line in lines[1:]))]
        lines = [[line[k] for k in kept] for line in lines]
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        made = [
            "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
            for line in lines
        ]
        rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
        return "\n".join([f"**{self.title}**", "", made[0], rule, *made[1:]])


def written(tables: Sequence[Table], page: pathlib.Path) -> list[Table]:
    """Write tables into a page, between its marks, and return them."""
    if SMALL:
        return list(tables)
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise RuntimeError(f"{page} has no marks {BEGIN} and {END} between which tables stand")
    body = "\n\n".join(each.markdown() for each in tables)
    page.write_text(f"{before}{BEGIN}\n\n{body}\n\n{END}{after}")
    return list(tables)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for factor, unit in ((1e9, "ns"), (1e6, "us"), (1e3, "ms"), (1.0, "s")):
        if seconds * factor < 1e3 or unit == "s":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError("unreachable")


def machine() -> dict[str, Any]:
    """Return what the numbers depend on: processor, system and versions."""
    packages = ("mbkit", "numpy", "numba", "pin", "mujoco", "exudyn")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in packages},
    }


def _processor() -> str:
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
