"""From an SDF document to a mechanism."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.constraints import GearRatio
from mbkit.errors import MbkitError, ModelFileError, UsageError, listed, printable
from mbkit.forces import BodyWrench, JointDamper, JointSpring
from mbkit.io.xml.quoting import free_name
from mbkit.joints import FixedJoint, FreeJoint, Joint
from mbkit.model import Body, Mechanism
from mbkit.shapes import MeshShape, Shape
from mbkit.spatial import inverse

if TYPE_CHECKING:
    from mbkit.io.sdf.document import Sdf, SdfJoint, SdfLink

_WORLD, _ONE = "world", np.eye(4)


def build_mechanism(
    sdf: Sdf, root_joint: Joint | None, files: Mapping[str, pathlib.Path]
) -> Mechanism:
    """Return the mechanism of a document; see `Sdf.mechanism`."""
    if root_joint is not None and not isinstance(root_joint, Joint):
        raise UsageError(
            f"root_joint must be an mbkit.Joint, got {root_joint!r}; to hold the model, "
            "mbkit.FixedJoint('root_joint')."
        )
    what = f"SDF file '{printable(sdf.source)}'"
    gravity = {} if sdf.gravity is None else {"gravity": sdf.gravity}
    places = {link.name: link.pose for link in sdf.links} | {_WORLD: _ONE}
    mechanism = Mechanism(sdf.name, **gravity)
    current = sdf.links[0].line if sdf.links else 1
    try:
        for link in sdf.links:
            current = link.line
            frames = {
                each.name: inverse(link.pose) @ each.pose
                for each in sdf.frames
                if each.link == link.name
            }
            shapes = [_with_file(shape, files) for shape in link.shapes]
            mechanism.add_body(Body(link.name, link.inertia, shapes=shapes, frames=frames))
        _add_roots(mechanism, sdf, root_joint)
        for joint in _moving(sdf):
            current = joint.line
            mechanism.add_joint(
                joint.joint, joint.parent, joint.child, limits=joint.limits,
                friction=joint.friction,
                frames=[inverse(places[end]) @ joint.pose for end in (joint.parent, joint.child)],
            )  # fmt: skip
        for joint in _moving(sdf):
            current = joint.line
            _add_forces(mechanism, joint)
    except UsageError:
        raise
    except MbkitError as error:
        place = f"{printable(pathlib.PurePath(sdf.source).name)}:{current}"
        raise ModelFileError(f"{what} ({place}): {error}") from error
    for link in sdf.links:
        if not link.has_gravity and link.inertia.mass:
            lift = np.append(np.zeros(3), -link.inertia.mass * mechanism.gravity)
            name = f"no gravity on {link.name}"
            mechanism.add_force(BodyWrench(name, link.name, lift, point=link.inertia.com))
    return mechanism


def _with_file(shape: Shape, files: Mapping[str, pathlib.Path]) -> Shape:
    if isinstance(shape, MeshShape) and shape.file in files:
        return attrs.evolve(shape, file=str(files[shape.file]))
    return shape


def _moving(sdf: Sdf) -> Iterator[SdfJoint]:
    """Return the joints but those within static models, whose links are welded anyway."""
    static = {link.name for link in sdf.links if link.is_static} | {_WORLD}
    return (each for each in sdf.joints if not {each.parent, each.child} <= static)


def _add_roots(mechanism: Mechanism, sdf: Sdf, root_joint: Joint | None) -> None:
    """Weld links of static models to the world; let links that no joint connects to it float."""
    group: dict[str, str] = {link.name: link.name for link in sdf.links} | {_WORLD: _WORLD}

    def leader(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    names = {joint.name for joint in sdf.joints}
    for link in sdf.links:
        if link.is_static:
            weld = FixedJoint(free_name(f"{link.name} fixed", names))
            mechanism.add_joint(weld, _WORLD, link.name, frames=(link.pose, _ONE))
            group[link.name] = _WORLD
    for joint in sdf.joints:
        first, second = leader(joint.parent), leader(joint.child)
        # the first link of the file leads its group, the world any
        if first != _WORLD and (second == _WORLD or _before(sdf, second, first)):
            first, second = second, first
        group[second] = first
    roots = [link for link in sdf.links if leader(link.name) == link.name]
    if root_joint is not None and len(roots) != 1:
        raise UsageError(
            f"root_joint: there must be one group of links that no joint connects to the world, "
            f"got {len(roots)}: {listed(link.name for link in roots) or 'none'}; leave it out."
        )
    for link in roots:
        free = FreeJoint(free_name(f"{link.name} free", names))
        _add_root(mechanism, link, free if root_joint is None else root_joint)


def _add_root(mechanism: Mechanism, link: SdfLink, joint: Joint) -> None:
    """Join a link to the world; the position of a free joint is the pose in the world."""
    if isinstance(joint, FreeJoint):
        mechanism.add_joint(joint, _WORLD, link.name, frames=(_ONE, _ONE, link.pose))
    else:
        mechanism.add_joint(joint, _WORLD, link.name, frames=(link.pose, _ONE))


def _before(sdf: Sdf, first: str, second: str) -> bool:
    order = [link.name for link in sdf.links]
    return order.index(first) < order.index(second)


def _add_forces(mechanism: Mechanism, joint: SdfJoint) -> None:
    if joint.damping:
        mechanism.add_force(JointDamper(f"damper of {joint.name}", joint.name, joint.damping))
    if joint.stiffness:
        spring: Any = JointSpring(
            f"spring of {joint.name}", joint.name, joint.stiffness, joint.rest
        )
        mechanism.add_force(spring)
    if joint.mimic is not None:
        ratio = joint.mimic.multiplier
        offset = joint.mimic.offset - ratio * joint.mimic.reference
        name = f"{joint.name} mimics {joint.mimic.joint}"
        mechanism.add_constraint(
            GearRatio(name, joint.mimic.joint, joint.name, ratio=ratio, offset=offset)
        )
