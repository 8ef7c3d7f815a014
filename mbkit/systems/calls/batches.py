"""Many samples at once: leading axes of arguments, chunks on all cores, failures by index."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mbkit.memory import check_memory
from mbkit.systems.calls.arguments import (
    as_kernels_take,
    as_single_lanes_take,
    check_on_error,
    common_axes,
)
from mbkit.systems.calls.failures import failure, named
from mbkit.systems.calls.lanes import BatchInLanes, batch_in_lanes
from mbkit.systems.calls.threads import Run, cores, on_cores

if TYPE_CHECKING:
    from mbkit.systems.calls.evaluations import Evaluation
    from mbkit.systems.calls.evaluator import Evaluator

__all__ = ["Samples", "check_on_error", "compute"]

#: What the user calls an argument that is put together.
WORDS = {"known": "tau or vdot", "known, t and pull": "tau or vdot"}

#: Least load that is worth a chunk of its own, in samples times bodies: some 50 us.
SMALLEST_CHUNK = 400

#: The largest, some milliseconds: Ctrl-C waits for the chunk that the caller's thread takes.
LARGEST_CHUNK = 20_000

#: Chunks by core: one core that is slower for a while does not keep the others waiting.
CHUNKS_BY_CORE = 4


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

    @property
    def steps(self) -> NDArray[np.int64]:
        """How far each vector goes on from sample to sample: a row, or none."""
        return np.array([int(len(rows) > 1) for rows in self.vectors])

    def arguments(self, index: int) -> dict[str, Any]:
        """Return what one call was given, by name, for messages."""
        rows = [rows[index * step] for rows, step in zip(self.vectors, self.steps, strict=True)]
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
    from mbkit.kernels.calls.batches import Call, SampleArrays  # here: threads find it loaded

    check_on_error(on_error)
    samples = _samples(evaluator, what, given, wrenches)
    result: NDArray[Any] = evaluator.arguments.output(what.result, samples.leading, out)
    count = samples.count
    call = Call(function, apply if wrenches is not None else 0, option)
    lanes = batch_in_lanes(evaluator, samples, function, call.apply, option)
    if evaluator.doubles is not None and (lanes is None or not samples.leading):
        result[...] = compute(
            evaluator.doubles, what, given, function=function, apply=apply, option=option,
            wrenches=wrenches, on_error=on_error,
        )  # fmt: skip
        return result
    flat = result.reshape((count, result.size // count if count else 0))
    statuses = np.zeros(count, dtype=np.int64)
    run = Run(np.array([count]))
    arrays = SampleArrays(samples.steps, *samples.vectors, flat, statuses, run.limit)
    width = 1 if lanes is None else lanes.width

    chunks = _chunks(evaluator, count, width)
    waiting = iter(chunks)  # next() of it is atomic

    def task() -> None:
        _take_chunks(evaluator, samples, (lanes, call, arrays), waiting, run, on_error == "raise")

    on_cores(task, 1 if evaluator.calls_python else len(chunks), run, here=True)
    if run.failures:
        raise run.failures[min(run.failures)]
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


def _chunks(evaluator: Evaluator, count: int, width: int) -> list[tuple[int, int]]:
    """Return the first sample of each chunk and the one behind its last.

    Chunks but the last have multiples of `width` samples, which are computed at once.
    """
    load = count * len(evaluator.arrays.bodies) // width
    chunks = min(CHUNKS_BY_CORE * cores(), load // SMALLEST_CHUNK)
    groups = -(-count // width)
    chunks = max(1, min(max(chunks, load // LARGEST_CHUNK), groups))
    bounds = [min(width * (k * groups // chunks), count) for k in range(chunks + 1)]
    return list(itertools.pairwise(bounds))


def _take_chunks(
    evaluator: Evaluator,
    samples: Samples,
    called: tuple[BatchInLanes | None, Any, Any],
    chunks: Iterator[tuple[int, int]],
    run: Run,
    stop: bool,
) -> None:
    """Compute chunks until none is left; samples that fail stop the batch or become NaN."""
    from mbkit.kernels.calls.batches import batch

    lanes, call, arrays = called
    workspace = evaluator.take()
    lanes_workspace = None
    kernel: Any = batch
    called_with: tuple[Any, ...] = workspace.address, call, arrays
    try:
        if lanes is not None:
            kernel = lanes.kernel
            lanes_workspace, lanes_call = lanes.take(samples, arrays.out.shape[1])
            called_with = workspace.address, call, lanes_call, arrays
        for sample, last in chunks:
            while sample < last:
                sample = kernel(*called_with, sample, last)
                if sample == last:
                    break
                if sample > run.limit[0]:
                    return
                arrays.out[sample] = np.nan
                # an exception is made only where it is of use: it looks at all that a kernel left
                if stop or evaluator.calls_python:
                    arguments = samples.arguments(sample)
                    error = failure(evaluator, int(arrays.statuses[sample]), workspace, arguments)
                    if stop or not isinstance(error, Exception):  # Ctrl-C is none
                        run.failures[sample] = error
                        run.limit[0] = min(run.limit[0], sample)
                        return
                sample += 1
    finally:
        evaluator.give_back(workspace)
        if lanes is not None and lanes_workspace is not None:
            lanes.give_back(lanes_workspace)
