"""Quantities of a system on other numbers: names, arguments, shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from mbkit.bridges.constrained import constrained_acceleration, independent_rows
from mbkit.errors import UsageError, check_choice, check_kind
from mbkit.systems import System
from mbkit.tracing.trace import Trace


@attrs.frozen
class Asked:
    """A quantity of a system."""

    # names of the vectors that it depends on, besides parameters and time
    arguments: tuple[str, ...]
    compute: Callable[..., Any]  # ``compute(trace, **vectors)`` returns an array of numbers
    dynamic: bool = False  # whether it is of the motion, which prescribed joints change
    of_trees: bool = False  # whether it is of trees alone
    of_body: bool = False  # whether it is of one body


def _own(trace: Trace, name: str) -> Any:
    return trace.system.representation.kernel(name)


def _forces(trace: Trace) -> Any:
    """Return f(t, q, v), (nv,)."""
    from mbkit.kernels.forces.force_pass import generalized_forces

    if not trace.system.forces:
        return np.zeros(trace.system.nv, dtype=object)
    time = np.array([trace.t], dtype=object)
    return trace.call(generalized_forces, trace.system.nv, trace.v, time)


def _bias(trace: Trace) -> Any:
    return trace.call(_own(trace, "inverse_dynamics"), trace.system.nv, trace.v)


def bias_less_forces(trace: Trace) -> Any:
    """Return b - f, (nv,)."""
    return _bias(trace) - _forces(trace)


def _inverse(trace: Trace, vdot: Any) -> Any:
    made = trace.call(_own(trace, "inverse_dynamics"), trace.system.nv, trace.v, vdot)
    return made - _forces(trace)


def _forward(trace: Trace, tau: Any) -> Any:
    """Return vdot; of closed mechanisms by the rows of constraints that are independent."""
    total = tau + _forces(trace)
    if trace.system.arrays.closure:
        rows = independent_rows(trace.system, trace.what)
        A, bias = _constraint_jacobian(trace)[rows], _constraint_state(trace)[1][rows]
        return constrained_acceleration(_mass(trace), A, total - _bias(trace), bias)
    return trace.call(_own(trace, "forward_dynamics"), trace.system.nv, trace.v, total)


def _mass(trace: Trace) -> Any:
    nv = trace.system.nv
    return trace.call(_own(trace, "mass_matrix"), nv * nv).reshape(nv, nv)


def _coriolis(trace: Trace) -> Any:
    from mbkit.kernels.derivatives.coriolis_matrix import coriolis_matrix

    if not trace.system.arrays.bodies[1:]["constant"].all():
        raise UsageError(
            f"{trace.what}: the Coriolis matrix of system '{trace.system.name}' is here for joints "
            f"with a constant motion subspace, since that of others takes differences of poses; "
            f"use bias_force, or System.coriolis_matrix for numbers."
        )
    nv = trace.system.nv
    return trace.call(coriolis_matrix, nv * nv, trace.v).reshape(nv, nv)


def _poses(trace: Trace) -> Any:
    from mbkit.kernels.recursions.poses import poses

    count = len(trace.system.body_names)
    return trace.call(poses, 16 * count).reshape(count, 4, 4)


def _twists(trace: Trace) -> Any:
    count = len(trace.system.body_names)
    return trace.call(_own(trace, "twists"), 6 * count, trace.v).reshape(count, 6)


def _jacobian(trace: Trace, row: int) -> Any:
    nv = trace.system.nv
    return trace.call(_own(trace, "jacobian"), 6 * nv, option=row).reshape(6, nv)


def _energies(trace: Trace, v: Any) -> Any:
    from mbkit.kernels.recursions.energy import energies

    return trace.call(energies, 2, v)


def _potential(trace: Trace) -> Any:
    from mbkit.kernels.forces.force_pass import force_potentials

    total = _energies(trace, None)[1]
    if trace.system.forces:
        time = np.array([trace.t], dtype=object)
        for energy in trace.call(force_potentials, len(trace.system.forces), x=time):
            total = total + energy
    return np.array([total], dtype=object)


def _constraint_state(trace: Trace) -> tuple[Any, Any]:
    """Return g, and A' v + ...; see `mbkit.kernels.constraints.evaluate`."""
    from mbkit.kernels.constraints.evaluate import constraint_state

    system = trace.system
    _check_constraints(trace)
    heights = system.num_position_constraints, system.num_velocity_constraints
    rest = np.zeros(system.nv + 1, dtype=object)
    rest[-1] = trace.t
    found = trace.call(constraint_state, heights[0] + 2 * heights[1], trace.v, rest)
    return found[: heights[0]], found[sum(heights) :]


