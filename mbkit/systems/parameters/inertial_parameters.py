"""Inertial parameters of all bodies, and the combinations of them that the motion depends on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError
from mbkit.memory import check_memory
from mbkit.spatial.inertial_parameters import PARAMETER_NAMES, parameters_of
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.parameters.base_parameters import BaseParameters, base_of, triangle

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["base_parameters", "inertial_order", "inertial_parameter_names", "inertial_parameters"]

#: Random states: ten and more for each joint, which bears ten parameters of its body at most.
STATES = 32


def inertial_parameters(system: System) -> Floats:
    """See `System.inertial_parameters`."""
    inertias = system.inertias
    rows = parameters_of(inertias.masses, inertias.coms, inertias.moments_about_com)
    return rows[1:].reshape(-1)


def inertial_parameter_names(system: System) -> tuple[str, ...]:
    """See `System.inertial_parameter_names`."""
    return tuple(f"{body}.{name}" for body in system.body_names[1:] for name in PARAMETER_NAMES)


def base_parameters(
    system: System,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    vdot: ArrayLike | None = None,
) -> BaseParameters:
    """See `System.base_parameters`."""
    given = [each is not None for each in (q, v, vdot)]
    if any(given) and not all(given):
        raise UsageError(
            "base_parameters takes all of q, v and vdot, the samples of a motion, or none of them, "
            "for what any motion shows."
        )
    names = system.inertial_parameter_names
    width = len(names)
    check_memory(
        (2.0 * system.nv + 3.0 * width) * width,
        f"Base parameters of {width} inertial parameters",
        "ask for them of a part of the mechanism",
    )
    states = _random_states(system) if q is None else [(q, v, vdot)]
    rows = (system.inertial_regressor(*state) for state in states)
    return base_of(triangle(rows, width, "base_parameters"), names, inertial_order(width))


def inertial_order(width: int) -> Any:
    """Return in which order the columns of the regressor are kept.

    The mass of a body is its last column, so that masses go into moments and not the other way
    round.
    """
    return np.roll(np.arange(width).reshape(-1, 10), -1, axis=1).ravel()


def _random_states(system: System) -> Iterator[tuple[Any, Any, Any]]:
    """Give states of any kind, always the same."""
    rng = np.random.default_rng(1)
    start = system.reference_configuration()
    for _ in range(STATES):
        q = system.retract(start, rng.normal(size=system.ndx))
        yield q, rng.normal(size=system.nv), rng.normal(size=system.nv)
