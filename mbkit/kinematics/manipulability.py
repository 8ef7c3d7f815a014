"""Manipulability: singular values of a body's Jacobian and derived measures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.loop_equations import check_closed
from mbkit.errors import UsageError, check_kind, suggestion
from mbkit.given_values import positive_number
from mbkit.kinematics.allowed_rates import allowed_motions
from mbkit.kinematics.freedom import free_velocities
from mbkit.kinematics.measured import body_fixed_jacobian
from mbkit.kinematics.singular_directions import (
    checked_rank_tolerance,
    rank_of,
    singular_directions,
    twists_of,
)
from mbkit.kinematics.targets import ROWS
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.spatial.frames import inverse
from mbkit.systems import System
from mbkit.systems.body_motion import placed_on
from mbkit.systems.calls.arguments import time_of
from mbkit.systems.calls.entries import entries_of
from mbkit.systems.rank import singular_values

if TYPE_CHECKING:
    from collections.abc import Iterable


#: Motions that constraints leave to a body are rounding below this part of those without.
_ROUNDING = 1e-12


@final
@attrs.frozen(eq=False, repr=False)
class Manipulability:
    """How velocities of joints become motion of a body, at one configuration.

    With r for the smaller of the numbers of rows and of independent motions:

    Attributes
    ----------
    measure : float
        Product of the r singular values: sqrt(det(J J^T)) where J is not taller than wide
        (Yoshikawa's), sqrt(det(J^T J)) else. Volume of the motions by velocities of length one.
    singular_values : ndarray, shape (r,)
        Largest first: half the axes of the ellipsoid of motions. Units as in `length`.
    directions : ndarray, shape (r, rows)
        The axes themselves, one a row, of length one: in the world's axes, angular parts times
        `length`.
    velocity_directions : ndarray, shape (r, nv)
        The velocities that make them: of length one, where joints are actuated in these alone.
    condition : float
        Largest by smallest singular value; infinite if the rank is less than r.
    rank : int
        How many of the singular values are more than `tolerance` times the largest.
    singular_directions : ndarray, shape (k, 6)
        Independent twists, of the rows and in the directions that count, that no velocity makes:
        as many as these are more than `rank`. [rad], [m]
    singular_in_words : tuple of str
        The same in words.
    length : float
        The length that a radian counts as. [m]
    tolerance : float
        Of the rank.
    uncontrolled_directions : ndarray, shape (k, 6)
        Independent twists that are possible while all actuated joints stand still: there are such
        with too few actuators, and in singular postures of the second kind. Their singular values
        are infinite. None where all joints count. [rad], [m]
    uncontrolled_in_words : tuple of str
        The same in words.
    """

    measure: float
    singular_values: FloatArray
    directions: FloatArray
    velocity_directions: FloatArray
    condition: float
    rank: int
    singular_directions: FloatArray
    singular_in_words: tuple[str, ...]
    length: float
    tolerance: float
    uncontrolled_directions: FloatArray
    uncontrolled_in_words: tuple[str, ...]

    def __repr__(self) -> str:
        """Return the main numbers in some lines."""
        values = ", ".join(f"{size:.4g}" for size in self.singular_values)
        sizes = f"measure {self.measure:.4g}, condition {self.condition:.4g}, rank {self.rank}"
        lines = [
            f"<Manipulability: {sizes}",
            f"singular values  {values or 'none'}",
            f"no motion        {', '.join(self.singular_in_words) or 'none is missing'}",
        ]
        if self.uncontrolled_in_words:
            lines.append(f"uncontrolled     {', '.join(self.uncontrolled_in_words)}")
        return "\n  ".join(lines) + ">"


def manipulability(
    system: System,
    body: str,
    q: ArrayLike,
    rows: str = "all",
    *,
    length: float | None = None,
    frame: ArrayLike | str | None = None,
    directions: ArrayLike | None = None,
    locked: Iterable[str] = (),
    actuated: Iterable[str] | None = None,
    t: float = 0.0,
    tolerance: float = 1e-9,
) -> Manipulability:
    """Return how well a body can be moved: Yoshikawa's measure, singular values, rank.

    In closed mechanisms by the velocities that the constraints allow.

    Parameters
    ----------
    system : System
        The mechanism.
    body : str
        The body's name, or that of a frame on it, as for `System.pose`.
    q : array_like, shape (nq,)
        Configuration, with closed loops.
    rows : {"all", "angular", "linear"}
        Which part of the twist counts: at the frame's origin, in the axes of the world.
    length : float, optional
        Length by which angular velocities are multiplied for rows "all", so that all rows are
        velocities in metres per second; must be given there, as no result is free of it. [m]
    frame : array_like, shape (4, 4), or str, optional
        Pose on the body of the frame that is looked at, or its name; the body's own if left out.
    directions : array_like, shape (k, rows), optional
        Directions in the world that count, for rows "angular" or "linear", such as the plane of a
        planar arm, ``[[1, 0, 0], [0, 1, 0]]``; orthonormal.
    locked : list of str
        Names of joints that do not move. Prescribed joints do not either: their velocities cannot
        be chosen.
    actuated : list of str, optional
        Names of joints, or single velocities ("ball[2]"), that have actuators: their velocities
        alone count in the length of a motion, those of passive joints do not. All joints by
        default.
    t : float
        Time, for constraints that depend on it. [s]
    tolerance : float
        Singular values below this part of the largest count as zero in rank and condition.

    Returns
    -------
    Manipulability
        Measure, singular values, directions, condition number, rank, singular directions.

    Raises
    ------
    NameUnknownError
        If there is no such body or joint.
    ShapeError, GeometryError
        If an array does not fit, or `frame` is no pose.
    UsageError
        If `rows` is no such word, `length` is missing or has no use, or directions are not
        orthonormal.
    ConstraintError
        If `q` leaves loops open by more than 1e-6 of the length of the system.

    Notes
    -----
    Velocities count as they are in ``v``: where a mechanism has both turning and sliding joints, a
    radian per second counts like a metre per second. Source: T. Yoshikawa, "Manipulability of
    robotic mechanisms", Int. J. Robotics Research 4, 1985.

    In closed mechanisms v = N y, with an orthonormal basis N of the motions allowed. The
    ellipsoid is that of J v for all such v of length one, or those whose actuated part v_a is of
    length one: the singular values are those of J N, or of J_a = J N N_a^+, N_a the rows of v_a.
    With as many actuators as freedoms J_a is the Jacobian of a parallel robot. Forces on the body
    that efforts of length one balance, f with J_a^T f = effort, make the dual ellipsoid, with the
    same axes and the reciprocal singular values. Source: A. Bicchi, D. Prattichizzo,
    "Manipulability of cooperating robots with unactuated joints and closed-chain mechanisms", IEEE
    Trans. Robotics and Automation 16, 2000. A posture in which the body moves while actuators stand
    still is singular of the second kind in C. Gosselin, J. Angeles, "Singularity analysis of
    closed-loop kinematic chains", IEEE Trans. Robotics and Automation 6, 1990.

    Examples
    --------
    A planar arm of two links has the measure l1 l2 |sin q2|:

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("planar arm")
    >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
    >>> upper, lower = mech.add_body(mb.Body("upper", rod)), mech.add_body(mb.Body("lower", rod))
    >>> joint = mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper)
    >>> elbow = mb.spatial.translation((1, 0, 0))
    >>> joint = mech.add_joint(mb.RevoluteJoint("elbow"), upper, lower, reference=elbow)
    >>> tip = mb.spatial.translation((0.5, 0, 0))
    >>> found = manipulability(mech.assemble(), "lower", [0.2, np.pi / 6], "linear", frame=tip)
    >>> round(found.measure, 12), found.singular_in_words
    (0.25, ('translation along (0, 0, 1)',))
    """
    who = "manipulability"
    check_kind(f"{who}: system", system, System, "an mbkit.System")
    scale = _length(rows, length)
    index, offset = placed_on(system, body, frame)
    if offset is None:
        offset = np.eye(4)
    check_array(offset, (4, 4), f"{who}: frame")
    name = system.body_names[index]
    free = free_velocities(system, locked, who)
    entries = None if actuated is None else entries_of(system, actuated, "actuated")
    time = time_of(t)
    tolerance = checked_rank_tolerance(tolerance, who)
    q = system.checked("q", q)
    check_closed(system, q, time, who)
    C = system.poses(q)[index]
    N = allowed_motions(system, q, time, free)
    J = SE3.Ad(inverse(offset)) @ body_fixed_jacobian(system, name, q, C)
    R = (C @ offset)[:3, :3]
    J = np.vstack([R @ J[:3], R @ J[3:]])[ROWS[rows]]
    weights = np.repeat([scale, 1.0], 3)[ROWS[rows], None]
    counted = _directions(rows, directions)
    every, back = counted @ (weights * J), counted / weights.T
    seen = every @ N
    if np.abs(seen).max(initial=0.0) <= _ROUNDING * np.abs(every).max(initial=0.0):
        seen[:] = 0.0
    lost, words = singular_directions(seen, rows, tolerance, back=back)
    U, sizes, velocities, loose = _ellipsoid(seen, N, entries, tolerance)
    rank = len(loose) + rank_of(sizes[len(loose) :], tolerance)
    uncontrolled, uncontrolled_words = twists_of(loose, rows, back)
    return Manipulability(
        measure=_measure(sizes),
        singular_values=sizes,
        directions=U.T,
        velocity_directions=velocities,
        condition=_condition(sizes) if rank == len(sizes) else math.inf,
        rank=rank,
        singular_directions=lost,
        singular_in_words=words,
        length=scale,
        tolerance=tolerance,
        uncontrolled_directions=uncontrolled,
        uncontrolled_in_words=uncontrolled_words,
    )


def _condition(sizes: FloatArray) -> float:
    return float(sizes[0] / sizes[-1]) if len(sizes) and math.isfinite(sizes[0]) else math.inf


def _measure(sizes: FloatArray) -> float:
    if not len(sizes):
        return 0.0
    return math.inf if math.isinf(sizes[0]) else math.prod(sizes.tolist())


def _ellipsoid(
    seen: FloatArray, N: FloatArray, actuated: list[int] | None, tolerance: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the axes (rows, r), half their lengths (r,), and velocities (r, nv) that make them.

    From the twists (rows, k) of the motions N (nv, k). With the directions (n, rows) that are
    seen without actuators: these come first and have infinite lengths.
    """
    if actuated is None:
        U, sizes, Vt = singular_values(seen, full_matrices=False)
        return U, sizes, Vt @ N.T, np.zeros((0, len(seen)))
    U, sizes, Vt = singular_values(N[actuated])
    rank = int((sizes > tolerance).sum())  # of columns of length one
    still = Vt[rank:].T
    found, idle, within = singular_values(seen @ still)
    loose = int((idle > tolerance * max(1.0, float(np.abs(seen).max(initial=0.0)))).sum())
    out = found[:, :loose]
    moved = Vt[:rank].T / sizes[:rank]  # N_a^+ but for a rotation of v_a
    left = seen - out @ (out.T @ seen)
    axes, lengths, ways = singular_values(left @ moved, full_matrices=False)
    count = len(seen) - loose
    axes, lengths, ways = axes[:, :count], lengths[:count], ways[:count]
    velocities = np.vstack([(N @ still @ within[:loose].T).T, (N @ moved @ ways.T).T])
    return (
        np.hstack([out, axes]),
        np.concatenate([np.full(loose, np.inf), lengths]),
        velocities,
        out.T,
    )


