"""Derivatives of dynamics, forces and constraints of a system."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.joints.defaults.differences import central_differences
from mbkit.kernels.constraints.layout import LOOP_JOINT
from mbkit.representations import BodyFixed
from mbkit.systems.calls.arguments import Floats, common_axes, times_of
from mbkit.systems.calls.entries import broadcast
from mbkit.systems.calls.evaluations import (
    CONSTRAINT_FORCE_DERIVATIVE,
    CONSTRAINT_VELOCITY_DERIVATIVE,
    FORCE_DERIVATIVES,
    INVERSE_DYNAMICS_DERIVATIVES,
    Evaluation,
)
from mbkit.systems.calls.wrenches import Wrenches, wrench_rows
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.force_changes import say_differences
from mbkit.systems.derivatives.on_duals.exact_constraints import RowDerivatives
from mbkit.systems.forces import take_part

if TYPE_CHECKING:
    from mbkit.systems.system import System


def inverse_dynamics_derivatives(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> tuple[Floats, Floats]:
    """See `System.inverse_dynamics_derivatives`."""
    if t.__class__ is not float:
        times_of(t, on_error)
    if wrenches is None:
        by_state = system._inverse_dynamics_derivatives(q, v, vdot, on_error)
    else:
        given = q, v, vdot
        both = computed_loaded(system, INVERSE_DYNAMICS_DERIVATIVES, given, wrenches, on_error)
        by_state = _by_state(system, both)
    if not take_part(system, t):
        return by_state
    f_q, f_v = system.force_derivatives(q, v, t, on_error=on_error)
    common_axes({"t": f_q.shape[:-2], "q, v, vdot and wrenches": by_state[0].shape[:-2]})
    return by_state[0] - f_q, by_state[1] - f_v


def force_parts(system: System) -> tuple[System, System] | None:
    """Return the system with the forces that dual numbers know, and with the others alone.

    None where there are none of one kind among those that are called.
    """
    exact, forces = system._exact_forces, system.arrays.forces
    if exact is None:
        return None
    called = forces.order[: forces.num_called].tolist()
    others = [forces.names[k] for k in called if not exact.are_known([k], exactly=False)]
    if len(others) in (0, len(called)):
        return None
    known = [name for name in forces.names if name not in others]
    return system.without_forces(others), system.without_forces(known)


def force_derivatives(
    system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> tuple[Floats, Floats]:
    """See `System.force_derivatives`."""
    from mbkit.kernels.derivatives.forces import WITHOUT_CALLED

    times = times_of(t, on_error)[..., None]
    exact = system._exact_forces

    def compute(option: int) -> Floats:
        return system.evaluator.compute(
            FORCE_DERIVATIVES, q, v, times, option=option, on_error=on_error
        )

    if exact is None or not exact.has_states:
        if system._force_parts is None:
            say_differences(system)
            return _by_state(system, compute(0))
        known, others = (
            force_derivatives(part, q, v, t, on_error=on_error) for part in system._force_parts
        )
        return known[0] + others[0], known[1] + others[1]
    if not exact.is_exact:
        say_differences(system)
    checked = system.evaluator.arguments.with_leading_axes
    both = compute(WITHOUT_CALLED)
    failed = exact.add(both, checked("q", q), checked("v", v), times)
    if failed.any():
        both[failed] = compute(0)[failed]
    return _by_state(system, both)


# The result of a single sample is split by sizes that are known before: half the time of seven
# bodies went into the shapes.


def bind_inverse(system: System) -> Callable[..., tuple[Floats, Floats]]:
    """Return ``call(q, v, vdot, on_error)``, which returns the derivatives by q and v."""
    compute = system.evaluator.bind(INVERSE_DYNAMICS_DERIVATIVES)
    by_q, by_v = slice(system.ndx), slice(system.ndx, None)
    square = system.ndx == system.nv

    def call(q: Any, v: Any, vdot: Any, on_error: str) -> tuple[Floats, Floats]:
        both = compute(q, v, vdot, None, on_error)
        if square and both.ndim == 2:
            return both[by_q], both[by_v]
        return _by_state(system, both)

    return call


def _by_state(system: System, both: Floats) -> tuple[Floats, Floats]:
    """Return the parts (..., nv, ndx) and (..., nv, nv) of a kernel's result."""
    ndx = system.ndx
    by_q = both[..., :ndx, :].reshape((*both.shape[:-2], system.nv, ndx))
    return by_q, both[..., ndx:, :]


