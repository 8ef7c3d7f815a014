"""The parts of a scene: bodies, rods for those without shapes, joints, inertias, frames."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbkit.errors import ModelFileError, ModelFileWarning
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import translation
from mbkit.viz.scene.joint_places import DrawnJoint, drawn_joints
from mbkit.viz.scene.meshes import Mesh, ball, box, creased, cylinder, ellipsoid, helix, joined, rod
from mbkit.viz.scene.scene import Color, Label, Part, Scene, screw_pose

if TYPE_CHECKING:
    from mbkit.systems import System

#: Colours of bodies, distinct also for the colour-blind: Okabe and Ito, "Color universal design",
#: 2008, without black and yellow.
_COLORS = (
    (0.00, 0.45, 0.70, 1.0), (0.90, 0.60, 0.00, 1.0), (0.00, 0.62, 0.45, 1.0),
    (0.80, 0.47, 0.65, 1.0), (0.34, 0.71, 0.91, 1.0), (0.84, 0.37, 0.00, 1.0),
)  # fmt: skip
_JOINT, _COM, _INERTIA = (0.25, 0.25, 0.28, 1.0), (0.9, 0.1, 0.1, 1.0), (0.5, 0.5, 0.6, 0.35)

#: Radius of rods, in parts of the length of axes, and semi-axes of ellipsoids of thin bodies.
_ROD, _THIN = 0.09, 0.02
_GROUND = (0.55, 0.56, 0.58, 1.0)
#: Joints on the ground between which there are rods.
_FEET = 8
#: Most turns of a helix that are distinct.
_TURNS = 12.0

#: A shape: the row of its body, its mesh in the frame of the body, and its colour.
Shown = tuple[int, Mesh, Color | None]


def scene_of(system: System) -> Scene:
    """Return the visible objects of a system.

    Parameters
    ----------
    system : System
        In any coordinates.

    Returns
    -------
    Scene
        Shapes of bodies; rods between the joints of bodies that have none; joints with their axes;
        centres of mass, inertia ellipsoids and frames.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    >>> scene = scene_of(mech.assemble())
    >>> [part.name for part in scene.parts if part.layer in ("bodies", "joints")]
    ['bob', 'hinge']
    >>> scene.poses([0.0]).shape == (len(scene.parts), 4, 4)
    True
    """
    joints = tuple(joint for joint in drawn_joints(system) if not joint.is_free)
    anchors = _anchors(system, joints)
    shapes = _shapes(system)
    size, glyph = _sizes(system, anchors, shapes)
    parts = [
        *_bodies(system, anchors, shapes, glyph),
        *(part for joint in joints for part in _joint_parts(system, joint, glyph)),
        *_inertias(system, glyph),
        *_frames(system),
    ]
    return Scene(system, tuple(parts), tuple(_labels(system, joints)), size, glyph)


def _anchors(system: System, joints: tuple[DrawnJoint, ...]) -> dict[int, list[FloatArray]]:
    """Return the points of the joints on each body, and the tips of its tools, by row."""
    anchors: dict[int, list[FloatArray]] = {row: [] for row in range(len(system.body_names))}
    reference = system.poses(system.reference_configuration())
    for joint in joints:
        before, after = joint.bodies
        near, far = joint.ends
        if joint.slides and before:  # the rod reaches into the one that slides along it
            com = reference[after] @ [*system.inertias.coms[after], 1.0]
            near = (np.linalg.inv(reference[before]) @ com)[:3]
        anchors[before].append(near)
        anchors[after].append(far)
    for frame in system.frames.values():
        anchors[system.body_index(frame.body)].append(frame.pose[:3, 3])
    return anchors


def _sizes(
    system: System, anchors: dict[int, list[FloatArray]], shapes: list[Shown]
) -> tuple[float, float]:
    """Return the radius of a sphere around all, and the length of axes that do not hide it."""
    poses = system.poses(system.reference_configuration())
    points, spans = [np.zeros((0, 3))], []
    for row, own in anchors.items():
        every = np.array([*own, *([system.inertias.coms[row]] if row else [])]).reshape(-1, 3)
        points.append(every @ poses[row, :3, :3].T + poses[row, :3, 3])
        if row:
            spans.append(np.linalg.norm(np.ptp(every, axis=0)))
    for row, mesh, _ in shapes:
        if not row:
            continue  # a floor is larger than what stands on it
        points.append(mesh.vertices @ poses[row, :3, :3].T + poses[row, :3, 3])
        spans.append(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
    every = np.concatenate(points)
    size = (0.5 * float(np.linalg.norm(np.ptp(every, axis=0))) if len(every) else 0.0) or 1.0
    lengths = [each for each in spans if each > 1e-6 * size]
    typical = float(np.quantile(lengths, 0.75)) if lengths else size
    return size, float(np.clip(0.35 * typical, 0.02 * size, 0.25 * size))


def _shapes(system: System) -> list[Shown]:
    """Return the shapes of the bodies: rows of these, meshes in their frames, and colours.

    A ModelFileWarning names files of meshes that cannot be read; bodies then do without them.
    """
    found, missing = [], []
    for row, shape in system.shapes:
        try:
            mesh = creased(*shape.mesh())
        except ModelFileError as error:
            missing.append(str(error))
        else:
            if len(mesh.faces):
                found.append((row, mesh.moved(shape.pose), shape.color))
    if missing:
        warnings.warn(
            f"{len(missing)} of the {len(system.shapes)} shapes of '{system.name}' are not seen, "
            f"the first because: {missing[0]}",
            ModelFileWarning,
            stacklevel=2,
        )
    return found


def color_of(row: int) -> tuple[float, float, float, float]:
    """Return the colour of the body of a row that has none of its own."""
    return _COLORS[(row - 1) % len(_COLORS)]


def _bodies(
    system: System, anchors: dict[int, list[FloatArray]], shapes: list[Shown], glyph: float
) -> Iterator[Part]:
    """Yield the shapes of bodies, and rods in place of them."""
    drawn: dict[int, int] = {}
    for row, mesh, color in shapes:
        count = drawn[row] = drawn.get(row, 0) + 1
        name = system.body_names[row] + (f" {count}" if count > 1 else "")
        layer, own = ("bodies", color_of(row)) if row else ("ground", _GROUND)
        yield Part(name, layer, row, np.eye(4), mesh, color or own)
    # rods that slide along each other are not of one thickness
    slim = {int(row) for level in system.tree.levels[::2] for row in level}
    for row, name in enumerate(system.body_names):
        if row and row not in drawn:
            com = system.inertias.coms[row] if system.inertias.masses[row] else None
            rods = _rods(anchors[row], com, 0.8 * glyph if row in slim else glyph)
            if rods is not None:
                yield Part(name, "bodies", row, np.eye(4), rods, color_of(row))
    ground = _rods(anchors[0], None, 0.6 * glyph) if len(anchors[0]) <= _FEET else None
    if ground is not None and 0 not in drawn:
        yield Part("world", "ground", 0, np.eye(4), ground, _GROUND)


def _rods(points: list[FloatArray], com: FloatArray | None, glyph: float) -> Mesh | None:
    """Return rods between the points of a body: from its first joint, or around its middle.

    A body with one joint reaches to its centre of mass, and is a ball where these are one point.
    """
    radius = _ROD * glyph
    apart: list[FloatArray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > radius for other in apart):
            apart.append(point)
    if len(apart) < 2 and com is not None:
        centre = np.asarray(com)
        if not apart or np.linalg.norm(centre - apart[0]) < 2.0 * radius:
            return ball(3.0 * radius).moved(translation(centre))
        bob = ball(2.5 * radius).moved(translation(centre))
        return joined(rod(apart[0], centre, radius), bob)
    if len(apart) < 2:
        return None
    if len(apart) == 2:
        return rod(apart[0], apart[1], radius)
    middle = np.mean(apart, axis=0)
    return joined(
        ball(1.2 * radius).moved(translation(middle)),
        *(rod(middle, each, radius) for each in apart if np.linalg.norm(each - middle) > radius),
    )


def _joint_parts(system: System, joint: DrawnJoint, glyph: float) -> Iterator[Part]:
    """Yield the axes of a joint; a ball where it turns about three that meet."""
    if joint.joint is None or not joint.joint.num_velocities:
        return
    q = system.reference_configuration()
    S = joint.columns(q, system.poses(q))
    row = joint.bodies[1]
    turning = np.linalg.norm(S[:, :3], axis=1) > 1e-9
    meets = np.linalg.norm(S[:, 3:] + np.cross(S[:, :3], joint.point), axis=1) < 1e-6 * glyph
    at_point = joint.far @ translation(joint.point)
    if turning.sum() >= 3 and meets[turning].all():
        mesh = ball(1.9 * _ROD * glyph)
        yield Part(joint.name, "joints", row, at_point, mesh, _JOINT)
        S, turning = S[~turning], turning[~turning]
    fixed = joint.joint.constant_subspace
    for k, screw in enumerate(S):
        name = joint.name if len(S) == 1 else f"{joint.name}[{k}]"
        pose = joint.far @ screw_pose(screw, joint.point)
        axis = None if fixed else (joint, k)
        yield Part(name, "joints", row, pose, axis_mesh(screw, glyph), _JOINT, axis)


def axis_mesh(screw: FloatArray, glyph: float) -> Mesh:
    """Return how an axis looks along z: a pin, a helix of the screw's pitch, or a square bar."""
    w, v = screw[:3], screw[3:]
    radius = _ROD * glyph
    if w @ w < 1e-18:
        return box(np.array([1.3 * radius, 1.3 * radius, 1.6 * glyph]))
    lead = 2.0 * np.pi * float(w @ v) / float(w @ w)
    if abs(lead) < 1e-9 * glyph:
        return joined(cylinder(1.5 * radius, 0.5 * glyph), cylinder(0.4 * radius, glyph))
    shown = np.sign(lead) * max(abs(lead), 1.5 * glyph / _TURNS)
    wire = 0.5 * radius
    return joined(helix(2.0 * radius, float(shown), 1.5 * glyph, wire), cylinder(wire, 1.7 * glyph))


