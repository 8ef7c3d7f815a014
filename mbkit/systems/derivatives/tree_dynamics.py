"""Derivatives of forward and hybrid dynamics of trees, each from one kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError
from mbkit.given_values import as_list
from mbkit.systems.calls.arguments import Floats, times_of
from mbkit.systems.calls.entries import (
    prescribed_steps,
    prescribed_velocities,
    velocities_of,
)
from mbkit.systems.calls.evaluations import (
    FORWARD_DYNAMICS_DERIVATIVES,
    HYBRID_DYNAMICS_DERIVATIVES,
)
from mbkit.systems.calls.wrenches import Wrenches
from mbkit.systems.derivatives.dynamics_derivatives import computed_loaded
from mbkit.systems.forces import added, applied, take_part

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "accelerations_of_tree",
    "bind_forward",
    "forward_dynamics_derivatives",
    "hybrid_derivatives",
]


def forward_dynamics_derivatives(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> tuple[Floats, Floats, Floats]:
    """See `System.forward_dynamics_derivatives`."""
    if t.__class__ is not float:
        times_of(t, on_error)
    if system.arrays.closure:
        raise UsageError(
            f"System '{system.name}' has loops: forward_dynamics_derivatives is of trees. Those of "
            f"the closed motion are system.derivatives('forward_dynamics', q, v, tau)."
        )
    if system.motions:
        return _with_prescribed_joints(system, q, v, (tau, wrenches), t, on_error)
    if wrenches is None and not take_part(system, t):
        given = system.evaluator.zero if tau is None else tau
        return system._forward_dynamics_derivatives(q, v, given, on_error)
    return accelerations_of_tree(system, q, v, tau, wrenches, t=t, on_error=on_error)[:3]


def accelerations_of_tree(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike,
    on_error: str = "raise",
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return d_q, d_v, d_tau as of `System.forward_dynamics_derivatives`, and the accelerations.

    No joint is prescribed.
    """
    given = applied(system, q, v, tau, t, on_error)
    what = FORWARD_DYNAMICS_DERIVATIVES
    table = computed_loaded(system, what, (q, v, given), wrenches, on_error)
    d_q, d_v, d_tau, vdot = _by_input(system, table)
    if take_part(system, t):
        f_q, f_v = system.force_derivatives(q, v, t, on_error=on_error)
        d_q, d_v = d_q + d_tau @ f_q, d_v + d_tau @ f_v
    return d_q, d_v, d_tau, vdot


def _by_input(system: System, table: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return a kernel's derivatives by q, v and tau, and the accelerations, as views."""
    ndx = system.ndx
    end = ndx + system.nv
    return table[..., :ndx], table[..., ndx:end], table[..., end:-1], table[..., -1]


def _with_prescribed_joints(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    applied: tuple[ArrayLike | None, Wrenches | None],
    t: ArrayLike,
    on_error: str,
) -> tuple[Floats, Floats, Floats]:
    """Return the derivatives of the velocities that are free; those of the others are zero.

    `applied` are tau and the wrenches.
    """
    tau, wrenches = applied
    held = prescribed_velocities(system)
    q, v, vdot = system.prescribed_rows(t, q, v, on_error)
    *parts, found = _hybrid_rows(
        system, q, v, (tau, vdot, system.prescribed_joints), wrenches, t=t, on_error=on_error
    )
    failed = np.isnan(found).any(axis=-1)
    for part, columns in zip(parts, (prescribed_steps(system), held, held), strict=True):
        part[..., held, :] = 0.0
        part[..., columns] = 0.0
        part[failed] = np.nan
    return tuple(parts)  # type: ignore[return-value]


def _hybrid_rows(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    given: tuple[ArrayLike | None, ArrayLike | None, Sequence[str]],
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike,
    on_error: str,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return derivatives by q, v and the known tau or vdot, and the results, of a tree.

    `given` are tau, vdot and the joints that are prescribed. Rows of prescribed velocities are
    those of efforts, others of accelerations; known are the accelerations of the former
    and the efforts of the latter.
    """
    tau, vdot, prescribed = given
    f = None
    if take_part(system, t):
        f = system.generalized_forces(q, v, t, on_error=on_error)
        tau = added(system, f, tau)
    known = system.known(tau, vdot, prescribed)
    what = HYBRID_DYNAMICS_DERIVATIVES
    table = computed_loaded(system, what, (q, v, known), wrenches, on_error)
    d_q, d_v, d_given, found = _by_input(system, table)
    if f is None:
        return d_q, d_v, d_given, found
    held = velocities_of(system, as_list(prescribed))
    by_force = np.where(held, -np.eye(system.nv), d_given)
    f_q, f_v = system.force_derivatives(q, v, t, on_error=on_error)
    return d_q + by_force @ f_q, d_v + by_force @ f_v, d_given, found - f * held


def hybrid_derivatives(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    given: tuple[ArrayLike | None, ArrayLike | None, Sequence[str]],
    by: Sequence[str],
    *,
    t: ArrayLike,
    on_error: str,
) -> tuple[dict[str, Floats], dict[str, dict[str, Floats]]]:
    """Return vdot and tau, and their derivatives by some of q, v, tau and vdot, of a tree.

    `given` are tau, vdot and the joints that are prescribed. Samples that fail are not numbers.
    """
    d_q, d_v, d_given, found = _hybrid_rows(system, q, v, given, t=t, on_error=on_error)
    held = velocities_of(system, as_list(given[2]))
    driven, free = held.nonzero()[0], (~held).nonzero()[0]
    failed = np.isnan(found).any(axis=-1)
    checked, zero = system.evaluator.arguments.with_leading_axes, system.evaluator.zero
    tau = zero if given[0] is None else checked("tau", given[0])
    vdot = zero if given[1] is None else checked("vdot", given[1])
    values = {"vdot": np.where(held, vdot, found), "tau": np.where(held, found, tau)}
    values["vdot"][failed] = np.nan
    by_vdot: dict[str, Floats] = {}
    by_tau: dict[str, Floats] = {}
    for name in by:
        part: Any = {"q": d_q, "v": d_v}.get(name)
        if part is None:
            part = d_given * (held if name == "vdot" else ~held)
        efforts = np.zeros(part.shape)
        efforts[..., driven, :] = part[..., driven, :]
        part[..., driven, :] = 0.0
        # a given entry changes with itself
        if name == "vdot":
            part[..., driven, driven] = 1.0
        if name == "tau":
            efforts[..., free, free] = 1.0
        by_vdot[name], by_tau[name] = part, efforts
    if failed.any():
        for each in (*by_vdot.values(), *by_tau.values()):
            each[failed] = np.nan
    return values, {"vdot": by_vdot, "tau": by_tau}


def bind_forward(system: System) -> Callable[..., tuple[Floats, Floats, Floats]]:
    """Return ``call(q, v, tau, on_error)``, which returns the derivatives by q, v and tau."""
    compute = system.evaluator.bind(FORWARD_DYNAMICS_DERIVATIVES)
    ndx, every = system.ndx, slice(None)
    end = ndx + system.nv
    by_q, by_v, by_tau = (every, slice(ndx)), (every, slice(ndx, end)), (every, slice(end, -1))

    def call(q: Any, v: Any, tau: Any, on_error: str) -> tuple[Floats, Floats, Floats]:
        table = compute(q, v, tau, None, on_error)
        if table.ndim != 2:
            return _by_input(system, table)[:3]
        return table[by_q], table[by_v], table[by_tau]

    return call
