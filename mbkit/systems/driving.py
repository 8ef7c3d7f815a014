"""Joints of a system whose motion is a function of time."""

from __future__ import annotations

import contextlib
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, UsageError
from mbkit.joints.prescribed import JointMotion
from mbkit.systems.calls.arguments import Floats, check_on_error, common_axes, times_of
from mbkit.systems.loads import Loads
from mbkit.systems.memory.drive import motion_at

__all__ = ["Driven"]


@attrs.frozen(eq=False, slots=False, repr=False)
class Driven(Loads):
    """Prescribed joints of a system; see `System`."""

    @property
    def prescribed_joints(self) -> tuple[str, ...]:
        """Names of the joints whose motion is a function of time; see `Joint.prescribe`."""
        return tuple(self.motions)

    def prescribed_state(
        self, t: ArrayLike, q: ArrayLike | None = None, v: ArrayLike | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """Return a state in which the prescribed joints are where they are at a time.

        Parameters
        ----------
        t : array_like, shape (...)
            Time. [s]
        q : array_like, shape (..., nq), optional
            Of the other joints; neutral if left out. What it says of prescribed ones is ignored.
        v : array_like, shape (..., nv), optional
            Likewise; zero if left out.

        Returns
        -------
        q, v, vdot : ndarray, shape (..., nq), (..., nv), (..., nv)
            vdot is zero but for the prescribed joints.

        Raises
        ------
        Exception
            What a function of time raises, with a note that names the joint.

        Examples
        --------
        See `Joint.prescribe`.
        """
        return self.prescribed_rows(t, q, v)

    def start_of_tree(self, t: float, q: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the state in which the prescribed joints alone move, and the others are neutral.

        In absolute coordinates these are the joints of relative ones, on which bodies go along.

        Parameters
        ----------
        t : float
            Time. [s]
        q : ndarray, shape (nq,), optional
            Positions, also of the other joints.

        Returns
        -------
        q, v : ndarray, shape (nq,), (nv,)
            Where the joints of relative coordinates cannot have such a state, bodies stay where
            they are.
        """
        if self.free_joints and self.motions:
            with contextlib.suppress(ConstraintError):
                relative = self._blueprint.relative()
                own = None if q is None else relative.state_of(self, q)[0]
                return self.state_of(relative, *relative.prescribed_state(t, own)[:2])
        return self.prescribed_state(t, q)[:2]

    def prescribed_rows(
        self, t: ArrayLike, q: ArrayLike | None, v: ArrayLike | None, on_error: str = "raise"
    ) -> tuple[Floats, Floats, Floats]:
        """Return `prescribed_state`, with NaN where a function of time raises, if so asked."""
        check_on_error(on_error)
        checked = self.evaluator.arguments.with_leading_axes
        given_q: Any = checked("q", self.reference_configuration() if q is None else q)
        given_v: Any = checked("v", self.evaluator.zero if v is None else v)
        times = times_of(t, on_error)
        shapes = {"t": times.shape, "q": given_q.shape[:-1], "v": given_v.shape[:-1]}
        leading = common_axes(shapes)
        all_q = np.array(np.broadcast_to(given_q, (*leading, self.nq)))
        all_v = np.array(np.broadcast_to(given_v, (*leading, self.nv)))
        vdot = np.zeros(all_v.shape)
        for joint, motion in self.motions.items():
            rows = [_sample(motion, times, index, on_error == "nan") for index in range(times.size)]
            if not rows:
                continue
            parts = (np.array(part).reshape((*times.shape, -1)) for part in zip(*rows, strict=True))
            places = self.position_slice(joint), *[self.velocity_slice(joint)] * 2
            for array, place, part in zip((all_q, all_v, vdot), places, parts, strict=True):
                array[..., place] = part
        return all_q, all_v, vdot

    def driving_efforts(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, t: ArrayLike = 0.0
    ) -> Floats:
        """Return the generalized forces that keep the prescribed joints on their motion.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            State; what it says of prescribed joints is ignored.
        tau : array_like, shape (..., nv), optional
            Generalized forces beside those of the system's forces, which are added; zero if left
            out.
        t : array_like, shape (...)
            Time. [s]

        Returns
        -------
        ndarray, shape (..., nv)
            Zero for all other joints. [N m], [N]

        Examples
        --------
        See `Joint.prescribe`.
        """
        if not self.motions:
            raise UsageError(f"System '{self.name}' has no prescribed joint; see Joint.prescribe.")
        q, v, vdot = self.prescribed_state(t, q, v)
        checked = self.evaluator.arguments.with_leading_axes
        applied = self.evaluator.zero if tau is None else checked("tau", tau)
        common_axes({"tau": applied.shape[:-1], "q and v": v.shape[:-1]})
        if self.forces:
            applied = applied + self.generalized_forces(q, v, t)
        system: Any = self
        _, found = system.hybrid_dynamics(
            q, v, tau=applied, vdot=vdot, prescribed=self.prescribed_joints, t=t
        )
        efforts = np.zeros(found.shape)
        for joint in self.motions:
            place = self.velocity_slice(joint)
            efforts[..., place] = found[..., place] - applied[..., place]
        return efforts


def _sample(
    motion: JointMotion, times: Floats, index: int, forgiving: bool
) -> tuple[Floats, Floats, Floats]:
    try:
        return motion_at(motion, float(times.flat[index]))
    except Exception as error:
        if forgiving:
            nv = motion.joint.num_velocities
            nothing = np.full(nv, np.nan)
            return np.full(motion.joint.num_positions, np.nan), nothing, nothing
        if times.ndim:
            place = ", ".join(str(int(each)) for each in np.unravel_index(index, times.shape))
            error.add_note(f"That is sample [{place}] of t.")
        raise