def computed_loaded(
    system: System,
    what: Evaluation,
    given: tuple[ArrayLike, ArrayLike, ArrayLike],
    wrenches: Wrenches | None,
    on_error: str,
) -> Floats:
    """Return the derivatives that a kernel writes at q, v and tau or vdot, with any wrenches.

    Kernels of derivatives take wrenches on the bodies in body-fixed axes alone.
    """
    if wrenches is None:
        return system.evaluator.compute(what, *given, on_error=on_error)
    return system.evaluator.compute_loaded(
        what, *given, wrenches=_in_body_axes(system, given[0], wrenches, on_error),
        out=None, on_error=on_error, representation=BodyFixed(),
    )  # fmt: skip


def _in_body_axes(system: System, q: ArrayLike, wrenches: Wrenches, on_error: str) -> Floats:
    """Return body-fixed wrenches, W_b = T^T W where V = T V_b."""
    checked = system.evaluator.arguments.with_leading_axes
    rows = checked("wrenches", wrench_rows(system, q, wrenches))
    common_axes({"q": checked("q", q).shape[:-1], "wrenches": rows.shape[:-2]})
    T = system.representation.twist_map(system.poses(q, on_error=on_error))
    fixed: Floats = (np.swapaxes(T, -1, -2) @ rows[..., None])[..., 0]
    return fixed


#: Short steps: a cam is a spline.
_STEPS, _WEIGHTS = central_differences(4, 1.0 / 4096.0)


