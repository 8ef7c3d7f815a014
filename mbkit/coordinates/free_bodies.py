"""Free joints for all bodies, and split bodies on joints that keep their coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.coordinates.division import Division, on_split_bodies
from mbkit.coordinates.force_joints import check_unnamed_joints, unnamed_joints
from mbkit.coordinates.inertia_transfer import (
    InertiaTransfers,
    group_inertias,
    resists,
    with_transfers,
)
from mbkit.coordinates.rigid_groups import RigidGroups, relative_pose, spanning_steps
from mbkit.coordinates.spanning_trees import relative_tree
from mbkit.errors import DuplicateNameError, InertiaError, TopologyError
from mbkit.joints import FixedJoint, Joint
from mbkit.model import Body, Connection
from mbkit.parts.body import with_inertia
from mbkit.spatial import SpatialInertia, inverse
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.blueprint import SplitBody
from mbkit.topology import WORLD

if TYPE_CHECKING:
    from mbkit.parts.parts import Parts
    from mbkit.topology import Topology

__all__ = ["FreeBodies", "Hanging", "reference_poses"]

#: How far a joint may be from neutral at the reference and count as such.
_SAME = 1e-9


def free_name(body: str, parts: Parts) -> str:
    """Return an unused name of the free joint of a body.

    A free joint of the mechanism may already have the first choice of a name.
    """
    name = f"{body} (free)"
    is_taken = name in parts.joints or name in parts.constraints
    return f"{body} (absolute)" if is_taken else name


@final
@attrs.frozen
class Hanging:
    """A part of a split body, on a joint that keeps its coordinates.

    `whole` is the body on this joint, `origin` the one that gives the inertia: the same, or one
    that is fixed to it.
    """

    joint: str
    whole: str
    origin: str

    @property
    def name(self) -> str:
        """Of the part."""
        return f"{self.whole} (cut at {self.joint})"

    @property
    def weld(self) -> str:
        """Name of the joint that holds it to the body."""
        return f"{self.whole} (weld at {self.joint})"


@final
@attrs.frozen(eq=False)
class FreeBodies:
    """The bodies of a mechanism, each on a free joint: a `DivisionRule`."""

    make_joint: Callable[[str], Joint]  # from a name to a joint of six freedoms
    groups: RigidGroups  # which bodies move as one
    names: Mapping[str, str]  # the free joint of each body or group of fixed bodies
    hanging: tuple[Hanging, ...]  # parts of bodies, in the order of their joints
    transfers: InertiaTransfers  # inertia transfers from neighbours to thin rods

    @classmethod
    def of(
        cls,
        parts: Parts,
        make_joint: Callable[[str], Joint],
        kept: Mapping[str, str],
    ) -> FreeBodies:
        """Return how a mechanism is divided, with joints of six freedoms that are made from names.

        `kept` has the joints that keep their coordinates, each with the reason.
        """
        groups = RigidGroups.of(parts)
        transfers = InertiaTransfers.of(parts, groups)
        whole = with_transfers(parts, transfers.inertia_transfers(parts, groups).values())
        hanging = tuple(_hanging(whole, groups, joint, why) for joint, why in kept.items())
        names = {root: free_name(root, parts) for root in groups.members if root != WORLD}
        made = cls(make_joint, groups, names, hanging, transfers)
        made.check_names(parts)
        return made

    @property
    def remedy(self) -> str:
        """How a joint gets coordinates, as the end of a sentence."""
        return "let joints have coordinates by AbsoluteCoordinates(joints=[...])"

    @property
    def free_joints(self) -> tuple[str, ...]:
        """Names of the added free joints between the world and the bodies."""
        return tuple(self.names.values())

    def acting(self, whole: Parts) -> tuple[str, ...]:
        """Return the joints that a force acts on which names none; ForceError if some are cut."""
        joints = unnamed_joints(whole)
        check_unnamed_joints(whole, joints, {each.joint for each in self.hanging})
        return joints

    def check_names(self, parts: Parts) -> None:
        """Raise DuplicateNameError where a name that a joint or a part would have is taken."""
        names = {
            "joint": (parts.joints, [*self.free_joints, *(each.weld for each in self.hanging)]),
            "body": (parts.bodies, [each.name for each in self.hanging]),
        }
        for kind, (known, wanted) in names.items():
            for name in wanted:
                if name in known or (kind == "joint" and name in parts.constraints):
                    raise DuplicateNameError(
                        f"Mechanism {parts.name!r} has a {kind} {name!r}, as absolute coordinates "
                        f"would name one of theirs; rename it."
                    )

    def divide(self, whole: Parts) -> Division:
        """Return the bodies and joints of the system.

        A free joint for each body comes first, then the joints of the mechanism, those that keep
        their coordinates with the parts that hang on them, then their welds.
        """
        inertia_transfers = self.transfers.inertia_transfers(whole, self.groups)
        split_bodies = {each.name: SplitBody(each.whole, each.origin) for each in self.hanging}
        parts = self._divided(with_transfers(whole, inertia_transfers.values()), split_bodies)
        return Division(
            self, whole, parts, MappingProxyType(split_bodies), self.free_joints, inertia_transfers
        )

    def _divided(self, whole: Parts, split_bodies: Mapping[str, SplitBody]) -> Parts:
        bodies, joints = dict(whole.bodies), dict(whole.joints)
        welds = {}
        if self.hanging:
            poses = self.groups.poses(whole)
            # the first part keeps an equal share
            share = self._shares()
            for origin, part in share.items():
                body = bodies[origin]
                bodies[origin] = with_inertia(body, _part(body.inertia, part))
            for each in self.hanging:
                inertia = _part(whole.bodies[each.origin].inertia, share[each.origin])
                C = inverse(poses[each.whole]) @ poses[each.origin]
                moved = inertia if each.origin == each.whole else inertia.transformed(C)
                bodies[each.name] = Body(each.name, moved, whole.bodies[each.whole].pose)
                joints[each.joint] = _moved(joints[each.joint], each.whole, each.name)
                weld = FixedJoint(each.weld)
                welds[each.weld] = Connection(weld, each.whole, each.name, np.eye(4), np.eye(4))
        free = {}
        for root, name in self.names.items():
            joint = self.make_joint(name)
            free[name] = Connection(joint, WORLD, root, np.eye(4), np.eye(4))
        return attrs.evolve(
            whole,
            bodies=MappingProxyType(bodies),
            joints=MappingProxyType({**free, **joints, **welds}),
            forces=MappingProxyType(on_split_bodies(whole.forces, split_bodies)),
        )

    def _shares(self) -> dict[str, float]:
        """Return, by body, the share of its inertia that each of its parts has."""
        counts: dict[str, int] = {}
        for each in self.hanging:
            counts[each.origin] = counts.get(each.origin, 0) + 1
        return {origin: 1.0 / (count + 1.0) for origin, count in counts.items()}

    def reference(self, whole: Parts) -> Mapping[str, FloatArray]:
        """Return where the bodies stand at the reference, and the joints that are not neutral."""
        poses, is_closed = reference_poses(whole)
        found: dict[str, FloatArray] = {}
        for root, name in self.names.items():
            found[name] = np.asarray(
                self.make_joint(name).configuration_from_pose(poses[root]), dtype=np.float64
            )
        for each in self.hanging if not is_closed else ():
            edge = whole.joints[each.joint]
            C = inverse(poses[edge.predecessor]) @ poses[edge.successor]
            if np.abs(C - relative_pose(edge, edge.predecessor)).max() > _SAME:
                joint = edge.joint
                if joint.ndx == joint.num_velocities:
                    found[each.joint] = joint.configuration_from_pose(
                        inverse(edge.S_pred) @ C @ edge.S_succ
                    )
        return found

    def check(self, division: Division, topology: Topology) -> None:
        """Raise InertiaError unless each body, with bodies fixed to it, resists every motion."""
        after = with_transfers(division.whole, division.inertia_transfers.values())
        for root, inertia in group_inertias(after, self.groups):
            if inertia.mass == 0.0:
                raise InertiaError(
                    f"Body {root!r} has no mass: in absolute coordinates each body moves by "
                    f"itself, and needs an inertia. Give it mass, hold it by an mbkit.FixedJoint "
                    f"to a body that has, or take mbkit.RelativeCoordinates()."
                )
            if not resists(inertia):
                raise InertiaError(self._what_is_missing(division, root))

    def _what_is_missing(self, division: Division, root: str) -> str:
        """Return the reason why a body gets no inertia transfer, as a message."""
        whole = division.whole
        moments = np.linalg.eigvalsh(whole.bodies[root].inertia.moment_about_com)
        shown = ", ".join(f"{moment:.3g}" for moment in moments)
        rule = (
            "in absolute coordinates each body moves by itself, and needs moments of inertia about "
            "all axes"
        )
        received = [
            transfer
            for transfer in division.inertia_transfers.values()
            if transfer.receiver == root
        ]
        if resists(dict(group_inertias(with_transfers(whole, received), self.groups))[root]):
            return (
                f"Body {root!r} would have to transfer to a neighbour, which can turn about its "
                f"centre of mass without moving any inertia, more than it has: {rule}. Those of "
                f"{root!r} are {shown} kg m^2. Give the neighbour a moment, or take "
                f"mbkit.RelativeCoordinates()."
            )
        joint = self.transfers.transferring_joint(whole, self.groups, root)
        reason = (
            "no joints of one axis lead to the world that could transfer moments to it"
            if joint is None
            else f"joint {joint!r} can transfer moments to it across the axis of its turns alone, "
            f"and not about that axis"
        )
        return (
            f"Body {root!r} can turn about its centre of mass without moving any inertia, and "
            f"{reason}: {rule}, got {shown} kg m^2 about its principal ones. Give it some, or take "
            f"mbkit.RelativeCoordinates()."
        )


def _part(inertia: SpatialInertia, share: float) -> SpatialInertia:
    return attrs.evolve(
        inertia,
        mass=share * inertia.mass,
        moment_about_com=share * inertia.moment_about_com,
        unphysical=inertia.unphysical,
    )


def _moved(edge: Connection, body: str, part: str) -> Connection:
    if edge.successor == body:
        return attrs.evolve(edge, successor=part)
    return attrs.evolve(edge, predecessor=part)


def _hanging(parts: Parts, groups: RigidGroups, joint: str, why: str) -> Hanging:
    """Return the part of a split body on a joint: of its successor, if that moves."""
    edge = parts.joints[joint]
    sides: list[Any] = [edge.successor, edge.predecessor]
    moving = [body for body in sides if groups.root[body] != WORLD]
    if not moving:
        raise TopologyError(
            f"Joint {joint!r} keeps its coordinates, for {why}, and both of its bodies are fixed "
            f"to the world; take it out, or one of the joints that fix them."
        )
    for body in moving:
        members = groups.members[groups.root[body]]
        for origin in (body, *members):
            if resists(parts.bodies[origin].inertia):
                return Hanging(joint, body, origin)
    named = " and ".join(repr(body) for body in moving)
    raise InertiaError(
        f"Joint {joint!r} keeps its coordinates, for {why}, by a part of the inertia of a body on "
        f"it, and neither {named} nor what is fixed to it has moments of inertia about all axes; "
        f"give it some, or take mbkit.RelativeCoordinates()."
    )


#: How far joints may be from neutral and count as such: in entries of a pose, lengths in parts of
#: the largest.
_SAME = 1e-9


def reference_poses(parts: Parts) -> tuple[dict[str, FloatArray], bool]:
    """Return the poses in the world with all joints neutral, and whether all joints are.

    If neutral joints do not close the loops, the joints in the default tree of
    `mbkit.RelativeCoordinates` are neutral.
    """
    poses: dict[str, FloatArray] = {WORLD: np.eye(4)}
    for name, towards, body in spanning_steps(parts.joints, (WORLD,)):
        poses[body] = poses[towards] @ relative_pose(parts.joints[name], towards)
    size = 1.0 + max((float(np.abs(C[:3, 3]).max()) for C in poses.values()), default=0.0)
    for edge in parts.joints.values():
        near, far = poses[edge.predecessor], poses[edge.successor]
        missing = np.abs(near @ relative_pose(edge, edge.predecessor) - far)
        if missing[:3, :3].max() > _SAME or missing[:3, 3].max() > _SAME * size:
            return _poses_of_the_tree(parts), False
    return poses, True


def _poses_of_the_tree(parts: Parts) -> dict[str, FloatArray]:
    divided, topology = relative_tree(parts)
    poses: dict[str, FloatArray] = {WORLD: np.eye(4)}
    for number, body in enumerate(topology.bodies[1:], start=1):
        towards = topology.bodies[topology.parent[number]]
        edge = divided.joints[topology.joint_of_body[number]]
        poses[body] = poses[towards] @ relative_pose(edge, towards)
    return {body: poses[body] for body in (WORLD, *parts.bodies)}
