"""Products and sums of exponentials in numpy, screw by screw and term by term of a series."""

import math

import numpy as np

from mbkit.lie import SE3


def product_motion(screws, q, v):
    """T = exp(X_1 q_1) ... exp(X_n q_n), S, and S-dot v, the sum of [S_a, S_b] v_a v_b, a < b."""
    T, Ad, S = np.eye(4), np.eye(6), np.empty((6, len(screws)))
    for X, x in zip(screws, q, strict=True):
        T = T @ SE3.exp(X * x)
    for k in reversed(range(len(screws))):
        S[:, k] = Ad @ screws[k]
        Ad = Ad @ SE3.Ad(SE3.exp(-screws[k] * q[k]))
    before, bias = np.zeros(6), np.zeros(6)
    for twist in S.T * np.asarray(v)[:, None]:
        bias += SE3.ad(before) @ twist
        before += twist
    return T, S, bias


def sum_motion(screws, q, v):
    """T = exp(X), X = X_1 q_1 + ...; S = dexp_-X X_k, and its rate term by term, times Xdot.

    With Y_k = (-ad_X)^k Xdot the rate of Y_k is -ad_Xdot Y_k-1 - ad_X (the rate of Y_k-1).
    """
    X, X_dot = q @ screws, v @ screws
    ad, ad_dot = SE3.ad(X), SE3.ad(X_dot)
    Y, rate, bias = X_dot, np.zeros(6), np.zeros(6)
    factor, bound = 1.0, 1.0
    for k in range(1, 400):
        rate = -(ad_dot @ Y + ad @ rate)
        Y = -(ad @ Y)
        factor /= k + 1
        bias = bias + factor * rate
        bound *= math.hypot(*X[:3]) / (k + 1)
        if bound * k < 1e-18:
            break
    return SE3.exp(X), SE3.dexp_body(X) @ screws.T, bias
