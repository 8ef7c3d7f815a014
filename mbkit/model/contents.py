"""Contents of a mechanism by name: bodies, joints in their places, forces, constraints."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, final

import attrs
from numpy.typing import ArrayLike

from mbkit.constraints import Constraint
from mbkit.errors import (
    DuplicateNameError,
    NameUnknownError,
    UsageError,
    suggestion,
)
from mbkit.forces import Force
from mbkit.given_values import check_name
from mbkit.model.graph import graph_of
from mbkit.parts.body import Body, RigidBody
from mbkit.parts.connection import Connection
from mbkit.parts.parts import Parts
from mbkit.results.facts import as_html
from mbkit.shapes import Shape
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array, shown
from mbkit.topology import WORLD, BodyGraph, Topology, build_topology


@final
class JointSizes(Mapping[str, tuple[int, int]]):
    """Numbers of positions and of velocities of a mechanism's joints, by name."""

    def __init__(self, joints: Mapping[str, Connection]) -> None:
        self._joints = joints

    def __getitem__(self, name: str) -> tuple[int, int]:
        joint = self._joints[name].joint
        return joint.num_positions, joint.num_velocities

    def __iter__(self) -> Iterator[str]:
        return iter(self._joints)

    def __len__(self) -> int:
        return len(self._joints)


@final
class BodiesAndWorld(Mapping[str, Any]):
    """Bodies of a mechanism by name, the world first."""

    def __init__(self, bodies: Mapping[str, Body]) -> None:
        self._bodies = bodies

    def __getitem__(self, name: str) -> Body | None:
        return None if name == WORLD else self._bodies[name]

    def __iter__(self) -> Iterator[str]:
        yield WORLD
        yield from self._bodies

    def __len__(self) -> int:
        return 1 + len(self._bodies)


