"""Changes of the equations of motion by parameters of a model.

Efforts are linear in the ten inertial parameters of a body (its regressor), and in gravity; places
of joints move as configurations do; forces and constraints are known on dual numbers. All other
parameters are differentiated by differences of eighth order, of systems with other numbers.
"""

from __future__ import annotations

import copy
import math
import weakref
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.forces.built_in import UniformField
from mbkit.joints import JOINT_TYPES
from mbkit.joints.bases.axes import turn_of_frame
from mbkit.lie import SE3
from mbkit.lie.arrays import hat
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.constraint_changes import rows_by_parameter
from mbkit.systems.derivatives.evaluation_states import Change, Point
from mbkit.systems.derivatives.force_changes import forces_by_parameter
from mbkit.systems.derivatives.inertia_changes import (
    inertial_change_by_dimension,
    inertial_changes,
    is_given,
    is_spread,
)
from mbkit.systems.derivatives.input_changes import along_steps
from mbkit.systems.derivatives.numeric_changes import (
    best_rate,
    check_no_jump,
    differences,
    rate_without_jump,
)

if TYPE_CHECKING:
    from mbkit.systems.system import System


#: Systems with other numbers, of those systems of which they are kept.
_KEPT: weakref.WeakKeyDictionary[System, dict[tuple[str, int, float], System]] = (
    weakref.WeakKeyDictionary()
)

#: How many of them are kept for each.
_MOST_SYSTEMS = 1024


def keeping_changed(system: System) -> System:
    """Return the same system as another object: while it lives `changed_by` keeps what it makes."""
    kept = copy.copy(system)
    _KEPT[kept] = {}
    return kept


def changed_by(system: System, name: str, entry: int, e: float) -> System:
    """Return the system with an entry of a parameter moved: see `moves_of`."""
    kept, key = _KEPT.get(system), (name, entry, e)
    if kept is not None and key in kept:
        return kept[key]
    found = system.with_parameters({name: moves_of(system, name)[1][entry](e)})
    if kept is not None:
        if len(kept) >= _MOST_SYSTEMS:
            kept.clear()
        kept[key] = found
    return found


def shape_of_parameter(system: System, name: str) -> tuple[int, ...]:
    """Return the axes of a derivative by a parameter: (6,) of a pose, else those of its numbers."""
    value = np.asarray(system.parameters[name])
    if value.dtype.kind != "f" or not value.size:
        raise UsageError(
            f"There are no derivatives by parameter '{name}', which is {value}: give the name of a "
            f"real number, or of an array of them."
        )
    return (6,) if _is_pose(value) else value.shape


