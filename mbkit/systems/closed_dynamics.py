"""Inverse dynamics of closed mechanisms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.systems.actuation import Actuation
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import (
    broadcast,
    by_sample,
    vector_of,
    velocity_sizes,
)
from mbkit.systems.calls.wrenches import Wrenches
from mbkit.systems.hybrid_dynamics import HybridDynamics

__all__ = ["ActuatorEfforts", "ClosedDynamics"]


@final
@attrs.frozen(eq=False)
class ActuatorEfforts:
    """What actuators must do for a motion, and what constraints then do.

    Attributes
    ----------
    efforts : ndarray, shape (..., nv)
        Of the actuators, zero for passive joints. [N m], [N]
    multipliers : ndarray, shape (..., num_velocity_constraints)
        ``M vdot + b - J^T W = tau + efforts + A^T multipliers``. [N]
    redundancy : ndarray of int, shape (...)
        How many more actuators there are than the motion needs: so many efforts can be chosen
        freely, and were chosen as `minimise` says. -1 where a sample failed.
    """

    efforts: Floats
    multipliers: Floats
    redundancy: Any

    @property
    def unique(self) -> Any:
        """Whether no other efforts give this motion, bool, shape (...)."""
        return self.redundancy == 0


@attrs.frozen(eq=False, slots=False, repr=False)
class ClosedDynamics(HybridDynamics):
    """Inverse dynamics of closed mechanisms; see `System`."""

    def closed_inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        *,
        actuated: Sequence[str],
        tau: ArrayLike | Mapping[str, ArrayLike] | None = None,
        wrenches: Wrenches | None = None,
        minimise: str | Mapping[str, float] = "effort",
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> ActuatorEfforts:
        """Return the actuator efforts that give a closed mechanism a motion.

        Parameters
        ----------
        q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv)
            A motion that satisfies the constraints: `dependent_velocity`, `dependent_acceleration`.
        actuated : sequence of str
            Joints with actuators, or single velocities of joints ("leg[2]"); the others are
            passive.
        tau : array_like, shape (..., nv), or mapping of str to array_like, optional
            Generalized forces that are there beside the actuators, such as the efforts of passive
            joints, by name or as an array; zero if left out. Those of the system's own forces are
            ``generalized_forces(q, v, t)``. [N m], [N]
        wrenches : array_like, shape (..., bodies + 1, 6), or mapping, optional
            As in `inverse_dynamics`.
        minimise : {"effort", "constraint"} or mapping of str to float
            Which of all efforts that give the motion, where there are several: those with the least
            sum of squares; those with the least sum of squares of the multipliers; or those with
            the least weighted sum of squares, with a positive weight by joint, one for those not
            named. Plain sums compare N m with N: weigh where actuators differ.
        t : array_like, shape (...), default 0
            Time, of which constraints may be functions. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ActuatorEfforts
            Efforts, multipliers, and whether there were others.

        Raises
        ------
        ConstraintError
            If the motion does not satisfy the constraints; or if no actuator efforts give it: the
            message says what is missing at which passive joints.
        UsageError, NameUnknownError
            If `actuated` or `minimise` cannot be.

        Notes
        -----
        Source: Kim 2012, section 3. Rows of a constraint are of unit length, with moments in parts
        of the length of the system, so that their multipliers may be compared.

        Examples
        --------
        Two hinges on one axis, of which each can hold the door:

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("door", gravity=(0, 0, 0))
        >>> leaf = mech.add_body(mb.Body("leaf", mb.SpatialInertia.box(30.0, size=(1, 0.1, 2))))
        >>> low = mech.add_joint(mb.RevoluteJoint("low", point=(0, 0, -1)), mech.world, leaf)
        >>> arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.box(1.0, size=(1, 0.1, 0.1))))
        >>> high = mech.add_joint(mb.RevoluteJoint("high", point=(0, 0, 1)), mech.world, arm)
        >>> weld = mech.add_joint(mb.FixedJoint("weld"), arm, leaf)
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["weld"]))
        >>> door = system.closed_inverse_dynamics(
        ...     np.zeros(2), np.zeros(2), np.ones(2), actuated=["low", "high"]
        ... )
        >>> door.efforts.round(6), int(door.redundancy)
        (array([1.304583, 1.304583]), 1)
        """
        actuation = Actuation.of(self, actuated, minimise)
        system: Any = self
        needed = system.inverse_dynamics(q, v, vdot, wrenches, on_error=on_error)
        at, moving, gaining, needed, applied, time = broadcast(
            self, t, q=q, v=v, vdot=vdot, x=needed, tau=self._applied(tau)
        )
        good = self.check_motion(at, moving, gaining, time, on_error)
        A = self.constraint_jacobian(at, time, on_error=on_error)
        sizes = velocity_sizes(self, at)
        leading = time.shape
        efforts = np.full((*leading, self.nv), np.nan)
        multipliers = np.full((*leading, self.num_velocity_constraints), np.nan)
        redundancy = np.full(leading, -1)

        def compute(index: tuple[int, ...]) -> None:
            if not good[index]:
                return
            found = actuation.solve(A[index], needed[index] - applied[index], sizes[index])
            efforts[index], multipliers[index], redundancy[index] = found

        by_sample(leading, on_error, compute)
        return ActuatorEfforts(efforts, multipliers, redundancy)

    def _applied(self, tau: ArrayLike | Mapping[str, ArrayLike] | None) -> ArrayLike:
        """Return generalized forces, given by name or as an array, as an array."""
        if tau is None:
            return self.evaluator.zero
        if not isinstance(tau, Mapping):
            return tau
        entries, values = vector_of(self, tau, "tau")
        applied = np.zeros((*values.shape[:-1], self.nv))
        applied[..., entries] = values
        return applied
