"""From a URDF document to a mechanism."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

import attrs
import numpy as np

from mbkit.constraints import GearRatio
from mbkit.errors import MbkitError, ModelFileError, UsageError, listed, printable
from mbkit.io.urdf.shapes import shapes_of
from mbkit.io.xml.quoting import free_name
from mbkit.joints import FixedJoint, Joint
from mbkit.model import Body, Mechanism

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbkit.io.urdf.document import Urdf

__all__ = ["ROOT_JOINT", "WORLD", "build_mechanism"]

#: Name of the weld between the world and the root link.
ROOT_JOINT = "root_joint"

#: A root link of this name is the inertial frame itself.
WORLD = "world"

_MIMIC = ("couple", "refuse", "independent")


def build_mechanism(
    urdf: Urdf, root_joint: Joint | None, mimic: str, files: Mapping[str, pathlib.Path]
) -> Mechanism:
    """Return the mechanism of a document; see `Urdf.mechanism`."""
    if mimic not in _MIMIC:
        raise UsageError(f"mimic must be {' or '.join(map(repr, _MIMIC))}, got {mimic!r}.")
    if root_joint is not None and not isinstance(root_joint, Joint):
        raise UsageError(
            f"root_joint must be an mbkit.Joint, got {root_joint!r}; for a floating base "
            "mbkit.FreeJoint('root_joint')."
        )
    what = f"URDF file '{printable(urdf.source)}'"
    if mimic == "refuse":
        _refuse_mimic(urdf, what)
    is_world = _check_world(urdf, root_joint, what)
    roots = [link for link in urdf.links if is_world and link.name == WORLD]
    mechanism = Mechanism(
        urdf.name, world_shapes=[shape for link in roots for shape in shapes_of(link, files)]
    )
    for link in urdf.links:
        if link.name != WORLD:
            shapes = shapes_of(link, files)
            mechanism.add_body(Body(link.name, link.inertia, shapes=shapes))
    if not is_world:
        names = {joint.name for joint in urdf.joints} | {loop.name for loop in urdf.loops}
        root = FixedJoint(free_name(ROOT_JOINT, names)) if root_joint is None else root_joint
        if root.name in names:
            raise UsageError(
                f"root_joint: {what} has a joint {root.name!r} already; give it another name."
            )
        mechanism.add_joint(root, mechanism.world, urdf.root, frames=(np.eye(4), np.eye(4)))
    for joint in urdf.joints:
        try:
            mechanism.add_joint(
                joint.joint,
                joint.parent,
                joint.child,
                frames=(joint.pose, np.eye(4)),
                limits=joint.limits,
                friction=joint.friction,
            )
        except MbkitError as error:
            raise ModelFileError(f"{what} ({_place(urdf, joint.line)}): {error}") from error
    for loop in urdf.loops:
        mechanism.add_joint(loop.joint, *loop.links, frames=(loop.pose1, loop.pose2))
    if mimic == "couple":
        _couple(mechanism, urdf, what)
    return mechanism


def _couple(mechanism: Mechanism, urdf: Urdf, what: str) -> None:
    """Add q = multiplier q_other + offset for each <mimic> of a joint that moves."""
    for joint in urdf.joints:
        if joint.mimic is not None and mechanism.joints[joint.name].joint.num_velocities > 0:
            name = f"{joint.name} mimics {joint.mimic.joint}"
            ratio, offset = joint.mimic.multiplier, joint.mimic.offset
            try:
                mechanism.add_constraint(
                    GearRatio(name, joint.mimic.joint, joint.name, ratio=ratio, offset=offset)
                )
            except MbkitError as error:
                raise ModelFileError(
                    f"{what} ({_place(urdf, joint.line)}): <mimic> cannot couple joints: {error} "
                    "With mimic='independent' (--mimic independent) they move on their own."
                ) from error


def _place(urdf: Urdf, line: int) -> str:
    return f"{printable(pathlib.PurePath(urdf.source).name)}:{line}"


def _refuse_mimic(urdf: Urdf, what: str) -> None:
    coupled = [joint for joint in urdf.joints if joint.mimic is not None]
    if coupled:
        names = listed(joint.name for joint in coupled)
        raise ModelFileError(
            f"{what} couples joints by <mimic> ({_place(urdf, coupled[0].line)}): {names}. With "
            "mimic='couple' they are loaded with constraints that keep them so; with "
            "mimic='independent' they move on their own, which is another mechanism."
        )


def _check_world(urdf: Urdf, root_joint: Joint | None, what: str) -> bool:
    """Return whether the root link is the world; raise where that cannot be."""
    world = next((link for link in urdf.links if link.name == WORLD), None)
    if world is None:
        return False
    place = f"{what} ({_place(urdf, world.line)}): link 'world'"
    if urdf.root != WORLD:
        raise ModelFileError(
            f"{place} must be the root, since this is the name of the inertial frame, and is the "
            "child of a joint; rename it."
        )
    if root_joint is not None:
        raise UsageError(
            f"root_joint: {place} is the inertial frame by its name, and nothing can be between it "
            "and the world; leave root_joint out, or rename the link."
        )
    return True


def with_world_note(urdf: Urdf) -> Urdf:
    """Return the document with a note on the properties that a root link named world loses."""
    root = next((link for link in urdf.links if link.name == urdf.root), None)
    if root is None or root.name != WORLD or root.inertia.mass == 0.0:
        return urdf
    note = (
        f"{_place(urdf, root.line)}: link 'world' is the inertial frame by its name; its mass of "
        f"{root.inertia.mass:g} kg is not kept, since it cannot move."
    )
    return attrs.evolve(urdf, notes=(*urdf.notes, note))
