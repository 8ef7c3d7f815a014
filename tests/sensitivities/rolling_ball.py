"""A ball that rolls on a table at the end of an arm, whose positions add."""

from __future__ import annotations

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

ARM, RADIUS = np.array([0.5, 0.0, 0.0]), 0.3

#: Near a closed configuration, and a velocity near one that rolls.
START = np.array([0.1, -0.2, 0.0, 0.3, 0.4, 0.3, -0.5])
RATES = np.array([0.5, -0.8, 0.0, 1.5, 2.0, 1.0, -3.0])


def ball():
    """Return three rails, an arm and three rings about the ball, with a spring on a rail.

    The height of the ball is that of a rail and of the arm together.
    """
    mech = mb.Mechanism("ball on an arm", gravity=(1.0, -2.0, -9.81))
    x, y, z = np.eye(3)
    joints = [mb.PrismaticJoint(f"rail {n}", axis=e) for n, e in zip("xyz", (x, y, z), strict=True)]
    joints.append(mb.RevoluteJoint("arm", axis=y))
    for name, axis in zip("zyx", (z, y, x), strict=True):
        joints.append(mb.RevoluteJoint(f"ring {name}", axis=axis, point=ARM))
    parent, rng = "world", np.random.default_rng(3)
    for joint in joints:
        com, place = 0.05 * rng.normal(size=3), ARM * joint.name.startswith("ring")
        moment = 0.02 * np.diag(rng.uniform(1.0, 1.5, 3))
        inertia = mb.SpatialInertia.from_com(rng.uniform(0.3, 1.0), com, moment)
        mech.add_body(mb.Body(f"on {joint.name}", inertia, translation(place)))
        mech.add_joint(joint, parent, f"on {joint.name}")
        parent = f"on {joint.name}"
    mech.add_constraint(
        mb.RollingSphere("table", "world", parent, radius=RADIUS, point_a=(0, 0, -RADIUS))
    )
    mech.add_force(mb.JointSpring("spring", "rail x", stiffness=8.0, rest=0.25))
    return mech