def _length(rows: str, length: float | None) -> float:
    if not (isinstance(rows, str) and rows in ROWS):
        raise UsageError(f"manipulability: there are no rows {rows!r}; {suggestion(rows, ROWS)}")
    if rows != "all":
        if length is not None:
            raise UsageError(
                f'manipulability: length has no use for rows="{rows}", which have one unit; '
                f"leave it out."
            )
        return 1.0
    if length is None:
        raise UsageError(
            'manipulability: rows="all" mixes radians and metres and needs a length, the metres '
            'that a radian counts, such as the size of the tool; or give rows="linear" or '
            'rows="angular".'
        )
    return positive_number("manipulability: length", length)


def _directions(rows: str, directions: ArrayLike | None) -> FloatArray:
    """Return the directions that count, as rows of a matrix."""
    count = 6 if rows == "all" else 3
    if directions is None:
        return np.eye(count)
    if rows == "all":
        raise UsageError(
            'manipulability: directions go with rows="angular" or rows="linear"; leave them out.'
        )
    given = frozen_array(directions)
    check_array(given, (len(given) if given.ndim == 2 else 1, count), "manipulability: directions")
    if not np.allclose(given @ given.T, np.eye(len(given)), rtol=0.0, atol=1e-9):
        raise UsageError(
            "manipulability: directions must be orthonormal, each of length one and at right "
            "angles to the others; numpy.linalg.qr makes such."
        )
    return given
