"""Terms of the equations of motion of a system on traced numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.differentiation.rules import differentiate
from mbkit.differentiation.tape import Number
from mbkit.errors import UsageError
from mbkit.tracing.branches import substituted
from mbkit.tracing.trace import Trace


def own_kernel(trace: Trace, name: str) -> Any:
    """Return the kernel of the representation."""
    return trace.system.representation.kernel(name)


def applied_forces(trace: Trace) -> Any:
    """Return f(t, q, v), (nv,)."""
    from mbkit.kernels.forces.force_pass import generalized_forces

    if not trace.system.forces:
        return np.zeros(trace.system.nv, dtype=object)
    time = np.array([trace.t], dtype=object)
    return trace.call(generalized_forces, trace.system.nv, trace.v, time)


def bias_force(trace: Trace) -> Any:
    """Return b(q, v), (nv,)."""
    return trace.call(own_kernel(trace, "inverse_dynamics"), trace.system.nv, trace.v)


def bias_less_forces(trace: Trace) -> Any:
    """Return b - f, (nv,)."""
    return bias_force(trace) - applied_forces(trace)


def inverse_dynamics(trace: Trace, vdot: Any) -> Any:
    """Return M vdot + b - f, (nv,)."""
    made = trace.call(own_kernel(trace, "inverse_dynamics"), trace.system.nv, trace.v, vdot)
    return made - applied_forces(trace)


def mass_matrix(trace: Trace) -> Any:
    """Return M(q), (nv, nv)."""
    nv = trace.system.nv
    return trace.call(own_kernel(trace, "mass_matrix"), nv * nv).reshape(nv, nv)


def constraint_state(trace: Trace) -> tuple[Any, Any]:
    """Return g, and A' v + ...; see `mbkit.kernels.constraints.evaluate`."""
    from mbkit.kernels.constraints import evaluate

    system = trace.system
    check_constraints(trace)
    heights = system.num_position_constraints, system.num_velocity_constraints
    rest = np.zeros(system.nv + 1, dtype=object)
    rest[-1] = trace.t
    found = trace.call(evaluate.constraint_state, heights[0] + 2 * heights[1], trace.v, rest)
    return found[: heights[0]], found[sum(heights) :]


def constraint_jacobian(trace: Trace) -> Any:
    """Return A(t, q), by rows."""
    from mbkit.kernels.constraints import jacobian

    check_constraints(trace)
    size = trace.system.num_velocity_constraints, trace.system.nv
    time = np.array([trace.t], dtype=object)
    return trace.call(jacobian.constraint_jacobian, size[0] * size[1], x=time).reshape(size)


def check_constraints(trace: Trace) -> None:
    """Raise UsageError unless the system has constraints."""
    if not trace.system.arrays.closure:
        raise UsageError(
            f"{trace.what}: system '{trace.system.name}' has no constraints; its "
            f"dynamics are 'forward_dynamics' and 'inverse_dynamics'."
        )


def position_rates(trace: Trace) -> list[Number]:
    """Return q-dot, (nq,): how `System.retract` moves q with the velocity."""
    from mbkit.kernels.configuration import rates, retract

    system = trace.system
    x = trace.tape.inputs("x", [0.0] * system.ndx)
    moved = trace.call(retract, system.nq, x)
    speeds = trace.call(rates, system.ndx, trace.v)
    found = differentiate([*moved], dict(zip(x, speeds, strict=True)))
    return substituted(found, dict.fromkeys(x, 0.0))


def rate_along(trace: Trace, numbers: Any, rates: Sequence[Any]) -> Any:
    """Return the rate of numbers along the motion, from the rates v, vdot, ... of its positions.

    The last one of those has none.
    """
    seeds = dict(zip(trace.q, position_rates(trace), strict=True))
    for lower, higher in itertools.pairwise(rates):
        seeds |= dict(zip(lower, higher, strict=True))
    found = np.array(differentiate([*numbers.ravel()], seeds), dtype=object)
    return found.reshape(numbers.shape)
