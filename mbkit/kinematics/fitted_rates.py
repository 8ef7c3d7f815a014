"""Rates of the joints that fit measured twists best, with weights and gaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NotFiniteError, UsageError
from mbkit.kinematics.freedom import check_unconstrained
from mbkit.kinematics.measured import bias_accelerations, chosen
from mbkit.kinematics.singular_directions import checked_rank_tolerance
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems.rank import singular_values
from mbkit.systems.system_jacobian import system_jacobian

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
        Number of independent combinations of rates that the measurements determine.
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
    representation: Representation | None = None,
    tolerance: float = 1e-10,
) -> RatesFit:
    """Return the velocities that fit measured twists with the least weighted squares.

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
    representation : Representation, optional
        Of the twists, and so of the errors that are weighed; the system's if left out.
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
    ShapeError, NotFiniteError
        If an array does not fit, or has entries that are not finite where the weight is not zero.
    UsageError
        If a weight is negative, or all are zero; if the system has constraints.
    NameUnknownError
        If there is no body of a name.

    See Also
    --------
    rates_from_twists : Joint by joint, O(bodies), without weights.

    Notes
    -----
    By singular value decomposition of the weighted Jacobian of all bodies: O(bodies nv^2).

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
    return _fit(system, q, V, _weights(system, twists, weights, who), form, tolerance, who)


def fit_accelerations(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    twist_rates: ArrayLike | Mapping[str, ArrayLike],
    *,
    weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
    representation: Representation | None = None,
    tolerance: float = 1e-10,
) -> RatesFit:
    """Return the joint accelerations that fit measured rates of twists with the least squares.

    Parameters
    ----------
    system : System
        The mechanism.
    q, v : array_like, shape (nq,), (nv,)
        Configuration and velocity.
    twist_rates : array_like, shape (bodies + 1, 6), or dict of str to array_like (6,)
        Component-wise rates of the bodies' twists, without gravity's offset. [rad/s^2], [m/s^2]
    weights, representation, tolerance
        As in `fit_rates`.

    Returns
    -------
    RatesFit
        With ``vdot`` for rates: the minimum for A - A(q, v, 0) - J vdot.

    Raises
    ------
    ShapeError, NotFiniteError, UsageError, NameUnknownError
        As `fit_rates`.

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
    q, v = system.checked("q", q), system.checked("v", v)
    more = A - bias_accelerations(system, q, v, form)
    counts = _weights(system, twist_rates, weights, who)
    return _fit(system, q, more, counts, form, tolerance, who)


def _fit(
    system: System,
    q: ArrayLike,
    V: FloatArray,
    weights: FloatArray,
    form: Representation,
    tolerance: float,
    who: str,
) -> RatesFit:
    weights[0] = 0.0
    least = checked_rank_tolerance(tolerance, who)
    check_unconstrained(system, who)
    _require_measured(system, V, weights, who)
    J = system_jacobian(system, q, form).J.toarray()
    root = np.sqrt(weights[1:]).ravel()
    wanted = np.nan_to_num(V[1:].ravel())  # NaN: not measured, and of no weight
    U, sizes, Vt = singular_values(root[:, None] * J, full_matrices=False)
    rank = int((sizes > least * sizes.max(initial=0.0)).sum())
    along = U[:, :rank].T @ (root * wanted) / sizes[:rank]
    rates = Vt[:rank].T @ along
    shares = np.linalg.norm(Vt[rank:], axis=0)
    errors = wanted - J @ rates
    residuals = np.zeros_like(V)
    residuals[1:] = V[1:] - (J @ rates).reshape(-1, 6)
    return RatesFit(
        rates=rates,
        residuals=residuals,
        misfit=float(np.sum((root * errors) ** 2)),
        rank=rank,
        undetermined=tuple(
            name
            for name, share in zip(system.velocity_names, shares, strict=True)
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
    """Return the weight of each component, (bodies + 1, 6)."""
    shape = (len(system.body_names), 6)
    counts = np.zeros(shape)
    measured = [*values] if isinstance(values, Mapping) else [*system.body_names]
    if weights is None:
        counts[[system.body_index(name) for name in measured]] = 1.0
        return counts
    if isinstance(weights, Mapping):
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
