"""Efforts that a function gives, as a force of the system, so that they have derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from mbkit.forces import Force
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats

__all__ = ["with_efforts"]


@final
class _Efforts(Force):
    """A function ``tau(t, q, v)`` of a run."""

    def __init__(self, name: str, function: Callable[[float, Any, Any], Any]) -> None:
        super().__init__(name)
        self.function = function

    def evaluate(
        self, t: float, q: Floats, v: Floats, poses: Floats, twists: Floats, out: Floats
    ) -> None:
        """Write the result of the function, called with copies that it may keep."""
        out[:] = self.function(t, q.copy(), v.copy())


def with_efforts(system: System, function: Callable[[float, Any, Any], Any]) -> System:
    """Return the system with a function ``tau(t, q, v)`` among its forces."""
    taken = {force.name for force in system.forces}
    name = next(each for k in range(len(taken) + 1) if (each := f"efforts {k}") not in taken)
    return system.with_forces([_Efforts(name, function)])
