"""Changes of the equations of motion by numbers of a joint of the tree: a pitch, axes, a screw.

The effect of a number on the motion of its joint, the pose of its successor in its predecessor, is
a twist xi(q) beside that pose: of a pitch the translation along the axis by the angle. A free joint
at the place of the joint on its predecessor moves in the same way, with

    dx = xi,    dx' = xi' = J v,    dx'' = xi'' = J vdot + ...,

so that changes are those along its steps, velocities and accelerations, and J^T times its own
effort more on the joint's. With the twist V of the motion, and d the change by the number,

    xi^ = dC C^-1,    xi' = dV - [xi, V],    xi'' = dV' - [xi', V] - [xi, V'],

in axes of the predecessor. dC, dV and dV' are those of the joint alone, by its own function on dual
numbers (`mbkit.kernels.derivatives.joints.changes_by_numbers`): with d = C^-1 dC, in the frame of
the successor,

    xi = Ad_C d,    xi' = Ad_C dV,    xi'' = Ad_C (dV' + [V, dV]),

and where the tree goes the other way, with the same of the predecessor in its successor,

    xi = -d,    xi' = -d',    xi'' = -(dV' - [V', d] - [V, d']),    d' = dV - [V, d].

Of joints in Python they are differences of sixteenth order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.errors import UsageError
from mbkit.lie import SE3
from mbkit.lie.arrays import pose, vee
from mbkit.representations import Spatial
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import Change, Point
from mbkit.systems.derivatives.inertia_changes import is_spread
from mbkit.systems.derivatives.input_changes import along_steps, along_velocities
from mbkit.systems.derivatives.loosened import Loosened, padded
from mbkit.systems.derivatives.moving_joints import (
    MovingJoint,
    joint_changes,
    joint_of,
    moving_joint,
)
from mbkit.systems.derivatives.numeric_changes import rates_without_jump

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Motion", "change_by_joint", "motion_by_joint"]


def motion_by_joint(
    point: Point, name: str, start: float, moves: Sequence[Callable[[float], Any]]
) -> tuple[str, Motion] | None:
    """Return the joint of the tree that a parameter is of, and how its motion changes.

    `moves` take a number to values of the parameter, one for each of its entries, and `start` is a
    large number for them. None in absolute coordinates, where bodies are split, for joints that
    close loops, and where values beside the parameter's are refused.
    """
    system, joint = point.system, joint_of(point.system, name)
    if joint is None or is_spread(system) or system.free_joints:
        return None
    moving, states = moving_joint(system, name), (point.q, point.v, point.vdot)
    try:
        motion = None if moving is None else Motion.of_numbers(system, moving, *states)
        if motion is None:
            motion = Motion.by_differences(point, joint, name, start, moves)
    except UsageError:
        return None
    return joint, motion


def change_by_joint(
    point: Point, name: str, start: float, moves: Sequence[Callable[[float], Any]]
) -> Change | None:
    """Return the change of the equations of motion by a parameter; None as of `motion_by_joint`."""
    found = motion_by_joint(point, name, start, moves)
    return None if found is None else _along(point, *found)


class Motion(NamedTuple):
    """Changes of the motion of a joint with k entries of a parameter, at N states.

    Attributes
    ----------
    twists, rates, accelerations : ndarray, shape (N, 6, k, 1)
        xi and its derivatives by time, in axes of the joint frame on the predecessor.
    J : ndarray, shape (N, 6, k, nv of the joint)
        The derivative of the rates by the joint's velocities.
    """

    twists: Floats
    rates: Floats
    accelerations: Floats
    J: Floats

    @classmethod
    def of_numbers(
        cls, system: System, moving: MovingJoint, q: Floats, v: Floats, vdot: Floats
    ) -> Motion | None:
        """Return it, exact; None where it is not finite."""
        joint = moving.joint
        row, place = system.arrays.bodies[moving.row], system.velocity_slice(joint)
        here, changed = joint_changes(system, moving, q, v)
        v, vdot = v[:, None, place, None], vdot[:, None, place, None]
        C, S, bias = (x[:, None] for x in here)
        d, dS, dbias = changed
        near, far = _ends(system, joint)
        outer, inner = (far, near) if row["reversed"] else (near, far)
        # the places of the joint on both bodies move with its frame, which d does not contain yet
        d = d + SE3.Ad(np.linalg.inv(C)) @ (SE3.Ad(outer) @ moving.twists).T[..., None]
        still = -(SE3.Ad(inner) @ moving.twists).T[..., None]
        d, dS, dbias = (
            d + still,
            dS - SE3.ad(still[..., 0]) @ S,
            dbias - SE3.ad(still[..., 0]) @ bias,
        )
        V, Vdot = (S @ v)[..., 0], (S @ vdot + bias)[..., 0]
        dV, dVdot = dS @ v, dS @ vdot + dbias
        to_joint = SE3.Ad(np.linalg.inv(near))
        if row["reversed"]:
            to_joint, rows = -to_joint, dS + SE3.ad(d[..., 0]) @ S
            rate = rows @ v
            parts = [d, rate, dVdot - SE3.ad(Vdot) @ d - SE3.ad(V) @ rate, rows]
        else:
            to_joint, rows = to_joint @ SE3.Ad(C), dS
            parts = [d, dV, dVdot + SE3.ad(V) @ dV, rows]
        found = [np.moveaxis(to_joint @ part, 1, 2) for part in parts]
        return cls(*found) if all(np.isfinite(part).all() for part in found) else None

    @classmethod
    def by_differences(
        cls, point: Point, joint: str, name: str, start: float, moves: Sequence[Any]
    ) -> Motion:
        """Return it by differences; UsageError where values beside the parameter's are refused."""
        system, alone = point.system, point.system._blueprint.joint_alone(joint)
        body, q = alone.body_names[-1], point.q[:, system.position_slice(joint)]
        place = system.velocity_slice(joint)
        v, vdot = point.v[:, place], point.vdot[:, place]
        speed = np.maximum(np.abs(v).max(axis=-1, initial=0.0), 1e-300)[:, None]

        def motion(other: System) -> tuple[Floats, Floats, Floats]:
            """Return pose, Jacobian, and Jacobian rate times the velocity of size one."""
            unit, still = v / speed, np.zeros(v.shape)
            J = other.jacobian(body, q, representation=Spatial())
            bias = other.accelerations(q, unit, still, representation=Spatial())[:, -1]
            return other.pose(body, q), J, bias

        def flat(value: Any) -> Floats:
            parts = motion(alone.with_parameters({name: value}))
            return np.concatenate([part.reshape(-1) for part in parts])

        C, J, bias = motion(alone)
        here = np.concatenate([part.reshape(-1) for part in (C, J, bias)])
        moved = rates_without_jump(flat, start, moves, name, here)
        V, Vdot = (J @ v[..., None]), (J @ vdot[..., None]) + (speed**2 * bias)[..., None]
        to_joint = SE3.Ad(np.linalg.inv(system.joint_places[joint].near))
        found = []
        for rates in moved.T:
            parts = np.split(rates, np.cumsum([C.size, J.size]))
            dC, dJ, dB = (x.reshape(y.shape) for x, y in zip(parts, (C, J, bias), strict=True))
            xi = vee(dC @ np.linalg.inv(C))
            rows = dJ - SE3.ad(xi) @ J
            rate = rows @ v[..., None]
            more = dJ @ vdot[..., None] + (speed**2 * dB)[..., None]
            more = more - SE3.ad(rate[..., 0]) @ V - SE3.ad(xi) @ Vdot
            found.append([to_joint @ x for x in (xi[..., None], rate, more, rows)])
        return cls(*(np.stack(each, axis=2) for each in zip(*found, strict=True)))


