"""Configurations that bring bodies to given poses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NotFiniteError, UsageError, check_kind
from mbkit.kinematics.descent import REACHED, SADDLE, SPENT, Descent, descend
from mbkit.kinematics.freedom import Freedom, checked_freedom
from mbkit.kinematics.preference import checked_preference, follow
from mbkit.kinematics.singular_directions import rank_of, singular_directions
from mbkit.kinematics.targets import PoseTarget, Targets, checked_targets
from mbkit.spatial.arrays import FloatArray, frozen_number
from mbkit.systems import System
from mbkit.systems.rank import singular_values

#: Part of the largest singular value below which one counts as zero. At a singular posture that is
#: reached within e the smallest is of the size of the root of e.
_RANK_TOLERANCE = 1e-4


@final
@attrs.frozen(eq=False)
class InverseKinematics:
    """The configuration that `inverse_kinematics` found, and why it stopped there.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        The configuration: it reaches the targets, or none was found that is nearer.
    converged : bool
        Whether all targets are reached within the tolerance.
    reason : str
        "reached"; "joint limits: ..." with the positions that hold it off, where the targets are
        reached from there without them; "unreachable: ..." at a least-squares stationary point,
        with the angles and distances by which targets are missed, whether the posture is singular,
        and which limits hold it there; "singular posture: ..." where no motion helps to first
        order, the curvature promises some, and no step was found; "stopped at rounding: ..." where
        the tolerance is less than poses are known by; "iteration limit".
    errors : dict of str to ndarray
        By body: log(target^-1 pose), (angular, linear), or the part of it that counts. [rad], [m]
    singular_values : ndarray
        Of the weighted Jacobian of all targets by the joints that may move, largest first.
    singular : bool
        Whether it has less rank here than at random configurations.
    singular_directions : dict of str to tuple of str
        By body: motions of its target's frame that no joint makes here, of the rows that count; in
        words, with axes in the world.
    active_limits : tuple of str
        Names of the positions that stand at a limit.
    preference_left : float or None
        What is left of the preferred gradient in the null space of the targets; None where nothing
        is preferred or the targets are not reached.
    iterations : int
        Steps tried, of all starts.
    starts : int
        Configurations from which the search was begun.
    """

    q: FloatArray
    converged: bool
    reason: str
    errors: dict[str, FloatArray]
    singular_values: FloatArray
    singular: bool
    singular_directions: dict[str, tuple[str, ...]]
    active_limits: tuple[str, ...]
    preference_left: float | None
    iterations: int
    starts: int


def inverse_kinematics(
    system: System,
    targets: Mapping[str, ArrayLike | PoseTarget],
    q: ArrayLike | None = None,
    *,
    preferred: ArrayLike | Callable[[FloatArray], ArrayLike] | None = None,
    limits: ArrayLike | Mapping[str, ArrayLike] | None = None,
    locked: Iterable[str] = (),
    restarts: int = 0,
    seed: int = 0,
    tolerance: float = 1e-9,
    preference_tolerance: float = 1e-6,
    max_iterations: int = 200,
) -> InverseKinematics:
    """Return a configuration in which bodies stand where they shall.

    Parameters
    ----------
    system : System
        The mechanism.
    targets : dict of str to (array_like (4, 4) or PoseTarget)
        By the names of bodies: the pose of the body in the world, or a `PoseTarget` for a frame on
        it, a position or orientation alone, and weights.
    q : array_like, shape (nq,), optional
        Start; the reference configuration if left out. Put within the limits.
    preferred : array_like, shape (nq,), or callable, optional
        What to do where the targets leave a choice: a configuration to be near to, or a function
        ``gradient(q) -> (nv,)`` of what shall be small. Acts in the null space of the targets
        alone, and only where they are reached.
    limits : array_like, shape (nq, 2), or dict of str to array_like, optional
        Lower and upper limit of each position, or by the names of joints; the system's own, if it
        has such, if left out; none for an empty dict. [rad], [m]
    locked : list of str
        Names of joints that keep their positions of `q`.
    restarts : int
        Random configurations to start from if `q` does not lead to the targets.
    seed : int
        Of their random numbers.
    tolerance : float
        What the angular and the linear error of each target may be. [rad], [m]
    preference_tolerance : float
        What may be left of the preferred gradient in the null space.
    max_iterations : int
        Steps from each start.

    Returns
    -------
    InverseKinematics
        The configuration, whether it reaches the targets, and if not, why.

    Raises
    ------
    NameUnknownError
        If there is no such body or joint.
    ShapeError, GeometryError
        If an array does not fit, or a pose is none.
    UsageError
        If limits contradict each other, or are given to positions that are not simply added, such
        as quaternions; or a tolerance or number is none. If the system has constraints, closed
        loops among them, or prescribed joints that are not locked: it would move them apart.

    Notes
    -----
    It minimises half the sum of squares of the weighted errors between the limits, by
    Levenberg-Marquardt steps on the configuration group, and by Newton steps where errors remain
    (see `mbkit.kinematics.descent`). A target that is not reached from one start may be reached
    from another: "unreachable" says that no small motion helps from where the best start led.
    Whether limits are to blame is found by a descent without them from there; where that reaches
    the targets beyond a limit, whole turns of its joints back between the limits are tried.

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
    """
    who = "inverse_kinematics"
    check_kind(f"{who}: system", system, System, "an mbkit.System")
    wanted = checked_targets(system, targets)
    freedom = checked_freedom(system, limits, locked, who)
    start = system.reference_configuration() if q is None else system.checked("q", q, finite=True)
    if not np.isfinite(start).all():
        raise NotFiniteError(f"{who}: q must be finite, got {start.tolist()}.")
    start = freedom.clipped(start)
    _check_positive(who, tolerance=tolerance, preference_tolerance=preference_tolerance)
    _check_counts(who, restarts=restarts, max_iterations=max_iterations, seed=seed)
    preference = None if preferred is None else checked_preference(system, preferred)
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
    sizes = np.asarray(singular_values(best.J, compute_uv=False), dtype=np.float64)
    singular = _is_singular(wanted, freedom, best.q, rank_of(sizes, _RANK_TOLERANCE))
    jacobians = [
        wanted.jacobian_in_world(k, best.q)[:, freedom.velocities] for k in range(len(wanted.names))
    ]
    return InverseKinematics(
        q=best.q,
        converged=best.end == REACHED,
        reason=reason(wanted, freedom, best, tolerance, is_held=is_held, is_singular=singular),
        errors=dict(zip(wanted.names, wanted.errors(best.q), strict=True)),
        singular_values=sizes,
        singular=singular,
        singular_directions={
            name: singular_directions(J, target.rows, _RANK_TOLERANCE)[1]
            for name, target, J in zip(wanted.names, wanted.targets, jacobians, strict=True)
        },
        active_limits=freedom.at_limits(best.q),
        preference_left=left,
        iterations=iterations,
        starts=starts,
    )


def _check_positive(who: str, **values: Any) -> None:
    for name, value in values.items():
        number = frozen_number(value)
        if not (isinstance(number, float) and number > 0.0):
            raise UsageError(f"{who}: {name} must be a positive number, got {value!r}.")


def _check_counts(who: str, **counts: Any) -> None:
    for name, count in counts.items():
        if not (isinstance(count, int | np.integer) and count >= 0):
            raise UsageError(f"{who}: {name} must be a whole number from 0, got {count!r}.")


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
    """Return the best end of a descent from the start and from random ones, and what it took."""
    rng = np.random.default_rng(seed)
    best: Descent | None = None
    iterations = starts = 0
    while best is None or (best.end != REACHED and starts <= restarts):
        begin = freedom.random(rng, start) if starts else start
        found = descend(targets, freedom, begin, tolerance, max_iterations, patient=False)
        iterations, starts = iterations + found.iterations, starts + 1
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
    if best.end in (REACHED, SPENT) or not freedom.active(best.q, best.gradient):
        return best, False, 0, 0
    beyond = descend(targets, freedom.without_limits(), best.q, tolerance, max_iterations)
    if beyond.end != REACHED:
        return best, False, 0, beyond.iterations
    back = freedom.whole_turns(beyond.q)
    if np.array_equal(back, beyond.q):
        return best, True, 0, beyond.iterations
    found = descend(targets, freedom, freedom.clipped(back), tolerance, max_iterations)
    iterations = beyond.iterations + found.iterations
    return (found if found.end == REACHED else best), True, 1, iterations


def _is_singular(targets: Targets, freedom: Freedom, q: FloatArray, rank: int) -> bool:
    """Whether the Jacobian has more rank at one of three random configurations than `rank`."""
    if rank == min(targets.count, len(freedom.velocities)):
        return False
    rng = np.random.default_rng(0)
    for _ in range(3):
        _, J = targets.linearised(freedom.random(rng, q))
        sizes = singular_values(J[:, freedom.velocities], compute_uv=False)
        if rank_of(sizes, _RANK_TOLERANCE) > rank:
            return True
    return False


#: Errors below this, in radians and in parts of the largest coordinate, are those of the poses.
_ROUNDING = 1e-13


def reason(
    targets: Targets,
    freedom: Freedom,
    best: Descent,
    tolerance: float,
    *,
    is_held: bool,
    is_singular: bool,
) -> str:
    """Return why a descent ended, as `InverseKinematics.reason` has it.

    The targets are reached from there without limits if it is held; the posture may be singular.
    """
    if best.end == REACHED:
        return "reached"
    if best.end == SPENT:
        return "iteration limit"
    limits = ", ".join(freedom.active(best.q, best.gradient))
    if is_held and limits:
        return f"joint limits: {limits}"
    off, is_rounding = _off(targets, best, tolerance)
    if is_rounding:
        return f"stopped at rounding: {off}"
    held = f"; held by limits: {limits}" if limits else ""
    if best.end == SADDLE:
        return f"singular posture: no step was found that lessens the weighted error, {off}{held}"
    posture = ", in a singular posture" if is_singular else ""
    return f"unreachable: no small motion lessens the weighted error, {off}{posture}{held}"


def _off(targets: Targets, best: Descent, tolerance: float) -> tuple[str, bool]:
    """Return which targets are how far off, and whether no more than poses are known."""
    sizes = targets.distances(best.q)
    coordinates = np.abs([target.pose[:3, 3] for target in targets.targets]).max()
    is_rounding = bool((sizes <= _ROUNDING * np.array([1.0, max(1.0, coordinates)])).all())
    told = sizes > tolerance
    if not told.any():  # what is left is rounding, or between a distance and a logarithm
        told = sizes > 0.0
    parts = []
    for name, pair, which in zip(targets.names, sizes.tolist(), told.tolist(), strict=True):
        words = [
            f"{size:.6g} {unit}"
            for size, unit, is_told in zip(pair, ("rad", "m"), which, strict=True)
            if is_told
        ]
        if words:
            parts.append(f"'{name}' {' and '.join(words)} off")
    return f"with {', '.join(parts)}", is_rounding
