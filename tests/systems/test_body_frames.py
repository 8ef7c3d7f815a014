"""The frames inside: they change no result, and each choice does what it says."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels import layout
from mbkit.lie import SE3
from mbkit.systems.calls.evaluations import MASS_MATRIX
from mbkit.systems.memory.workspace import Workspace
from tests.at_each import at_each
from tests.reference.user_joints import BallJoint, CardanJoint, EllipseJoint
from tests.trees import MAKERS, random_inertia, random_mechanism, random_pose, random_state

CHOICES = ("user", "com", "world")

# Round-off through at most 20 frames, and the conditioning of M where accelerations are solved for:
# a hundred times what is found.
TOLERANCE = 1e-12


def with_python_joints(rng, count):
    """A random tree of all joints with three joints in Python in it, bodies beyond each."""
    mech = random_mechanism(rng, count, reach=int(rng.integers(1, 8)))
    names = list(mech.bodies)
    for i, joint in enumerate(
        (CardanJoint("cardan"), EllipseJoint("wire", 1.5, 0.5), BallJoint("ball"))
    ):
        body = mech.add_body(mb.Body(f"extra{i}", inertia=random_inertia(rng)))
        near = mech.bodies[names[rng.integers(len(names))]]
        ends = (body, near) if i % 2 else (near, body)
        mech.add_joint(joint, *ends, frames=(random_pose(rng), random_pose(rng)))
        kind = ("revolute", "fixed", "spherical")[i]
        tip = mech.add_body(mb.Body(f"tip{i}", inertia=random_inertia(rng)))
        frames = random_pose(rng), random_pose(rng)
        mech.add_joint(MAKERS[kind](rng, f"last{i}"), body, tip, frames=frames)
    return mech


@pytest.fixture(scope="module", params=range(5))
def case(request):
    """A mechanism, its systems by choice of frames, and a state."""
    rng = np.random.default_rng(2000 + request.param)
    mech = with_python_joints(rng, int(rng.integers(9, 18)))
    systems = {
        choice: mech.assemble(mb.RelativeCoordinates(body_frames=choice))
        for choice in ("joint", *CHOICES)
    }
    return mech, systems, random_state(rng, systems["joint"])


METHODS = {
    "poses": lambda system, s: system.poses(s.q),
    "twists": lambda system, s: system.twists(s.q, s.v),
    "accelerations": lambda system, s: system.accelerations(s.q, s.v, s.vdot),
    "jacobian": lambda system, s: np.array([system.jacobian(b, s.q) for b in system.body_names]),
    "inverse dynamics": lambda system, s: system.inverse_dynamics(s.q, s.v, s.vdot),
    "inverse dynamics, wrenches": lambda system, s: system.inverse_dynamics(
        s.q, s.v, s.vdot, s.wrenches
    ),
    "forward dynamics": lambda system, s: system.forward_dynamics(s.q, s.v, s.tau),
    "forward dynamics, wrenches": lambda system, s: system.forward_dynamics(
        s.q, s.v, s.tau, s.wrenches
    ),
    "mass matrix": lambda system, s: system.mass_matrix(s.q),
    "bias force": lambda system, s: system.bias_force(s.q, s.v),
    "energies": lambda system, s: np.array(
        [system.kinetic_energy(s.q, s.v), system.potential_energy(s.q)]
    ),
    "momentum": lambda system, s: system.momentum(s.q, s.v),
    "centre of mass": lambda system, s: system.centre_of_mass(s.q),
    "retract": lambda system, s: system.retract(s.q, s.vdot),
    "difference": lambda system, s: system.difference(
        system.reference_configuration(),
        system.retract(system.reference_configuration(), 0.4 * s.v),
    ),
}


@pytest.mark.some(5)
@pytest.mark.parametrize("choice", CHOICES)
@at_each("method", {method: method for method in METHODS})
def test_results_are_those_of_the_joints_frames(case, choice, method):
    """Every method, at a state far from the reference."""
    _, systems, state = case
    expected = METHODS[method](systems["joint"], state)
    found = METHODS[method](systems[choice], state)
    scale = np.abs(expected).max()
    assert scale > 0.0
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=TOLERANCE * scale)


@at_each("size", {size: size for size in (0.0, 1e-8, np.pi - 1e-6)})
@pytest.mark.parametrize("choice", CHOICES)
def test_results_at_special_angles(case, choice, size):
    """At the reference, close to it, and with every joint turned by nearly half a turn."""
    _, systems, state = case
    joint, other = systems["joint"], systems[choice]
    step = size * np.sign(state.v)
    for name in joint.joint_names:  # as an angle, not as its three components
        entries = joint.velocity_slice(name)
        step[entries] /= max(1.0, np.sqrt(entries.stop - entries.start))
    q = joint.retract(joint.reference_configuration(), step)
    expected = joint.inverse_dynamics(q, state.v, state.vdot)
    found = other.inverse_dynamics(q, state.v, state.vdot)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=TOLERANCE * np.abs(expected).max())
    np.testing.assert_allclose(other.poses(q), joint.poses(q), rtol=0.0, atol=TOLERANCE * 20)


def recorded(system, q):
    """What the joint pass of a mass matrix leaves: a workspace's rows and those of the model."""
    workspace = Workspace(system.arrays, system.evaluator)
    evaluator = system.evaluator
    call = evaluator.direct(MASS_MATRIX, evaluator.function(MASS_MATRIX))
    assert call(workspace.record, np.empty((system.nv, system.nv)), q) == 0
    return system.arrays.bodies, workspace.scratch


