"""Constraints that are no joints, which the adjoint takes along: each by its own dual numbers."""

from __future__ import annotations

import contextlib
from typing import Any, final

import numpy as np

from mbkit.constraints.built_in import PrescribedPoint, PrescribedPose
from mbkit.integrators.step_memory import Record
from mbkit.sensitivities.passes.called_forces import rows_of_joints
from mbkit.systems import System
from mbkit.systems.derivatives.dynamics_derivatives import loops_alone

__all__ = ["CalledConstraints"]

#: Those that depend on time where they are given by tables.
_OVER_TIME = PrescribedPoint, PrescribedPose


@final
class CalledConstraints:
    """What the adjoint knows of constraints that are no joints.

    See `mbkit.kernels.sensitivities.weighted_constraints`.

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
        A system whose constraints are compiled for dual numbers.
    """

    def __init__(self, system: System) -> None:
        self.address, self.over_time = 0, False
        self.lock: Any = contextlib.nullcontext()
        if not system.num_velocity_constraints or loops_alone(system):
            return
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.duals import DUAL
        from mbkit.kernels.lanes import address_in_lanes
        from mbkit.kernels.sensitivities import slopes_of_constraints as slopes
        from mbkit.kernels.sensitivities import weighted_constraints as records

        self.over_time = any(isinstance(each, _OVER_TIME) for each in system.arrays.closure.objects)
        exact, closure = system._exact_constraints, system.arrays.closure
        assert exact is not None  # see `takes_one_pass`
        joints = np.zeros(len(closure.constraints), records.JOINTS_OF_ROW)
        self._kept = [
            rows_of_joints(system, [system.velocity_slice(name).start for name in each.joints])
            for each in closure.objects
        ]
        for own, rows in zip(joints[closure.num_joints :], self._kept, strict=True):
            own["rows"], own["num_rows"] = array_address(rows), len(rows) - 1
        most = max(1, *closure.constraints["num_sites"].tolist())
        self._record = Record(
            records.ROWS, space=exact.lend(), joints=joints, count=len(joints),
            bodies=np.zeros(most, records.BODY_OF_ROW),
            slopes=address_in_lanes(slopes.slopes_of_constraint, slopes.FORM, DUAL),
        )  # fmt: skip
        self.address, self.lock = self._record.address, exact.lock
