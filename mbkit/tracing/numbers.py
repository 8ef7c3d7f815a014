"""Floats as they were meant: without the rounding of their last digits."""

from __future__ import annotations

import math


def rounded(x: float) -> float:
    """Return a number without its last digit: 0.30000000000000004 is 0.3."""
    return float(f"{x:.15g}")


def rounded_fit(x: float) -> float:
    """Return a coefficient that was fitted, with 11 digits if 13 of it are those."""
    short = float(f"{x:.11g}")
    return short if abs(x - short) < 1e-12 * abs(x) else x


def is_plain(x: float) -> bool:
    """Whether floating point holds the number exactly: an integer by 64, NaN or infinity."""
    return not math.isfinite(x) or float(64.0 * x).is_integer()
