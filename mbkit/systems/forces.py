"""Forces of a system: sum, powers, potentials; efforts of prescribed joints and of actuators."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import (
    ConstraintError,
    ForceError,
    MissingTimeWarning,
    UsageError,
    several,
)
from mbkit.forces import Force
from mbkit.joints.defaults.differences import extrapolated
from mbkit.joints.prescribed.prescribed_joint import JointMotion
from mbkit.systems.calls.arguments import Floats, check_on_error, common_axes, times_of
from mbkit.systems.calls.evaluations import FORCE_POTENTIALS, FORCE_POWERS, GENERALIZED_FORCES
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.force_changes import forces_by_time, say_differences
from mbkit.systems.memory.prescribed_motions import motion_at
from mbkit.users_line import users_line

if TYPE_CHECKING:
    from mbkit.systems.system import System


@final
@attrs.frozen(eq=False, repr=False)
class ActuatorEfforts:
    """Efforts of actuators for a motion, with the multipliers of the constraints.

    Attributes
    ----------
    efforts : ndarray, shape (..., nv)
        Efforts of the actuators, zero for passive joints. [N m], [N]
    multipliers : ndarray, shape (..., num_velocity_constraints)
        ``M vdot + b - J^T W = tau + efforts + A^T multipliers``. [N]
    redundancy : ndarray of int, shape (...)
        Number of actuators beyond those that the motion needs: as many efforts can be chosen
        freely, and are chosen by `minimise`. -1 for a failed sample.
    """

    efforts: Floats
    multipliers: Floats
    redundancy: Any

    def __repr__(self) -> str:
        freely = int(np.max(self.redundancy, initial=0))
        return (
            f"<ActuatorEfforts: efforts {self.efforts.shape}, multipliers "
            f"{self.multipliers.shape}, {freely or 'none'} to be chosen freely>"
        )

    @property
    def unique(self) -> Any:
        """Whether no other efforts give this motion, bool, shape (...)."""
        return self.redundancy == 0


def generalized_forces(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    t: ArrayLike = 0.0,
    *,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.generalized_forces`."""
    return system.evaluator.compute(GENERALIZED_FORCES, q, v, _times(t), out=out, on_error=on_error)


def take_part(system: System, t: ArrayLike) -> bool:
    """Whether the forces of the mechanism, zero or not, change a result or its leading axes."""
    return bool(system.forces) or (t.__class__ is not float and times_of(t, "nan").ndim > 0)


def applied(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    t: ArrayLike,
    on_error: str,
) -> Any:
    """Return f + tau: the forces of the mechanism and further ones, which may be left out."""
    if not take_part(system, t):
        return system.evaluator.zero if tau is None else tau
    return added(system, generalized_forces(system, q, v, t, on_error=on_error), tau)


def added(system: System, f: Floats, tau: ArrayLike | None) -> Any:
    """Return f + tau, where tau may be left out."""
    if tau is None:
        return f
    given = system.evaluator.arguments.with_leading_axes("tau", tau)
    common_axes({"tau": given.shape[:-1], "q, v and t": f.shape[:-1]})
    return f + given


