"""Wrenches on bodies by name, as the rows that the kernels read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import QuantityError, ShapeError
from mbkit.lie.arrays import as_floats
from mbkit.spatial import Wrench
from mbkit.systems.calls.arguments import Floats, common_axes
from mbkit.systems.calls.evaluations import Evaluation

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Wrenches", "computed", "wrench_rows"]

#: Wrenches as the methods of a system take them.
Wrenches = ArrayLike | Mapping[str, ArrayLike | Wrench]

#: How far the frame of a typed wrench may be from the body's, relative to its largest entry.
SAME_FRAME = 1e-9


def wrench_rows(system: System, q: ArrayLike, wrenches: Wrenches) -> ArrayLike:
    """Return wrenches, an array or a mapping, as an array (..., bodies + 1, 6), one row a body.

    They are in the system's representation; q is compared with the pose of a typed wrench.
    QuantityError if that is of another body, or at a frame that is not the body's.
    """
    if isinstance(wrenches, Sequence) and any(isinstance(each, Wrench) for each in wrenches):
        if len(wrenches) != len(system.body_names):
            raise ShapeError(
                f"There must be a wrench for each of {len(system.body_names)} rows, the world's "
                f"first; got {len(wrenches)}. Give them by name, {{'body': wrench}}, if not all."
            )
        wrenches = dict(zip(system.body_names[1:], wrenches[1:], strict=True))
    if not isinstance(wrenches, Mapping):
        return wrenches
    vectors: dict[int, Floats] = {}
    for name, wrench in wrenches.items():
        row = system.body_index(name)
        if isinstance(wrench, Wrench):
            wrench = _in_place(system, q, row, wrench)
        vector = as_floats(wrench, f"The wrench on body '{name}'")
        if vector.shape[-1:] != (6,):
            raise ShapeError(
                f"The wrench on body '{name}' must have shape (6,) or (..., 6), (moment, force); "
                f"got {vector.shape}."
            )
        vectors[row] = vector
    names = system.body_names
    leading = common_axes({names[row]: vector.shape[:-1] for row, vector in vectors.items()})
    rows = np.zeros((*leading, len(system.body_names), 6))
    for row, vector in vectors.items():
        rows[..., row, :] = vector
    return rows


def computed(
    system: System,
    what: Evaluation,
    q: ArrayLike,
    v: ArrayLike,
    x: ArrayLike,
    *,
    wrenches: Wrenches | None,
    out: Floats | None = None,
    on_error: str,
) -> Floats:
    """Return the result of a function of dynamics, with wrenches on the bodies if there are any."""
    if wrenches is None:
        return system.evaluator.compute(what, q, v, x, out=out, on_error=on_error)
    rows = wrench_rows(system, q, wrenches)
    return system.evaluator.compute_loaded(what, q, v, x, wrenches=rows, out=out, on_error=on_error)


def _in_place(system: System, q: ArrayLike, row: int, wrench: Wrench) -> Wrench:
    name = system.body_names[row]
    if wrench.body != name:
        raise QuantityError(
            f"The wrench given for body '{name}' is one of '{wrench.body}'; give it under that "
            f"name."
        )
    pose = system.poses(system.checked("q", q))[row]
    if np.abs(wrench.pose - pose).max() > SAME_FRAME * max(1.0, float(np.abs(pose).max())):
        raise QuantityError(
            f"The wrench on body '{name}' is at a frame at {wrench.pose[:3, 3].tolist()}, and the "
            f"body's frame at this q is at {pose[:3, 3].tolist()} or turned otherwise; make it "
            f"with pose=system.poses(q)[{row}], or take it there by wrench.to(body_frame=...)."
        )
    return wrench.to(system.representation)
