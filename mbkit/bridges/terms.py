"""Terms of the equations of motion of a system on traced numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.rules import differentiate
from mbkit.autodiff.tape import Traced
from mbkit.errors import UsageError
from mbkit.representations import Representation
from mbkit.systems.body_motion import checked_form
from mbkit.tracing.branches import substituted
from mbkit.tracing.least_squares import least_squares
from mbkit.tracing.trace import Trace


def own_kernel(trace: Trace, name: str, representation: Representation | None = None) -> Any:
    """Return the kernel of a representation, by default of that of the system."""
    return checked_form(trace.system, representation).kernel(name)


def applied_forces(trace: Trace) -> Any:
    """Return f(t, q, v), (nv,)."""
    from mbkit.kernels.forces.force_pass import generalized_forces

    if not trace.system.forces:
        return np.zeros(trace.system.nv, dtype=object)
    time = np.array([trace.t], dtype=object)
    return trace.call(generalized_forces, trace.system.nv, trace.v, time)


def applied_efforts(trace: Trace) -> Any:
    """Return f(t, q, v) + sum J^T W, the efforts of forces and wrenches on bodies, (nv,)."""
    found, nv = applied_forces(trace), trace.system.nv
    for body, W in trace.wrenches.items():
        row = trace.system.body_index(body)
        kernel = own_kernel(trace, "jacobian", trace.wrench_form)
        found = found + W @ trace.call(kernel, 6 * nv, option=row).reshape(6, nv)
    return found


def bias_force(trace: Trace) -> Any:
    """Return b(q, v), (nv,)."""
    return trace.call(own_kernel(trace, "inverse_dynamics"), trace.system.nv, trace.v)


def bias_less_forces(trace: Trace) -> Any:
    """Return b less the efforts of forces and wrenches on bodies, (nv,)."""
    return bias_force(trace) - applied_efforts(trace)


def inverse_dynamics(trace: Trace, vdot: Any) -> Any:
    """Return M vdot + b less the efforts of forces and wrenches on bodies, (nv,)."""
    made = trace.call(own_kernel(trace, "inverse_dynamics"), trace.system.nv, trace.v, vdot)
    return made - applied_efforts(trace)


def mass_matrix(trace: Trace) -> Any:
    """Return M(q), (nv, nv)."""
    nv = trace.system.nv
    return trace.call(own_kernel(trace, "mass_matrix"), nv * nv).reshape(nv, nv)


def check_constraints(trace: Trace) -> None:
    """Raise UsageError unless the system has constraints."""
    if not trace.system.arrays.closure:
        raise UsageError(
            f"{trace.what}: system '{trace.system.name}' has no constraints; its "
            f"dynamics are 'forward_dynamics' and 'inverse_dynamics'."
        )


def retract(trace: Trace, dx: Any) -> Any:
    """Return the configuration at the end of a step, (nq,)."""
    from mbkit.kernels.configuration import retract

    return trace.call(retract, trace.system.nq, dx)


def rates(trace: Trace, v: Any = None) -> Any:
    """Return the rates of a step from q with a velocity, by default v, (ndx,)."""
    from mbkit.kernels.configuration import rates

    return trace.call(rates, trace.system.ndx, trace.v if v is None else v)


def dexp_inv(trace: Trace, dx: Any, rate: Any) -> Any:
    """Return the rate of a step for a rate of the configuration at its end, (ndx,)."""
    from mbkit.kernels.configuration import dexp_inv

    return trace.call(dexp_inv, trace.system.ndx, rate, q=dx)


def dexp(trace: Trace, dx: Any, rate: Any) -> Any:
    """Return the rate of a configuration for a rate of the step that ends there, (ndx,).

    Of each joint by the columns of its matrix of `dexp_inv`, without pivots.
    """
    ndx = trace.system.ndx
    columns = [dexp_inv(trace, dx, unit.astype(object)) for unit in np.eye(ndx)]
    inverse = np.array(columns, dtype=object).reshape(ndx, ndx).T
    found = np.array(rate, dtype=object)
    for name in trace.system.joint_names:
        own = trace.system.tangent_slice(name)
        block = inverse[own, own]
        if (block != np.eye(len(block))).any():
            found[own] = least_squares(block, found[own])
    return found


def position_directions(trace: Trace) -> Any:
    """Return the matrix from velocities to q-dot, (nq, nv): how `System.retract` moves q."""
    system = trace.system
    x = trace.tape.inputs("x", [0.0] * system.ndx)
    moved = [*retract(trace, x)]
    columns = []
    for unit in np.eye(system.nv):
        speeds = rates(trace, unit.astype(object))
        columns.append(differentiate(moved, dict(zip(x, speeds, strict=True))))
    every = substituted([each for column in columns for each in column], dict.fromkeys(x, 0.0))
    return np.array(every, dtype=object).reshape(system.nv, system.nq).T


def position_rates(trace: Trace) -> Any:
    """Return q-dot, (nq,)."""
    return position_directions(trace) @ trace.v


def rate_along(trace: Trace, numbers: Any, higher: Sequence[Any]) -> Any:
    """Return the rate of numbers along the motion, from the rates v, vdot, ... of its positions.

    The last one of those has none. Time goes on.
    """
    pairs = [(trace.q, position_rates(trace)), *itertools.pairwise(higher)]
    seeds = {
        x: rate
        for lower, its_rate in pairs
        for x, rate in zip(lower, its_rate, strict=True)
        if isinstance(x, Traced)
    }
    found = differentiate([*numbers.ravel()], {**seeds, trace.t: 1.0})
    return np.array(found, dtype=object).reshape(numbers.shape)


def rates_of(trace: Trace, numbers: Any, higher: Sequence[Any], order: int) -> Any:
    """Return the rate of an order of numbers that depend on q, v and t: see `rate_along`."""
    for _ in range(order):
        numbers = rate_along(trace, numbers, higher)
    return numbers
