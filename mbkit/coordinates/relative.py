"""Relative coordinates: one set of coordinates for each joint of the spanning tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self, final

import attrs

from mbkit.coordinates.assembly import Assembly
from mbkit.coordinates.body_frames import BODY_FRAMES
from mbkit.coordinates.cut_bodies import all_cuts, check_cuts
from mbkit.coordinates.division import CutBodies
from mbkit.coordinates.spanning_trees import spanning_tree
from mbkit.errors import UsageError
from mbkit.given_values import as_list, as_number, positive_number
from mbkit.parts.parts import Parts
from mbkit.representations import BodyFixed, Representation
from mbkit.representations.conversions import check_representation
from mbkit.systems import System

if TYPE_CHECKING:
    from mbkit.coordinates.cut_bodies import Cut
    from mbkit.model import Mechanism


def _names(loop_joints: Iterable[str] | None) -> tuple[str, ...] | None:
    if loop_joints is None:
        return None
    names = as_list(loop_joints)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"RelativeCoordinates: loop_joints must be names of joints, got {loop_joints!r}; for "
            "example ['hinge']."
        )
    return tuple(names)


@final
@attrs.frozen
class RelativeCoordinates:
    """Joint coordinates on a tree: as few as the mechanism has degrees of freedom.

    Attributes
    ----------
    representation : Representation
        Representation of twists in the recursions.
    body_frames : {"joint", "user", "com", "world"}
        Body frames of the recursions. The choice changes results by rounding only: poses, twists,
        Jacobians, accelerations and wrenches are those of the user's frames, and q, v, tau and the
        mass matrix do not depend on frames.

        - "joint": the frame of the body's joint, with a screw along its z axis; the fastest.
        - "user": the frame of the user's body on the joint.
        - "com": in the centre of mass of the body and all bodies fixed to it, with the axes of
          "user"; a body without mass has the frame of its joint.
        - "world": the frame that is the world's in the reference configuration, so that a joint's
          screw in its body is its screw in the world.
    loop_joints : sequence of str, optional
        Joints that close loops as constraints; by default those of `Mechanism.topology`, or, if
        these leave a motion without inertia, the best of `Topology.cuts` that does not.
    cut_bodies : mapping of str to str, sequence of str or BodyCut
        Bodies that are split into two parts, connected by a weld of six constraints, and the joints
        on the second part. Loops of prescribed and nonholonomic joints alone are always opened in a
        body.
    length : float, optional
        Length that scales moments against forces in the constraints, so that neither rank nor
        minimum norm depends on units; by default the size of the mechanism. [m]

    Notes
    -----
    The choices are those of Mueller 2018 ("Screw and Lie group theory in multibody dynamics",
    Multibody Syst. Dyn. 42), section 4.4.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("top")
    >>> body = mech.add_body(mb.Body("body", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> joint = mech.add_joint(mb.SphericalJoint("tip"), mech.world, body)
    >>> mech.assemble(mb.RelativeCoordinates())
    <System 'top': 1 bodies, nq=4, nv=3, body_fixed>
    >>> mech.assemble(mb.RelativeCoordinates(body_frames="com")).arrays.bodies["first_moment"][1]
    array([0., 0., 0.])
    """

    representation: Representation = attrs.field(factory=BodyFixed)
    body_frames: str = attrs.field(default="joint")
    loop_joints: tuple[str, ...] | None = attrs.field(default=None, converter=_names)
    cut_bodies: Mapping[str, Cut] = attrs.field(factory=dict)
    length: float | None = attrs.field(default=None, converter=attrs.converters.optional(as_number))

    @length.validator
    def _check_length(self, _attribute: object, length: object) -> None:
        if length is not None:
            positive_number("RelativeCoordinates: length", length, unit="metres")

    @cut_bodies.validator
    def _check_cut_bodies(self, _attribute: object, cuts: object) -> None:
        check_cuts(cuts)

    @representation.validator
    def _check_representation(self, _attribute: object, representation: object) -> None:
        check_representation(representation, "RelativeCoordinates: representation")

    @body_frames.validator
    def _check_body_frames(self, _attribute: object, body_frames: object) -> None:
        if not isinstance(body_frames, str) or body_frames not in BODY_FRAMES:
            raise UsageError(
                "RelativeCoordinates: body_frames must be one of "
                f"{', '.join(map(repr, BODY_FRAMES))}, got {body_frames!r}."
            )

    def assemble(self, mechanism: Mechanism) -> System:
        """Return the equations of motion of a mechanism, without a reference to it.

        Parameters
        ----------
        mechanism : Mechanism
            The mechanism; its loops are cut at `loop_joints`. Bodies connected by fixed joints are
            merged for the computation; results are still by the name of each body.

        Returns
        -------
        System
            The equations.

        Raises
        ------
        TopologyError
            If a body is not connected to the world, or the loop joints leave no tree.
        InertiaError
            If a motion at the end of a branch has no inertia, also with the 20 best cuts if
            `loop_joints` is left out.
        """
        return self.assemble_parts(Parts.of(mechanism).snapshot())

    def relative(self) -> RelativeCoordinates:
        """Return the strategy itself: its coordinates are those of joints."""
        return self

    def without_coordinates(self, joints: Collection[str]) -> Self:
        """Return the strategy for a mechanism in which some joints do not move any more."""
        return self

    def assemble_parts(self, whole: Parts, **options: Any) -> System:
        """Return the equations of motion of the parts of a mechanism; see `assemble`."""
        cuts = all_cuts(whole, self.cut_bodies)
        division = CutBodies(cuts).divide(whole)
        topology = spanning_tree(division.parts, cuts, self.loop_joints)
        return Assembly(
            division, topology, self.representation, self.body_frames, self.length,
            coordinates=self, **options,
        ).system()  # fmt: skip
