"""Programs of somebody's function: one for each way through its branches, made when it is taken."""

from __future__ import annotations

import linecache
import pathlib
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.tape import number_of

#: Programs that are kept of one function.
_KEPT = 32

Program = Callable[..., "tuple[float, ...] | None"]


class TraceFailedError(Exception):
    """A function could not be traced, or not as it is written; the message has the reason."""


def run(
    programs: list[Program],
    trace: Callable[..., Program],
    size: int,
    given: Sequence[Any],
    look: Callable[..., None] | None = None,
) -> Any:
    """Return the results of the program whose branches fit; a new one is made if none does.

    Programs are in order, the last made first; ``trace(*given)`` makes one, and
    ``look(program, *given)`` raises where a new one is wrong. Of the `size` numbers that it returns
    each is not a number where the function has no value.
    """
    plain = [each.tolist() for each in given]
    for program in programs:
        found = values(program, plain, size)
        if found is not None:
            return found
    try:
        program = trace(*given)
    except TraceFailedError:
        raise
    except Exception as error:
        raise TraceFailedError(reason(error)) from error
    if look is not None:
        look(program, *given)
    programs.insert(0, program)
    del programs[_KEPT:]
    found = values(program, plain, size)
    return np.full(size, np.nan) if found is None else found


def values(program: Program, given: Sequence[Any], size: int) -> Any:
    """Return the results of a program, an array, or None where a comparison comes out otherwise."""
    try:
        found = program(*given)
    except (ValueError, ZeroDivisionError, OverflowError):  # of math: there is no derivative
        return np.full(size, np.nan)
    return None if found is None else np.array(found)


def numbers(value: Any, shape: tuple[int, ...]) -> Any:
    """Return the result of a traced function as an array of traced numbers of a certain shape."""
    array = np.asarray(value, dtype=object)
    if array.shape != shape:
        raise ValueError(f"it gives shape {array.shape} where it is traced, {shape} was expected")
    found = np.empty(array.size, dtype=object)
    found[:] = [number_of(each) for each in array.ravel()]
    return found.reshape(shape)


_HERE = str(pathlib.Path(__file__).parent)


def reason(error: BaseException) -> str:
    """Return the operation that could not be traced, with the line of the function that called it.

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