def change_by_parameter(point: Point, name: str, *, scaled: bool = True) -> Change:
    """Return the change by a parameter, its entries in a row.

    Unless `scaled`, without what it does to multipliers alone by the length that scales rows of
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
    if name.startswith("constraints."):  # directions in a plane are chosen by case
        for k in range(len(moves)):
            one = Change(*(part[..., k : k + 1] if np.ndim(part) else part for part in change))
            check_no_jump(point, lambda e, k=k: changed_by(system, name, k, e), start, name, one)  # type: ignore[misc]
        return change
    return _with_length(system, name, change, _by_length(point)) if scaled else change


def _of_forces(point: Point, name: str) -> Floats:
    """Return the change of e by a parameter of a force, which nothing else knows of."""
    system, (start, moves) = point.system, moves_of(point.system, name)
    exact = forces_by_parameter(point, name, start, moves)
    if exact is not None:
        return -exact
    size = point.sizes["efforts"]

    def forces(e: float, k: int) -> Floats:
        other = changed_by(system, name, k, e) if e else system
        return other.generalized_forces(point.q, point.v, point.t) / size

    rates = [rate_without_jump(lambda e, k=k: forces(e, k), start, name) for k in range(len(moves))]  # type: ignore[misc]
    return -np.stack(rates, axis=-1) * size[..., None]


#: The places of a joint, and how the step of the free joint there moves them.
_PLACES = {"S_pred": 1.0, "S_succ": -1.0}


class Loosened(NamedTuple):
    """A system with free joints where places of joints can be moved.

    Attributes
    ----------
    system : System
        It has these joints after all others.
    moving : ndarray of bool, shape (ndx,)
        The steps of these joints.
    steps : mapping of str to ndarray, shape (ndx, k)
        How they move by the entries of a parameter, by its name.
    """

    system: System
    moving: Any
    steps: Mapping[str, Floats]

    @classmethod
    def of(cls, system: System, names: Iterable[str]) -> Loosened | None:
        """Return it for those names that are of places; None where there are none.

        In absolute coordinates, and where bodies are split, other numbers of the system depend on
        places: None is returned.
        """
        twists = {name: twist for name in names if (twist := _twists(system, name)) is not None}
        if not twists or is_spread(system) or system.free_joints:
            return None
        places = list(dict.fromkeys(place for each in twists.values() for place in each))
        loose, joints = system._blueprint.loosened(places)
        moving = np.zeros(loose.ndx, dtype=bool)
        moving[system.ndx :] = True
        found = {}
        for name, each in twists.items():
            # along the twists of all places that move
            steps = np.zeros((loose.ndx, math.prod(shape_of_parameter(system, name))))
            for place, twist in each.items():
                steps[loose.step_slice(joints[places.index(place)])] = _PLACES[place[1]] * twist
            found[name] = steps
        return cls(loose, moving, found)

    def at(self, point: Point) -> Point:
        """Return the same states of the loosened system, its free joints at rest."""
        q, v, vdot, tau = self.states(point.q, point.v, point.vdot, point.tau)
        given = np.concatenate([point.given, np.ones(self.system.nv - point.system.nv, dtype=bool)])
        return attrs.evolve(point, system=self.system, q=q, v=v, vdot=vdot, tau=tau, given=given)

    def states(self, q: Floats, *velocities: Floats) -> tuple[Floats, ...]:
        """Return configurations (N, nq) and velocities (N, nv) with the free joints at rest."""
        loose = self.system
        rest = np.broadcast_to(loose.reference_configuration(), (len(q), loose.nq))
        longer = np.concatenate([q, rest[:, q.shape[-1] :]], axis=-1)
        return longer, *(_padded(each, loose.nv) for each in velocities)


def changes_by_places(
    point: Point, names: Iterable[str], *, scaled: bool = True
) -> dict[str, Change]:
    """Return the changes by those parameters that move joints of the tree on their bodies.

    They are along the steps of free joints there, at rest (`mbkit.coordinates.placement_joints`):
    as exact as by configurations. Multipliers depend besides on the length that scales rows of
    constraints, which motions do not: it stays what it is unless `scaled`.
    """
    system = point.system
    loosened = Loosened.of(system, names)
    if loosened is None:
        return {}
    mu = _padded(point.mu, loosened.system.nv) if point.redundant else None
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


def _twists(system: System, name: str) -> dict[tuple[str, str], Any] | None:
    """Return how each place of a joint moves by the entries of a parameter, twists in columns.

    None for other parameters, and for joints that close loops: their rows are measured beside the
    bodies that they join.
    """
    kind, _, rest = name.partition(".")
    joint, _, field = rest.rpartition(".")
    if kind != "joints" or joint not in system.joint_places or joint in system.loop_joints:
        return None
    if field in _PLACES:
        return {(joint, field): np.eye(6)}
    made: Any = system.arrays.tree_joints.get(joint)
    if field == "point" and type(made) in JOINT_TYPES.values():
        twist = np.concatenate([np.zeros((3, 3)), np.eye(3)])
    elif field == "axis" and type(made) in JOINT_TYPES.values():
        turn = turn_of_frame(made.axis)  # about the point
        twist = np.concatenate([turn, hat(made.point) @ turn])
    else:
        return None
    return dict.fromkeys([(joint, place) for place in _PLACES], twist)


def _padded(x: Floats, size: int) -> Floats:
    return np.concatenate([x, np.zeros((len(x), size - x.shape[-1]))], axis=-1)


def _by_length(point: Point) -> Change:
    """By the length L that scales rows of constraints, in parts of it.

    A row of the wrench (t, f) of a loop joint is scaled by s, s^-2 = |t|^2 / L^2 + |f|^2, so that
    ds / s = a dL / L with a = (s |t| / L)^2, which s at half the length tells.
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
    """Add what a place does to the length."""
    length, start, moves = system.arrays.closure.length, *moves_of(system, name)

    def logarithm(e: float, move: Any) -> Floats:
        return np.array([np.log(system._blueprint.length_with({name: move(e)}) / length)])

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


def moves_of(system: System, name: str) -> tuple[float, list[Any]]:
    """Return how a parameter is moved along each entry, by a number, and a large number for it."""
    value, start = np.asarray(system.parameters[name]), 1.0
    if _is_pose(value):
        return start, [lambda e, x=x: value @ SE3.exp(e * x) for x in np.eye(6)]
    start = max(start, float(np.abs(value).max(initial=0.0)))
    units = np.eye(value.size).reshape((-1, *value.shape))
    return start, [lambda e, x=x: value + e * x for x in units]


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


def _is_pose(value: Any) -> bool:
    return value.shape == (4, 4) and bool((value[3] == [0.0, 0.0, 0.0, 1.0]).all())
