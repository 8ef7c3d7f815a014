"""Dynamics of a system: forces, accelerations, hybrid dynamics, mass matrix rate, energies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, UsageError, listed
from mbkit.given_values import as_list
from mbkit.memory import check_memory
from mbkit.systems.calls.arguments import Floats, common_axes, times_of
from mbkit.systems.calls.entries import (
    broadcast,
    by_sample,
    names_of,
    velocities_of,
    velocity_sizes,
)
from mbkit.systems.calls.evaluations import (
    CLOSED_HYBRID_DYNAMICS,
    ENERGIES,
    HYBRID_DYNAMICS,
    INVERSE_DYNAMICS,
    MOMENTUM,
)
from mbkit.systems.calls.wrenches import Wrenches, computed, wrench_rows
from mbkit.systems.constraint_checks import HOLDS, largest_terms
from mbkit.systems.forces import added, applied, take_part, tell_of_missing_time
from mbkit.systems.rank import Ranked, largest_row, rank_of

if TYPE_CHECKING:
    from mbkit.systems.system import System


def inverse_dynamics(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike = 0.0,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.inverse_dynamics`."""
    times_of(t, on_error)
    with_forces = take_part(system, t)
    own = None if with_forces else out  # the result, where the kernel may write into it
    needed = computed(
        system, INVERSE_DYNAMICS, q, v, vdot, wrenches=wrenches, out=own, on_error=on_error
    )
    if not with_forces:
        return needed
    f = system.generalized_forces(q, v, t, on_error=on_error)
    common_axes({"t": f.shape[:-1], "q, v, vdot and wrenches": needed.shape[:-1]})
    return system.evaluator.arguments.written("tau", needed - f, out)


