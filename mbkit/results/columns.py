"""Columns of positions and velocities by the names of joints; units of velocities and efforts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mbkit.errors import NameUnknownError, no_coordinates, suggestion

__all__ = ["OF_BODIES", "OF_FORCES", "OF_JOINTS", "columns_of", "effort_units", "velocity_units"]

#: Quantities of joints, forces and bodies that `simulate` records on request.
OF_JOINTS = ("reaction", "effort")
OF_FORCES = ("effort", "wrench", "power", "potential_energy")
OF_BODIES = ("pose", "position", "rotation", "twist", "velocity", "angular_velocity")

_REMEDY = "let another one close the loop: RelativeCoordinates(loop_joints=[...])"


def columns_of(
    name: Any,
    labels: Sequence[str],
    joints: Sequence[str],
    options: Mapping[str, Any],
    who: str,
    bodies: Sequence[str] = (),
) -> int | list[int]:
    """Return the column of a joint with one coordinate, or of one component; of others a list.

    `labels` name the columns: ``crank``, or ``ball[0]``, ``ball[1]`` and so on. NameUnknownError,
    with names that are near, where neither a joint nor a component has the name.

    Examples
    --------
    >>> labels = ["crank", "ball[0]", "ball[1]"]
    >>> [columns_of(name, labels, ["crank", "ball"], {}, "run") for name in ("crank", "ball")]
    [0, [1, 2]]
    """
    if name in labels:
        return labels.index(name)
    if isinstance(name, str) and name in joints:
        return [k for k, label in enumerate(labels) if label.rpartition("[")[0] == name]
    known = f"{who}[{name!r}]"
    loops = options.get("loop_joints", ())
    loops = loops if isinstance(loops, tuple) else ()
    if name in loops:
        raise NameUnknownError(f"{known}: {no_coordinates(name, _REMEDY)}")
    if name in bodies:
        raise NameUnknownError(
            f"{known}: {name!r} is a body; its motion is an output: simulate(..., "
            f"outputs=['{name}.position'])."
        )
    if recorded := _recorded_by_name(name, (*joints, *loops), bodies):
        raise NameUnknownError(f"{known}: {recorded}")
    names = dict.fromkeys((*joints, *labels))
    raise NameUnknownError(
        f"{known}: there is no joint, component or output of this name; {suggestion(name, names)}"
    )


def _recorded_by_name(name: Any, joints: Sequence[str], bodies: Sequence[str]) -> str:
    """Return how a run records a quantity with a name such as "hinge.effort"; "" of other names.

    A result has the names of joints and bodies; those of forces and frames are in the mechanism.
    """
    part, _, quantity = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    ask = f"ask for it: simulate(..., outputs=[{name!r}])."
    if quantity in (OF_JOINTS if part in joints else OF_BODIES if part in bodies else ()):
        return f"this run did not record it; {ask}"
    if part and part not in joints and quantity in (*OF_JOINTS, *OF_FORCES, *OF_BODIES):
        return f"this run recorded no such output; if the mechanism has {part!r}, {ask}"
    return ""


def velocity_units(
    position_names: Sequence[str], units: Sequence[str], velocity_names: Sequence[str]
) -> list[str]:
    """Return the units of velocities: those of the positions of their joint, a second.

    A unit quaternion, four positions without unit, has three angular velocities. Empty texts where
    positions have no units, or are more or fewer than velocities.

    Examples
    --------
    >>> names = ["rail", *(f"ball[{k}]" for k in range(4))]
    >>> velocity_units(names, ["m", "", "", "", ""], ["rail", "ball[0]", "ball[1]", "ball[2]"])
    ['m/s', 'rad/s', 'rad/s', 'rad/s']
    """
    if len(units) != len(position_names):
        return [""] * len(velocity_names)
    by_joint: dict[str, list[str]] = {}
    for label, unit in zip(position_names, units, strict=True):
        by_joint.setdefault(_joint(label), []).append(unit)
    counts: dict[str, int] = {}
    for label in velocity_names:
        counts[_joint(label)] = counts.get(_joint(label), 0) + 1
    rates = {joint: _rates(by_joint.get(joint, []), count) for joint, count in counts.items()}
    return [rates[_joint(label)].pop(0) for label in velocity_names]


def effort_units(
    position_names: Sequence[str], units: Sequence[str], velocity_names: Sequence[str]
) -> list[str]:
    """Return the units of efforts, by those of velocities: empty texts where they have none.

    Examples
    --------
    >>> effort_units(["rail", "hinge"], ["m", "rad"], ["rail", "hinge"])
    ['N', 'N m']
    """
    rates = velocity_units(position_names, units, velocity_names)
    return [{"rad/s": "N m", "m/s": "N"}.get(rate, "") for rate in rates]


def _joint(label: str) -> str:
    """Return the joint that a column belongs to; names of joints have no brackets."""
    return label.partition("[")[0]


def _rates(units: list[str], count: int) -> list[str]:
    """Return the units of so many velocities of one joint, by those of its positions."""
    pure = [unit in ("", "1") for unit in units]
    first = next((k for k in range(len(units) - 3) if all(pure[k : k + 4])), None)
    if first is not None:
        units = [*units[:first], *["rad"] * 3, *units[first + 4 :]]
    if len(units) != count or not set(units) <= {"rad", "m"}:
        return [""] * count
    return [f"{unit}/s" for unit in units]
