"""Motion of the bodies of a system to any order: jerks and beyond, rates of Jacobians."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError, UsageError
from mbkit.given_values import is_whole
from mbkit.joints.defaults.series import subspace_series
from mbkit.memory import check_memory
from mbkit.representations import BodyFixed, Representation, Spatial
from mbkit.representations.arguments import check_broadcast
from mbkit.systems.body_motion import checked_form, placed_on
from mbkit.systems.calls.arguments import Floats, check_on_error, common_axes, times_of
from mbkit.systems.calls.evaluations import (
    BODY_DERIVATIVES,
    INVERSE_DYNAMICS_RATE,
    JACOBIAN_RATE,
    JERKS,
    MOTION_SUBSPACE_RATES,
    Evaluation,
)
from mbkit.systems.forces import force_rate
from mbkit.systems.jacobians.frame_rates import along_map, rates_at_frame

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "body_derivatives",
    "inverse_dynamics_rate",
    "inverse_dynamics_second_rate",
    "jacobian_derivatives",
    "jacobian_rate",
    "jacobian_series",
    "jerks",
    "motion_subspace_rates",
]

#: Of partial derivatives of Jacobians: their number of terms grows with 2^order, and their weights
#: alternate in sign, so that digits are lost beyond.
HIGHEST_ORDER = 12

_BODY = BodyFixed()


def jerks(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    vddot: ArrayLike,
    *,
    representation: Representation | None = None,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.jerks`."""
    rates = v, vdot, vddot
    form = checked_form(system, representation)
    code = form.kernel_number
    if code is None:
        found = _converted(system, form, q, _stacked(system, rates), on_error)[-1]
        return system.evaluator.arguments.written("twists", found, out)
    if representation is None and _are_vectors(system, rates):
        return system._jerks(q, None, np.concatenate(rates), out, on_error)
    plan = system.arrays.joint_pieces.plan(code, 3)
    return _compute(system, JERKS, q, _stacked(system, rates), 3, plan, out=out, on_error=on_error)


def bind_jerks(system: System) -> Callable[..., Floats]:
    """Return ``call(q, None, series, out, on_error)`` for one sample, which costs least.

    Of systems in a representation that kernels know.
    """
    code: Any = system.representation.kernel_number
    plan = system.arrays.joint_pieces.plan(code, 3)
    return system.evaluator.of_series(3, 3 * system.nv).bind(JERKS, plan)


def _are_vectors(system: System, rates: tuple[Any, ...]) -> bool:
    """Return whether rates are arrays of one sample, of joints of which kernels know all."""
    evaluator = system.evaluator
    shape = evaluator.zero.shape
    for each in rates:
        if each.__class__ is not np.ndarray or each.shape != shape:
            return False
    return not evaluator.arrays.joint_pieces.given


