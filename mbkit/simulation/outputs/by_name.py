"""Outputs of a run by name: motion of bodies, loads of joints, forces, functions of users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import (
    NameUnknownError,
    UsageError,
    check_kind,
    no_coordinates,
    several,
    suggestion,
)
from mbkit.integrators.integrator import Rows
from mbkit.representations import Hybrid
from mbkit.results.columns import OF_JOINTS, effort_units
from mbkit.simulation.outputs.forces import FORCES, check_force_output, entries_of, force_named
from mbkit.simulation.outputs.multipliers import efforts_of
from mbkit.simulation.python_force import check_takes_states

if TYPE_CHECKING:
    from mbkit.simulation.preparation import Prepared
    from mbkit.systems import System

__all__ = [
    "Output",
    "Outputs",
    "check_at_start",
    "checked_outputs",
    "evaluated",
    "other_shape",
    "outputs_again",
    "outputs_of_part",
]

#: Outputs of a run: names such as "hand.position", with names of the user for them, or functions.
Outputs = Iterable[str] | Mapping[str, str | Callable[[float, Any, Any], Any]]

_TURNING, _WRENCH = ("rad/s",) * 3, ("N m",) * 3 + ("N",) * 3
#: Units by quantity, of each of their numbers; of efforts by the unit of the velocity.
_UNITS = {
    "position": ("m",) * 3, "velocity": ("m/s",) * 3, "angular_velocity": _TURNING,
    "twist": _TURNING + ("m/s",) * 3, "reaction": _WRENCH, "power": ("W",),
    "potential_energy": ("J",),
}  # fmt: skip
_HYBRID = Hybrid()


def _twist(system: System, name: str, q: Any, v: Any) -> Any:
    return system.twist(name, q, v, representation=_HYBRID, on_error="nan")


#: Quantities of a body or a frame, by (system, name, q, v); axes of the world.
_MOTIONS: dict[str, Callable[[System, str, Any, Any], Any]] = {
    "pose": lambda s, name, q, v: s.pose(name, q, on_error="nan"),
    "position": lambda s, name, q, v: s.pose(name, q, on_error="nan")[..., :3, 3],
    "rotation": lambda s, name, q, v: s.pose(name, q, on_error="nan")[..., :3, :3],
    "twist": _twist,
    "velocity": lambda s, name, q, v: _twist(s, name, q, v)[..., 3:],
    "angular_velocity": lambda s, name, q, v: _twist(s, name, q, v)[..., :3],
}


@final
@attrs.frozen(eq=False)
class Output:
    """One output: a quantity of a body, a frame, a joint or a force, or a function of the user."""

    label: str
    name: str
    kind: str  # "function", of `OF_JOINTS`, of `_MOTIONS`, or of `FORCES`
    function: Callable[[float, Any, Any], Any] | None = None
    is_of_force: bool = False

    @property
    def text(self) -> str | None:
        """The name of the output as an argument of `simulate`; None for a function."""
        return None if self.function is not None else f"{self.name}.{self.kind}"

    def values(self, system: System, rows: Rows, tau: Any) -> Any:
        """Return the output at all rows, (k, ...), read-only."""
        t, q, v = rows.t, rows.q, rows.v
        if self.function is not None:
            found = self._called(self.function, rows)
        elif self.is_of_force:
            found = FORCES[self.kind](system, self.name, rows)
        elif self.kind == "reaction":
            found = system.reaction(self.name, q, v, tau, t=t, minimum_norm=True)
        elif self.kind == "effort":
            place = system.velocity_slice(self.name)
            driven = system.driving_efforts(q, v, tau, t) if system.motions else 0.0
            found = (tau + driven)[:, place]
            found = found[:, 0] if found.shape[1] == 1 else found
        else:
            found = _MOTIONS[self.kind](system, self.name, q, v)
        array = np.array(found, dtype=np.float64)
        array.setflags(write=False)
        return array

    def units(self, system: System) -> tuple[str, ...]:
        """Return the unit of each number; none where they are not known, or there are none."""
        force = force_named(system, self.name) if self.is_of_force else None
        if self.kind == "wrench" and force is not None:
            return _WRENCH * (len(force.bodies) or len(system.body_names))
        if self.kind != "effort":
            return _UNITS.get(self.kind, ())
        names = system.position_names, system.position_units, system.velocity_names
        every = np.array(effort_units(*names), dtype=object)
        own = system.velocity_slice(self.name) if force is None else entries_of(system, force)
        return tuple(every[own])

    def _called(self, function: Callable[[float, Any, Any], Any], rows: Rows) -> Any:
        found = []
        for t, q, v in zip(rows.t, rows.q, rows.v, strict=True):
            try:
                found.append(np.asarray(function(float(t), q.copy(), v.copy())))
            except Exception as error:
                error.add_note(f"Raised by the output '{self.label}' at t = {t:.9g} s.")
                raise
        shapes = {each.shape for each in found}
        if len(shapes) > 1 or not all(each.dtype.kind in "biuf" for each in found):
            raise UsageError(
                f"outputs: '{self.label}' must return a number, or arrays of numbers of one shape; "
                f"got the shapes {sorted(shapes)} of {found[0].dtype}."
            )
        return np.stack(found)


def by_label(given: Any) -> list[tuple[Any, Any]] | None:
    """Return pairs of label and output: of a mapping, or of names, which are both."""
    if isinstance(given, Mapping):
        return list(given.items())
    if several(given) and not isinstance(given, str):
        return [(each, each) for each in given]
    return None


def checked_outputs(system: System, given: Outputs | None) -> tuple[Output, ...]:
    """Return the requested outputs; errors name what is unknown or given twice."""
    if given is None:
        return ()
    pairs = by_label(given)
    if pairs is None:
        raise UsageError(
            f"outputs must be names such as ['hand.position'], or a mapping of names to them or to "
            f"functions of t, q and v; got {given!r}."
        )
    taken = {*system.joint_names, *system.position_names, *system.velocity_names}
    found: dict[str, Output] = {}
    for label, what in pairs:
        check_kind("outputs: the name of an output", label, str, "text")
        if label in found or label in taken:
            whose = "another output" if label in found else "a joint"
            raise UsageError(f"outputs: '{label}' is the name of {whose} already; choose another.")
        found[label] = _output(system, label, what)
    return tuple(found.values())


def outputs_again(
    system: System, before: Mapping[str, str | None], given: Outputs | None
) -> tuple[Output, ...]:
    """Return the outputs of a run that goes on, by their former `Output.text`.

    Functions are to be given again. UsageError if one is missing, or differs from the first.
    """
    found = {each.label: each for each in checked_outputs(system, given)}
    other = [each.label for each in found.values() if before.get(each.label, "") != each.text]
    if other:
        raise UsageError(
            f"outputs: {', '.join(map(repr, other))} is no output of this run, or another one; it "
            f"has {', '.join(map(repr, before)) or 'none'}."
        )
    missing = [label for label, text in before.items() if text is None and label not in found]
    if missing:
        raise UsageError(
            f"The run has the functions {', '.join(map(repr, missing))} as outputs, which no file "
            f"can hold; give them again: mbkit.resume(..., outputs={{{missing[0]!r}: function}})."
        )
    texts = {label: text for label, text in before.items() if text is not None}
    named = {each.label: each for each in checked_outputs(system, texts)}
    return tuple((found | named)[label] for label in before)


def _output(system: System, label: str, what: Any) -> Output:
    if callable(what) and not isinstance(what, type):
        check_takes_states(what, f"outputs: '{label}'")
        return Output(label, "", "function", what)
    kinds = dict.fromkeys((*_MOTIONS, *OF_JOINTS, *FORCES))
    if not isinstance(what, str):
        raise UsageError(
            f"outputs: '{label}' must be 'NAME.QUANTITY' or a function of t, q and v, got {what!r}."
        )
    name, _, kind = what.rpartition(".")
    joints = (*system.joint_names, *system.loop_joints)
    known, of = (*system.body_names, *system.frames), "body or frame"
    if kind == "reaction":
        known, of = joints, "joint"
    elif kind in FORCES:
        known, of = system.force_names, "force"
        if kind == "effort":
            known, of = (*system.joint_names, *known), "joint or force"
    if kind not in kinds:
        raise NameUnknownError(
            f"outputs: '{what}' is no 'NAME.QUANTITY'; quantities of bodies and frames are "
            f"{', '.join(_MOTIONS)}, of joints {', '.join(OF_JOINTS)}, of forces "
            f"{', '.join(FORCES)}; {suggestion(kind, kinds)}"
        )
    if kind in FORCES and name in system.force_names and (kind != "effort" or name not in joints):
        check_force_output(system, name, kind)
        return Output(label, name, kind, is_of_force=True)
    if kind == "effort" and name in system.loop_joints:
        raise NameUnknownError(f"outputs: '{what}': {no_coordinates(name, system.remedy)}")
    if name not in known:
        raise NameUnknownError(
            f"outputs: '{what}': system '{system.name}' has no {of} '{name}'; "
            f"{suggestion(name, known)}"
        )
    return Output(label, name, kind)


def check_at_start(run: Prepared) -> dict[str, tuple[int, ...]]:
    """Return the shapes of outputs at an instant by name; raise what they raise at the start."""
    if not run.outputs:
        return {}
    problem = run.problem
    state = np.array([problem.t0]), problem.q[None].copy(), problem.v[None].copy()
    start, zero = Rows(*state, np.zeros((1, 2)), np.zeros((1, 0))), np.zeros((1, problem.nv))
    return {each.label: each.values(run.system, start, zero).shape[1:] for each in run.outputs}


def evaluated(run: Prepared, rows: Rows) -> tuple[dict[str, Any], BaseException | None]:
    """Return the outputs at rows by name, those that could be found, and the first failure."""
    found: dict[str, Any] = {}
    if not run.outputs:
        return found, None
    try:
        needs = any(each.kind in OF_JOINTS for each in run.outputs)
        tau = efforts_of(run, rows) if needs else np.zeros((1, run.problem.nv))
        for each in run.outputs:
            found[each.label] = each.values(run.system, rows, tau)
    except BaseException as error:
        return found, error
    return found, None


def other_shape(name: str, found: tuple[int, ...], expected: tuple[int, ...]) -> UsageError:
    """Return the error for an output whose arrays have not the shape of the first one."""
    return UsageError(
        f"outputs: '{name}' must return a number, or arrays of numbers of one shape; got {found}, "
        f"and {expected} at the first start."
    )


def outputs_of_part(
    run: Prepared, shapes: Mapping[str, tuple[int, ...]], rows: Rows
) -> tuple[dict[str, Any], BaseException | None]:
    """Return all outputs at rows as a part has them, and the first failure.

    By their numbers, of the shapes that they have at an instant; not a number where one failed.
    """
    found, error = evaluated(run, rows) if rows.t.size else ({}, None)
    arrays = {}
    for k, (name, shape) in enumerate(shapes.items()):
        array = found.get(name)
        if array is not None and array.shape[1:] != shape:
            error = error or other_shape(name, array.shape[1:], shape)
            array = None
        arrays[f"output_{k}"] = np.full((rows.t.size, *shape), np.nan) if array is None else array
    return arrays, error
