"""Derivatives of joints that close loops, for the adjoint, by functions on dual numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.step_memory import Record
from mbkit.lie import SE3
from mbkit.lie.arrays import pose
from mbkit.sensitivities.passes.moved_numbers import MovedNumbers
from mbkit.sensitivities.passes.places import MovedPlace
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.constraint_changes import MovingLoops, loop_joint_of
from mbkit.systems.derivatives.inertia_changes import is_spread
from mbkit.systems.derivatives.loosened import twists_of_places
from mbkit.systems.derivatives.parameter_moves import moves_of, once_a_parameter

__all__ = ["CalledLoops", "loop_joints_moved", "places_of_loop_joints"]


def loop_joints_moved(system: System, names: Iterable[str]) -> dict[str, MovingLoops]:
    """Return the changes of loop joints by parameters, for those parameters that change some.

    Without parameters that move places alone; where these joints have functions on dual numbers.
    """
    return {name: moved for name in names if (moved := _moved_by(system, name)) is not None}


@once_a_parameter
def _moved_by(system: System, name: str) -> MovingLoops | None:
    if loop_joint_of(system, name) is None:
        return None
    if is_spread(system) or system.free_joints or twists_of_places(system, name) is not None:
        return None
    exact = system._dual_constraints
    if exact is None:
        return None
    try:
        return MovingLoops.of(system, exact, name, *moves_of(system, name))
    except UsageError:
        return None


def places_of_loop_joints(
    system: System, moved: Mapping[str, MovingLoops]
) -> dict[str, list[MovedPlace]]:
    """Return the frames of loop joints that parameters move, in the axes of the rows."""
    found: dict[str, list[MovedPlace]] = {}
    for name, each in moved.items():
        for site, twists in each.sites.items():
            given: Any = system.arrays.closure.sites[site]
            to_row = SE3.Ad(pose(given["place_R"], given["place_p"]))
            place = MovedPlace("sites", site, slice(0, 6), to_row @ twists)
            found.setdefault(name, []).append(place)
    return found


@final
class CalledLoops:
    """Derivatives of loop joints, for the adjoint.

    See `mbkit.kernels.vector_jacobian_products.called_loop_joints`.

    Attributes
    ----------
    address : int
        Of the record, 0 where derivatives are differences, or not needed.
    lock : context manager
        To be held while the record is in use: its memory of dual numbers is the system's.

    Parameters
    ----------
    system : System
        A system of relative coordinates.
    moved : mapping of str to MovingLoops
        Of `loop_joints_moved`.
    """

    def __init__(self, system: System, moved: Mapping[str, MovingLoops]) -> None:
        self.address = 0
        self.lock: Any = contextlib.nullcontext()
        self._none = {name: np.zeros(each.entries) for name, each in moved.items()}
        self._moved: list[MovedNumbers] = []
        self._kept: list[Any] = []
        closure = system.arrays.closure
        if not closure or not (moved or _turn(closure)) or system._dual_constraints is None:
            return
        from mbkit.kernels.duals import DUAL
        from mbkit.kernels.lanes import address_in_lanes
        from mbkit.kernels.vector_jacobian_products import called_loop_joints as records
        from mbkit.kernels.vector_jacobian_products import exact_slopes_of_loop_joints as slopes

        exact = system._dual_constraints
        table = np.zeros(closure.num_joints, records.MOVED_LOOP)
        for k, row in enumerate(table):
            own = {name: each.joints[k] for name, each in moved.items() if k in each.joints}
            if own:
                self._install_numbers(exact, row, own)
        space, _ = exact.lend()
        self._record = Record(
            records.CALLED_LOOPS, space=space, moved=table, count=len(table),
            slopes=address_in_lanes(slopes.slopes_of_loop_joint, slopes.FORM, DUAL),
            slopes_by_numbers=address_in_lanes(
                slopes.slopes_by_numbers, slopes.FORM_BY_NUMBERS, DUAL
            ),
        )  # fmt: skip
        self.address, self.lock = self._record.address, exact.lock

    def _install_numbers(
        self, exact: Any, row: Any, own: Mapping[str, Mapping[int, Floats]]
    ) -> None:
        """Let numbers of a joint move along some parameters, each by places and rates (k,)."""
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.duals import DIRECTIONS

        places = sorted({place for each in own.values() for place in each})
        addresses, values = exact.numbers_at(places)
        moving = {name: _stacked(each, places) for name, each in own.items()}
        self._moved.append(MovedNumbers(row, values, moving, DIRECTIONS))
        row["places"], row["count"] = array_address(addresses), len(places)
        self._kept.append(addresses)

    @property
    def by_parameters(self) -> dict[str, Floats]:
        """Sums of derivatives by numbers of joints, for parameters, (k,) by name."""
        found = dict(self._none)
        for each in self._moved:
            for name, x in each.by_parameters().items():
                found[name] = found[name] + x
        return found


def _turn(closure: Any) -> bool:
    """Whether wrenches of some joints turn with their coordinates."""
    rows = closure.joint_rows[1:]
    return bool((rows["constant"] == 0).any())


def _stacked(rates: Mapping[int, Floats], places: Sequence[int]) -> Floats:
    """Return rates (n, k) by place, zero for those that do not move."""
    none = np.zeros(len(next(iter(rates.values()))))
    return np.stack([rates.get(place, none) for place in places])
