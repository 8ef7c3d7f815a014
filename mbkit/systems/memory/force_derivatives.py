"""Derivatives of a force in Python by its arguments: given, traced, or differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, final

import numpy as np

from mbkit.autodiff.runs import TraceFailedError
from mbkit.forces.definition import gives_derivatives
from mbkit.forces.derivatives import checked_derivatives, expected_shapes
from mbkit.lie.arrays import hat
from mbkit.representations import Hybrid, Representation
from mbkit.systems.memory.callbacks import read_only
from mbkit.systems.memory.forces import PythonForceSlot
from mbkit.systems.memory.traced_force import TracedForce

__all__ = ["StateDerivatives"]

#: The step of differences, a power of two by which nothing is rounded: [rad], [m], and per second.
_STEP = 2.0**-17

#: Of central differences of fourth order, as `mbkit.kernels.derivatives.forces` takes: of values
#: at one step h, at -h, 2 h and -2 h.
_WEIGHTS = np.array([8.0, -8.0, -1.0, 1.0]) / 12.0

#: Rates of a rotation matrix along turns about the axes of the world.
_TURNS = hat(np.eye(3))

_NONE: Mapping[str, tuple[int, ...]] = MappingProxyType({})

#: The time, q, v, poses and twists.
_Arguments = tuple[float, Any, Any, Any, Any]


#: How far traced values may be from a force's own, in parts of the largest entry of both.
_SAME = 1e-6


@final
class StateDerivatives:
    """The derivatives of a force in Python at a state, under the names of `ForceDerivatives`.

    A force that gives its derivatives is called once. Of others, derivatives come from tracing
    `evaluate`. Where that fails, finite differences are taken, by four calls for each entry of
    the steps and velocities of its own joints, and for each of the six motions and six twists of
    each of its own bodies.

    Parameters
    ----------
    plain : PythonForceSlot
        The force, with arguments of their sizes.
    say_differences : callable, optional
        ``say_differences(reason)`` is called once, where tracing has ended.

    Attributes
    ----------
    force : Force
        The force.
    is_given : bool
        Whether it gives its derivatives.
    is_exact : bool
        Whether it does, or could be traced at all states so far.
    """

    def __init__(
        self, plain: PythonForceSlot, say_differences: Callable[[str], None] | None = None
    ) -> None:
        self.force = force = plain.force
        self.is_given = self.is_exact = gives_derivatives(force)
        self._expected = expected_shapes(plain.arguments)
        self._say = say_differences
        self._traced: TracedForce | None = None
        self._differences = None if self.is_given else _Differences(force, plain.arguments)
        self._by_differences = False
        out = plain.arguments[-1]
        if not self.is_given and out.size:
            self._traced, self.is_exact = TracedForce(force, plain.arguments), True
        self._room = 0.0  # how far traced values may be from its own, besides
        self._out, self._size = np.zeros(out.shape), out.size

    def at(
        self, arguments: _Arguments, fields: Mapping[str, tuple[int, ...]] = _NONE
    ) -> dict[str, Any]:
        """Return derivatives by v, poses and twists that are not zero.

        Of a force that gives them, or can be traced, also those by t and by q; of one that gives
        them by fields with these axes.
        """
        if self._differences is None:
            out = self._expected["t"]
            axes = {name: out + shape for name, shape in fields.items()} if fields else fields
            return checked_derivatives(self.force, arguments, self._expected, axes)
        table = self.table(arguments)
        self._by_differences = table is None
        if table is not None:
            return self._named(table, arguments)
        known = self._differences.at(arguments)
        if self.is_exact:  # but for this state
            known["t"] = self._differences.by_time()
        return known

    def along(self, known: Mapping[str, Any], moves: Any) -> Any:
        """Return the derivatives along moves (nq, n) of the positions at the last state of `at`.

        `known` is its result; (*out, n). None moves each position by itself.
        """
        if self._differences is not None and self._by_differences:
            return self._differences.along(moves)
        if "q" not in known:
            return 0.0 if moves is None else np.zeros((*self._expected["t"], moves.shape[1]))
        return known["q"] if moves is None else known["q"] @ moves

    def table(self, arguments: _Arguments, written: Any = None) -> Any:
        """Return derivatives (out, 1 + n) by the time and all numbers of the arguments.

        None where it cannot be traced. `written` is the force's result there, if known.
        """
        if self._traced is None or not self.is_exact:
            return None
        given, own = _in_a_row(arguments), slice(self._size)
        found = self._by_tracing(self._traced.derivatives, given, arguments, own, written)
        return None if found is None else found[self._size :].reshape((self._size, -1))

    def slopes(self, given: Any, arguments: _Arguments) -> Any:
        """Return slopes of -sum w out for weights, see `TracedForce`; None where there are none.

        `given` are the time, the arguments and weights in a row.
        """
        if self._traced is None or not self.is_exact:
            return None
        own = slice(-self._size, None)
        return self._by_tracing(self._traced.slopes, given, arguments, own)

    def _named(self, table: Any, arguments: _Arguments) -> dict[str, Any]:
        """Return derivatives by name."""
        expected = self._expected
        poses = arguments[3]
        sizes = [1, *(each.size for each in arguments[1:])]
        t, q, v, C, twists = np.split(table, np.cumsum(sizes)[:-1], axis=1)
        known = {"t": t, "q": q, "v": v, "twists": twists}
        if len(poses):
            rates = _rates_of_poses(self.force.representation, poses).reshape(-1, 6, 16)
            known["poses"] = np.einsum("obk,bjk->obj", C.reshape(-1, len(poses), 16), rates)
        return {name: each.reshape(expected[name]) for name, each in known.items() if each.size}

    def _by_tracing(
        self, find: Callable[[Any], Any], given: Any, arguments: _Arguments, out: slice,
        written: Any = None,
    ) -> Any:  # fmt: skip
        """Return values and derivatives at a row of numbers, None where there are no derivatives.

        Of the force as it is now, whose attributes may have changed since it was traced: its
        result, `written` or a new one, is compared with the entries `out` of those found.
        """
        traced = self._traced
        if traced is None or not self.is_exact:
            return None
        try:
            if written is None:
                written = self._out
                written.fill(0.0)
                self.force.evaluate(*arguments, written)
            found = find(given)
            if self._distance(written, found[out]) > self._room:
                traced.forget()
                found = find(given)
                self._room = max(self._room, 2.0 * self._distance(written, found[out]))
        except TraceFailedError as error:
            self.is_exact = False
            if self._say is not None:
                self._say(str(error))
            return None
        return found if math.isfinite(np.add.reduce(found)) else None

    @staticmethod
    def _distance(written: Any, traced: Any) -> float:
        """Return how much farther than they may be two arrays are from each other."""
        mine, other = written.reshape(-1).tolist(), traced.tolist()
        distances: list[float] = [abs(a - b) for a, b in zip(mine, other, strict=True)]
        return max(distances) - _SAME * max(map(abs, mine))  # type: ignore[no-any-return]

    def add_note(self, error: BaseException, t: float, q: str) -> None:
        """Say of an error which force has raised it, and where."""
        where = f"t = {t:.6g} and q = {q} of its joints"
        name = self.force.name
        error.add_note(
            f"Raised by the derivatives of force '{name}', at {where}."
            if self.is_given
            else f"Raised by force '{name}' beside {where}, in differences that take the place of "
            f"derivatives."
        )


def _in_a_row(arguments: _Arguments) -> Any:
    t, *given = arguments
    return np.concatenate([(t,), *(each.reshape(-1) for each in given)])


def _rates_of_poses(own: Representation, poses: Any) -> Any:
    """Return the rates (n, 6, 4, 4) of poses that move along unit twists in a representation."""
    rates = np.zeros((len(poses), 6, 4, 4))
    rates[:, :3, :3, :3] = _TURNS @ poses[:, None, :3, :3]
    rates[:, 3:, :3, 3] = np.eye(3)
    if type(own) is Hybrid:
        return rates
    units = Hybrid().twist_map(poses) @ own.inverse_twist_map(poses)
    return np.einsum("bkj,bkrc->bjrc", units, rates)


class _Differences:
    """Differences of a force's results by its own arguments, which are moved along lines."""

    def __init__(self, force: Any, arguments: tuple[Any, ...]) -> None:
        self._force = force
        *given, out = arguments
        ends = np.cumsum([x.size for x in given]).tolist()
        self._numbers = np.zeros(ends[-1])
        parts = np.split(self._numbers, ends[:-1])
        self._given = [read_only(x.reshape(y.shape)) for x, y in zip(parts, given, strict=True)]
        self._joints, self._velocities, self._twists = (
            self._numbers[: ends[1]], range(ends[0], ends[1]), range(ends[2], ends[3])
        )  # fmt: skip
        self._positions, self._poses = slice(0, ends[0]), ends[1]
        self._out, self._time = out.shape, 0.0
        # forces on bodies that name no joints are given all of the system, and read few or none
        self._may_not_read = force.acts_on == "bodies" and not force.joints
        self._reads = True

    def at(self, arguments: _Arguments) -> dict[str, Any]:
        """Return derivatives by v, poses and twists, which are as the force wants them."""
        self._time, *given = arguments
        np.concatenate([x.reshape(-1) for x in given], out=self._numbers)
        self._reads = not (self._may_not_read and self._joints.size and self._reads_nothing())
        found = {}
        if self._reads and self._velocities:
            found["v"] = self._rates([self._unit(k) for k in self._velocities])
        poses = given[2]
        if len(poses):
            shape = (*self._out, len(poses), 6)
            found["poses"] = self._rates(self._motions(poses)).reshape(shape)
            found["twists"] = self._rates([self._unit(k) for k in self._twists]).reshape(shape)
        return found

    def by_time(self) -> Any:
        """Return the derivative by the time."""
        out, t, outs = self._out, self._time, np.zeros((len(_WEIGHTS), *self._out))
        h = math.ldexp(_STEP, max(0, math.frexp(t)[1]))
        for e, each in zip((h, -h, 2.0 * h, -2.0 * h), outs, strict=True):
            self._force.evaluate(t + e, *self._given, each)
        return np.reshape(_WEIGHTS / h @ outs.reshape((len(_WEIGHTS), -1)), out)

    def along(self, moves: Any) -> Any:
        """Return derivatives along moves (nq, n) of positions, (*out, n), or by each position."""
        if moves is None:
            each = range(self._positions.stop) if self._reads else ()
            return self._rates([(k, 1.0, _STEP) for k in each]) if each else 0.0
        found = np.zeros((*self._out, moves.shape[1]))
        some = np.flatnonzero(moves.any(axis=0))
        if self._reads and some.size:
            own = self._positions
            found[..., some] = self._rates([(own, moves[:, k], _STEP) for k in some])
        return found

    def _unit(self, entry: int) -> tuple[Any, Any, float]:
        """Return the move of one number, by a step that fits to its size."""
        exponent = math.frexp(self._numbers[entry])[1]
        return entry, 1.0, math.ldexp(_STEP, max(0, exponent))

    def _motions(self, poses: Any) -> list[tuple[Any, Any, float]]:
        """Return the moves of poses along unit twists in the force's representation."""
        rates, found = _rates_of_poses(self._force.representation, poses), []
        for b, each in enumerate(rates.reshape((-1, 6, 16))):
            own = slice(self._poses + 16 * b, self._poses + 16 * b + 16)
            found += [(own, rate, _STEP) for rate in each]
        return found

    def _rates(self, moves: Sequence[tuple[Any, Any, float]]) -> Any:
        """Return rates (*out, n) as numbers move: which ones, how fast, and steps of differences.

        A line leaves the group by the square of the step, which a derivative does not see.
        """
        t, numbers, given, evaluate = self._time, self._numbers, self._given, self._force.evaluate
        written = np.zeros((len(moves), len(_WEIGHTS), *self._out))
        found = np.empty((len(moves), math.prod(self._out)))
        for row, ((own, rate, h), outs) in enumerate(zip(moves, written, strict=True)):
            start = numbers.item(own) if isinstance(own, int) else numbers[own].copy()
            for e, out in zip((h, -h, 2.0 * h, -2.0 * h), outs, strict=True):
                numbers[own] = start + e * rate
                evaluate(t, *given, out)
            numbers[own] = start
            np.dot(_WEIGHTS / h, outs.reshape((len(_WEIGHTS), -1)), out=found[row])
        return found.T.reshape((*self._out, len(moves)))

    def _reads_nothing(self) -> bool:
        """Whether the force writes the same where all numbers of joints are other ones."""
        before, both = self._joints.copy(), np.zeros((2, *self._out))
        for out in both:
            self._force.evaluate(self._time, *self._given, out)
            self._joints[:] += _STEP / (1.37 + np.arange(self._joints.size))
        self._joints[:] = before
        return bool((both[0] == both[1]).all())
