"""Positions that are angles, and angles that were most likely meant in degrees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from mbkit.errors import DegreesWarning
from mbkit.users_line import users_line

if TYPE_CHECKING:
    from mbkit.joints import Joint


def turns(joint: Joint) -> bool:
    """Return whether a whole turn of the joint's one position leads back to the same pose."""
    if joint.num_positions != 1 or not joint.positions_add:
        return False
    here, there = (np.asarray(joint.pose(np.array([angle]))) for angle in (0.5, 0.5 + 2.0 * np.pi))
    return bool(np.allclose(here, there, rtol=0.0, atol=1e-12))


def warn_of_degrees(joint: Joint, numbers: Iterable[float], what: str) -> None:
    """Warn of angles that are whole multiples of five and more than two turns of radians.

    Parameters
    ----------
    joint : Joint
        There is no warning unless its position `turns`.
    numbers : iterable of float
        Angles that a user wrote. [rad]
    what : str
        Their meaning, for the message.
    """
    for number in numbers:
        likely = 15.0 <= abs(number) <= 720.0 and number % 5.0 == 0.0
        if likely and turns(joint):
            warnings.warn(
                f"{what} of joint {joint.name!r} is {number:g} rad, which is "
                f"{number / (2.0 * np.pi):.1f} turns: angles are in radians. Write "
                f"math.radians({number:g}), or '{number:g}*deg' in a model file, if it was meant "
                f"in degrees.",
                DegreesWarning,
                stacklevel=users_line(),
            )
            return
