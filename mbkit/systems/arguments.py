"""The shapes that arguments of a system's methods must have."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import NotFiniteError, ShapeError

__all__ = ["Arguments"]

_POSITIONS = ("q", "q0", "q1")
_VELOCITIES = ("v", "vdot", "tau", "x")


@attrs.frozen(slots=False)
class Arguments:
    """Numbers from which the shape of every argument follows.

    Attributes
    ----------
    num_positions, num_velocities, num_steps, num_bodies, num_forces : int
        nq, nv, the size of steps on the group, the number of bodies without the world, of forces.
    num_rows, num_position_rows : int
        Numbers of velocity and of position constraints.
    num_sites : int
        On how many frames these act.
    """

    num_positions: int
    num_velocities: int
    num_steps: int
    num_bodies: int
    num_forces: int = 0
    num_rows: int = 0
    num_position_rows: int = 0
    num_sites: int = 0

    @functools.cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each argument and result, without batch axes."""
        nq, nv, rows = self.num_positions, self.num_velocities, self.num_bodies + 1
        return {
            **dict.fromkeys(_POSITIONS, (nq,)),
            **dict.fromkeys(_VELOCITIES, (nv,)),
            "dx": (self.num_steps,),
            "rate": (self.num_steps,),
            "M": (nv, nv),
            "derivatives": (nv * (self.num_steps + nv),),
            "poses": (rows, 4, 4),
            "twists": (rows, 6),
            "wrenches": (rows, 6),
            "jacobian": (6, nv),
            "motion subspaces": (nv, 6),
            "known": (3 * nv,),
            "found": (2 * nv,),
            "energies": (2,),
            "momentum": (9,),
            "t": (1,),
            "tau, t and pull": (nv + 3,),
            "vdot and t": (nv + 1,),
            "powers": (self.num_forces, 2),
            "potentials": (self.num_forces,),
            "solution": (nv + 2 * self.num_rows,),
            "constraint state": (self.num_position_rows + 2 * self.num_rows,),
            "constraint jacobian": (self.num_rows, nv),
            "constraint sizes": (self.num_rows,),
            "known, t and pull": (3 * nv + 3,),
            "closed hybrid": (2 * nv + 2 * self.num_rows,),
            "multipliers and t": (self.num_rows + 1,),
            "site wrenches": (self.num_sites, 9),
            "force wrenches": (nv + 6 * rows,),
            "constraint velocity derivative": (self.num_rows, self.num_steps),
            "constraint force derivative": (nv, self.num_steps),
            "multipliers": (self.num_rows,),
        }

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of the argument or result called `name`, without batch axes."""
        return self.shapes[name]

    def with_leading_axes(self, name: str, argument: Any) -> Any:
        """Return an argument as an array of float64 with any axes before those of one sample.

        Parameters
        ----------
        name : str
            What it is: q, v, vdot, tau, wrenches, ...
        argument : array_like, shape (..., shape of one)
            Its value.

        Returns
        -------
        ndarray
            The argument, or a copy of it.

        Raises
        ------
        ShapeError
            If its last axes are others, or it is not made of numbers.
        """
        array = _numbers(name, argument)
        expected = self.shape(name)
        if array.shape[max(array.ndim - len(expected), 0) :] != expected:
            axes = ", ".join(str(size) for size in expected)
            raise ShapeError(
                f"Argument '{name}' must have shape {expected}, or (..., {axes}) for several; got "
                f"{array.shape}."
            )
        return array

    def timed(self, name: str, vector: Any, t: Any, on_error: str) -> Any:
        """Return a vector (..., nv) followed by the time, (..., nv + 1); see `times_of`."""
        array = self.with_leading_axes(name, vector)
        times = times_of(t, on_error)[..., None]
        try:
            leading = np.broadcast_shapes(array.shape[:-1], times.shape[:-1])
        except ValueError:
            raise ShapeError(
                f"The batch axes of the arguments do not broadcast: {name} {array.shape[:-1]}, t "
                f"{times.shape[:-1]}."
            ) from None
        parts = (np.broadcast_to(part, (*leading, part.shape[-1])) for part in (array, times))
        return np.concatenate(tuple(parts), axis=-1)

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

    def output(self, name: str, leading: tuple[int, ...], out: Any) -> Any:
        """Return the array to write a result to: `out` if it fits, a new one if it is None.

        Parameters
        ----------
        name : str
            What is written.
        leading : tuple of int
            The batch axes.
        out : ndarray or None
            What the user gave.

        Returns
        -------
        ndarray
            Contiguous, of float64, of the shape of the result.

        Raises
        ------
        ShapeError
            If `out` cannot hold the result.
        """
        expected = leading + self.shape(name)
        if out is None:
            return np.empty(expected)
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


def times_of(t: Any, on_error: str = "raise") -> Any:
    """Return times as an array.

    Parameters
    ----------
    t : array_like, shape (...)
        Times. [s]
    on_error : {"raise", "nan"}
        Whether times that are not finite raise.

    Returns
    -------
    ndarray, shape (...)
        Of float64.

    Raises
    ------
    ShapeError
        If it is not made of numbers.
    NotFiniteError
        If one of them is not finite.
    """
    times = _numbers("t", t)
    if on_error == "raise" and not np.isfinite(times).all():
        bad = times[~np.isfinite(times)][0]
        raise NotFiniteError(f"Argument 't' has the time {bad}; it must be finite.")
    return times


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
        if isinstance(argument, Mapping):
            part = "position_slice" if name in _POSITIONS else "velocity_slice"
            reason = (
                f"got a {type(argument).__name__}; system.{part}(joint) says which are a joint's"
            )
        raise ShapeError(f"Argument '{name}' must be an array of real numbers; {reason}.")
    # Kernels take arrays that may be written to, even where they only read.
    return np.require(array, np.float64, ["C", "W"])
