"""Results for spreadsheets and MATLAB: CSV, Excel and MAT files, which are written, not read."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.errors import ResultFileError
from mbkit.results.ensemble import Ensemble
from mbkit.results.event_log import FIELDS
from mbkit.results.labelled import to_json
from mbkit.results.result import Result
from mbkit.results.tidy import Column, columns_of_ensemble, columns_of_result

__all__ = ["write_csv", "write_mat", "write_xlsx"]

#: Rows that are written at a time.
_ROWS = 10_000

#: Rows and columns that a sheet of Excel has.
_SHEET = (1_048_576, 16_384)

_ARRAYS = (
    "t", "q", "v", "kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy",
    "multipliers", "residuals",
)  # fmt: skip
_NAMES = (
    "position_names", "velocity_names", "body_names", "joint_names", "constraint_names",
    "position_units",
)  # fmt: skip
_OF_SAMPLES = ("lengths", "steps_taken", "wall_times", "completed", "failed")


def write_csv(run: Result | Ensemble, file: Any) -> None:
    """Write a row for each instant, with all digits; heads with units in brackets."""
    columns = _columns(run)
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_heads(columns))
    for first in range(0, len(columns[0].values), _ROWS):
        writer.writerows(_block(columns, slice(first, first + _ROWS)))
    text.detach()  # flushed; the file is closed by whom it belongs to


def _columns(run: Result | Ensemble) -> list[Column]:
    return columns_of_result(run) if isinstance(run, Result) else columns_of_ensemble(run)


def _heads(columns: Sequence[Column]) -> list[str]:
    return [f"{each.name} [{each.unit}]" if each.unit else each.name for each in columns]


def write_xlsx(run: Result | Ensemble, file: Any) -> None:
    """Write the sheets "run", with the columns of the CSV, and "events" of a run that has some.

    Numbers have 16 digits, and NaN or infinity is an empty cell. ResultFileError if a sheet
    cannot hold the run.
    """
    from openpyxl import Workbook

    columns = _columns(run)
    size = len(columns[0].values) + 1, len(columns)
    if size[0] > _SHEET[0] or size[1] > _SHEET[1]:
        raise ResultFileError(
            f"A sheet of Excel has {_SHEET[0]} rows and {_SHEET[1]} columns, and the run needs "
            f"{size[0]} and {size[1]}; save it as .csv or .nc, or with save_every."
        )
    book = Workbook(write_only=True)
    sheet = book.create_sheet("run")
    sheet.append(_heads(columns))
    for first in range(0, size[0] - 1, _ROWS):
        for row in _block(columns, slice(first, first + _ROWS)):
            sheet.append([x if not isinstance(x, float) or math.isfinite(x) else None for x in row])
    if isinstance(run, Result) and len(run.events.t):
        sheet = book.create_sheet("events")
        sheet.append(["time [s]", "event"])
        for t, name in zip(run.events.t.tolist(), run.events.names, strict=True):
            sheet.append([t, name])
    book.save(file)


def _block(columns: Sequence[Column], rows: slice) -> Any:
    return zip(*(np.asarray(each.values[rows]).tolist() for each in columns), strict=True)


def write_mat(run: Result | Ensemble, file: Any) -> None:
    """Write a MAT file of version 5: arrays, lists of names as cells, options as JSON."""
    from scipy.io import savemat

    labels = {n: getattr(run, n) for n in _NAMES} if isinstance(run, Result) else run.labels
    data: dict[str, Any] = {name: np.asarray(getattr(run, name)) for name in _ARRAYS}
    data |= {name: _cells(labels[name]) for name in _NAMES}
    data |= {"options": to_json(run.options), "versions": to_json(run.versions)}
    data |= {"output_names": _cells(run.outputs), "outputs": _cells(run.outputs.values())}
    if isinstance(run, Result):
        log = run.events
        events = {"t": log.t, "names": _cells(log.names), **{f: getattr(log, f) for f in FIELDS}}
        data |= {
            "model": run.model, "completed": run.completed, "message": run.message,
            "warnings": _cells(run.warnings), "events": events,
        }  # fmt: skip
    else:
        data |= {name: getattr(run, name) for name in _OF_SAMPLES}
        data["messages"] = run.messages
        data["parameter_names"] = _cells(run.parameters)
        data["parameters"] = _cells(run.parameters.values())
    savemat(file, data, long_field_names=True, do_compression=True, oned_as="column")


def _cells(values: Any) -> Any:
    """Return texts or arrays as a column of cells."""
    values = tuple(values)
    cells = np.empty((len(values), 1), dtype=object)
    for k, value in enumerate(values):
        cells[k, 0] = value
    return cells
