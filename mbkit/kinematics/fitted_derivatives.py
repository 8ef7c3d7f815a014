"""Motion of the joints to any order from that of bodies: inverse kinematics of higher order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.constraint_series import ConstraintSeries
from mbkit.errors import ShapeError, UsageError, check_kind, listed
from mbkit.kinematics.allowed_rates import AllowedRates
from mbkit.kinematics.fitted_rates import FitTask, RatesFit
from mbkit.spatial.arrays import frozen_array
from mbkit.systems import System
from mbkit.systems.calls.arguments import time_of
from mbkit.systems.higher_orders import jacobian_series

if TYPE_CHECKING:
    from mbkit.representations import Representation


def fit_derivatives(
    system: System,
    q: ArrayLike,
    derivatives: Mapping[str, ArrayLike],
    *,
    weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
    frames: Mapping[str, ArrayLike | str] | None = None,
    representation: Representation | None = None,
    t: float = 0.0,
    tolerance: float = 1e-10,
) -> tuple[RatesFit, ...]:
    """Return v, vdot, vddot, ... that fit twists of bodies and their derivatives, order by order.

    Each order is a fit of least weighted squares like `fit_rates`, `fit_accelerations` and
    `fit_jerks`, with the rates of the orders below as they were fitted.

    Parameters
    ----------
    system : System
        The mechanism, a tree or closed.
    q : array_like, shape (nq,)
        Configuration, with closed loops.
    derivatives : mapping of str to array_like (k, 6)
        By the names of bodies: twists, their component-wise rates, the rates of these, ..., the
        same number k of all bodies; `System.body_derivatives` returns such. [rad/s], [m/s], and so
        on by second.
    weights, frames, representation, t, tolerance
        As in `fit_rates`.

    Returns
    -------
    tuple of RatesFit
        Of each order, k of them.

    Raises
    ------
    ShapeError, NotFiniteError, UsageError, NameUnknownError
        As `fit_rates`; UsageError if a joint is prescribed or a constraint cannot be traced, as in
        `System.dependent_rates`.
    ConstraintError
        If no rates satisfy the constraints.

    Examples
    --------
    An arm of two hinges whose hand moves on a line at constant speed:

    >>> import numpy as np
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("arm")
    >>> ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    >>> upper = mech.add_body(mb.Body("upper", ball))
    >>> place = mb.spatial.translation((1.0, 1.0, 0.0))
    >>> hand = mech.add_body(mb.Body("hand", ball, pose=place))
    >>> z = {"axis": (0, 0, 1)}
    >>> joint = mech.add_joint(mb.RevoluteJoint("shoulder", **z), mech.world, upper)
    >>> joint = mech.add_joint(mb.RevoluteJoint("elbow", point=(1, 0, 0), **z), upper, hand)
    >>> line = np.zeros((4, 6))
    >>> line[0, 3] = 1.0
    >>> only = {"hand": [0, 0, 0, 1, 1, 1]}
    >>> system = mech.assemble()
    >>> fits = mb.fit_derivatives(
    ...     system, [0.0, 0.0], {"hand": line}, weights=only, representation=mb.Hybrid()
    ... )
    >>> rates = np.array([fit.rates for fit in fits])
    >>> rates.round(9) + 0.0
    array([[ 0., -1.],
           [ 1., -1.],
           [ 0., -1.],
           [ 3., -6.]])
    >>> found = system.body_derivatives([0.0, 0.0], rates, representation=mb.Hybrid())
    >>> bool(np.allclose(found[:, 2, 3:], line[:, 3:]))
    True
    """
    who = "fit_derivatives"
    check_kind(f"{who}: system", system, System, "an mbkit.System")
    rows = _rows(derivatives, who)
    tasks = [
        FitTask.of(
            system,
            {"derivatives": row},
            weights,
            frames,
            representation,
            t=t,
            tolerance=tolerance,
            who=who,
        )
        for row in rows
    ]
    if system.prescribed_joints:
        raise UsageError(
            f"{who}: {listed(system.prescribed_joints)} of system '{system.name}' move as they are "
            f"prescribed; fit_rates, fit_accelerations and fit_jerks take these."
        )
    q = system.checked("q", q)
    time, motion = time_of(t), None
    if system.num_velocity_constraints:
        motion = ConstraintSeries(system, who).start(q, time)
    rates = np.zeros((len(tasks), system.nv))
    fits: list[RatesFit] = []
    for order, task in enumerate(tasks):
        bias = system.body_derivatives(q, rates, representation=task.form)[order]
        for name, frame in task.frames.items():
            bias[system.body_index(name)] = _bias_at(task, name, frame, q, rates[: order + 1])
        allowed = AllowedRates.going_on(system, q, time, motion)
        fits.append(task.fit(q, bias, allowed))
        rates[order] = fits[-1].rates
        if motion is not None:
            motion.go_on(rates[order])
    return tuple(fits)


def _bias_at(task: FitTask, body: str, frame: Any, q: Any, rates: Any) -> Any:
    """Return the highest derivative of the twist J v of a frame, by Leibniz' rule."""
    place, order = (task.system.body_index(body), frame), len(rates) - 1
    series = jacobian_series(task.system, place, q, rates[:-1], task.form)
    return sum(math.comb(order, k) * (series[k] @ rates[order - k]) for k in range(order + 1))


def _rows(derivatives: Any, who: str) -> list[dict[str, Any]]:
    """Return the measurements by order, by the names of bodies."""
    words = "twists and their derivatives, (k, 6), by the names of bodies"
    check_kind(f"{who}: derivatives", derivatives, Mapping, words)
    found = {name: frozen_array(value) for name, value in derivatives.items()}
    if not found:
        raise UsageError(f"{who}: derivatives name no body; give {words}.")
    shapes = {array.shape for array in found.values()}
    for name, array in found.items():
        if len(shapes) > 1 or array.ndim != 2:
            raise ShapeError(
                f"{who}: derivatives of bodies must be arrays of the same shape (k, 6); "
                f"got {array.shape} for '{name}'."
            )
    count = shapes.pop()[0]
    return [{name: array[order] for name, array in found.items()} for order in range(count)]
