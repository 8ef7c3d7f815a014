"""Derivatives of forces that are called, for the adjoint of a tree, each by its own ones."""

from __future__ import annotations

import contextlib
import weakref
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np

from mbkit.integrators.step_memory import Record
from mbkit.kernels import layout
from mbkit.sensitivities.passes.forces import owner_of
from mbkit.sensitivities.passes.moved_numbers import MovedNumbers
from mbkit.systems import System
from mbkit.systems.derivatives.force_changes import numbers_by_parameter, say_differences
from mbkit.systems.derivatives.parameter_moves import shape_of_parameter
from mbkit.systems.memory.callbacks import register
from mbkit.systems.memory.force_slopes import ForceSlopes

__all__ = ["CalledForces", "rows_of_joints"]


@final
class CalledForces:
    """Derivatives of forces for the adjoint: `mbkit.kernels.vector_jacobian_products.forces`.

    Attributes
    ----------
    address : int
        Of the record, 0 without forces.
    lock : context manager
        To be held while the record is in use: its memory of dual numbers is the system's.

    Parameters
    ----------
    system : System
        The system.
    taken : sequence of int
        Rows of the forces: compiled for dual numbers, or in Python.
    wanted : sequence of str
        Parameters by which the pass sums derivatives, as far as those of the numbers of the forces
        are known.
    """

    def __init__(self, system: System, taken: list[int], wanted: Sequence[str]) -> None:
        self.address = 0
        self.lock: Any = contextlib.nullcontext()
        self._moved: list[MovedNumbers] = []
        self._kept: list[Any] = []
        self._asked: list[ForceSlopes] = []
        exact = system._exact_forces
        if not taken or exact is None:
            return
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.duals import DUAL
        from mbkit.kernels.lanes import address_in_lanes
        from mbkit.kernels.vector_jacobian_products import forces as records
        from mbkit.kernels.vector_jacobian_products import slopes_of_forces as slopes

        forces = system.arrays.forces
        table = np.zeros(len(taken), records.CALLED_FORCE)
        owned = defaultdict(list)
        for name in wanted:
            owned[owner_of(name)].append(name)
        for row, k in zip(table, taken, strict=True):
            force, joints = forces.forces[k], _joints_of(system, k)
            row["force"], row["rows"], row["num_rows"] = k, array_address(joints), len(joints) - 1
            row["names_joints"] = bool(force.joints) or force.acts_on == "joints"
            self._kept.append(joints)
            own = owned[f"forces.{force.name}"]
            if force.kernels() is None:
                row["said"] = self._let_ask(system, k, own)
            else:
                self._install_numbers(row, system, force.name, own)
        most = max(1, *(int(forces.table[k]["num_bodies"]) for k in taken))
        bodies = np.zeros(most, records.BODY_OF_FORCE)
        space, duals = exact.lend([k for k in taken if forces.forces[k].kernels() is not None])
        self._record = Record(
            records.CALLED, space=space, table=duals, forces=table, count=len(table),
            bodies=bodies,
            slopes=address_in_lanes(slopes.slopes_of_force, slopes.FORM, DUAL),
            slopes_by_numbers=address_in_lanes(
                slopes.slopes_by_numbers, slopes.FORM_BY_NUMBERS, DUAL
            ),
            moves_of_positions=0 if all(each.steps_add for each in self._asked) else
            address_in_lanes(slopes.moves_of_positions, slopes.FORM_OF_MOVES, DUAL),
        )  # fmt: skip
        self.address, self.lock = self._record.address, exact.lock

    def _install_numbers(self, row: Any, system: System, force: str, own: Sequence[str]) -> None:
        """Let the numbers of a force move along some of its parameters."""
        from mbkit.kernels.vector_jacobian_products.forces import MOVED

        moving = {name: numbers_by_parameter(system, name) for name in own}
        known = {name: rates for name, rates in moving.items() if rates is not None}
        if known:
            numbers = system.arrays.forces.parameters[force]
            self._moved.append(MovedNumbers(row, numbers, known, MOVED))

    def _let_ask(self, system: System, k: int, own: Sequence[str]) -> int:
        """Let the pass call a force in Python for its derivatives; return its memory's address."""
        from mbkit.kernels.compile import array_address

        exact: Any = system._exact_forces
        axes = {name.rpartition(".")[2]: shape_of_parameter(system, name) for name in own}
        slopes = exact.slopes_of(k, axes)
        if not slopes.derivatives.is_exact:
            say_differences(system, slopes.force.name)
        self._asked.append(slopes)
        address = array_address(slopes.memory)
        weakref.finalize(self, register(address, slopes))
        return address

    def raise_errors(self) -> None:
        """Raise the exception of a force in Python, if it has ended the pass."""
        for each in self._asked:
            each.raise_error()

    @property
    def by_parameters(self) -> dict[str, Any]:
        """Sums of y . e by parameters, (k,) by name."""
        found = {name: x for each in self._moved for name, x in each.by_parameters().items()}
        for each in self._asked:
            found |= {f"forces.{each.force.name}.{n}": x for n, x in each.by_fields.items()}
        return found

    @property
    def known(self) -> set[str]:
        """The parameters by which it may have derivatives."""
        asked = (each for each in self._asked if each.derivatives.is_given)
        found = {f"forces.{each.force.name}.{name}" for each in asked for name in each.fields}
        return found | {*self.by_parameters}


def rows_of_joints(system: System, velocities: Iterable[int]) -> Any:
    """Return the rows of the tree whose joints have these first velocities, and one more."""
    first = system.arrays.bodies["first_velocity"].tolist()
    row_of = {v: i for i, v in enumerate(first) if i > 0}
    return np.array([*(row_of[v] for v in velocities), 0], dtype=np.int64)


def _joints_of(system: System, k: int) -> Any:
    """Return the rows of the tree whose joints a force has, and one more."""
    entries = system.arrays.forces.joints[k].reshape(-1, layout.JOINT_SIZE)[:-1]
    moving = entries[entries[:, layout.JOINT_NUM_VELOCITIES] > 0]
    return rows_of_joints(system, moving[:, layout.JOINT_VELOCITY].tolist())
