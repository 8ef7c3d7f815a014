"""Reactions of joints that internal stress leaves undetermined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbkit.diagnosis.screws import loop_joints
from mbkit.kinematics.singular_directions import axis_text, reduced, vector_text
from mbkit.lie import SE3
from mbkit.results.diagnosis import Reaction
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.joint_wrenches import bodies_beyond, constraint_loads
from mbkit.systems.rank import singular_values

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["reactions", "row_loads", "row_words"]

#: Part of the largest wrench below which one counts as none.
_TOLERANCE = 1e-7


def reactions(system: System, q: FloatArray, null: FloatArray, t: float) -> tuple[Reaction, ...]:
    """Return the undetermined wrenches of joints in loops, and of other constraints.

    Multipliers in the null space of A^T, of which null (rows, k) is a basis at the closed
    configuration q, are internal stress, which causes no motion. The wrenches of internal stress in
    a joint may be added to its reaction.
    """
    length = system.arrays.closure.length
    loads = row_loads(system, q, t)
    poses, subspaces = system.poses(q), system.motion_subspaces(q)
    found = []
    free = set(system.free_joints)
    for body, joint in enumerate(system.tree.joints):
        if body == 0 or joint in free:
            continue
        across = loads[:, bodies_beyond(system, body)].sum(axis=1).T
        if np.abs(across).max(initial=0.0) > _TOLERANCE:
            first = int(system.tree.first_velocity[body])
            own = slice(first, first + int(system.tree.num_velocities[body]))
            screws = subspaces[own] @ SE3.Ad(poses[body]).T
            point = _point_of(screws, poses[body, :3, 3])
            count = 6 if joint in system.prescribed_joints else 6 - len(screws)
            found.append(_reaction(joint, count, across @ null, point, length))
    joints = {loop.name: loop for loop in loop_joints(system, q)}
    for name, rows in constraint_rows(system).items():
        loop = joints.get(name)
        if loop is None:
            found.append(_of_constraint(name, null[rows]))
            continue
        across = loads[:, loop.bodies[1]].T * _is_in(len(null), rows)
        point = _point_of(loop.screws(), loop.far[:3, 3])
        count = rows.stop - rows.start
        found.append(_reaction(name, count, across @ null, point, length, closes=True))
    return tuple(found)


def constraint_rows(system: System) -> dict[str, slice]:
    """Return the rows of each constraint."""
    closure = system.arrays.closure
    if not closure:
        return {}
    firsts, counts = closure.constraints["first_row"], closure.constraints["num_rows"]
    parts = zip(closure.names, firsts.tolist(), counts.tolist(), strict=True)
    return {name: slice(first, first + count) for name, first, count in parts}


def row_loads(system: System, q: FloatArray, t: float) -> FloatArray:
    """Return the wrench (rows, bodies + 1, 6) of each row on each body, at the world's origin."""
    m = system.num_velocity_constraints
    if not m:
        return np.zeros((0, len(system.body_names), 6))
    every = np.broadcast_to(q, (m, len(q)))
    loads = constraint_loads(system, every, np.eye(m), np.full(m, t), "raise")
    moments = loads.moments + np.cross(loads.points, loads.forces)
    found = np.zeros((m, len(system.body_names), 6))
    closure = system.arrays.closure
    others = (system.body_index(name) for each in closure.objects for name in each.bodies)
    for site, body in enumerate((*closure.site_bodies[: 2 * closure.num_joints], *others)):
        found[:, body, :3] += moments[:, site]
        found[:, body, 3:] += loads.forces[:, site]
    return found


def row_words(system: System, q: FloatArray, t: float) -> dict[str, str]:
    """Return which component of the wrench of its joint each row is, "" where it is of no joint."""
    names = system.constraint_names
    words = dict.fromkeys(names, "")
    loads, rows = row_loads(system, q, t), constraint_rows(system)
    for loop in loop_joints(system, q):
        point = _point_of(loop.screws(), loop.far[:3, 3])
        own = rows[loop.name]
        wrenches = _moved(loads[own, loop.bodies[1]].T, point).T
        for name, wrench in zip(names[own], wrenches, strict=True):
            words[name] = _words(np.where(np.abs(wrench) < 1e-9, 0.0, wrench))
    return words


def _is_in(count: int, rows: slice) -> FloatArray:
    mask = np.zeros(count)
    mask[rows] = 1.0
    return mask


def _of_constraint(name: str, null: FloatArray) -> Reaction:
    """Return how many of the multipliers (rows, k) of a constraint that is no joint are open."""
    sizes = singular_values(null, compute_uv=False) if null.size else np.zeros(0)
    count = int((sizes > _TOLERANCE).sum())
    words = (f"{count} of {len(null)} multipliers",) if count else ()
    return Reaction(name, False, len(null), words, np.zeros((0, 6)), np.full(3, np.nan))


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
    """Return the part of a joint's reaction that wrenches (6, k), in the world, leave open."""
    scaled = _moved(stress, point) / np.array([length] * 3 + [1.0] * 3)[:, None]
    sizes = np.zeros(0)
    if scaled.size:
        U, sizes, _ = singular_values(scaled, full_matrices=False)
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
