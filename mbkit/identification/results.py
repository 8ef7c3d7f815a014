"""Results of identifications, and the statistics of least squares that they share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Self, final

import attrs
import numpy as np

from mbkit.errors import ConvergenceError, InertiaError, ModelError, UsageError, listed
from mbkit.spatial.arrays import FloatArray, frozen_array
from mbkit.systems import BaseParameters, System

#: Combinations that are shown.
_SHOWN = 12

#: Of the estimate of noise: how often it is repeated, until it changes by less than this part; the
#: least in parts of the largest; and the least remainder of the rows of a group.
_REPETITIONS = 20
_SETTLED = 1e-3
_LEAST_NOISE = 1e-6
_LEAST_LEFT = 0.5

#: At most, of an iteration that is not linear.
_ITERATIONS = 2000
_ATTEMPTED = 200


@final
@attrs.frozen(eq=False, slots=False, repr=False)
class Identification:
    """Parameters from measurements, their standard errors, and which are not identifiable.

    Attributes
    ----------
    parameter_names : tuple of str
        The parameters to be identified.
    parameters : ndarray, shape (p,)
        Their values. Where the measurements identify combinations alone, they satisfy these:
        `identify` changes the values of the system least, or so that bodies stay possible;
        `calibrate` changes only the parameters by which combinations are named.
    standard_errors : ndarray, shape (p,)
        Of parameters that the measurements identify singly; NaN for all others.
    base : BaseParameters
        The combinations that the measurements identify, by the rank of their regressor, with names;
        ``base.combinations @ parameters`` are their values.
    base_values, base_standard_errors : ndarray, shape (k,)
        Values of the combinations, and their standard errors.
    covariance : ndarray, shape (k, k)
        Of the combinations.
    residuals : ndarray, or dict of str to ndarray
        Measured less fitted: efforts (samples, nv); or by body (samples, 6), rotation vectors and
        positions, or (samples, 3). [N m], [N]; [rad], [m]
    noise : ndarray
        Standard deviations by which the residuals were weighted, given or estimated, of the shape
        of one sample. [N m], [N]; [rad], [m]
    condition : float
        Condition number of the weighted regressor of the combinations, its columns of length one:
        from some hundreds on, the measurements hardly separate some of the combinations.
    """

    parameter_names: tuple[str, ...]
    parameters: FloatArray = attrs.field(converter=frozen_array)
    standard_errors: FloatArray = attrs.field(converter=frozen_array)
    base: BaseParameters
    base_values: FloatArray = attrs.field(converter=frozen_array)
    base_standard_errors: FloatArray = attrs.field(converter=frozen_array)
    covariance: FloatArray = attrs.field(converter=frozen_array)
    residuals: Any
    noise: Any
    condition: float
    _start: System
    _changed: Callable[[], Mapping[str, Any]]

    @property
    def undetermined(self) -> tuple[str, ...]:
        """The parameters that the measurements do not identify singly, or not at all."""
        told = set(self.base.single().tolist())
        return tuple(name for k, name in enumerate(self.parameter_names) if k not in told)

    @functools.cached_property
    def system(self) -> System:
        """The system with the parameters found.

        Raises
        ------
        InertiaError
            If no body has an inertia that was found: `identify` with ``consistent=True`` finds one.
        """
        try:
            return self._start.with_parameters(self._changed())
        except ModelError as error:
            raise InertiaError(
                f"System '{self._start.name}' cannot have the parameters found: {error} Identify "
                f"with consistent=True, give fewer parameters, or measure a motion that tells more."
            ) from error

    def __repr__(self) -> str:
        names = self.base.names
        width = max(map(len, names[:_SHOWN]), default=0)
        rows = zip(names, self.base_values, self.base_standard_errors, strict=True)
        lines = [f"  {name:{width}}  {value:.6g} +- {error:.2g}" for name, value, error in rows]
        if len(lines) > _SHOWN:
            lines[_SHOWN:] = [f"  and {len(lines) - _SHOWN} more"]
        count, left = len(self.parameter_names), len(self.undetermined)
        first = (
            f"<Identification of '{self._start.name}': {len(names)} combinations of {count} "
            f"parameters, {left} not told by themselves, condition {self.condition:.3g}"
        )
        return "\n".join([first, *lines, self._fit]) + ">"

    @property
    def _fit(self) -> str:
        """The noise and the residuals of the fit, as a line."""
        if isinstance(self.residuals, Mapping):  # rotations, if any, and positions
            rows = [each.reshape(len(each), -1, 3) for each in self.residuals.values()]
            wide = any(each.shape[1] == 2 for each in rows)
            labels = ("rotations [rad]", "positions [m]")[not wide :]
            parts = {
                label: np.concatenate([each[:, k] for each in rows if each.shape[1] >= -k])
                for k, label in zip(range(-len(labels), 0), labels, strict=True)
            }
            noise = np.asarray(self.noise)[-len(labels) :]
        else:
            names = self._start.velocity_names
            parts = dict(zip(names, self.residuals.T, strict=True))
            noise = root_mean_square(np.atleast_2d(self.noise))
        rows_of = zip(parts, noise, parts.values(), strict=True)
        texts = [
            f"{name} {s:.2g} ({root_mean_square(left.ravel()):.2g})" for name, s, left in rows_of
        ]
        return f"  noise (and residuals, root mean square): {listed(texts, str)}"


def root_mean_square(values: Any) -> Any:
    """Return it over the first axis."""
    return np.sqrt(np.mean(np.square(values), axis=0))


@final
@attrs.frozen(eq=False)
class Linear:
    """A weighted linear problem W x = y, in the combinations that its columns identify.

    Attributes
    ----------
    base : BaseParameters
        The combinations that they identify.
    values, covariance : ndarray
        Of the combinations.
    leverages : ndarray, shape (rows,)
        How much of its own noise each fitted row has taken up; their sum is the number of values.
    condition : float
        Condition number.
    """

    base: BaseParameters
    values: FloatArray
    covariance: FloatArray
    leverages: FloatArray
    condition: float

    @classmethod
    def of(cls, W: FloatArray, y: FloatArray, base: BaseParameters, who: str) -> Self:
        """Return the least squares of W (rows, p), y (rows,), both weighted by the noise."""
        from scipy.linalg import qr, solve_triangular

        count = len(base.independent)
        if not count:
            raise UsageError(
                f"{who}: the measurements tell nothing about the parameters; measure a motion that "
                f"depends on them, or give others."
            )
        if len(W) <= count:
            raise UsageError(
                f"{who}: {len(W)} measured numbers are too few for {count} combinations of "
                f"parameters and their errors; give more samples."
            )
        A = W[:, base.independent]
        sizes = np.linalg.norm(A, axis=0)
        Q, R = qr(A / sizes, mode="economic", check_finite=False)
        inverse = solve_triangular(R, np.eye(count))
        values = inverse @ (Q.T @ y) / sizes
        covariance = inverse @ inverse.T / np.outer(sizes, sizes)
        return cls(base, values, covariance, (Q**2).sum(axis=1), float(np.linalg.cond(R)))

    def errors(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return standard errors of the combinations, and of the parameters, NaN if not alone."""
        of_base = np.sqrt(np.diagonal(self.covariance))
        found = np.full(count, np.nan)
        place = {int(k): n for n, k in enumerate(self.base.independent)}
        for k in self.base.single().tolist():
            found[k] = of_base[place[k]]
        return of_base, found


