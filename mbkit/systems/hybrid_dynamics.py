"""Hybrid dynamics: the motion of some joints is given, the forces of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, UsageError, listed, several
from mbkit.systems.arguments import common_axes
from mbkit.systems.closed_kinematics import ClosedKinematics
from mbkit.systems.constrained_motion import HOLDS, largest_terms
from mbkit.systems.entries import broadcast, by_sample, names_of, velocity_sizes
from mbkit.systems.evaluations import CLOSED_HYBRID_DYNAMICS, HYBRID_DYNAMICS
from mbkit.systems.kinematics import Floats
from mbkit.systems.rank import Ranked, largest_row, rank_of
from mbkit.systems.wrenches import Wrenches, wrench_rows

__all__ = ["HybridDynamics"]


@attrs.frozen(eq=False, slots=False, repr=False)
class HybridDynamics(ClosedKinematics):
    """Hybrid dynamics of a system; see `System`."""

    def hybrid_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        tau: ArrayLike | None = None,
        vdot: ArrayLike | None = None,
        prescribed: Sequence[str] = (),
        wrenches: Wrenches | None = None,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats]:
        """Return accelerations and forces where some joints' motion is given, others' forces.

        Inverse and forward dynamics are its ends: all joints prescribed, or none. Loops stay
        closed: the accelerations of the others then follow from forces and constraints.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        tau : array_like, shape (..., nv), optional
            Generalized forces; zero if left out. What it says of prescribed joints is ignored.
        vdot : array_like, shape (..., nv), optional
            Accelerations; zero if left out. What it says of the other joints is ignored.
        prescribed : sequence of str
            Names of the joints that move as `vdot` says.
        wrenches : array_like, shape (..., bodies + 1, 6), or mapping, optional
            As in `inverse_dynamics`.
        t : array_like, shape (...), default 0
            Time, of which constraints may be functions. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        vdot, tau : ndarray, shape (..., nv)
            All accelerations and all forces but for those of constraints. Cost: O(bodies) for a
            tree.

        Raises
        ------
        NameUnknownError
            If there is no such joint.
        SingularMassMatrixError
            If a joint that is not prescribed can move without moving any inertia.
        ConstraintError
            If the prescribed accelerations contradict the constraints; or if more are prescribed
            than the mechanism has freedoms, so that many forces give the motion.

        Notes
        -----
        Source: Kim 2012, table 4.

        Examples
        --------
        The force that holds a cart, while the pendulum on it swings freely:

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("cart and pendulum")
        >>> cart = mech.add_body(mb.Body("cart", inertia=mb.SpatialInertia.sphere(2.0, radius=0.1)))
        >>> bob = mech.add_body(mb.Body("bob", inertia=mb.SpatialInertia.from_com(
        ...     mass=1.0, com=(0, 0, -0.5), moment_about_com=np.zeros((3, 3))
        ... )))
        >>> rail = mech.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), mech.world, cart)
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), cart, bob)
        >>> system = mech.assemble()
        >>> vdot, tau = system.hybrid_dynamics([0, 0], [0, 2.0], prescribed=["rail"])
        >>> vdot.round(9) + 0.0, tau.round(9) + 0.0
        (array([0., 0.]), array([0., 0.]))
        """
        known = self.known(tau, vdot, prescribed)
        if self.arrays.closure:
            vdot, tau, _, kept = self.solve_hybrid(q, v, known, wrenches, t, on_error)
            self._check_unique(q, kept, prescribed, t, tau, on_error)
            return vdot, tau
        if wrenches is None:
            found = self.evaluator.compute(HYBRID_DYNAMICS, q, v, known, on_error=on_error)
        else:
            found = self.evaluator.compute_loaded(
                HYBRID_DYNAMICS,
                q,
                v,
                known,
                wrenches=wrench_rows(self, q, wrenches),
                out=None,
                on_error=on_error,
            )
        return found[..., self.nv :].copy(), found[..., : self.nv].copy()

    def _check_unique(
        self,
        q: ArrayLike,
        kept: Floats,
        prescribed: Sequence[str],
        t: ArrayLike,
        tau: Floats,
        on_error: str,
    ) -> None:
        """Raise where other forces give the same motion, or make them NaN.

        They do where holding what is prescribed makes more rows depend on others.
        """
        free = self._mask(prescribed) == 0.0
        unique = np.ones(kept.shape[:-1], dtype=bool)
        if self.nv and (kept == 0.0).any():
            A = self.constraint_jacobian(q, t, on_error=on_error)
            A = A / velocity_sizes(self, q)[..., None, :]
            A = np.broadcast_to(A, (*unique.shape, *A.shape[-2:]))
            for index in map(tuple, np.argwhere((kept == 0.0).any(axis=-1))):
                left = Ranked.of(A[index][:, free], largest_row(A[index]))
                unique[index] = left.rank == rank_of(A[index])

        def compute(index: tuple[int, ...]) -> None:
            if not unique[index]:
                tau[index] = np.nan
                raise ConstraintError(
                    f"System '{self.name}': {listed(prescribed)} are more joints than the "
                    f"mechanism has freedoms, so that many forces give this motion. Prescribe "
                    f"fewer, or choose among the forces: System.closed_inverse_dynamics."
                )

        by_sample(unique.shape, on_error, compute)

    def _mask(self, prescribed: Sequence[str]) -> Floats:
        """Return 1.0 for the velocities of the joints that are named."""
        names = [prescribed] if isinstance(prescribed, str) else prescribed
        if not (several(names) and all(isinstance(name, str) for name in names)):
            raise UsageError(
                f"hybrid_dynamics: prescribed must be names of joints, got {prescribed!r}; for "
                f"example prescribed=['{(*self.joint_names, 'hinge')[0]}']."
            )
        mask = np.zeros(self.nv)
        for joint in names:
            mask[self.velocity_slice(joint)] = 1.0
        return mask

    def known(
        self, tau: ArrayLike | None, vdot: ArrayLike | None, prescribed: Sequence[str]
    ) -> Floats:
        """Return tau, vdot and 1 where it is prescribed, side by side, (..., 3 nv).

        Zero for what is ignored, NaN included.
        """
        mask = self._mask(prescribed)
        checked, zero = self.evaluator.arguments.with_leading_axes, self.evaluator.zero
        given_tau = np.where(mask == 0.0, zero if tau is None else checked("tau", tau), 0.0)
        given_vdot = np.where(mask != 0.0, zero if vdot is None else checked("vdot", vdot), 0.0)
        axes = common_axes({"tau": given_tau.shape[:-1], "vdot": given_vdot.shape[:-1]})
        leading = (*axes, self.nv)
        parts = (np.broadcast_to(part, leading) for part in (given_tau, given_vdot, mask))
        return np.concatenate(tuple(parts), axis=-1)

    def solve_hybrid(
        self,
        q: ArrayLike,
        v: ArrayLike,
        known: Floats,
        wrenches: Wrenches | None,
        t: ArrayLike,
        on_error: str,
        pull: tuple[float, float] = (0.0, 0.0),
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return hybrid dynamics with the loops closed.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        known : ndarray, shape (..., 3 nv)
            tau, vdot, and 1 where vdot is prescribed.
        wrenches : array_like, shape (..., bodies + 1, 6), or mapping, optional
            As in `inverse_dynamics`.
        t : array_like, shape (...)
            Time. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.
        pull : tuple of float
            As in `solved`.

        Returns
        -------
        vdot, tau : ndarray, shape (..., nv)
            All accelerations, and all forces but for those of the constraints.
        multipliers : ndarray, shape (..., num_velocity_constraints)
            The smallest of all that do the same to what is not prescribed.
        kept : ndarray, shape (..., num_velocity_constraints)
            1 for each row that is independent of those before it where what is prescribed stands
            still.

        Raises
        ------
        ConstraintError
            If the prescribed accelerations contradict the constraints.
        """
        at, moving, given, time = broadcast(self, t, q=q, v=v, known=known)
        pulled = np.broadcast_to(pull, (*time.shape, 2))
        timed = np.concatenate([given, time[..., None], pulled], axis=-1)
        what = CLOSED_HYBRID_DYNAMICS
        if wrenches is None:
            found = self.evaluator.compute(what, at, moving, timed, on_error=on_error)
        else:
            rows = wrench_rows(self, at, wrenches)
            found = self.evaluator.compute_loaded(
                what, at, moving, timed, wrenches=rows, out=None, on_error=on_error
            )
        nv, m = self.nv, self.num_velocity_constraints
        tau, vdot, multipliers, kept = np.split(found, [nv, 2 * nv, 2 * nv + m], axis=-1)
        # one for all samples, of which there may be none
        mask = (given[..., 2 * nv :] != 0.0).any(axis=tuple(range(given.ndim - 1)))
        if not any(pull):  # what drifted apart and is pulled may contradict itself a little
            found[~self._check_prescribed(at, moving, vdot, mask, time, on_error)] = np.nan
        return vdot.copy(), tau.copy(), multipliers.copy(), kept.copy()

    def _check_prescribed(
        self, q: Floats, v: Floats, vdot: Floats, mask: Any, t: Floats, on_error: str
    ) -> Any:
        """Return which samples satisfy the constraints; raise where prescribed ones contradict."""
        good: Any = np.array(np.isfinite(vdot).all(axis=-1))
        if not mask.any():
            return good
        left = self.constraint_acceleration(q, v, np.where(good[..., None], vdot, 0.0), t)
        bias = np.abs(self.constraint_bias(q, v, t)).max(axis=-1)
        A = self.constraint_jacobian(q, t)
        speed = largest_terms(A, v) ** 2 / self.arrays.closure.length
        limit = HOLDS * (largest_terms(A, vdot) + bias + speed)

        def compute(index: tuple[int, ...]) -> None:
            off = np.abs(left[index])
            if good[index] and off.max() > limit[index]:
                good[index] = False
                raise ConstraintError(
                    f"System '{self.name}': the accelerations prescribed for "
                    f"{listed(names_of(self, np.flatnonzero(mask)))} contradict the constraints: "
                    f"'{self.constraint_names[int(np.argmax(off))]}' is left with an acceleration "
                    f"of {off.max():.3g} m/s^2. Prescribe fewer, or those of "
                    f"System.dependent_acceleration."
                )

        by_sample(good.shape, on_error, compute)
        return good
