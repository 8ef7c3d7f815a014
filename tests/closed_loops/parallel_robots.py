"""Poses of the bodies of three parallel robots, in closed form from the place of the tool.

In the precision of mpmath, and without angles: with two axes e and m on its cross, e fixed in the
body before and m normal to e and to the rod's direction u, a rod has the axes (m x u, m, u).
"""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np

from examples.closed_loops import delta_robot, five_bar, stewart_platform
from tests.closed_loops.virtual_power import columns, cross, turn_by_vector, unit, vector


def stewart_bodies(x: Any) -> list[tuple[Any, Any]]:
    """Place the platform, then the lower and upper part of each leg.

    x is the platform's position and rotation vector.
    """
    p, R = vector(x[:3]), turn_by_vector(x[3:])
    placed = [(p, R)]
    for foot, ball, first in zip(
        stewart_platform.FEET, stewart_platform.BALLS, stewart_platform.FIRST, strict=True
    ):
        arm = vector(ball) - vector([0, 0, stewart_platform.HEIGHT])
        end = p + R * arm
        u = unit(end - vector(foot))
        axes = _rod_axes(vector(first), u)
        placed += [(vector(foot) + u / 4, axes), (end - 3 * u / 10, axes)]
    return placed


def stewart_lengths(x: Any) -> Any:
    """Return the derivative (6, 6) of the legs' lengths by x, at a rotation vector of zero."""
    rows = []
    for foot, ball in zip(stewart_platform.FEET, stewart_platform.BALLS, strict=True):
        arm = ball - (0, 0, stewart_platform.HEIGHT)
        leg = x[:3] + arm - foot
        u = leg / np.linalg.norm(leg)
        rows.append([*u, *np.cross(arm, u)])
    return np.array(rows)


def delta_bodies(x: Any) -> list[tuple[Any, Any]]:
    """Place the platform, then each arm and its two rods; x is the platform's position."""
    place = vector(x)
    placed = [(place, mp.eye(3))]
    for out, hinge in zip(delta_robot.OUT, delta_robot.HINGES, strict=True):
        out, hinge = vector(out), vector(hinge)
        up = cross(out, hinge)
        hip, wrist = delta_robot.BASE * out, place + delta_robot.PLATE * out
        elbow = _elbow(hip, wrist, out, hinge, up)
        along = unit(elbow - hip)
        placed.append(((hip + elbow) / 2, columns(along, hinge, cross(along, hinge))))
        axes = _rod_axes(hinge, unit(wrist - elbow))
        middle, shift = (elbow + wrist) / 2, delta_robot.HALF * hinge
        placed += [(middle + shift, axes), (middle - shift, axes)]
    return placed


def _elbow(hip: Any, wrist: Any, out: Any, hinge: Any, up: Any) -> Any:
    """Return where the circle of the arm meets the sphere of the rod, the outer of two points."""
    to = wrist - hip
    a, b, aside = (sum(to[k] * axis[k] for k in range(3)) for axis in (out, up, hinge))
    distance2 = a**2 + b**2
    share = (
        mp.mpf(delta_robot.ARM) ** 2 - (mp.mpf(delta_robot.ROD) ** 2 - aside**2) + distance2
    ) / (2 * distance2)
    height = mp.sqrt(mp.mpf(delta_robot.ARM) ** 2 / distance2 - share**2)
    return hip + (share * a - height * b) * out + (share * b + height * a) * up


def five_bar_bodies(x: Any) -> list[tuple[Any, Any]]:
    """Place left upper and lower, right upper and lower rod; x is where the arms meet."""
    point = vector([*x, 0])
    z = vector([0, 0, 1])
    upper, lower = mp.mpf(five_bar.UPPER), mp.mpf(five_bar.LOWER)
    placed = []
    for side in (-1, 1):
        shoulder = vector([side * five_bar.HALF_BASE, 0, 0])
        to = point - shoulder
        distance2 = to[0] ** 2 + to[1] ** 2
        share = (upper**2 - lower**2 + distance2) / (2 * distance2)
        height = mp.sqrt(upper**2 / distance2 - share**2)
        elbow = shoulder + share * to - side * height * cross(z, to)
        for start, end in ((shoulder, elbow), (elbow, point)):
            along = unit(end - start)
            placed.append(((start + end) / 2, columns(along, cross(z, along), z)))
    return placed


def _rod_axes(fork: Any, u: Any) -> Any:
    m = unit(cross(u, fork))
    return columns(cross(m, u), m, u)