def body_derivatives(
    system: System,
    q: ArrayLike,
    rates: ArrayLike,
    *,
    representation: Representation | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.body_derivatives`."""
    rows = _rates(system, rates)
    form = checked_form(system, representation)
    code = form.kernel_number
    if code is None:
        return np.stack(_converted(system, form, q, rows, on_error), axis=-3)
    count = rows.shape[-2]
    plan = system.arrays.joint_pieces.plan(code, count)
    return _compute(system, BODY_DERIVATIVES, q, rows, count, plan, on_error=on_error)


def jacobian_rate(
    system: System,
    body: str,
    q: ArrayLike,
    v: ArrayLike,
    *higher: ArrayLike,
    frame: ArrayLike | str | None = None,
    representation: Representation | None = None,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.jacobian_rate`."""
    rows = _stacked(system, (v, *higher))
    place = placed_on(system, body, frame)
    return _jacobian_rate(system, place, q, rows, representation, out=out, on_error=on_error)


def motion_subspace_rates(
    system: System, q: ArrayLike, v: ArrayLike, *higher: ArrayLike, on_error: str = "raise"
) -> Floats:
    """See `System.motion_subspace_rates`."""
    rows = _stacked(system, (v, *higher))
    count = rows.shape[-2] + 1
    plan = system.arrays.joint_pieces.plan(0, count, system.tree.address)
    return _compute(system, MOTION_SUBSPACE_RATES, q, rows, count, plan, on_error=on_error)


def inverse_dynamics_rate(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    vddot: ArrayLike,
    *,
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> Floats:
    """See `System.inverse_dynamics_rate`."""
    return _efforts_rate(system, q, (v, vdot, vddot), t, on_error)


def inverse_dynamics_second_rate(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    vddot: ArrayLike,
    vdddot: ArrayLike,
    *,
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> Floats:
    """See `System.inverse_dynamics_second_rate`."""
    return _efforts_rate(system, q, (v, vdot, vddot, vdddot), t, on_error)


def _efforts_rate(
    system: System, q: ArrayLike, rates: tuple[ArrayLike, ...], t: ArrayLike, on_error: str
) -> Floats:
    """Return the rate of efforts for which v, vdot, ... are given, first or second."""
    if system.arrays.closure:
        raise UsageError(
            f"System '{system.name}' has loops: rates of inverse dynamics are of trees, and the "
            f"rates of constraint forces are not in them. Differentiate "
            f"System.closed_inverse_dynamics along System.closed_motion."
        )
    count = len(rates)
    time: Any = t
    plan = system.arrays.joint_pieces.plan(0, count)
    alone = not system.forces and time.__class__ is float and time == 0.0
    if alone and _are_vectors(system, rates):
        own = system.evaluator.of_series(count, count * system.nv)
        series = np.concatenate(rates)
        return own.compute(INVERSE_DYNAMICS_RATE, q, None, series, option=plan, on_error=on_error)
    rows = _stacked(system, rates)
    found = _compute(system, INVERSE_DYNAMICS_RATE, q, rows, count, plan, on_error=on_error)
    if system.forces:
        return found - force_rate(system, q, rows, t, count - 2, on_error)
    leading = common_axes({"efforts": found.shape[:-1], "t": times_of(t, on_error).shape})
    return np.broadcast_to(found, (*leading, system.nv)).copy()


def _stacked(system: System, rates: tuple[ArrayLike, ...]) -> Any:
    """Return v, vdot, ... as rows (..., k, nv)."""
    checked = system.evaluator.arguments.with_leading_axes
    names = "v", "vdot", "vddot", "vdddot"
    arrays = [checked(names[min(n, 3)], each) for n, each in enumerate(rates)]
    leading = common_axes({f"rate {n}": each.shape[:-1] for n, each in enumerate(arrays)})
    return np.stack([np.broadcast_to(each, (*leading, system.nv)) for each in arrays], axis=-2)


def jacobian_derivatives(
    system: System,
    body: str,
    q: ArrayLike,
    order: int = 1,
    *,
    frame: ArrayLike | str | None = None,
    representation: Representation | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.jacobian_derivatives`.

    By polarisation: with D_x the derivative along a constant velocity x, and k of r indices,

        D_k1 ... D_kr = 1/r! sum over parts P of the indices of (-1)^(r - |P|) (D_(sum of P))^r,

    where the powers on the right are r-th rates along one motion each.
    """
    if not (is_whole(order) and 0 < order <= HIGHEST_ORDER):
        raise UsageError(
            f"System '{system.name}': order must be a whole number from 1 to {HIGHEST_ORDER}, "
            f"got {order!r}."
        )
    nv = system.nv
    positions = system.evaluator.arguments.with_leading_axes("q", q)
    check_memory(
        float(np.prod(positions.shape[:-1])) * 6.0 * float(nv) ** (order + 1),
        f"Derivatives of order {order} of a Jacobian", "ask for a lower order",
    )  # fmt: skip
    parts: dict[tuple[int, ...], list[tuple[int, float]]] = {}
    directions: dict[tuple[int, ...], int] = {}
    for indices in itertools.combinations_with_replacement(range(nv), order):
        weights: dict[tuple[int, ...], float] = {}
        for size in range(1, order + 1):
            for part in itertools.combinations(indices, size):
                weights[part] = weights.get(part, 0.0) + (-1.0) ** (order - size)
        parts[indices] = [
            (directions.setdefault(part, len(directions)), weight / math.factorial(order))
            for part, weight in weights.items()
        ]
    rates = np.zeros((len(directions), order, nv))
    for part, row in directions.items():
        np.add.at(rates[row, 0], list(part), 1.0)
    row, S = placed_on(system, body, frame)
    place = row, None if S is None else S[..., None, :, :]
    found = _jacobian_rate(
        system, place, positions[..., None, :], rates, representation, on_error=on_error
    )
    H = np.zeros((*positions.shape[:-1], *[nv] * order, 6, nv))
    for indices, terms in parts.items():
        total = sum(weight * found[..., row, :, :] for row, weight in terms)
        for each in set(itertools.permutations(indices)):
            entries: Any = (..., *each, slice(None), slice(None))
            H[entries] = total
    return H


def jacobian_series(
    system: System,
    place: tuple[int, Floats | None],
    q: ArrayLike,
    rates: Any,
    representation: Representation | None,
    on_error: str = "raise",
) -> list[Floats]:
    """Return J and its derivatives by time for rates (..., k, nv), v first, at a `place` on a body.

    That is the row of a body, and the pose of a frame on it as `placed_on` returns them.
    """
    row, S = place
    form = checked_form(system, representation)
    if form.kernel_number is None and S is None:
        S = np.eye(4)
    own = form if S is None or isinstance(form, Spatial) else _BODY
    name = system.body_names[row]
    series = [system.jacobian(name, q, representation=own, on_error=on_error)]
    for count in range(1, rates.shape[-2] + 1):
        part = rates[..., :count, :]
        series.append(_jacobian_rate(system, (row, None), q, part, own, on_error=on_error))
    if S is None:
        return series
    C = system.poses(q, on_error=on_error)[..., row, :, :]
    check_broadcast("frame and q", (S, 2), (C, 2))
    return rates_at_frame(series, rates, C, S, form)


def _jacobian_rate(
    system: System,
    place: tuple[int, Floats | None],
    q: ArrayLike,
    rates: Any,
    representation: Representation | None,
    *,
    on_error: str,
    out: Any = None,
) -> Floats:
    """Return the k-th rate for rates (..., k, nv) at a place as for `jacobian_series`."""
    index, S = place
    code = checked_form(system, representation).kernel_number
    if S is not None or code is None:
        found = jacobian_series(system, place, q, rates, representation, on_error)[-1]
        return system.evaluator.arguments.written("jacobian", found, out)
    count = rates.shape[-2] + 1
    plan = system.arrays.joint_pieces.plan(code, count, index)
    return _compute(system, JACOBIAN_RATE, q, rates, count, plan, out=out, on_error=on_error)


def _converted(
    system: System, form: Representation, q: ArrayLike, rates: Any, on_error: str
) -> list[Floats]:
    """Return the twists of all bodies and their derivatives, (..., bodies + 1, 6) each.

    From body-fixed ones, by the map of the representation and its derivatives.
    """
    every = body_derivatives(system, q, rates, representation=_BODY, on_error=on_error)
    rows = np.swapaxes(every, -3, -2)  # of each body
    maps = form.twist_map_rates(system.poses(q, on_error=on_error), rows[..., :-1, :])
    twists = [every[..., n, :, :, None] for n in range(every.shape[-3])]
    return [each[..., 0] for each in along_map(maps, twists)]


def _rates(system: System, rates: ArrayLike) -> Any:
    """Return v and its derivatives as an array (..., k, nv)."""
    try:
        array = np.asarray(rates)
        fits = array.dtype.kind in "fiub" and array.ndim >= 2 and array.shape[-1] == system.nv
    except Exception:  # rows of several lengths; whatever its own __array__ raises
        array, fits = np.zeros(0), False
    if not (fits and array.shape[-2] > 0):
        raise ShapeError(
            f"System '{system.name}': rates must have shape (..., k, {system.nv}), v, vdot and so "
            f"on as rows; got {array.shape} of {array.dtype}. Stack them by "
            f"numpy.stack([v, vdot], axis=-2)."
        )
    return array.astype(np.float64)


def _compute(
    system: System,
    what: Evaluation,
    q: ArrayLike,
    rates: Any,
    count: int,
    plan: int,
    *,
    on_error: str,
    out: Any = None,
) -> Floats:
    """Call a kernel for rates (..., k, nv), with the numbers of joints in Python behind them."""
    check_on_error(on_error)
    pieces = system.arrays.joint_pieces
    positions = system.evaluator.arguments.with_leading_axes("q", q)
    leading = rates.shape[:-2]
    width = rates.shape[-2] * system.nv
    series = rates.reshape((*leading, width))
    error: Exception | None = None
    if pieces.given:
        leading = common_axes({"q": positions.shape[:-1], "rates": leading})
        positions = np.broadcast_to(positions, (*leading, system.nq))
        rates = np.broadcast_to(rates, (*leading, *rates.shape[-2:]))
        given = np.full((*leading, pieces.num_given(count)), np.nan)
        for index in np.ndindex(leading):
            try:
                given[index] = _given(pieces.given, positions[index], rates[index], count)
            except Exception as raised:  # the kernel calls the joint too, and names the sample
                error = error or raised
        series = np.concatenate([rates.reshape((*leading, width)), given], axis=-1)
    evaluator = system.evaluator.of_series(count, series.shape[-1])
    found = evaluator.compute(
        what, positions, None, series, option=plan, out=out, on_error=on_error
    )
    if error is not None and on_error == "raise":
        raise error
    return found


def _given(given: Any, q: Any, rates: Any, count: int) -> Any:
    """Return pose and series of the motion subspace of each joint in Python, one behind another."""
    parts = []
    for joint, positions, velocities in given:
        T, S = subspace_series(joint, q[positions], rates[:, velocities], count)
        parts += [T[:3, :3].ravel(), T[:3, 3], np.moveaxis(S, 2, 0).ravel()]
    return np.concatenate(parts)
