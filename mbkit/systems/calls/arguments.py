"""The shapes that arguments of a system's methods must have."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbkit import memory
from mbkit.errors import NameUnknownError, NotFiniteError, ShapeError, UsageError, suggestion
from mbkit.lie.arrays import array_described
from mbkit.systems.memory import recycled

__all__ = ["Arguments", "Floats", "check_on_error", "common_axes", "time_of", "times_of"]

#: Arrays that methods of a system take and return.
Floats = NDArray[np.float64]

#: Positions or velocities: a vector, or numbers by the names of joints.
Configuration: TypeAlias = ArrayLike | Mapping[str, ArrayLike]

#: The values of `on_error`: samples that fail raise, or become NaN.
ON_ERROR = ("raise", "nan")

#: Most entries that a message names.
_SHOWN = 8

_POSITIONS = ("q", "q0", "q1")
_VELOCITIES = ("v", "vdot", "vddot", "vdddot", "p", "tau", "x")


@attrs.frozen(slots=False)
class Arguments:
    """Numbers from which the shape of every argument follows.

    Attributes
    ----------
    num_positions, num_velocities, ndx, num_bodies, num_forces : int
        nq, nv, the size of steps on the group, the number of bodies without the world, of forces.
    num_rows, num_position_rows : int
        Numbers of velocity and of position constraints.
    num_sites : int
        Number of frames on which these act.
    num_terms, num_series : int
        For kinematics of higher order: terms of the series, and numbers that it is given.
    by_name : callable, optional
        ``by_name("q", {"hinge": 0.5}, "q0")``, or "v": the vector of numbers by the names of
        joints, of an argument that messages name.
    names : tuple of two tuples of str
        Names of positions and of velocities, for messages.
    dtype : type
        Of results of batches; those of one sample are doubles.
    """

    num_positions: int
    num_velocities: int
    ndx: int
    num_bodies: int
    num_forces: int = 0
    num_rows: int = 0
    num_position_rows: int = 0
    num_sites: int = 0
    num_terms: int = 0
    num_series: int = 0
    by_name: Callable[[str, Mapping[str, Any], str], Any] | None = None
    names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    dtype: Any = np.float64

    @functools.cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each argument and result, without batch axes."""
        nq, nv, rows = self.num_positions, self.num_velocities, self.num_bodies + 1
        return {
            **dict.fromkeys(_POSITIONS, (nq,)),
            **dict.fromkeys(_VELOCITIES, (nv,)),
            "dx": (self.ndx,),
            "rate": (self.ndx,),
            "M": (nv, nv),
            "regressor": (nv, 10 * (rows - 1)),
            "derivatives": (self.ndx + nv, nv),  # by q, (nv, ndx), after it by v, as they lie
            "derivatives of accelerations": (nv, self.ndx + 2 * nv + 1),
            "second derivatives": (nv * (self.ndx**2 + nv * nv + self.ndx * nv),),
            "mass matrix derivatives": (nv * nv * self.ndx,),
            "poses": (rows, 4, 4),
            "twists": (rows, 6),
            "wrenches": (rows, 6),
            "jacobian": (6, nv),
            "motion subspaces": (nv, 6),
            "known": (3 * nv,),
            "found": (2 * nv,),
            "v and pdot": (2, nv),
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
            "constraint velocity derivative": (self.num_rows, self.ndx),
            "constraint force derivative": (nv, self.ndx),
            "multipliers": (self.num_rows,),
            "series": (self.num_series,),
            "body derivatives": (self.num_terms, rows, 6),
        }

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of the argument or result called `name`, without batch axes."""
        try:
            return self.shapes[name]
        except (KeyError, TypeError):
            raise NameUnknownError(
                f"There is no argument {name!r}; {suggestion(name, self.shapes)}"
            ) from None

    def with_leading_axes(self, name: str, argument: Any) -> Any:
        """Return q, v, tau, ... as an array of float64 with any axes before those of one sample.

        Where results are of single precision, arrays of float32 are left so. ShapeError if its last
        axes are others, or it is not made of numbers.
        """
        expected = self.shape(name)
        is_single = self.dtype == np.float32 and getattr(argument, "dtype", None) == np.float32
        is_single = is_single and argument.__class__ is np.ndarray
        array = argument if is_single else self._numbers(name, argument)
        if array.shape[max(array.ndim - len(expected), 0) :] != expected:
            axes = ", ".join(str(size) for size in expected)
            raise ShapeError(
                f"Argument '{name}' must have shape {expected}{self._entries(name)}, or (..., "
                f"{axes}) for several; got {array.shape}."
            )
        return array

    def leading(self, t: Any, on_error: str = "raise", **given: Any) -> tuple[int, ...]:
        """Return the batch axes of vectors and times, which are looked at; see `times_of`."""
        shapes = {n: self.with_leading_axes(n, value).shape[:-1] for n, value in given.items()}
        return common_axes({**shapes, "t": times_of(t, on_error).shape})

    def timed(self, name: str, vector: Any, t: Any, on_error: str) -> Any:
        """Return a vector (..., nv) followed by the time, (..., nv + 1); see `times_of`."""
        array = self.with_leading_axes(name, vector)
        times = times_of(t, on_error)[..., None]
        leading = common_axes({name: array.shape[:-1], "t": times.shape[:-1]})
        if not leading:
            return np.concatenate((array, times))
        parts = (np.broadcast_to(part, (*leading, part.shape[-1])) for part in (array, times))
        return np.concatenate(tuple(parts), axis=-1)

    def checked(self, name: str, argument: Any) -> Any:
        """Return q, v, tau, ... of one sample as contiguous float64 array, or raise ShapeError."""
        expected = self.shape(name)
        array = self._numbers(name, argument)
        if array.shape != expected:
            raise ShapeError(
                f"Argument '{name}' must have shape {expected}{self._entries(name)}; got "
                f"{array.shape}."
            )
        return array

    def _entries(self, name: str) -> str:
        """Return the names of the entries of positions or velocities where they are few."""
        names = self.names[0] if name in _POSITIONS else self.names[1]
        known = name in (*_POSITIONS, *_VELOCITIES) and 0 < len(names) <= _SHOWN
        return f" ({', '.join(names)})" if known else ""

    def _numbers(self, name: str, argument: Any) -> Any:
        """Return an argument as an array, with numbers by the names of joints put in their places.

        Entries that are not named are those of the reference configuration, or zero.
        """
        if isinstance(argument, Mapping) and self.by_name is not None:
            if name in _POSITIONS:
                return self.by_name("q", argument, name)
            if name in _VELOCITIES:
                return self.by_name("v", argument, name)
        return _numbers(name, argument)

    @functools.cached_property
    def large(self) -> frozenset[str]:
        """Names of results of which one sample alone needs much memory."""
        return frozenset(
            name for name, shape in self.shapes.items() if 8 * math.prod(shape) >= memory.LARGE
        )

    def empty(self, name: str, leading: tuple[int, ...] = ()) -> Any:
        """Return an array for a result; NoMemoryError if there is no memory for it."""
        shape = leading + self.shape(name)
        if leading or name in self.large:
            remedy = "use what acts on single vectors, such as mass_action and forward_dynamics"
            if leading:
                remedy = "ask for fewer samples at once"
            axes = " x ".join(map(str, shape))
            memory.check_memory(math.prod(shape), f"The result '{name}' ({axes} numbers)", remedy)
        return recycled.results.empty(shape, self._dtype(leading))

    def _dtype(self, leading: tuple[int, ...]) -> Any:
        """Return the type of the numbers of a result with these batch axes."""
        return self.dtype if leading else np.float64

    def output(self, name: str, leading: tuple[int, ...], out: Any) -> Any:
        """Return the array to write a result to: `out`, or a new one if it is None.

        ShapeError if `out` cannot hold the result with these batch axes, NoMemoryError as of
        `empty`.
        """
        expected, dtype = leading + self.shape(name), self._dtype(leading)
        if out is None:
            return self.empty(name, leading)
        made = expected if dtype is np.float64 else f"{expected}, numpy.{np.dtype(dtype)}"
        if not (
            isinstance(out, np.ndarray)
            and out.dtype == dtype
            and out.shape == expected
            and out.flags.c_contiguous
            and out.flags.writeable
        ):
            raise ShapeError(
                f"Argument 'out' must be a contiguous, writeable {np.dtype(dtype)} array of shape "
                f"{expected}; got {array_described(out)}. Make one with numpy.empty({made})."
            )
        return out

    def written(self, name: str, found: Floats, out: Any) -> Floats:
        """Return a result in the array that is given for it, if there is one; see `output`."""
        if out is None:
            return found
        leading = found.shape[: found.ndim - len(self.shape(name))]
        self.output(name, leading, out)[...] = found
        return np.asarray(out)


def common_axes(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the broadcast of batch axes, by argument; ShapeError if they do not fit."""
    if not any(shapes.values()):
        return ()
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(
            f"The batch axes of the arguments do not broadcast: {listed}. Each must be the same "
            f"or 1, or be left out."
        ) from None


