"""Mechanisms as MJCF, as far as it can hold them."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from mbkit.errors import listed
from mbkit.io.mjcf.elements import geom, inertial, pose_attributes
from mbkit.io.mjcf.meshes import MeshAssets
from mbkit.io.mjcf.plan import Plan, Step, plan_of
from mbkit.io.text_file import checked_path
from mbkit.io.xml.quoting import numbers_text
from mbkit.io.xml.writing import write_mechanism
from mbkit.model import Body, Mechanism
from mbkit.spatial import FloatArray, inverse

__all__ = ["mjcf_text", "save_mjcf"]


def save_mjcf(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism to an MJCF file, for MuJoCo.

    Parameters
    ----------
    mechanism : Mechanism
        Its tree is of revolute, prismatic, spherical, free and fixed joints; loops are closed by
        spherical, revolute and fixed joints.
    path : path
        An existing file is replaced, at once and as a whole.

    Raises
    ------
    ModelFileError
        If an MJCF cannot hold the mechanism, naming the part, or the file cannot be written.

    Warns
    -----
    ModelFileWarning
        Of parts of the mechanism that the file lacks, and of effects in MuJoCo alone.

    Examples
    --------
    >>> import mbkit as mb
    >>> import pathlib, tempfile
    >>> mech = mb.Mechanism("one")
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(2.5, radius=1.0)))
    >>> _ = mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, ball)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.xml"
    >>> mb.save_mjcf(mech, path)
    >>> print(path.read_text(), end="")
    <mujoco model="one">
      <compiler angle="radian" inertiafromgeom="false" />
      <option gravity="0.0 0.0 -9.81" />
      <worldbody>
        <body name="ball">
          <inertial pos="0.0 0.0 0.0" mass="2.5" diaginertia="1.0 1.0 1.0" />
          <joint name="hinge" type="hinge" axis="0.0 0.0 1.0" />
        </body>
      </worldbody>
    </mujoco>
    """
    target = checked_path(path, "save_mjcf")
    content, notes = mjcf_text(mechanism)
    write_mechanism(target, "MJCF", mechanism.name, content, notes)


def mjcf_text(mechanism: Mechanism) -> tuple[str, list[str]]:
    """Return a mechanism as MJCF, and a note on each kind of loss; errors as of `save_mjcf`."""
    plan = plan_of(mechanism)
    root = ET.Element("mujoco", model=mechanism.name)
    ET.SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    ET.SubElement(root, "option", gravity=numbers_text(mechanism.gravity))
    elements = {"world": ET.SubElement(root, "worldbody")}
    meshes, lost = MeshAssets(), []
    own = [geom(elements["world"], each, meshes) for each in mechanism.world.shapes]
    if not all(own):
        lost.append("world")
    for name, step in plan.steps.items():
        body = mechanism.bodies[name]
        elements[name] = _body(elements[step.parent], body, step, plan)
        drawn = [geom(elements[name], shape, meshes) for shape in body.shapes]
        if not all(drawn):
            lost.append(name)
    equality = ET.Element("equality")
    _loops(equality, plan)
    _couplings(equality, plan)
    for label, end, place in plan.sites:
        ET.SubElement(elements[end], "site", name=label, pos=numbers_text(place))
    if len(equality):
        root.append(equality)
    if len(meshes.element):
        root.insert(list(root).index(elements["world"]), meshes.element)
    if lost:
        plan.notes.append(f"shapes whose meshes cannot be read or written, of {listed(lost)}")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n", plan.notes


def _body(parent: ET.Element, body: Body, step: Step, plan: Plan) -> ET.Element:
    lift = {"gravcomp": numbers_text(plan.lifts[body.name])} if body.name in plan.lifts else {}
    about = {"name": body.name, **pose_attributes(step.B), **lift}
    element = ET.SubElement(parent, "body", about)
    if body.inertia.mass:
        ET.SubElement(element, "inertial", inertial(body.inertia))
    for joint in step.joints:
        about = {"name": joint.name, "type": joint.kind}
        if joint.kind in ("hinge", "slide"):
            about["axis"] = numbers_text(joint.axis)
        if joint.kind in ("hinge", "ball") and joint.point.any():
            about["pos"] = numbers_text(joint.point)
        ET.SubElement(element, "joint", about | plan.data[joint.name])
    for name, pose in body.frames.items():
        ET.SubElement(element, "site", {"name": name, **pose_attributes(pose)})
    return element


def _loops(equality: ET.Element, plan: Plan) -> None:
    """Write joints that close loops: two points of the axis hold a revolute joint."""
    for name in plan.loops:
        edge = plan.mechanism.joints[name]
        ends = {"body1": edge.predecessor, "body2": edge.successor}
        if plan.kinds[name] == "weld":
            relative = edge.S_pred @ inverse(edge.S_succ)
            pose = pose_attributes(relative, always=True)
            relpose = f"{pose['pos']} {pose['quat']}"
            ET.SubElement(equality, "weld", {"name": name, **ends, "relpose": relpose})
            continue
        point = np.array(edge.joint.point)  # type: ignore[attr-defined]
        points = {name: point}
        if plan.kinds[name] == "hinge":
            axis = edge.joint.axis / np.linalg.norm(edge.joint.axis)  # type: ignore[attr-defined]
            points = {name: point, f"{name} axis": point + plan.size * axis}
        for label, at in points.items():
            _connect(equality, plan, label, ends, (edge.S_pred, edge.S_succ), at)


def _connect(
    equality: ET.Element,
    plan: Plan,
    name: str,
    ends: dict[str, str],
    frames: tuple[FloatArray, FloatArray],
    point: FloatArray,
) -> None:
    """Write a connect by sites: by bodies, points of the reference alone would be joined."""
    sites = {}
    for number, (body, S) in enumerate(zip(ends.values(), frames, strict=True), start=1):
        sites[f"site{number}"] = f"{name} on {body}"
        plan.sites.append((sites[f"site{number}"], body, (S @ np.append(point, 1.0))[:3]))
    ET.SubElement(equality, "connect", {"name": name, **sites})


def _couplings(equality: ET.Element, plan: Plan) -> None:
    """Write q_1 - r_1 = a_0 + a_1 (q_2 - r_2) + ..., with r the positions in the reference."""
    for name, (driven, driver, coefficients) in plan.couplings.items():
        r1, r2 = plan.references[driven], plan.references[driver]
        moved: Any = (
            np.polynomial.Polynomial(coefficients)(np.polynomial.Polynomial([r2, 1.0])) - r1
        )
        c = np.zeros(5)
        own = np.atleast_1d(getattr(moved, "coef", moved))
        c[: own.size] = own
        ET.SubElement(
            equality, "joint", name=name, joint1=driven, joint2=driver, polycoef=numbers_text(c)
        )