class Contents:
    """Names, bodies, joints, forces and constraints; see `Mechanism`, which adds to them."""

    def show(self: Any, q: ArrayLike | None = None, **options: Any) -> Any:
        """Show the mechanism on a live page, with a slider for each coordinate of a joint.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            The configuration at first, of the mechanism assembled in relative coordinates; by
            default the reference configuration.
        **options
            ``traces``, ``wrenches``, ``t_end``, ``host``, ``port`` and ``viewer``: see
            `mbkit.viz.show.show`.

        Returns
        -------
        LivePage
            Its `url` is to be opened in a browser on this machine; ``close()`` ends it.
        """
        from mbkit.viz.show import show

        return show(self.assemble(), q, **options)

    def __init__(
        self,
        name: str,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        *,
        world_shapes: Iterable[Shape] = (),
    ) -> None:
        check_name("Mechanism", name)
        self._name = name
        self.gravity = gravity
        self._world: Body = RigidBody(WORLD, shapes=world_shapes)
        self._bodies: dict[str, Body] = {}
        self._frames: dict[str, str] = {}  # the body of each
        self._joints: dict[str, Connection] = {}
        self._forces: dict[str, Force] = {}
        self._constraints: dict[str, Constraint] = {}
        self._graph = BodyGraph()

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self._name

    @property
    def gravity(self) -> FloatArray:
        """Acceleration of free fall in the world, shape (3,). [m/s^2]."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        given = frozen_array(value)
        check_array(given, (3,), f"Mechanism {self._name!r}: gravity")
        self._gravity = given

    @property
    def world(self) -> Body:
        """The inertial frame, which is body 0, with its shapes."""
        return self._world

    @property
    def bodies(self) -> Mapping[str, Body]:
        """Bodies by name, in the order of adding, without the world."""
        return MappingProxyType(self._bodies)

    @property
    def joints(self) -> Mapping[str, Connection]:
        """Joints in their places by name, in the order of adding."""
        return MappingProxyType(self._joints)

    @property
    def forces(self) -> Mapping[str, Force]:
        """Forces by name, in the order of adding."""
        return MappingProxyType(self._forces)

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """Constraints by name, in the order of adding, without the joints that close loops."""
        return MappingProxyType(self._constraints)

    def add_frame(self, body: Body | str, name: str, pose: ArrayLike) -> Body:
        """Add a frame to a body that is there, such as a tool on the hand of a loaded robot.

        Parameters
        ----------
        body : Body or str
            One of the mechanism's, not the world.
        name : str
            Of the frame: new among the frames and bodies.
        pose : array_like, shape (4, 4)
            Of the frame in the body's frame.

        Returns
        -------
        Body
            The body with the frame, which takes the place of the one before. Systems that were
            assembled already do not have it.

        Raises
        ------
        NameUnknownError, DuplicateNameError, ModelError
            If there is no such body, or the name is taken or does not fit.
        ShapeError, GeometryError, UsageError
            If `pose` is no pose, or `body` is not one of this mechanism.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("door")
        >>> door = mech.add_body(mb.Body("door", mb.SpatialInertia.sphere(2.0, radius=0.1)))
        >>> _ = mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, "door")
        >>> _ = mech.add_frame("door", "handle", mb.spatial.translation((0.9, 0, 1)))
        >>> mech.assemble().pose("handle", [0.0])[:3, 3]
        array([0.9, 0. , 1. ])
        """
        owner = self._name_of(body)
        check_name("Frame", name)
        if owner not in self._bodies:
            raise NameUnknownError(
                f"Mechanism {self._name!r}: no body {owner!r} to add a frame to; "
                f"{suggestion(owner, self._bodies)}"
            )
        old = self._bodies[owner]
        alone = Body(owner, frames={name: pose})
        self._check_frames(alone, (name,))
        fields: dict[str, Any] = {"frames": {**old.frames, name: alone.frames[name]}}
        new: Body = attrs.evolve(old, **fields)
        self._bodies[owner] = new
        self._frames[name] = owner
        return new

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
        >>> import mbkit as mb
        >>> mb.Mechanism("empty").graph().number_of_nodes()
        1
        """
        graph = self._graph.copy()
        for name in graph:
            graph.nodes[name]["body"] = self._body(name)
        for name, edge in self._joints.items():
            graph.edges[edge.predecessor, edge.successor, name]["joint"] = edge.joint
        return graph

    def _body(self, name: str) -> Body:
        return self._world if name == WORLD else self._bodies[name]

    def _check_frames(self, body: Body, names: Collection[str] | None = None) -> None:
        """Raise DuplicateNameError unless the frames of a new body, and it, have new names."""
        for name in (body.name, *body.frames) if names is None else names:
            if name in self._frames:
                owner = self._frames[name]
                raise DuplicateNameError(
                    f"Body {body.name!r}: there is a frame {name!r} on body {owner!r} of mechanism "
                    f"{self._name!r} already; choose another name."
                )
            if name != body.name and (name == WORLD or name in self._bodies):
                raise DuplicateNameError(
                    f"Body {body.name!r}: its frame {name!r} has the name of a body of mechanism "
                    f"{self._name!r}; choose another name."
                )

    def _name_of(self, body: Body | str) -> str:
        """Return the name of a body, which must be the mechanism's own if there is one such."""
        if isinstance(body, str):
            return body
        if not isinstance(body, Body):
            raise UsageError(f"A joint connects bodies or names of bodies, got {body!r}.")
        own = self._world if body.name == WORLD else self._bodies.get(body.name, body)
        if own is not body and own != body:
            raise UsageError(
                f"Body {body.name!r} is not the one that was added to mechanism {self._name!r}; "
                "use the body that add_body returned, or its name."
            )
        return body.name

    def _check_part(self, part: Any, check_names: Any, **taken: Collection[str]) -> None:
        """Raise unless the name of a force or constraint is new, and its parts are there."""
        what = f"mechanism {self._name!r}"
        for kind, names in taken.items():
            if part.name in names:
                raise DuplicateNameError(
                    f"There is a {kind} {part.name!r} in {what} already; choose another name."
                )
        check_names(part, what, JointSizes(self._joints), BodiesAndWorld(self._bodies))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same name, gravity, world and contents, in the same order."""
        if not isinstance(other, Contents):
            return NotImplemented
        return (
            self._name == other._name
            and shown(self._gravity) == shown(other._gravity)
            and self._world == other._world
            and list(self._bodies.values()) == list(other._bodies.values())
            and list(self._joints.values()) == list(other._joints.values())
            and list(self._forces.values()) == list(other._forces.values())
            and list(self._constraints.values()) == list(other._constraints.values())
        )

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __repr__(self) -> str:
        bodies, joints = len(self._bodies), len(self._joints)
        return (
            f"<Mechanism {self._name!r}: {bodies} {'body' if bodies == 1 else 'bodies'}, "
            f"{joints} joint{'' if joints == 1 else 's'}>"
        )

    def _repr_html_(self) -> str:
        facts = [(name, f"body, {body.inertia.mass:g} kg") for name, body in self._bodies.items()]
        facts += [
            (name, f"{type(each.joint).__name__}, {each.predecessor} to {each.successor}")
            for name, each in self._joints.items()
        ]
        parts = {**self._forces, **self._constraints}
        facts += [(name, type(part).__name__) for name, part in parts.items()]
        return as_html(f"Mechanism '{self._name}'", facts)
