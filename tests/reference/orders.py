"""The order of a method, measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def measured_order(steps: Sequence[float], errors: Sequence[float]) -> float:
    """Return the slope of log(error) over log(step), by least squares."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
