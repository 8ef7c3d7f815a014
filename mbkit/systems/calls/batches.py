"""Many samples at once: leading axes of arguments, chunks on all cores, failures by index."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mbkit.interrupts import PatientInterrupts
from mbkit.memory import check_memory
from mbkit.systems.calls.arguments import (
    as_kernels_take,
    as_single_lanes_take,
    check_on_error,
    common_axes,
)
from mbkit.systems.calls.failures import failure, named
from mbkit.systems.calls.lanes import BatchInLanes, batch_in_lanes
from mbkit.systems.calls.threads import cores

if TYPE_CHECKING:
    from mbkit.systems.calls.arguments import Arguments
    from mbkit.systems.calls.evaluations import Evaluation
    from mbkit.systems.calls.evaluator import Evaluator
    from mbkit.systems.calls.shared_batches import SharedBatch

__all__ = ["Samples", "check_on_error", "compute"]

#: The user's names of arguments that are combined, for messages.
WORDS = {"known": "tau or vdot", "known, t and pull": "tau or vdot"}

#: Least load that is worth a chunk of its own, in groups of samples times bodies: some 20 us.
SMALLEST_CHUNK = 200

#: The largest, some milliseconds: Ctrl-C waits for the chunk that the caller's thread takes.
LARGEST_CHUNK = 20_000

#: Chunks by core: one core that is slower for a while does not keep the others waiting.
CHUNKS_BY_CORE = 4


#: Arguments of batches in single precision are all of one of these kinds.
_OF_EITHER = as_kernels_take, as_single_lanes_take

#: An argument that a function does not read, of no size: one row for all samples.
_NONE = np.zeros((1, 0))


@attrs.frozen
class Samples:
    """The arguments of many calls, one a row.

    Attributes
    ----------
    what : Evaluation
        The evaluation.
    leading : tuple of int
        The batch axes, () for a single sample.
    count : int
        Number of samples.
    vectors : tuple of four ndarrays, shape (count, width) or (1, width)
        q, v, x and wrenches; one row if all samples have the same, no columns if the function does
        not read it.
    """

    what: Evaluation
    leading: tuple[int, ...]
    count: int
    vectors: tuple[Any, Any, Any, Any]

    def arguments(self, index: int) -> dict[str, Any]:
        """Return the arguments of one call by name, for messages."""
        rows = [rows[index if len(rows) > 1 else 0] for rows in self.vectors]
        given = named(self.what, tuple(rows[:3]))
        if rows[3].size:
            given["wrenches"] = rows[3]
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
    """Compute for arguments of any leading axes, which broadcast; see `Evaluator.compute`.

    `given` are q, v and x of the user, None for vectors that are not read; `function` and `apply`
    the addresses of the function and of the one that leaves wrenches. The exception of the first
    failed sample names its index.
    """
    check_on_error(on_error)
    samples = _samples(evaluator, what, given, wrenches)
    result: NDArray[Any] = evaluator.arguments.output(what.result, samples.leading, out)
    apply = apply if wrenches is not None else 0
    lanes = batch_in_lanes(evaluator, samples, function, apply, option)
    if evaluator.doubles is not None and (lanes is None or not samples.leading):
        doubles = compute(
            evaluator.doubles, what, given, function=function, apply=apply, option=option,
            wrenches=wrenches, on_error=on_error,
        )  # fmt: skip
        with np.errstate(over="ignore"):  # too large for single precision: inf, as in lanes
            result[...] = doubles
        return result
    count, first = samples.count, 0
    flat = result.reshape((count, result.size // count if count else 0))
    called = function, apply, option
    while first < count:
        failed = _computed(
            evaluator, samples, first, flat, called, lanes=lanes, stops=on_error == "raise"
        )
        if failed is None:
            break
        sample, error = failed
        if on_error == "raise" or not isinstance(error, Exception):  # Ctrl-C is none
            raise error
        first = sample + 1
    return result


def _computed(
    evaluator: Evaluator,
    samples: Samples,
    first: int,
    out: Any,
    called: tuple[int, int, int],
    *,
    lanes: BatchInLanes | None,
    stops: bool,
) -> tuple[int, BaseException] | None:
    """Compute the samples from one on; return the first that failed, and why, if any matters.

    An exception is made only where it is of use: it looks at all that a kernel left. That is where
    a failure stops the batch, and of Python, which may have been interrupted.
    """
    from mbkit.kernels.calls.chunks import batch_one_by_one, take_part
    from mbkit.systems.calls.shared_batches import SharedBatch

    count, width = samples.count - first, 1 if lanes is None else lanes.width
    chunks = 1 if evaluator.calls_python else _num_chunks(evaluator, count, width)
    stops = stops or evaluator.calls_python
    function = (batch_one_by_one if lanes is None else lanes.kernel(samples)).address
    vectors = samples.vectors
    if first:
        vectors = tuple(rows[first:] if len(rows) > 1 else rows for rows in vectors)
        out = out[first:]
    in_lanes = lanes.called if lanes else (0, 0, 0)
    shared = SharedBatch.take()
    shared.begin((count, stops, count, chunks, width, *called, *in_lanes), vectors, out)
    taken: list[_Taken] = []

    def seat(k: int) -> int:
        taken.append(_Taken(evaluator, lanes, samples, out.shape[1]))
        return shared.sit(k, taken[-1].workspace.address, taken[-1].in_lanes)

    own = seat(0)
    if chunks > 1:
        _take_part_with_others(shared, function, (own, seat), min(cores(), chunks) - 1)
    else:
        take_part(function, own, shared.number)
    failures = [
        (int(each["failed"][0]), int(each["status"][0]), one)
        for each, one in zip(shared.seats, taken, strict=False)
        if each["failed"][0] >= 0
    ]
    found = None
    if failures:
        sample, status, one = min(failures, key=operator.itemgetter(0))
        arguments = samples.arguments(first + sample)
        found = first + sample, failure(evaluator, status, one.workspace, arguments)
    # the pools give out the last first: each thread gets again what its core has in its cache
    for one in reversed(taken):
        one.give_back()
    shared.give_back()
    return found


def _take_part_with_others(
    shared: SharedBatch, function: int, seats: tuple[int, Callable[[int], int]], others: int
) -> None:
    """Compute chunks of a batch together with other threads, which have finished at the end.

    `seats` are the caller's own, and what prepares that of another thread.
    """
    from mbkit.kernels.calls.chunks import take_part
    from mbkit.systems.calls import waiting_threads as threads

    own, seat = seats
    interrupts = PatientInterrupts()  # the second could come before the threads have stopped
    try:
        with interrupts:
            for k, thread in enumerate(threads.waiting_threads(others), 1):
                thread.hand_over(function, seat(k), shared.number)
            while take_part(function, own, shared.number):
                if interrupts.noted:
                    shared.stop()
            threads.end(shared)
    except BaseException:
        threads.abandon(shared)
        raise
    interrupts.look()


class _Taken:
    """The workspaces of one of the threads that compute a batch."""

    def __init__(
        self, evaluator: Evaluator, lanes: BatchInLanes | None, samples: Samples, num_results: int
    ) -> None:
        self._evaluator, self._lanes = evaluator, lanes
        self.workspace = evaluator.take(samples.what)
        self.in_lanes: tuple[int, ...] = ()
        if lanes is not None:
            self._lanes_workspace, self.in_lanes = lanes.take(samples, num_results, self.workspace)

    def give_back(self) -> None:
        """Keep them for the next batch."""
        self._evaluator.give_back(self.workspace)
        if self._lanes is not None:
            self._lanes.give_back(self._lanes_workspace)


def _samples(
    evaluator: Evaluator, what: Evaluation, given: tuple[Any, Any, Any], wrenches: Any
) -> Samples:
    arguments = evaluator.arguments
    named = {name: value for name, value in zip(what.arguments, given, strict=True) if name}
    if wrenches is not None:
        named["wrenches"] = wrenches
    for way in (as_kernels_take,) if evaluator.doubles is None else _OF_EITHER:
        if (usual := _as_they_are(arguments, what, named, way)) is not None:
            return usual
    arrays = {name: arguments.with_leading_axes(name, value) for name, value in named.items()}
    shapes = {
        name: array.shape[: array.ndim - len(arguments.shape(name))]
        for name, array in arrays.items()
    }
    leading = common_axes({WORDS.get(name, name): shape for name, shape in shapes.items()})
    count = math.prod(leading)
    wide = sum(
        math.prod(arguments.shape(name))
        for name, shape in shapes.items()
        if shape not in ((1,) * len(shape), leading)
    )
    check_memory(
        float(count) * wide, f"Arguments with the batch axes {leading}",
        "ask for fewer samples at once",
    )  # fmt: skip

    kinds = {each.dtype for each in arrays.values()}
    are_singles = evaluator.doubles is not None and kinds == {np.dtype(np.float32)}
    take = as_single_lanes_take if are_singles else as_kernels_take

    def rows(name: str) -> Any:
        if name not in arrays:
            return take(np.zeros((1, 0)))
        array, item = arrays[name], arguments.shape(name)
        samples = 1 if shapes[name] == (1,) * len(shapes[name]) else count  # 1: one for all
        if samples == count and array.shape != leading + item:
            array = np.broadcast_to(array, leading + item)
        return take(array.reshape((samples, math.prod(item))))

    vectors = tuple(rows(name) for name in (*what.arguments, "wrenches"))
    return Samples(what, leading, count, vectors)


def _as_they_are(
    arguments: Arguments, what: Evaluation, named: dict[str, Any], take: Callable[[Any], Any]
) -> Samples | None:
    """Return samples that are arrays as kernels `take` them, with the same batch axis.

    None of others: `_samples` puts them together, in five times the time.
    """
    counts = set()
    rows = {}
    for name, array in named.items():
        item = arguments.shape(name)
        if not (array.__class__ is np.ndarray and array.shape[1:] == item and take(array) is array):
            return None
        count = len(array)
        counts.add(count)
        rows[name] = array if len(item) == 1 else array.reshape((count, math.prod(item)))
    if len(counts) != 1:
        return None
    q, v, x = what.arguments
    none = take(_NONE)
    vectors = rows.get(q, none), rows.get(v, none), rows.get(x, none), rows.get("wrenches", none)
    return Samples(what, (count,), count, vectors)


def _num_chunks(evaluator: Evaluator, count: int, width: int) -> int:
    """Return into how many chunks of groups of `width` samples, computed at once, a batch falls."""
    load = count * len(evaluator.arrays.bodies) // width
    chunks = min(CHUNKS_BY_CORE * cores(), load // SMALLEST_CHUNK)
    groups = -(-count // width)
    return max(1, min(max(chunks, load // LARGEST_CHUNK), groups))
