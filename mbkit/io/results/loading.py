"""Results of files and of run directories."""

from __future__ import annotations

import os

from mbkit.io.results.reader import read_result
from mbkit.io.results.run_result import load_run
from mbkit.io.text_file import checked_place
from mbkit.results.result import Result

__all__ = ["load_result"]


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result from a file that `save_result` wrote, or from a run directory.

    Parameters
    ----------
    path : str or path
        The file. Of a directory, ``result.nc`` in it, whose arrays stay in the file until they are
        looked at; of a run that is not at its end, the rows confirmed so far.

    Returns
    -------
    Result
        Equal to the one that was saved, bit by bit.

    Raises
    ------
    ResultFileError
        If there is no such file, if it is not a result of mbkit, or if something in it is missing
        or does not fit together; the message names it.
    """
    source = checked_place(path, "load_result")
    if os.path.isdir(source):
        return load_run(source)
    return read_result(source, stored=False)
