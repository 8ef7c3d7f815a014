"""Inputs and outputs of linear models, by the names of joints and bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, UsageError, several, suggestion
from mbkit.linear_analysis.small_motions import SmallMotions, State
from mbkit.representations import Hybrid
from mbkit.spatial import translation
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems.calls.entries import entries_of, names_of, velocity_sizes
from mbkit.systems.rank import Ranked, largest_row

if TYPE_CHECKING:
    from mbkit.systems import System

_AXES = ("x", "y", "z")
_FIRST, _LAST, _ALL = slice(0, 3), slice(3, 6), slice(0, 6)

#: Quantities of a body: which of (angular, linear), and the name of both.
_POSES = {"rotation": _FIRST, "position": _LAST, "pose": _ALL}
_TWISTS = {"angular_velocity": _FIRST, "velocity": _LAST, "twist": _ALL}
_WRENCHES = {"moment": _FIRST, "force": _LAST, "wrench": _ALL}

#: Quantities of joints; a name without one is the effort as an input, q as an output.
_JOINTS = ("q", "v", "vdot")

INPUTS = ("effort", *_WRENCHES)

#: A parameter of a force, which is an input by its name in `System.parameters`.
_PARAMETER = "parameter"
OUTPUTS = (*_JOINTS, "effort", *_POSES, *_TWISTS)


@final
@attrs.frozen(eq=False)
class Signal:
    """One item of inputs or outputs: a quantity of a joint or of a point of a body."""

    kind: str  # the quantity, one of `INPUTS` or `OUTPUTS`, or "parameter"
    name: str  # the joint, one of its velocities, the body, or the parameter
    point: FloatArray  # (3,): the point in the frame of the body. [m]
    labels: tuple[str, ...]  # names of its entries in the model


def signals_of(system: System, given: Any, kinds: tuple[str, ...], who: str) -> list[Signal]:
    """Return signals that are given by name, or in a mapping by names that they shall have.

    UsageError if they are no names of known quantities, or two have one name.
    """
    pairs: Iterable[tuple[Any, Any]]
    if isinstance(given, Mapping):
        pairs = given.items()
    elif several(given) and not isinstance(given, str):
        pairs = [(None, each) for each in given]
    else:
        pairs = [(None, given)]
    found = [_signal(system, label, each, kinds, who) for label, each in pairs]
    labels = [label for each in found for label in each.labels]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(
                f"linearize: {who} has '{label}' twice; leave one out, or name them: "
                f"{who}={{'first': ..., 'second': ...}}."
            )
    return found


def _signal(system: System, label: Any, given: Any, kinds: tuple[str, ...], who: str) -> Signal:
    point = np.zeros(3)
    text = given
    if isinstance(given, tuple) and len(given) == 2:
        text = given[0]
        point = frozen_array(given[1])
        check_array(point, (3,), f"linearize: the point of {who} '{text}'")
    if not (isinstance(text, str) and isinstance(label, str | None)):
        raise UsageError(
            f"linearize: {who} must be names such as 'hinge', or pairs of such a name and a point "
            f"of the body, ('rod.position', (0, 0, 1)); got {given!r}."
        )
    if who == "inputs" and text.startswith("forces.") and text in system.parameters:
        count = np.size(system.parameters[text])
        names = [text] if count == 1 else [f"{text}[{k}]" for k in range(count)]
        return Signal(_PARAMETER, text, point, _labelled(label, names))
    whole = text in system.joint_names or text in system.velocity_names
    name, _, kind = (text, "", kinds[0]) if whole else text.rpartition(".")
    if kind not in kinds:
        raise _unknown(system, text, kinds, who)
    if kind in ("effort", *_JOINTS):
        if isinstance(given, tuple):
            raise UsageError(f"linearize: {who} has a point for '{text}', which is of a joint.")
        entries = names_of(system, entries_of(system, [name], who))
        suffix = "" if kind == kinds[0] == "effort" else f".{kind}"
        labels = _labelled(label, [f"{each}{suffix}" for each in entries])
    else:
        system.body_index(name)
        if name == system.body_names[0] and who == "inputs":
            raise UsageError(
                f"linearize: inputs has '{text}', and the world cannot be moved: it would be "
                f"without effect. Give a body: {', '.join(map(repr, system.body_names[1:13]))}."
            )
        labels = _body_labels(label or name, kind, short=label is not None)
    return Signal(kind, name, point, labels)


def _unknown(system: System, text: str, kinds: tuple[str, ...], who: str) -> NameUnknownError:
    """Return the error about a name that is no signal."""
    every = (*system.joint_names, *system.body_names)
    quantities = f"quantities are {', '.join(kinds)}"
    name, _, kind = text.rpartition(".")
    if text in system.body_names:
        return NameUnknownError(
            f"linearize: {who} has the body {text!r} without a quantity, such as "
            f"'{text}.{'force' if who == 'inputs' else 'position'}'; {quantities}."
        )
    if name in every:
        return NameUnknownError(
            f"linearize: {who} has {text!r}, and {kind!r} is none of the quantities there: "
            f"{quantities}."
        )
    return NameUnknownError(
        f"linearize: {who} has {text!r}, which is no joint of system '{system.name}', nor "
        f"'NAME.QUANTITY' of a joint or body: {quantities}; {suggestion(text, every)}"
    )


def _labelled(label: str | None, names: list[str]) -> tuple[str, ...]:
    if label is None:
        return tuple(names)
    return (label,) if len(names) == 1 else tuple(f"{label}[{k}]" for k in range(len(names)))


def _body_labels(name: str, kind: str, *, short: bool) -> tuple[str, ...]:
    """Return NAME.KIND.x and so on, with both parts of poses, twists and wrenches."""
    for kinds in (_POSES, _TWISTS, _WRENCHES):
        if kind in kinds and kinds[kind] == _ALL:
            parts = [f"{name}.{each}" for each in list(kinds)[:2]]
            return tuple(f"{part}.{axis}" for part in parts for axis in _AXES)
    return tuple(f"{name}.{axis}" if short else f"{name}.{kind}.{axis}" for axis in _AXES)


def input_forces(state: State, signal: Signal) -> FloatArray:
    """Return the generalized forces of units of the signal, (nv, entries)."""
    system = state.system
    if signal.kind == _PARAMETER:
        change = system.derivatives(
            "inverse_dynamics", state.q, state.v, vdot=state.vdot, by=[signal.name], t=state.t
        )
        return -change[signal.name].reshape((system.nv, -1))
    if signal.kind == "effort":
        return np.asarray(np.eye(system.nv)[:, entries_of(system, [signal.name], "inputs")])
    return _jacobian(state, signal)[_WRENCHES[signal.kind]].T


def output_rows(motions: SmallMotions, held: list[int], signal: Signal) -> list[FloatArray]:
    """Return the rows by which a signal depends on changes of q, v, vdot and forces.

    Each is of shape (entries, nv).
    """
    state, system = motions.state, motions.state.system
    if signal.kind == "effort":
        entries = entries_of(system, [signal.name], "outputs")
        return _effort_rows(motions, held, entries, signal.name)
    if signal.kind in _JOINTS:
        rows = np.eye(system.nv)[entries_of(system, [signal.name], "outputs")]
        parts = {_JOINTS.index(signal.kind): rows}
    elif signal.kind in _POSES:
        rows = _jacobian(state, signal)[_POSES[signal.kind]]
        parts = {0: rows}
    else:
        chosen = _TWISTS[signal.kind]
        rows = _jacobian(state, signal)[chosen]
        parts = {0: _twist_change(state, signal)[chosen], 1: rows}
    return [parts.get(k, np.zeros_like(rows)) for k in range(4)]


def _effort_rows(
    motions: SmallMotions, held: list[int], entries: list[int], name: str
) -> list[FloatArray]:
    """Return the rows of the efforts that drive prescribed joints.

    The rows of the other velocities give the change of the multipliers, of least norm.
    """
    system, q, t = motions.state.system, motions.state.q, motions.state.t
    if not set(entries) <= set(held):
        raise UsageError(
            f"linearize: as an output the effort is that which drives a prescribed joint, and "
            f"'{name}' is not prescribed: its effort is an input, '{name}'."
        )
    A = system.constraint_jacobian(q, t)
    free = np.setdiff1d(np.arange(system.nv), held)
    sizes = velocity_sizes(system, q)
    ranked = Ranked.of((A / sizes)[:, free].T, largest_row(A / sizes))
    rows = np.eye(system.nv)[entries]
    rows[:, free] -= A[:, entries].T @ ranked.solve(np.diag(1.0 / sizes[free]))
    return [rows @ motions.by_q, rows @ motions.by_v, rows @ motions.mass, -rows]


def _jacobian(state: State, signal: Signal) -> FloatArray:
    """Return the Jacobian of the point, with the axes of the world, (6, nv)."""
    return state.system.jacobian(
        signal.name, state.q, frame=translation(signal.point), representation=Hybrid()
    )


def _twist_change(state: State, signal: Signal) -> FloatArray:
    """Return the change of the twist of the point, at constant v, by increments of q: (6, nv)."""
    system, q, v = state.system, state.q, state.v
    if not v.any():
        return np.zeros((6, system.nv))
    change = system.jacobian_derivatives(signal.name, q, representation=Hybrid()) @ v
    change = np.array(change.T)
    arm = system.poses(q)[system.body_index(signal.name), :3, :3] @ signal.point
    J = system.jacobian(signal.name, q, representation=Hybrid())
    cross: Callable[..., Any] = np.cross
    turned = cross(J[:3].T, arm)  # by which a small rotation moves the point
    change[3:] += (cross(change[:3].T, arm) + cross(J[:3] @ v, turned)).T
    return change