def _along(point: Point, joint: str, motion: Motion) -> Change:
    """Return the change where a free joint at the place of a joint moves so."""
    system, loosened = point.system, Loosened.of_joint(point.system, joint)
    nv, loose, there = system.nv, loosened.system, loosened.at(point)
    free, own = slice(nv, loose.nv), system.velocity_slice(joint)
    mu = padded(point.mu, loose.nv) if point.redundant else None
    by_x = along_steps(there, loosened.moving, mu)
    by_v = along_velocities(there, np.arange(loose.nv) >= nv)
    M, A = loose.mass_matrix(there.q), there.jacobian()

    moves = [each[..., 0] for each in motion[:3]]

    def total(by_steps: Any, by_velocities: Any, by_accelerations: Any) -> Any:
        entries = loosened.moving, free, free
        parts = zip((by_steps, by_velocities, by_accelerations), entries, moves, strict=True)
        return sum(part[..., place] @ move for part, place, move in parts)

    efforts = total(by_x.efforts, by_v.efforts, M)[:, :nv]
    # a wrench on the free joint is one on the joint, along the twist that its number adds
    wrench = loose.inverse_dynamics(there.q, there.v, there.vdot, t=there.t)
    if point.constrained:
        wrench = wrench - np.einsum("nmv,nm->nv", A, there.multipliers)
    efforts[:, own] += np.einsum("nwkj,nw->njk", motion.J, wrench[:, free])
    if not point.constrained:
        return Change(efforts)
    turned: Any = 0.0
    if mu is not None:
        turned = by_x.turned[..., loosened.moving] @ moves[0]
        turned = turned + A[..., free] @ np.einsum("nwkj,nj->nwk", motion.J, point.mu[:, own])
    return Change(efforts, total(by_x.rows, by_v.rows, A), turned)


def _ends(system: System, joint: str) -> tuple[Floats, Floats]:
    """Return the joint frame on predecessor and successor, (4, 4) in the rows that carry these."""
    place = system.joint_places[joint]
    found = []
    for body, S in ((place.predecessor, place.near), (place.successor, place.far)):
        frame = system.arrays.frames[system.body_index(body)]
        found.append(pose(frame["R"], frame["p"]) @ S)
    return found[0], found[1]
