"""The kernels on other numbers than doubles, where Python runs them (``NUMBA_DISABLE_JIT=1``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from mbkit.kernels.compile import UNCOMPILED, array_address, floats_at
from mbkit.kernels.layout import OWN_FRAME_P, OWN_FRAME_SIZE
from mbkit.systems import System
from mbkit.systems.memory.workspace import Workspace


def object_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a structured type with objects where the given one has doubles."""
    fields = []
    for name in dtype.names or ():
        field = dtype[name]
        fields.append((name, object if field.base == np.float64 else field.base, field.shape))
    return np.dtype(fields, align=True)


def convert(array: Any, number: Callable[[float], Any]) -> Any:
    """Return an array of doubles, structured or not, with every double x made number(x)."""
    if array.dtype.names is None:
        made = np.empty(array.shape, dtype=object)
        made.reshape(-1)[:] = [number(float(x)) for x in array.flat]
        return made
    made = np.zeros(array.shape, object_dtype(array.dtype))
    for name in array.dtype.names:
        of_doubles = array.dtype[name].base == np.float64
        made[name] = convert(array[name], number) if of_doubles else array[name]
    return made


def orthonormal(R: Any) -> Any:
    """Return rotations (..., 3, 3) as orthonormal as their numbers can be: of doubles to 1e-64.

    R^T is not the inverse of a rotation that was rounded to doubles, and each representation makes
    its own use of R^T. Newton's iteration for the nearest rotation doubles the digits in each step.
    """
    for _ in range(2):
        R = R @ (3 * np.eye(3, dtype=int) - np.swapaxes(R, -1, -2) @ R) / 2
    return R


class OtherNumbers:
    """The arrays of a system and one workspace, with numbers of another type.

    Any type will do that has the operators +, -, *, /, < and ==, also with floats and integers, and
    the functions of `mbkit.kernels.elementary`. Joints written in Python stay with doubles.

    Attributes
    ----------
    number : callable
        Makes a number of a float.
    space : int
        The first argument of every kernel.
    """

    def __init__(self, system: System, number: Callable[[float], Any]) -> None:
        if not UNCOMPILED:
            raise RuntimeError("other numbers than doubles need NUMBA_DISABLE_JIT=1")
        self.number = number
        self.nv = system.nv
        self._owners: list[Any] = []
        bodies = self._kept(convert(system.arrays.bodies, number))
        frames = self._kept(convert(system.arrays.frames, number))
        bodies["R"] = orthonormal(bodies["R"])
        frames["R"] = orthonormal(frames["R"])
        for row in bodies:
            if row["own_frame"]:
                own_frame = convert(floats_at(row["own_frame"], OWN_FRAME_SIZE), number)
                own_frame[:OWN_FRAME_P] = orthonormal(
                    own_frame[:OWN_FRAME_P].reshape((3, 3))
                ).ravel()
                row["own_frame"] = self._address(own_frame)
        arrays = attrs.evolve(system.arrays, bodies=bodies, frames=frames)
        self.workspace = Workspace(arrays, system.evaluator)
        scratch = convert(self.workspace.scratch, number)
        scratch[0]["slot"] = self._address(convert(self.workspace.stage, number))
        record = self.workspace.record[0]
        record["scratch"] = self._address(scratch)
        for name in ("tau", "rest", "columns", "directions", "changes", "trial"):
            record[name] = self._address(convert(getattr(self.workspace, name), number))
        self.space = self.workspace.address

    def _kept(self, array: Any) -> Any:
        self._owners.append(array)
        return array

    def _address(self, array: Any) -> int:
        return array_address(self._kept(array))

    def call(self, function: Any, q: Any, v: Any, x: Any, size: int, *, option: int = 0) -> Any:
        """Return the result of a function of the form of `mbkit.kernels.evaluation_form`.

        Parameters
        ----------
        function : FunctionAddress
            Such as ``mbkit.kernels.spatial.algorithms.forward_dynamics``.
        q, v, x : array_like
            Of floats or of numbers.
        size : int
            How many numbers it writes.
        option : int
            Of the function.

        Returns
        -------
        ndarray of object, shape (size,)
            The result.
        """
        vectors = [self.vector(a) for a in (q, v, x)]
        out = self.vector(np.zeros(size))
        status = function.function(self.space, option, *vectors, out)
        if status != 0:
            raise RuntimeError(f"the function returned {status}")
        return out

    def vector(self, x: Any) -> Any:
        """Return floats as numbers of this type; such numbers are returned unchanged."""
        x = np.asarray(x)
        return x.copy() if x.dtype == object else convert(x.astype(np.float64), self.number)
