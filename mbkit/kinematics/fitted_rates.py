"""Rates of the joints that fit measured twists best, with weights and gaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NotFiniteError, UsageError, check_kind
from mbkit.kinematics.allowed_rates import AllowedRates
from mbkit.kinematics.measured import bias_accelerations, chosen
from mbkit.kinematics.singular_directions import checked_rank_tolerance
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems.calls.arguments import time_of
from mbkit.systems.rank import singular_values

if TYPE_CHECKING:
    from mbkit.representations import Representation
    from mbkit.systems import System

__all__ = ["RatesFit", "fit_accelerations", "fit_rates"]

#: A velocity that takes part in an undetermined direction by less than this is determined.
_SHARE = 1e-8


@final
@attrs.frozen(eq=False)
class RatesFit:
    """Rates of the joints that fit what was measured, and how well.

    Attributes
    ----------
    rates : ndarray, shape (nv,)
        ``v`` of `fit_rates`, ``vdot`` of `fit_accelerations`: of all that fit best the smallest.
    residuals : ndarray, shape (bodies + 1, 6)
        Measured less fitted, in the representation of what was measured; NaN where nothing was.
    misfit : float
        The sum of squares that was minimised, weights included.
    rank : int
        Number of independent combinations of rates that the measurements determine, together with
        the constraints and prescribed motions.
    undetermined : tuple of str
        Names of the velocities that they do not determine; empty where `rank` is nv.
    """

    rates: FloatArray
    residuals: FloatArray
    misfit: float
    rank: int
    undetermined: tuple[str, ...]


def fit_rates(
    system: System,
    q: ArrayLike,
    twists: ArrayLike | Mapping[str, ArrayLike],
    *,
    weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
    frames: Mapping[str, ArrayLike] | None = None,
    representation: Representation | None = None,
    t: float = 0.0,
    tolerance: float = 1e-10,
) -> RatesFit:
    """Return the velocities that fit twists of bodies with the least weighted squares.

    In closed mechanisms these are of the velocities that keep the constraints; where the twist of
    one body determines them all, this is its inverse kinematics.

    Parameters
    ----------
    system : System
        The mechanism.
    q : array_like, shape (nq,)
        Configuration.
    twists : array_like, shape (bodies + 1, 6), or dict of str to array_like (6,)
        Twists of the bodies at their frames, row 0 ignored, or those that were measured by the
        names of the bodies. [rad/s], [m/s]
    weights : array_like or dict, optional
        What a squared error counts: (bodies + 1,), one a body, or (bodies + 1, 6), one a component;
        or by the names of bodies, one or six numbers each, zero for bodies that are not named.
        Zero for what was not measured: these twists may be NaN. All one if left out.
    frames : dict of str to array_like (4, 4), optional
        Poses of frames in the frames of the bodies of these names: their twists are those of the
        frames, as for `System.twist`.
    representation : Representation, optional
        Of the twists, and so of the errors that are weighed; the system's if left out.
    t : float
        Time, for constraints and prescribed joints that depend on it. Prescribed joints have the
        positions and rates of their motion. [s]
    tolerance : float
        Directions of rates whose weighted twists are smaller than this part of the largest are not
        determined.

    Returns
    -------
    RatesFit
        The minimum of the sum over bodies of (V - J v)^T diag(w) (V - J v), and what it leaves
        open.

    Raises
    ------
    ShapeError, NotFiniteError, GeometryError
        If an array does not fit, or has entries that are not finite where the weight is not zero;
        if a frame is no pose.
    UsageError
        If a weight is negative, or all are zero.
    NameUnknownError
        If there is no body of a name.
    ConstraintError
        If no rates satisfy the constraints.

    See Also
    --------
    rates_from_twists : Joint by joint, O(bodies), without weights.

    Notes
    -----
    By singular value decomposition of the weighted Jacobian of all bodies, with constraints along
    the null space of these: O(bodies nv^2 + constraints nv^2).

    Examples
    --------
    Two joints in line, of which the measured body sees the sum alone:

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("two in line")
    >>> disk = mb.SpatialInertia.cylinder(1.0, radius=0.1, length=0.1)
    >>> first = mech.add_body(mb.Body("first", disk))
    >>> second = mech.add_body(mb.Body("second", disk))
    >>> joint = mech.add_joint(mb.RevoluteJoint("a"), mech.world, first)
    >>> joint = mech.add_joint(mb.RevoluteJoint("b"), first, second)
    >>> fit = fit_rates(mech.assemble(), [0.0, 0.0], {"second": [0, 0, 3.0, 0, 0, 0]})
    >>> fit.rates.round(12), fit.rank, fit.undetermined
    (array([1.5, 1.5]), 1, ('a', 'b'))
    """
    who = "fit_rates"
    form = chosen(system, representation, who)
    V = _rows(system, twists, who, "twists")
    counts = _weights(system, twists, weights, who)
    _require_measured(system, V, counts, who)
    least, time = checked_rank_tolerance(tolerance, who), time_of(t)
    q = system.checked("q", q)
    if system.prescribed_joints:
        q = system.prescribed_state(time, q)[0]
    allowed = AllowedRates.velocities(system, q, time)
    return _fit(system, q, V, counts, allowed, form, _frames(system, frames, who), least)


def fit_accelerations(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    twist_rates: ArrayLike | Mapping[str, ArrayLike],
    *,
    weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
    frames: Mapping[str, ArrayLike] | None = None,
    representation: Representation | None = None,
    t: float = 0.0,
    tolerance: float = 1e-10,
) -> RatesFit:
    """Return the joint accelerations that fit rates of twists with the least squares.

    Parameters
    ----------
    system : System
        The mechanism.
    q, v : array_like, shape (nq,), (nv,)
        Configuration and velocity.
    twist_rates : array_like, shape (bodies + 1, 6), or dict of str to array_like (6,)
        Component-wise rates of the bodies' twists, without gravity's offset. [rad/s^2], [m/s^2]
    weights, frames, representation, t, tolerance
        As in `fit_rates`.

    Returns
    -------
    RatesFit
        With ``vdot`` for rates: the minimum for A - A(q, v, 0) - J vdot.

    Raises
    ------
    ShapeError, NotFiniteError, GeometryError, UsageError, NameUnknownError
        As `fit_rates`.
    ConstraintError
        If no accelerations satisfy the constraints, or `q` and `v` do not.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("slider")
    >>> cart = mech.add_body(mb.Body("cart", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> joint = mech.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), mech.world, cart)
    >>> fit_accelerations(mech.assemble(), [0.0], [1.0], {"cart": [0, 0, 0, 2.0, 0, 0]}).rates
    array([2.])
    """
    who = "fit_accelerations"
    form = chosen(system, representation, who)
    A = _rows(system, twist_rates, who, "twist_rates")
    counts = _weights(system, twist_rates, weights, who)
    _require_measured(system, A, counts, who)
    least, time = checked_rank_tolerance(tolerance, who), time_of(t)
    q, v = system.checked("q", q), system.checked("v", v)
    if system.prescribed_joints:
        q, v = system.prescribed_state(time, q, v)[:2]
    places = _frames(system, frames, who)
    more = A - bias_accelerations(system, q, v, form)
    for name, frame in places.items():
        zero, row = np.zeros(system.nv), system.body_index(name)
        bias = system.acceleration(name, q, v, zero, frame=frame, representation=form)
        more[row] = A[row] - bias
    allowed = AllowedRates.accelerations(system, q, v, time)
    return _fit(system, q, more, counts, allowed, form, places, least)


def _frames(system: System, frames: Any, who: str) -> Mapping[str, Any]:
    """Return frames by the names of bodies that there are."""
    if frames is None:
        return {}
    check_kind(f"{who}: frames", frames, Mapping, "poses by the names of bodies")
    for name in frames:
        system.body_index(name)
    return dict(frames)


def _fit(
    system: System,
    q: FloatArray,
    V: FloatArray,
    weights: FloatArray,
    allowed: AllowedRates,
    form: Representation,
    frames: Mapping[str, Any],
    least: float,
) -> RatesFit:
    rows = 1 + np.flatnonzero(~np.isnan(V[1:]).all(axis=1))  # of what was measured
    names = [system.body_names[row] for row in rows]
    J = np.concatenate(
        [system.jacobian(name, q, frame=frames.get(name), representation=form) for name in names]
    )
    root = np.sqrt(weights[rows]).ravel()
    wanted = np.nan_to_num(V[rows].ravel())  # NaN: not measured, and of no weight
    seen = root[:, None] * (J @ allowed.basis)
    # all of Vt, of which the rows beyond the rank are what is not determined
    U, sizes, Vt = singular_values(seen, full_matrices=seen.shape[0] < seen.shape[1])
    rank = int((sizes > least * sizes.max(initial=0.0)).sum())
    along = U[:, :rank].T @ (root * (wanted - J @ allowed.known)) / sizes[:rank]
    rates = allowed.known + allowed.basis @ (Vt[:rank].T @ along)
    open_ways = allowed.basis @ Vt[rank:].T
    fitted = J @ rates
    residuals = np.full_like(V, np.nan)
    residuals[0] = 0.0
    residuals[rows] = V[rows] - fitted.reshape(-1, 6)
    return RatesFit(
        rates=rates,
        residuals=residuals,
        misfit=float(np.sum((root * (wanted - fitted)) ** 2)),
        rank=system.nv - open_ways.shape[1],
        undetermined=tuple(
            name
            for name, share in zip(
                system.velocity_names, np.linalg.norm(open_ways, axis=1), strict=True
            )
            if share > _SHARE
        ),
    )


def _rows(system: System, values: Any, who: str, what: str) -> FloatArray:
    """Return (bodies + 1, 6) with NaN for bodies that are not named."""
    shape = (len(system.body_names), 6)
    rows = np.full(shape, np.nan)
    if isinstance(values, Mapping):
        for name, value in values.items():
            row = np.array(frozen_array(value))
            check_array(_finite(row), (6,), f"{who}: {what} of body '{name}'")
            rows[system.body_index(name)] = row
        rows[0] = 0.0
        return rows
    given = frozen_array(values)
    check_array(_finite(given), shape, f"{who}: {what}")
    rows[:] = given
    rows[0] = 0.0
    return rows


def _weights(system: System, values: Any, weights: Any, who: str) -> FloatArray:
    """Return the weight of each component, (bodies + 1, 6), zero for the world."""
    shape = (len(system.body_names), 6)
    counts = np.zeros(shape)
    measured = [*values] if isinstance(values, Mapping) else [*system.body_names]
    if weights is None:
        counts[[system.body_index(name) for name in measured]] = 1.0
    elif isinstance(weights, Mapping):
        for name, weight in weights.items():
            array = frozen_array(weight)
            check_array(array, (6,) if array.ndim else (), f"{who}: weights of body '{name}'")
            counts[system.body_index(name)] = array
    else:
        array = frozen_array(weights)
        check_array(array, shape if array.ndim == 2 else shape[:1], f"{who}: weights")
        counts[:] = array if array.ndim == 2 else array[:, None]
    if not (counts >= 0.0).all():
        body, component = (int(k) for k in np.argwhere(~(counts >= 0.0))[0])
        raise UsageError(
            f"{who}: weights must not be negative, got {counts[body, component]} for component "
            f"{component} of body '{system.body_names[body]}'; give zero for what does not count."
        )
    counts[0] = 0.0
    return counts


def _finite(array: FloatArray) -> FloatArray:
    """Return the array with NaN replaced: what was not measured is looked at with the weights."""
    return np.where(np.isnan(array), 0.0, array) if array.dtype.kind == "f" else array


def _require_measured(system: System, V: FloatArray, weights: FloatArray, who: str) -> None:
    if not weights.any():
        raise UsageError(
            f"{who}: nothing was measured: all weights are zero; name a body, or give it a weight."
        )
    gaps = np.argwhere((weights > 0.0) & ~np.isfinite(V))
    if len(gaps):
        body, component = (int(k) for k in gaps[0])
        raise NotFiniteError(
            f"{who}: component {component} of body '{system.body_names[body]}' is "
            f"{V[body, component]} and has the weight {weights[body, component]:g}; give a number, "
            f"or the weight zero for what was not measured."
        )
