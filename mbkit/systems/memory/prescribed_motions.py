"""The prescribed motions of a workspace, which compiled time loops call back."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mbkit.joints.prescribed.prescribed_joint import JointMotion
from mbkit.kernels import layout
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.memory.callbacks import callback_address, register

if TYPE_CHECKING:
    from mbkit.systems.memory.workspace import Workspace
    from mbkit.systems.system import System

_T = TypeVar("_T")


def motion_at(motion: JointMotion, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return position, velocity and acceleration at a time; errors name the joint."""
    return naming_joint(motion, motion.at, t)


def naming_joint(motion: JointMotion, function: Callable[[float], _T], t: float) -> _T:
    """Return the value of a function of a motion at a time; errors in it name the joint."""
    try:
        return function(t)
    except BaseException as error:
        error.add_note(
            f"Raised by the prescribed motion of joint '{motion.joint.name}', at t = {t:.9g}."
        )
        raise


class Drive:
    """The prescribed motions of one workspace.

    Memory: `DRIVE_SIZE` numbers, entries and values of positions, entries and values of velocities,
    then the vectors of hybrid dynamics.
    """

    def __init__(self, system: System) -> None:

        motions: Mapping[str, JointMotion] = system.motions
        all_q, all_v = np.arange(system.nq), np.arange(system.nv)
        q_entries = np.concatenate([all_q[system.position_slice(name)] for name in motions])
        v_entries = np.concatenate([all_v[system.velocity_slice(name)] for name in motions])
        nq, nv = len(q_entries), len(v_entries)
        start = layout.DRIVE_SIZE
        self.motions = tuple(motions.values())
        #: Called with each time, and the states of the joints then.
        self.listener: Callable[[float, list[Any]], None] | None = None
        self.error: BaseException | None = None
        self.memory = np.zeros(start + 2 * nq + 2 * nv + 5 * system.nv)
        self.memory[layout.DRIVE_CALLBACK] = callback_address("evaluate")
        self.memory[layout.DRIVE_NUM_POSITIONS] = nq
        self.memory[layout.DRIVE_NUM_VELOCITIES] = nv
        self.memory[layout.DRIVE_DYNAMICS] = system.evaluator.own_function("hybrid_dynamics")
        rest = self.memory[start:]
        rest[:nq] = q_entries
        rest[2 * nq : 2 * nq + nv] = v_entries
        self._q = rest[nq : 2 * nq]
        self._v = rest[2 * nq + nv : 2 * (nq + nv)]
        vectors = rest[2 * (nq + nv) :]
        self._vdot = vectors[system.nv : 2 * system.nv]
        self._entries = v_entries
        vectors[2 * system.nv : 3 * system.nv][v_entries] = 1.0
        self._time = self.memory[layout.DRIVE_TIME : layout.DRIVE_TIME + 1]

    def install(self, workspace: Workspace) -> None:
        """Let the equations of motion of a workspace move these joints."""
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.prescribed_motion import driven_dynamics, motion

        address = array_address(self.memory)
        weakref.finalize(workspace, register(address, self))
        record: Any = workspace.record[0]
        record["drive"] = motion.address
        record["drive_slot"] = address
        workspace.install_free_dynamics(driven_dynamics.address)

    def evaluate(self) -> None:
        """Write positions, velocities and accelerations at the slot's time."""
        t = float(self._time[0])
        rows = [motion_at(each, t) for each in self.motions]
        if self.listener is not None:
            self.listener(t, rows)
        q, v, vdot = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        self._q[:], self._v[:] = q, v
        self._vdot[self._entries] = vdot
