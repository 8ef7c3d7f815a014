"""Reactions of joints on traced numbers.

Reactions of a joint of the tree are efforts of a free joint that stands still beside it: inverse
dynamics, with the constraint forces, of the system that has this joint in addition. A joint that
closes a loop bears the wrench of its multipliers.
"""

from __future__ import annotations

import contextlib
from typing import Any

import attrs
import numpy as np

from mbkit.bridges import closed_dynamics, closed_kinematics, dynamics_terms
from mbkit.bridges.body_terms import check_axes, motion_subspaces, poses, traced_place
from mbkit.bridges.constrained import (
    beside_reference,
    factorised,
    independent_rows,
    solved,
)
from mbkit.bridges.constrained import (
    minimum_norm as minimum_norm_multipliers,
)
from mbkit.bridges.terms import inverse_dynamics
from mbkit.errors import UsageError
from mbkit.systems.derivatives.inertia_changes import is_spread
from mbkit.systems.reactions import JointCut
from mbkit.tracing.motions import following
from mbkit.tracing.trace import Trace

_PLACE = "S_pred"


def reaction(
    trace: Trace,
    *given: Any,
    joint: str,
    on: str | None = None,
    at: str = "joint",
    expressed_in: str = "world",
    with_effort: bool = True,
    minimum_norm: bool = False,
    vdot: bool = False,
) -> Any:
    """Return the wrench that a joint exerts on one of its bodies, (6,); see `System.reaction`.

    Given are tau, or `vdot` and, of closed mechanisms, the multipliers.
    """
    system = trace.system
    _check(trace, joint, on, at, expressed_in, with_effort, minimum_norm)
    check_axes(trace, joint, "reaction")
    cut = JointCut.of(system, joint, on)
    with contextlib.nullcontext() if vdot else following(trace):
        C = poses(trace)
        near, far = (traced_place(trace, joint, end) for end in (_PLACE, "S_succ"))
        ends = {cut.place.predecessor: near, cut.place.successor: far}
        row = system.body_index
        frame = C[row(cut.on)] @ ends[cut.on] @ cut.place.canonical_frame
        axes = frame if expressed_in == "joint" else C[row(expressed_in)]
        point = frame[:3, 3] if at == "joint" else C[row(at), :3, 3]
        motion = _given(trace, minimum_norm, *given) if vdot else _motion(trace, *given)
        if cut.in_tree:
            W, about = _of_tree_joint(trace, cut, motion, C[row(cut.place.predecessor)] @ near)
        else:
            W, about = _of_loop_joint(trace, cut, motion["multipliers"])
        W = _about(W, about, frame[:3, 3])
        if not with_effort and cut.in_tree:
            W = W - _effort(trace, cut, W, C[cut.child], frame[:3, 3])
    W = _about(W, frame[:3, 3], point)
    back = axes[:3, :3].T
    return np.concatenate([back @ W[:3], back @ W[3:]])


def _check(trace: Trace, joint: str, *options: Any) -> None:
    """Raise the errors of `System.reaction`, and where joints cannot be loosened."""
    system = trace.system
    on, at, expressed_in, with_effort, minimum_norm = options
    if not isinstance(at, str):
        raise UsageError(
            f"{trace.what}: at must be 'joint' or the name of a body, got {at!r}; the moment about "
            f"another point follows from the force."
        )
    if is_spread(system):
        raise UsageError(
            f"{trace.what}: system '{system.name}' has bodies with the inertia of others, of which "
            f"reactions are no functions; assemble it in relative coordinates."
        )
    q = beside_reference(system)
    if system.motions:
        q = system.prescribed_state(0.0, q)[0]
    rest = np.zeros(system.nv)
    system.reaction(
        joint, q, rest, vdot=rest, multipliers=np.zeros(system.num_velocity_constraints), on=on,
        at=at, expressed_in=expressed_in, with_effort=with_effort, minimum_norm=minimum_norm,
    )  # fmt: skip


def _motion(trace: Trace, tau: Any) -> dict[str, Any]:
    """Return vdot and, of closed mechanisms, the minimum-norm multipliers."""
    if trace.system.arrays.closure:
        return closed_dynamics.solve_dynamics(trace, tau)
    return {"vdot": dynamics_terms.forward_dynamics(trace, tau)}


def _given(trace: Trace, least: bool, vdot: Any, multipliers: Any = None) -> dict[str, Any]:
    """Return a motion that is given; if `least`, with its minimum-norm multipliers."""
    if multipliers is None:
        return {"vdot": vdot}
    if least:
        system, A = trace.system, closed_kinematics.constraint_jacobian(trace)
        rows = independent_rows(system, trace.what, range(system.nv))
        R = A[rows]
        found = solved(factorised(R @ R.T), R @ (multipliers @ A))
        multipliers = minimum_norm_multipliers(A, rows, found)
    return {"vdot": vdot, "multipliers": multipliers}


def _of_tree_joint(trace: Trace, cut: JointCut, motion: dict[str, Any], near: Any) -> Any:
    """Return the wrench on the body `cut.on` in the world, and the point that it is about."""
    loose, joints = trace.system._blueprint.loosened([(cut.name, _PLACE)])
    free = [
        attrs.evolve(each, path=f"joints.{joints[0]}.{_PLACE}")
        if each.path == f"joints.{cut.name}.{_PLACE}"
        else each
        for each in trace.free
    ]
    beside = Trace(trace.what, loose, free, smooth=trace.is_smooth, beside=trace)
    vdot = np.append(motion["vdot"], np.zeros(loose.nv - trace.system.nv).astype(object))
    efforts = inverse_dynamics(beside, vdot)
    if "multipliers" in motion:
        A = closed_kinematics.constraint_jacobian(beside)
        efforts = efforts - motion["multipliers"] @ A
    W = efforts[loose.velocity_slice(joints[0])]
    R = near[:3, :3] if cut.on == cut.place.successor else -near[:3, :3]
    return np.concatenate([R @ W[:3], R @ W[3:]]), near[:3, 3]


def _of_loop_joint(trace: Trace, cut: JointCut, multipliers: Any) -> Any:
    """Return the same of a joint that closes a loop."""
    from mbkit.kernels.constraints.wrenches import SITE_SIZE, constraint_wrenches

    closure = trace.system.arrays.closure
    if cut.name not in closure.names:  # one of six freedoms has no rows
        return np.zeros(6, dtype=object), np.zeros(3)
    count = len(closure.site_bodies)
    given = np.array([*multipliers, trace.t], dtype=object)
    found = trace.call(constraint_wrenches, SITE_SIZE * count, x=given).reshape(count, SITE_SIZE)
    first = int(closure.constraints["first_site"][closure.names.index(cut.name)])
    site = found[first + (cut.on == cut.place.successor)]
    return site[:6], site[6:]


def _effort(trace: Trace, cut: JointCut, W: Any, C: Any, about: Any) -> Any:
    """Return the least wrench about a point that does the work of W along the joint's motion."""
    weights = np.array([trace.system.arrays.closure.length] * 3 + [1.0] * 3)
    rows = motion_subspaces(trace)[trace.system.velocity_slice(cut.name)]
    w, u = rows[:, :3] @ C[:3, :3].T, rows[:, 3:] @ C[:3, :3].T
    S = np.concatenate([w, u + np.cross(w, about - C[:3, 3])], axis=1) * weights
    return weights * (S.T @ solved(factorised(S @ S.T), S @ (W / weights)))


def _about(W: Any, origin: Any, point: Any) -> Any:
    """Return a wrench about another point."""
    return np.concatenate([W[:3] + np.cross(origin - point, W[3:]), W[3:]])
