"""Many samples at once: leading axes of arguments, chunks on all cores, failures by index."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mbkit.errors import ShapeError, UsageError
from mbkit.systems.failures import failure, named

if TYPE_CHECKING:
    from mbkit.systems.evaluations import Evaluation
    from mbkit.systems.evaluator import Evaluator

__all__ = ["Samples", "compute"]

#: What may happen to samples that fail.
ON_ERROR = ("raise", "nan")

#: Fewest samples that are worth a task of their own: handing one over costs tens of microseconds.
SMALLEST_CHUNK = 16

#: Chunks by core: one core that is slower for a while does not keep the others waiting.
CHUNKS_BY_CORE = 4


@attrs.frozen
class Samples:
    """The arguments of many calls, one a row.

    Attributes
    ----------
    what : Evaluation
        What is computed.
    leading : tuple of int
        The batch axes, () for a single sample.
    vectors : tuple of three ndarrays, shape (count, width)
        q, v and x; no columns where one is not read.
    wrenches : ndarray, shape (count, 6 (bodies + 1)) or (count, 0)
        Applied to the bodies.
    """

    what: Evaluation
    leading: tuple[int, ...]
    vectors: tuple[Any, Any, Any]
    wrenches: Any

    def arguments(self, index: int) -> dict[str, Any]:
        """Return what one call was given, by name, for messages."""
        given = named(self.what, tuple(rows[index] for rows in self.vectors))
        if self.wrenches.size:
            given["wrenches"] = self.wrenches[index]
        if self.leading:
            place = np.unravel_index(index, self.leading)
            given["sample"] = tuple(int(k) for k in place)
        return given


def compute(
    evaluator: Evaluator,
    what: Evaluation,
    given: tuple[Any, Any, Any],
    *,
    function: int,
    apply: int = 0,
    option: int = 0,
    wrenches: Any = None,
    out: Any = None,
    on_error: str = "raise",
) -> NDArray[np.float64]:
    """Compute for arguments of any leading axes, which broadcast.

    Parameters
    ----------
    evaluator : Evaluator
        Of the system.
    what : Evaluation
        What to compute.
    given : tuple
        q, v and x as the user gave them; None for what is not read.
    function, apply : int
        Address of the function, and of the one that leaves wrenches.
    option : int
        Of the function.
    wrenches : array_like, optional
        Applied to the bodies.
    out : ndarray, optional
        Where to write.
    on_error : {"raise", "nan"}
        What happens to samples that fail.

    Returns
    -------
    ndarray, shape (..., shape of the result)
        The results.

    Raises
    ------
    ShapeError
        If an argument has the wrong shape, or the leading axes do not broadcast.
    UsageError
        If `on_error` is another word.
    Exception
        Of the first sample that fails, which is named by its index.
    """
    if on_error not in ON_ERROR:
        raise UsageError(f"on_error must be 'raise' or 'nan', got {on_error!r}.")
    samples = _samples(evaluator, what, given, wrenches)
    result: NDArray[np.float64] = evaluator.arguments.output(what.result, samples.leading, out)
    count = samples.vectors[0].shape[0]
    flat = result.reshape((count, result.size // count if count else 0))
    states = np.zeros(count, dtype=np.int64)
    failures: dict[int, BaseException] = {}

    def run(first: int, last: int) -> None:
        _run_chunk(
            evaluator, samples, (function, apply if samples.wrenches.size else 0, option),
            (flat, states), (first, last), failures, on_error == "raise",
        )  # fmt: skip

    _in_chunks(run, count, serial=evaluator.calls_python)
    if failures and on_error == "raise":
        raise failures[min(failures)]
    return result


def _samples(
    evaluator: Evaluator, what: Evaluation, given: tuple[Any, Any, Any], wrenches: Any
) -> Samples:
    arguments = evaluator.arguments
    named = {name: value for name, value in zip(what.arguments, given, strict=True) if name}
    if wrenches is not None:
        named["wrenches"] = wrenches
    arrays = {name: arguments.with_leading_axes(name, value) for name, value in named.items()}
    shapes = {
        name: array.shape[: array.ndim - len(arguments.shape(name))]
        for name, array in arrays.items()
    }
    try:
        leading = np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(
            f"The batch axes of the arguments do not broadcast: {listed}. Each must be the same "
            f"or 1, or be left out."
        ) from None
    count = int(np.prod(leading))

    def rows(name: str) -> Any:
        if name not in arrays:
            return np.zeros((count, 0))
        item = arguments.shape(name)
        whole = np.broadcast_to(arrays[name], leading + item)
        return np.require(whole.reshape((count, int(np.prod(item)))), np.float64, ["C", "W"])

    q, v, x = (rows(name) for name in what.arguments)
    return Samples(what, leading, (q, v, x), rows("wrenches"))


def _run_chunk(
    evaluator: Evaluator,
    samples: Samples,
    called: tuple[int, int, int],
    written: tuple[Any, Any],
    bounds: tuple[int, int],
    failures: dict[int, BaseException],
    stop: bool,
) -> None:
    """Compute the samples between two bounds; note those that fail, stop at the first if told."""
    from mbkit.kernels.entries import batch

    first, last = bounds
    function, apply, option = called
    part = slice(first, last)
    rows = [array[part] for array in (*samples.vectors, samples.wrenches, *written)]
    workspace = evaluator.take()
    try:
        done = 0
        while True:
            done = batch(workspace.address, function, apply, option, *rows, done)
            if done == last - first:
                return
            index = first + done
            error = failure(evaluator, int(rows[-1][done]), workspace, samples.arguments(index))
            if not isinstance(error, Exception):
                raise error  # Ctrl-C
            failures[index] = error
            rows[-2][done] = np.nan
            if stop:
                return
            done += 1
    finally:
        evaluator.give_back(workspace)


# ------------------------------------------------------------------------------------- threads

_executor: ThreadPoolExecutor | None = None


def _forget_executor() -> None:
    global _executor
    _executor = None


# Threads do not survive a fork.
os.register_at_fork(after_in_child=_forget_executor)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _threads() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(_cores(), thread_name_prefix="mbkit")
    return _executor


def _in_chunks(run: Callable[[int, int], None], count: int, *, serial: bool) -> None:
    """Call ``run(first, last)`` for chunks of `count` samples, on all cores unless `serial`."""
    cores = 1 if serial else _cores()
    chunks = min(CHUNKS_BY_CORE * cores, count // SMALLEST_CHUNK)
    if cores == 1 or chunks < 2:
        run(0, count)
        return
    bounds: NDArray[np.int64] = np.linspace(0, count, chunks + 1).astype(np.int64)
    tasks = [
        _threads().submit(run, int(first), int(last)) for first, last in itertools.pairwise(bounds)
    ]
    for task in tasks:
        task.result()
