"""Assembly of a system from the parts of a mechanism and its spanning tree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import attrs
from numpy.typing import ArrayLike

from mbkit.coordinates.division import CutBodies, Division, DivisionRule
from mbkit.coordinates.force_joints import check_positions
from mbkit.coordinates.joint_entries import (
    entry_names,
    joint_motions,
    joint_places,
    limits,
    reference_positions,
)
from mbkit.coordinates.locking import locked, locked_positions
from mbkit.coordinates.loops import (
    characteristic_length,
    length_by,
    loop_closure,
    lower_axes,
    measured_frames,
)
from mbkit.coordinates.placement_joints import alone, computed_joint, loosened
from mbkit.coordinates.rows import Slices, assemble_rows, has_tips, with_other_inertias
from mbkit.errors import DuplicateNameError, NameUnknownError, suggestion
from mbkit.forces import Force, check_force_definition
from mbkit.model.graph import graph_of
from mbkit.model.parameters import change_no_frames, changed, parameters
from mbkit.model.plain_data import can_be_written, to_toml
from mbkit.parts.body import Body, RigidBody, with_inertia
from mbkit.parts.parts import Parts, snapshot
from mbkit.representations import Representation
from mbkit.shapes import Shape
from mbkit.solvers import ConstraintSolver
from mbkit.spatial import SpatialInertia
from mbkit.systems import System
from mbkit.systems.blueprint import BodyFrame, BodyInertias, InertiaTransfer, SplitBody
from mbkit.systems.calls.arguments import Arguments, Floats
from mbkit.systems.calls.compiling_messages import tell_of_compiling
from mbkit.systems.calls.evaluator import Evaluator
from mbkit.systems.memory.arrays import SystemArrays
from mbkit.systems.memory.body_tree import BodyTree
from mbkit.systems.memory.closure import ClosureArrays
from mbkit.systems.memory.forces import ForceArrays, force_arrays
from mbkit.topology import build_topology

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.systems.blueprint import ComputedJoint, JointPlace
    from mbkit.topology import Topology


@final
@attrs.frozen(eq=False)
class Assembly:
    """The data from which a system is made: its `Blueprint`."""

    # bodies, joints, forces and gravity of the mechanism, and those of the system
    division: Division
    topology: Topology  # the system's spanning tree and loop joints
    representation: Representation  # representation of twists in the recursions
    body_frames: str  # choice of the body frames of the recursions
    # length that scales moments of constraints against forces; by default the mechanism's size. [m]
    length: float | None = None
    coordinates: Any = None  # the strategy that made it
    # names of the forces added after assembly; the model text has those that a file can hold
    further: frozenset[str] = frozenset()
    # strategy for the multipliers of constraints; by default chosen by size and rank
    constraint_solver: ConstraintSolver | None = None
    lower: frozenset[str] | None = None  # loop joints whose frames are continued: `lower_axes`

    def __reduce__(self) -> tuple[Any, ...]:
        # views of dictionaries cannot be pickled
        parts = {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in attrs.asdict(self.parts, recurse=False).items()
        }
        fields = attrs.asdict(self, recurse=False)
        del fields["division"]
        return _unpickled, (self.division.rule, parts, fields)

    @property
    def parts(self) -> Parts:
        """Bodies and joints of the mechanism."""
        return self.division.whole

    @property
    def loop_joints(self) -> tuple[str, ...]:
        """Names of the joints that are not in the tree."""
        return self.topology.loop_joints

    def joint_places(self) -> Mapping[str, JointPlace]:
        """Return the places of all joints of the system, those that close loops included."""
        return joint_places(self.division.parts.joints)

    def inertias(self, values: Mapping[str, ArrayLike] | None = None) -> BodyInertias:
        """Return the inertias of the bodies of the system, with other numbers if there are any."""
        whole = self._divided(changed(self.parts, values)) if values else self
        bodies = whole.division.parts.bodies.values()
        every = SpatialInertia.zero(), *(body.inertia for body in bodies)
        names = ("mass", "com", "moment_about_com")
        return BodyInertias(*([getattr(each, name) for each in every] for name in names))

    def frames(self) -> Mapping[str, BodyFrame]:
        """Return the named frames on the bodies."""
        bodies = self.division.parts.bodies
        return MappingProxyType(
            {
                name: BodyFrame(body, pose)
                for body, each in bodies.items()
                for name, pose in each.frames.items()
            }
        )

    def shapes(self) -> tuple[tuple[int, Shape], ...]:
        """Return the shapes of the bodies, in colours that are theirs or those of the bodies."""
        return self.division.parts.shapes

    @property
    def split_bodies(self) -> Mapping[str, SplitBody]:
        """Split bodies of the system, by name."""
        return self.division.split_bodies

    @property
    def free_joints(self) -> tuple[str, ...]:
        """Added free joints between the world and the bodies."""
        return self.division.free_joints

    @property
    def inertia_transfers(self) -> Mapping[str, InertiaTransfer]:
        """Moments of inertia that bodies have for others, by the joint between."""
        return self.division.inertia_transfers

    @property
    def remedy(self) -> str:
        """How a joint that closes a loop gets coordinates, as the end of a sentence."""
        return self.division.rule.remedy

    def relative(self) -> System:
        """Return the system of the same parts in relative coordinates."""
        system: System = self.coordinates.relative().assemble_parts(self.parts)
        return system

    def text(self) -> str:
        """Return the text of a model file."""
        forces = {
            name: force
            for name, force in self.parts.forces.items()
            if name not in self.further or can_be_written(force)
        }
        return to_toml(attrs.evolve(self.parts, forces=forces))

    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters by name."""
        return MappingProxyType(parameters(self.parts))

    def with_forces(self, forces: tuple[Force, ...]) -> System:
        """Return the system with further forces."""
        joined = dict(self.parts.forces)
        for force in forces:
            check_force_definition(force)
            if force.name in joined:
                raise DuplicateNameError(f"There are two forces {force.name!r}; rename one.")
            joined[force.name] = snapshot(force)
        further = self.further.union(force.name for force in forces)
        other = self._divided(attrs.evolve(self.parts, forces=joined))
        return attrs.evolve(other, further=further).system()

    def without_forces(self, names: tuple[str, ...]) -> System:
        """Return the system without some forces."""
        left = dict(self.parts.forces)
        for name in names:
            if left.pop(name, None) is None:
                raise NameUnknownError(
                    f"System '{self.parts.name}' has no force {name!r}; {suggestion(name, left)}"
                )
        other = self._divided(attrs.evolve(self.parts, forces=left))
        return attrs.evolve(other, further=self.further - {*names}).system()

    def with_constraint_solver(self, solver: ConstraintSolver | None) -> System:
        """Return the system with another strategy for its constraints; by itself if None."""
        return attrs.evolve(self, constraint_solver=solver).system()

    def locked_positions(
        self, values: Mapping[str, Any]
    ) -> tuple[Mapping[str, Floats], tuple[str, ...]]:
        """Return where joints are locked, and the names of the constraints along them alone."""
        return locked_positions(self.parts, values)

    def locked(self, positions: Mapping[str, Floats]) -> System:
        """Return the system with fixed joints in place of some, by the same strategy."""
        parts = locked(self.parts, positions)
        coordinates = self.coordinates.without_coordinates(positions)
        system: System = coordinates.assemble_parts(
            parts, further=self.further & {*parts.forces}, constraint_solver=self.constraint_solver
        )
        return system

    def changed(self, values: Mapping[str, ArrayLike], system: System) -> System:
        """Return a system with other numbers; `system` is the one as it is.

        The spanning tree is kept; the rows of the kernels are computed anew, or those alone of
        bodies with another mass or moment where nothing else depends on these.
        """
        other = self._divided(changed(self.parts, values))
        bodies = {
            path.split(".", 1)[1].rpartition(".")[0] for path in values if path[:7] == "bodies."
        }
        rows = self._rows_with(system.arrays, other.division.parts, values, bodies)
        if bodies and (rows is None or has_tips(rows, other.division.parts, bodies)):
            other.division.rule.check(other.division, self.topology)
        if rows is None:
            return other.system(system.arrays.closure)
        slices = Slices.of(other._tree_joints)
        if any(other.parts.forces[n] is not each for n, each in self.parts.forces.items()):
            rows = attrs.evolve(rows, forces=other._forces(slices))
        if bodies and rows.closure:
            rows = attrs.evolve(rows, closure=other._closure(rows, slices, rows.closure))
        parts = other.division.parts
        return attrs.evolve(
            system,
            mass=parts.mass,
            gravity=parts.gravity,
            blueprint=other,
            evaluator=Evaluator(rows, self.representation, system.evaluator.arguments),
        )

    @property
    def bodies(self) -> Mapping[str, Body]:
        """The bodies of the mechanism as they were given."""
        return self.parts.bodies

    def with_inertias(
        self, inertias: Mapping[str, SpatialInertia], values: Mapping[str, ArrayLike]
    ) -> System:
        """Return the system with other numbers, some bodies having inertias that are given."""
        parts = changed(self.parts, values)
        given = {name: with_inertia(parts.bodies[name], each) for name, each in inertias.items()}
        bodies = {**parts.bodies, **given}
        return self._divided(attrs.evolve(parts, bodies=bodies)).system()

    def _rows_with(
        self,
        rows: SystemArrays,
        parts: Parts,
        values: Mapping[str, ArrayLike],
        bodies: Collection[str],
    ) -> SystemArrays | None:
        """Return the rows with other numbers; None where they are to be computed anew."""
        plain = isinstance(self.division.rule, CutBodies) and not self.division.rule.cuts
        plain &= all(isinstance(self.parts.bodies[name], RigidBody) for name in bodies)
        if not (plain and self.body_frames == "joint" and change_no_frames(values)):
            return None
        return with_other_inertias(rows, parts, self.topology, bodies, self.representation)

    def loosened(self, places: Sequence[tuple[str, str]]) -> tuple[System, tuple[str, ...]]:
        """Return the system with free joints at places of joints, and their names."""
        parts, names = loosened(self.parts, places)
        topology = build_topology(graph_of(parts), self.topology.loop_joints)
        division = CutBodies().divide(parts)
        other = attrs.evolve(self, division=division, topology=topology, length=self._length())
        return other.system(), names

    def joint(self, name: str) -> Joint:
        """Return a joint as it was made."""
        return self.division.parts.joints[name].joint

    def computed_joint(self, name: str) -> ComputedJoint:
        """Return a function that returns a joint as it is computed, and its frame."""
        return computed_joint(self.division.parts, self.topology, name)

    def joint_alone(self, joint: str) -> System:
        """Return a joint alone, with its parameters, between the world and one body."""
        division = CutBodies().divide(alone(self.parts, joint))
        topology = build_topology(graph_of(division.parts))
        return attrs.evolve(
            self, division=division, topology=topology, further=frozenset(), constraint_solver=None
        ).system()

    def with_length(self, length: float) -> System:
        """Return the system with another length, by which moments are scaled in constraints."""
        return attrs.evolve(self, length=length).system()

    def loop_frames_with(self, values: Mapping[str, ArrayLike]) -> tuple[Floats, Floats]:
        """Return the frames in which loop joints are measured, with other numbers, and the rest."""
        parts = self._divided(changed(self.parts, values)).division.parts
        return measured_frames(parts, self.topology.loop_joints, self.lower)

    def continued(self) -> Assembly:
        """Return the same, which keeps frames on axes continuous as these change."""
        lower = lower_axes(self.division.parts, self.topology.loop_joints)
        return self if self.lower is not None else attrs.evolve(self, lower=lower)

    def length_by(self, path: str) -> Callable[[ArrayLike], float] | None:
        """Return the length by which moments are scaled in constraints by a number, or None."""
        return length_by(self.parts, path) if self.length is None else None

    def _length(self) -> float:
        # the size is that of the mechanism, whatever was hung or cut
        return characteristic_length(self.parts) if self.length is None else self.length

    def _divided(self, parts: Parts) -> Assembly:
        """Return the assembly of the same bodies and joints with other forces or numbers."""
        return attrs.evolve(self, division=self.division.rule.divide(parts))

    def system(self, before: ClosureArrays | None = None) -> System:
        """Return the equations of motion; `before` has constraints that differ in numbers alone."""
        from mbkit.kernels.compiling.loading import load_alone

        load_alone()
        tell_of_compiling()
        parts, joints = self.division.parts, self._tree_joints
        slices = Slices.of(joints)
        arrays = self._arrays(slices, before)
        edges = {child: (parent, joint) for child, parent, joint, _ in self.topology.tree_edges}
        return System(
            name=parts.name,
            representation=self.representation,
            body_names=("world", *parts.bodies),
            joint_names=tuple(joints),
            position_names=entry_names(slices.positions),
            velocity_names=entry_names(slices.velocities),
            position_units=tuple(u for joint in joints.values() for u in joint.position_units),
            mass=parts.mass,
            gravity=parts.gravity,
            **limits([parts.joints[name] for name in joints]),
            blueprint=self,
            reference=reference_positions(
                {name: parts.joints[name] for name in joints},
                self.division.rule.reference(self.parts),
            ),
            position_slices=slices.positions,
            velocity_slices=slices.velocities,
            tangent_slices=slices.steps,
            tree=BodyTree.of(
                {body: edges[body] for body in parts.bodies}, slices.velocities, arrays
            ),
            motions=joint_motions({name: parts.joints[name] for name in joints}),
            evaluator=Evaluator(
                arrays,
                self.representation,
                Arguments(
                    *slices.totals,
                    len(parts.bodies),
                    len(parts.forces),
                    arrays.closure.num_rows,
                    arrays.closure.num_position_rows,
                    0 if arrays.closure.sites is None else len(arrays.closure.sites),
                ),
            ),
        )

    @property
    def _tree_joints(self) -> dict[str, Joint]:
        """The joints that have coordinates, by name."""
        loops = frozenset(self.topology.loop_joints)
        return {n: e.joint for n, e in self.division.parts.joints.items() if n not in loops}

    def _arrays(self, slices: Slices, before: ClosureArrays | None) -> SystemArrays:
        """Return the arrays of the kernels: the tree, forces, constraints."""
        parts = self.division.parts
        rows = assemble_rows(parts, self.topology, slices, self.body_frames, self.representation)
        check_positions(parts, self.topology.loop_joints)
        arrays = attrs.evolve(rows, forces=self._forces(slices))
        return attrs.evolve(arrays, closure=self._closure(arrays, slices, before))

    def _forces(self, slices: Slices) -> ForceArrays:
        """Return the table of forces."""
        parts = self.division.parts
        return force_arrays(
            tuple(parts.forces.values()),
            f"mechanism {parts.name!r}",
            slices.positions,
            slices.velocities,
            ("world", *parts.bodies),
            frozenset(self.topology.loop_joints),
            remedy=self.remedy,
            acting=self.division.rule.acting(self.parts),
        )

    def _closure(
        self, arrays: SystemArrays, slices: Slices, before: ClosureArrays | None
    ) -> ClosureArrays:
        """Return the arrays of the constraints of a tree."""
        given = self.division.parts, self.topology.loop_joints, arrays, self._length, slices
        return loop_closure(*given, solver=self.constraint_solver, lower=self.lower, before=before)


def _unpickled(rule: DivisionRule, parts: Mapping[str, Any], fields: Mapping[str, Any]) -> Assembly:
    whole: dict[str, Any] = {
        name: MappingProxyType(value) if isinstance(value, dict) else value
        for name, value in parts.items()
    }
    return Assembly(rule.divide(Parts(**whole)), **fields)
