"""Derivatives of constraints that are no joints, for the adjoint, by their own dual numbers."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np

from mbkit.constraints import built_in
from mbkit.constraints.built_in import JointCoupling, PrescribedPoint, PrescribedPose
from mbkit.integrators.step_memory import Record
from mbkit.sensitivities.constraint_rows import moving_rows
from mbkit.sensitivities.passes.called_forces import rows_of_joints
from mbkit.sensitivities.passes.moved_numbers import MovedNumbers
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.dynamics_derivatives import loops_alone
from mbkit.systems.memory.callbacks import register
from mbkit.systems.memory.constraint_slopes import ConstraintSlopesSlot

__all__ = ["CalledConstraints", "numbers_moved"]

#: Constraints of mbkit: their functions branch on none of their own numbers.
_OF_MBKIT = frozenset(each for each in vars(built_in).values() if isinstance(each, type))

#: Those that do not depend on time; those in Python may, others that are compiled do not.
_STILL = JointCoupling
_OVER_TIME = PrescribedPoint, PrescribedPose


def numbers_moved(system: System, names: Iterable[str]) -> dict[str, dict[str, Floats]]:
    """Return how parameters move the numbers of constraints of mbkit, (n, k) by both their names.

    By those of some parameters that move them, where constraints are compiled for dual numbers.
    Other constraints may jump where their numbers do not.
    """
    closure = system.arrays.closure
    known = {each.name for each in closure.objects if type(each) in _OF_MBKIT} if closure else ()
    found: dict[str, dict[str, Floats]] = {}
    for name in names:
        kind, _, rest = name.partition(".")
        owner = rest.rpartition(".")[0]
        rows = moving_rows(system, name) if kind == "constraints" and owner in known else None
        if rows is not None:
            found.setdefault(owner, {})[name] = np.stack([*rows.moving.values()])
    return found


@final
class CalledConstraints:
    """Derivatives of constraints that are no joints, for the adjoint.

    See `mbkit.kernels.vector_jacobian_products.constraints`.

    Attributes
    ----------
    address : int
        Of the record, 0 where all constraints are joints.
    over_time : bool
        Whether some depend on time.
    lock : context manager
        To be held while the record is in use: its memory of dual numbers is the system's.

    Parameters
    ----------
    system : System
        A system whose constraints are compiled for dual numbers, or in Python all but joints.
    wanted : sequence of str
        Parameters by which the pass sums derivatives, as far as `numbers_moved` has them.
    """

    def __init__(self, system: System, wanted: Sequence[str]) -> None:
        self.address, self.over_time = 0, False
        self._moved: list[MovedNumbers] = []
        self._asked: list[ConstraintSlopesSlot] = []
        self.lock: Any = contextlib.nullcontext()
        if not system.num_velocity_constraints or loops_alone(system):
            return
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.duals import DIRECTIONS
        from mbkit.kernels.vector_jacobian_products import constraints as records

        closure = system.arrays.closure
        self.over_time = any(_depends_on_time(each) for each in closure.objects)
        called = np.zeros(len(closure.constraints), records.CALLED_CONSTRAINT)
        self._kept = [
            rows_of_joints(system, [system.velocity_slice(name).start for name in each.joints])
            for each in closure.objects
        ]
        moved = numbers_moved(system, wanted)
        each: Any
        for row, rows, each, derivatives in zip(
            called[closure.num_joints :], self._kept, closure.objects, closure.derivatives,
            strict=True,
        ):  # fmt: skip
            row["rows"], row["num_rows"] = array_address(rows), len(rows) - 1
            if derivatives is not None:
                self._let_ask(row, ConstraintSlopesSlot(each, derivatives))
            elif each.name in moved:
                numbers = closure.parameters[each.name]
                self._moved.append(MovedNumbers(row, numbers, moved[each.name], DIRECTIONS))
        most = max(1, *closure.constraints["num_sites"].tolist())
        self._record = Record(
            records.ROWS, called=called, count=len(called),
            bodies=np.zeros(most, records.BODY_OF_ROW), **self._on_duals(system),
        )  # fmt: skip
        self.address = self._record.address

    def _on_duals(self, system: System) -> dict[str, Any]:
        """Return the data for calls of compiled constraints; nothing where all are in Python."""
        from mbkit.kernels.duals import DUAL
        from mbkit.kernels.lanes import address_in_lanes
        from mbkit.kernels.vector_jacobian_products import slopes_of_constraints as slopes

        exact = system._dual_constraints
        if exact is None:
            return {}
        self.lock = exact.lock
        space, table = exact.lend()
        by_numbers = slopes.slopes_by_numbers, slopes.FORM_BY_NUMBERS
        return {
            "space": space,
            "table": table,
            "slopes": address_in_lanes(slopes.slopes_of_constraint, slopes.FORM, DUAL),
            "slopes_by_numbers": address_in_lanes(*by_numbers, DUAL),
        }

    def _let_ask(self, row: Any, slopes: ConstraintSlopesSlot) -> None:
        """Let the pass call a constraint in Python for its derivatives."""
        from mbkit.kernels.compile import array_address

        self._asked.append(slopes)
        row["said"], row["room"] = array_address(slopes.memory), len(slopes.memory)
        weakref.finalize(self, register(int(row["said"]), slopes))

    def raise_errors(self) -> None:
        """Raise the exception of a constraint in Python, if it has ended the pass."""
        for each in self._asked:
            each.raise_error()

    @property
    def by_parameters(self) -> dict[str, Floats]:
        """Sums of the derivatives of constraints by parameters, (k,) by name."""
        return {name: x for each in self._moved for name, x in each.by_parameters().items()}


def _depends_on_time(constraint: Any) -> bool:
    if constraint.kernel() is None:
        return not isinstance(constraint, _STILL)
    return isinstance(constraint, _OVER_TIME)