def check_on_error(on_error: str) -> None:
    """Raise UsageError unless `on_error` is "raise" or "nan"."""
    if not (isinstance(on_error, str) and on_error in ON_ERROR):
        raise UsageError(f"on_error must be 'raise' or 'nan', got {on_error!r}.")


def times_of(t: Any, on_error: str = "raise") -> Any:
    """Return times [s] as an array of float64, shape (...); ShapeError if they are no numbers.

    NotFiniteError if one is not finite and `on_error` is "raise".
    """
    check_on_error(on_error)
    if t.__class__ is float and math.isfinite(t):
        return np.array(t)
    times = _numbers("t", t)
    if on_error == "raise" and not np.isfinite(times).all():
        bad = times[~np.isfinite(times)][0]
        raise NotFiniteError(f"Argument 't' has the time {bad}; it must be finite.")
    return times


def time_of(t: Any) -> float:
    """Return one time, finite; ShapeError or NotFiniteError if it is none."""
    times = times_of(t)
    if times.ndim != 0:
        raise ShapeError(f"Argument 't' must be one number here, got shape {times.shape}.")
    return float(times)


def _none_for(name: str) -> str:
    """Return the end of a message where None was given: the value to give instead."""
    usual = {"q": "system.reference_configuration()", "v": "numpy.zeros(system.nv)"}
    usual |= dict.fromkeys(("vdot", "tau"), usual["v"])
    return f"None was given{f'; give for example {usual[name]}' if name in usual else ''}"


def _numbers(name: str, argument: Any) -> Any:
    reason = ""
    try:
        array = np.asarray(argument)
        if array.dtype.kind not in "fiub":
            reason = f"its type is {array.dtype}" if argument is not None else _none_for(name)
    except Exception as error:  # rows of several lengths; whatever its own __array__ raises
        reason = str(error) or type(error).__name__
    if isinstance(argument, np.ma.MaskedArray):
        reason = "it is masked; fill or leave out what is"
    if reason:
        raise ShapeError(f"Argument '{name}' must be an array of real numbers; {reason}.")
    return as_kernels_take(array)


def as_kernels_take(array: Any) -> Any:
    """Return numbers as kernels take them, writeable even to be read; the same array if it is."""
    flags = array.flags
    if (
        array.__class__ is np.ndarray
        and array.dtype == np.float64
        and flags.c_contiguous
        and flags.writeable
        and flags.aligned
    ):
        return array  # np.require looks for a microsecond
    return np.require(array, np.float64, ["C", "W"])


def as_single_lanes_take(array: Any) -> Any:
    """Return numbers as kernels for lanes of single precision take them: see `as_kernels_take`."""
    return np.require(array, np.float32, ["C", "W", "A"])
