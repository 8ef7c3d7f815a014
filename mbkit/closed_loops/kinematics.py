"""Kinematics of closed mechanisms: the motion that independent coordinates determine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.constraint_series import ConstraintSeries, constraint_jerk, prescribed_jerk
from mbkit.errors import ConstraintError, ShapeError, UsageError, check_kind, listed
from mbkit.systems.calls.arguments import Floats, common_axes, times_of
from mbkit.systems.calls.entries import (
    broadcast,
    by_sample,
    entries_of,
    named_entries,
    names_of,
    positions_of,
    vector_of,
    velocity_sizes,
)
from mbkit.systems.constraint_checks import check_solved, largest_terms
from mbkit.systems.rank import RANK, Ranked, largest_row, rank_of

if TYPE_CHECKING:
    from mbkit.systems.system import System

_MOVES = 1e-6  # of a motion of norm one: an entry below does not move


def constrained_jacobian(
    system: System,
    q: ArrayLike,
    independent: Sequence[str],
    t: ArrayLike = 0.0,
    *,
    on_error: str = "raise",
) -> Floats:
    """See `System.constrained_jacobian`."""
    entries = entries_of(system, independent, "independent")
    held = _held(system, entries)
    at, time = broadcast(system, t, q=q)
    A = system.constraint_jacobian(at, time, on_error=on_error)
    sizes = velocity_sizes(system, at)
    H = np.full((*time.shape, system.nv, len(entries)), np.nan)

    def compute(index: tuple[int, ...]) -> None:
        split = partition(system, A[index], sizes[index], [*entries, *held])
        units = np.zeros((system.nv, len(entries)))
        units[entries, range(len(entries))] = 1.0
        units[split.dependent] = split.solve(A[index] @ units)
        H[index] = units

    by_sample(time.shape, on_error, compute)
    return H


def closed_motion(
    system: System,
    independent: Mapping[str, Sequence[ArrayLike]],
    q: ArrayLike | None = None,
    t: ArrayLike = 0.0,
) -> tuple[Floats, Floats, Floats]:
    """See `System.closed_motion`."""
    words = "motions by name, {'crank': (position, rate, acceleration)}"
    check_kind("closed_motion: independent", independent, Mapping, words)
    parts = {name: _three(name, value) for name, value in independent.items()}
    names, slice_of = system.position_names, system.position_slice
    entries = [named_entries(name, names, slice_of) for name in parts]
    rows = [positions_of(*each) for each in zip(parts, parts.values(), entries, strict=True)]
    times = times_of(t)
    axes = {name: row.shape[:-1] for name, row in zip(parts, rows, strict=True)}
    shape = common_axes({"t": times.shape, **axes})
    if len(shape) > 1:
        raise ShapeError(f"closed_motion takes samples along one axis, got axes {shape}.")
    times = np.broadcast_to(times, shape)
    here = system.reference_configuration() if q is None else system.checked("q", q, finite=True)
    found = np.empty((*shape, system.nq))
    before = None

    def compute(index: tuple[int, ...]) -> None:
        nonlocal here, before
        for mine, row in zip(entries, rows, strict=True):
            here[mine] = np.broadcast_to(row, (*shape, len(mine)))[index]
        time = float(times[index])
        here = system.close_loops(here, fixed=tuple(parts), branch=before, t=time)
        found[index], before = here, here.copy()

    by_sample(shape, "raise", compute)
    v = system.dependent_velocity(found, {name: each[1] for name, each in parts.items()}, t)
    rates = {name: each[2] for name, each in parts.items()}
    return found, v, system.dependent_acceleration(found, v, rates, t)


def dependent_velocity(
    system: System,
    q: ArrayLike,
    independent: Mapping[str, ArrayLike],
    t: ArrayLike = 0.0,
    *,
    on_error: str = "raise",
) -> Floats:
    """See `System.dependent_velocity`."""
    entries, known = _with_known(system, independent, t, 1)
    at, v, time = broadcast(system, t, q=q, v=known)
    rate = system.constraint_velocity(at, v, time, on_error=on_error)
    return _completed(system, at, v, v, entries, rate, t=time, on_error=on_error, what="velocities")


def dependent_acceleration(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    independent: Mapping[str, ArrayLike],
    t: ArrayLike = 0.0,
    *,
    on_error: str = "raise",
) -> Floats:
    """See `System.dependent_acceleration`."""
    entries, known = _with_known(system, independent, t, 2)
    at, moving, vdot, time = broadcast(system, t, q=q, v=v, vdot=known)
    good = system.check_motion(at, moving, None, time, on_error=on_error)
    rate = system.constraint_acceleration(at, moving, vdot, time, on_error=on_error)
    found = _completed(
        system, at, moving, vdot, entries, rate, t=time, on_error=on_error, what="accelerations"
    )
    found[~good] = np.nan
    return found


def dependent_jerk(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    independent: Mapping[str, ArrayLike],
    t: ArrayLike = 0.0,
    *,
    on_error: str = "raise",
) -> Floats:
    """See `System.dependent_jerk`."""
    entries, given = vector_of(system, independent, "independent")
    at, moving, gain, known, time = broadcast(system, t, q=q, v=v, vdot=vdot, vddot=given)
    held = _held(system, entries)
    known = known.copy()
    known[..., held] = prescribed_jerk(system, time)[..., held]
    good = system.check_motion(at, moving, gain, time, on_error=on_error)
    rate = constraint_jerk(system, at, moving, gain, known, time, on_error=on_error)
    found = _completed(
        system, at, moving, known, [*entries, *held], rate, t=time, on_error=on_error, what="jerks"
    )
    found[~good] = np.nan
    return found


def dependent_rates(
    system: System,
    q: ArrayLike,
    independent: Mapping[str, ArrayLike],
    t: ArrayLike = 0.0,
    *,
    on_error: str = "raise",
) -> Floats:
    """See `System.dependent_rates`."""
    entries, given = vector_of(system, independent, "independent")
    if given.ndim < 2:
        raise ShapeError(
            f"dependent_rates: rates must have shape (..., k) of a joint of one velocity, "
            f"(..., k, nv) of others: v, vdot, vddot, ... along the axis of k; got numbers for "
            f"{listed(independent)}."
        )
    held = _held(system, entries)
    if held:
        raise UsageError(
            f"dependent_rates: {listed(names_of(system, held))} of system '{system.name}' move as "
            f"they are prescribed; give their rates in independent=."
        )
    at, time = broadcast(system, t, q=q)
    leading = common_axes({"independent": given.shape[:-2], "q and t": time.shape})
    at, time = np.broadcast_to(at, (*leading, system.nq)), np.broadcast_to(time, leading)
    known = np.broadcast_to(given, (*leading, *given.shape[-2:]))
    if not system.num_velocity_constraints:
        partition(system, np.zeros((0, system.nv)), np.ones(system.nv), entries)
        return known.copy()
    series = ConstraintSeries(system, "dependent_rates")
    A = system.constraint_jacobian(at, time, on_error=on_error)
    sizes = velocity_sizes(system, at)
    found = np.full(known.shape, np.nan)

    def compute(index: tuple[int, ...]) -> None:
        split = partition(system, A[index], sizes[index], entries)
        motion = series.start(at[index], float(time[index]))
        rows = np.empty(known.shape[-2:])
        for n, rate in enumerate(known[index]):
            rest, what = motion.constraints(rate), f"rates of order {n + 1}"
            rows[n] = split.completed(system, A[index], rate, rest, more=motion.terms, what=what)
            motion.go_on(rows[n])
        found[index] = rows

    by_sample(leading, on_error, compute)
    return found


def _held(system: System, named: Sequence[int]) -> list[int]:
    """Return the velocities of prescribed joints that are not among those named."""
    held = entries_of(system, system.prescribed_joints, "prescribed")
    return [k for k in held if k not in named]


def _with_known(
    system: System, independent: Mapping[str, ArrayLike], t: ArrayLike, which: int
) -> tuple[list[int], Floats]:
    """Return velocities (which = 1) or accelerations (2): those known, zero elsewhere."""
    entries, known = vector_of(system, independent, "independent")
    held = _held(system, entries)
    if held:
        leading = common_axes({"independent": known.shape[:-1], "t": times_of(t).shape})
        known = np.broadcast_to(known, (*leading, system.nv)).copy()
        known[..., held] = system.prescribed_state(t)[which][..., held]
    return [*entries, *held], known


def _completed(
    system: System,
    q: Floats,
    v: Floats,
    known: Floats,
    entries: list[int],
    rate: Floats,
    *,
    t: Floats,
    on_error: str,
    what: str,
) -> Floats:
    """Return velocities or accelerations x with A x + rest = 0, the entries as they are known.

    `rate` is A x + rest with zero for the others, at the velocity v.
    """
    length = system.arrays.closure.length
    A = system.constraint_jacobian(q, t, on_error=on_error)
    sizes = velocity_sizes(system, q)
    found = np.full(known.shape, np.nan)

    def compute(index: tuple[int, ...]) -> None:
        split = partition(system, A[index], sizes[index], entries)
        more = float(largest_terms(A[index], v[index])) ** 2 / length
        found[index] = split.completed(
            system, A[index], known[index], rate[index], more=more, what=what
        )

    by_sample(q.shape[:-1], on_error, compute)
    return found


def partition(system: System, A: Floats, sizes: Floats, entries: list[int]) -> Partition:
    """Return the solution for the dependent velocities; ConstraintError if there is none."""
    scaled = A / sizes
    dependent = [k for k in range(system.nv) if k not in set(entries)]
    largest = largest_row(scaled)
    ranked = Ranked.of(scaled[:, dependent], largest)
    rank = rank_of(scaled, largest)
    faults = []
    if ranked.rank < len(dependent):
        moving = np.abs(ranked.null).max(axis=1) > _MOVES
        names = names_of(system, np.array(dependent)[moving])
        count = len(dependent) - ranked.rank
        faults.append(
            f"they do not determine it: with them held, {listed(names)} can still move; name "
            f"{count} more of these"
        )
    if ranked.rank < rank:
        between = np.abs(ranked.left_null.T @ scaled[:, entries]).max(axis=0) > RANK * largest
        names = names_of(system, np.array(entries)[between])
        faults.append(
            f"they depend on each other: {listed(names)} cannot be chosen freely; leave out "
            f"{rank - ranked.rank} of these"
        )
    if faults:
        given = listed(names_of(system, entries)) if entries else "none"
        raise ConstraintError(
            f"System '{system.name}': the motion is to follow from the velocities of {given}, "
            f"but at this configuration {', and '.join(faults)}. The mechanism has "
            f"{system.nv - rank} freedoms here; at a dead point other coordinates fit."
        )
    return Partition(dependent, ranked, sizes[dependent])


@attrs.frozen(eq=False)
class Partition:
    """The solution for dependent velocities, which are entries of v."""

    dependent: list[int]
    _ranked: Ranked
    _sizes: Floats

    def solve(self, rate: Any) -> Any:
        """Return the dependent x with A_d x + rate = 0."""
        return (-self._ranked.solve(rate).T / self._sizes).T

    def completed(
        self, system: System, A: Floats, known: Floats, rate: Floats, *, more: float, what: str
    ) -> Floats:
        """Return known entries of a rate of q with the dependent ones; ConstraintError if none fit.

        `rate` is A x + rest with zero for the dependent ones, `more` the size of terms that
        cancel in it.
        """
        x = known.copy()
        x[self.dependent] = self.solve(rate)
        left = np.abs(A[:, self.dependent] @ x[self.dependent] + rate)
        terms = largest_terms(A, x) + np.abs(rate).max(initial=0.0) + more
        check_solved(system, left, terms, what)
        return x


def _three(name: str, values: Any) -> tuple[Any, Any, Any]:
    """Return position, rate and acceleration."""
    if isinstance(values, Sequence) and len(values) == 3:
        return tuple(values)
    raise UsageError(
        f"closed_motion: the motion of '{name}' must be (position, rate, acceleration), got "
        f"{values!r}."
    )
