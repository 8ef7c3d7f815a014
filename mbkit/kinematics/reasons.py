"""Reasons why a search for a configuration ended, in words."""

from __future__ import annotations

import numpy as np

from mbkit.kinematics.descent import REACHED, SADDLE, SPENT, Descent
from mbkit.kinematics.freedom import Freedom
from mbkit.kinematics.targets import Targets

__all__ = ["reason"]

#: Errors below this, in radians and in parts of the largest coordinate, are those of the poses.
_ROUNDING = 1e-13


def reason(
    targets: Targets,
    freedom: Freedom,
    best: Descent,
    tolerance: float,
    *,
    is_held: bool,
    is_singular: bool,
) -> str:
    """Return why a descent ended, as `InverseKinematics.reason` has it.

    The targets are reached from there without limits if it is held; the posture may be singular.
    """
    if best.end == REACHED:
        return "reached"
    if best.end == SPENT:
        return "iteration limit"
    limits = ", ".join(freedom.active(best.q, best.gradient))
    if is_held and limits:
        return f"joint limits: {limits}"
    off, is_rounding = _off(targets, best, tolerance)
    if is_rounding:
        return f"stopped at rounding: {off}"
    held = f"; held by limits: {limits}" if limits else ""
    if best.end == SADDLE:
        return f"singular posture: no step was found that lessens the weighted error, {off}{held}"
    posture = ", in a singular posture" if is_singular else ""
    return f"unreachable: no small motion lessens the weighted error, {off}{posture}{held}"


def _off(targets: Targets, best: Descent, tolerance: float) -> tuple[str, bool]:
    """Return which targets are how far off, and whether no more than poses are known."""
    sizes = targets.distances(best.q)
    coordinates = np.abs([target.pose[:3, 3] for target in targets.targets]).max()
    is_rounding = bool((sizes <= _ROUNDING * np.array([1.0, max(1.0, coordinates)])).all())
    told = sizes > tolerance
    if not told.any():  # what is left is rounding, or between a distance and a logarithm
        told = sizes > 0.0
    parts = []
    for name, pair, which in zip(targets.names, sizes.tolist(), told.tolist(), strict=True):
        words = [
            f"{size:.6g} {unit}"
            for size, unit, is_told in zip(pair, ("rad", "m"), which, strict=True)
            if is_told
        ]
        if words:
            parts.append(f"'{name}' {' and '.join(words)} off")
    return f"with {', '.join(parts)}", is_rounding
