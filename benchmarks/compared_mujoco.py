"""The compared models in MuJoCo: trees, with loops closed by soft constraints."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from typing import Any

import mujoco
import numpy as np

from benchmarks.compared_models import Model


def _text(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(numbers))


def mjcf(model: Model, h: float) -> str:
    """Return the model as MJCF, with RK4 of step `h` [s], without contacts.

    Loops are closed as stiffly as MuJoCo allows: with a time constant of two steps, and the highest
    impedance.
    """
    root = ET.Element("mujoco", model="twin")
    ET.SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    option = ET.SubElement(
        root, "option", timestep=repr(h), integrator="RK4", gravity=_text(model.gravity)
    )
    ET.SubElement(option, "flag", contact="disable")
    elements = {"world": ET.SubElement(root, "worldbody")}
    places = {"world": np.zeros(3)}
    tree = len(model.hinges) - model.num_closing
    parts = {part.name: part for part in model.parts}
    for hinge in model.hinges[:tree]:
        part = parts[hinge.successor]
        place = part.com - places[hinge.predecessor]
        parent = elements[hinge.predecessor]
        body = ET.SubElement(parent, "body", name=part.name, pos=_text(place))
        elements[part.name], places[part.name] = body, part.com
        kind = (
            {"type": "ball"} if hinge.axis is None else {"type": "hinge", "axis": _text(hinge.axis)}
        )
        ET.SubElement(body, "joint", pos=_text(hinge.point - part.com), **kind)
        J = part.moment
        ET.SubElement(
            body, "inertial", pos="0 0 0", mass=repr(part.mass),
            fullinertia=_text([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]),
        )  # fmt: skip
    equality = ET.SubElement(root, "equality")
    for hinge in model.hinges[tree:]:
        name = hinge.successor if hinge.predecessor == "world" else hinge.predecessor
        other = {} if hinge.predecessor == "world" else {"body2": hinge.successor}
        ET.SubElement(
            equality, "connect", body1=name, anchor=_text(hinge.point - parts[name].com),
            solref=_text([2.0 * h, 1.0]), solimp="0.9999 0.9999 0.001", **other,
        )  # fmt: skip
    return ET.tostring(root, encoding="unicode")


class MujocoModel:
    """A model in MuJoCo.

    Parameters
    ----------
    model : Model
        What is built; bodies that move at the start turn on ball joints.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    def run(self, steps: int) -> tuple[Any, float]:
        """Return the centres of mass at the end, and how long the steps took [s]."""
        model = mujoco.MjModel.from_xml_string(mjcf(self.model, self.model.span / steps))
        data = mujoco.MjData(model)
        data.qvel[:] = self.model.velocity  # bodies have the axes of the world, as mbkit's
        began = time.perf_counter()
        mujoco.mj_step(model, data, nstep=steps)
        wall = time.perf_counter() - began
        mujoco.mj_kinematics(model, data)
        return data.xipos[1:].copy(), wall
