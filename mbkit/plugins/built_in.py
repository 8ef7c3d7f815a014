"""The built-in plugin: everything of mbkit, registered in the way of any plugin.

File readers and commands stand above this package, in `mbkit.io.readers` and `mbkit.cli.built_in`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbkit import constraints, executors, forces, integrators, joints, parts
from mbkit.constraints import Constraint
from mbkit.executors import Executor
from mbkit.forces import Force
from mbkit.integrators import Integrator
from mbkit.joints import JOINT_TYPES, Joint
from mbkit.lie import SE3
from mbkit.parts import BODY_TYPES, Body
from mbkit.plugins.hookspecs import hookimpl
from mbkit.representations import REPRESENTATIONS, Representation
from mbkit.shapes import MeshShape
from mbkit.spatial import SpatialInertia


@hookimpl
def mbkit_body_types() -> Mapping[str, type[Body]]:
    """Return the bodies of mbkit."""
    return BODY_TYPES


@hookimpl
def mbkit_joint_types() -> Mapping[str, type[Joint]]:
    """Return the joints of mbkit."""
    return JOINT_TYPES


@hookimpl
def mbkit_force_types() -> Mapping[str, type[Force]]:
    """Return the forces of mbkit."""
    return forces.FORCE_TYPES


@hookimpl
def mbkit_constraint_types() -> Mapping[str, type[Constraint]]:
    """Return the constraints of mbkit."""
    return constraints.CONSTRAINT_TYPES


@hookimpl
def mbkit_integrators() -> Mapping[str, type[Integrator]]:
    """Return the integrators of mbkit."""
    return integrators.INTEGRATORS


@hookimpl
def mbkit_representations() -> Mapping[str, Representation]:
    """Return the representations of mbkit."""
    return REPRESENTATIONS


@hookimpl
def mbkit_executors() -> Mapping[str, type[Executor]]:
    """Return the executors of mbkit."""
    return executors.EXECUTORS


@hookimpl
def mbkit_examples() -> list[Body | Joint | Force | Constraint]:
    """Return those that cannot be made by a name alone."""
    turn = np.linspace(0.0, 2.0 * np.pi, 13)
    return [
        *_bodies(),
        joints.ScrewJoint("screw", (0.2, 0.4, 0.9, 0.3, -0.1, 0.2)),
        joints.HelicalJoint("helical", axis=(1, 2, -1), point=(0.2, 0, 0.1), pitch=0.3),
        joints.HelicalPlanarJoint("helical planar", pitch=0.2),
        joints.CompositeJoint(
            "composite", joints.RevoluteJoint("hinge"), joints.UniversalJoint("cardan")
        ),
        forces.JointSpring("spring", "hinge", stiffness=7.0, rest=0.2),
        forces.JointDamper("damper", "hinge", damping=0.7),
        forces.DryFriction("friction", "hinge", friction=0.5, smoothing=0.3),
        forces.JointEffort("effort", "hinge", effort=1.5),
        forces.LimitStop("stop", "hinge", lower=-0.1, upper=0.1, stiffness=50.0, damping=0.4),
        forces.SpringDamper("tie", "world", "arm", stiffness=12.0, rest_length=0.4, damping=0.6),
        forces.Bushing(
            "bushing", "arm", "hand", stiffness=np.arange(1.0, 7.0), damping=np.full(6, 0.2)
        ),
        forces.BodyWrench("thrust", "hand", wrench=(1.0, 2.0, -1.0, 0.5, 0.3, 0.2), axes="body"),
        forces.UniformField("field", acceleration=np.array([1.0, -2.0, 3.0])),
        forces.Drag("drag", "hand", linear=0.4, quadratic=0.3),
        constraints.Distance("rod", "arm", "hand", length=0.5, point_a=np.array((0.1, 0.2, 0.3))),
        constraints.PointOnLine(
            "slot", "arm", "hand", axis=np.array((1, 2, 3)), point_b=np.array((0.1, 0.2, 0.3))
        ),
        constraints.PointOnPlane(
            "table", "arm", "hand", normal=np.array((1, 2, 3)), point_b=np.array((0.1, 0.2, 0.3))
        ),
        constraints.GearRatio("gears", "hinge", "wrist", ratio=-0.3, offset=0.2),
        constraints.PolynomialCoupling(
            "polynomial", "hinge", "wrist", coefficients=np.array((1.0, 0.3, -0.2))
        ),
        constraints.Cam(
            "cam", "hinge", "wrist", positions=turn, lift=1 - np.cos(turn), periodic=True
        ),
        constraints.JointCoupling("coupling", "hinge", "wrist", np.sin),
        constraints.RollingSphere("ball", "world", "hand", radius=0.3, normal=np.array((1, 2, 3))),
        constraints.RollingDisc("wheel", "arm", "hand", radius=0.3, axis=np.array((1, 2, 3))),
        constraints.PrescribedPoint(
            "path", "hand", lambda t: [np.sin(t), t, 1.0], point=np.array((0.1, 0.2, 0.3))
        ),
        constraints.PrescribedPose(
            "pan", "hand", lambda t: SE3.exp(np.array([t, 0.1, 0.2, t, 0, 0]))
        ),
    ]


def _bodies() -> list[Body]:
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    return [
        parts.RigidBody("rigid", SpatialInertia.box(2.0, size=(0.1, 0.2, 0.3))),
        parts.Rod("rod", 0.4, 0.01, density=2700.0, axis=(1, 2, -1), start=(0.1, 0.2, 0.3)),
        parts.Box("box", (0.1, 0.2, 0.3), mass=2.0),
        parts.Cylinder("cylinder", 0.1, 0.3, density=7850.0),
        parts.Sphere("sphere", 0.1, mass=0.5),
        parts.PointMass("point mass", 2.0, position=(0.1, 0.2, 0.3)),
        parts.MeshBody(
            "wedge", MeshShape(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]), mass=2.0
        ),
    ]
