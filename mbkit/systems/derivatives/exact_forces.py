"""Derivatives of forces that are compiled, exact: their functions on dual numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.systems.calls.arguments import Floats
from mbkit.systems.memory.lanes import (
    LanesForces,
    LanesModel,
    LanesWorkspace,
    forces_have_lanes,
    motions_have_lanes,
)

if TYPE_CHECKING:
    from mbkit.systems.memory.arrays import SystemArrays

__all__ = ["ExactForces"]

#: What steps ask of joints.
_OF_JOINTS = ("motion", "retract")


class ExactForces:
    """The forces of a system that time loops call, with derivatives by q and v.

    Functions are compiled for dual numbers, or loaded from the cache, when this is made.

    Parameters
    ----------
    arrays : SystemArrays
        The system; see `of`.
    """

    def __init__(self, arrays: SystemArrays) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.derivatives.exact_forces import FORM, along_all, called_forces_along
        from mbkit.kernels.duals import DUAL
        from mbkit.kernels.lanes import address_in_lanes

        world: Any = arrays.bodies[0]
        nq, nv, ndx = (int(world[x]) for x in ("num_positions", "num_velocities", "ndx"))
        self._entries, self._nv = ndx + nv, nv
        model = LanesModel(arrays, DUAL, functions=_OF_JOINTS)
        forces = arrays.forces
        self._workspace = LanesWorkspace(arrays, model)
        self._forces = LanesForces(model, forces.order[: forces.num_called])  # known by address
        self._workspace.let_act(self._forces)
        space: Any = self._workspace.record[0]
        self._trial = self._workspace.numbers(2 * nq + nv + ndx)
        space["trial"] = array_address(self._trial)
        self._function = address_in_lanes(called_forces_along, FORM, DUAL)
        self._along_all = along_all

    @classmethod
    def of(cls, arrays: SystemArrays) -> ExactForces | None:
        """Return those of a system, if all functions of joints and forces are written for it."""
        from mbkit.kernels.compile import UNCOMPILED

        forces = arrays.forces
        called = forces.order[: forces.num_called]
        if UNCOMPILED or not len(called) or not forces_have_lanes(forces, called):
            return None
        return cls(arrays) if motions_have_lanes(arrays) else None

    def add(self, both: Floats, q: Floats, v: Floats, t: Floats) -> Any:
        """Add derivatives to those of the other forces, (..., nv (ndx + nv)).

        q (..., nq), v (..., nv) and t (..., 1) broadcast. Returns the samples of which there are
        none, as one of the forces fails or its derivative is not finite, (...).
        """
        leading, nv = both.shape[:-1], self._nv
        given = [_rows(x, leading) for x in (q, v, t)]
        found = np.empty((math.prod(leading), self._entries, nv))
        # the lock of the interpreter is held meanwhile: one workspace is enough for all threads
        self._along_all(self._function, self._workspace.address, *given, found)
        rows, ndx = np.swapaxes(found, 1, 2), self._entries - nv
        parts = (rows[..., :ndx], rows[..., ndx:])
        both += np.concatenate([x.reshape((*leading, -1)) for x in parts], axis=-1)
        return ~np.isfinite(found).all(axis=(1, 2)).reshape(leading)


def _rows(x: Floats, leading: tuple[int, ...]) -> Floats:
    """Return vectors as rows that kernels take, with these leading axes in one."""
    size = x.shape[-1]
    if x.shape[:-1] != leading:
        x = np.broadcast_to(x, (*leading, size))
    return np.array(x, order="C").reshape((-1, size))
