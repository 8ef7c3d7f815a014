"""Reactions: the wrenches that joints exert on their bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, UsageError, check_switch, listed
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import broadcast, by_sample, entries_of, velocity_sizes
from mbkit.systems.calls.wrenches import Wrenches
from mbkit.systems.joint_cut import JointCut
from mbkit.systems.rank import null_space

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["reaction"]

_FELT = 1e-6  # of multipliers of norm one, moments by length: a joint that has less feels nothing

_COMPONENTS = tuple(
    f"{what} {axis}" for what in ("moment about", "force along") for axis in ("x", "y", "z")
)


def reaction(
    system: System,
    joint: str,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    *,
    vdot: ArrayLike | None = None,
    multipliers: ArrayLike | None = None,
    t: ArrayLike = 0.0,
    on: str | None = None,
    at: str | ArrayLike = "joint",
    expressed_in: str = "world",
    with_effort: bool = True,
    minimum_norm: bool = False,
    on_error: str = "raise",
) -> Floats:
    """See `System.reaction`."""
    check_switch("reaction: with_effort", with_effort)
    check_switch("reaction: minimum_norm", minimum_norm)
    cut = JointCut.of(system, joint, on)
    motion = _motion_of(
        system, q, v, tau, wrenches, vdot=vdot, multipliers=multipliers, t=t, on_error=on_error
    )
    at_q, at_v, at_vdot, forces, time, held = motion
    null = _self_stress(system, at_q, time, held, on_error)
    if minimum_norm:
        forces = forces - np.einsum("...km,...kn,...n->...m", null, null, forces)
    C = system.poses(at_q, on_error=on_error)
    origin, point, axes = cut.frame(C)[..., :3, 3], cut.point(at, C), cut.axes(expressed_in, C)
    W = cut.of_bodies((at_q, at_v, at_vdot), time, wrenches, origin, on_error)
    W = W + cut.of_constraints(at_q, forces, time, origin, on_error)
    W = W + cut.of_loans((at_q, at_v, at_vdot), on_error)
    if not with_effort:
        W = W - cut.effort(W, at_q, C, origin, on_error)
    W = _seen(W, origin, point, axes)
    if null.shape[-2] and not minimum_norm:
        places = origin[..., None, :], point[..., None, :], axes[..., None, :, :]
        felt = cut.of_constraints(at_q[..., None, :], null, time[..., None], places[0], on_error)
        _check_felt(system, cut, _seen(felt, *places), expressed_in, W, on_error)
    return W


def _motion_of(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    wrenches: Wrenches | None,
    *,
    vdot: ArrayLike | None,
    multipliers: ArrayLike | None,
    t: ArrayLike,
    on_error: str,
) -> tuple[Any, ...]:
    """Return q, v, vdot, multipliers, t, and which velocities are held whatever it takes."""
    m = system.num_velocity_constraints
    free = np.zeros(system.nv, dtype=bool)
    if vdot is None:
        if multipliers is not None:
            raise UsageError("reaction: multipliers go with vdot; give both, or tau.")
        given: Any = system.evaluator.zero
        if tau is not None:
            given = system.evaluator.arguments.with_leading_axes("tau", tau)
        if system.motions:
            q, v, _ = system.prescribed_rows(t, q, v, on_error)
        if system.forces:
            given = given + system.generalized_forces(q, v, t, on_error=on_error)
        vdot, multipliers, _ = system.solved(q, v, given, wrenches, t=t, on_error=on_error)
        free[entries_of(system, system.prescribed_joints, "prescribed")] = True
    elif tau is not None:
        raise UsageError("reaction: give tau, from which the motion follows, or vdot.")
    elif multipliers is None and m:
        raise UsageError(
            f"reaction: system '{system.name}' has loops: give the multipliers that belong to "
            f"vdot, of solve_dynamics or closed_inverse_dynamics."
        )
    found = broadcast(
        system, t, q=q, v=v, vdot=vdot,
        multipliers=np.zeros(m) if multipliers is None else multipliers,
    )  # fmt: skip
    return (*found, free)


def _self_stress(system: System, q: Floats, t: Floats, held: Any, on_error: str) -> Floats:
    """Return the multipliers that move nothing, (..., n, m), orthonormal; zero rows fill up."""
    m = system.num_velocity_constraints
    if not m:
        return np.zeros((*q.shape[:-1], 0, 0))
    A = system.constraint_jacobian(q, t, on_error=on_error)
    A = np.nan_to_num(A / velocity_sizes(system, q)[..., None, :])[..., ~held]
    bases = {index: null_space(A[index].T).T for index in np.ndindex(q.shape[:-1])}
    most = max((len(basis) for basis in bases.values()), default=0)
    null = np.zeros((*q.shape[:-1], most, m))
    for index, basis in bases.items():
        null[(*index, slice(len(basis)))] = basis
    return null


def _check_felt(
    system: System, cut: JointCut, felt: Floats, expressed_in: str, W: Floats, on_error: str
) -> None:
    """Raise, or write NaN, if internal stress changes the reaction."""
    length = system.arrays.closure.length
    sizes = np.abs(felt * np.array([1.0 / length] * 3 + [1.0] * 3)).max(axis=-2)
    sizes = np.broadcast_to(sizes, W.shape)

    def compute(index: tuple[int, ...]) -> None:
        open_ = sizes[index] > _FELT
        if open_.any():
            W[index] = np.nan
            names = [name for name, each in zip(_COMPONENTS, open_, strict=True) if each]
            rest = [name for name, each in zip(_COMPONENTS, open_, strict=True) if not each]
            known = f"; {listed(rest, str)} are unique" if rest else ""
            raise ConstraintError(
                f"Joint '{cut.name}' of system '{system.name}': its reaction is not unique. "
                f"Constraints are redundant at this configuration, and bodies that do not bend "
                f"leave open {listed(names, str)} (axes of '{expressed_in}'){known}. Let "
                f"minimum_norm=True choose, or drop redundant constraints: System.diagnose."
            )

    by_sample(W.shape[:-1], on_error, compute)


def _seen(W: Floats, origin: Floats, point: Floats, axes: Floats) -> Floats:
    """Return wrenches about another point, in other axes."""
    f = W[..., 3:]
    parts = W[..., :3] + np.cross(origin - point, f), f
    return np.concatenate([np.einsum("...ji,...j->...i", axes, part) for part in parts], axis=-1)