def constraint_jacobian_velocity_derivative(
    system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.constraint_jacobian_velocity_derivative`."""
    if not system.arrays.closure:
        leading = system.evaluator.arguments.leading(t, on_error, q=q, v=v)
        return np.zeros((*leading, 0, system.ndx))
    if not by_poses(system):
        system.evaluator.arguments.leading(t, on_error, q=q, v=v)
        exact, at_rest = (_by_steps(system, q, w, t) for w in (v, np.zeros(system.nv)))

        def by_differences() -> Floats:
            rates = _jacobian_differences(system, q, t, on_error)
            speed = system.evaluator.arguments.with_leading_axes("v", v)[..., None, :, None]
            return np.moveaxis((rates @ speed)[..., 0], -2, -1)

        if exact is None or at_rest is None:
            return by_differences()
        found = exact.rate - at_rest.rate  # A v is the part of A v + g_t that is linear in v
        return _completed(found, (exact, at_rest), by_differences)
    times = times_of(t, on_error)[..., None]
    return system.evaluator.compute(CONSTRAINT_VELOCITY_DERIVATIVE, q, v, times, on_error=on_error)


def constraint_force_derivative(
    system: System,
    q: ArrayLike,
    multipliers: ArrayLike,
    t: ArrayLike = 0.0,
    *,
    on_error: str = "raise",
) -> Floats:
    """See `System.constraint_force_derivative`."""
    if not system.arrays.closure:
        leading = system.evaluator.arguments.leading(t, on_error, q=q, multipliers=multipliers)
        return np.zeros((*leading, system.nv, system.ndx))
    if not by_poses(system):
        system.evaluator.arguments.leading(t, on_error, q=q, multipliers=multipliers)
        exact = _by_steps(system, q, np.zeros(system.nv), t, multipliers=multipliers)

        def by_differences() -> Floats:
            rates = _jacobian_differences(system, q, t, on_error)
            checked = system.evaluator.arguments.with_leading_axes
            given = checked("multipliers", multipliers)[..., None, None, :]
            return np.moveaxis((given @ rates)[..., 0, :], -2, -1)

        if exact is None:
            return by_differences()
        return _completed(exact.forces, (exact,), by_differences)
    times = times_of(t, on_error)[..., None]
    return system.evaluator.compute(
        CONSTRAINT_FORCE_DERIVATIVE, q, multipliers, times, on_error=on_error
    )


def constraints_by_steps(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    t: ArrayLike,
    *,
    vdot: ArrayLike | None = None,
    multipliers: ArrayLike | None = None,
    entries: range | None = None,
) -> RowDerivatives | None:
    """Return the derivatives of constraints by steps, with the axes of samples.

    Accelerations and multipliers are zero unless they are given. `entries` of (dx, v) may be others
    than all of dx. All are exact; None where constraints are not compiled for dual numbers, or have
    no derivative.
    """
    found = _by_steps(system, q, v, t, vdot=vdot, multipliers=multipliers, entries=entries)
    return found if found is not None and all(np.isfinite(part).all() for part in found) else None


def _completed(
    found: Floats, parts: Sequence[RowDerivatives], others: Callable[[], Floats]
) -> Floats:
    """Return derivatives, and others of the samples that have none in one of the parts.

    Sample by sample, so that each has the same ones in any batch.
    """
    leading = found.ndim - 2
    is_there = np.ones(found.shape[:leading], dtype=bool)
    for each in itertools.chain.from_iterable(parts):
        is_there &= np.isfinite(each).all(axis=tuple(range(leading, each.ndim)))
    return found if is_there.all() else np.where(is_there[..., None, None], found, others())


def _by_steps(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    t: ArrayLike,
    *,
    vdot: ArrayLike | None = None,
    multipliers: ArrayLike | None = None,
    entries: range | None = None,
) -> RowDerivatives | None:
    """Return the same, of which some may be not finite."""
    exact = system._exact_constraints
    if exact is None:
        return None
    gain = np.zeros(system.nv) if vdot is None else vdot
    m = np.zeros(system.num_velocity_constraints) if multipliers is None else multipliers
    *given, times = broadcast(system, t, q=q, v=v, vdot=gain, multipliers=m)
    leading = times.shape
    flat_q, flat_v, *more = (x.reshape((times.size, x.shape[-1])) for x in given)
    motion = np.concatenate(more, axis=-1)
    states = TimedStates(flat_q, flat_v, times.reshape(-1))
    found = exact.by_entries(entries or range(system.ndx), states, motion)
    return RowDerivatives(*(part.reshape((*leading, *part.shape[1:])) for part in found))


def by_poses(system: System) -> bool:
    """Whether derivatives of all constraints come from poses of joints that close loops.

    Exact where their wrenches do not turn; differences where some do that do not move on dual
    numbers.
    """
    if not loops_alone(system):
        return False
    turning = system.arrays.closure.joint_rows["constant"][1:] == 0
    return not turning.any() or system._exact_constraints is None


def loops_alone(system: System) -> bool:
    """Whether all constraints are joints that close loops."""
    return bool((system.arrays.closure.constraints["kind"] == LOOP_JOINT).all())


def steps_of_constraints(system: System) -> Any:
    """Return which steps change the results of constraints, (ndx,).

    Those of the joints that a constraint names, and of those that move its bodies.
    """
    bodies, closure = system.arrays.bodies, system.arrays.closure
    first = bodies["first_velocity"]
    carries = np.zeros(len(bodies), dtype=bool)
    for site in closure.sites[: len(closure.site_bodies)]:
        row = int(site["row"])
        while row > 0 and not carries[row]:
            carries[row] = True
            row = int(bodies["parent"][row])
    for name in {name for each in closure.objects for name in each.joints}:
        carries |= (first == system.velocity_slice(name).start) & (bodies["num_velocities"] > 0)
    carries[0] = False  # of the world, which has sums
    found = np.zeros(system.ndx, dtype=bool)
    for row in bodies[carries]:
        found[row["first_step"] : row["first_step"] + row["ndx"]] = True
    return found


def _jacobian_differences(system: System, q: ArrayLike, t: ArrayLike, on_error: str) -> Floats:
    """Return the derivative of A by each entry of a step, (..., ndx, rows, nv)."""
    moving = steps_of_constraints(system)
    steps = np.multiply.outer(np.eye(system.ndx)[moving], _STEPS).swapaxes(1, 2)  # (n, 4, ndx)
    start = system.evaluator.arguments.with_leading_axes("q", q)[..., None, None, :]
    near = system.retract(start, steps, on_error=on_error)
    times = times_of(t, on_error)[..., None, None]
    A = system.constraint_jacobian(near, times, on_error=on_error)
    rates = np.zeros((*A.shape[:-4], system.ndx, *A.shape[-2:]))
    rates[..., moving, :, :] = np.einsum("s,...srv->...rv", _WEIGHTS, A)
    return rates
