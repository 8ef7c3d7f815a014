"""Second derivatives of inverse dynamics, with those of the forces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.forces import JointDamper, JointSpring
from mbkit.memory import check_memory
from mbkit.systems.calls.arguments import Floats, common_axes, times_of
from mbkit.systems.calls.evaluations import INVERSE_DYNAMICS_SECOND_DERIVATIVES
from mbkit.systems.calls.wrenches import Wrenches
from mbkit.systems.derivatives.dynamics_derivatives import computed_loaded
from mbkit.systems.derivatives.force_changes import say_differences
from mbkit.systems.derivatives.mass_matrix_derivatives import mass_matrix_derivatives
from mbkit.systems.forces import (
    derivative_along,
    derivative_of_exact,
    have_exact_derivatives,
)

if TYPE_CHECKING:
    from mbkit.systems.system import System


def inverse_dynamics_second_derivatives(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> tuple[Floats, Floats, Floats, Floats]:
    """See `System.inverse_dynamics_second_derivatives`."""
    nv, ndx = system.nv, system.ndx
    checked = system.evaluator.arguments.with_leading_axes
    given = {"q": q, "v": v, "vdot": vdot}
    shapes = {name: checked(name, value).shape[:-1] for name, value in given.items()}
    samples = math.prod(common_axes({**shapes, "t": times_of(t, on_error).shape}))
    check_memory(
        2.0 * samples * nv * (float(nv) + ndx) ** 2,
        f"Second derivatives of {nv} efforts, of {samples} states,",
        "ask for fewer samples at once",
    )
    what = INVERSE_DYNAMICS_SECOND_DERIVATIVES
    every = computed_loaded(system, what, (q, v, vdot), wrenches, on_error)
    shapes_of = (nv, ndx, ndx), (nv, nv, nv), (nv, ndx, nv)
    ends = np.cumsum([math.prod(shape) for shape in shapes_of])
    parts = np.split(every, ends[:-1], axis=-1)
    by_motion: list[Any] = [
        part.reshape((*every.shape[:-1], *shape))
        for part, shape in zip(parts, shapes_of, strict=True)
    ]
    if not _linear(system):
        applied = _of_forces(system, q, v, t, on_error)
        by_motion = [own - force for own, force in zip(by_motion, applied, strict=True)]
    d_mass = mass_matrix_derivatives(system, q, on_error=on_error)
    leading = common_axes({"efforts": by_motion[0].shape[:-3], "t": times_of(t, on_error).shape})
    of_all = [*by_motion, d_mass]
    if any(each.shape[:-3] != leading for each in of_all):
        of_all = [np.broadcast_to(each, (*leading, *each.shape[-3:])).copy() for each in of_all]
    d_qq, d_vv, d_qv, d_mass = of_all
    return d_qq, d_vv, d_qv, d_mass


def _linear(system: System) -> bool:
    """Whether all forces are linear in steps and velocities: dampers, springs of coordinates."""
    joints = system.arrays.tree_joints
    return all(
        isinstance(force, JointDamper)
        or (isinstance(force, JointSpring) and joints[force.joint].positions_add)
        for force in system.forces
    )


def _of_forces(
    system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike, on_error: str
) -> tuple[Floats, Floats, Floats]:
    """Return the second derivatives of `generalized_forces`, in the order of the method."""
    system.generalized_forces(q, v, t, on_error=on_error)  # raises by itself
    checked = system.evaluator.arguments.with_leading_axes
    start, speed, times = checked("q", q), checked("v", v), times_of(t, on_error)[..., None]
    leading = common_axes({"q": start.shape[:-1], "v": speed.shape[:-1], "t": times.shape[:-1]})
    states = start, speed, times
    if have_exact_derivatives(system):
        H = _of_first_derivatives(system, states, leading)
    if not have_exact_derivatives(system):  # or not any more
        say_differences(system)
        H = _of_values(system, states, leading)
    ndx = system.ndx
    return H[..., :ndx, :ndx], H[..., ndx:, ndx:], H[..., :ndx, ndx:]


def _of_first_derivatives(
    system: System, states: tuple[Floats, Floats, Floats], leading: tuple[int, ...]
) -> Floats:
    """Return second derivatives (*leading, nv, n, n) by differences of exact first ones.

    By the n entries of x and v in f(retract(q, x), v), in whose chart first derivatives by steps
    from the places on the way are turned by `System.dexp`.
    """
    nv, ndx = system.nv, system.ndx
    start, speed, times = (
        np.broadcast_to(x, (*leading, x.shape[-1])).reshape((-1, x.shape[-1])) for x in states
    )
    H = np.empty((len(times), nv, ndx + nv, ndx + nv))
    for k, unit in enumerate(np.eye(ndx + nv)):

        def first(e: Any, samples: Any, unit: Floats = unit) -> Floats:
            x = e * unit[:ndx]
            there = system.retract(start[samples], x, on_error="nan")
            moving = speed[samples] + e * unit[ndx:]
            d_q, d_v = system.force_derivatives(there, moving, times[samples, 0], on_error="nan")
            turn = system.dexp(x[..., None, :], np.eye(ndx), on_error="nan")
            both = np.concatenate([d_q @ np.swapaxes(turn, -1, -2), d_v], axis=-1)
            return both.reshape((*both.shape[:-2], nv * (ndx + nv)))

        H[..., k] = derivative_of_exact(first, len(times)).reshape(H.shape[:-1])
    H = H.reshape((*leading, *H.shape[1:]))
    return 0.5 * (H + np.swapaxes(H, -1, -2))


def _of_values(
    system: System, states: tuple[Floats, Floats, Floats], leading: tuple[int, ...]
) -> Floats:
    """Return the same by differences of forces, along e_i + e_j, e_i and e_j."""
    start, speed = (x[..., None, :] for x in states[:2])
    times = states[2]
    nv, ndx = system.nv, system.ndx
    units = np.eye(ndx + nv)

    def along(directions: Floats) -> Floats:
        def force(e: Any) -> Floats:
            there = system.retract(start, e * directions[:, :ndx], on_error="nan")
            moving = speed + e * directions[:, ndx:]
            return system.generalized_forces(there, moving, times, on_error="nan")

        return derivative_along(force, (*leading, len(directions)), 2)

    own = along(units)
    H = np.zeros((*leading, nv, ndx + nv, ndx + nv))
    for k in range(ndx + nv):
        H[..., k, k] = own[..., k, :]
        if k + 1 < ndx + nv:
            both = along(units[k] + units[k + 1 :]) - own[..., k + 1 :, :] - own[..., k, None, :]
            H[..., k, k + 1 :] = 0.5 * np.swapaxes(both, -1, -2)
            H[..., k + 1 :, k] = H[..., k, k + 1 :]
    return H
