"""Changes of efforts by the data of inertias: efforts are linear in ten parameters of a body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.forces import UniformField
from mbkit.spatial.inertial_parameters import parameters_of
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import Point
from mbkit.systems.derivatives.numeric_changes import rates_without_jump

if TYPE_CHECKING:
    from mbkit.systems.system import System


def field_of_inertia(
    system: System, name: str, *, with_fields: bool = False
) -> tuple[str, str] | None:
    """Return body and field of a parameter by which efforts change by the regressor alone.

    `with_fields`: of a regressor with the acceleration of the fields that act on all bodies.
    """
    kind, _, rest = name.partition(".")
    body, _, field = rest.rpartition(".")
    if kind != "bodies" or not is_given(system, body) or is_spread(system):
        return None
    fields = [force for force in system.forces if isinstance(force, UniformField)]
    if fields and not (with_fields and not any(force.bodies for force in fields)):
        return None  # which act on masses
    return body, field


def is_given(system: System, body: str) -> bool:
    """Return whether the parameters of a body are those of its inertia, not its dimensions."""
    return body in system.body_names and f"bodies.{body}.moment_about_com" in system.parameters


def inertial_change_by_dimension(
    point: Point, name: str, body: str, start: float, moves: Sequence[Callable[[float], Any]]
) -> Floats:
    """Return Y dpi (N, nv, k), with the parameters pi of a body that computes its inertia.

    `moves` take a number to values of the dimension, and `start` is a large number for them. pi are
    polynomials of dimensions: their differences leave no more than rounding.
    """
    system, row = point.system, point.system.body_index(body)

    def numbers(value: Any) -> Floats:
        found = system._blueprint.inertias({name: value})
        masses, moments = found.masses[row], found.moments_about_com[row]
        return parameters_of(masses, found.coms[row], moments)

    here = numbers(system.parameters[name])
    rates = rates_without_jump(numbers, start, moves, name, here)
    return np.asarray(point.regressor[:, :, row - 1] @ rates)


def is_spread(system: System) -> bool:
    """Whether bodies have the inertia of others."""
    return bool(system.split_bodies or system.inertia_transfers)


#: Rows and columns of the entries of a packed moment of inertia, and which are on the diagonal.
_ROWS, _COLUMNS = np.triu_indices(3)
_DIAGONAL = 1.0 * (_ROWS == _COLUMNS)


def inertial_changes(
    system: System, regressor: Floats, fields: Mapping[str, tuple[str, str]]
) -> dict[str, Floats]:
    """Return Y dpi (..., k) by name of mass, centre of mass c or moment about it of a body.

    Y is (..., bodies, 10), pi = (m, m c, I + m (c.c - c c^T)); names have body and field.
    """
    kinds = {field for _, field in fields.values()}
    changes = {field: _inertial_change(system, field) for field in kinds}
    rows = {name: system.body_index(body) - 1 for name, (body, _) in fields.items()}
    return {
        name: regressor[..., rows[name], :] @ changes[field][rows[name]]
        for name, (_, field) in fields.items()
    }


def _inertial_change(system: System, field: str) -> Floats:
    """Return dpi (bodies, 10, k) of all bodies."""
    unit = np.eye(3)
    if field == "moment_about_com":
        # half of an entry off the diagonal is from either side
        entries = np.einsum("ra,rb->rab", unit[_ROWS], unit[_COLUMNS])
        both = 0.5 * (entries + np.swapaxes(entries, 1, 2)).reshape((6, 9))
        found = np.concatenate([np.zeros((4, 9)), both])
        return np.broadcast_to(found, (len(system.body_names) - 1, *found.shape))
    inertias = system.inertias
    m, c = inertias.masses[1:, None, None], inertias.coms[1:]
    if field == "mass":
        moments = np.sum(c * c, axis=1)[:, None] * _DIAGONAL - c[:, _ROWS] * c[:, _COLUMNS]
        return np.concatenate([np.ones((len(c), 1)), c, moments], axis=1)[..., None]
    by_com = 2.0 * _DIAGONAL[:, None] * c[:, None, :]
    by_com = by_com - c[:, _ROWS, None] * unit[_COLUMNS] - c[:, _COLUMNS, None] * unit[_ROWS]
    first = np.broadcast_to(unit, (len(c), 3, 3))
    return np.asarray(m * np.concatenate([np.zeros((len(c), 1, 3)), first, by_com], axis=1))
