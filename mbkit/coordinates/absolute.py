"""Absolute coordinates: every body on a free joint, every joint a constraint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, final

import attrs

from mbkit.coordinates.assembly import Assembly
from mbkit.coordinates.force_joints import unnamed_joints
from mbkit.coordinates.free_bodies import FreeBodies
from mbkit.coordinates.relative import RelativeCoordinates
from mbkit.coordinates.rigid_groups import spanning_steps
from mbkit.errors import NameUnknownError, UsageError, suggestion
from mbkit.given_values import as_list, as_number, positive_number
from mbkit.joints import AbsoluteJoint, ScrewCoordinates, UnitQuaternion
from mbkit.joints.absolute.absolute_joint import check_local, check_orientation, check_trivialised
from mbkit.joints.absolute.local_coordinates import LocalCoordinates
from mbkit.joints.absolute.orientations import Orientation
from mbkit.model.graph import graph_of, why_held
from mbkit.parts.parts import Parts
from mbkit.representations import Representation
from mbkit.systems import System
from mbkit.topology import WORLD, JointEdge, Topology, check_connected, numbered_tree

if TYPE_CHECKING:
    from mbkit.coordinates.division import Division
    from mbkit.model import Mechanism


def _names(joints: object) -> tuple[str, ...]:
    names = as_list(joints)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"AbsoluteCoordinates: joints must be names of joints, got {joints!r}; for example "
            "['hinge']."
        )
    return tuple(dict.fromkeys(names))


@final
@attrs.frozen
class AbsoluteCoordinates:
    """Orientation and position of every body in the world; every joint is a constraint.

    Each body is on an `AbsoluteJoint` from the world, ``"BODY (free)"``, and all joints of the
    mechanism are loop joints. Bodies connected by fixed joints move as one, on the joint of the
    first of them that has mass. The velocities are twists in the representation that follows from
    the group of `local`: body-fixed or mixed, with `trivialised="right"` spatial or hybrid.

    Joints that a force or a coupling names, prescribed and nonholonomic joints keep their
    coordinates under their own names, with all turns. The body on such a joint is split: its second
    part, ``"BODY (cut at JOINT)"``, is on the joint, and ``"BODY (weld at JOINT)"`` connects it to
    the first. `joints` names further ones, to prescribe a velocity, to drive them by `tau` or to
    plot them.

    Attributes
    ----------
    orientation : UnitQuaternion, RotationVector or EulerAngles
        Parametrisation of orientations; it does not change the motion.
    local : ScrewCoordinates, RotationVectorPosition, RodriguesPosition, ExtendedRodrigues, ...
        Local coordinates of a step, with their map and group.
    trivialised : {"left", "right"}
        Whether steps, and velocities, are in the axes of the bodies or of the world.
    length : float, optional
        Length that scales moments against forces in the constraints, as in `RelativeCoordinates`;
        by default the size of the mechanism. [m]
    joints : sequence of str, keyword only
        Names of further joints that keep their coordinates.

    Raises
    ------
    UsageError
        If an argument has another type or value.

    Notes
    -----
    Each body needs mass and moments of inertia about all axes. A thin rod without a moment about
    its own axis gets one by an inertia transfer from its neighbours, where joints prevent the
    rotation about that axis: docs/absolute-coordinates.md.

    References
    ----------
    .. [1] A. Mueller, "Singularity-free Lie group integration and geometrically consistent
       evaluation of multibody system models described in terms of standard absolute coordinates".

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("swing")
    >>> seat = mech.add_body(mb.Body("seat", mb.SpatialInertia.sphere(8.0, radius=0.2)))
    >>> for name, x in (("left", -0.5), ("right", 0.5)):
    ...     _ = mech.add_joint(mb.RevoluteJoint(name, (1, 0, 0), (x, 0, 1)), mech.world, seat)
    >>> system = mech.assemble(mb.AbsoluteCoordinates(mb.UnitQuaternion(), mb.ScrewCoordinates()))
    >>> system
    <System 'swing': 1 bodies, nq=7, nv=6, body_fixed>
    >>> system.loop_joints
    ('left', 'right')
    >>> apart = mb.AbsoluteCoordinates(mb.RotationVector(), mb.RotationVectorPosition())
    >>> mech.assemble(apart)
    <System 'swing': 1 bodies, nq=6, nv=6, mixed>
    """

    orientation: Orientation = attrs.field(factory=UnitQuaternion, validator=check_orientation)
    local: LocalCoordinates = attrs.field(factory=ScrewCoordinates, validator=check_local)
    trivialised: str = attrs.field(default="left", validator=check_trivialised)
    length: float | None = attrs.field(default=None, converter=attrs.converters.optional(as_number))
    joints: tuple[str, ...] = attrs.field(default=(), converter=_names, kw_only=True)

    @length.validator
    def _check_length(self, _attribute: object, length: object) -> None:
        if length is not None:
            positive_number("AbsoluteCoordinates: length", length, unit="metres")

    @property
    def representation(self) -> Representation:
        """Representation of twists, which are the velocities of the bodies."""
        return self.local.representation(self.trivialised)

    def free_joint(self, name: str) -> AbsoluteJoint:
        """Return the free joint between the world and a body."""
        return AbsoluteJoint(name, self.orientation, self.local, self.trivialised)

    def assemble(self, mechanism: Mechanism) -> System:
        """Return the equations of motion of a mechanism, without a reference to it.

        Parameters
        ----------
        mechanism : Mechanism
            A tree or a closed mechanism.

        Returns
        -------
        System
            The equations. Its reference configuration has the poses of the bodies with all joints
            neutral.

        Raises
        ------
        TopologyError
            If a body is not connected to the world.
        InertiaError
            If a body has no mass, or can turn without moving any inertia.
        NameUnknownError, UsageError, DuplicateNameError
            If a joint of `joints` does not exist or does not move; if the name of an added joint or
            part of a body is taken.
        """
        return self.assemble_parts(Parts.of(mechanism).snapshot())

    def relative(self) -> RelativeCoordinates:
        """Return the strategy with coordinates of joints in place of those of bodies."""
        return RelativeCoordinates()

    def without_coordinates(self, joints: Collection[str]) -> Self:
        """Return the strategy for a mechanism in which some joints do not move any more."""
        return attrs.evolve(self, joints=[name for name in self.joints if name not in joints])

    def assemble_parts(self, whole: Parts, **options: Any) -> System:
        """Return the equations of motion of the parts of a mechanism; see `assemble`."""
        bodies, division, topology = self.divided(whole)
        bodies.check(division, topology)
        return Assembly(
            division, topology, self.representation, "joint", self.length, coordinates=self,
            **options,
        ).system()  # fmt: skip

    def divided(self, whole: Parts) -> tuple[FreeBodies, Division, Topology]:
        """Return how bodies and joints are made from those of a mechanism, and their tree.

        Parameters
        ----------
        whole : Parts
            Of the mechanism.

        Returns
        -------
        FreeBodies
            Free bodies, joints that keep their coordinates, and inertia transfers.
        Division
            The bodies and joints that it makes of those of the mechanism.
        Topology
            Of these. Whether they have inertia is not looked at.
        """
        _check_connected(whole)
        bodies = FreeBodies.of(whole, self.free_joint, self._kept(whole))
        division = bodies.divide(whole)
        return bodies, division, free_topology(division.parts, bodies)

    def _kept(self, parts: Parts) -> dict[str, str]:
        """Return the joints that keep their coordinates, and why, in the order of adding."""
        asked = dict.fromkeys(self.joints, "coordinates are asked of it")
        for name in asked:
            if name not in parts.joints:
                raise NameUnknownError(
                    f"AbsoluteCoordinates: joint {name!r} is not in mechanism {parts.name!r}; "
                    f"{suggestion(name, parts.joints)}"
                )
            if parts.joints[name].joint.num_velocities == 0:
                raise UsageError(
                    f"AbsoluteCoordinates: joint {name!r} does not move, and has no coordinates; "
                    f"leave it out of joints."
                )
        held = why_held(parts)
        unnamed = dict.fromkeys(unnamed_joints(parts), "a force acts along all joints")
        reasons = {**asked, **unnamed, **held}
        return {
            name: reasons[name]
            for name, edge in parts.joints.items()
            if name in reasons and edge.joint.num_velocities
        }


def _check_connected(parts: Parts) -> None:
    """Raise TopologyError unless joints lead from the world to every body."""
    if sum(1 for _ in spanning_steps(parts.joints, (WORLD,))) < len(parts.bodies):
        check_connected(graph_of(parts))


def free_topology(parts: Parts, bodies: FreeBodies) -> Topology:
    """Return the tree of the parts that `FreeBodies` makes, in regular numbering, depth-first.

    Its joints are the free joints, fixed joints between bodies that move as one, and joints that
    keep their coordinates, with parts of split bodies on them; all others are loop joints. The cost
    is linear in bodies and joints.
    """
    children: dict[str, list[tuple[str, str]]] = {
        WORLD: [(name, root) for root, name in bodies.names.items()]
    }
    for joint, towards, body in bodies.groups.steps:
        children.setdefault(towards, []).append((joint, body))
    for each in bodies.hanging:
        edge = parts.joints[each.joint]
        towards = edge.predecessor if edge.successor == each.name else edge.successor
        children.setdefault(towards, []).append((each.joint, each.name))
    steps = list(_walk(children))
    in_tree = {joint for _, _, joint in steps}
    edges = {name: _edge(parts, name) for name in parts.joints}
    loops = [edge for name, edge in edges.items() if name not in in_tree]
    return numbered_tree(steps, edges, loops)


def _walk(children: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[tuple[str, str, str]]:
    """Give each body with its parent and the joint between, depth-first."""
    waiting = [(WORLD, *child) for child in reversed(children.get(WORLD, []))]
    while waiting:
        towards, joint, body = waiting.pop()
        yield towards, body, joint
        waiting += [(body, *child) for child in reversed(children.get(body, []))]


def _edge(parts: Parts, name: str) -> JointEdge:
    edge = parts.joints[name]
    joint = edge.joint
    return JointEdge(
        name, edge.predecessor, edge.successor, joint.num_velocities, joint.num_positions
    )
