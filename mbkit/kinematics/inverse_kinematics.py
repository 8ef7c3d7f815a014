"""Configurations that bring bodies to given poses."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.close_loops import checked_start
from mbkit.closed_loops.closing import Closing
from mbkit.errors import check_kind, several
from mbkit.given_values import positive_number, whole_number
from mbkit.kinematics.descent import REACHED, SPENT, Descent, descend, linearised
from mbkit.kinematics.found_configuration import InverseKinematics
from mbkit.kinematics.freedom import Freedom, checked_freedom
from mbkit.kinematics.many_targets import leading_axes, solved_for_each
from mbkit.kinematics.preference import checked_preference, follow
from mbkit.kinematics.reasons import limits_against, open_start, reason
from mbkit.kinematics.singular_directions import rank_of, singular_directions
from mbkit.kinematics.targets import PoseTarget, Targets, checked_targets
from mbkit.spatial.arrays import FloatArray
from mbkit.systems import System
from mbkit.systems.calls.arguments import time_of
from mbkit.systems.rank import singular_values

#: Part of the largest singular value below which one counts as zero. At a singular posture that is
#: reached within e the smallest is of the size of the root of e.
_RANK_TOLERANCE = 1e-4


def inverse_kinematics(
    system: System,
    targets: Mapping[str, ArrayLike | PoseTarget],
    q: ArrayLike | None = None,
    *,
    preferred: ArrayLike | Callable[[FloatArray], ArrayLike] | None = None,
    limits: ArrayLike | Mapping[str, ArrayLike] | None = None,
    locked: Iterable[str] = (),
    t: float = 0.0,
    restarts: int = 0,
    seed: int = 0,
    tolerance: float = 1e-9,
    preference_tolerance: float = 1e-6,
    max_iterations: int = 200,
) -> InverseKinematics:
    """Return a configuration in which bodies stand where they shall, with all loops closed.

    Parameters
    ----------
    system : System
        The mechanism: a tree, or closed, with couplings and other constraints, which hold.
    targets : dict of str to (array_like (4, 4) or PoseTarget)
        By the names of bodies, or of frames on them (`Body.frames`): the pose in the world, or a
        `PoseTarget` for a further frame, a position or orientation alone, and weights. Poses may
        have leading axes, (..., 4, 4): a search for each.
    q : array_like, shape (..., nq), optional
        Start; the reference configuration if left out. Put within the limits, and its loops are
        closed. Without leading axes it is the start of the first of many poses, and each of the
        others begins where the last one that was reached before it ended.
    preferred : array_like, shape (nq,), or callable, optional
        Preference where the targets leave a choice: a configuration to be near to, or a function
        ``gradient(q) -> (nv,)`` of the number to be small. Acts in the null space of the targets
        alone, and only where they are reached.
    limits : array_like, shape (nq, 2), or dict of str to array_like, optional
        Lower and upper limit of each position, or by the names of joints; the system's own, if it
        has such, if left out; none for an empty dict. [rad], [m]
    locked : list of str
        Names of joints that keep their positions of `q`, prescribed ones among them.
    t : float
        Time: prescribed joints have the positions of their motion then, and constraints that
        depend on time are those of then. [s]
    restarts : int
        Random configurations to start from if `q` does not lead to the targets.
    seed : int
        Of their random numbers.
    tolerance : float
        Largest angular and linear error of each target. [rad], [m] Loops are closed
        to 1e-10 of the length of the system, as by `System.close_loops`.
    preference_tolerance : float
        Largest remainder of the preferred gradient in the null space.
    max_iterations : int
        Steps from each start.

    Returns
    -------
    InverseKinematics
        The configuration, whether it reaches the targets, and if not, why. With leading axes where
        targets or `q` have some.

    Raises
    ------
    NameUnknownError
        If there is no such body or joint.
    ShapeError, GeometryError
        If an array does not fit, or a pose is none.
    UsageError
        If limits contradict each other, or are given to positions that are not simply added, such
        as quaternions; or a tolerance or number is none.

    Notes
    -----
    It minimises half the sum of squares of the weighted errors between the limits, by
    Levenberg-Marquardt steps on the configuration group, and by Newton steps where errors remain
    (see `mbkit.kinematics.descent`). A target that is not reached from one start may be reached
    from another: "unreachable" means that no small motion from the end of the best start helps.
    Whether limits are the reason is found by a descent without them from there; where that reaches
    the targets beyond a limit, whole turns of its joints back between the limits are tried.

    In closed mechanisms each step is along the motions that keep the loops closed, and closes them
    again; only such configurations are compared and returned. Limits are those of the joints in the
    tree: a joint that closes a loop has no position.

    The rotation vector jumps where the rest of the way is a rotation by pi. A descent that runs
    into the jump ends beside it, as "unreachable", "singular posture" or "iteration limit"; another
    start or `restarts` leads round it.

    Examples
    --------
    Two links of one metre each, in a plane:

    >>> import numpy as np
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("planar arm")
    >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
    >>> upper, lower = mech.add_body(mb.Body("upper", rod)), mech.add_body(mb.Body("lower", rod))
    >>> joint = mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper)
    >>> elbow = mb.spatial.translation((1, 0, 0))
    >>> joint = mech.add_joint(mb.RevoluteJoint("elbow"), upper, lower, reference=elbow)
    >>> arm = mech.assemble()
    >>> tip = mb.PoseTarget(mb.spatial.translation((1, 1, 0)), frame=elbow, rows="linear")
    >>> found = inverse_kinematics(arm, {"lower": tip}, q=[0.1, 0.5])
    >>> found.reason, found.q.round(6)
    ('reached', array([0.      , 1.570796]))

    Beyond its reach the arm is stretched:

    >>> far = mb.PoseTarget(mb.spatial.translation((3, 0, 0)), frame=elbow, rows="linear")
    >>> found = inverse_kinematics(arm, {"lower": far}, q=[0.1, 0.5])
    >>> print(found.reason)
    unreachable: no small motion lessens the weighted error, with 'lower' 1 m off, in a \
