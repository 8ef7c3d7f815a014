"""The place in a user's function at which a trace came to its end."""

from __future__ import annotations

import linecache
import pathlib
import traceback

__all__ = ["reason"]

_HERE = str(pathlib.Path(__file__).parent)


def reason(error: BaseException) -> str:
    """Return what could not be traced, with the line of the function that asked for it.

    Part of a sentence, such as ``np.interp has no derivative here, in "y = np.interp(x, ...)"
    (cam.py, line 12)``.
    """
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        outside = not frame.filename.startswith(_HERE) and "site-packages" not in frame.filename
        if outside and frame.filename != __file__:
            line = linecache.getline(frame.filename, frame.lineno or 0).strip()
            if line:  # compiled code has frames, but no lines
                file = pathlib.Path(frame.filename).name
                place = f' in "{line}" ({file}, line {frame.lineno})'
    return f"{error}{place}"
