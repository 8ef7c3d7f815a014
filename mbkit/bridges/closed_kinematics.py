"""Constraints of closed mechanisms on traced numbers, and the rates that they leave free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.rules import differentiate
from mbkit.bridges.constrained import (
    beside_reference,
    constrained_acceleration,
    independent_rows,
)
from mbkit.bridges.terms import check_constraints, mass_matrix, rate_along, rates_of
from mbkit.closed_loops.kinematics import partition
from mbkit.systems.calls.entries import entries_of, velocity_sizes
from mbkit.tracing.branches import substituted
from mbkit.tracing.least_squares import least_squares
from mbkit.tracing.motions import following
from mbkit.tracing.trace import Trace


def constraint_parts(trace: Trace, v: Any = None, vdot: Any = None) -> tuple[Any, Any, Any]:
    """Return g, A v + g_t and A vdot + A' v + ...; see `mbkit.kernels.constraints.evaluate`."""
    from mbkit.kernels.constraints import evaluate

    system = trace.system
    check_constraints(trace)
    heights = system.num_position_constraints, system.num_velocity_constraints
    rest = np.zeros(system.nv + 1, dtype=object)
    rest[-1] = trace.t
    if vdot is not None:
        rest[:-1] = vdot
    found = trace.call(evaluate.constraint_state, heights[0] + 2 * heights[1], v, rest)
    position, velocity, acceleration = np.split(found, [heights[0], sum(heights)])
    return position, velocity, acceleration


def constraint_residual(trace: Trace) -> Any:
    """Return g(t, q)."""
    return constraint_parts(trace)[0]


def constraint_velocity(trace: Trace) -> Any:
    """Return A v + g_t."""
    return constraint_parts(trace, trace.v)[1]


def constraint_bias(trace: Trace) -> Any:
    """Return A' v + ..., the acceleration of the constraints without vdot."""
    return constraint_parts(trace, trace.v)[2]


def constraint_acceleration(trace: Trace, vdot: Any) -> Any:
    """Return A vdot + A' v + ...."""
    return constraint_parts(trace, trace.v, vdot)[2]


def constraint_jacobian(trace: Trace) -> Any:
    """Return A(t, q), by rows."""
    from mbkit.kernels.constraints import jacobian

    check_constraints(trace)
    size = trace.system.num_velocity_constraints, trace.system.nv
    time = np.array([trace.t], dtype=object)
    return trace.call(jacobian.constraint_jacobian, size[0] * size[1], x=time).reshape(size)


def constraint_jacobian_velocity(trace: Trace) -> Any:
    """Return A v."""
    return constraint_jacobian(trace) @ trace.v


def constraint_force(trace: Trace, multipliers: Any) -> Any:
    """Return A^T multipliers."""
    return multipliers @ constraint_jacobian(trace)


def constraint_sizes(trace: Trace) -> Any:
    """Return |A| |v|."""

    def size(x: Any) -> Any:
        return trace.tape.where(("<", x, 0.0), -x, x)

    sizes = np.frompyfunc(size, 1, 1)
    return sizes(constraint_jacobian(trace)) @ sizes(trace.v)


def consistent_velocity(trace: Trace, fixed: Sequence[str] = ()) -> Any:
    """Return the velocity nearest to v that satisfies the constraints, by its kinetic energy.

    The least of 1/2 (x - v)^T M (x - v) with A x + g_t = 0, where entries of x that are `fixed`, or
    of prescribed joints, are those of v.
    """
    system = trace.system
    check_constraints(trace)
    held = np.zeros(system.nv, dtype=bool)
    held[entries_of(system, [*fixed, *system.prescribed_joints], "fixed")] = True
    free, rows = np.flatnonzero(~held), independent_rows(system, trace.what, np.flatnonzero(~held))
    with following(trace):
        M, A = mass_matrix(trace)[np.ix_(free, free)], constraint_jacobian(trace)[rows]
        found = trace.v.copy()
        rest = np.where(held, found, 0.0)
        bias = constraint_parts(trace, rest)[1][rows]
        found[free] = constrained_acceleration(M, A[:, free], M @ found[free], bias)[0]
    return found


