"""Failures of steps at postures that no step passes: dead points, and axes that miss by little."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.closed_loops.loop_equations import Loops, checked_fixed
from mbkit.errors import ConstraintError, MbkitError, listed
from mbkit.simulation.monitors.locked import holders
from mbkit.simulation.monitors.singular_start import SingularPosture
from mbkit.systems.rank import RANK, rank_of, singular_values

if TYPE_CHECKING:
    from mbkit.simulation.preparation import Prepared

__all__ = ["at_dead_point"]

#: Velocities and rows up to which singular values are looked at; they take the third power.
_MOST = 500
#: Steps within which a singular value reaches zero at the rate that it has, ahead or behind. Before
#: a dead point it is a root of the time left, and reaches zero in twice that.
_STEPS = 4.0
#: Part of a step over which that rate is taken.
_PART = 1e-3
#: A singular value, in parts of the largest, that is neither a freedom nor a constraint for sure.
_DOUBTFUL = 100.0 * RANK, 1e-10
#: Part of the largest velocity from which on a message lists a joint.
_TOLD = 0.1


def at_dead_point(run: Prepared, t: float, taken: int) -> ConstraintError | None:
    """Return the error of a run that has failed at a dead point of its mechanism; None if not so.

    Then whatever failed, a Newton iteration, an error control, loops that do not close, is a
    consequence, and no step size helps. t [s] and the number `taken` are of the last complete step.
    """
    try:
        why = _why(run, t)
    except MbkitError:  # the state cannot be evaluated; the first failure is raised
        return None
    where = f"The simulation stopped at t = {t:.9g} s, in step {taken + 1}"
    return ConstraintError(f"{where}: {why}") if why else None


def _why(run: Prepared, t: float) -> str:
    system, problem = run.system, run.problem
    many = max(system.nv, system.num_velocity_constraints) > _MOST
    if not system.num_position_constraints or many or run.momenta is not None or run.start is None:
        return ""
    if not (np.isfinite(problem.q).all() and np.isfinite(problem.v).all()):
        return ""
    held = checked_fixed(system, (), "simulate")
    before = Loops.of(system, held, problem.t0).velocity_jacobian(run.start[0])
    loops = Loops.of(system, held, t)
    J = loops.velocity_jacobian(problem.q)
    start, rank = SingularPosture.of(system, problem.t0, run.start[0]), rank_of(before)
    if start is not None:
        rank = start.around
        left = rank_of(J) >= rank or t > problem.t0 + _STEPS * problem.h
        if not (start.count and left):
            return f"the run has started at a singular configuration: {start}"
    _, sizes, Vt = singular_values(J)
    if not sizes.any():
        return ""
    if rank < len(sizes) and _DOUBTFUL[1] < sizes[rank] / sizes[0] < _DOUBTFUL[0]:
        return _misses_by_little(run, J, sizes[rank] / sizes[0])
    if rank == 0:
        return ""
    least = sizes[rank - 1]
    part = _PART * problem.h
    ahead = system.retract(problem.q, part * system.rates(problem.q, problem.v))
    later = Loops.of(system, held, t + part).velocity_jacobian(ahead)
    rate = (singular_values(later, compute_uv=False)[rank - 1] - least) / part
    if not least < _STEPS * problem.h * abs(rate):
        return ""
    at_start = singular_values(before, compute_uv=False)[rank - 1]
    runaways = _runaways(loops, Vt[rank - 1])
    lost = (
        f"where its constraints lose rank: their smallest singular value, {at_start:.2g} at the "
        f"start, is {least:.2g} and reaches zero within a few steps"
    )
    if system.motions or system.prescribed_joints:
        drives = listed(system.prescribed_joints) if system.prescribed_joints else "it"
        return (
            f"the mechanism is at a dead point, {lost}. To drive {drives} on, {listed(runaways)} "
            f"would have to move with infinite velocity, and beyond, the loops do not close. No "
            f"smaller h and no other tolerance helps: end the run before it, turn the drive back, "
            f"drive one of these in its place, or change lengths."
        )
    return (
        f"the mechanism comes to a singular posture, {lost}, and {listed(runaways)} can move in "
        f"more than one way. There steps of no size are sure to go on; end the run before it, or "
        f"avoid it by other lengths or by a stop. print(system.diagnose(q)) says more."
    )


def _runaways(loops: Loops, direction: Any) -> list[str]:
    """Return the velocities along a direction of scaled free ones, the largest first."""
    sizes = np.abs(direction)
    order = [k for k in np.argsort(-sizes) if sizes[k] > _TOLD * sizes.max()]
    return [loops.system.velocity_names[loops.free[k]] for k in order]


def _misses_by_little(run: Prepared, J: Any, size: float) -> str:
    system = run.system
    held = f", in {holders(system, J)}" if not system.prescribed_joints else ""
    return (
        f"axes or points miss by little what lets the mechanism move{held}. A singular value of "
        f"its constraints is {size:.1e} of the largest: up to {RANK:g} it counts as zero, and the "
        f"mechanism moves; beyond, it is locked. No smaller h and no other tolerance helps: place "
        f"axes and points exactly, or take joints that leave more free; print(system.diagnose(q)) "
        f"says more."
    )
