"""Which reactions of joints internal stress leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbkit.diagnosis.diagnosis import Reaction
from mbkit.diagnosis.screws import LoopJoint, adjoint, loop_joints
from mbkit.kinematics.lost_motions import axis_text, reduced, vector_text
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["reactions", "row_words", "transmitted"]

#: Part of the largest wrench below which one counts as none.
_TOLERANCE = 1e-7


def reactions(system: System, q: FloatArray, null: FloatArray) -> tuple[Reaction, ...]:
    """Return what is unique of the wrenches of joints in loops.

    Multipliers in the null space of A^T stress the mechanism and do not move it. What they do in a
    joint may be added to its wrench.

    Parameters
    ----------
    system : System
        Any.
    q : ndarray, shape (nq,)
        Closed configuration.
    null : ndarray, shape (rows, k)
        A basis of these multipliers.
    """
    length = system.arrays.closure.length
    loops = loop_joints(system, q)
    found = []
    for body, joint in enumerate(system.tree.joints):
        across = transmitted(system, loops, body) if body else np.zeros((6, 0))
        if across.any():
            first = int(system.tree.first_velocity[body])
            own = slice(first, first + int(system.tree.num_velocities[body]))
            C = system.poses(q)[body]
            screws = system.motion_subspaces(q)[own] @ adjoint(C).T
            point = _point_of(screws, C[:3, 3])
            found.append(_reaction(joint, 6 - len(screws), across @ null, point, length))
    for loop in loops:
        across = np.zeros((6, len(null)))
        across[:, loop.rows] = loop.wrenches(length).T
        point = _point_of(loop.screws(), loop.far[:3, 3])
        rows = loop.rows.stop - loop.rows.start
        found.append(_reaction(loop.name, rows, across @ null, point, length, closes=True))
    return tuple(found)


def row_words(system: System, q: FloatArray) -> dict[str, str]:
    """Return which component of the wrench of its joint each row is, "" where it is of no joint."""
    words = dict.fromkeys(system.constraint_names, "")
    names = system.constraint_names
    for loop in loop_joints(system, q):
        point = _point_of(loop.screws(), loop.far[:3, 3])
        wrenches = _moved(loop.wrenches(1.0).T, point).T
        for name, wrench in zip(names[loop.rows], wrenches, strict=True):
            words[name] = _words(np.where(np.abs(wrench) < 1e-9, 0.0, wrench))
    return words


def transmitted(system: System, loops: tuple[LoopJoint, ...], body: int) -> FloatArray:
    """Return the wrenches (6, rows) of all rows on the bodies that a tree joint carries.

    In the world at its origin. Where nothing accelerates, the joint transmits the opposite.
    """
    total = np.zeros((6, system.num_velocity_constraints))
    for loop in loops:
        carried = [_carries(system, body, end) for end in loop.bodies]
        if carried[0] != carried[1]:
            sign = 1.0 if carried[1] else -1.0
            total[:, loop.rows] = sign * loop.wrenches(system.arrays.closure.length).T
    return total


def _carries(system: System, body: int, other: int) -> bool:
    while other > 0 and other != body:
        other = int(system.tree.parents[other])
    return other == body


def _point_of(screws: FloatArray, near: FloatArray) -> FloatArray:
    """Return the point next to a given one where the screws have least linear part."""
    if not screws[:, :3].any():
        return near
    # the linear part at p is v + w x p
    w, v = screws[:, :3], screws[:, 3:] + np.cross(screws[:, :3], near)
    across = np.concatenate([np.cross(each, np.eye(3)).T for each in w])
    step = np.linalg.lstsq(across, -v.reshape(-1), rcond=1e-9)[0]
    return np.asarray(near + step)


def _reaction(
    name: str,
    count: int,
    stress: FloatArray,
    point: FloatArray,
    length: float,
    closes: bool = False,
) -> Reaction:
    """Return what wrenches (6, k), in the world at its origin, leave open in a joint."""
    scaled = _moved(stress, point) / np.array([length] * 3 + [1.0] * 3)[:, None]
    sizes = np.zeros(0)
    if scaled.size:
        U, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    # the multipliers are of unit length, and so are the wrenches of their rows
    basis = U[:, sizes > _TOLERANCE].T if sizes.any() else np.zeros((0, 6))
    wrenches = reduced(basis) * np.array([length] * 3 + [1.0] * 3)
    words = tuple(_words(each) for each in wrenches)
    return Reaction(name, closes, count, words, wrenches, point)


def _moved(wrenches: FloatArray, point: FloatArray) -> FloatArray:
    """Return wrenches (6, k), given at the origin of the world, at a point."""
    moment = wrenches[:3] - np.cross(point, wrenches[3:].T).T
    return np.concatenate([moment, wrenches[3:]])


def _words(wrench: FloatArray) -> str:
    """Return a wrench in words; axes in the world."""
    moment, force = wrench[:3], wrench[3:]
    if not moment.any():
        return f"force along {axis_text(force)}"
    if not force.any():
        return f"moment about {axis_text(moment)}"
    arm = moment / np.linalg.norm(force)
    return f"force along {axis_text(force)} with moment {vector_text(arm)} m"
