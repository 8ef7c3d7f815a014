"""Wrenches reciprocal to a motion subspace that depends on the configuration."""

from __future__ import annotations

import numpy as np

from mbkit.joints.motions.calls import call
from mbkit.spatial.arrays import FloatArray


def complement(S: FloatArray) -> FloatArray:
    """Return an orthonormal basis (6, 6 - n) of the vectors normal to the columns of S (6, n).

    By reflections that take the columns to a triangle, all with diagonals of one sign: the basis
    changes smoothly with S. Where a column k (from 1), after the reflections before it, comes to
    point along -e_k, it turns fast next to that place and has no limit there; that takes 6 - k
    conditions. The fifth reflection has a limit. Of columns that depend on each other there are
    more normal vectors than are given.

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
    from mbkit.kernels.joints import general_forms

    n = S.shape[1]
    if n == 0:
        return np.eye(6)
    columns = np.asarray(S, dtype=np.float64).T.flatten()
    _, (W,) = call(general_forms.reciprocal, [np.array([float(n)]), columns], [6 * (6 - n)])
    return W.reshape(6 - n, 6).T
