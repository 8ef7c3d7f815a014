"""Configurations in which the loops of a system are closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.closing import Closing, close, lead
from mbkit.closed_loops.consistent_velocity import velocity_near
from mbkit.closed_loops.loop_equations import Loops, checked_fixed
from mbkit.closed_loops.over_constrained import why_loops_stay_open
from mbkit.errors import ConstraintError, NotFiniteError, listed
from mbkit.given_values import positive_number
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.systems import System
    from mbkit.systems.calls.arguments import Configuration

_WHO = "close_loops"
#: Random starts around a configuration that does not lead to a closed one.
_RESTARTS = 24


def close_loops(
    system: System,
    q: Configuration | None,
    v: Configuration | None,
    fixed: Iterable[str],
    *,
    branch: ArrayLike | None,
    t: float,
    tolerance: float,
) -> tuple[FloatArray, FloatArray]:
    """Return a closed configuration and a consistent velocity; see `System.close_loops`."""
    limit = positive_number(f"{_WHO}: tolerance", tolerance)
    held = checked_fixed(system, fixed, _WHO)
    for given in (q, v):
        if isinstance(given, Mapping):
            held |= checked_fixed(system, tuple(given), _WHO)
    start = checked_start(system, q, t, _WHO)
    wished = np.zeros(system.nv) if v is None else system.checked("v", v, finite=True)
    loops = Loops.of(system, held, t)
    if not system.num_position_constraints:
        found = start
    elif branch is None:
        found = _closed(loops, start, held, limit)
    else:
        found = _led(loops, checked_start(system, branch, t, _WHO), start, limit)
    return found, wished if v is None else velocity_near(system, found, wished, held, t, _WHO)


def _closed(loops: Loops, start: FloatArray, held: Any, limit: float) -> FloatArray:
    """Return the end of a descent from the start, or the nearest end from other starts."""
    system = loops.system
    found = close(loops, start)
    if found.error <= limit:
        return found.q
    led = _by_leading(loops, start)
    every = led or [found, *_around(loops, start)]
    closed = [each for each in every if each.error <= limit]
    if closed:
        return min(closed, key=lambda each: loops.size(system.difference(start, each.q))).q
    raise _failure(loops, min(every, key=lambda each: each.error), held)


def checked_start(
    system: System, q: Configuration | None, t: float, who: str, locked: Iterable[str] = ()
) -> FloatArray:
    """Return a configuration with prescribed joints where they are at a time, but for locked ones.

    By default of the reference configuration.
    """
    given = system.reference_configuration() if q is None else system.checked("q", q, finite=True)
    start = given
    if system.prescribed_joints:
        start = system.prescribed_state(t, given)[0].copy()
        for name in locked:
            own = system.position_slice(name)
            start[own] = given[own]
    if not np.isfinite(start).all():
        raise NotFiniteError(f"{who}: q must be finite, got {start.tolist()}.")
    return start


def _led(loops: Loops, branch: FloatArray, target: FloatArray, limit: float) -> FloatArray:
    """Return the closed configuration with fixed joints as in `target`, reached in small steps."""
    system = loops.system
    start = close(attrs.evolve(loops, free=np.arange(system.nv)), branch)
    if not start.error <= limit:
        nothing = np.zeros(system.nv, dtype=bool)
        raise _failure(loops, start, nothing, "branch")
    found, gone = lead(loops, start.q, target)
    if gone < 1.0:
        error = ConstraintError(
            f"close_loops: what is fixed can be led from branch to q for {100.0 * gone:.4g} % of "
            f"the way, with the loops closed; there the branch ends or turns. The exception's q is "
            f"that configuration. Without branch, others are looked for."
        )
        error.q = found.q
        raise error
    return found.q


def _by_leading(loops: Loops, start: FloatArray) -> list[Closing]:
    """Close the loops with all joints free, then move the fixed joints back to their values."""
    nv = loops.system.nv
    if len(loops.free) == nv:
        return []
    everything = close(attrs.evolve(loops, free=np.arange(nv)), start)
    if not everything.is_closed:
        return []
    found, gone = lead(loops, everything.q, start)
    return [found] if gone == 1.0 else []


def _around(loops: Loops, start: FloatArray) -> list[Closing]:
    """Descend from random configurations, farther and farther from the start."""
    rng = np.random.default_rng(0)
    found = []
    for k in range(_RESTARTS if len(loops.free) else 0):
        spread = 0.1 + 0.9 * (k + 1) / _RESTARTS
        found.append(close(loops, random_around(loops, start, rng, spread)))
        if found[-1].is_closed and k >= 3:
            break
    return found


def random_around(
    loops: Loops, q: FloatArray, rng: np.random.Generator, spread: float = 1.0
) -> FloatArray:
    """Return q with a random motion of the free joints.

    Rotations by up to half a turn, translations by up to half the length, both times the spread.
    """
    limits = np.where(loops.turns[loops.free], np.pi, 0.5)
    return loops.moved(q, spread * limits * rng.uniform(-1.0, 1.0, len(loops.free)))


def _failure(loops: Loops, best: Closing, held: Any, which: str = "q") -> ConstraintError:
    """Return the error that names the loops that stay open, and by how much."""
    closure = loops.system.arrays.closure
    row = closure.position_row_names[int(np.argmax(np.abs(best.residual)))]
    locked = [loops.system.velocity_names[k] for k in np.flatnonzero(held)]
    where = f" with {listed(locked)} fixed" if locked else ""
    remedy = why_loops_stay_open(loops, best.q, held)
    error = ConstraintError(
        f"{_WHO}: from {which}, {_open_loops(loops, best)}{where}: at best '{row}' stays open by "
        f"{loops.length * best.error:.3g} m, where angles count by {loops.length:.3g} m. {remedy}. "
        f"The exception's q is where the descent ended."
    )
    error.q = best.q
    return error


def _open_loops(loops: Loops, best: Closing) -> str:
    """Return the loops that cannot be closed even alone, as a message."""
    closure = loops.system.arrays.closure
    counts = closure.constraints["num_position_rows"]
    names = [name for name, count in zip(closure.names, counts, strict=True) if count]
    alone = {
        name: loops.length * found.error
        for name, k in zip(names, np.flatnonzero(counts), strict=True)
        if not (found := close(loops.only(int(k)), best.q)).is_closed
    }
    if alone:
        each = [f"'{name}' (by {gap:.3g} m on its own)" for name, gap in alone.items()]
        return f"the loop of {', '.join(each)} cannot be closed"
    if len(names) == 1:
        return f"the loop of '{names[0]}' was not closed"
    return f"the loops of {listed(names)} can be closed one by one, but were not together"
