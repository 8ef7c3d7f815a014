"""Joints of a system whose motion is a function of time."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, UsageError
from mbkit.joints.prescribed import JointMotion
from mbkit.systems.arguments import check_on_error, common_axes, times_of
from mbkit.systems.callbacks import callback_address, register
from mbkit.systems.kinematics import Floats
from mbkit.systems.loads import Loads

if TYPE_CHECKING:
    from mbkit.systems.workspace import Workspace

__all__ = ["Drive", "Driven"]


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


def _motion_at(motion: JointMotion, t: float) -> tuple[Floats, Floats, Floats]:
    try:
        return motion.at(t)
    except BaseException as error:
        error.add_note(
            f"Raised by the prescribed motion of joint '{motion.joint.name}', at t = {t:.9g}."
        )
        raise


def _sample(
    motion: JointMotion, times: Floats, index: int, forgiving: bool
) -> tuple[Floats, Floats, Floats]:
    try:
        return _motion_at(motion, float(times.flat[index]))
    except Exception as error:
        if forgiving:
            nv = motion.joint.num_velocities
            nothing = np.full(nv, np.nan)
            return np.full(motion.joint.num_positions, np.nan), nothing, nothing
        if times.ndim:
            place = ", ".join(str(int(each)) for each in np.unravel_index(index, times.shape))
            error.add_note(f"That is sample [{place}] of t.")
        raise


class Drive:
    """The prescribed motions of one workspace.

    Memory: `DRIVE_SIZE` numbers, places and values of positions, places and values of velocities,
    then the vectors of hybrid dynamics.
    """

    def __init__(self, system: Driven) -> None:
        from mbkit.kernels import layout
        from mbkit.systems.evaluations import HYBRID_DYNAMICS

        motions: Mapping[str, JointMotion] = system.motions
        all_q, all_v = np.arange(system.nq), np.arange(system.nv)
        q_places = np.concatenate([all_q[system.position_slice(name)] for name in motions])
        v_places = np.concatenate([all_v[system.velocity_slice(name)] for name in motions])
        nq, nv = len(q_places), len(v_places)
        start = layout.DRIVE_SIZE
        self.motions = tuple(motions.values())
        #: Called with each time, and the states of the joints then.
        self.listener: Callable[[float, list[Any]], None] | None = None
        self.error: BaseException | None = None
        self.memory = np.zeros(start + 2 * nq + 2 * nv + 5 * system.nv)
        self.memory[layout.DRIVE_CALLBACK] = callback_address("evaluate")
        self.memory[layout.DRIVE_NUM_POSITIONS] = nq
        self.memory[layout.DRIVE_NUM_VELOCITIES] = nv
        self.memory[layout.DRIVE_DYNAMICS] = system.evaluator.function(HYBRID_DYNAMICS)
        rest = self.memory[start:]
        rest[:nq] = q_places
        rest[2 * nq : 2 * nq + nv] = v_places
        self._q = rest[nq : 2 * nq]
        self._v = rest[2 * nq + nv : 2 * (nq + nv)]
        vectors = rest[2 * (nq + nv) :]
        self._vdot = vectors[system.nv : 2 * system.nv]
        self._places = v_places
        vectors[2 * system.nv : 3 * system.nv][v_places] = 1.0
        self._time = self.memory[layout.DRIVE_TIME : layout.DRIVE_TIME + 1]

    def install(self, workspace: Workspace) -> None:
        """Let the equations of motion of a workspace move these joints."""
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.driving import driven_dynamics, motion

        address = array_address(self.memory)
        weakref.finalize(workspace, register(address, self))
        record: Any = workspace.record[0]
        record["drive"] = motion.address
        record["drive_slot"] = address
        workspace.install_free_dynamics(driven_dynamics.address)

    def evaluate(self) -> None:
        """Write positions, velocities and accelerations at the slot's time."""
        t = float(self._time[0])
        rows = [_motion_at(each, t) for each in self.motions]
        if self.listener is not None:
            self.listener(t, rows)
        q, v, vdot = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        self._q[:], self._v[:] = q, v
        self._vdot[self._places] = vdot
