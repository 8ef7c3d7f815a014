"""Combinations of parameters that a measurement can identify, by the rank of a regressor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import attrs
import numpy as np
from numpy.typing import NDArray

from mbkit.errors import NotFiniteError
from mbkit.spatial.arrays import FloatArray, frozen_array

__all__ = ["BaseParameters", "base_of", "triangle"]

#: A column of which less than this part is left by those before it depends on them.
DEPENDENT = 1e-9

#: Columns below this part of the largest are rounding.
NOTHING = 1e-12


@final
@attrs.frozen(eq=False)
class BaseParameters:
    """The fewest combinations of parameters that determine measurements, of efforts or poses.

    At every state ``Y[:, independent] @ (combinations @ parameters)`` is the measured quantity, Y
    the regressor, for geometric parameters to first order. Fewer numbers do not suffice, and
    measurements of this kind identify no more.

    Attributes
    ----------
    names : tuple of str
        The combinations in words, such as "arm.moment_about_origin[yy] + 0.25 tip.mass".
    independent : ndarray of int, shape (k,)
        The columns of the regressor that are kept.
    combinations : ndarray, shape (k, parameters)
        Row i takes the parameters to combination i, with 1 at ``independent[i]``.
    without_effect : tuple of str
        Parameters on which nothing that is measured depends.
    """

    names: tuple[str, ...]
    independent: NDArray[np.int64] = attrs.field(repr=False)
    combinations: FloatArray = attrs.field(converter=frozen_array, repr=False)
    without_effect: tuple[str, ...]

    def single(self) -> NDArray[np.int64]:
        """Return the indices of the parameters that are combinations by themselves."""
        alone = (self.combinations != 0.0).sum(axis=1) == 1
        found: NDArray[np.int64] = self.independent[alone]
        return found


def triangle(blocks: Iterable[Any], width: int, who: str) -> FloatArray:
    """Return R of the QR factors of regressors (..., width), one below the other."""
    from scipy.linalg import qr

    R = np.zeros((0, width))
    for Y in blocks:
        if not Y.size:
            continue
        Y = Y.reshape(-1, width)
        if not np.isfinite(Y).all():
            raise NotFiniteError(
                f"{who}: the regressor of the samples is not finite; give samples of ordinary size."
            )
        R = qr(np.concatenate([R, Y]), mode="r", check_finite=False)[0][:width]
    return R


def base_of(
    W: FloatArray, names: tuple[str, ...], order: Any, largest: float = 0.0
) -> BaseParameters:
    """Return the base parameters of a regressor, whose columns are looked at in this order.

    Where W has some of the columns, `largest` is the size of the largest of all.
    """
    independent, dependent, coefficients = _independent_columns(W, order, largest)
    combinations = np.zeros((len(independent), len(names)))
    combinations[np.arange(len(independent)), independent] = 1.0
    combinations[:, dependent] = coefficients
    unseen = np.ones(len(names), dtype=bool)
    unseen[[*independent, *dependent]] = False
    return BaseParameters(
        tuple(_in_words(row, k, names) for row, k in zip(combinations, independent, strict=True)),
        independent,
        combinations,
        tuple(names[k] for k in np.flatnonzero(unseen)),
    )


def _independent_columns(W: FloatArray, order: Any, largest: float) -> tuple[Any, Any, FloatArray]:
    """Return which columns depend on none before, which do, and coefficients of the latter.

    Gram-Schmidt with each column orthogonalised twice; columns of zero are neither.
    """
    from scipy.linalg import solve_triangular

    sizes = np.linalg.norm(W, axis=0)
    least = NOTHING * sizes.max(initial=largest)
    if not (sizes > least).any():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 0))
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
    # in parts of the columns: smaller parts are rounding
    parts = np.abs(coefficients) * sizes[independent][:, None] / sizes[dependent]
    coefficients[parts < DEPENDENT] = 0.0
    return independent, np.array(dependent, dtype=np.int64), coefficients


def _in_words(row: FloatArray, first: int, names: tuple[str, ...]) -> str:
    """Return a combination as a sum, the parameter that names it first."""
    text = names[first]
    for k in np.flatnonzero(row):
        if k != first:
            sign, size = ("-" if row[k] < 0 else "+"), f"{abs(row[k]):.6g}"
            text += f" {sign} {'' if size == '1' else size + ' '}{names[k]}"
    return text
