"""Quantities of a system on other numbers: names, arguments, shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from mbkit.bridges import closed_dynamics as closed
from mbkit.bridges.terms import (
    applied_forces,
    bias_force,
    constraint_jacobian,
    constraint_state,
    inverse_dynamics,
    mass_matrix,
    own_kernel,
    position_rates,
    rate_along,
)
from mbkit.differentiation.rules import differentiate
from mbkit.errors import UsageError, check_choice, check_kind
from mbkit.systems import System
from mbkit.tracing.motions import following
from mbkit.tracing.trace import Trace


@attrs.frozen
class Asked:
    """A quantity of a system."""

    # names of the vectors that it depends on, besides parameters and time
    arguments: tuple[str, ...]
    # ``compute(trace, **vectors)`` returns an array of numbers, or several by name
    compute: Callable[..., Any]
    # what else is asked for, by the name of an argument of `compute`: "row" of a body, "order" of
    # derivatives, "prescribed" and "actuated" joints, what to "minimise"
    options: tuple[str, ...] = ()


def _forward(trace: Trace, tau: Any) -> Any:
    """Return vdot; of closed mechanisms by the rows of constraints that are independent."""
    system = trace.system
    with following(trace) as vdot:
        if system.motions or system.arrays.closure:
            return _hybrid(trace, tau, vdot, system.prescribed_joints)["hybrid_vdot"]
        total = tau + applied_forces(trace)
        return trace.call(own_kernel(trace, "forward_dynamics"), system.nv, trace.v, total)


def _hybrid(trace: Trace, tau: Any, vdot: Any, prescribed: Sequence[str]) -> dict[str, Any]:
    """Return all of vdot and tau, where vdot is given of prescribed joints and tau of others."""
    system, nv = trace.system, trace.system.nv
    mask = system.known(None, None, prescribed)[2 * nv :]
    if system.arrays.closure:
        found = closed.hybrid_dynamics(trace, tau, vdot, mask)
        return {"hybrid_vdot": found[0], "hybrid_tau": found[1]}
    f = applied_forces(trace)
    known = np.concatenate([np.where(mask == 0.0, tau + f, 0.0), np.where(mask, vdot, 0.0), mask])
    both = trace.call(own_kernel(trace, "hybrid_dynamics"), 2 * nv, trace.v, known)
    return {"hybrid_vdot": both[nv:], "hybrid_tau": both[:nv] - f}


def _coriolis(trace: Trace) -> Any:
    from mbkit.kernels.derivatives import joint_changes
    from mbkit.kernels.derivatives.coriolis_matrix import coriolis_matrix

    nv, qdot = trace.system.nv, position_rates(trace)
    seeds = dict(zip(trace.q, qdot, strict=True))

    def along_motion(joint: Any, _trials: Any, change: Any) -> int:
        """Write S-dot by the derivative of S on the tape, where the kernel evaluates."""
        row, body = joint[:2]
        columns = body.S[: row.num_velocities]
        rates = np.array(differentiate([*columns.ravel()], seeds), dtype=object)
        change.S[: row.num_velocities] = rates.reshape(columns.shape)
        return 0

    trace.copies.replace(joint_changes.along_motion, along_motion)
    return trace.call(coriolis_matrix, nv * nv, trace.v).reshape(nv, nv)


def _poses(trace: Trace) -> Any:
    from mbkit.kernels.recursions.poses import poses

    count = len(trace.system.body_names)
    return trace.call(poses, 16 * count).reshape(count, 4, 4)


def _twists(trace: Trace) -> Any:
    count = len(trace.system.body_names)
    return trace.call(own_kernel(trace, "twists"), 6 * count, trace.v).reshape(count, 6)


def _accelerations(trace: Trace, vdot: Any) -> Any:
    count = len(trace.system.body_names)
    made = trace.call(own_kernel(trace, "accelerations"), 6 * count, trace.v, vdot)
    return made.reshape(count, 6)


def _body_derivatives(trace: Trace, **rates: Any) -> Any:
    """Return twists and their rates, those of an order below each other."""
    from mbkit.kernels.higher_orders.motion import body_derivatives

    every, rows = [trace.v, *rates.values()], len(trace.system.body_names)
    count = len(every)
    if trace.system.arrays.joint_pieces.given:  # joints in Python, which have no series on a tape
        found = [_twists(trace)]
        while len(found) < count:
            found.append(rate_along(trace, found[-1], every))
        return np.concatenate(found)
    made = trace.call_series(body_derivatives, 6 * count * rows, every, count)
    return made.reshape(count * rows, 6)


def _jerks(trace: Trace, vdot: Any, vddot: Any) -> Any:
    every = _body_derivatives(trace, vdot=vdot, vddot=vddot)
    return every[-len(trace.system.body_names) :]


def _jacobian_rate(trace: Trace, row: int) -> Any:
    from mbkit.kernels.higher_orders.motion import jacobian_rate

    nv = trace.system.nv
    if trace.system.arrays.joint_pieces.given:
        return rate_along(trace, _jacobian(trace, row), [trace.v])
    return trace.call_series(jacobian_rate, 6 * nv, [trace.v], 2, row).reshape(6, nv)


def _momentum(trace: Trace) -> Any:
    from mbkit.kernels.recursions.energy import momentum

    return trace.call(momentum, 9, trace.v)[:6]


def _jacobian(trace: Trace, row: int) -> Any:
    nv = trace.system.nv
    return trace.call(own_kernel(trace, "jacobian"), 6 * nv, option=row).reshape(6, nv)


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


EVALUATIONS = {
    "forward_dynamics": Asked(("q", "v", "tau"), _forward),
    "solve_dynamics": Asked(("q", "v", "tau"), closed.solve_dynamics),
    "inverse_dynamics": Asked(("q", "v", "vdot"), inverse_dynamics),
    "closed_inverse_dynamics": Asked(
        ("q", "v", "vdot", "tau"),
        closed.inverse_dynamics_of_actuators,
        options=("actuated", "minimise"),
    ),
    "hybrid_dynamics": Asked(("q", "v", "tau", "vdot"), _hybrid, options=("prescribed",)),
    "bias_force": Asked(("q", "v"), bias_force),
    "generalized_forces": Asked(("q", "v"), applied_forces),
    "mass_matrix": Asked(("q",), mass_matrix),
    "constraint_residual": Asked(("q",), lambda trace: constraint_state(trace)[0]),
    "constraint_bias": Asked(("q", "v"), lambda trace: constraint_state(trace)[1]),
    "constraint_jacobian": Asked(("q",), constraint_jacobian),
    "coriolis_matrix": Asked(("q", "v"), _coriolis),
    "poses": Asked(("q",), _poses),
    "twists": Asked(("q", "v"), _twists),
    "accelerations": Asked(("q", "v", "vdot"), _accelerations),
    "jerks": Asked(("q", "v", "vdot", "vddot"), _jerks),
    "body_derivatives": Asked(("q", "v"), _body_derivatives, options=("order",)),
    "pose": Asked(("q",), lambda trace, row: _poses(trace)[row], options=("row",)),
    "twist": Asked(("q", "v"), lambda trace, row: _twists(trace)[row], options=("row",)),
    "acceleration": Asked(
        ("q", "v", "vdot"),
        lambda trace, vdot, row: _accelerations(trace, vdot)[row],
        options=("row",),
    ),
    "jacobian": Asked(("q",), _jacobian, options=("row",)),
    "jacobian_rate": Asked(("q", "v"), _jacobian_rate, options=("row",)),
    "kinetic_energy": Asked(("q", "v"), lambda trace: _energies(trace, trace.v)[:1]),
    "potential_energy": Asked(("q",), _potential),
    "momentum": Asked(("q", "v"), _momentum),
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
    what: str, system: System, evaluation: str, **given: Any
) -> tuple[tuple[str, ...], Callable[[Trace, dict[str, Any]], dict[str, Any]]]:
    """Return the names of the vectors of an evaluation, and a function that computes it.

    `given` are body, prescribed, order, actuated and minimise, None where a caller left them out.
    The function takes the vectors by name and returns arrays by name. UsageError where this cannot
    be.
    """
    check_system(what, system, dynamic=False)
    check_choice(f"{what}: evaluation", evaluation, tuple(EVALUATIONS))
    asked = EVALUATIONS[evaluation]
    arguments, options = asked.arguments, {}
    for name, value in given.items():
        option = {"body": "row"}.get(name, name)
        if option not in asked.options:
            if value is not None:
                raise UsageError(f"{what}: {evaluation!r} takes no {name}; leave out {name}=.")
        elif value is None:
            if name in _needed(system):
                raise UsageError(f"{what}: {evaluation!r} needs {_needed(system)[name]}.")
        elif name == "order":
            arguments = ("q", *_rates(what, value))
        else:
            options[option] = system.body_index(value) if name == "body" else value

    def compute(trace: Trace, vectors: dict[str, Any]) -> dict[str, Any]:
        more = {name: x for name, x in vectors.items() if name not in ("q", "v")}
        found = asked.compute(trace, **more, **options)
        return found if isinstance(found, dict) else {evaluation: found}

    return arguments, compute


def _needed(system: System) -> dict[str, str]:
    """Return what is said where an option is left out, by its name."""
    return {
        "body": f"a body; name it, body={system.body_names[-1]!r}",
        "prescribed": "the joints whose acceleration is given, such as "
        f"prescribed=[{(*system.joint_names, 'hinge')[0]!r}]",
        "actuated": "the joints that have actuators, such as "
        f"actuated=[{(*system.joint_names, 'hinge')[0]!r}]",
        "order": "the order of the last derivative of the twists, such as order=3 for v to vdddot",
    }


def _rates(what: str, order: Any) -> list[str]:
    """Return names of v and its derivatives up to an order: v, vdot, vddot, v3, v4, ..."""
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 0:
        raise UsageError(
            f"{what}: order must be a whole number, the order of the last derivative of the "
            f"twists, got {order!r}; order=1 is for accelerations."
        )
    return [{0: "v", 1: "vdot", 2: "vddot"}.get(k, f"v{k}") for k in range(order + 1)]