def completed(
    base: BaseParameters, values: FloatArray, start: FloatArray, scale: FloatArray
) -> FloatArray:
    """Return the parameters nearest to `start`, in parts of `scale`, with values of combinations.

    Parameters that are combinations by themselves have these values to the last digit.
    """
    P = base.combinations * scale
    left = values - base.combinations @ start
    found: FloatArray = start + scale * np.linalg.lstsq(P, left, rcond=None)[0]
    return found


def estimated_noise(
    fit: Callable[[FloatArray], tuple[FloatArray, Linear, FloatArray]],
    groups: Any,
    rounding: float,
) -> FloatArray:
    """Return the standard deviation of each group of rows, at least that of rounding.

    ``fit(noise of rows)`` gives parameters, linear problem and residuals. The noise is that of
    the residuals of its own fit, s^2 = sum r^2 / (rows - leverages) in each group (restricted
    maximum likelihood), found by repetition; at least a millionth of the largest: a group without
    noise would be all that counts.
    """
    count = int(groups.max()) + 1
    noise = np.ones(count)
    for _ in range(_REPETITIONS):
        _, linear, residuals = fit(noise[groups])
        left = np.bincount(groups, 1.0 - linear.leverages, count)
        squares = np.bincount(groups, residuals**2, count)
        found = np.sqrt(squares / np.maximum(left, _LEAST_LEFT))
        found = np.maximum(found, max(_LEAST_NOISE * float(found.max()), rounding))
        change = np.abs(found / noise - 1.0).max()
        noise = found
        if change < _SETTLED:
            break
    return noise


def minimised(
    residual: Callable[..., Any],
    slopes: Callable[..., Any],
    start: FloatArray,
    who: str,
    *,
    tolerance: float = 1e-13,
    attempt: bool = False,
    **options: Any,
) -> FloatArray:
    """Return where the sum of squares is least, by scipy's trust regions.

    The tolerance is of parts that sum and parameters change by; ConvergenceError where they do not
    settle. An `attempt` ends earlier, wherever it is.
    """
    from scipy.optimize import least_squares

    done = least_squares(
        residual, start, slopes, method="trf", max_nfev=_ATTEMPTED if attempt else _ITERATIONS,
        ftol=tolerance, xtol=tolerance, gtol=tolerance, **options,
    )  # fmt: skip
    if done.status == 0 and not attempt:
        raise ConvergenceError(
            f"{who}: the sum of squares still falls after {_ITERATIONS} iterations, to "
            f"{2.0 * done.cost:.3g}; start from a system nearer to what was measured, or give "
            f"fewer parameters."
        )
    found: FloatArray = done.x
    return found
