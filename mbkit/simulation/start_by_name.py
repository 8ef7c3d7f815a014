"""States at the start by the names of joints, with the loops closed from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.errors import ConstraintError, UsageError, listed
from mbkit.simulation.consistent_states import is_closed, stays_closed
from mbkit.systems.calls.by_name import fill_all

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["Start", "start_of"]

#: Change of a joint from its given value, in radians or metres and per second, from which on it
#: counts as solved for.
_MOVED = 1e-9


class Start(NamedTuple):
    """A state at the start.

    Attributes
    ----------
    q, v : ndarray, shape (nq,), (nv,)
        The state, with closed loops where it was found by names.
    solved : dict of str to list of str
        Under "q" and "v" the joints that were moved to close the loops; empty where none were.
    """

    q: Any
    v: Any
    solved: dict[str, list[str]]


def start_of(system: System, t: float, q: Any, v: Any) -> Start:
    """Return the state at the start of a run, by vectors or by the names of joints.

    A vector is not changed. By names, joints that are not named start at the reference, and move as
    constraints require, by the least motion and the least kinetic energy: loops are closed from
    there. Joints left out are as if none were named, unless that satisfies the constraints
    already. Prescribed joints are where they are at that time.

    Parameters
    ----------
    system : System
        In any coordinates; names are those of the joints that it has in relative coordinates.
    t : float
        The time. [s]
    q, v : array_like, mapping of str to array_like, or None
        Numbers by joints or entries, such as ``{"main": 0.5, "ball[2]": 0.1}``. [rad], [m]

    Raises
    ------
    NameUnknownError, UsageError
        If there is no such joint, it is prescribed, or it takes other numbers.
    ConstraintError
        If the loops cannot be closed with the named values.
    """
    by_name = isinstance(q, Mapping), isinstance(v, Mapping)
    if q is not None and v is not None and not any(by_name):
        return Start(q, v, {})
    if not any(by_name):
        of_tree = system.start_of_tree(t, q)
        whole = [own if x is None else x for own, x in zip(of_tree, (q, v), strict=True)]
        if is_closed(system, t, whole[0]) and stays_closed(system, t, *whole):
            return Start(whole[0], whole[1], {})
    base = system._blueprint.relative() if system.free_joints else system
    rest = np.zeros(base.nv)
    solved: dict[str, list[str]] = {"q": [], "v": []}
    if q is None or by_name[0]:
        placed = closed = base.prescribed_state(t)[0]
        _fill(base, placed, q or {}, "q")
        if not is_closed(base, t, placed):
            closed = _closed(base, placed, tuple(q or ()), t)
            solved["q"] = _moved(base, base.difference(placed, closed), base.tangent_slice)
    else:
        closed = base.state_of(system, q, np.zeros(system.nv))[0]
    if v is None or by_name[1]:
        rest = wished = base.prescribed_state(t)[1]
        _fill(base, wished, v or {}, "v")
        if not stays_closed(base, t, closed, wished):
            rest = base.consistent_velocity(dict(v or {}), closed, t=t)
            solved["v"] = _moved(base, rest - wished, base.velocity_slice)
    at_start = (closed, rest) if base is system else system.state_of(base, closed, rest)
    q_found = at_start[0] if q is None or by_name[0] else q
    v_found = at_start[1] if v is None or by_name[1] else v
    return Start(q_found, v_found, solved)


def _closed(system: System, q: Any, named: tuple[str, ...], t: float) -> Any:
    """Return q with its loops closed and the named joints kept; errors name the caller."""
    try:
        return system.close_loops(q, fixed=named, t=t)
    except ConstraintError as error:
        kept = f"keeps {listed(named)} where q puts them" if named else "names no joints"
        error.add_note(
            f"Raised at the start of a run, which {kept}, and closes the loops by the joints that "
            f"are not named, from the reference configuration."
        )
        raise


def _moved(system: System, change: Any, place: Callable[[str], slice]) -> list[str]:
    """Return the joints whose entries of a change are not zero."""
    return [name for name in system.joint_names if (np.abs(change[place(name)]) > _MOVED).any()]


def _fill(system: System, vector: Any, given: Mapping[str, Any], name: str) -> None:
    """Write numbers by names into a vector of positions or velocities, in place."""
    for joint in system.prescribed_joints:
        if any(key == joint or str(key).startswith(f"{joint}[") for key in given):
            raise UsageError(
                f"{name}: joint '{joint}' is prescribed, its state is a function of time; leave it "
                f"out."
            )
    fill_all(system, vector, given, name, name)
