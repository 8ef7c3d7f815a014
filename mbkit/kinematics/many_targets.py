"""Inverse kinematics of many targets: one search for each, put together with leading axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.kinematics.targets import PoseTarget
from mbkit.systems.calls.arguments import common_axes

if TYPE_CHECKING:
    from mbkit.kinematics.found_configuration import InverseKinematics

__all__ = ["described_many", "leading_axes", "solved_for_each"]


def leading_axes(targets: Any, q: Any) -> dict[str, tuple[int, ...]]:
    """Return the leading axes of each target and of q; empty where all are of one sample."""
    if not isinstance(targets, Mapping):
        return {}
    shapes = {f"target of '{name}'": _axes(_pose(each), 2) for name, each in targets.items()}
    if q is not None and not isinstance(q, Mapping):
        shapes["q"] = _axes(q, 1)
    return shapes if any(shapes.values()) else {}


def solved_for_each(
    solve: Callable[[dict[str, Any], Any], InverseKinematics],
    targets: Mapping[str, Any],
    q: Any,
    shapes: dict[str, tuple[int, ...]],
) -> InverseKinematics:
    """Return the results of all samples as one, with leading axes.

    Where q has none, each sample begins where the last one that was reached before it ended, along
    the last of the axes: a path of poses gives a path of configurations.
    """
    axes = common_axes(shapes)
    if 0 in axes:
        raise UsageError(f"inverse_kinematics: targets and q of axes {axes} have no sample.")
    poses = {name: np.broadcast_to(_pose(each), (*axes, 4, 4)) for name, each in targets.items()}
    own = bool(shapes.get("q"))
    starts = np.broadcast_to(np.asarray(q), (*axes, np.shape(q)[-1])) if own else None
    found: Any = np.empty(axes, dtype=object)
    for index in np.ndindex(axes):
        here = {
            name: attrs.evolve(each, pose=poses[name][index])
            if isinstance(each, PoseTarget)
            else poses[name][index]
            for name, each in targets.items()
        }
        if starts is not None:
            start = starts[index]
        elif index[-1] == 0:
            start = q
        try:
            found[index] = solve(here, start)
        except Exception as error:
            error.add_note(f"Raised at sample {index if len(index) > 1 else index[0]}.")
            raise
        start = found[index].q if found[index].converged else start
    return _together(found)


def described_many(found: InverseKinematics) -> str:
    """Return a batch in one line: how many targets were reached, and why the first was not."""
    reached = np.asarray(found.converged)
    text = f"{int(reached.sum())} of {reached.size} reached"
    if not reached.all():
        first = tuple(int(k) for k in np.argwhere(~reached)[0])
        text += f", not [{', '.join(map(str, first))}]: {found.reason[first]}"
    return f"<InverseKinematics: {text}>"


def _axes(array: Any, own: int) -> tuple[int, ...]:
    """Return the axes in front of an array's own; none if it is no array, which others refuse."""
    try:
        return tuple(np.shape(array)[:-own])
    except ValueError:
        return ()


def _pose(target: Any) -> Any:
    return target.pose if isinstance(target, PoseTarget) else target


def _together(found: Any) -> InverseKinematics:
    """Return one result of an array of results: arrays, or arrays of objects, in each field."""
    first: InverseKinematics = found.flat[0]

    def stacked(values: list[Any]) -> Any:
        """Return an array of numbers; of lists that differ in length, with NaN for gaps."""
        length = max(np.shape(each)[0] for each in values) if np.ndim(values[0]) else None
        if length is not None:
            values = [np.append(each, np.full(length - len(each), np.nan)) for each in values]
        return np.array(values).reshape((*found.shape, *np.shape(values[0])))

    def objects(values: list[Any]) -> Any:
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array.reshape(found.shape)

    def of(name: str) -> list[Any]:
        return [getattr(each, name) for each in found.flat]

    numbers = ("q", "converged", "gap", "singular_values", "singular", "iterations", "starts")
    changes: dict[str, Any] = {name: stacked(of(name)) for name in numbers}
    changes |= {name: objects(of(name)) for name in ("reason", "active_limits")}
    changes["errors"] = {
        name: stacked([each.errors[name] for each in found.flat]) for name in first.errors
    }
    changes["singular_directions"] = {
        name: objects([each.singular_directions[name] for each in found.flat])
        for name in first.singular_directions
    }
    left = [np.nan if each is None else each for each in of("preference_left")]
    changes["preference_left"] = None if first.preference_left is None else stacked(left)
    return attrs.evolve(first, **changes)
