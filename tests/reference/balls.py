"""Inertias of test data that no body has.

Some inertias in the data break the triangle inequality, which mbkit refuses. Forces, mass matrix
and bias are linear in the inertias: with a ball added to every body, and what the balls alone give
subtracted again, the data can be compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mbkit as mb

BALL = mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.eye(3))


def with_ball(M: Any) -> mb.SpatialInertia:
    """Return the inertia [[Theta, m d~], [-m d~, m I]] at the body's frame, with a ball there."""
    mass = M[5, 5] + BALL.mass
    com = np.array([M[2, 4], M[0, 5], M[1, 3]]) / mass
    return mb.SpatialInertia.from_origin(mass, com, M[:3, :3] + BALL.moment_about_com)
