"""Motions under constraints on which integrators are measured."""

from __future__ import annotations

import functools
from typing import Any

import attrs
import numpy as np

from mbkit.coordinates import RelativeCoordinates
from mbkit.joints import (
    CompositeJoint,
    FreeJoint,
    Joint,
    RevoluteJoint,
    SphericalJoint,
    TranslationalJoint,
    UniversalJoint,
)
from mbkit.lie.arrays import pose
from mbkit.model import Body, Mechanism
from mbkit.spatial import SpatialInertia, translation
from mbkit.systems import System
from mbkit.testing.standard_problems import StandardProblem, rigid_body

__all__ = ["CONSTRAINED_PROBLEMS", "FAST_TOPS", "FAST_TOPS_ON_LOOPS"]


@attrs.frozen
class Top:
    """A heavy top, held at the origin."""

    mass: float  # [kg]
    com: tuple[float, float, float]  # centre of mass at the start. [m]
    # moments of inertia about it, by the axes of the world at the start. [kg m^2]
    principal: tuple[float, float, float]
    spin: tuple[float, float, float]  # angular velocity at the start. [rad/s]

    @property
    def body(self) -> Body:
        """The body; its frame is at the tip."""
        return rigid_body("top", self.mass, self.com, self.principal)

    @property
    def rate(self) -> Any:
        """Velocity of the centre of mass at the start [m/s]."""
        return np.cross(self.spin, self.com)


#: Fully asymmetric, and slow; the top of `standard_problems.heavy_top`.
SLOW = Top(2.0, (0.2, 0.6, -0.1), (0.3, 0.5, 0.75), (1.0, 3.0, -2.0))

#: O. Bruels, A. Cardona, M. Arnold, "Lie group generalized-alpha time integration of constrained
#: flexible multibody systems", Mech. Mach. Theory 48 (2012) 121-137, section 5.1.
FAST = Top(15.0, (0.0, 1.0, 0.0), (0.234375, 0.46875, 0.234375), (0.0, 150.0, -4.61538))


def on_a_ball_joint(top: Top) -> System:
    """Return a top on a ball joint: SO(3), without constraints."""
    mech = Mechanism("heavy top", gravity=(0, 0, -9.81))
    body = mech.add_body(top.body)
    mech.add_joint(SphericalJoint("tip"), mech.world, body)
    return mech.assemble()


def _on_a_loop(top: Top, joint: Joint) -> System:
    """Return a top that moves by a joint at its centre of mass, and is held by a ball joint."""
    mech = Mechanism(f"heavy top on a {joint.name} joint", gravity=(0, 0, -9.81))
    body = mech.add_body(top.body)
    centre = translation(top.com)
    mech.add_joint(joint, mech.world, body, frames=(centre, centre))
    mech.add_joint(SphericalJoint("tip"), mech.world, body)
    return mech.assemble(RelativeCoordinates(loop_joints=["tip"]))


def on_a_free_joint(top: Top) -> System:
    """Return a top as a body on a free joint, SE(3), with a ball joint that closes a loop."""
    return _on_a_loop(top, FreeJoint("free"))


def shifted_and_turned(top: Top) -> System:
    """Return a top as a body that shifts and turns, R3 x SO(3), with a ball joint as a loop."""
    joint = CompositeJoint("composite", TranslationalJoint("shift"), SphericalJoint("turn"))
    return _on_a_loop(top, joint)


#: The four-bar in space: end of its crank, which turns about z at the origin; pivot of its rocker
#: with its axis; end of the rocker, in the plane normal to the axis. [m]
CRANK_END = np.array([0.3, 0.0, 0.0])
PIVOT, AXIS = np.array([1.0, -0.2, -0.2]), np.array([0.2, 1.5, -1.1])
ROCKER_END = PIVOT + np.array([0.05, 0.47, 0.65])


def spatial_four_bar() -> System:
    """Return crank, coupler and rocker in space, with one freedom and three rows.

    Crank and rocker turn about axes that are neither parallel nor meet; the coupler is on a
    universal joint at the rocker, and on a ball joint at the crank, which closes the loop.
    """
    mech = Mechanism("spatial four-bar", gravity=(0, 0, -9.81))
    along = ROCKER_END - CRANK_END
    crank = mech.add_body(_bar("crank", np.zeros(3), CRANK_END))
    rocker = mech.add_body(_bar("rocker", PIVOT, ROCKER_END))
    coupler = mech.add_body(_bar("coupler", CRANK_END, ROCKER_END))
    mech.add_joint(RevoluteJoint("motor"), mech.world, crank)
    mech.add_joint(RevoluteJoint("pivot", axis=AXIS, point=PIVOT), mech.world, rocker)
    aside = np.cross(AXIS, along)
    mech.add_joint(
        UniversalJoint("cross", AXIS, aside / np.linalg.norm(aside), ROCKER_END), rocker, coupler
    )
    mech.add_joint(SphericalJoint("ball", point=CRANK_END), crank, coupler)
    return mech.assemble(RelativeCoordinates(loop_joints=["ball"]))


def _bar(name: str, start: Any, end: Any) -> Body:
    """Return a rod of 2 kg/m and 6 cm between two points; its frame is in its middle."""
    length = float(np.linalg.norm(end - start))
    along = (end - start) / length
    aside = np.linalg.svd(along[None, :])[2][1]
    frame = pose(np.column_stack([along, aside, np.cross(along, aside)]), (start + end) / 2)
    return Body(name, SpatialInertia.box(2.0 * length, size=(length, 0.06, 0.06)), frame)


def _turned_by_the_crank(system: System) -> Any:
    return system.consistent_velocity({"motor": 5.0}, system.reference_configuration())


def _problem(name: str, make: Any, top: Top, end: float) -> StandardProblem:
    v = {
        on_a_ball_joint: (*top.spin,),
        on_a_free_joint: (*top.spin, *top.rate),
        shifted_and_turned: (*top.rate, *top.spin),
    }[make]
    steps = 16384 if top is FAST else 4096
    return StandardProblem(name, functools.partial(make, top), end, v, reference_steps=steps)


#: Loops on SE(3), on R3 x SO(3), and of joints with angles.
CONSTRAINED_PROBLEMS = (
    _problem("top on a free joint", on_a_free_joint, SLOW, 1.5),
    _problem("top on shifts and turns", shifted_and_turned, SLOW, 1.6),
    StandardProblem("spatial four-bar", spatial_four_bar, 1.2, _turned_by_the_crank),
)

#: Tops that spin with 150 rad/s want steps below 1 ms.
FAST_TOPS = (_problem("fast top", on_a_ball_joint, FAST, 0.5),)
FAST_TOPS_ON_LOOPS = (
    _problem("fast top on a free joint", on_a_free_joint, FAST, 0.5),
    _problem("fast top on shifts and turns", shifted_and_turned, FAST, 0.5),
)
