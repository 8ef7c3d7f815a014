"""Motions of a frame as exact Taylor polynomials, and twists from their definitions.

A series is an array (ORDER + 1, m, n) of coefficients of t^k; products are truncated. Twists are
differentiated as series, so that no formula for the rate of a conversion enters.
"""

from __future__ import annotations

import math

import numpy as np

import mbkit as mb

ORDER = 4
ALL = (mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed())
NAMES = [each.name for each in ALL]


def product(a, b):
    """Return the product of two series."""
    result = np.zeros((ORDER + 1, a.shape[1], b.shape[2]))
    for i in range(ORDER + 1):
        for j in range(ORDER + 1 - i):
            result[i + j] += a[i] @ b[j]
    return result


def rate(a):
    """Return the derivative; its last coefficient is lost, and set to zero."""
    result = np.zeros_like(a)
    for k in range(ORDER):
        result[k] = (k + 1) * a[k + 1]
    return result


def inverse(C):
    """Return the series of C^-1 from those of its blocks, (R^T, -R^T r)."""
    result = np.zeros_like(C)
    turned = np.swapaxes(C[:, :3, :3], 1, 2)
    result[:, :3, :3] = turned
    result[:, :3, 3:] = -product(turned, C[:, :3, 3:])
    result[0, 3, 3] = 1.0
    return result


def vee(x):
    """Return the vectors of skew matrices (..., 3, 3)."""
    return np.stack([x[..., 2, 1], x[..., 0, 2], x[..., 1, 0]], axis=-1)


def exponential(matrix):
    """Return exp of a series without constant term: a finite sum, exact."""
    result = np.zeros_like(matrix)
    power = np.zeros_like(matrix)
    result[0] = power[0] = np.eye(matrix.shape[1])
    for k in range(1, ORDER + 1):
        power = product(power, matrix)
        result += power / math.factorial(k)
    return result


def twist_matrix(V):
    """Return the 4x4 matrix of (angular, linear)."""
    X = np.zeros((4, 4))
    X[:3, :3] = mb.lie.arrays.hat(np.asarray(V[:3]))
    X[:3, 3] = V[3:]
    return X


def motion(rng, C0):
    """Return the series of a pose that moves through C0, turning and shifting on both sides."""
    left, right = np.zeros((2, ORDER + 1, 4, 4))
    for k in range(1, ORDER + 1):
        left[k] = twist_matrix(rng.standard_normal(6))
        right[k] = twist_matrix(rng.standard_normal(6))
    constant = np.zeros((ORDER + 1, 4, 4))
    constant[0] = C0
    return product(product(exponential(left), constant), exponential(right))


def twist_series(name, C):
    """Return the series (ORDER + 1, 6) of the twist of a moving frame, by its definition."""
    R, r = C[:, :3, :3], C[:, :3, 3:]
    R_inverse = np.swapaxes(R, 1, 2)
    world = vee(product(rate(R), R_inverse))
    body = vee(product(R_inverse, rate(R)))
    velocity = rate(r)
    if name == "body_fixed":
        return np.hstack([body, product(R_inverse, velocity)[:, :, 0]])
    if name == "spatial":
        linear = product(rate(C), inverse(C))[:, :3, 3]
        return np.hstack([world, linear])
    return np.hstack([world if name == "hybrid" else body, velocity[:, :, 0]])


def derivatives(name, C):
    """Return twist, acceleration and jerk at t = 0."""
    V = twist_series(name, C)
    return V[0], V[1], 2.0 * V[2]


def base_poses():
    """Return where motions pass: what is hard for rotations, and far away."""
    rng = np.random.default_rng(11)
    axis, r = rng.standard_normal(3), rng.standard_normal(3)
    poses = {"identity": np.eye(4)}
    for label, angle in (("tiny", 1e-8), ("random", 1.3), ("near pi", np.pi - 1e-7)):
        poses[label] = mb.spatial.rotation(axis, angle)
        poses[label][:3, 3] = r
    poses["far"] = poses["random"].copy()
    poses["far"][:3, 3] *= 1e3
    return poses
