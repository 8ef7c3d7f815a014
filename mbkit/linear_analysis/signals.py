"""Inputs and outputs of linear models, by the names of joints and bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, UsageError, several, suggestion
from mbkit.linear_analysis.small_motions import State
from mbkit.representations import Hybrid
from mbkit.spatial import translation
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems.calls.entries import entries_of, names_of

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["INPUTS", "OUTPUTS", "Signal", "input_forces", "output_rows", "signals_of"]

_AXES = ("x", "y", "z")
_FIRST, _LAST, _ALL = slice(0, 3), slice(3, 6), slice(0, 6)

#: Quantities of a body: which of (angular, linear), and what both are called.
_POSES = {"rotation": _FIRST, "position": _LAST, "pose": _ALL}
_TWISTS = {"angular_velocity": _FIRST, "velocity": _LAST, "twist": _ALL}
_WRENCHES = {"moment": _FIRST, "force": _LAST, "wrench": _ALL}

#: Quantities of joints; what no quantity says is the effort as an input, q as an output.
_JOINTS = ("q", "v", "vdot")

INPUTS = ("effort", *_WRENCHES)
OUTPUTS = (*_JOINTS, *_POSES, *_TWISTS)


@final
@attrs.frozen(eq=False)
class Signal:
    """One item of inputs or outputs: a quantity of a joint or of a point of a body.

    Attributes
    ----------
    kind : str
        The quantity, one of `INPUTS` or `OUTPUTS`.
    name : str
        The joint, one of its velocities, or the body.
    point : ndarray, shape (3,)
        The point in the frame of the body. [m]
    labels : tuple of str
        Names of its entries in the model.
    """

    kind: str
    name: str
    point: FloatArray
    labels: tuple[str, ...]


def signals_of(system: System, given: Any, kinds: tuple[str, ...], who: str) -> list[Signal]:
    """Return signals that are given by name, or in a mapping by names that they shall have.

    Raises
    ------
    UsageError
        If they are no names of known quantities, or two have one name.
    NameUnknownError
        If there is no such joint or body.
    """
    pairs: Iterable[tuple[Any, Any]]
    if isinstance(given, Mapping):
        pairs = given.items()
    elif several(given):
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
    whole = text in system.joint_names or text in system.velocity_names
    name, _, kind = (text, "", kinds[0]) if whole else text.rpartition(".")
    if kind not in kinds:
        raise NameUnknownError(
            f"linearize: {who} has {text!r}, which is no joint of system '{system.name}', nor "
            f"'NAME.QUANTITY' of a joint or body: quantities are {', '.join(kinds)}; "
            f"{suggestion(text, (*system.joint_names, *system.body_names))}"
        )
    if kind in ("effort", *_JOINTS):
        if isinstance(given, tuple):
            raise UsageError(f"linearize: {who} has a point for '{text}', which is of a joint.")
        entries = names_of(system, entries_of(system, [name], who))
        suffix = "" if kind == "effort" else f".{kind}"
        labels = _labelled(label, [f"{each}{suffix}" for each in entries])
    else:
        system.body_index(name)
        labels = _body_labels(label or name, kind, short=label is not None)
    return Signal(kind, name, point, labels)


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
    if signal.kind == "effort":
        return np.asarray(np.eye(system.nv)[:, entries_of(system, [signal.name], "inputs")])
    return _jacobian(state, signal)[_WRENCHES[signal.kind]].T


def output_rows(state: State, signal: Signal) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the rows by which a signal depends on increments of q, v and vdot, (entries, nv)."""
    system = state.system
    if signal.kind in _JOINTS:
        rows = np.eye(system.nv)[entries_of(system, [signal.name], "outputs")]
        parts = [np.zeros_like(rows) for _ in _JOINTS]
        parts[_JOINTS.index(signal.kind)] = rows
        return parts[0], parts[1], parts[2]
    J = _jacobian(state, signal)
    if signal.kind in _POSES:
        rows = J[_POSES[signal.kind]]
        return rows, np.zeros_like(rows), np.zeros_like(rows)
    chosen = _TWISTS[signal.kind]
    by_q = _twist_change(state, signal)
    return by_q[chosen], J[chosen], np.zeros_like(J[chosen])


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
