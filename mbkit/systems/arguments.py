"""The shapes that arguments of a system's methods must have."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from mbkit.errors import ShapeError

__all__ = ["Arguments"]

_POSITIONS = ("q", "q0", "q1")
_VELOCITIES = ("v", "vdot", "tau", "dx", "x")


@attrs.frozen
class Arguments:
    """Numbers from which the shape of every argument follows.

    Attributes
    ----------
    num_positions, num_velocities, num_bodies : int
        nq, nv and the number of bodies without the world.
    """

    num_positions: int
    num_velocities: int
    num_bodies: int

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of the argument or result called `name`."""
        if name in _POSITIONS:
            return (self.num_positions,)
        if name in _VELOCITIES:
            return (self.num_velocities,)
        return {
            "M": (self.num_velocities, self.num_velocities),
            "poses": (self.num_bodies + 1, 4, 4),
            "twists": (self.num_bodies + 1, 6),
            "wrenches": (self.num_bodies + 1, 6),
            "jacobian": (6, self.num_velocities),
        }[name]

    def normalised(self, names: tuple[str, ...], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments as contiguous float64 arrays, or say what is wrong with one.

        Parameters
        ----------
        names : tuple of str
            For each argument: its name; ``"out:NAME"`` for a result to be written, which must be
            right as it is; ``"rows:NAME"`` for several, one a row; ``""`` for what is left alone.
        arguments : tuple
            The arguments.

        Returns
        -------
        tuple
            The same, fit for a kernel.

        Raises
        ------
        ShapeError
            If an argument has the wrong shape, or is not made of numbers.
        """
        pairs = zip(names, arguments, strict=True)
        return tuple(self._one(name, argument) for name, argument in pairs)

    def _one(self, name: str, argument: Any) -> Any:
        if not name:
            return argument
        kind, _, quantity = name.rpartition(":")
        if kind == "out":
            return self._output(quantity, argument)
        if kind == "rows":
            array = _numbers(quantity, argument)
            width = self.shape(quantity)[0]
            if array.ndim != 2 or array.shape[1] != width:
                raise ShapeError(
                    f"Argument '{quantity}' must have shape (k, {width}), one state a row; "
                    f"got {array.shape}."
                )
            return array
        return self.checked(quantity, argument)

    def checked(self, name: str, argument: Any) -> Any:
        """Return one argument as a contiguous float64 array of the right shape.

        Parameters
        ----------
        name : str
            What it is: q, v, vdot, tau, wrenches, ...
        argument : array_like
            Its value.

        Returns
        -------
        ndarray
            The argument, or a copy of it.

        Raises
        ------
        ShapeError
            If it has another shape, or is not made of numbers.
        """
        array = _numbers(name, argument)
        expected = self.shape(name)
        if array.shape != expected:
            raise ShapeError(f"Argument '{name}' must have shape {expected}; got {array.shape}.")
        return array

    def _output(self, name: str, out: Any) -> Any:
        expected = self.shape(name)
        if not (
            isinstance(out, np.ndarray)
            and out.dtype == np.float64
            and out.shape == expected
            and out.flags.c_contiguous
            and out.flags.writeable
        ):
            raise ShapeError(
                f"Argument 'out' must be a contiguous, writeable float64 array of shape "
                f"{expected}; got {_described(out)}. Make one with numpy.empty({expected})."
            )
        return out


def _described(out: Any) -> str:
    if not isinstance(out, np.ndarray):
        return repr(out)
    order = "contiguous" if out.flags.c_contiguous else "not contiguous"
    access = "writeable" if out.flags.writeable else "read-only"
    return f"{out.dtype}, shape {out.shape}, {order}, {access}"


def _numbers(name: str, argument: Any) -> Any:
    try:
        array = np.asarray(argument)
        fits, reason = array.dtype.kind in "fiub", f"its type is {array.dtype}"
    except ValueError as error:
        fits, reason = False, str(error)
    if not fits:
        raise ShapeError(f"Argument '{name}' must be an array of real numbers; {reason}.")
    # Kernels take arrays that may be written to, even where they only read.
    return np.require(array, np.float64, ["C", "W"])
