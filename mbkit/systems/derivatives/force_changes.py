"""Changes of generalized forces by parameters of forces and by the time, exact.

A parameter moves the numbers that the compiled function of its force reads; derivatives by these
are those of the function on dual numbers (`mbkit.systems.derivatives.on_duals.exact_forces`). A
force in Python may give its derivatives by fields itself (`mbkit.ForceDerivatives`).
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mbkit.errors import ForceDerivativeWarning, UsageError
from mbkit.forces import ForceFunction
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.numeric_changes import rates_of_numbers
from mbkit.systems.derivatives.parameter_moves import (
    moves_of,
    once_a_parameter,
    shape_of_parameter,
)
from mbkit.users_line import users_line

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "forces_by_parameter",
    "forces_by_time",
    "numbers_by_parameter",
    "say_differences",
    "when_not_traced",
]


def say_differences(system: System, name: str | None = None, reason: str = "") -> None:
    """Warn of forces in Python, or of one, that are differentiated by differences, once of each.

    Without a name, of those that are not traced.
    """
    unsaid = system._without_derivatives
    if name is None:
        exact = system._exact_forces
        names = unsaid.keys() if exact is None else unsaid.keys() - exact.exact_in_python
    else:
        names = unsaid.keys() & {name}
    for each in [x for x in unsaid if x in names]:
        force = unsaid.pop(each)
        remedy = "add a method derivatives(t, q, v, poses, twists)"
        if type(force) is ForceFunction:
            remedy = "make it a subclass of mbkit.Force with a method derivatives"
        why = (
            f", and what it evaluates cannot be differentiated exactly: {reason}" if reason else ""
        )
        warnings.warn(
            f"Force '{force.name}' gives no derivatives{why}. Differences take their place, with "
            f"about 11 digits where it is smooth, and in the time of some calls for each velocity. "
            f"For exact ones {remedy}, or use the functions listed in docs/custom-joints.md; see "
            f"docs/forces.md#derivatives-of-a-custom-force.",
            ForceDerivativeWarning,
            stacklevel=users_line(),
        )


def when_not_traced(system: System) -> Callable[[str, str], None]:
    """Return the function that reports, by name and reason, that a force is not traced."""
    known = weakref.ref(system)

    def say(name: str, reason: str) -> None:
        system = known()
        if system is not None:
            say_differences(system, name, reason)

    return say


def forces_by_parameter(system: System, name: str, states: TimedStates) -> Floats | None:
    """Return the derivative of the generalized forces by a parameter of a force, (N, nv, k).

    None where the force is not written for dual numbers and does not give
    the derivative, where values beside its value are refused or its numbers jump, and where a
    derivative is not finite.
    """
    owner, _, field = name.partition(".")[2].rpartition(".")
    exact = system._exact_forces
    if exact is None:
        return None
    if not exact.has_numbers(owner):
        axes = shape_of_parameter(system, name)
        found = exact.by_field(owner, field, axes, states)
        return None if found is None else _finite(found)
    rates = numbers_by_parameter(system, name)
    return None if rates is None else _finite(exact.by_numbers(owner, rates, states))


@once_a_parameter
def numbers_by_parameter(system: System, name: str) -> Floats | None:
    """Return the derivative of the numbers of a compiled force by a parameter, (n, k).

    None where values beside the parameter's are refused, or the numbers jump.
    """
    owner, _, field = name.partition(".")[2].rpartition(".")
    part = next(force for force in system.arrays.forces.forces if force.name == owner)
    try:
        return rates_of_numbers(part, field, *moves_of(system, name))
    except UsageError:
        return None


def forces_by_time(system: System, states: TimedStates) -> Floats | None:
    """Return the derivative of the generalized forces by the time, (N, nv, 1), of N states.

    None where a force reads it that is not written for dual numbers, or is not smooth.
    """
    if not system.arrays.forces.reading_time:
        return np.zeros((*states.v.shape, 1))
    exact = system._exact_forces
    found = None if exact is None else exact.by_time(states)
    if found is None:
        say_differences(system)
        return None
    return _finite(found)


def _finite(found: Floats) -> Floats | None:
    return found if np.isfinite(found).all() else None