@pytest.mark.parametrize("choice", CHOICES)
def test_rows_have_their_own_frames(case, choice):
    """The choices are no other names for the joints' frames: screws leave their own path."""
    _, systems, _ = case
    joint, rows = systems["joint"].arrays.bodies[1:], systems[choice].arrays.bodies[1:]
    screws = joint["kind"] == layout.SCREW
    assert 0 < screws.sum() < len(screws)
    assert (joint["own_frame"] == 0).all()
    assert (rows["kind"][screws] == layout.SCREW_IN_OWN_FRAME).all()
    # a joint without canonical frame may have been given in the user's frame, and one that only
    # slides has its own in the centre of mass; no screw was
    others = rows[~screws]
    seated = others["kind"] == layout.TABLE_IN_OWN_FRAME
    assert seated.any()
    assert seated.all() or choice in ("user", "com")
    assert ((others["own_frame"] != 0) == seated).all()


def test_user_frames_carry_the_users_bodies(case):
    """The body on the joint sits in its row without any offset."""
    mech, systems, _ = case
    frames = systems["user"].arrays.frames
    rows = systems["user"].arrays.bodies
    seated = set()
    for frame in frames[1:]:
        offset = np.abs(frame["R"] - np.eye(3)).max() + np.abs(frame["p"]).max()
        if offset < 1e-14 and frame["row"] > 0:
            seated.add(int(frame["row"]))
    assert seated == set(range(1, len(rows)))
    assert len(rows) - 1 < len(mech.bodies)  # some bodies share a row


def test_centre_of_mass_frames_have_no_first_moment(case):
    """Newton's and Euler's equations of each row are decoupled; the axes are the user's."""
    _, systems, _ = case
    com, user = systems["com"].arrays, systems["user"].arrays
    sizes = np.abs(user.bodies["first_moment"][1:]).max(axis=1)
    assert (sizes > 1e-3).all()
    assert np.abs(com.bodies["first_moment"][1:]).max() < 1e-14
    np.testing.assert_allclose(com.frames["R"], user.frames["R"], rtol=0.0, atol=1e-14)
    # moments about the centre of mass: Theta - m c^2 (Steiner), the least there are
    trace = np.array([0, 3, 5])
    smaller = com.bodies["moment"][1:, trace].sum(axis=1)
    offset = 2.0 * (user.bodies["first_moment"][1:] ** 2).sum(axis=1) / user.bodies["mass"][1:]
    expected = user.bodies["moment"][1:, trace].sum(axis=1) - offset
    np.testing.assert_allclose(smaller, expected, rtol=1e-11)


