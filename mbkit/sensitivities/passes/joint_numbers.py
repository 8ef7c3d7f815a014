"""Derivatives by pitches, screws and axes of joints of the tree, for the adjoint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import numpy as np

from mbkit.integrators.step_memory import Record
from mbkit.kernels.layout import CHANGE
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.moving_joints import MovingJoint, moving_joint
from mbkit.systems.memory.on_duals.tree_joints import dual_sets
from mbkit.systems.memory.on_duals.workspace import DualWorkspace

__all__ = ["MovedJoints", "joints_moved"]


def joints_moved(system: System, names: Iterable[str]) -> dict[str, MovingJoint]:
    """Return the changes of joints of the tree by parameters, for those that change some."""
    found = {name: moving_joint(system, name) for name in names}
    return {name: each for name, each in found.items() if each is not None}


@final
class MovedJoints:
    """Derivatives by the numbers of joints of the tree that parameters change, for the adjoint.

    See `mbkit.kernels.vector_jacobian_products.joint_numbers`.

    Attributes
    ----------
    address : int
        Of the record, 0 where none does.

    Parameters
    ----------
    system : System
        A system of relative coordinates.
    moved : mapping of str to MovingJoint
        Of `joints_moved`.
    """

    def __init__(self, system: System, moved: dict[str, MovingJoint]) -> None:
        self.address = 0
        self._places: dict[str, tuple[Floats, slice]] = {}
        if not moved:
            return
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.derivatives.joints import changes_by_numbers as kernels
        from mbkit.kernels.vector_jacobian_products import joint_numbers as records

        by_row: dict[int, dict[str, MovingJoint]] = {}
        for name, each in moved.items():
            by_row.setdefault(each.row, {})[name] = each
        joints = np.zeros(len(system.arrays.bodies), records.MOVED_JOINT)
        model = system.evaluator.dual_model
        self._workspace = workspace = DualWorkspace(model)
        self._kept: list[Any] = [joints]
        for row, own in by_row.items():
            if (*own,) not in model.sets:
                rates = np.concatenate([each.rates for each in own.values()], axis=1)
                screw = next(iter(own.values())).screw
                model.sets[*own,] = dual_sets(system.arrays, row, rates, screw)
            sets = model.sets[*own,]
            ends = np.cumsum([0, *(each.rates.shape[1] for each in own.values())]).tolist()
            sums = np.zeros(ends[-1])
            for name, *ends_of_name in zip(own, ends, ends[1:], strict=False):
                self._places[name] = sums, slice(*ends_of_name)
            record: Any = joints[row]
            record["seeds"], record["size"] = array_address(sets), sets[0].nbytes
            record["sums"], record["moved"] = array_address(sums), len(sums)
            self._kept += [sets, sums]
        changes = np.zeros(kernels.ENTRIES, CHANGE)
        self._kept.append(changes)
        self._record = Record(
            records.NUMBERS, function=model.address_of(kernels.changes_by_numbers, kernels.FORM),
            space=workspace.address, joints=joints, count=len(joints), changes=changes,
        )  # fmt: skip
        self.address = self._record.address

    @property
    def by_parameters(self) -> dict[str, Floats]:
        """Sums of y . e by parameters, (k,) by name."""
        return {name: sums[own].copy() for name, (sums, own) in self._places.items()}