def forward_dynamics(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike = 0.0,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.forward_dynamics`."""
    if t.__class__ is not float:
        t = times_of(t, on_error)
    timed = system.num_velocity_constraints > 0 and (np.shape(t) != () or np.any(t))
    if system.motions or timed:
        tell_of_missing_time(system, q, t)
        vdot = _timed_acceleration(system, q, v, tau, wrenches, t=t, on_error=on_error)
        return system.evaluator.arguments.written("vdot", vdot, out)
    tau = applied(system, q, v, tau, t, on_error)
    return computed(
        system, system.equations, q, v, tau, wrenches=wrenches, out=out, on_error=on_error
    )


def _timed_acceleration(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    wrenches: Wrenches | None,
    *,
    t: ArrayLike,
    on_error: str,
) -> Floats:
    """Return the acceleration where joints or constraints depend on time."""
    if system.arrays.closure:
        return system.solved(q, v, tau, wrenches, t=t, on_error=on_error)[0]
    q, v, vdot = system.prescribed_rows(t, q, v, on_error)
    return system.hybrid_dynamics(
        q, v, tau=tau, vdot=vdot, prescribed=system.prescribed_joints, wrenches=wrenches, t=t,
        on_error=on_error,
    )[0]  # fmt: skip


def hybrid_dynamics(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    *,
    tau: ArrayLike | None = None,
    vdot: ArrayLike | None = None,
    prescribed: Sequence[str] = (),
    wrenches: Wrenches | None = None,
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> tuple[Floats, Floats]:
    """See `System.hybrid_dynamics`."""
    f = None
    if take_part(system, t):
        f = system.generalized_forces(q, v, t, on_error=on_error)
        tau = added(system, f, tau)
    known = system.known(tau, vdot, prescribed)
    if system.arrays.closure:
        vdot, total, _, kept = system.solve_hybrid(q, v, known, wrenches, t=t, on_error=on_error)
        check_unique(system, q, kept, prescribed, total, t=t, on_error=on_error)
    else:
        found = computed(system, HYBRID_DYNAMICS, q, v, known, wrenches=wrenches, on_error=on_error)
        vdot, total = found[..., system.nv :].copy(), found[..., : system.nv].copy()
    return vdot, total if f is None else total - f


def check_unique(
    system: System,
    q: ArrayLike,
    kept: Floats,
    prescribed: Sequence[str],
    tau: Floats,
    *,
    t: ArrayLike,
    on_error: str,
) -> None:
    """Raise where other forces give the same motion, or make them NaN.

    They do where holding prescribed joints makes more rows depend on others.
    """
    free = _mask(system, prescribed) == 0.0
    unique = np.ones(kept.shape[:-1], dtype=bool)
    if system.nv and (kept == 0.0).any():
        A = system.constraint_jacobian(q, t, on_error=on_error)
        A = A / velocity_sizes(system, q)[..., None, :]
        A = np.broadcast_to(A, (*unique.shape, *A.shape[-2:]))
        for index in map(tuple, np.argwhere((kept == 0.0).any(axis=-1))):
            left = Ranked.of(A[index][:, free], largest_row(A[index]))
            unique[index] = left.rank == rank_of(A[index])

    def compute(index: tuple[int, ...]) -> None:
        if not unique[index]:
            tau[index] = np.nan
            raise ConstraintError(
                f"System '{system.name}': {listed(prescribed)} are more joints than the "
                f"mechanism has freedoms, so that many forces give this motion. Prescribe "
                f"fewer, or choose among the forces: System.closed_inverse_dynamics."
            )

    by_sample(unique.shape, on_error, compute)


def _mask(system: System, prescribed: Sequence[str]) -> Floats:
    """Return 1.0 for the velocities of the joints that are named."""
    names = as_list(prescribed)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"hybrid_dynamics: prescribed must be names of joints, got {prescribed!r}; for "
            f"example prescribed=['{(*system.joint_names, 'hinge')[0]}']."
        )
    return np.where(velocities_of(system, names), 1.0, 0.0)


def known(
    system: System, tau: ArrayLike | None, vdot: ArrayLike | None, prescribed: Sequence[str]
) -> Floats:
    """See `System.known`."""
    mask = _mask(system, prescribed)
    checked, zero = system.evaluator.arguments.with_leading_axes, system.evaluator.zero
    given_tau = np.where(mask == 0.0, zero if tau is None else checked("tau", tau), 0.0)
    given_vdot = np.where(mask != 0.0, zero if vdot is None else checked("vdot", vdot), 0.0)
    axes = common_axes({"tau": given_tau.shape[:-1], "vdot": given_vdot.shape[:-1]})
    leading = (*axes, system.nv)
    parts = (np.broadcast_to(part, leading) for part in (given_tau, given_vdot, mask))
    return np.concatenate(tuple(parts), axis=-1)


def solve_hybrid(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    known: Floats,
    wrenches: Wrenches | None,
    *,
    t: ArrayLike,
    on_error: str,
    pull: tuple[float, float] = (0.0, 0.0),
) -> tuple[Floats, Floats, Floats, Floats]:
    """See `System.solve_hybrid`."""
    at, moving, given, time = broadcast(system, t, q=q, v=v, known=known)
    pulled = np.broadcast_to(pull, (*time.shape, 2))
    timed = np.concatenate([given, time[..., None], pulled], axis=-1)
    found = computed(
        system, CLOSED_HYBRID_DYNAMICS, at, moving, timed, wrenches=wrenches, on_error=on_error
    )
    nv, m = system.nv, system.num_velocity_constraints
    tau, vdot, multipliers, kept = np.split(found, [nv, 2 * nv, 2 * nv + m], axis=-1)
    # one for all samples, of which there may be none
    mask = (given[..., 2 * nv :] != 0.0).any(axis=tuple(range(given.ndim - 1)))
    if not any(pull):  # a drift that is pulled back may contradict itself a little

        def unbound(index: tuple[int, ...]) -> Floats:
            """Return the accelerations that the same forces give without the constraints."""
            load = None
            if wrenches is not None:
                rows = np.asarray(wrench_rows(system, at[index], wrenches), dtype=np.float64)
                load = np.broadcast_to(rows, (*time.shape, *rows.shape[-2:]))[index]
            free = computed(
                system, HYBRID_DYNAMICS, at[index], moving[index], given[index], wrenches=load,
                on_error="raise",
            )  # fmt: skip
            return free[..., nv:]

        motion = at, moving, vdot, time
        found[~_check_prescribed(system, motion, mask, unbound, on_error=on_error)] = np.nan
    return vdot.copy(), tau.copy(), multipliers.copy(), kept.copy()


def _check_prescribed(
    system: System,
    motion: tuple[Floats, Floats, Floats, Floats],
    mask: Any,
    unbound: Callable[[tuple[int, ...]], Floats],
    *,
    on_error: str,
) -> Any:
    """Return which samples satisfy the constraints; raise where prescribed ones contradict.

    motion: q, v, vdot and t. The residual is compared with the terms of the constraints' rates; at
    rest these are rounding themselves, of the accelerations that loads give without the
    constraints, whose forces cancel them: `unbound`, which is called in that case alone.
    """
    q, v, vdot, t = motion
    good: Any = np.array(np.isfinite(vdot).all(axis=-1))
    if not mask.any():
        return good
    left = system.constraint_acceleration(q, v, np.where(good[..., None], vdot, 0.0), t)
    bias = np.abs(system.constraint_bias(q, v, t)).max(axis=-1)
    A = system.constraint_jacobian(q, t)
    speed = largest_terms(A, v) ** 2 / system.arrays.closure.length
    limit = HOLDS * (largest_terms(A, vdot) + bias + speed)

    def compute(index: tuple[int, ...]) -> None:
        off = np.abs(left[index])
        if not good[index] or off.max() <= limit[index]:
            return
        good[index] = False
        taken = HOLDS * largest_terms(A[index], unbound(index))
        good[index] = off.max() <= limit[index] + taken
        if not good[index]:
            raise ConstraintError(
                f"System '{system.name}': the accelerations prescribed for "
                f"{listed(names_of(system, np.flatnonzero(mask)))} contradict the constraints: "
                f"'{system.constraint_names[int(np.argmax(off))]}' is left with an acceleration "
                f"of {off.max():.3g} m/s^2. Prescribe fewer, or those of "
                f"System.dependent_acceleration."
            )

    by_sample(good.shape, on_error, compute)
    return good


def mass_matrix_rate(
    system: System, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise"
) -> Floats:
    """See `System.mass_matrix_rate`."""
    C = system.coriolis_matrix(q, v, on_error=on_error)
    return C + np.swapaxes(C, -1, -2)


def christoffel(system: System, q: ArrayLike, *, on_error: str = "raise") -> Floats:
    """See `System.christoffel`."""
    configurations = system.evaluator.arguments.with_leading_axes("q", q)[..., None, :]
    nv = system.nv
    check_memory(
        2.0 * math.prod(configurations.shape[:-1]) * nv**3,
        f"Christoffel symbols of {nv} velocities",
        "use coriolis_matrix, their product with a velocity",
    )
    C = system.coriolis_matrix(configurations, np.eye(nv), on_error=on_error)
    return np.ascontiguousarray(np.moveaxis(C, -3, -1))


def kinetic_energy(system: System, q: ArrayLike, v: ArrayLike) -> float | Floats:
    """See `System.kinetic_energy`."""
    return _scalar(system.energies(q, v)[0])


def potential_energy(system: System, q: ArrayLike) -> float | Floats:
    """See `System.potential_energy`."""
    return _scalar(system.energies(q, system.evaluator.zero)[1])


def energies(
    system: System, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise"
) -> tuple[Floats, Floats]:
    """See `System.energies`."""
    both = system.evaluator.compute(ENERGIES, q, v, on_error=on_error)
    return both[..., 0].copy(), both[..., 1].copy()


def centre_of_mass(system: System, q: ArrayLike, *, on_error: str = "raise") -> Floats:
    """See `System.centre_of_mass`."""
    found = system.evaluator.compute(MOMENTUM, q, system.evaluator.zero, on_error=on_error)
    with np.errstate(invalid="ignore"):
        return found[..., 6:] / found.dtype.type(system.mass)


def _scalar(array: Floats) -> float | Floats:
    return array if array.ndim else float(array)