singular posture
    >>> found.singular_directions
    {'lower': ('translation along (1, 0, 0)', 'translation along (0, 0, 1)')}

    A line of points, and the angles along it:

    >>> line = np.stack([mb.spatial.translation((1, y, 0)) for y in (0.8, 0.9, 1.0)])
    >>> tip = mb.PoseTarget(line, frame=elbow, rows="linear")
    >>> found = inverse_kinematics(arm, {"lower": tip}, q=[0.1, 0.5])
    >>> found.converged, found["elbow"].round(4)
    (array([ True,  True,  True]), array([1.7518, 1.6659, 1.5708]))
    """
    who = "inverse_kinematics"
    check_kind(f"{who}: system", system, System, "an mbkit.System")
    if shapes := leading_axes(targets, q):
        given = {"preferred": preferred, "limits": limits, "locked": locked, "t": t}
        numbers = {"restarts": restarts, "seed": seed, "max_iterations": max_iterations}
        bounds = {"tolerance": tolerance, "preference_tolerance": preference_tolerance}
        options: dict[str, Any] = {**given, **numbers, **bounds}
        solve = functools.partial(inverse_kinematics, system, **options)
        return solved_for_each(solve, targets, q, shapes)
    wanted = checked_targets(system, targets)
    if several(locked) and not isinstance(locked, str):
        locked = tuple(locked)
    time = time_of(t)
    freedom = checked_freedom(system, limits, locked, who, time)
    start = checked_start(system, q, time, who, locked)
    positive_number(f"{who}: tolerance", tolerance)
    positive_number(f"{who}: preference_tolerance", preference_tolerance)
    counts = {"restarts": restarts, "max_iterations": max_iterations, "seed": seed}
    for name, count in counts.items():
        whole_number(f"{who}: {name}", count)
    preference = None if preferred is None else checked_preference(system, preferred)
    start, closing = _closed_start(freedom, start)
    if closing is not None and not closing.is_closed:
        at = Descent(start, *linearised(wanted, freedom, start))
        why = open_start(freedom, closing, locked)
        return _answer(wanted, freedom, at, None, reason=why, iterations=0, starts=1)
    best, starts, iterations = _best(
        wanted, freedom, start,
        restarts=restarts, seed=seed, tolerance=tolerance, max_iterations=max_iterations,
    )  # fmt: skip
    best, is_held, more, steps = _by_turns(wanted, freedom, best, tolerance, max_iterations)
    starts, iterations = starts + more, iterations + steps
    left = None
    if preference is not None and best.end == REACHED:
        spent = best.iterations
        both = (tolerance, preference_tolerance)
        best, left = follow(wanted, freedom, best, preference, both, spent + max_iterations)
        iterations += best.iterations - spent
    singular = _is_singular(wanted, freedom, best)
    why = reason(wanted, freedom, best, tolerance, is_held=is_held, is_singular=singular)
    return _answer(
        wanted, freedom, best, left,
        reason=why, singular=singular, iterations=iterations, starts=starts,
    )  # fmt: skip


#: Random configurations from which loops are closed where they cannot be from the start.
_CLOSING_STARTS = 6


def _closed_start(freedom: Freedom, start: FloatArray) -> tuple[FloatArray, Closing | None]:
    """Return the start with its loops closed, or one around it, or where they are least open."""
    best, closing = freedom.closed(start)
    if closing is None or closing.is_closed:
        return best, closing
    rng = np.random.default_rng(0)
    for _ in range(_CLOSING_STARTS):
        there, found = freedom.closed(freedom.random(rng, start))
        if found is not None and found.error < closing.error:
            best, closing = there, found
        if closing.is_closed:
            break
    return best, closing


def _answer(
    targets: Targets,
    freedom: Freedom,
    best: Descent,
    left: float | None,
    *,
    reason: str,
    iterations: int,
    starts: int,
    singular: bool = False,
) -> InverseKinematics:
    """Return the data of a configuration where a search ended."""
    Z, velocities = best.motions, freedom.velocities
    jacobians = [
        targets.jacobian_in_world(k, best.q)[:, velocities] @ Z for k in range(len(targets.names))
    ]
    sizes = singular_values(best.reduced_jacobian, compute_uv=False)
    return InverseKinematics(
        q=best.q,
        converged=best.end == REACHED,
        reason=reason,
        gap=freedom.gap(best.q),
        errors=dict(zip(targets.names, targets.errors(best.q), strict=True)),
        singular_values=np.asarray(sizes, dtype=np.float64),
        singular=singular,
        singular_directions={
            name: singular_directions(J, target.rows, _RANK_TOLERANCE)[1]
            for name, target, J in zip(targets.names, targets.targets, jacobians, strict=True)
        },
        active_limits=freedom.at_limits(best.q),
        preference_left=left,
        iterations=iterations,
        starts=starts,
        position_names=freedom.system.position_names,
    )


def _best(
    targets: Targets,
    freedom: Freedom,
    start: FloatArray,
    *,
    restarts: int,
    seed: int,
    tolerance: float,
    max_iterations: int,
) -> tuple[Descent, int, int]:
    """Return the best end of a descent from the start or random ones, its iterations and starts."""
    rng = np.random.default_rng(seed)
    best: Descent | None = None
    iterations = starts = 0
    while best is None or (best.end != REACHED and starts <= restarts):
        begin, closing = (start, None) if best is None else _random(freedom, rng, start)
        starts += 1
        if closing is not None and not closing.is_closed:
            continue
        found = descend(targets, freedom, begin, tolerance, max_iterations, patient=False)
        iterations += found.iterations
        if best is None or found.end == REACHED or found.cost < best.cost:
            best = found
    if best.end == SPENT and best.iterations < max_iterations:
        left = max_iterations - best.iterations
        best = descend(targets, freedom, best.q, tolerance, left)
        iterations += best.iterations
    return best, starts, iterations


def _by_turns(
    targets: Targets, freedom: Freedom, best: Descent, tolerance: float, max_iterations: int
) -> tuple[Descent, bool, int, int]:
    """Look beyond the limits that hold a descent, and come back between them by whole turns.

    Returns the end; whether the targets are reached beyond; starts and steps that it took.
    """
    if best.end in (REACHED, SPENT) or not limits_against(freedom, best):
        return best, False, 0, 0
    beyond = descend(targets, freedom.without_limits(), best.q, tolerance, max_iterations)
    if beyond.end != REACHED:
        return best, False, 0, beyond.iterations
    back = freedom.whole_turns(beyond.q)
    if np.array_equal(back, beyond.q):
        return best, True, 0, beyond.iterations
    back, closing = freedom.closed(back)
    if closing is not None and not closing.is_closed:
        return best, True, 1, beyond.iterations
    found = descend(targets, freedom, back, tolerance, max_iterations)
    iterations = beyond.iterations + found.iterations
    return (found if found.end == REACHED else best), True, 1, iterations


def _random(
    freedom: Freedom, rng: np.random.Generator, q: FloatArray
) -> tuple[FloatArray, Closing | None]:
    return freedom.closed(freedom.random(rng, q))


def _is_singular(targets: Targets, freedom: Freedom, best: Descent) -> bool:
    """Whether the Jacobian has more rank at one of three random configurations."""
    J = best.reduced_jacobian
    rank = rank_of(singular_values(J, compute_uv=False), _RANK_TOLERANCE)
    if rank == min(J.shape):
        return False
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, closing = _random(freedom, rng, best.q)
        if closing is not None and not closing.is_closed:
            continue
        there = Descent(q, *linearised(targets, freedom, q)).reduced_jacobian
        if rank_of(singular_values(there, compute_uv=False), _RANK_TOLERANCE) > rank:
            return True
    return False
