"""An MJCF in MuJoCo and the mechanism that mbkit reads of it, and the way between their states."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import mujoco
import numpy as np
import pytest

import mbkit as mb

DATA = pathlib.Path(__file__).parents[1] / "data" / "mjcf"
#: Every MJCF of the tests, the one that stands in MuJoCo's package, and those of dm_control's suite
#: of tasks whose motion MuJoCo's explicit method follows in steps of some milliseconds.
MODELS = {path.stem: path for path in sorted(DATA.glob("*.xml"))}
MODELS["mujoco's own"] = pathlib.Path(mujoco.__file__).parent / "testdata" / "model.xml"
SUITE = (
    "acrobot", "ball_in_cup", "cartpole", "cheetah", "fish", "hopper", "humanoid", "pendulum",
    "point_mass", "reacher", "swimmer", "walker",
)  # fmt: skip
_dm_control = importlib.util.find_spec("dm_control")  # found, not imported
_folder = pathlib.Path(str(_dm_control.origin) if _dm_control else "dm_control").parent / "suite"
MODELS |= {f"dm_control's {name}": _folder / f"{name}.xml" for name in SUITE}


def cases(prefix: str = "") -> list[Any]:
    """Return the names of all models as parameters of tests, those of a missing package skipped."""
    missing = {name for name in MODELS if _dm_control is None and name.startswith("dm_control")}
    needed = pytest.mark.skip(reason="needs dm_control, of the extra 'peers'")
    return [pytest.param(prefix + name, marks=[needed] * (name in missing)) for name in MODELS]


class MjcfTwin:
    """A model in MuJoCo, without contact, limits, friction and what mbkit's notes name."""

    def __init__(self, path: pathlib.Path) -> None:
        self.document = mb.read_mjcf(path)
        self.mechanism = self.document.mechanism()
        self.model = m = self.document.model
        off = mujoco.mjtDisableBit
        m.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS
        m.opt.disableflags |= off.mjDSBL_ACTUATION
        m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        # what the document's warnings name
        m.opt.density = m.opt.viscosity = 0.0
        m.tendon_stiffness[:] = m.tendon_damping[:] = m.tendon_armature[:] = 0.0
        for j in range(m.njnt):
            if m.jnt_type[j] in (0, 1):
                m.dof_armature[m.jnt_dofadr[j] : m.jnt_dofadr[j] + 6 - 3 * m.jnt_type[j]] = 0.0
        self.data = mujoco.MjData(m)
        self.names = mb.io.mjcf.names.names_of(m)
        closing = [
            name for e, name in enumerate(self.names.equalities) if name in self.mechanism.joints
        ]
        self.system = self.mechanism.assemble(mb.RelativeCoordinates(loop_joints=closing))

    def random_state(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return qpos and qvel near qpos0."""
        qpos, m = self.model.qpos0.copy(), self.model
        mujoco.mj_integratePos(m, qpos, rng.normal(size=m.nv), 0.5)
        return qpos, rng.normal(size=m.nv)

    def set(self, qpos: Any, qvel: Any) -> None:
        """Put a state in and compute what follows from it."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        mujoco.mj_forward(self.model, self.data)

    def positions(self, qpos: Any) -> Any:
        """Return mbkit's q: the quaternion first, rotors turned with their joints."""
        q = self.system.reference_configuration()
        for j, name in enumerate(self.names.joints):
            own = np.array(
                qpos[self.model.jnt_qposadr[j] :][: (7, 4, 1, 1)[self.model.jnt_type[j]]]
            )
            at = self.system.position_slice(name)
            q[at] = np.roll(own, 4) if own.size == 7 else own
            if f"rotor of {name}" in self.mechanism.joints:
                q[self.system.position_slice(f"rotor of {name}")] = own
        return q

    def velocity_map(self, qpos: Any, qvel: Any) -> tuple[Any, Any]:
        """Return N with v = N qvel, and its rate times qvel.

        MuJoCo's velocity of a free joint is linear in the world, angular in the body.
        """
        N, rate = np.zeros((self.system.nv, self.model.nv)), np.zeros(self.system.nv)
        for j, name in enumerate(self.names.joints):
            dof, at = int(self.model.jnt_dofadr[j]), self.system.velocity_slice(name)
            count = at.stop - at.start
            N[at, dof : dof + count] = np.eye(count)
            if count == 6:
                Q = np.array(qpos[self.model.jnt_qposadr[j] :][3:7])
                R = mb.spatial.rotation_from_quaternion(Q / np.linalg.norm(Q))
                N[at, dof : dof + 6] = np.block(
                    [[np.zeros((3, 3)), np.eye(3)], [R.T, np.zeros((3, 3))]]
                )
                v, w = qvel[dof : dof + 3], qvel[dof + 3 : dof + 6]
                rate[at][3:] = -np.cross(w, R.T @ v)
            if f"rotor of {name}" in self.mechanism.joints:
                N[self.system.velocity_slice(f"rotor of {name}"), dof] = 1.0
        return N, rate
