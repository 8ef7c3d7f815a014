"""Inertial parameters of all bodies, and the combinations of them that the motion depends on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbkit.errors import NotFiniteError, UsageError
from mbkit.memory import check_memory
from mbkit.spatial.arrays import FloatArray, frozen_array
from mbkit.spatial.inertial_parameters import PARAMETER_NAMES, parameters_of
from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "BaseParameters",
    "base_parameters",
    "inertial_parameter_names",
    "inertial_parameters",
]

#: Random states: ten and more for each joint, which bears ten parameters of its body at most.
STATES = 32

#: A column of which less than this part is left by those before it depends on them.
DEPENDENT = 1e-9

#: Columns below this part of the largest are rounding.
NOTHING = 1e-12


@final
@attrs.frozen(eq=False)
class BaseParameters:
    """The least combinations of inertial parameters that fix the equations of motion.

    Inverse dynamics is ``Y[:, independent] @ (combinations @ parameters)`` at every state, Y the
    regressor. No fewer numbers do, and no measurement of the motion and its efforts tells more.

    Attributes
    ----------
    names : tuple of str
        The combinations in words, such as "arm.moment_about_origin[yy] + 0.25 tip.mass".
    independent : ndarray of int, shape (k,)
        The columns of the regressor that are kept.
    combinations : ndarray, shape (k, 10 bodies)
        Row i takes the inertial parameters to combination i, with 1 at ``independent[i]``.
    without_effect : tuple of str
        Parameters on which the motion does not depend at all.
    """

    names: tuple[str, ...]
    independent: NDArray[np.int64] = attrs.field(repr=False)
    combinations: FloatArray = attrs.field(converter=frozen_array, repr=False)
    without_effect: tuple[str, ...]


def inertial_parameters(system: System) -> Floats:
    """See `System.inertial_parameters`."""
    inertias = system.inertias
    rows = parameters_of(inertias.masses, inertias.coms, inertias.moments_about_com)
    return rows[1:].reshape(-1)


def inertial_parameter_names(system: System) -> tuple[str, ...]:
    """See `System.inertial_parameter_names`."""
    return tuple(f"{body}.{name}" for body in system.body_names[1:] for name in PARAMETER_NAMES)


def base_parameters(
    system: System,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    vdot: ArrayLike | None = None,
) -> BaseParameters:
    """See `System.base_parameters`."""
    given = [each is not None for each in (q, v, vdot)]
    if any(given) and not all(given):
        raise UsageError(
            "base_parameters takes all of q, v and vdot, the samples of a motion, or none of them, "
            "for what any motion shows."
        )
    names = system.inertial_parameter_names
    width = len(names)
    check_memory(
        (2.0 * system.nv + 3.0 * width) * width,
        f"Base parameters of {width} inertial parameters",
        "ask for them of a part of the mechanism",
    )
    states = _random_states(system) if q is None else [(q, v, vdot)]
    W = _triangle(system, states, width)
    independent, dependent, coefficients = _independent_columns(W)
    combinations = np.zeros((len(independent), width))
    combinations[np.arange(len(independent)), independent] = 1.0
    combinations[:, dependent] = coefficients
    unseen = np.ones(width, dtype=bool)
    unseen[[*independent, *dependent]] = False
    return BaseParameters(
        tuple(_in_words(row, k, names) for row, k in zip(combinations, independent, strict=True)),
        independent,
        combinations,
        tuple(names[k] for k in np.flatnonzero(unseen)),
    )


def _random_states(system: System) -> Iterator[tuple[Any, Any, Any]]:
    """Give states of any kind, always the same."""
    rng = np.random.default_rng(1)
    start = system.reference_configuration()
    for _ in range(STATES):
        q = system.retract(start, rng.normal(size=system.ndx))
        yield q, rng.normal(size=system.nv), rng.normal(size=system.nv)


def _triangle(system: System, states: Any, width: int) -> Floats:
    """Return R of the QR factors of the regressors of all states, one below the other."""
    from scipy.linalg import qr

    R = np.zeros((0, width))
    for q, v, vdot in states:
        Y = system.inertial_regressor(q, v, vdot)
        if not Y.size:
            continue
        Y = Y.reshape(-1, width)
        if not np.isfinite(Y).all():
            raise NotFiniteError(
                "base_parameters: the regressor of the samples is not finite; give positions, "
                "velocities and accelerations of ordinary size."
            )
        R = qr(np.concatenate([R, Y]), mode="r", check_finite=False)[0][:width]
    return R


def _independent_columns(W: Floats) -> tuple[Any, Any, Floats]:
    """Return which columns depend on none before, which do, and coefficients of the latter.

    Gram-Schmidt with each column orthogonalised twice; columns of zero are neither. The mass of a
    body is its last column, so that masses go into moments and not the other way round.
    """
    from scipy.linalg import solve_triangular

    sizes = np.linalg.norm(W, axis=0)
    if not sizes.any():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 0))
    least = NOTHING * sizes.max(initial=0.0)
    order = np.roll(np.arange(W.shape[1]).reshape(-1, 10), -1, axis=1).ravel()
    Q = np.zeros((len(W), 0))
    found, dependent = [], []
    for k in order[sizes[order] > least]:
        left = W[:, k] - Q @ (Q.T @ W[:, k])
        left -= Q @ (Q.T @ left)
        size = np.linalg.norm(left)
        if size > max(DEPENDENT * sizes[k], least):
            found.append(k)
            Q = np.column_stack([Q, left / size])
        else:
            dependent.append(k)
    coefficients = solve_triangular(Q.T @ W[:, found], Q.T @ W[:, dependent])
    place = np.argsort(found)
    independent, coefficients = np.array(found, dtype=np.int64)[place], coefficients[place]
    # in parts of the columns: what is less is rounding
    parts = np.abs(coefficients) * sizes[independent][:, None] / sizes[dependent]
    coefficients[parts < DEPENDENT] = 0.0
    return independent, np.array(dependent, dtype=np.int64), coefficients


def _in_words(row: Floats, first: int, names: tuple[str, ...]) -> str:
    """Return a combination as a sum, what it is named after first."""
    text = names[first]
    for k in np.flatnonzero(row):
        if k != first:
            sign, size = ("-" if row[k] < 0 else "+"), f"{abs(row[k]):.6g}"
            text += f" {sign} {'' if size == '1' else size + ' '}{names[k]}"
    return text