def constrained_jacobian(trace: Trace, independent: Sequence[str]) -> Any:
    """Return H with v = H v_independent, (nv, k); see `mbkit.closed_loops.kinematics`."""
    split = _Split(trace, independent)
    units = np.zeros((trace.system.nv, len(split.named)), dtype=object)
    units[split.named, range(len(split.named))] = 1.0
    A = constraint_jacobian(trace)
    for column in units.T:
        split.complete(column, A, A @ column)
    return units


def dependent_velocity(trace: Trace, v: Any, independent: Sequence[str]) -> Any:
    """Return all velocities, from those that are named and those of prescribed joints."""
    split = _Split(trace, independent)
    with following(trace):
        known = split.known(trace.v, v)
        return split.complete(known, constraint_jacobian(trace), constraint_parts(trace, known)[1])


def dependent_acceleration(trace: Trace, vdot: Any, independent: Sequence[str]) -> Any:
    """Return all accelerations; entries of prescribed joints in q and v are as they are given."""
    split = _Split(trace, independent)
    with following(trace) as motion:
        known = split.known(motion, vdot)
    return split.complete(known, constraint_jacobian(trace), constraint_acceleration(trace, known))


def dependent_jerk(trace: Trace, vdot: Any, vddot: Any, independent: Sequence[str]) -> Any:
    """Return all rates of accelerations, as `dependent_acceleration`."""
    split = _Split(trace, independent)
    with following(trace) as motion:
        known = split.known(np.array(differentiate([*motion], {trace.t: 1.0}), dtype=object), vddot)
    rate = rate_along(trace, constraint_acceleration(trace, vdot), [trace.v, vdot, known])
    return split.complete(known, constraint_jacobian(trace), rate)


def dependent_rates(trace: Trace, *given: Any, independent: Sequence[str]) -> Any:
    """Return v, vdot, ... by rows, from those that are named.

    The n-th rate of A v + g_t is linear in the n-th rate of v; those before it are put in.
    """
    split = _Split(trace, independent)
    if not trace.system.arrays.closure:
        return np.array([split.known(np.zeros(trace.system.nv), each) for each in given])
    A, nv = constraint_jacobian(trace), trace.system.nv
    every = [trace.inputs(f"rate{k}", nv) for k in range(len(given))]
    constraint = constraint_parts(trace, every[0])[1]
    found: list[Any] = []
    at_rest = trace.v
    for n, values in enumerate(given):
        known = split.known(np.zeros(nv), values)
        trace.v = every[0]
        rate = rates_of(trace, constraint, every[: n + 1], n)
        trace.v = at_rest
        put = {
            x: y
            for xs, ys in zip(every, [*found, known], strict=False)
            for x, y in zip(xs, ys, strict=True)
        }
        rest = np.array(substituted([*rate], put), dtype=object)
        found.append(split.complete(known, A, rest))
    return np.array(found)


class _Split:
    """Velocities that are named and those that depend on them.

    ConstraintError if these do not follow from those beside the reference configuration.
    """

    def __init__(self, trace: Trace, independent: Sequence[str]) -> None:
        system = trace.system
        self.named = entries_of(system, independent, "independent")
        held = entries_of(system, system.prescribed_joints, "prescribed")
        self._held = [k for k in held if k not in self.named]
        q = beside_reference(system)
        sizes = velocity_sizes(system, q)
        A = system.constraint_jacobian(q)
        split = partition(system, A, sizes, [*self.named, *self._held])
        self._dependent, self._sizes = split.dependent, sizes[split.dependent]

    def known(self, of_prescribed: Any, named: Any) -> Any:
        """Return a rate of q with the entries that are known, zero elsewhere."""
        found = np.zeros(len(of_prescribed), dtype=object)
        found[self._held] = of_prescribed[self._held]
        found[self.named] = named
        return found

    def complete(self, x: Any, A: Any, rate: Any) -> Any:
        """Write the dependent entries into x, with A_d x_d + rate = 0, and return it."""
        if self._dependent:
            scaled = A[:, self._dependent] / self._sizes
            x[self._dependent] = least_squares(scaled, -rate) / self._sizes
        return x
