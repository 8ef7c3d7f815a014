"""Arms and hands for tests of kinematics."""

from __future__ import annotations

import pathlib

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

ROD = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))

PANDA = pathlib.Path(__file__).parents[2] / "examples" / "models" / "panda.toml"

#: Limits of the seven joints, from the manufacturer's interface specification. [rad]
PANDA_LIMITS = np.array(
    [
        (-2.8973, 2.8973),
        (-1.7628, 1.7628),
        (-2.8973, 2.8973),
        (-3.0718, -0.0698),
        (-2.8973, 2.8973),
        (-0.0175, 3.7525),
        (-2.8973, 2.8973),
    ]
)


def planar_arm(*lengths):
    """An arm in the plane z = 0: bodies link0, ..., whose tips are at (length, 0, 0)."""
    mech = mb.Mechanism("planar arm")
    before, offset = mech.world, 0.0
    for k, length in enumerate(lengths):
        link = mech.add_body(mb.Body(f"link{k}", inertia=ROD))
        joint = mb.RevoluteJoint(f"joint{k}")
        mech.add_joint(joint, before, link, reference=translation((offset, 0.0, 0.0)))
        before, offset = link, length
    return mech.assemble()


def tip(length):
    """The frame at the end of a link."""
    return translation((length, 0.0, 0.0))


def panda():
    """The seven-joint arm of the examples."""
    return mb.load_model(PANDA).assemble()


def _add_arm(mech, base, name, shoulder, mirrored=1.0):
    """Add six joints: three of a shoulder with an elbow, three of a wrist, none aligned."""
    sites = [
        shoulder,
        translation((0.0, 0.1 * mirrored, 0.0)) @ rotation((1, 0, 0), np.pi / 2),
        translation((0.4, 0.0, 0.0)),
        translation((0.05, 0.1, 0.0)) @ rotation((1, 0, 0), np.pi / 2),
        translation((0.0, 0.0, 0.35)) @ rotation((1, 0, 0), -np.pi / 2),
        rotation((1, 0, 0), np.pi / 2),
    ]
    before = base
    for k, site in enumerate(sites):
        link = mech.add_body(mb.Body(f"{name}{k}", inertia=ROD))
        before = link
        previous = base if k == 0 else mech.bodies[f"{name}{k - 1}"]
        mech.add_joint(mb.RevoluteJoint(f"{name}_joint{k}"), previous, link, reference=site)
    return before


def six_joint_arm():
    """A 6R arm with an elbow and a spherical wrist; its hand is body "arm5"."""
    mech = mb.Mechanism("six joints")
    _add_arm(mech, mech.world, "arm", translation((0.0, 0.0, 0.4)))
    return mech.assemble()


def two_hands():
    """A trunk that turns and slides, and two 6R arms with the hands "left5" and "right5"."""
    mech = mb.Mechanism("two hands")
    column = mech.add_body(mb.Body("column", inertia=ROD))
    trunk = mech.add_body(mb.Body("trunk", inertia=ROD))
    mech.add_joint(mb.PrismaticJoint("lift", axis=(0, 0, 1)), mech.world, column)
    mech.add_joint(mb.RevoluteJoint("waist"), column, trunk)
    _add_arm(mech, trunk, "left", translation((0.0, 0.3, 0.8)))
    _add_arm(mech, trunk, "right", translation((0.0, -0.3, 0.8)), mirrored=-1.0)
    return mech.assemble()
