"""Derivatives by time, of any order, of the Jacobian of a frame on a body."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.lie.arrays import hat
from mbkit.representations import BodyFixed, Representation, Spatial
from mbkit.representations.arguments import transposed
from mbkit.spatial.arrays import FloatArray

__all__ = ["along_map", "rates_at_frame"]


def rates_at_frame(
    series: Sequence[FloatArray],
    rates: FloatArray,
    C: FloatArray,
    S: FloatArray,
    form: Representation,
) -> list[FloatArray]:
    """Return the Jacobian of a frame and its derivatives, from those of its body.

    With B = Ad_S^-1 J_b for the body-fixed J_b the Jacobian is T B, where T is the map of twists of
    the frame (`Representation.twist_map_rates`). By Leibniz' rule, with (n k) for n over k,

        J^(n) = sum over k of (n k) T^(k) B^(n-k),
        V_b^(k) = sum over j of (k j) B^(j) v^(k-j).

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
        Any.

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

    twists = [
        sum(math.comb(k, j) * (B[j] @ rates[..., k - j, :, None]) for j in range(k + 1))
        for k in range(len(B) - 1)
    ]
    rows = np.stack(twists, axis=-3)[..., 0] if twists else np.zeros((0, 6))
    return along_map(form.twist_map_rates(C @ S, rows), B)


def along_map(maps: Sequence[FloatArray], series: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the derivatives of T x from those of T and of x, columns: Leibniz' rule."""
    return [
        np.asarray(sum(math.comb(n, k) * (maps[k] @ series[n - k]) for k in range(n + 1)))
        for n in range(len(series))
    ]
