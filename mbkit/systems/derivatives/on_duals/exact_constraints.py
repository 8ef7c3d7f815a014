"""Derivatives of constraints that are compiled, exact: their rows on dual numbers."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.kernels.constraints.layout import CONSTRAINT_SITE
from mbkit.kernels.layout import SCREW
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.on_duals.directions import Directions
from mbkit.systems.memory.in_lanes.closure import (
    LanesClosure,
    LanesClosureModel,
    is_dual,
    write_sites,
)
from mbkit.systems.memory.in_lanes.workspace import record_in_lanes
from mbkit.systems.memory.on_duals.loop_joints import DualJoints
from mbkit.systems.memory.on_duals.workspace import DualWorkspace, motions_are_dual
from mbkit.systems.memory.workspace import Workspace

if TYPE_CHECKING:
    from mbkit.systems.calls.evaluator import Evaluator

__all__ = ["ExactConstraints", "RowDerivatives"]


class RowDerivatives(NamedTuple):
    """Derivatives of the results of constraints at N states, by k entries.

    Attributes
    ----------
    residual : ndarray, shape (N, num_position_rows, k)
        Of g.
    rate : ndarray, shape (N, num_rows, k)
        Of A v + g_t.
    acceleration : ndarray, shape (N, num_rows, k)
        Of A vdot + A-dot v + ..., the second derivative of g by time.
    forces : ndarray, shape (N, nv, k)
        Of A^T multipliers.
    """

    residual: Floats
    rate: Floats
    acceleration: Floats
    forces: Floats


class ExactConstraints:
    """The constraints of a system, with derivatives by q, v, the time and their numbers.

    Functions are compiled for dual numbers, or loaded from the cache, when this is made.

    Parameters
    ----------
    evaluator : Evaluator
        Of the system; see `of`.

    Attributes
    ----------
    moving : dict of str to mapping or None
        How parameters used so far change numbers, as of `by_numbers`; None: otherwise.
    lock : context manager
        To be held while the memory of dual numbers is in use.
    is_complete : bool
        Whether there are no constraints in Python, which have no dual numbers: if there are some,
        rows cannot be computed here, but memory can be lent for the others.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.derivatives.exact_constraints import FORM, constraints_along
        from mbkit.kernels.duals import DUAL
        from mbkit.kernels.lanes import address_in_lanes

        self.moving: dict[str, Mapping[int, Floats] | None] = {}
        self.is_complete = not evaluator.arrays.closure.calls_python
        self._arrays = arrays = evaluator.arrays
        world: Any = arrays.bodies[0]
        self._nv = int(world["num_velocities"])
        self._ndx = int(arrays.bodies["ndx"][1:].sum())
        self._directions: dict[range, Directions] = {}
        workspace = DualWorkspace(evaluator.dual_model)
        model = LanesClosureModel(arrays.closure, DUAL, evaluator.representation)
        memory = Workspace(arrays, evaluator).closure
        assert memory is not None  # see `of`
        self._table = model.constraints
        closure = LanesClosure(model, memory)
        workspace.close(closure)
        space: Any = workspace.record[0]
        self._workspace = workspace
        self._install_numbers(model, closure)
        space["time"] = array_address(self._numbers[:1])
        self._function = address_in_lanes(constraints_along, FORM, DUAL)
        self.lock = threading.RLock()

    @classmethod
    def of(cls, evaluator: Evaluator) -> ExactConstraints | None:
        """Return those of a system, if its constraints and motions are written for it."""
        from mbkit.kernels.compile import UNCOMPILED

        arrays = evaluator.arrays
        if UNCOMPILED or not arrays.closure or not motions_are_dual(arrays):
            return None
        return cls(evaluator) if is_dual(arrays.closure) else None

    def _install_numbers(self, model: LanesClosureModel, closure: LanesClosure) -> None:
        """Put the time, the sites and the numbers of constraints one after another in memory."""
        from mbkit.kernels.compile import array_address

        arrays, record = self._arrays.closure, closure.record[0]
        width = model.lanes.width
        kind = record_in_lanes(CONSTRAINT_SITE, model.lanes)
        size = kind.size // 8 // width  # numbers of a site
        count = len(arrays.sites) * size
        self._places = {
            name: 1 + kind.offset(name) // 8 // width + size * np.arange(len(arrays.sites))
            for name in ("place_R", "place_p")
        }
        parameters = arrays.parameters
        ends = 1 + count + np.cumsum([0, *(len(each) for each in parameters.values())])
        self._firsts = dict(zip(parameters, ends[:-1].tolist(), strict=True))
        joints = DualJoints(model.joints, arrays.joints, self._workspace.numbers, model.own)
        first = int(ends[-1])
        self._joints = [[first + k for k in places] for places in joints.places]
        self._numbers = numbers = self._workspace.numbers(first + len(joints.numbers))
        numbers[first:] = joints.numbers
        record["joints"] = joints.put(numbers[first:])
        write_sites(model, numbers[1 : 1 + count].reshape(-1))
        for name, firsts in self._places.items():
            for first in firsts:  # no derivatives, where lanes have the same everywhere
                numbers[first : first + arrays.sites[name][0].size, 1:] = 0.0
        record["sites"] = array_address(numbers[1:])
        for row, (name, own) in zip(
            model.constraints[arrays.num_joints :], parameters.items(), strict=True
        ):
            first = self._firsts[name]
            numbers[first : first + len(own), 0] = own
            row["parameters"] = array_address(numbers[first:])
        self._still = numbers.copy()

    def lend(self) -> tuple[int, int]:
        """Return the addresses of a SPACE of dual numbers, where none moves, and of its CONSTRAINT.

        It is for one caller at a time: see `lock`.
        """
        from mbkit.kernels.compile import array_address

        self._numbers[:] = self._still
        return self._workspace.address, array_address(self._table)

    def numbers_at(self, places: Iterable[int]) -> tuple[Any, Floats]:
        """Return the addresses of numbers, and their values; see `lend`."""
        from mbkit.kernels.compile import array_address

        places = [*places]
        addresses = [array_address(self._numbers[place:]) for place in places]
        return np.array(addresses, dtype=np.int64), self._still[places, 0]

    def moving_site(self, site: int, twists: Floats) -> Mapping[int, Floats]:
        """Return how numbers move, (k,) each, where a site moves along twists (6, k) of its own."""
        given: Any = self._arrays.closure.sites[site]
        R = given["place_R"]
        turned = np.cross(R[:, :, None], twists[None, :3], axisa=1, axisb=1, axisc=1)
        shifted = R @ twists[3:]
        first_R, first_p = (int(self._places[name][site]) for name in ("place_R", "place_p"))
        found = {first_R + j: x for j, x in enumerate(turned.reshape(9, -1))}
        return found | {first_p + j: x for j, x in enumerate(shifted)}

    @property
    def numbers_of_joints(self) -> list[int]:
        """How many numbers kernels read of each joint that closes a loop."""
        return [len(places) for places in self._joints]

    def moving_joint(self, joint: int, rates: Floats) -> Mapping[int, Floats] | None:
        """Return the same where the numbers (n,) of a joint that closes a loop have rates (n, k).

        None of a hinge whose lead moves: its rows are another's.
        """
        places = self._joints[joint]
        row: Any = self._arrays.closure.joint_rows[joint + 1]
        if row["kind"] == SCREW and row["lead"] == 0.0 and rates[1].any():
            return None
        return {place: rate for place, rate in zip(places, rates, strict=True) if rate.any()}

    def moving_numbers(self, name: str, rates: Floats) -> Mapping[int, Floats]:
        """Return the same where the numbers (n,) of a constraint have rates (n, k)."""
        first = self._firsts[name]
        return {first + j: rate for j, rate in enumerate(rates)}

    def by_numbers(
        self, moving: Mapping[int, Floats], states: TimedStates, given: Floats
    ) -> RowDerivatives:
        """Return the derivatives by `moving`, made by `moving_site` and `moving_numbers`.

        Of N states, given: vdot (nv,) and multipliers (num_rows,), (N, nv + num_rows). Not numbers
        where a constraint fails.
        """
        from mbkit.kernels.duals import DIRECTIONS

        count = len(next(iter(moving.values())))
        seeds = np.repeat(self._still[None], -(-count // DIRECTIONS), axis=0)
        for place, rates in moving.items():
            for k, rate in enumerate(rates):
                seeds[k // DIRECTIONS, place, 1 + k % DIRECTIONS] = rate
        still = np.full((1, self._ndx + self._nv), -1.0)
        return self._parts(self._along(still, seeds, count, states, given))

    def by_time(self, states: TimedStates, given: Floats) -> RowDerivatives:
        """Return the derivatives by the time, of one entry; see `by_numbers`."""
        return self.by_numbers({0: np.ones(1)}, states, given)

    def by_entries(self, entries: range, states: TimedStates, given: Floats) -> RowDerivatives:
        """Return the derivatives by entries of (dx, v), tangents of q and v; see `by_numbers`."""
        from mbkit.kernels.duals import DIRECTIONS

        if entries not in self._directions:
            self._directions[entries] = Directions.of(self._arrays, entries, DIRECTIONS)
        moves, places, count, changed = self._directions[entries]
        found = self._along(moves, self._still[None], count, states, given)
        return self._parts(found if changed is None else np.where(changed, found[:, places], 0.0))

    def _along(
        self, moves: Floats, seeds: Floats, count: int, states: TimedStates, given: Floats
    ) -> Floats:
        """Return the derivatives along directions, with all parts in a row."""
        from mbkit.kernels.derivatives.exact_constraints import States, constraints_along_all
        from mbkit.kernels.derivatives.exact_forces import Numbers

        closure = self._arrays.closure
        p, m = closure.num_position_rows, closure.num_rows
        q, v, t = states
        found = np.empty((len(q), count, p + 2 * m + self._nv))
        rows: Any = States(
            *(np.array(x, dtype=np.float64, order="C") for x in (q, v, t[:, None], given))
        )
        numbers: Any = Numbers(self._numbers, seeds)
        with self.lock:  # one workspace is enough for all threads
            constraints_along_all(
                self._function, self._workspace.address, moves, numbers, rows, found
            )
            self._workspace.raise_interrupts()
        return found

    def _parts(self, found: Floats) -> RowDerivatives:
        closure = self._arrays.closure
        p, m = closure.num_position_rows, closure.num_rows
        ends = 0, p, p + m, p + 2 * m, p + 2 * m + self._nv
        parts = (found[:, :, slice(*pair)] for pair in itertools.pairwise(ends))
        return RowDerivatives(*(np.swapaxes(part, 1, 2) for part in parts))
