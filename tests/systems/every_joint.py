"""Systems around each joint, for laws of derivatives, Coriolis matrices and regressors.

Each decorator gives a test its cases, the function below it their system.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

import mbkit as mb
from tests.at_each import at_each
from tests.every_representation import in_turn
from tests.joints.pose_only import BallTwin, ProductTwin, ScrewTwin
from tests.reference.test_nonholonomic_joints import Skate, SkateByHand
from tests.reference.user_joints import BallJoint, CardanJoint, EllipseJoint
from tests.trees import (
    MAKERS,
    State,
    random_inertia,
    random_mechanism,
    random_pose,
    random_state,
)


def each_kind_in_all_frames(test: Any) -> Any:
    """Give a test each kind of joint, with a choice of body frames in turn, either way round."""
    frames = {each: each for each in ("joint", "com", "world", "user")}
    test = pytest.mark.parametrize(
        ("kind", "frames"), in_turn({kind: kind for kind in MAKERS}, frames)
    )(test)
    turned = pytest.mark.parametrize("turned", [0.0, 1.0], ids=["as set", "turned round"])
    return pytest.mark.some(2)(turned(test))


def with_kind_in_the_middle(
    rng: Generator, kind: str, frames: str, turned: float
) -> tuple[mb.System, State]:
    """Return a branched tree with the joint in its middle, and beyond itself, and a state."""
    mech = random_mechanism(rng, 5, (kind, "revolute", kind), turned_round=turned)
    system = mech.assemble(mb.RelativeCoordinates(body_frames=frames))
    return system, random_state(rng, system)


def each_hard_place(test: Any) -> Any:
    """Give a test each kind of joint where it is at rest, next to it, and half a turn from it."""
    angles = {angle: angle for angle in (0.0, 1e-8, np.pi - 1e-8, np.pi)}
    test = pytest.mark.parametrize("kind", MAKERS)(test)
    return pytest.mark.some(3)(at_each("angle", angles)(test))


def at_hard_place(rng: Generator, kind: str, angle: float) -> tuple[mb.System, Any]:
    """Return a tree, and its configuration at the end of a step of that length."""
    system = random_mechanism(rng, 3, (kind, "revolute")).assemble()
    direction = rng.normal(size=system.ndx)
    step = angle * direction / np.linalg.norm(direction)
    return system, system.retract(system.reference_configuration(), step)


#: Joints in Python. What is found out of a pose is kept with the joint: it takes up to a second.
CARDAN, ELLIPSE = CardanJoint("cardan"), EllipseJoint("ellipse", 1.0, 0.6)
OWN_BALL = BallJoint("own ball")
TWIN = BallTwin("twin", (0.4, -0.3, 0.8))
PRODUCT = ProductTwin("product", ScrewTwin("a", [1, 2, 0, 0, 0.3, 1]), EllipseJoint("b", 0.5, 0.7))
SKATE, SKATE_BY_HAND = Skate("skate"), SkateByHand("by hand")

OF_ONE_S_OWN = [
    CARDAN, ELLIPSE, OWN_BALL, TWIN, PRODUCT, SKATE, SKATE_BY_HAND,
    mb.AbsoluteJoint("mixed", mb.UnitQuaternion(), mb.RodriguesPosition()),
    mb.AbsoluteJoint("spatial", mb.RotationVector(), mb.DualRodrigues(), "right"),
    mb.AbsoluteJoint("hybrid", mb.EulerAngles(), mb.RotationVectorPosition(), "right"),
    mb.AbsoluteJoint("body-fixed", mb.EulerAngles("zxz"), mb.ExtendedRodrigues()),
]  # fmt: skip


def each_joint_of_one_s_own(test: Any) -> Any:
    """Give a test joints in Python, nonholonomic and absolute ones, either way round."""
    joints = pytest.mark.parametrize("joint", OF_ONE_S_OWN, ids=lambda joint: joint.name)
    turned = pytest.mark.parametrize("turned", [False, True])
    return pytest.mark.some(2)(turned(joints(test)))


def behind(joint: mb.Joint, rng: Generator, turned: bool) -> mb.System:
    """Return a system with a joint between a hinge and a ball, so that all around it moves."""
    mech = mb.Mechanism("tree", gravity=rng.normal(size=3))
    bodies = [mech.add_body(mb.Body(f"b{i}", random_inertia(rng))) for i in range(3)]
    mech.add_joint(mb.RevoluteJoint("hinge", axis=rng.normal(size=3)), mech.world, bodies[0])
    ends = bodies[1::-1] if turned else bodies[:2]
    mech.add_joint(joint, *ends, frames=(random_pose(rng), random_pose(rng)))
    mech.add_joint(mb.SphericalJoint("ball"), bodies[1], bodies[2], reference=random_pose(rng))
    return mech.assemble()


def moved_behind(joint: mb.Joint, rng: Generator, turned: bool) -> tuple[mb.System, Any]:
    """Return that system, and a configuration away from its reference."""
    system = behind(joint, rng, turned)
    step = 0.6 * rng.normal(size=system.ndx)
    return system, system.retract(system.reference_configuration(), step)
