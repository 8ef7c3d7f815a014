"""Rates of the joints that fit measured twists best, with weights and gaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.kinematics.allowed_rates import AllowedRates
from mbkit.kinematics.measured import (
    bias_accelerations,
    bias_jerks,
    checked_weights,
    chosen,
    on_bodies,
    require_measured,
    rows_by_name,
)
from mbkit.kinematics.singular_directions import checked_rank_tolerance
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.arguments import time_of
from mbkit.systems.rank import singular_values

if TYPE_CHECKING:
    from mbkit.representations import Representation
    from mbkit.systems import System

#: A velocity that takes part in an undetermined direction by less than this is determined.
_SHARE = 1e-8


@final
@attrs.frozen(eq=False)
class RatesFit:
    """Rates of the joints that fit measured ones, and the quality of the fit.

    Attributes
    ----------
    rates : ndarray, shape (nv,)
        ``v`` of `fit_rates`, ``vdot`` of `fit_accelerations`, ``vddot`` of `fit_jerks`: of all that
        fit best the smallest.
    residuals : ndarray, shape (bodies + 1, 6)
        Measured less fitted, in the representation of the measurements; NaN where nothing was.
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
        Weights of squared errors: (bodies + 1,), one a body, or (bodies + 1, 6), one a component;
        or by the names of bodies, one or six numbers each, zero for bodies that are not named.
        Zero for twists that were not measured, which may be NaN. All one if left out.
    frames : dict of str to array_like (4, 4), optional
        Poses of frames in the frames of the bodies of these names: their twists are those of the
        frames, as for `System.twist`. Frames of `Body.frames` may be named in place of bodies.
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
        The minimum of the sum over bodies of (V - J v)^T diag(w) (V - J v), and motions it leaves
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
    task = FitTask.of(
        system, {"twists": twists}, weights, frames, representation,
        t=t, tolerance=tolerance, who=who,
    )  # fmt: skip
    q = system.checked("q", q)
    if system.prescribed_joints:
        q = system.prescribed_state(task.t, q)[0]
    return task.fit(q, 0.0, AllowedRates.velocities(system, q, task.t))


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
    given = {"twist_rates": twist_rates}
    task = FitTask.of(
        system, given, weights, frames, representation, t=t, tolerance=tolerance, who=who
    )
    q, v = system.checked("q", q), system.checked("v", v)
    if system.prescribed_joints:
        q, v = system.prescribed_state(task.t, q, v)[:2]
    bias = bias_accelerations(system, q, v, task.form, task.frames)
    return task.fit(q, bias, AllowedRates.accelerations(system, q, v, task.t))


def fit_jerks(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    jerks: ArrayLike | Mapping[str, ArrayLike],
    *,
    weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
    frames: Mapping[str, ArrayLike] | None = None,
    representation: Representation | None = None,
    t: float = 0.0,
    tolerance: float = 1e-10,
) -> RatesFit:
    """Return the rates of joint accelerations that fit jerks of bodies with the least squares.

    Parameters
    ----------
    system : System
        The mechanism.
    q, v, vdot : array_like, shape (nq,), (nv,), (nv,)
        Configuration, velocity, acceleration.
    jerks : array_like, shape (bodies + 1, 6), or dict of str to array_like (6,)
        Second component-wise rates of the bodies' twists. [rad/s^3], [m/s^3]
    weights, frames, representation, t, tolerance
        As in `fit_rates`.

    Returns
    -------
    RatesFit
        With ``vddot`` for rates. Exact but for rounding; where constraints are not compiled for
        dual numbers (`System.dependent_jerk`), to about 1e-10, by differences.

    Raises
    ------
    ShapeError, NotFiniteError, GeometryError, UsageError, NameUnknownError
        As `fit_rates`.
    ConstraintError
        If no rates satisfy the constraints, or `q`, `v` and `vdot` do not.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("slider")
    >>> cart = mech.add_body(mb.Body("cart", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> joint = mech.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), mech.world, cart)
    >>> fit_jerks(mech.assemble(), [0.0], [1.0], [3.0], {"cart": [0, 0, 0, 2.0, 0, 0]}).rates
    array([2.])
    """
    task = FitTask.of(
        system, {"jerks": jerks}, weights, frames, representation,
        t=t, tolerance=tolerance, who="fit_jerks",
    )  # fmt: skip
    q, v = system.checked("q", q), system.checked("v", v)
    vdot = system.checked("vdot", vdot)
    if system.prescribed_joints:
        q, v, prescribed = system.prescribed_state(task.t, q, v)
        for name in system.prescribed_joints:
            own = system.velocity_slice(name)
            vdot[own] = prescribed[own]
    bias = bias_jerks(system, q, v, vdot, task.form, task.frames)
    return task.fit(q, bias, AllowedRates.jerks(system, q, v, vdot, task.t))


@final
@attrs.frozen(eq=False)
class FitTask:
    """The rates to be fitted: checked arguments of the functions of this package."""

    system: System
    values: FloatArray
    weights: FloatArray
    frames: Mapping[str, Any]
    form: Representation
    t: float
    least: float

    @classmethod
    def of(
        cls,
        system: System,
        given: dict[str, Any],
        weights: Any,
        frames: Any,
        representation: Representation | None,
        *,
        t: float,
        tolerance: float,
        who: str,
    ) -> Self:
        """Return the task; messages of errors begin with `who`."""
        form = chosen(system, representation, who)
        ((what, values),) = given.items()
        values, weights, at_frames = on_bodies(system, values, weights, frames, who)
        rows = rows_by_name(system, values, who, what)
        counts = checked_weights(system, values, weights, who)
        require_measured(system, rows, counts, who)
        least = checked_rank_tolerance(tolerance, who)
        return cls(system, rows, counts, at_frames, form, time_of(t), least)

    def fit(self, q: FloatArray, bias: FloatArray | float, allowed: AllowedRates) -> RatesFit:
        """Return the allowed rates x for which J x + bias is nearest to the values."""
        system, V = self.system, self.values - bias
        rows = 1 + np.flatnonzero(~np.isnan(V[1:]).all(axis=1))  # of measured twists
        names = [system.body_names[row] for row in rows]
        J = np.concatenate(
            [
                system.jacobian(name, q, frame=self.frames.get(name), representation=self.form)
                for name in names
            ]
        )
        root = np.sqrt(self.weights[rows]).ravel()
        wanted = np.nan_to_num(V[rows].ravel())  # NaN: not measured, and of no weight
        seen = root[:, None] * (J @ allowed.basis)
        # all of Vt, of which the rows beyond the rank are not determined
        U, sizes, Vt = singular_values(seen, full_matrices=seen.shape[0] < seen.shape[1])
        rank = int((sizes > self.least * sizes.max(initial=0.0)).sum())
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
