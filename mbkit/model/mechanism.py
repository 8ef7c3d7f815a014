"""Mechanisms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast, final

import numpy as np
from numpy.typing import ArrayLike

from mbkit.constraints import Constraint, check_constraint_definition, check_constraint_names
from mbkit.errors import ShapeError, UsageError
from mbkit.forces import Force, LimitStop, check_force_definition, check_force_names
from mbkit.joints import Joint, PrescribedJoint, check_joint_definition
from mbkit.joints.prescribed.prescribed_joint import parted
from mbkit.model.contents import Contents
from mbkit.model.denavit_hartenberg import DenavitHartenbergRow, add_denavit_hartenberg
from mbkit.model.graph import add_edge
from mbkit.model.limit_stops import limit_stops
from mbkit.model.plain_data import to_toml
from mbkit.parts.angles import warn_of_degrees
from mbkit.parts.body import Body, check_body
from mbkit.parts.connection import Connection, joint_frames
from mbkit.parts.joint_data import JointFriction, JointLimits
from mbkit.parts.parts import Parts

if TYPE_CHECKING:
    from mbkit.model.coordinates import Coordinates
    from mbkit.systems import System

__all__ = ["Mechanism"]

JointType = TypeVar("JointType", bound=Joint | PrescribedJoint)
ForceType = TypeVar("ForceType", bound=Force)
ConstraintType = TypeVar("ConstraintType", bound=Constraint)


@final
class Mechanism(Contents):
    """A mechanism: bodies and the joints between them, as they are defined.

    It grows by `add_body`, `add_joint`, `add_force` and `add_constraint` and is assembled into a
    system of equations, which does not look back: later additions are in the next system.

    Parameters
    ----------
    name : str
        For messages, files and titles.
    gravity : array_like, shape (3,), default (0, 0, -9.81)
        In the world. [m/s^2]
    world_shapes : iterable of Shape, default none, keyword only
        Shapes of the world in pictures, such as a floor.

    Raises
    ------
    ModelError, ShapeError, GeometryError, UsageError
        If the name does not fit, gravity is not a finite vector of three, or a shape is none.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> inertia = mb.SpatialInertia.from_com(mass=1.0, com=(0.5, 0, 0))
    >>> rod = mech.add_body(mb.Body("rod", inertia))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    >>> mech
    <Mechanism 'pendulum': 1 body, 1 joint>
    >>> mech.joints["hinge"].successor
    'rod'
    """

    @classmethod
    def from_denavit_hartenberg(
        cls,
        name: str,
        rows: Iterable[DenavitHartenbergRow],
        *,
        convention: str,
        base: ArrayLike | None = None,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
    ) -> Mechanism:
        """Return a serial arm given by its Denavit-Hartenberg parameters.

        Parameters
        ----------
        name : str
            Of the mechanism.
        rows : iterable of DenavitHartenbergRow
            From the base to the tip.
        convention : {"standard", "modified"}
            The convention of their numbers: see `DenavitHartenbergRow`.
        base : array_like, shape (4, 4), default the identity
            Pose of frame 0 in the world.
        gravity : array_like, shape (3,)
            In the world. [m/s^2]

        Returns
        -------
        Mechanism
            The frames of its bodies are those of the convention.

        Raises
        ------
        UsageError
            If the convention is neither of the two, or a row is none.
        ShapeError, GeometryError
            If `base` is no pose.

        Examples
        --------
        >>> rows = [DenavitHartenbergRow(a=0.5), DenavitHartenbergRow(a=0.25)]
        >>> Mechanism.from_denavit_hartenberg("arm", rows, convention="standard")
        <Mechanism 'arm': 2 bodies, 2 joints>
        """
        mech = cls(name, gravity)
        add_denavit_hartenberg(mech, rows, convention, np.eye(4) if base is None else base)
        return mech

    def add_body(self, body: Body) -> Body:
        """Add a body.

        Parameters
        ----------
        body : Body
            Its name must be new.

        Returns
        -------
        Body
            The same.

        Raises
        ------
        DuplicateNameError
            If there is a body or frame of that name, or of that of one of its frames; "world" is
            taken.
        UsageError, ShapeError
            If a class of your own computes no inertia, or shapes that are none, or is no attrs
            class.

        Examples
        --------
        >>> mech = Mechanism("empty")
        >>> rod = mech.add_body(Body("rod"))
        >>> list(mech.bodies)
        ['rod']
        """
        if not isinstance(body, Body):
            raise ShapeError(f"A body must be an mbkit.Body, got {body!r}.")
        check_body(body)
        self._check_frames(body)
        self._graph.add_body(body.name)
        self._bodies[body.name] = body
        self._frames.update(dict.fromkeys(body.frames, body.name))
        return body

    def add_joint(
        self,
        joint: JointType,
        predecessor: Body | str,
        successor: Body | str,
        *,
        frames: Sequence[ArrayLike] | None = None,
        reference: ArrayLike | None = None,
        screws_in: str = "successor",
        limits: JointLimits | None = None,
        friction: JointFriction | None = None,
    ) -> JointType:
        """Connect two bodies by a joint.

        The joint's axes and points are given in the joint frame (`frames`), in the frame of one of
        the bodies (`reference`), or, with neither, in the world, where each body stands at its
        `Body.pose`. A `FreeJoint` or an `AbsoluteJoint` has no axes: with neither, its frames are
        those of the bodies, and its position at the reference configuration is `Body.pose`.

        Parameters
        ----------
        joint : Joint or PrescribedJoint
            Its name must be new. `Joint.prescribe` returns a joint whose motion is a
            function of time.
        predecessor, successor : Body or str
            Two different bodies; the position of the joint is that of the successor relative to
            the predecessor.
        frames : pair of array_like, shape (4, 4), optional
            Poses (S_pred, S_succ) of the joint frame in the two bodies' frames; a third one is the
            pose T of the joint at the reference configuration, the identity if left out.
        reference : array_like, shape (4, 4), optional
            Pose of the successor in the predecessor where the joint's pose is the identity.
        screws_in : {"successor", "predecessor"}
            With `reference`: the body in whose frame the joint's axes are given.
        limits : JointLimits, optional
            Of the joint's positions, velocities and efforts: data that no equation has.
        friction : JointFriction, optional
            Damping and friction of the joint: data, likewise.

        Returns
        -------
        Joint
            The same.

        Raises
        ------
        NameUnknownError, DuplicateNameError, TopologyError
            If a body is unknown, the joint's name is taken, or both bodies are the same.
        JointError
            If the joint's definition is wrong (`mbkit.joints.check_joint_definition`).
        UsageError, ShapeError, GeometryError
            If the description of its place is contradictory, a pose is none, or limits or friction
            have another number of entries than the joint.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("door")
        >>> door = mech.add_body(mb.Body("door"))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", point=(1, 0, 0)), "world", "door")
        >>> float(mech.joints["hinge"].joint.screw[4])
        -1.0
        """
        own, motion = parted(joint)
        check_joint_definition(own)
        names = self._name_of(predecessor), self._name_of(successor)
        self._graph.check_joint(own.name, *names)
        bodies = map(self._body, names)
        S_pred, S_succ, T = joint_frames(
            own, *bodies, frames=frames, reference=reference, screws_in=screws_in
        )
        connection = Connection(own, *names, S_pred, S_succ, limits, friction, motion, T)
        warn_of_degrees(own, connection.limits.of_positions(own).flat, "A limit")
        add_edge(self._graph, connection)
        self._joints[own.name] = connection
        return joint

    def add_force(self, force: ForceType) -> ForceType:
        """Add a force, which simulations apply; see `mbkit.Force`.

        Parameters
        ----------
        force : Force
            Its name must be new among forces, the joints and bodies that it names must be there.

        Returns
        -------
        Force
            The same.

        Raises
        ------
        DuplicateNameError, NameUnknownError, ForceError
            If the name is taken, a joint or body is unknown, or its definition is wrong.

        Examples
        --------
        See `mbkit.JointSpring`.
        """
        check_force_definition(force)
        self._check_part(force, check_force_names, force=self._forces)
        self._forces[force.name] = force
        return force

    def add_constraint(self, constraint: ConstraintType) -> ConstraintType:
        """Add a constraint, which the system keeps; see `mbkit.Constraint`.

        Parameters
        ----------
        constraint : Constraint
            Its name must be new among constraints and joints, the joints and bodies that it names
            must be there.

        Returns
        -------
        Constraint
            The same.

        Raises
        ------
        DuplicateNameError, NameUnknownError, ConstraintError
            If the name is taken, a joint or body is unknown, or its definition is wrong.
        """
        check_constraint_definition(constraint)
        names, joints = self._constraints, self._joints
        self._check_part(constraint, check_constraint_names, constraint=names, joint=joints)
        self._constraints[constraint.name] = constraint
        return constraint

    def add_limit_stops(
        self,
        *,
        joints: Iterable[str] | None = None,
        stiffness: float | None = None,
        damping: float = 1.0,
    ) -> tuple[LimitStop, ...]:
        """Add elastic stops at the limits of joints, which are data without them.

        Parameters
        ----------
        joints : iterable of str, optional
            Names of joints with limits of positions; by default all that have such, no `LimitStop`
            and no prescribed motion.
        stiffness : float, optional
            Of all stops; by default of each such that the mechanism, with the other joints free,
            swings on it 25 times in a second, so that steps of a millisecond follow it.
            [N m/rad], [N/m]
        damping : float
            Of each `LimitStop`. [s/rad], [s/m]

        Returns
        -------
        tuple of LimitStop
            The forces that were added, ``"limits of JOINT"``.

        Raises
        ------
        NameUnknownError, DuplicateNameError, UsageError
            If there is no such joint, it has no limits, or different ones for its positions; if a
            force has the name; if `stiffness` is no positive number, or a joint moves no inertia.
        ForceError, GeometryError
            If `damping` is negative or no number.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("door")
        >>> door = mech.add_body(mb.Body("door", mb.SpatialInertia.box(20.0, size=(1, 0.04, 2))))
        >>> hinge = mb.RevoluteJoint("hinge", point=(0.5, 0, 0))
        >>> _ = mech.add_joint(hinge, mech.world, door, limits=mb.JointLimits(0.0, 1.5))
        >>> (stop,) = mech.add_limit_stops()
        >>> stop.name, stop.lower, stop.upper
        ('limits of hinge', 0.0, 1.5)
        """
        from mbkit.coordinates import RelativeCoordinates

        assemble = RelativeCoordinates().assemble_parts
        stops = limit_stops(Parts.of(self), joints, stiffness, damping, assemble)
        for stop in stops:
            self._check_part(stop, check_force_names, force=self._forces)
        for stop in stops:
            self._forces[stop.name] = stop
        return stops

    def assemble(self, coordinates: Coordinates | None = None) -> System:
        """Return the equations of motion.

        Parameters
        ----------
        coordinates : RelativeCoordinates or AbsoluteCoordinates, optional
            The strategy; default ``mbkit.RelativeCoordinates()``.

        Returns
        -------
        System
            It does not look back at the mechanism.

        Raises
        ------
        TopologyError
            If a body is not connected.
        InertiaError
            If a motion at the end of a branch has no inertia.
        UsageError
            If `coordinates` are no strategy; its class alone is none.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("ball")
        >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> free = mech.add_joint(mb.FreeJoint("free"), mech.world, ball)
        >>> mech.assemble().nv
        6
        """
        from mbkit.coordinates import RelativeCoordinates

        chosen: Any = RelativeCoordinates() if coordinates is None else coordinates
        if isinstance(chosen, type) or not callable(getattr(chosen, "assemble", None)):
            wanted = "is assembled in coordinates, such as mbkit.RelativeCoordinates(), got"
            raise UsageError(f"Mechanism {self._name!r} {wanted} {coordinates!r}.")
        return cast("System", chosen.assemble(self))

    def to_toml(self) -> str:
        """Return the text of a model file; see `mbkit.model.to_toml`.

        Returns
        -------
        str
            TOML.

        Examples
        --------
        >>> print(Mechanism("empty", gravity=(0, 0, 0)).to_toml())
        mbkit_model = 1
        name = "empty"
        gravity = [0.0, 0.0, 0.0]
        <BLANKLINE>
        """
        return to_toml(self)