def test_world_frames_have_the_screws_of_the_world(case):
    """At the reference every pose is the identity, and S of a body is the spatial Jacobian's.

    X_i = Y_i, Mueller 2018, section 4.4: the columns of a joint, in the world, are those which the
    body-fixed Jacobian of the joint's child gives by Ad_C.
    """
    mech, systems, _ = case
    system = systems["world"]
    q = system.reference_configuration()
    rows, work = recorded(system, q)
    poses = dict(zip(system.body_names, system.poses(q), strict=True))
    topology = mech.topology()
    for i, name in enumerate(system.arrays.joint_names[1:], start=1):
        np.testing.assert_allclose(work[i]["R"], np.eye(3), rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(work[i]["p"], np.zeros(3), rtol=0.0, atol=1e-13)
        child = topology.bodies[topology.joint_of_body.index(name)]
        entries = system.velocity_slice(name)
        Y = (SE3.Ad(poses[child]) @ systems["joint"].jacobian(child, q))[:, entries]
        X = work[i]["S"][: rows[i]["num_velocities"]].T
        np.testing.assert_allclose(X, Y, rtol=0.0, atol=1e-12 * np.abs(Y).max())


def test_massless_bodies_keep_the_frame_of_their_joint():
    """With "com" a row without mass has no centre; it stays canonical, and results stay right."""
    rng = np.random.default_rng(5)
    mech = mb.Mechanism("cardan by two hinges")
    cross = mech.add_body(mb.Body("cross"))
    tool = mech.add_body(mb.Body("tool", inertia=random_inertia(rng)))
    for joint, ends in (("x", ("world", cross)), ("y", (cross, tool))):
        hinge = mb.RevoluteJoint(joint, axis=rng.normal(size=3))
        mech.add_joint(hinge, *ends, frames=(random_pose(rng), random_pose(rng)))
    expected, system = mech.assemble(), mech.assemble(mb.RelativeCoordinates(body_frames="com"))
    assert list(system.arrays.bodies["kind"][1:]) == [layout.SCREW, layout.SCREW_IN_OWN_FRAME]
    state = random_state(rng, system)
    found = system.forward_dynamics(state.q, state.v, state.tau)
    reference = expected.forward_dynamics(state.q, state.v, state.tau)
    np.testing.assert_allclose(found, reference, rtol=1e-12)


@pytest.mark.slow
def test_simulations_agree():
    """The compiled loop takes a tree the same way in all frames."""
    rng = np.random.default_rng(6)
    mech = random_mechanism(rng, 8)
    ends = []
    for choice in ("joint", *CHOICES):
        system = mech.assemble(mb.RelativeCoordinates(body_frames=choice))
        state = random_state(np.random.default_rng(7), system)
        run = mb.simulate(system, (0.0, 0.1), 1e-3, q=state.q, v=state.v)
        ends.append(np.concatenate([run.q[-1], run.v[-1]]))
    # equal but for round-off, which the motion amplifies
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], rtol=0.0, atol=1e-9)


def test_a_body_whose_frame_is_its_joints_stays_in_the_fast_path():
    """Where the chosen frame is the canonical one anyway nothing is seated."""
    mech = mb.Mechanism("arm")
    body = mech.add_body(mb.Body("rod", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge"), "world", body)
    system = mech.assemble(mb.RelativeCoordinates(body_frames="user"))
    assert system.arrays.bodies["kind"][1] == layout.SCREW
    assert system.arrays.bodies["own_frame"][1] == 0


def test_failures_still_name_the_joint():
    """A quaternion that is too long, in a frame that is not the joint's."""
    mech = mb.Mechanism("top")
    body = mech.add_body(mb.Body("body", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    frames = random_pose(np.random.default_rng(8)), random_pose(np.random.default_rng(9))
    mech.add_joint(mb.SphericalJoint("tip"), "world", body, frames=frames)
    system = mech.assemble(mb.RelativeCoordinates(body_frames="world"))
    with pytest.raises(mb.ConfigurationError, match=r"'tip' has for positions a quaternion"):
        system.mass_matrix([2.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("word", ["bodies", "COM", "", None, 3])
def test_other_words_are_refused(word):
    """With the list of those there are."""
    message = "body_frames must be one of 'user', 'joint', 'com', 'world', got"
    with pytest.raises(mb.UsageError, match=message):
        mb.RelativeCoordinates(body_frames=word)
