"""Derivatives of the power of one force in Python, for the adjoint: one call at each state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from mbkit.representations import Hybrid
from mbkit.systems.memory.callbacks import callback_address, read_only, taken_error
from mbkit.systems.memory.force_derivatives import StateDerivatives
from mbkit.systems.memory.forces import PythonForceSlot
from mbkit.systems.memory.own_twists import OwnTwists

__all__ = ["ForceSlopes"]

#: The inputs of derivatives, in this order; those by positions are along steps.
_NAMES = ("q", "v", "poses", "twists")


@final
class ForceSlopes:
    """Memory in which kernels pass arguments and weights to a force in Python and read derivatives.

    The weights multiply the force's results, as velocities and twists do in a power; the results
    read back are the derivatives of that sum. See
    `mbkit.kernels.vector_jacobian_products.python_forces`. Bodies move by hybrid twists, whatever
    the representation of the force.

    Attributes
    ----------
    memory : ndarray
        As kernels read and write it.
    error : BaseException or None
        The exception that ended the last call.
    fields : dict
        Fields of the force by which derivatives are summed, with their axes.
    by_fields : dict of str to ndarray
        The sums of derivatives by fields of the force, for those that its derivatives have.

    Parameters
    ----------
    plain : PythonForceSlot
        The force, with arguments of their sizes.
    steps : int
        How many entries the steps of those joints have whose positions the force is given.
    steps_add : bool
        Whether the positions of all these joints add; an attribute as well.
    fields : mapping of str to tuple of int
        Fields of the force, with their axes, by which derivatives are summed.
    derivatives : StateDerivatives
        Of the force, which several callers may use in turn.
    """

    def __init__(
        self,
        plain: PythonForceSlot,
        steps: int,
        steps_add: bool,
        fields: Mapping[str, Any],
        derivatives: StateDerivatives,
    ) -> None:
        from mbkit.kernels.vector_jacobian_products import python_forces as own

        self.derivatives = derivatives
        self.force, self.fields = plain.force, dict(fields)
        self.error: BaseException | None = None
        self.by_fields: dict[str, Any] = {}
        *given, out = plain.arguments
        q, v, poses, twists = (x.shape for x in given)
        ndx = (steps,)
        shapes = [q, v, poses, twists, v, twists, q + ndx, ndx, v, twists, twists, twists]
        sizes = [math.prod(shape) for shape in shapes]
        ends = np.cumsum(sizes).tolist()
        self.memory = np.zeros(own.ARGUMENTS + ends[-1])
        self.memory[own.ASKED] = callback_address("slopes")
        self._time = own.TIME
        parts = np.split(self.memory[own.ARGUMENTS :], ends[:-1])
        views = [x.reshape(shape) for x, shape in zip(parts, shapes, strict=True)]
        self._arguments = [read_only(x) for x in views[:4]]
        self._y, self._Y, self._moves, self._H, self._G, self._E = *views[4:7], *views[9:]
        said = self.memory[own.ARGUMENTS :]
        self._slopes = said[ends[6] : ends[10]]  # by all that derivatives are by
        self.steps_add = steps_add
        self._along = None if steps_add else self._moves
        self._out, self._weights = np.zeros(out.shape), np.zeros(out.size)
        self._is_converted = plain.is_converted
        self._turns = len(poses) > 0 and type(self.force.representation) is not Hybrid
        self._on_bodies = self.force.acts_on == "bodies"
        self._steps = steps
        self._row = self.memory[own.TIME : own.ARGUMENTS + ends[5]]
        self._before = 1 + ends[2]
        self._derivatives = np.zeros((out.size, self._slopes.size))
        columns = np.split(self._derivatives, np.cumsum(sizes[7:10]), axis=1)
        self._parts = [
            (name, part.reshape(out.shape + shape))
            for name, part, shape in zip(_NAMES, columns, shapes[7:11], strict=True)
            if part.size
        ]

    def slopes(self) -> None:
        """Ask the force, and write the slopes."""
        t = self.memory.item(self._time)
        try:
            self._write(t, *self._arguments)
        except BaseException as error:
            self.derivatives.add_note(error, t, np.array2string(self._arguments[0], precision=6))
            raise

    def raise_error(self) -> None:
        """Raise the exception that ended the last call."""
        if self.error is not None:
            raise taken_error(self)

    def _write(self, t: float, q: Any, v: Any, poses: Any, twists: Any) -> None:
        own, weights = None, self._Y if self._on_bodies else self._y
        if self._turns:
            units = np.broadcast_to(np.eye(6), (len(poses), 6, 6))
            own = OwnTwists.of(self.force.representation, poses, units)
            if self._is_converted:
                hybrid, twists = twists, own.twists(twists)
            else:
                hybrid = np.linalg.solve(own.T, twists[..., None])[..., 0]
            if self._on_bodies:
                weights = own.twists(weights)
        arguments = t, q, v, poses, twists
        row = self._row  # all that is given, but for the twists and Y in the force's representation
        if own is not None:
            more = weights if self._on_bodies else self._Y
            row = np.concatenate([row[: self._before], twists.ravel(), self._y, more.ravel()])
        traced = self.derivatives.slopes(row, arguments)
        if traced is None:
            self._multiply(arguments, weights)
        else:
            self._take(traced)
        if own is not None:
            self._turn(own, hybrid, traced is not None)

    def _take(self, traced: Any) -> None:
        """Write slopes that are traced."""
        nq, size = self._arguments[0].size, self._weights.size
        if self._along is None:
            self._slopes[:] = traced[:-size]
        else:
            self._slopes[: self._steps] = traced[:nq] @ self._along
            self._slopes[self._steps :] = traced[nq:-size]
        if self._on_bodies:
            self._E[...] = -traced[-size:].reshape(self._E.shape)
        if self.fields:
            self.fields.clear()
            self.by_fields.clear()

    def _multiply(self, arguments: Any, weights: Any) -> None:
        """Write slopes by the derivatives of the force's results, and sums by its fields."""
        known = self.derivatives.at(arguments, self.fields)
        np.negative(weights.reshape(-1), out=self._weights)
        for name, part in self._parts:
            if name == "q":
                part[...] = self.derivatives.along(known, self._along)
            elif name in known:
                part[...] = known[name]
            else:
                part.fill(0.0)
        np.dot(self._weights, self._derivatives, out=self._slopes)
        if self._on_bodies:
            self._out[...] = 0.0
            evaluate: Any = self.force.evaluate
            evaluate(*arguments, self._out)
            np.negative(self._out, out=self._E)
        if self.fields:
            self._add_fields(known)

    def _turn(self, own: OwnTwists, hybrid: Any, moves_are_hybrid: bool) -> None:
        """Let E, G and H be those by hybrid twists, from those by V = T V_h; W_h = T^T W.

        H is by hybrid moves already, or not.
        """
        by_pose = np.einsum("bi,jbil,bl->bj", self._G, own.rate, hybrid)
        if self._on_bodies:
            by_pose += np.einsum("bi,jbil,bl->bj", self._E, own.rate, self._Y)
        turned = (self._E, self._G) if moves_are_hybrid else (self._E, self._G, self._H)
        for slopes in turned:
            slopes[...] = (np.swapaxes(own.T, -1, -2) @ slopes[..., None])[..., 0]
        self._H += by_pose

    def _add_fields(self, known: Mapping[str, Any]) -> None:
        """Add slopes by fields; those by which there is no derivative are left out from now on."""
        for field in [*self.fields]:
            if field in known:
                slopes = self._weights @ known[field].reshape((self._weights.size, -1))
                self.by_fields[field] = self.by_fields.get(field, 0.0) + slopes
            else:
                del self.fields[field]
                self.by_fields.pop(field, None)
