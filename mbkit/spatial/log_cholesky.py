"""Log-Cholesky parameters of an inertia: any ten numbers are those of a possible body.

The second moments of the mass of a body, integrals of (x, 1) (x, 1)^T, are the matrix

    J = [[Sigma, h], [h^T, m]],   Sigma = tr(Theta) I / 2 - Theta,

which is positive definite for every body whose mass does not lie in a plane, and for no other
inertia. So J = U U^T with an upper triangular

    U = e^a [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]],

and a, d1, d2, d3, s12, s23, s13, t1, t2, t3 are without bounds.

Source: Rucker, Wensing 2022 (Smooth parameterization of rigid-body inertia); Wensing, Kim, Slotine
2018 (Linear matrix inequalities for physically consistent inertial parameter identification).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import InertiaError, ShapeError
from mbkit.lie.arrays import as_floats
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.inertial_parameters import UPPER

#: Where d1, d2, d3, s12, s23, s13, t1, t2, t3 stand in U.
_ROWS = np.array([0, 1, 2, 0, 1, 0, 0, 1, 2])
_COLUMNS = np.array([0, 1, 2, 1, 2, 2, 3, 3, 3])


def from_log_cholesky(theta: ArrayLike) -> FloatArray:
    """Return the inertial parameters of log-Cholesky parameters.

    Parameters
    ----------
    theta : array_like, shape (..., 10)
        a, d1, d2, d3, s12, s23, s13, t1, t2, t3, any numbers.

    Returns
    -------
    ndarray, shape (..., 10)
        As `SpatialInertia.parameters`, of a possible body.

    Raises
    ------
    ShapeError
        If the last axis has not ten entries.

    Examples
    --------
    Whatever the numbers are, some body has this inertia:

    >>> pi = from_log_cholesky([0.5, -1, 0.3, 2, -0.7, 0.1, 1.2, -3, 0.4, 0.9])
    >>> from mbkit.spatial import SpatialInertia
    >>> SpatialInertia.from_parameters(pi).unphysical
    False
    """
    U = _factor(theta)
    return _parameters(U @ np.swapaxes(U, -1, -2))


def log_cholesky(parameters: ArrayLike) -> FloatArray:
    """Return the log-Cholesky parameters of inertial parameters.

    Parameters
    ----------
    parameters : array_like, shape (..., 10)
        As `SpatialInertia.parameters`.

    Returns
    -------
    ndarray, shape (..., 10)
        a, d1, d2, d3, s12, s23, s13, t1, t2, t3: the inverse of `from_log_cholesky`.

    Raises
    ------
    InertiaError
        If the mass is not positive, no body has this inertia, or the mass lies in a plane, on a
        line or in a point: such bodies are at infinity.
    ShapeError
        If the last axis has not ten entries.

    Examples
    --------
    >>> from mbkit.spatial import SpatialInertia
    >>> box = SpatialInertia.box(2.0, size=(0.3, 0.4, 0.5))
    >>> theta = log_cholesky(box.parameters)
    >>> bool(np.allclose(from_log_cholesky(theta), box.parameters))
    True
    """
    pi = _ten(parameters, "parameters")
    m = pi[..., 0]
    if not np.isfinite(pi).all():
        raise InertiaError(
            f"Log-Cholesky parameters need finite inertial parameters, got "
            f"{pi[~np.isfinite(pi)][0]!r}; look at what they come from."
        )
    if not (m > 0.0).all():
        raise InertiaError(
            f"Log-Cholesky parameters need a positive mass, got {m[~(m > 0.0)].ravel()[0]!r} [kg]; "
            f"leave bodies without mass out."
        )
    t = pi[..., 1:4] / m[..., None]
    Theta = np.zeros((*m.shape, 3, 3))
    Theta[(..., *UPPER)] = pi[..., 4:]
    Theta = Theta + np.swapaxes(np.triu(Theta, 1), -1, -2)
    half = 0.5 * np.trace(Theta, axis1=-2, axis2=-1)
    Sigma = (half[..., None, None] * np.eye(3) - Theta) / m[..., None, None]
    central = Sigma - t[..., :, None] * t[..., None, :]
    try:
        # U U^T with U upper: the Cholesky factor of the matrix turned by half a turn
        U = np.linalg.cholesky(central[..., ::-1, ::-1])[..., ::-1, ::-1]
    except np.linalg.LinAlgError:
        raise InertiaError(
            f"Log-Cholesky parameters need inertias of mass that fills space, got "
            f"{pi.tolist() if pi.ndim == 1 else f'{m.size} bodies with one that does not'}; give a "
            f"plate, rod or point some thickness."
        ) from None
    found = np.empty(pi.shape)
    found[..., 0] = 0.5 * np.log(m)
    found[..., 1:4] = np.log(np.diagonal(U, axis1=-2, axis2=-1))
    found[..., 4:7] = U[..., _ROWS[3:6], _COLUMNS[3:6]]
    found[..., 7:] = t
    return found


def log_cholesky_jacobian(theta: ArrayLike) -> FloatArray:
    """Return the derivative of `from_log_cholesky`.

    Parameters
    ----------
    theta : array_like, shape (..., 10)
        Log-Cholesky parameters.

    Returns
    -------
    ndarray, shape (..., 10, 10)
        Inertial parameters by log-Cholesky parameters; regular everywhere.

    Raises
    ------
    ShapeError
        If the last axis has not ten entries.

    Examples
    --------
    >>> log_cholesky_jacobian(np.zeros(10))[0, 0]  # of the mass, e^2a, by a
    np.float64(2.0)
    """
    U = _factor(theta)
    dU = np.zeros((*U.shape[:-2], 10, 4, 4))
    dU[..., 0, :, :] = U
    slots = np.arange(9)
    dU[..., 1 + slots, _ROWS, _COLUMNS] = U[..., 3, 3, None]
    dU[..., 1 + slots[:3], slots[:3], slots[:3]] = np.diagonal(U, axis1=-2, axis2=-1)[..., :3]
    half = dU @ np.swapaxes(U, -1, -2)[..., None, :, :]
    return np.swapaxes(_parameters(half + np.swapaxes(half, -1, -2)), -1, -2)


def _factor(theta: ArrayLike) -> FloatArray:
    """Return U (..., 4, 4)."""
    numbers = _ten(theta, "theta")
    U = np.zeros((*numbers.shape[:-1], 4, 4))
    U[..., _ROWS, _COLUMNS] = numbers[..., 1:]
    U[..., _ROWS[:3], _COLUMNS[:3]] = np.exp(numbers[..., 1:4])
    U[..., 3, 3] = 1.0
    found: FloatArray = np.exp(numbers[..., 0])[..., None, None] * U
    return found


def _parameters(J: FloatArray) -> FloatArray:
    """Return the inertial parameters of second moments (..., 4, 4), linear in them."""
    Sigma = J[..., :3, :3]
    Theta = np.trace(Sigma, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - Sigma
    return np.concatenate([J[..., 3, 3, None], J[..., :3, 3], Theta[(..., *UPPER)]], axis=-1)


def _ten(numbers: ArrayLike, name: str) -> FloatArray:
    array: FloatArray = as_floats(numbers, f"Argument '{name}'")
    if array.shape[-1:] != (10,):
        raise ShapeError(f"Argument '{name}' must have shape (..., 10), got {array.shape}.")
    return array
