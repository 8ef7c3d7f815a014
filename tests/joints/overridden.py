"""Joints of mbkit with an overridden pose, their twins by the pose alone, and where they move."""

import attrs
import numpy as np

import mbkit as mb
from mbkit.spatial import inverse
from tests.trees import random_inertia, random_pose

HYBRID = mb.Hybrid()
NEAR, FAR = (random_pose(np.random.default_rng(seed)) for seed in (1, 2))


def bent(T):
    """Return a pose by way of misaligned frames, with a shift that changes with it."""
    moved = NEAR @ T @ FAR
    moved[:3, 3] += 0.1 * np.sin(moved[[1, 2, 0], 3] + moved[2, :3])
    return moved


def as_class(kind, joint):
    """Return a joint with the same fields, of a subclass of its class."""
    names = [field.name for field in attrs.fields(type(joint)) if field.init]
    if isinstance(joint, mb.CompositeJoint):
        return kind(joint.name, *joint.members)
    return kind(**{name: getattr(joint, name) for name in names})


def overriding(joint, **methods):
    """Return a joint that overrides methods of one of mbkit."""
    return as_class(type("Overriding", (type(joint),), methods), joint)


class BentTwin(mb.Joint):
    """A joint of a user with a bent pose."""

    def __init__(self, plain):
        super().__init__(plain.name)
        self.plain = plain
        self.num_positions, self.num_velocities = plain.num_positions, plain.num_velocities

    def pose(self, q):
        return bent(self.plain.pose(q))

    def neutral(self):
        return self.plain.neutral()


class BentGroupTwin(BentTwin):
    """One whose positions do not add."""

    def retract(self, q, dx):
        return self.plain.retract(q, dx)

    def difference(self, q0, q1):
        return self.plain.difference(q0, q1)


def bent_pair(pair, name="j"):
    """Return a joint of mbkit with a bent pose, and the same derived from `Joint`."""
    built, plain = (make(name) for make in pair)
    own = type(built).pose
    adds = type(plain).retract is mb.Joint.retract
    twin = (BentTwin if adds else BentGroupTwin)(plain)
    return overriding(built, pose=lambda self, q: bent(own(self, q))), twin


def configuration(joint, seed=0):
    rng = np.random.default_rng(seed)
    step = rng.normal(size=joint.ndx)
    return joint.retract(joint.neutral(), 0.6 * step / max(1.0, float(np.linalg.norm(step))))


def system_of(joint, representation=HYBRID):
    """Return a hinged body that carries another on a joint, and that a third one on a hinge."""
    rng = np.random.default_rng(3)
    mech = mb.Mechanism("three", gravity=(1.0, -2.0, -9.0))
    bodies = [mech.add_body(mb.Body(name, random_inertia(rng))) for name in ("a", "b", "c")]
    frames = [(random_pose(rng), random_pose(rng)) for _ in bodies]
    mech.add_joint(mb.RevoluteJoint("first", (1, 2, 3)), mech.world, bodies[0], frames=frames[0])
    mech.add_joint(joint, bodies[0], bodies[1], frames=frames[1])
    mech.add_joint(mb.RevoluteJoint("last", (3, 1, 2)), bodies[1], bodies[2], frames=frames[2])
    return mech.assemble(mb.RelativeCoordinates(representation=representation))


def state_of_tree(system, seed=4):
    rng = np.random.default_rng(seed)
    q = system.retract(system.reference_configuration(), 0.5 * rng.normal(size=system.ndx))
    return q, rng.normal(size=system.nv), rng.normal(size=system.nv)


def loop_of(joint, representation=HYBRID):
    """Return two free bodies that a joint closes to a loop with the world."""
    rng = np.random.default_rng(5)
    mech = mb.Mechanism("loop", gravity=(1.0, -2.0, -9.0))
    for name in ("a", "b"):
        mech.add_joint(mb.FreeJoint(f"f{name}"), mech.world, mech.add_body(
            mb.Body(name, random_inertia(rng))
        ))  # fmt: skip
    mech.add_joint(joint, "a", "b", frames=(random_pose(rng), random_pose(rng)))
    choice = mb.RelativeCoordinates(loop_joints=["j"], representation=representation)
    return mech.assemble(choice)


def closed(system, joint):
    """Return a configuration of `loop_of` that the pose of a joint closes."""
    q, place = system.reference_configuration(), system.joint_places["j"]
    free = mb.FreeJoint("free")
    q[:7] = free.random(np.random.default_rng(8))
    T = joint.pose(configuration(joint))
    q[7:] = free.configuration_from_pose(free.pose(q[:7]) @ place.near @ T @ inverse(place.far))
    return q


def hinge():
    return mb.RevoluteJoint("j", axis=(1, 2, -2), point=(0.3, -0.2, 0.9))


def same_motion(joint, twin):
    """Compare trees that have one of two joints in their middle."""
    one, other = system_of(joint), system_of(twin)
    q, v, x = state_of_tree(other)
    np.testing.assert_allclose(one.poses(q), other.poses(q), atol=1e-12)
    expected = other.forward_dynamics(q, v, x)
    np.testing.assert_allclose(one.forward_dynamics(q, v, x), expected, rtol=1e-9, atol=1e-9)
