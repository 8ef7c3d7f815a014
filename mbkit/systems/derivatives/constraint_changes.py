"""Changes of constraints by states, by the time and by parameters, exact.

The terms of constraints in the equations, A vdot + A-dot v + ... and A^T multipliers, are known on
dual numbers (`mbkit.systems.derivatives.on_duals.exact_constraints`). A parameter moves frames in
which loop joints are measured, or the numbers that compiled constraints read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.errors import UsageError
from mbkit.lie import SE3
from mbkit.lie.arrays import vee
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import Change, Point, TimedStates
from mbkit.systems.derivatives.numeric_changes import rates_of_numbers, rates_without_jump
from mbkit.systems.derivatives.on_duals.exact_constraints import ExactConstraints, RowDerivatives

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "Moves",
    "MovingLoops",
    "MovingRows",
    "loop_joint_of",
    "rows_by_parameter",
    "rows_by_state",
    "rows_by_time",
]

#: Functions that take a number to values of a parameter, one for each of its entries.
Moves = Sequence[Callable[[float], Any]]


def rows_by_state(point: Point, entries: range) -> RowDerivatives | None:
    """Return the derivatives of rows and of their forces by entries of (dx, v).

    dx are steps of the configuration. None where they are not exact, or not finite.
    """
    exact = point.system._exact_constraints
    if exact is None:
        return None
    found = exact.by_entries(entries, point.states, point.fixed)
    known = np.isfinite(found.acceleration).all() and np.isfinite(found.forces).all()
    return found if known else None


def rows_by_time(point: Point) -> Change | None:
    """Return the change of constraints by the time; None where it is not exact."""
    exact = point.system._exact_constraints
    return None if exact is None else _change(point, exact.by_time)


def rows_by_parameter(point: Point, name: str, start: float, moves: Moves) -> Change | None:
    """Return the same by a parameter of a constraint, a body or a joint that closes loops.

    The effect of the length by which rows are scaled is left out. None where `MovingRows` is.
    """
    rows = MovingRows.of(point.system, name, start, moves)
    return None if rows is None else _change(point, rows.at)


def loop_joint_of(system: System, name: str) -> str | None:
    """Return the joint that closes a loop whose parameter it is, or a member's of it."""
    kind, _, rest = name.partition(".")
    owners = [joint for joint in system.joint_places if rest.startswith(f"{joint}.")]
    owner = max(owners, key=len, default=None)
    return owner if kind == "joints" and owner in system.loop_joints else None


class MovingRows(NamedTuple):
    """Derivatives of constraints by a parameter that changes their numbers, by dual numbers.

    Attributes
    ----------
    system : System
        With constraints.
    moving : mapping of int to ndarray
        See `ExactConstraints.by_numbers`.
    entries : int
        Those of the parameter.
    """

    system: System
    moving: Mapping[int, Floats]
    entries: int

    @classmethod
    def of(cls, system: System, name: str, start: float, moves: Moves) -> MovingRows | None:
        """Return it for a parameter of a constraint, a body or a joint that closes loops.

        `start` is a large number for `moves`. The effect of the length that scales rows is left
        out. None for other parameters of joints, where constraints are not exact, where values
        beside the parameter's are refused, and where a hinge becomes a screw.
        """
        exact = system._exact_constraints
        of_tree = name.startswith("joints.") and loop_joint_of(system, name) is None
        if exact is None or of_tree:
            return None
        if name not in exact.moving:
            try:
                exact.moving[name] = _moving(system, exact, name, start, moves)
            except UsageError:
                exact.moving[name] = None
        moving = exact.moving[name]
        return None if moving is None else cls(system, moving, len(moves))

    def at(self, states: TimedStates, given: Floats) -> RowDerivatives:
        """Return the derivatives at states, as `ExactConstraints.by_numbers` takes them."""
        if self.moving:
            exact = self.system._exact_constraints
            assert exact is not None  # see `of`
            return exact.by_numbers(self.moving, states, given)
        system = self.system
        p, m = system.num_position_constraints, system.num_velocity_constraints
        return RowDerivatives(
            *(np.zeros((len(states.q), rows, self.entries)) for rows in (p, m, m, system.nv))
        )


def _moving(
    system: System, exact: ExactConstraints, name: str, start: float, moves: Moves
) -> Mapping[int, Floats] | None:
    """Return how a parameter moves the inputs of constraints; see `ExactConstraints.by_numbers`."""
    kind, _, rest = name.partition(".")
    closure, (owner, _, field) = system.arrays.closure, rest.rpartition(".")
    if kind == "constraints":
        part = next(each for each in closure.objects if each.name == owner)
        return exact.moving_numbers(owner, rates_of_numbers(part, field, start, moves))
    loops = MovingLoops.of(system, exact, name, start, moves)
    if loops is None:
        return None
    found = {place: rate for each in loops.joints.values() for place, rate in each.items()}
    for site, twists in loops.sites.items():
        found |= exact.moving_site(site, twists)
    return found


class MovingLoops(NamedTuple):
    """Changes of the numbers and frames of loop joints with a parameter.

    Attributes
    ----------
    joints : mapping of int to mapping of int to ndarray
        By joint: numbers of it, as of `ExactConstraints.moving_joint`.
    sites : mapping of int to ndarray
        Twists (6, k) of the frames in which they are measured, in these.
    entries : int
        Those of the parameter, k.
    """

    joints: Mapping[int, Mapping[int, Floats]]
    sites: Mapping[int, Floats]
    entries: int

    @classmethod
    def of(
        cls, system: System, exact: ExactConstraints, name: str, start: float, moves: Moves
    ) -> MovingLoops | None:
        """Return it; None where a hinge becomes a screw. UsageError where values are refused."""
        closure = system.arrays.closure
        if not closure.num_joints:
            return cls({}, {}, len(moves))
        blueprint = system._blueprint.continued()

        def frames(values: Mapping[str, Any]) -> Floats:
            found = blueprint.loop_frames_with(values)
            numbers = np.concatenate([each.reshape(-1) for each in found])
            if values and len(numbers) != len(here):
                raise UsageError(f"'{name}' makes another kind of joint.")
            return numbers

        here, count = frames({}), 2 * closure.num_joints
        rates = rates_without_jump(lambda value: frames({name: value}), start, moves, name, here)
        joints, sites, first = {}, {}, 16 * count
        for k, size in enumerate(exact.numbers_of_joints):
            own = rates[first : first + size]
            moved = exact.moving_joint(k, own) if own.any() else {}
            if moved is None:
                return None
            if moved:
                joints[k] = moved
            first += size
        for site in range(count):
            own = rates[16 * site : 16 * (site + 1)]
            if own.any():
                frame = here[16 * site : 16 * (site + 1)].reshape(4, 4)
                sites[site] = vee(SE3.inverse(frame) @ own.T.reshape(-1, 4, 4)).T
        return cls(joints, sites, len(moves))


def _change(point: Point, rows: Callable[..., RowDerivatives]) -> Change | None:
    """Return a change, of rows by state; None where derivatives are not finite."""
    states, given = point.states, point.fixed
    here = rows(states, given)
    parts: list[Any] = [-here.forces, here.acceleration, 0.0]
    if point.redundant:  # A mu is the part of A v + g_t that is linear in v
        parts[2] = rows(states._replace(v=point.mu), given).rate
        parts[2] -= rows(states._replace(v=0.0 * states.v), given).rate
    return Change(*parts) if all(np.isfinite(part).all() for part in parts) else None
