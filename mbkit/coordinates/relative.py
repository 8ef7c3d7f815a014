"""Relative coordinates: one set of coordinates for each joint of the spanning tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs
import numpy as np

from mbkit.coordinates.body_frames import BODY_FRAMES
from mbkit.coordinates.rows import assemble_rows
from mbkit.errors import TopologyError, UsageError
from mbkit.representations import BodyFixed, Representation
from mbkit.systems import System
from mbkit.systems.arguments import Arguments
from mbkit.systems.body_tree import BodyTree
from mbkit.systems.evaluator import Evaluator
from mbkit.systems.forces import force_arrays
from mbkit.systems.kinematics import Floats

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.model import Mechanism
    from mbkit.systems.arrays import SystemArrays
    from mbkit.topology import Topology

__all__ = ["RelativeCoordinates"]


@final
@attrs.frozen
class RelativeCoordinates:
    """Joint coordinates on a tree: as few as the mechanism has degrees of freedom.

    Attributes
    ----------
    representation : Representation
        In which twists are written and the recursions run.
    body_frames : {"joint", "user", "com", "world"}
        In which frames of the bodies the recursions run inside. It changes no result but for
        rounding: poses, twists, Jacobians, accelerations and wrenches are those of the user's
        frames, and q, v, tau and the mass matrix know of no frames.

        - "joint": the frame of the body's joint, with a screw along its z axis; the fastest.
        - "user": the frame of the user's body on the joint.
        - "com": in the centre of mass of all that is fixed to the body, with the axes of "user";
          a body without mass has the frame of its joint.
        - "world": the frame that is the world's in the reference configuration, so that a joint's
          screw in its body is its screw in the world.

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

    @representation.validator
    def _check_representation(self, _attribute: object, representation: object) -> None:
        if not isinstance(representation, Representation):
            raise UsageError(
                f"RelativeCoordinates: representation must be an mbkit.Representation, got "
                f"{representation!r}; for example mbkit.BodyFixed()."
            )

    @body_frames.validator
    def _check_body_frames(self, _attribute: object, body_frames: object) -> None:
        if not isinstance(body_frames, str) or body_frames not in BODY_FRAMES:
            raise UsageError(
                "RelativeCoordinates: body_frames must be one of "
                f"{', '.join(map(repr, BODY_FRAMES))}, got {body_frames!r}."
            )

    def assemble(self, mechanism: Mechanism) -> System:
        """Return the equations of motion of a mechanism; it is not referred to afterwards.

        Parameters
        ----------
        mechanism : Mechanism
            A tree. Joints without velocities merge their bodies into one for computing; every
            body still answers by its name.

        Returns
        -------
        System
            The equations.

        Raises
        ------
        TopologyError
            If a body is not connected to the world, or joints close a loop.
        InertiaError
            If a motion at the end of a branch has no inertia.
        """
        from mbkit.model import check_inertias

        topology = mechanism.topology()
        _refuse_loops(mechanism, topology)
        check_inertias(mechanism, topology)
        joints = {name: edge.joint for name, edge in mechanism.joints.items()}
        positions = _slices({name: joint.num_positions for name, joint in joints.items()})
        velocities = _slices({name: joint.num_velocities for name, joint in joints.items()})
        forces = tuple(mechanism.forces.values())
        body_names = ("world", *mechanism.bodies)
        arrays = attrs.evolve(
            assemble_rows(mechanism, topology, positions, velocities, self.body_frames),
            forces=force_arrays(
                forces, f"mechanism {mechanism.name!r}", positions, velocities, body_names
            ),
        )
        nq = sum(joint.num_positions for joint in joints.values())
        nv = sum(joint.num_velocities for joint in joints.values())
        return System(
            name=mechanism.name,
            representation=self.representation,
            body_names=body_names,
            joint_names=tuple(joints),
            position_names=_names(positions),
            velocity_names=_names(velocities),
            position_units=tuple(
                unit for joint in joints.values() for unit in joint.position_units
            ),
            mass=float(sum(body.inertia.mass for body in mechanism.bodies.values())),
            gravity=mechanism.gravity,
            **_limits(mechanism),
            model_text=mechanism.to_toml(),
            reference=_reference(tuple(joints.values())),
            position_slices=positions,
            velocity_slices=velocities,
            tree=_tree(mechanism, topology, velocities, arrays),
            evaluator=Evaluator(
                arrays,
                self.representation,
                Arguments(nq, nv, len(mechanism.bodies), len(forces)),
            ),
        )


def _refuse_loops(mechanism: Mechanism, topology: Topology) -> None:
    if topology.loop_joints:
        closing = ", ".join(f"'{name}'" for name in topology.loop_joints)
        raise TopologyError(
            f"Mechanism '{mechanism.name}' has closed loops; relative coordinates need a tree. "
            f"Joints that close a loop: {closing}. Remove or cut them."
        )


def _tree(
    mechanism: Mechanism, topology: Topology, velocities: dict[str, slice], arrays: SystemArrays
) -> BodyTree:
    """Return who hangs on whom, the bodies in the order in which they were added."""
    edges = {
        child: (topology.bodies[parent], joint)
        for child, parent, joint in zip(
            topology.bodies[1:], topology.parent[1:], topology.joint_of_body[1:], strict=True
        )
    }
    return BodyTree.of({body: edges[body] for body in mechanism.bodies}, velocities, arrays)


def _limits(mechanism: Mechanism) -> dict[str, Floats]:
    """Return the limits of all joints, one row an entry of q or v."""
    edges = mechanism.joints.values()
    limits = {
        "position_limits": [np.zeros((0, 2)), *(e.limits.of_positions(e.joint) for e in edges)],
        "velocity_limits": [np.zeros(0), *(e.limits.of_velocities(e.joint) for e in edges)],
        "effort_limits": [np.zeros(0), *(e.limits.of_efforts(e.joint) for e in edges)],
    }
    arrays = {key: np.concatenate(rows) for key, rows in limits.items()}
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def _slices(counts: dict[str, int]) -> dict[str, slice]:
    """Return where each joint's entries stand, in the order of the joints."""
    slices = {}
    start = 0
    for name, count in counts.items():
        slices[name] = slice(start, start + count)
        start += count
    return slices


def _names(slices: dict[str, slice]) -> tuple[str, ...]:
    names: list[str] = []
    for name, entries in slices.items():
        count = entries.stop - entries.start
        names += [name] if count == 1 else [f"{name}[{k}]" for k in range(count)]
    return tuple(names)


def _reference(joints: tuple[Joint, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    reference = np.concatenate([np.zeros(0), *(joint.neutral() for joint in joints)])
    reference.flags.writeable = False
    return reference