def _inertias(system: System, glyph: float) -> Iterator[Part]:
    """Yield centres of mass, and ellipsoids of the same mass and moments as the bodies."""
    inertias = system.inertias
    for row, name in enumerate(system.body_names):
        mass, com = inertias.masses[row], inertias.coms[row]
        if not mass > 0.0:
            continue
        at = translation(com)
        yield Part(f"{name} com", "centres of mass", row, at, ball(0.15 * glyph), _COM)
        moments, axes = np.linalg.eigh(inertias.moments_about_com[row])
        if np.linalg.det(axes) < 0.0:
            axes = axes * (1.0, 1.0, -1.0)
        # moments m (b^2 + c^2) / 5 about the axis of the semi-axis a
        squares = 2.5 / mass * (moments.sum() - 2.0 * moments)
        semi_axes = np.sqrt(np.maximum(squares, (_THIN * glyph) ** 2))
        if (squares > (0.1 * glyph) ** 2).any():
            at = at.copy()
            at[:3, :3] = axes
            mesh = ellipsoid(semi_axes)
            yield Part(f"{name} inertia", "inertia ellipsoids", row, at, mesh, _INERTIA)


def _frames(system: System) -> Iterator[Part]:
    """Yield the frames of the bodies, and those that they name."""
    plain = (1.0, 1.0, 1.0, 1.0)
    for row, name in enumerate(system.body_names):
        yield Part(f"{name} frame", "frames", row, np.eye(4), None, plain)
    for name, frame in system.frames.items():
        row = system.body_index(frame.body)
        yield Part(f"{name} frame", "frames", row, frame.pose, None, plain)


def _labels(system: System, joints: tuple[DrawnJoint, ...]) -> Iterator[Label]:
    for joint in joints:
        if joint.joint is not None and joint.joint.num_velocities:
            yield Label(joint.name, "joint names", joint.bodies[1], joint.ends[1])
    for row, name in enumerate(system.body_names):
        if row:
            yield Label(name, "body names", row, system.inertias.coms[row])
