"""Wrenches reciprocal to a motion subspace that depends on the configuration."""

from __future__ import annotations

import math

import numpy as np

from mbkit.spatial.arrays import FloatArray

__all__ = ["complement"]

#: Axes in which it is computed, by rows; its own inverse. Axes of joints stand in these directions,
#: or turn into them, by chance alone.
_TILT = np.kron(np.eye(2), np.array([[2.0, 3.0, 6.0], [3.0, -6.0, 2.0], [6.0, 2.0, -3.0]]) / 7.0)

#: Squares of lengths that count as zero: below, they have lost their digits.
_NOTHING = 1e-280


def complement(S: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the vectors normal to the columns of a matrix.

    By reflections that take the columns to a triangle, all with diagonals of one sign: the basis
    changes smoothly with S. Where a column k (from 1), after the reflections before it, comes to
    point along -e_k, it turns fast next to that place and has no limit there; that takes 6 - k
    conditions. The fifth reflection has a limit.

    Parameters
    ----------
    S : ndarray, shape (6, n)
        Columns. Of columns that depend on each other there are more normal vectors than are given.

    Returns
    -------
    ndarray, shape (6, 6 - n)
        The basis, by columns.

    References
    ----------
    .. [1] G. H. Golub, C. F. Van Loan, *Matrix Computations*, 4th edition, 5.1 and 5.2.

    Examples
    --------
    >>> S = np.eye(6)[:, [2]]  # a rotation about z
    >>> W = complement(S)
    >>> bool(np.allclose(W.T @ S, 0.0)), bool(np.allclose(W.T @ W, np.eye(5)))
    (True, True)
    """
    n = S.shape[1]
    if n == 0:
        return np.eye(6)
    columns = _TILT @ S
    W = np.eye(6)[:, n:]
    reflections = []
    for k in range(min(n, 4)):
        h = _reflection(columns[:, k], k)
        columns = columns - np.outer(h, h @ columns)
        reflections.append(h)
    if n == 5:
        x, y = columns[4:, 4]
        size = math.sqrt(x * x + y * y)
        W[4:, 0] = (-y / size, x / size) if size != 0.0 else (0.0, 1.0)
    for h in reversed(reflections):
        W = W - np.outer(h, h @ W)
    return _TILT @ W


def _reflection(x: FloatArray, k: int) -> FloatArray:
    """Return the h with x - h (h.x) = -|x| e_k, x from entry k on."""
    h = np.zeros(6)
    h[k:] = x[k:]
    tail = float(h[k + 1 :] @ h[k + 1 :])
    size = math.sqrt(h[k] * h[k] + tail)
    # x_k + |x| without cancellation
    h[k] = tail / (size - h[k]) if h[k] < 0.0 else h[k] + size
    square = float(h[k] * h[k] + tail)
    if square < _NOTHING:
        h[k + 1], square = 1.0, 1.0
    scaled: FloatArray = math.sqrt(2.0 / square) * h
    return scaled
