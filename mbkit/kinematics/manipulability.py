"""Manipulability: singular values of a body's Jacobian and what follows from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError, check_kind, suggestion
from mbkit.kinematics.freedom import free_velocities
from mbkit.kinematics.measured import body_fixed_jacobian
from mbkit.kinematics.singular_directions import (
    checked_rank_tolerance,
    rank_of,
    singular_directions,
)
from mbkit.kinematics.targets import ROWS
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array, frozen_number
from mbkit.spatial.frames import check_pose, inverse
from mbkit.systems import System
from mbkit.systems.rank import singular_values

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
@attrs.frozen(eq=False)
class Manipulability:
    """How velocities of joints become motion of a body, at one configuration.

    With r for the smaller of the numbers of rows and of velocities that may move:

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
        The velocities of length one that make them.
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
        What a radian counted in metres. [m]
    tolerance : float
        Of the rank.
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


def manipulability(
    system: System,
    body: str,
    q: ArrayLike,
    rows: str = "all",
    *,
    length: float | None = None,
    frame: ArrayLike | None = None,
    directions: ArrayLike | None = None,
    locked: Iterable[str] = (),
    tolerance: float = 1e-9,
) -> Manipulability:
    """Return how well a body can be moved: Yoshikawa's measure, singular values, rank.

    Parameters
    ----------
    system : System
        The mechanism.
    body : str
        The body's name.
    q : array_like, shape (nq,)
        Configuration.
    rows : {"all", "angular", "linear"}
        Which part of the twist counts: at the frame's origin, in the axes of the world.
    length : float, optional
        Length by which angular velocities are multiplied for rows "all", so that all rows are
        velocities in metres per second; must be given there, as no result is free of it. [m]
    frame : array_like, shape (4, 4), optional
        Pose on the body of the frame that is looked at; the body's own if left out.
    directions : array_like, shape (k, rows), optional
        Directions in the world that count, for rows "angular" or "linear", such as the plane of a
        planar arm, ``[[1, 0, 0], [0, 1, 0]]``; orthonormal.
    locked : list of str
        Names of joints that do not move.
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
        orthonormal; if the system has constraints, or prescribed joints that are not locked.

    Notes
    -----
    Velocities count as they are in ``v``: where a mechanism has both turning and sliding joints, a
    radian per second counts like a metre per second. Source: T. Yoshikawa, "Manipulability of
    robotic mechanisms", Int. J. Robotics Research 4, 1985.

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
    offset = np.eye(4) if frame is None else frozen_array(frame)
    check_pose(offset, f"{who}: frame")
    index = system.body_index(body)
    free = free_velocities(system, locked, who)
    tolerance = checked_rank_tolerance(tolerance, who)
    q = system.checked("q", q)
    C = system.poses(q)[index]
    J = (SE3.Ad(inverse(offset)) @ body_fixed_jacobian(system, body, q, C))[:, free]
    R = (C @ offset)[:3, :3]
    J = np.vstack([R @ J[:3], R @ J[3:]])[ROWS[rows]]
    weights = np.repeat([scale, 1.0], 3)[ROWS[rows], None]
    counted = _directions(rows, directions)
    seen = counted @ (weights * J)
    lost, words = singular_directions(seen, rows, tolerance, back=counted / weights.T)
    U, sizes, Vt = singular_values(seen, full_matrices=False)
    rank = rank_of(sizes, tolerance)
    velocities = np.zeros((len(sizes), system.nv))
    velocities[:, free] = Vt
    return Manipulability(
        measure=math.prod(sizes.tolist()) if len(sizes) else 0.0,
        singular_values=sizes,
        directions=U.T,
        velocity_directions=velocities,
        condition=float(sizes[0] / sizes[-1]) if 0 < rank == len(sizes) else math.inf,
        rank=rank,
        singular_directions=lost,
        singular_in_words=words,
        length=scale,
        tolerance=tolerance,
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
    number = frozen_number(length)
    if not (isinstance(number, float) and 0.0 < number < math.inf):
        raise UsageError(f"manipulability: length must be a positive number, got {length!r}.")
    return number


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
