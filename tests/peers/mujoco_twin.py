"""The same mechanism in MuJoCo: revolute, prismatic and spherical joints, not turned round."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import mujoco
import numpy as np

import mbkit as mb


def _text(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(numbers))


def _quaternion_wxyz(R: Any) -> Any:
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R).ravel())
    return quaternion


def mjcf(mechanism: mb.Mechanism, h: float) -> str:
    """Return the model as MJCF, with RK4 of step `h` [s], without contacts or other constraints.

    MuJoCo moves a body by its joint after it has placed it: C = B T'(q), T' being the joint's
    motion in the frame of the body. With B = S_pred S_succ^-1 that is T' = S_succ T S_succ^-1.
    """
    root = ET.Element("mujoco", model="twin")
    ET.SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    option = ET.SubElement(
        root, "option", timestep=repr(h), integrator="RK4", gravity=_text(mechanism.gravity)
    )
    ET.SubElement(option, "flag", contact="disable", constraint="disable")
    elements = {"world": ET.SubElement(root, "worldbody")}
    topology = mechanism.topology()
    for child, parent, name, turned in zip(
        topology.bodies[1:],
        topology.parent[1:],
        topology.joint_of_body[1:],
        topology.reversed[1:],
        strict=True,
    ):
        if turned:
            raise ValueError(f"joint '{name}' is turned round, which MuJoCo does not know")
        edge = mechanism.joints[name]
        B = edge.S_pred @ np.linalg.inv(edge.S_succ)
        pose = {"pos": _text(B[:3, 3]), "quat": _text(_quaternion_wxyz(B[:3, :3]))}
        element = ET.SubElement(elements[topology.bodies[parent]], "body", name=child, **pose)
        elements[child] = element
        ET.SubElement(element, "joint", name=name, **_joint(edge.joint, edge.S_succ))
        inertia = mechanism.bodies[child].inertia
        I = inertia.moment_about_com  # noqa: E741
        ET.SubElement(
            element,
            "inertial",
            pos=_text(inertia.com),
            mass=repr(inertia.mass),
            fullinertia=_text([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]),
        )
    return ET.tostring(root, encoding="unicode")


def _joint(joint: mb.Joint, S: Any) -> dict[str, str]:
    """Return the attributes of a joint, in the frame of its body."""
    R, p = S[:3, :3], S[:3, 3]
    if isinstance(joint, mb.SphericalJoint):
        return {"type": "ball", "pos": _text(R @ joint.point + p)}
    if not isinstance(joint, mb.RevoluteJoint | mb.PrismaticJoint):
        raise TypeError(f"joint '{joint.name}' has no like in MuJoCo")
    kind = "hinge" if isinstance(joint, mb.RevoluteJoint) else "slide"
    return {"type": kind, "axis": _text(R @ joint.axis), "pos": _text(R @ joint.point + p)}


class MujocoTwin:
    """A mechanism in MuJoCo; takes and gives mbkit's coordinates.

    MuJoCo's ball joint turns by the body's own axes, mbkit's by those of the joint frame on the
    successor: with joint frames on the bodies the two are the same, which is asked for here.
    """

    def __init__(self, mechanism: mb.Mechanism, system: mb.System, h: float = 1e-3) -> None:
        for name, edge in mechanism.joints.items():
            aligned = np.array_equal(edge.S_succ[:3, :3], np.eye(3))
            if isinstance(edge.joint, mb.SphericalJoint) and not aligned:
                raise ValueError(f"joint '{name}' must have its frame along its successor's")
        self.model = mujoco.MjModel.from_xml_string(mjcf(mechanism, h))
        self.data = mujoco.MjData(self.model)
        # where each of mbkit's entries stands in MuJoCo's, whose joints are in depth-first order
        self._positions = np.empty(system.nq, dtype=int)
        self._velocities = np.empty(system.nv, dtype=int)
        for name in system.joint_names:
            joint = self.model.joint(name)
            for slots, at, first in (
                (self._positions, system.position_slice(name), joint.qposadr[0]),
                (self._velocities, system.velocity_slice(name), joint.dofadr[0]),
            ):
                slots[at] = first + np.arange(at.stop - at.start)

    def set_state(self, q: Any, v: Any) -> None:
        """Put the state in."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._positions] = q
        self.data.qvel[self._velocities] = v

    def forward_dynamics(self, q: Any, v: Any, tau: Any) -> Any:
        """Return vdot."""
        self.set_state(q, v)
        self.data.qfrc_applied[self._velocities] = tau
        mujoco.mj_forward(self.model, self.data)
        return self.data.qacc[self._velocities].copy()

    def step(self, count: int) -> tuple[Any, Any]:
        """Take steps and return q and v."""
        mujoco.mj_step(self.model, self.data, nstep=count)
        return self.data.qpos[self._positions].copy(), self.data.qvel[self._velocities].copy()