def force_powers(
    system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.force_powers`."""
    return system.evaluator.compute(FORCE_POWERS, q, v, _times(t), on_error=on_error)


def force_potentials(
    system: System, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.force_potentials`."""
    zero = system.evaluator.zero
    return system.evaluator.compute(FORCE_POTENTIALS, q, zero, _times(t), on_error=on_error)


def with_forces(system: System, forces: Iterable[Force]) -> System:
    """See `System.with_forces`."""
    if isinstance(forces, Force) or not several(forces):
        raise ForceError(f"with_forces takes several forces, got {forces!r}; give a list.")
    return system._blueprint.with_forces(tuple(forces))


def without_forces(system: System, names: Iterable[str] | None = None) -> System:
    """See `System.without_forces`."""
    if names is None:
        names = system.force_names
        if not names:
            return system
    if isinstance(names, str):
        raise ForceError(f"without_forces takes several names, got {names!r}; give a list.")
    if not (several(names) and all(isinstance(each, str) for each in names)):
        raise ForceError(f"without_forces takes names of forces, got {names!r}.")
    return system._blueprint.without_forces(tuple(names))


def _times(t: ArrayLike) -> Floats:
    times: Floats = times_of(t, "nan")[..., None]
    return times


def start_of_tree(system: System, t: float, q: Floats | None = None) -> tuple[Floats, Floats]:
    """See `System.start_of_tree`."""
    if system.free_joints and system.motions:
        with contextlib.suppress(ConstraintError):
            relative = system._blueprint.relative()
            own = None if q is None else relative.state_of(system, q)[0]
            return system.state_of(relative, *relative.prescribed_state(t, own)[:2])
    return system.prescribed_state(t, q)[:2]


def prescribed_rows(
    system: System, t: ArrayLike, q: ArrayLike | None, v: ArrayLike | None, on_error: str = "raise"
) -> tuple[Floats, Floats, Floats]:
    """See `System.prescribed_rows`."""
    check_on_error(on_error)
    checked = system.evaluator.arguments.with_leading_axes
    given_q: Any = checked("q", system.reference_configuration() if q is None else q)
    given_v: Any = checked("v", system.evaluator.zero if v is None else v)
    times = times_of(t, on_error)
    shapes = {"t": times.shape, "q": given_q.shape[:-1], "v": given_v.shape[:-1]}
    leading = common_axes(shapes)
    all_q = np.array(np.broadcast_to(given_q, (*leading, system.nq)))
    all_v = np.array(np.broadcast_to(given_v, (*leading, system.nv)))
    vdot = np.zeros(all_v.shape)
    for joint, motion in system.motions.items():
        rows = [_sample(motion, times, index, on_error == "nan") for index in range(times.size)]
        if not rows:
            continue
        parts = (np.array(part).reshape((*times.shape, -1)) for part in zip(*rows, strict=True))
        slices = system.position_slice(joint), *[system.velocity_slice(joint)] * 2
        for array, entries, part in zip((all_q, all_v, vdot), slices, parts, strict=True):
            array[..., entries] = part
    return all_q, all_v, vdot


#: By how much positions of prescribed joints may be off: results are kept in single precision.
_SINGLE = 1e-6


def tell_of_missing_time(system: System, q: ArrayLike, t: ArrayLike) -> None:
    """Warn once of states that are not those of t = 0 where no other t is given.

    The entries of prescribed joints are replaced by their motions, so that those of a run with a t
    that was forgotten are of another time than all others, and loops are open.
    """
    if not system.motions or "t" in system.evaluator.warned:
        return
    times = times_of(t, "nan")
    if times.ndim or times != 0.0:
        return
    moved = system.prescribed_rows(0.0, q, None, "nan")[0]
    given = system.evaluator.arguments.with_leading_axes("q", q)
    off = np.abs(system.difference(moved, given, on_error="nan"))
    for joint in system.motions:
        here = off[..., system.tangent_slice(joint)].max(axis=-1)
        entries = system.position_slice(joint)
        far = here > _SINGLE * (1.0 + np.abs(moved[..., entries]).max(axis=-1))
        if far.any():
            index = tuple(int(k) for k in np.argwhere(far)[0])
            shown = [", ".join(f"{x:.6g}" for x in one[index][entries]) for one in (given, moved)]
            system.evaluator.warned.add("t")
            warnings.warn(
                f"System '{system.name}': q has {shown[0]} for the prescribed joint '{joint}', "
                f"whose motion is at {shown[1]} at t = 0, which is put in its place. Give the "
                f"time of the states by t=, such as driving_efforts(run.q, run.v, t=run.t).",
                MissingTimeWarning,
                stacklevel=users_line(),
            )
            return


def driving_efforts(
    system: System, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, t: ArrayLike = 0.0
) -> Floats:
    """See `System.driving_efforts`."""
    if not system.motions:
        raise UsageError(f"System '{system.name}' has no prescribed joint; see Joint.prescribe.")
    tell_of_missing_time(system, q, t)
    q, v, vdot = system.prescribed_state(t, q, v)
    checked = system.evaluator.arguments.with_leading_axes
    given = system.evaluator.zero if tau is None else checked("tau", tau)
    common_axes({"tau": given.shape[:-1], "q and v": v.shape[:-1]})
    _, found = system.hybrid_dynamics(
        q, v, tau=given, vdot=vdot, prescribed=system.prescribed_joints, t=t
    )
    efforts = np.zeros(found.shape)
    for joint in system.motions:
        place = system.velocity_slice(joint)
        efforts[..., place] = found[..., place] - given[..., place]
    return efforts


def _sample(
    motion: JointMotion, times: Floats, index: int, forgiving: bool
) -> tuple[Floats, Floats, Floats]:
    try:
        return motion_at(motion, float(times.flat[index]))
    except Exception as error:
        if forgiving:
            nv = motion.joint.num_velocities
            nothing = np.full(nv, np.nan)
            return np.full(motion.joint.num_positions, np.nan), nothing, nothing
        if times.ndim:
            place = ", ".join(str(int(each)) for each in np.unravel_index(index, times.shape))
            error.add_note(f"That is sample [{place}] of t.")
        raise


#: First steps that are tried, halved three times each. [s]
_STEPS = np.array([0.2, 5e-2, 1e-2, 2e-3, 4e-4])
_HALVES = 0.5 ** np.arange(4)[:, None]

#: Extrapolations of values right to rounding agree to this part of the largest number.
_AGREEING = 1e-12


def force_rate(
    system: System, q: ArrayLike, rates: Floats, t: ArrayLike, order: int, on_error: str
) -> Floats:
    """Return the rate, or the second, of `generalized_forces` for rates (..., k, nv) of q.

    For a derivative of this order, the motion need be right to this order.
    """
    times = times_of(t, on_error)
    start = system.evaluator.arguments.with_leading_axes("q", q)
    axes = {"q": start.shape[:-1], "rates": rates.shape[:-2], "t": times.shape}
    leading = common_axes(axes)
    start = np.broadcast_to(start, (*leading, system.nq))
    rates = np.broadcast_to(rates, (*leading, *rates.shape[-2:]))
    system.generalized_forces(start, rates[..., 0, :], times, on_error=on_error)  # raises by itself
    first = system.rates(start, rates[..., 0, :], on_error="nan")
    exact = _exact_rate(system, start, rates, np.broadcast_to(times, leading))
    if exact is not None and order > 1:
        exact = _exact_second_rate(system, start, rates, np.broadcast_to(times, leading))
    if exact is not None and have_exact_derivatives(system):  # as before, also of traced forces
        return exact
    say_differences(system)

    def speed(e: Any) -> Floats:
        terms = (e**n / math.factorial(n) * rates[..., n, :] for n in range(order + 1))
        total: Floats = sum(terms, np.zeros(1))
        return total

    second = np.zeros(first.shape)
    if order > 1:

        def step_rate(e: Any) -> Floats:
            w = system.rates(
                system.retract(start, e * first, on_error="nan"), speed(e), on_error="nan"
            )
            return system.dexp_inv(e * first, w, on_error="nan")

        second = derivative_along(step_rate, leading, 1)

    def force(e: Any) -> Floats:
        there = system.retract(start, e * first + e * e / 2.0 * second, on_error="nan")
        return system.generalized_forces(there, speed(e), times + e[..., 0], on_error="nan")

    return derivative_along(force, leading, order)


def have_exact_derivatives(system: System) -> bool:
    """Whether the derivatives of all forces by q and v are right to rounding."""
    exact = system._exact_forces
    called = system.arrays.forces.num_called > 0
    return not called or (exact is not None and exact.is_exact)


def _exact_rate(system: System, q: Floats, rates: Floats, t: Floats) -> Floats | None:
    """Return the rate of the forces of samples (...) by their derivatives, if these are exact."""
    if not have_exact_derivatives(system):
        return None
    v, vdot = rates[..., 0, :], rates[..., 1, :]
    flat_q, flat_v = (x.reshape((t.size, x.shape[-1])) for x in (q, v))
    by_time = forces_by_time(system, TimedStates(flat_q, flat_v, t.reshape(-1)))
    if by_time is None:
        return None
    by_q, by_v = system.force_derivatives(q, v, t, on_error="nan")
    along = system.rates(q, v, on_error="nan")
    found: Floats = (by_q @ along[..., None] + by_v @ vdot[..., None])[..., 0]
    return found + by_time.reshape(v.shape)


def _exact_second_rate(system: System, q: Floats, rates: Floats, t: Floats) -> Floats:
    """Return the rate of `_exact_rate` along the motion, by differences."""
    times = t.reshape(-1)
    start = q.reshape((times.size, system.nq))
    orders = rates.reshape((times.size, *rates.shape[-2:]))
    step = system.rates(start, orders[:, 0], on_error="nan")

    def rate(e: Any, samples: Any) -> Any:
        there = system.retract(start[samples], e * step[samples], on_error="nan")
        here = orders[samples]
        later = here[:, :-1] + e[..., None] * here[:, 1:]
        return _exact_rate(system, there, later, times[samples] + e[..., 0])

    return derivative_of_exact(rate, times.size).reshape((*q.shape[:-1], system.nv))


def derivative_along(
    function: Callable[[Any], Floats], leading: tuple[int, ...], order: int
) -> Floats:
    """Return the first or second derivative at 0 of function(e), e (k, 1, ..., 1), (k, ..., n).

    Central differences, extrapolated three times: the error is of order h^8. The first step is, for
    each entry by itself, the one whose last two extrapolations agree best.
    """
    return _differences(function, leading, order, _STEPS)[0]


def derivative_of_exact(function: Callable[[Any, Any], Floats], count: int) -> Floats:
    """Return the derivative at 0 of function(e, samples), (k, samples, n), right to rounding.

    e is (k, 1, 1), samples are indices below `count`. One first step does for samples where its
    last two extrapolations agree to rounding; others have it as in `derivative_along`.
    """
    every = np.arange(count)
    found, error, size = _differences(lambda e: function(e, every), (count,), 1, _STEPS[1:2])
    others = np.flatnonzero(~(error <= _AGREEING * size).all(axis=-1))
    if others.size:
        found[others] = derivative_along(lambda e: function(e, others), (others.size,), 1)
    return found


def _differences(
    function: Callable[[Any], Floats], leading: tuple[int, ...], order: int, first: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return derivatives, their errors, and the largest number of each sample, by first steps."""
    e = _HALVES * first  # (4, first steps)
    steps = np.concatenate([e.ravel(), -e.ravel()])
    if order == 2:
        steps = np.append(steps, 0.0)
    values = function(steps.reshape((-1, *(1,) * (len(leading) + 1))))
    sides = values[: 2 * e.size].reshape((2, *e.shape, *values.shape[1:]))
    h = e.reshape((*e.shape, *(1,) * (values.ndim - 1)))
    with np.errstate(invalid="ignore"):
        if order == 1:
            table = (sides[0] - sides[1]) / (2.0 * h)
        else:
            table = (sides[0] - 2.0 * values[-1] + sides[1]) / (h * h)
        found, moved = extrapolated(table, 4.0)
        largest = np.abs(sides).max(axis=(0, 1))
        error = moved + 1e-16 * largest / h[-1] ** order
    best = np.argmin(np.where(np.isnan(error), np.inf, error), axis=0)[None]
    chosen, left = (np.take_along_axis(x, best, axis=0)[0] for x in (found, error))
    return chosen, left, largest.max(axis=(0, -1), initial=0.0)[..., None]
