"""Changes of the equations of motion by parameters of a model.

Efforts are linear in the ten inertial parameters of a body (its regressor), and in gravity. All
other parameters are differentiated by differences of eighth order, of systems with other numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import UsageError
from mbkit.forces.built_in import UniformField
from mbkit.lie import SE3
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.input_changes import Change, Point, differences

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["change_by_parameter", "shape_of_parameter"]


def shape_of_parameter(system: System, name: str) -> tuple[int, ...]:
    """Return the axes of a derivative by a parameter: (6,) of a pose, else those of its numbers."""
    value = np.asarray(system.parameters[name])
    if value.dtype.kind != "f" or not value.size:
        raise UsageError(
            f"There are no derivatives by parameter '{name}', which is {value}: give the name of a "
            f"real number, or of an array of them."
        )
    return (6,) if _is_pose(value) else value.shape


def change_by_parameter(point: Point, name: str) -> Change:
    """Return the change by a parameter, its entries in a row."""
    kind, _, rest = name.partition(".")
    body, _, field = rest.rpartition(".")
    if kind == "gravity":
        return Change(_gravity(point))
    whole = kind == "bodies" and body in point.system.body_names and not _spread(point.system)
    # the length by which rows of free joints are scaled depends on centres of mass
    if whole and not (field == "com" and point.constrained):
        return Change(_inertial(point, body, field) - _fields(point, name))
    return _by_differences(point, name)


def _spread(system: System) -> bool:
    """Whether bodies have the inertia of others."""
    return bool(system.split_bodies or system.inertia_transfers)


def _gravity(point: Point) -> Floats:
    """At rest efforts are linear in gravity alone."""
    system, rest = point.system, np.zeros(point.v.shape)
    columns = [
        system.with_parameters({"gravity": unit}).inverse_dynamics(point.q, rest, rest)
        for unit in np.eye(3)
    ]
    return np.stack(columns, axis=-1)


def _inertial(point: Point, body: str, field: str) -> Floats:
    """Of Y pi by mass, centre of mass c or moment about it, pi = (m, m c, I + m (c.c - c c^T))."""
    system = point.system
    row = system.body_index(body)
    inertias = system.inertias
    m, c = float(inertias.masses[row]), inertias.coms[row]
    Y = system.inertial_regressor(point.q, point.v, point.vdot)
    Y = Y.reshape((*Y.shape[:-1], -1, 10))[..., row - 1, :]
    if field == "moment_about_com":
        # half of an entry off the diagonal is from either side
        a, b, d, e, f, g = np.moveaxis(Y[..., 4:] * [1.0, 0.5, 0.5, 1.0, 0.5, 1.0], -1, 0)
        return np.stack([a, b, d, b, e, f, d, f, g], axis=-1)
    if field == "mass":
        return Y @ _row(1.0, c, c @ c * np.eye(3) - np.outer(c, c))[:, None]
    columns = [
        _row(0.0, m * e, m * (2.0 * (c @ e) * np.eye(3) - np.outer(c, e) - np.outer(e, c)))
        for e in np.eye(3)
    ]
    return Y @ np.transpose(columns)


def _fields(point: Point, name: str) -> Any:
    """Return what fields do: linear in mass and in centre of mass, one difference is exact."""
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


def _row(mass: float, first: Any, moment: Any) -> Floats:
    return np.concatenate([[mass], first, moment[np.triu_indices(3)]])


def _by_differences(point: Point, name: str) -> Change:
    """By each entry of a parameter, along the axes of the frame if it is a pose."""
    system, value = point.system, np.asarray(point.system.parameters[name])
    start = 1.0
    if _is_pose(value):
        moves = [lambda e, x=x: value @ SE3.exp(e * x) for x in np.eye(6)]
    else:
        start = max(start, float(np.abs(value).max(initial=0.0)))
        units = np.eye(value.size).reshape((-1, *value.shape))
        moves = [lambda e, x=x: value + e * x for x in units]
    changes = []
    for move in moves:

        def moved(e: float, move: Any = move) -> tuple[System, Floats]:
            return system.with_parameters({name: move(e)}), point.t

        changes.append(differences(point, moved, start))
    names = ("efforts", "rows", "turned", "vdot")
    return Change(**{n: np.concatenate([getattr(x, n) for x in changes], axis=-1) for n in names})


def _is_pose(value: Any) -> bool:
    return value.shape == (4, 4) and bool((value[3] == [0.0, 0.0, 0.0, 1.0]).all())
