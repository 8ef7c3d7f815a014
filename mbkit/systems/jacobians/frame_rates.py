"""Derivatives by time, of any order, of the Jacobian of a frame on a body."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.lie.arrays import hat
from mbkit.representations import BodyFixed, Mixed, Representation, Spatial
from mbkit.representations.arguments import blocks, transposed
from mbkit.spatial.arrays import FloatArray

__all__ = ["rates_at_frame"]


def rates_at_frame(
    series: Sequence[FloatArray],
    rates: FloatArray,
    C: FloatArray,
    S: FloatArray,
    form: Representation,
) -> list[FloatArray]:
    """Return the Jacobian of a frame and its derivatives, from those of its body.

    With B = Ad_S^-1 J_b for the body-fixed J_b, and R of the frame, the Jacobian is M B, where M is
    1, diag(R, R) (hybrid) or diag(1, R) (mixed). By Leibniz' rule, with (n k) for n over k,

        J^(n) = sum over k of (n k) M^(k) B^(n-k),
        R^(n) = sum over k of (n-1 k) R^(n-1-k) hat(w^(k)),
        w^(k) = sum over j of (k j) B_w^(j) v^(k-j).

    Parameters
    ----------
    series : sequence of ndarray (..., 6, nv)
        J_b and its derivatives; the spatial Jacobian and its own, which no frame changes, where
        `form` is that.
    rates : ndarray, shape (..., n, nv)
        v, vdot, ..., one for each derivative.
    C, S : ndarray, shape (..., 4, 4)
        Pose of the body in the world, and of the frame on the body.
    form : Representation
        One of those of mbkit.

    Returns
    -------
    list of ndarray (..., 6, nv)
        As many as there are in `series`.
    """
    if isinstance(form, Spatial):
        return list(series)
    R_back = transposed(S[..., :3, :3])
    B: list[Any] = []
    for J in series:
        w, u = J[..., :3, :], J[..., 3:, :]
        B.append(np.concatenate([R_back @ w, R_back @ (u - hat(S[..., :3, 3]) @ w)], axis=-2))
    if isinstance(form, BodyFixed):
        return B

    def turning(k: int) -> Any:
        """Return w^(k)."""
        parts = (
            math.comb(k, j) * (B[j][..., :3, :] @ rates[..., k - j, :, None]) for j in range(k + 1)
        )
        return sum(parts)[..., 0]

    R: list[Any] = [C[..., :3, :3] @ S[..., :3, :3]]
    for n in range(1, len(B)):
        terms = (math.comb(n - 1, k) * R[n - 1 - k] @ hat(turning(k)) for k in range(n))
        R.append(sum(terms))
    one = np.eye(3)
    upper = [one, *[0.0 * one] * len(R)] if isinstance(form, Mixed) else R
    M = [blocks(upper[k], R[k]) for k in range(len(R))]
    return [
        np.asarray(sum(math.comb(n, k) * (M[k] @ B[n - k]) for k in range(n + 1)))
        for n in range(len(B))
    ]
