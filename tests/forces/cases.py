"""A tree with a force of every kind, in poses where nothing is aligned."""

from __future__ import annotations

import numpy as np

import mbkit as mb
from tests.trees import random_mechanism, random_pose

#: One-velocity joints and others of the tree that `tree` makes.
KINDS = ("revolute", "prismatic", "helical", "screw", "spherical", "free", "fixed", "revolute")


def tree(rng, count=10, **options):
    """Return a mechanism of all joints, and the names of its joints with one velocity."""
    mech = random_mechanism(rng, count, KINDS, reach=4, **options)
    single = [name for name, edge in mech.joints.items() if edge.joint.num_velocities == 1]
    return mech, single


def every_force(rng, mech, single):
    """Return a force of each kind, and some twice in other variants, for a mechanism of `tree`."""
    bodies = list(mech.bodies)
    a, b, c = (str(name) for name in rng.choice(bodies, 3, replace=False))
    balls = [name for name, edge in mech.joints.items() if edge.joint.num_velocities == 3]
    ball = [*balls, single[0]][0]
    times = np.array([0.0, 0.3, 0.7, 1.1, 1.6])

    def positive(*shape):
        return rng.uniform(1.0, 5.0, shape)

    return [
        mb.JointSpring("spring", single[0], stiffness=7.0, rest=0.2),
        mb.JointDamper("damper", single[1], damping=0.7),
        mb.JointDamper("ball damper", ball, damping=0.3),
        mb.DryFriction("friction", single[2], friction=0.5, smoothing=0.3),
        mb.JointEffort("constant", single[3], effort=1.5),
        mb.JointEffort("linear", single[0], effort=rng.normal(size=5), times=times),
        mb.JointEffort(
            "spline", single[1], effort=rng.normal(size=5), times=times, interpolation="cubic"
        ),
        mb.LimitStop("stop", single[2], lower=-0.1, upper=0.1, stiffness=50.0, damping=0.4),
        mb.SpringDamper(
            "pair", a, b, stiffness=12.0, rest_length=0.4, damping=0.6,
            point_a=rng.normal(size=3), point_b=rng.normal(size=3),
        ),
        mb.SpringDamper("anchor", "world", c, stiffness=3.0, point_b=rng.normal(size=3)),
        mb.Bushing(
            "bushing", b, c, stiffness=positive(6), damping=positive(6) / 10,
            frame_a=random_pose(rng), frame_b=random_pose(rng),
        ),
        mb.Bushing("mount", a, "world", stiffness=positive(6), frame_a=random_pose(rng)),
        mb.BodyWrench(
            "thrust", a, wrench=rng.normal(size=6), axes="body", point=rng.normal(size=3)
        ),
        mb.BodyWrench(
            "wind", b, wrench=rng.normal(size=(5, 6)), times=times, point=rng.normal(size=3)
        ),
        mb.BodyWrench(
            "rotor", c, wrench=rng.normal(size=(5, 6)), times=times, interpolation="cubic",
            axes="body",
        ),
        mb.UniformField("field", acceleration=rng.normal(size=3)),
        mb.UniformField("chosen", acceleration=rng.normal(size=3), bodies=[a, c]),
        mb.Drag("drag", c, linear=0.4, quadratic=0.3, point=rng.normal(size=3)),
        mb.Drag(
            "gale", a, linear=0.4, quadratic=0.3, point=rng.normal(size=3),
            wind=rng.normal(size=3), angular=0.2, angular_quadratic=0.1,
        ),
    ]  # fmt: skip
