"""Absolute coordinates: every body on a free joint, every joint a constraint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import attrs

from mbkit.coordinates.assembly import Assembly
from mbkit.coordinates.free_bodies import FreeBodies
from mbkit.coordinates.free_topology import free_topology
from mbkit.coordinates.rigid_groups import spanning_steps
from mbkit.coordinates.unnamed_joints import unnamed_joints
from mbkit.errors import NameUnknownError, UsageError, several, suggestion
from mbkit.joints import AbsoluteJoint, ScrewCoordinates, UnitQuaternion
from mbkit.joints.absolute import check_local, check_orientation, check_trivialised
from mbkit.joints.local_coordinates import LocalCoordinates
from mbkit.joints.orientations import Orientation
from mbkit.model.graph import graph_of, why_held
from mbkit.parts.parts import Parts
from mbkit.representations import Representation
from mbkit.spatial.arrays import frozen_number
from mbkit.systems import System
from mbkit.topology import WORLD, check_connected

if TYPE_CHECKING:
    from mbkit.coordinates.division import Division
    from mbkit.model import Mechanism
    from mbkit.topology import Topology

__all__ = ["AbsoluteCoordinates"]


def _names(joints: object) -> tuple[str, ...]:
    given: object = (joints,) if isinstance(joints, str) else joints
    names = tuple(given) if several(given) else (given,)
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

    Each body hangs on an `AbsoluteJoint` from the world, ``"BODY (free)"``, and all joints of the
    mechanism close loops: the same assembly as in `RelativeCoordinates`, with every joint cut.
    Bodies that joints without velocities fix to each other move as one, on the joint of the first
    of them that has mass. The representation of twists is that which the velocities are: body-fixed
    or mixed, with `trivialised` on the right spatial or hybrid, as it follows from the group of
    `local`.

    Joints that a force on joints, a coupling of joints or a function of time is about, and
    nonholonomic ones, keep their coordinates under their own names, with all turns: a part of the
    body on such a joint hangs on it, ``"BODY (cut at JOINT)"``, and is welded to the body by
    ``"BODY (weld at JOINT)"``. So may others (`joints`), to be prescribed a velocity, driven by
    `tau` or plotted.

    Attributes
    ----------
    orientation : UnitQuaternion, RotationVector or EulerAngles
        How orientations are written; of no consequence for the motion.
    local : ScrewCoordinates, RotationVectorPosition, RodriguesPosition, ExtendedRodrigues, ...
        Local coordinates of a step, with the map and the group that it is taken on.
    trivialised : {"left", "right"}
        Whether steps, and velocities, are in the axes of the bodies or of the world.
    length : float, optional
        By which moments are compared with forces in the constraints, as in `RelativeCoordinates`;
        the size of the mechanism if left out. [m]
    joints : sequence of str, keyword only
        Names of further joints that keep their coordinates.

    Raises
    ------
    UsageError
        If one of them is something else.

    Notes
    -----
    A body moves by itself, and so needs mass and moments of inertia about all axes. Where a thin
    rod has none about its own axis, and joints keep it from turning about that, its neighbours lend
    it some: docs/absolute-coordinates.md.

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
    length: float | None = attrs.field(
        default=None, converter=attrs.converters.optional(frozen_number)
    )
    joints: tuple[str, ...] = attrs.field(default=(), converter=_names, kw_only=True)

    @length.validator
    def _check_length(self, _attribute: object, length: object) -> None:
        if length is not None and not (isinstance(length, float) and 0 < length < math.inf):
            raise UsageError(
                f"AbsoluteCoordinates: length must be a positive number of metres, got {length!r}."
            )

    @property
    def representation(self) -> Representation:
        """Of twists: what the velocities of the bodies are."""
        return self.local.representation(self.trivialised)

    def free_joint(self, name: str) -> AbsoluteJoint:
        """Return the joint that a body hangs on."""
        return AbsoluteJoint(name, self.orientation, self.local, self.trivialised)

    def assemble(self, mechanism: Mechanism) -> System:
        """Return the equations of motion of a mechanism; it is not referred to afterwards.

        Parameters
        ----------
        mechanism : Mechanism
            Any, open or closed.

        Returns
        -------
        System
            The equations. Its reference configuration has the bodies where they stand with all
            joints neutral.

        Raises
        ------
        TopologyError
            If a body is not connected to the world.
        InertiaError
            If a body has no mass, or can turn without moving any inertia.
        NameUnknownError, UsageError, DuplicateNameError
            If there is no joint of a name, or it does not move; if a name that a joint or a part of
            a body would have is taken.
        """
        whole = Parts.of(mechanism)
        bodies, division, topology = self.divided(whole)
        bodies.check(division, topology)
        return Assembly(
            division, topology, self.representation, "joint", self.length, coordinates=self
        ).system()

    def divided(self, whole: Parts) -> tuple[FreeBodies, Division, Topology]:
        """Return how bodies and joints are made from those of a mechanism, and their tree.

        Parameters
        ----------
        whole : Parts
            Of the mechanism.

        Returns
        -------
        FreeBodies
            What is free, what keeps its coordinates, what borrows.
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
