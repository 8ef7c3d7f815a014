"""Generalized forces from a Python function inside a compiled time loop."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.errors import ShapeError, UsageError, printable
from mbkit.kernels import layout
from mbkit.lie.arrays import as_floats
from mbkit.systems.memory.callbacks import callback_address, register
from mbkit.systems.memory.workspace import Workspace

#: The name in messages of the result of a user's function.
WHAT = "A run: what tau(t, q, v) returns"


def check_takes_states(function: Callable[..., Any], who: str) -> None:
    """Raise UsageError, which begins with `who`, unless a function may be called by (t, q, v)."""
    try:
        signature = inspect.signature(function)
    except Exception:  # of compiled functions, or those with another signature
        return
    try:
        signature.bind(0.0, None, None)
    except TypeError as error:
        name = getattr(function, "__qualname__", type(function).__qualname__)
        raise UsageError(
            f"{who} must take three arguments, (t, q, v); {printable(name)}{signature} does not: "
            f"{error}."
        ) from None


class PythonForce:
    """The arguments and the result of ``tau(t, q, v)`` in one workspace.

    Memory: whether the call came to its end, callback and sizes, then t, q, v, and tau.
    """

    def __init__(self, function: Callable[..., Any], nq: int, nv: int) -> None:
        start = layout.FORCE_VECTORS
        self.function = function
        self.error: BaseException | None = None
        self.listener: Callable[[float, Any], None] | None = None  # hears t and tau
        self.memory = np.zeros(start + nq + 2 * nv)
        self.memory[layout.FORCE_CALLBACK] = callback_address("evaluate")
        self.memory[layout.FORCE_NUM_POSITIONS] = nq
        self.memory[layout.FORCE_NUM_VELOCITIES] = nv
        self._t = self.memory[layout.FORCE_TIME : start]
        self._q = self.memory[start : start + nq]
        self._v = self.memory[start + nq : start + nq + nv]
        self._tau = self.memory[start + nq + nv :]

    def install(self, workspace: Workspace) -> None:
        """Let the equations of motion of a workspace call this force."""
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.forces.generalized_force import python_force

        address = array_address(self.memory)
        weakref.finalize(workspace, register(address, self))
        workspace.record[0]["force"] = python_force.address
        workspace.record[0]["force_slot"] = address

    def evaluate(self) -> None:
        """Call the function with copies of q and v, which it may keep; check its result."""
        tau = self.function(float(self._t[0]), self._q.copy(), self._v.copy())
        tau = as_floats(tau, WHAT)
        if tau.shape != self._tau.shape:
            raise ShapeError(
                f"The forces tau(t, q, v) must return an array of shape {self._tau.shape}, one "
                f"entry a velocity; got shape {tau.shape}."
            )
        self._tau[:] = tau
        if self.listener is not None:
            self.listener(float(self._t[0]), self._tau)
