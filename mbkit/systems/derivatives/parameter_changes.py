"""Changes of the equations of motion by parameters of a model.

Efforts are linear in the ten inertial parameters of a body (its regressor), and in gravity; places
of joints move as configurations do; forces and constraints are known on dual numbers. All other
parameters are differentiated by differences of high order, of systems with other numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.forces import UniformField
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.constraint_changes import rows_by_parameter
from mbkit.systems.derivatives.evaluation_states import Change, Point
from mbkit.systems.derivatives.force_changes import forces_by_parameter, say_differences
from mbkit.systems.derivatives.inertia_changes import (
    inertial_change_by_dimension,
    inertial_changes,
    is_given,
    is_spread,
)
from mbkit.systems.derivatives.input_changes import along_steps
from mbkit.systems.derivatives.joint_changes import change_by_joint
from mbkit.systems.derivatives.loosened import Loosened, padded
from mbkit.systems.derivatives.numeric_changes import (
    best_rate,
    check_no_jump,
    chooses,
    differences,
    rate_without_jump,
)
from mbkit.systems.derivatives.parameter_moves import changed_by, moves_of

if TYPE_CHECKING:
    from mbkit.systems.system import System


def change_by_parameter(point: Point, name: str, *, scaled: bool = True) -> Change:
    """Return the change by a parameter, its entries in a row.

    Unless `scaled`, without its effect on multipliers alone by the length that scales rows of
    constraints, as far as that is known; see `changes_by_places`.
    """
    kind, _, rest = name.partition(".")
    body, _, field = rest.rpartition(".")
    if kind == "gravity":
        return Change(_gravity(point))
    if kind == "forces":
        return Change(_of_forces(point, name))
    if kind == "constraints" or (kind == "joints" and body in point.system.loop_joints):
        exact = _of_constraints(point, name, scaled)
        return _by_differences(point, name) if exact is None else exact
    exact = None
    if kind == "joints":
        exact = change_by_joint(point, name, *moves_of(point.system, name))
        if exact is not None and point.constrained and scaled:
            exact = _with_length(point.system, name, exact, _by_length(point))
    if kind == "bodies" and not is_spread(point.system):
        exact = _of_body(point, name, (body, field), scaled)
    return _by_differences(point, name) if exact is None else exact


def _of_body(point: Point, name: str, place: tuple[str, str], scaled: bool) -> Change | None:
    """Return the change by a number of the inertia of a body, or by a dimension, if exact."""
    system, (body, field) = point.system, place
    if is_given(system, body):
        inertial = inertial_changes(system, point.regressor, {name: (body, field)})
        change = Change(inertial[name] - _fields(point, name))
    elif any(isinstance(force, UniformField) for force in system.forces):
        return None  # which acts on masses
    else:
        change = Change(inertial_change_by_dimension(point, name, body, *moves_of(system, name)))
    if not point.constrained or (is_given(system, body) and field != "com"):
        return change
    # loop joints are measured between centres of mass, and the length depends on these too
    rows = rows_by_parameter(point, name, *moves_of(system, name))
    if rows is None:
        return None
    change = Change(*(one + np.asarray(other) for one, other in zip(change, rows, strict=True)))
    return _with_length(system, name, change, _by_length(point)) if scaled else change


def _of_constraints(point: Point, name: str, scaled: bool) -> Change | None:
    """Return the change by a parameter on which nothing else than constraints depends, if exact."""
    system = point.system
    if is_spread(system):
        return None
    start, moves = moves_of(system, name)
    if not point.constrained:
        return Change(np.zeros((*point.v.shape, len(moves))))
    change = rows_by_parameter(point, name, start, moves)
    if change is None:
        return None
    if name.startswith("constraints."):
        owner = name.partition(".")[2].rpartition(".")[0]
        part = next(each for each in system.arrays.closure.objects if each.name == owner)
        if chooses(part):  # directions by case, and moves smoothly beside them
            return change
        for k in range(len(moves)):
            one = Change(*(part[..., k : k + 1] if np.ndim(part) else part for part in change))
            check_no_jump(point, lambda e, k=k: changed_by(system, name, k, e), start, name, one)  # type: ignore[misc]
        return change
    return _with_length(system, name, change, _by_length(point)) if scaled else change


def _of_forces(point: Point, name: str) -> Floats:
    """Return the change of e by a parameter of a force, on which nothing else depends."""
    system = point.system
    exact = forces_by_parameter(system, name, point.states)
    if exact is not None:
        return -exact
    say_differences(system, name.partition(".")[2].rpartition(".")[0])
    start, moves = moves_of(system, name)
    size = point.sizes["efforts"]

    def forces(e: float, k: int) -> Floats:
        other = changed_by(system, name, k, e) if e else system
        return other.generalized_forces(point.q, point.v, point.t) / size

    rates = [rate_without_jump(lambda e, k=k: forces(e, k), start, name) for k in range(len(moves))]  # type: ignore[misc]
    return -np.stack(rates, axis=-1) * size[..., None]


def changes_by_places(
    point: Point, names: Iterable[str], *, scaled: bool = True
) -> dict[str, Change]:
    """Return the changes by those parameters that move joints of the tree on their bodies.

    They are along the steps of free joints there, at rest (`mbkit.coordinates.placement_joints`):
    as exact as by configurations. Multipliers depend besides on the length that scales rows of
    constraints, which motions do not: it stays constant unless `scaled`.
    """
    system = point.system
    loosened = Loosened.of(system, names)
    if loosened is None:
        return {}
    mu = padded(point.mu, loosened.system.nv) if point.redundant else None
    change = along_steps(loosened.at(point), loosened.moving, mu)
    scale = _by_length(point) if point.constrained and scaled else None
    found = {}
    for name, steps in loosened.steps.items():
        parts = [x if np.ndim(x) == 0 else x @ steps for x in change]
        parts[0] = parts[0][:, : system.nv]
        found[name] = Change(*parts)
        if scale is not None:
            found[name] = _with_length(system, name, found[name], scale)
    return found


def _by_length(point: Point) -> Change:
    """By the length L that scales rows of constraints, in parts of it.

    A row of the wrench (t, f) of a loop joint is scaled by s, s^-2 = |t|^2 / L^2 + |f|^2, so that
    ds / s = a dL / L with a = (s |t| / L)^2, which follows from s at half the length.
    """
    system, length = point.system, point.system.arrays.closure.length
    A = system.constraint_jacobian(point.q, point.t)
    other = system._blueprint.with_length(0.5 * length).constraint_jacobian(point.q, point.t)
    here, there = (np.sum(each**2, axis=-1) for each in (A, other))
    # s(L)^2 / s(L/2)^2 = 1 + 3 a
    a = (np.divide(here, there, out=np.ones_like(here), where=there > 0.0) - 1.0) / 3.0
    efforts = -np.einsum("nmv,nm->nv", A, a * point.multipliers)
    turned = a * np.einsum("nmv,nv->nm", A, point.mu)
    return Change(efforts[..., None], np.zeros_like(a)[..., None], turned[..., None])


def _with_length(system: System, name: str, change: Change, scale: Change) -> Change:
    """Add the effect of a placement through the length."""
    length_of = system._blueprint.length_by(name)
    if length_of is None:
        return change
    length, start, moves = system.arrays.closure.length, *moves_of(system, name)

    def logarithm(e: float, move: Any) -> Floats:
        return np.array([np.log(length_of(move(e)) / length)])

    slope = [best_rate(lambda e, m=m: logarithm(e, m), start)[0] for m in moves]  # type: ignore[misc]
    pairs = zip(change, scale, strict=True)
    return Change(*(part + np.multiply(other, slope) for part, other in pairs))


def _gravity(point: Point) -> Floats:
    """At rest efforts are linear in gravity alone."""
    system, rest = point.system, np.zeros(point.v.shape)
    columns = [
        system.with_parameters({"gravity": unit}).bias_force(point.q, rest) for unit in np.eye(3)
    ]
    return np.stack(columns, axis=-1)


def _fields(point: Point, name: str) -> Any:
    """Return the part of fields: linear in mass and in centre of mass, one difference is exact."""
    system, value = point.system, np.asarray(point.system.parameters[name])
    if name.endswith("moment_about_com") or not any(
        isinstance(force, UniformField) for force in system.forces
    ):
        return 0.0
    columns = []
    for unit in np.eye(value.size).reshape((-1, *value.shape)):
        other = system.with_parameters({name: value + unit})
        forces = [each.generalized_forces(point.q, point.v, point.t) for each in (other, system)]
        columns.append(forces[0] - forces[1])
    return np.stack(columns, axis=-1)


def _by_differences(point: Point, name: str) -> Change:
    """By each entry of a parameter, along the axes of the frame if it is a pose."""
    system, (start, moves) = point.system, moves_of(point.system, name)
    changes = []
    for k in range(len(moves)):

        def moved(e: float, k: int = k) -> tuple[System, Floats]:
            return changed_by(system, name, k, e), point.t

        changes.append(differences(point, moved, start, name))
    names = ("efforts", "rows", "turned", "vdot")
    return Change(**{n: np.concatenate([getattr(x, n) for x in changes], axis=-1) for n in names})
