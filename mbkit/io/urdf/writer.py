"""Mechanisms as URDF, as far as it can hold them."""

from __future__ import annotations

import math
import os

import numpy as np

from mbkit.constraints import GearRatio
from mbkit.errors import ModelFileError, listed
from mbkit.io.text_file import checked_path
from mbkit.io.urdf.build import ROOT_JOINT, WORLD
from mbkit.io.urdf.joints import NO_LIMIT
from mbkit.io.urdf.loops import is_written, loop_lines
from mbkit.io.urdf.shapes import visual_lines
from mbkit.io.xml.angles import rpy_from_rotation
from mbkit.io.xml.quoting import free_name, numbers_text, quoteattr
from mbkit.io.xml.writing import write_mechanism
from mbkit.joints import (
    FixedJoint,
    FreeJoint,
    Joint,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
)
from mbkit.model import Body, Connection, JointFriction, JointLimits, Mechanism
from mbkit.spatial import FloatArray, SpatialInertia, inverse, translation
from mbkit.topology import Topology

_GRAVITY = (0.0, 0.0, -9.81)


def save_urdf(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism to a URDF file.

    Parameters
    ----------
    mechanism : Mechanism
        A tree of revolute, prismatic, planar, free and fixed joints; loops that are closed by
        revolute, prismatic, spherical and fixed joints.
    path : path
        An existing file is replaced, at once and as a whole.

    Raises
    ------
    ModelFileError
        If a URDF cannot hold the mechanism, naming the part, or the file cannot be written.

    Warns
    -----
    ModelFileWarning
        Of parts of the mechanism that the file lacks, such as another gravity.

    Examples
    --------
    >>> import mbkit as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.urdf"
    >>> mb.save_urdf(mb.Mechanism("one"), path)
    >>> print(path.read_text(), end="")
    <?xml version="1.0"?>
    <robot name="one">
      <link name="world"/>
    </robot>
    """
    target = checked_path(path, "save_urdf")
    text, notes = urdf_text(mechanism)
    write_mechanism(target, "URDF", mechanism.name, text, notes)


def urdf_text(mechanism: Mechanism) -> tuple[str, list[str]]:
    """Return a mechanism as URDF, and a note on each kind of loss; errors as of `save_urdf`.

    Notes
    -----
    A URDF puts the child's frame on the joint's axis: C = B T'(q), where T' leaves its origin. For
    C = S_pred T(q) S_succ^-1 that is B = S_pred P S_succ^-1 with T' about the axis R_succ e if the
    axis goes through the origin of the child. Else a link without inertia is put onto the axis, and
    the child fixed to it.
    """
    topology = mechanism.topology()
    _refuse(mechanism, topology)
    return _Writer(mechanism, topology).write()


def _refuse(mechanism: Mechanism, topology: Topology) -> None:
    what = f"Mechanism '{mechanism.name}' cannot be written as URDF"
    loops = {name: mechanism.joints[name].joint for name in topology.loop_joints}
    if wrong := [name for name, joint in loops.items() if not is_written(joint)]:
        raise ModelFileError(
            f"{what}: a URDF is a tree, to which revolute, prismatic, spherical and fixed joints "
            f"may be added that close loops, and a loop is closed by {listed(wrong)}; write a TOML "
            "file."
        )
    reversed_ = {
        name
        for name, turned in zip(topology.joint_of_body, topology.reversed, strict=True)
        if turned
    }
    for name, edge in mechanism.joints.items():
        if name in loops:
            continue
        kind = type(edge.joint)
        if kind not in (RevoluteJoint, PrismaticJoint, FreeJoint, PlanarJoint, FixedJoint):
            raise ModelFileError(
                f"{what}: joint '{name}' is a {kind.__name__}, and a URDF has revolute, prismatic, "
                "planar, free and fixed joints alone; write a TOML file."
            )
        if not isinstance(edge.joint, FreeJoint | PlanarJoint):
            continue
        if edge.joint.coordinates != "group" or getattr(edge.joint, "point", np.zeros(1)).any():
            raise ModelFileError(
                f"{what}: joint '{name}' must have coordinates='group' and no point, got "
                f"{edge.joint!r}: a URDF has no place for others; write a TOML file."
            )
        if name in reversed_ or not np.array_equal(edge.S_succ, np.eye(4)):
            which = "free" if kind is FreeJoint else "planar"
            raise ModelFileError(
                f"{what}: the {which} joint '{name}' must lead away from the world to the frame of "
                "its successor, since its velocity is that of the successor's joint frame; write a "
                "TOML file."
            )


class _Writer:
    """The lines of one file, and the notes on it."""

    def __init__(self, mechanism: Mechanism, topology: Topology) -> None:
        self.mechanism = mechanism
        self.topology = topology
        self.turned = {joint: turned for _, _, joint, turned in topology.tree_edges}
        self.lines: list[str] = []
        self.turned_round: list[str] = []
        self.mimics = _mimics(mechanism, topology)
        self.helpers: list[str] = []
        self.dropped: list[str] = []
        self.shapeless: list[str] = []

    def write(self) -> tuple[str, list[str]]:
        root = ROOT_JOINT if self._has_root_weld() else None
        self.lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(self.mechanism.name)}>"]
        if root is None:  # readers take a root link of this name for the world itself
            self._link(self.mechanism.world)
        for body in self.mechanism.bodies.values():
            self._link(body)
        for name, edge in self.mechanism.joints.items():
            if name != root and name in self.turned:
                self._joint(edge, self.turned[name])
        for name in self.topology.loop_joints:
            self._loop(self.mechanism.joints[name])
        return "\n".join([*self.lines, "</robot>", ""]), self._notes()

    def _has_root_weld(self) -> bool:
        """Return whether the world has one joint, the one that readers of URDF put there.

        Not if it has shapes, which need a link.
        """
        if self.mechanism.world.shapes:
            return False
        at_world = [
            edge
            for edge in self.mechanism.joints.values()
            if WORLD in (edge.predecessor, edge.successor)
        ]
        if len(at_world) != 1:
            return False
        identity = np.eye(4)
        weld = FixedJoint(ROOT_JOINT)
        return at_world[0] == Connection(weld, WORLD, at_world[0].successor, identity, identity)

    def _notes(self) -> list[str]:
        notes = []
        if tuple(self.mechanism.gravity.tolist()) != _GRAVITY:
            notes.append(f"gravity {self.mechanism.gravity.tolist()}")
        if any(not np.array_equal(body.pose, np.eye(4)) for body in self.mechanism.bodies.values()):
            notes.append("the reference poses of bodies, which joints no longer need")
        frames = [name for body in self.mechanism.bodies.values() for name in body.frames]
        if frames:
            notes.append(f"named frames on bodies: {listed(frames)}")
        if self.shapeless:
            notes.append(f"shapes that URDF does not have: {listed(self.shapeless)}")
        if self.dropped:
            notes.append(
                f"limits and friction of free, fixed and loop joints: {listed(self.dropped)}"
            )
        if self.turned_round:
            notes.append(
                f"that joints go from the tip towards the world: {listed(self.turned_round)} "
                "are turned round, with the same sign of their positions"
            )
        if self.topology.loop_joints:
            notes.append(
                "that it is no tree: programs that do not know the element <loop_joint> leave out "
                f"{listed(self.topology.loop_joints)}"
            )
        if self.helpers:
            notes.append(
                "bodies off the axes of their joints: links without inertia stand between, "
                f"{listed(self.helpers)}"
            )
        moved = [name for name, edge in self.mechanism.joints.items() if edge.motion is not None]
        if moved:
            notes.append(f"the prescribed motion of joints {listed(moved)}")
        if self.mechanism.forces:
            notes.append(f"the forces {listed(list(self.mechanism.forces))}")
        written = [each.name for each in self.mimics.values()]
        lost = [name for name in self.mechanism.constraints if name not in written]
        if lost:
            notes.append(f"the constraints {listed(lost)}")
        return notes

    # ------------------------------------------------------------------------------- links

    def _link(self, body: Body) -> None:
        if body.inertia == SpatialInertia.zero() and not body.shapes:
            self.lines.append(f"  <link name={quoteattr(body.name)}/>")
            return
        self.lines.append(f"  <link name={quoteattr(body.name)}>")
        if body.inertia != SpatialInertia.zero():
            self._inertial(body)
        for shape in body.shapes:
            lines = visual_lines(shape, body.color if shape.color is None else shape.color)
            if lines is None:
                self.shapeless.append(f"{type(shape).__name__} of {body.name}")
            self.lines += lines or []
        self.lines.append("  </link>")

    def _inertial(self, body: Body) -> None:
        I = body.inertia.moment_about_com  # noqa: E741 - its name in every book
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        entries = I[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]].tolist()
        moments = " ".join(f'{key}="{value!r}"' for key, value in zip(keys, entries, strict=True))
        self.lines += [
            "    <inertial>",
            f'      <origin xyz="{numbers_text(body.inertia.com)}" rpy="0 0 0"/>',
            f'      <mass value="{body.inertia.mass!r}"/>',
            f"      <inertia {moments}/>",
            "    </inertial>",
        ]

    # ------------------------------------------------------------------------------ joints

    def _joint(self, edge: Connection, turned: bool) -> None:
        near, far = (edge.S_succ, edge.S_pred) if turned else (edge.S_pred, edge.S_succ)
        ends = (edge.predecessor, edge.successor)
        parent, child = reversed(ends) if turned else ends
        joint = edge.joint
        if turned:
            self.turned_round.append(joint.name)
        if not isinstance(joint, (RevoluteJoint, PrismaticJoint)):
            normal = joint.axis if isinstance(joint, PlanarJoint) else None
            self._element(edge, parent, child, near @ inverse(far), normal)
            return
        # exp(X q)^-1 = exp(-X q): a joint turned round has the opposite axis
        axis = far[:3, :3] @ (-joint.axis if turned else joint.axis)
        point = far[:3, :3] @ joint.point + far[:3, 3]
        size = np.abs(far[:3, 3]).max() + np.abs(joint.point).max()
        off = np.abs(np.cross(point, axis / np.linalg.norm(axis))).max()
        if isinstance(joint, PrismaticJoint) or off <= 4.0 * np.finfo(float).eps * size:
            self._element(edge, parent, child, near @ inverse(far), axis)
            return
        helper = free_name(f"{child}_on_axis", self.mechanism.bodies)
        weld = free_name(f"{child}_off_axis", self.mechanism.joints)
        self.helpers.append(helper)
        self.lines.append(f"  <link name={quoteattr(helper)}/>")
        placed = near @ translation(joint.point)
        self._element(edge, parent, helper, placed, -joint.axis if turned else joint.axis)
        welded = Connection(FixedJoint(weld), helper, child, np.eye(4), np.eye(4))
        self._element(welded, helper, child, inverse(far @ translation(joint.point)), None)

    def _loop(self, edge: Connection) -> None:
        self.lines += loop_lines(edge)
        if edge.limits != JointLimits() or edge.friction != JointFriction():
            self.dropped.append(edge.joint.name)

    def _element(
        self, edge: Connection, parent: str, child: str, C: FloatArray, axis: FloatArray | None
    ) -> None:
        joint = edge.joint
        kind = _kind(edge)
        xyz, rpy = numbers_text(C[:3, 3]), numbers_text(rpy_from_rotation(C[:3, :3]))
        self.lines += [
            f"  <joint name={quoteattr(joint.name)} type={quoteattr(kind)}>",
            f"    <parent link={quoteattr(parent)}/>",
            f"    <child link={quoteattr(child)}/>",
            f'    <origin xyz="{xyz}" rpy="{rpy}"/>',
        ]
        if axis is not None:
            self.lines.append(f'    <axis xyz="{numbers_text(axis)}"/>')
        if isinstance(joint, (RevoluteJoint, PrismaticJoint)):
            self._data(edge, kind)
        elif edge.limits != JointLimits() or edge.friction != JointFriction():
            self.dropped.append(joint.name)
        self.lines.append("  </joint>")

    def _data(self, edge: Connection, kind: str) -> None:
        joint = edge.joint
        lower, upper = edge.limits.of_positions(joint)[0].tolist()
        velocity, effort = (
            float(values[0])
            for values in (edge.limits.of_velocities(joint), edge.limits.of_efforts(joint))
        )
        given = {"velocity": velocity, "effort": effort}
        if kind != "continuous":
            given = {"lower": lower, "upper": upper, **given}
        if kind != "continuous" or not math.isinf(min(given.values())):
            written = " ".join(f'{key}="{_finite(value)!r}"' for key, value in given.items())
            self.lines.append(f"    <limit {written}/>")
        damping, friction = (
            float(np.ravel(value)[0]) for value in (edge.friction.damping, edge.friction.friction)
        )
        if damping or friction:
            self.lines.append(f'    <dynamics damping="{damping!r}" friction="{friction!r}"/>')
        if edge.joint.name in self.mimics:
            gear = self.mimics[edge.joint.name]
            self.lines.append(
                f'    <mimic joint={quoteattr(gear.driver)} multiplier="{gear.ratio!r}" '
                f'offset="{gear.offset!r}"/>'
            )


def _mimics(mechanism: Mechanism, topology: Topology) -> dict[str, GearRatio]:
    """Return the gears that <mimic> can express, by their driven joints: each has one driver."""
    found: dict[str, GearRatio] = {}
    for constraint in mechanism.constraints.values():
        if isinstance(constraint, GearRatio) and not (
            {constraint.driver, constraint.driven} & {*topology.loop_joints}
        ):
            found.setdefault(constraint.driven, constraint)
    return found


def _kind(edge: Connection) -> str:
    joint: Joint = edge.joint
    if isinstance(joint, RevoluteJoint):
        free = np.isinf(edge.limits.of_positions(joint)).all()
        return "continuous" if free else "revolute"
    if isinstance(joint, PrismaticJoint):
        return "prismatic"
    if isinstance(joint, PlanarJoint):
        return "planar"
    return "floating" if isinstance(joint, FreeJoint) else "fixed"


def _finite(value: float) -> float:
    """Return the number for a limit in a file: the greatest number for none (`NO_LIMIT`)."""
    return math.copysign(NO_LIMIT, value) if math.isinf(value) else value