def _constraint_jacobian(trace: Trace) -> Any:
    from mbkit.kernels.constraints.jacobian import constraint_jacobian

    _check_constraints(trace)
    size = trace.system.num_velocity_constraints, trace.system.nv
    time = np.array([trace.t], dtype=object)
    return trace.call(constraint_jacobian, size[0] * size[1], x=time).reshape(size)


def _check_constraints(trace: Trace) -> None:
    if not trace.system.arrays.closure:
        raise UsageError(f"{trace.what}: system '{trace.system.name}' has no constraints.")
    for constraint in trace.system.arrays.closure.objects:
        if constraint.kernel() is None:
            raise UsageError(
                f"{trace.what}: constraint {constraint.name!r} of system '{trace.system.name}' is "
                f"in Python, and only compiled ones are handed on; write its rows by yourself."
            )
    for each in trace.free:
        if each.path.startswith(("joints.", "constraints.")):
            raise UsageError(
                f"{trace.what}: constraints of system '{trace.system.name}' are here for fixed "
                f"places of joints, and {each.path!r} would be free; leave it out, and assemble "
                f"anew for each value. Inertias, gravity and forces may be free."
            )


EVALUATIONS = {
    "forward_dynamics": Asked(("q", "v", "tau"), _forward, dynamic=True),
    "inverse_dynamics": Asked(("q", "v", "vdot"), _inverse, dynamic=True, of_trees=True),
    "bias_force": Asked(("q", "v"), _bias),
    "generalized_forces": Asked(("q", "v"), _forces),
    "mass_matrix": Asked(("q",), _mass),
    "constraint_residual": Asked(("q",), lambda trace: _constraint_state(trace)[0]),
    "constraint_bias": Asked(("q", "v"), lambda trace: _constraint_state(trace)[1]),
    "constraint_jacobian": Asked(("q",), _constraint_jacobian),
    "coriolis_matrix": Asked(("q", "v"), _coriolis),
    "poses": Asked(("q",), _poses),
    "twists": Asked(("q", "v"), _twists),
    "pose": Asked(("q",), lambda trace, row: _poses(trace)[row], of_body=True),
    "twist": Asked(("q", "v"), lambda trace, row: _twists(trace)[row], of_body=True),
    "jacobian": Asked(("q",), _jacobian, of_body=True),
    "kinetic_energy": Asked(("q", "v"), lambda trace: _energies(trace, trace.v)[:1]),
    "potential_energy": Asked(("q",), _potential),
}


def check_system(what: str, system: System, *, dynamic: bool, of_trees: bool = True) -> None:
    """Raise unless a system can be handed on: its class, its constraints, its drives."""
    check_kind(
        f"{what}: system", system, System, "an mbkit.System, what Mechanism.assemble returns"
    )
    if not dynamic:
        return
    if of_trees and system.arrays.closure:
        raise UsageError(
            f"{what}: system '{system.name}' has constraints ({system.constraint_names[0]!r} is "
            f"one), and this is of trees. Take the terms of its equations, such as 'mass_matrix' "
            f"and 'bias_force', which are those of the tree."
        )
    if system.motions:
        raise UsageError(
            f"{what}: joint {system.prescribed_joints[0]!r} of system '{system.name}' moves as it "
            f"is prescribed; leave it free, and prescribe its acceleration where you use the "
            f"function."
        )


def read_evaluation(
    what: str, system: System, evaluation: str, body: str | None
) -> tuple[Asked, int | None]:
    """Return what is asked for, and the row of its body; raise where that cannot be."""
    check_system(what, system, dynamic=False)
    check_choice(f"{what}: evaluation", evaluation, tuple(EVALUATIONS))
    asked = EVALUATIONS[evaluation]
    check_system(what, system, dynamic=asked.dynamic, of_trees=asked.of_trees)
    if asked.of_body:
        if body is None:
            raise UsageError(
                f"{what}: {evaluation!r} is of one body; name it, body={system.body_names[-1]!r}."
            )
        return asked, system.body_index(body)
    if body is not None:
        raise UsageError(f"{what}: {evaluation!r} is of no single body; leave out body={body!r}.")
    return asked, None
