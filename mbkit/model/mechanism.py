"""Mechanisms."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast, final

import numpy as np
from numpy.typing import ArrayLike

from mbkit.constraints import Constraint, check_constraint_definition, check_constraint_names
from mbkit.errors import ShapeError, UsageError
from mbkit.forces import Force, check_force_definition, check_force_names
from mbkit.joints import Joint, PrescribedJoint, check_joint_definition
from mbkit.joints.prescribed import parted
from mbkit.model.contents import Contents
from mbkit.model.denavit_hartenberg import DenavitHartenbergRow, add_denavit_hartenberg
from mbkit.model.graph import add_edge, graph_of
from mbkit.parts.body import Body
from mbkit.parts.connection import Connection, joint_frames
from mbkit.parts.joint_data import JointFriction, JointLimits
from mbkit.parts.parts import Parts
from mbkit.topology import Topology, build_topology

if TYPE_CHECKING:
    from mbkit.model.strategy import Coordinates
    from mbkit.systems import System

__all__ = ["Mechanism"]

JointType = TypeVar("JointType", bound=Joint | PrescribedJoint)
ForceType = TypeVar("ForceType", bound=Force)
ConstraintType = TypeVar("ConstraintType", bound=Constraint)


@final
class Mechanism(Contents):
    """Bodies and the joints between them: what is built, before anything is computed.

    It grows by `add_body`, `add_joint`, `add_force` and `add_constraint` and is assembled into a
    system of equations, which does not look back: what is added afterwards is in the next system.

    Parameters
    ----------
    name : str
        For messages, files and titles.
    gravity : array_like, shape (3,), default (0, 0, -9.81)
        In the world. [m/s^2]

    Raises
    ------
    ModelError, ShapeError, GeometryError
        If the name does not fit, or gravity is not a finite vector of three.

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
            What their numbers mean: see `DenavitHartenbergRow`.
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
            If there is a body of that name; "world" is taken.

        Examples
        --------
        >>> mech = Mechanism("empty")
        >>> rod = mech.add_body(Body("rod"))
        >>> list(mech.bodies)
        ['rod']
        """
        if not isinstance(body, Body):
            raise ShapeError(f"A body must be an mbkit.Body, got {body!r}.")
        self._graph.add_body(body.name)
        self._bodies[body.name] = body
        return body

    def add_joint(
        self,
        joint: JointType,
        predecessor: Body | str,
        successor: Body | str,
        *,
        frames: tuple[ArrayLike, ArrayLike] | None = None,
        reference: ArrayLike | None = None,
        screws_in: str = "successor",
        limits: JointLimits | None = None,
        friction: JointFriction | None = None,
    ) -> JointType:
        """Connect two bodies by a joint.

        The joint's axes and points are given in the joint frame (`frames`), in the frame of one of
        the bodies (`reference`), or, with neither, in the world, where each body stands at its
        `Body.pose`.

        Parameters
        ----------
        joint : Joint or PrescribedJoint
            Its name must be new. What `Joint.prescribe` returns is a joint whose motion is a
            function of time.
        predecessor, successor : Body or str
            Two different bodies; the position of the joint is that of the successor relative to
            the predecessor.
        frames : pair of array_like, shape (4, 4), optional
            Poses (S_pred, S_succ) of the joint frame in the two bodies' frames.
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
        pair = joint_frames(own, *bodies, frames=frames, reference=reference, screws_in=screws_in)
        connection = Connection(own, *names, *pair, limits, friction, motion)
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

    def topology(self, loop_joints: Collection[str] | None = None) -> Topology:
        """Return a spanning tree of the bodies, and the joints that close loops.

        Bodies and joints keep the directions that they were given; where the tree goes through a
        joint from its successor, `Topology.reversed` says so.

        Parameters
        ----------
        loop_joints : collection of str, optional
            Joints to be left out of the tree, one for each loop. Without it, those are chosen that
            give the fewest constraint rows, then the shallowest tree, then those added last:
            `mbkit.topology.build_topology` has the rule in full, and `Topology.cuts` lists the
            alternatives.

        Returns
        -------
        Topology
            Bodies in regular numbering.

        Raises
        ------
        TopologyError
            If bodies are not connected to the world; if loops are left, or bodies are lost, with
            the loop joints cut; if one of them must stay in the tree, because its motion is
            prescribed, it is nonholonomic, or a force or constraint acts along it, or all must.
        NameUnknownError
            If a loop joint is unknown.
        UsageError
            If `loop_joints` is a name, not a collection of names.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("swing")
        >>> seat = mech.add_body(mb.Body("seat"))
        >>> left = mech.add_joint(mb.SphericalJoint("left"), mech.world, seat)
        >>> right = mech.add_joint(mb.RevoluteJoint("right"), mech.world, seat)
        >>> mech.topology().tree_joints  # cutting the ball joint costs 3 rows, not 5
        ('right',)
        >>> mech.topology(loop_joints=["right"]).cycles
        (('right', 'left'),)
        """
        return build_topology(graph_of(Parts.of(self)), loop_joints)

    def graph(self) -> Any:
        """Return the graph of bodies and joints as a `networkx.MultiDiGraph`.

        Returns
        -------
        networkx.MultiDiGraph
            A copy. Nodes are names of bodies, with the attribute ``body``; edges go from
            predecessor to successor, with the joint's name as key and the attribute ``joint``.

        Examples
        --------
        >>> Mechanism("empty").graph().number_of_nodes()
        1
        """
        graph = self._graph.copy()
        for name in graph:
            graph.nodes[name]["body"] = self._body(name)
        for name, edge in self._joints.items():
            graph.edges[edge.predecessor, edge.successor, name]["joint"] = edge.joint
        return graph

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
        from mbkit.model.document import to_toml

        return to_toml(self)
