"""Results written to files, in the format of the suffix of the name."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mbkit.errors import ResultFileError, UsageError, printable
from mbkit.extras import extra_package
from mbkit.io.replacement import written
from mbkit.io.results.ensembles import write_ensemble
from mbkit.io.results.exports import write_csv, write_mat, write_xlsx
from mbkit.io.results.netcdf import write_netcdf
from mbkit.io.text_file import checked_place
from mbkit.results.ensemble import Ensemble

if TYPE_CHECKING:
    from mbkit.results.result import Result

__all__ = ["check_suffix", "save_result"]


def _write_netcdf(run: Result | Ensemble, file: Any) -> None:
    if isinstance(run, Ensemble):
        write_ensemble(run, file)
    else:
        write_netcdf(run, file)


#: Formats of files by the ends of their names; without suffix no format is meant.
WRITERS: dict[str, Callable[[Any, Any], None]] = {
    **dict.fromkeys((".nc", ".nc4", ".h5", ".hdf5", ""), _write_netcdf),
    ".csv": write_csv,
    ".mat": write_mat,
    ".xlsx": write_xlsx,
}


def save_result(run: Result | Ensemble, path: str | os.PathLike[str]) -> None:
    """Write a result to a file, in the format of the suffix of its name.

    The file is written under a temporary name beside `path` and renamed when it is complete and
    on the disk: a file that was there before is replaced at once or not at all.

    Parameters
    ----------
    run : Result or Ensemble
        The result to write.
    path : str or path
        Where to; its folder must exist. ``.nc``, ``.nc4``, ``.h5`` and ``.hdf5`` are netCDF, with
        all that a result has, to be read again by `load_result` and `load_ensemble`; ``.csv``,
        ``.xlsx`` (of openpyxl, ``pip install 'mbkit[excel]'``) and ``.mat`` are for other programs.
        See docs/results.md.

    Raises
    ------
    UsageError
        If the name ends in another suffix, or openpyxl is missing.
    ResultFileError
        If it cannot be written there.
    """
    target = checked_place(path, "save")
    if os.path.isdir(target):
        raise ResultFileError(
            f"Result file '{printable(target)}' is a directory; give a file name in it."
        )
    if not os.path.isdir(target.parent):
        raise ResultFileError(
            f"Result file '{printable(target)}' is in a directory that does not exist; make it "
            "first."
        )
    check_suffix(target)
    with written("Result file", target, ResultFileError) as made, made.open("wb") as file:
        WRITERS[target.suffix.lower()](run, file)


def check_suffix(path: pathlib.Path) -> None:
    """Raise UsageError if the name of a file claims a format that is not, or cannot be, written."""
    if path.suffix.lower() not in WRITERS:
        raise UsageError(
            f"Result file '{printable(path)}' must end in .nc (or .nc4, .h5, .hdf5; netCDF, which "
            f"load_result reads), .csv, .xlsx or .mat, got '{printable(path.suffix)}'. For other "
            "formats go by run.to_dataframe() or run.to_xarray()."
        )
    if path.suffix.lower() == ".xlsx":
        remedy = "A .csv file is saved without it."
        extra_package("openpyxl", "Excel files need openpyxl", "excel", remedy)
