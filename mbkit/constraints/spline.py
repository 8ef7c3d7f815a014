"""Cubic splines through tables, as the kernels read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.constraints.fields import fault
from mbkit.spatial.arrays import FloatArray, check_array, with_key

#: Least number of points: a cubic has four coefficients.
_LEAST = 4


def check_table(owner: Any, knots: str, values: str, shape: tuple[int, ...] = ()) -> None:
    """Raise unless two fields of a constraint, knots (k,) and values (k, *shape), make a table.

    ConstraintError, ShapeError or GeometryError if shapes do not fit, or knots do not increase.
    """
    at = getattr(owner, knots)
    if at.ndim != 1 or at.size < _LEAST:
        raise fault(owner, knots, f"must be a list of {_LEAST} or more, got {at.tolist()!r}.")
    what = f"Constraint {owner.name!r}"
    with_key(knots, check_array, at, (at.size,), f"{what}: {knots}")
    with_key(values, check_array, getattr(owner, values), (at.size, *shape), f"{what}: {values}")
    if (np.diff(at) <= 0.0).any():
        raise fault(owner, knots, f"must increase, got {at.tolist()!r}.")


def spline(knots: FloatArray, values: FloatArray, *, periodic: bool = False) -> FloatArray:
    """Return a cubic spline as `mbkit.kernels.constraints.kinds.spline` reads it.

    Through the values (k,) or (k, width) at increasing knots (k,). A periodic curve repeats, with
    the last value for the first; else its third derivative does not jump at the second knot and the
    last but one ("not a knot"). Written are period or 0, number of pieces, knots, four coefficients
    by piece and entry.
    """
    from scipy.interpolate import CubicSpline

    columns = values.reshape(len(values), -1)
    curve = CubicSpline(knots, columns, bc_type="periodic" if periodic else "not-a-knot")
    coefficients = curve.c[::-1].transpose(1, 2, 0)
    period = knots[-1] - knots[0] if periodic else 0.0
    return np.concatenate([[period, len(knots) - 1], knots, coefficients.ravel()])
