"""Locked joints: the equations of the others, by submatrices and bordered matrices of numpy."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.io import parse_model
from tests.every_representation import REPRESENTATIONS
from tests.trees import random_mechanism, random_state


@pytest.mark.some(4)
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("seed", [3, 4])
def test_trees_have_the_rows_of_the_joints_that_are_left(representation, seed):
    rng = np.random.default_rng(seed)
    mech = random_mechanism(rng, 8)
    system = mech.assemble(mb.RelativeCoordinates(representation))
    state = random_state(rng, system)
    q, v = state.q, state.v
    moving = [name for name, e in mech.joints.items() if e.joint.num_velocities]
    names = [name for name in moving if rng.random() < 0.5] or moving[:1]
    for name in names:
        v[system.velocity_slice(name)] = 0.0
    stiff = system.with_locked({name: q[system.position_slice(name)] for name in names})
    kept = [system.velocity_slice(name) for name in stiff.joint_names if name not in names]
    left = np.concatenate([np.arange(system.nv)[place] for place in kept])
    assert stiff.nv == left.size
    assert stiff.representation == system.representation
    q_left, v_left = stiff.state_of(system, q, v)
    M, b = system.mass_matrix(q), system.bias_force(q, v)
    np.testing.assert_allclose(stiff.mass_matrix(q_left), M[np.ix_(left, left)], atol=1e-11)
    np.testing.assert_allclose(stiff.bias_force(q_left, v_left), b[left], atol=1e-10)
    back = system.state_of(stiff, q_left, v_left)
    np.testing.assert_allclose(system.poses(back[0]), system.poses(q), atol=1e-12)
    np.testing.assert_allclose(back[1], v, atol=1e-10)


LENGTHS = {"a": 1.0, "b": 1.3, "c": 1.2, "d": 0.9, "e": 0.8}


def six_bar(coordinates=None):
    """A closed chain of six bars in a plane, of three freedoms, with a spring across it."""
    mech = mb.Mechanism("six-bar")
    point, before = np.zeros(3), "world"
    for k, (name, length) in enumerate(LENGTHS.items()):
        angle = 2.0 - 0.9 * k
        along = length * np.array([np.cos(angle), 0.0, np.sin(angle)])
        inertia = mb.SpatialInertia.from_com(length, point + along / 2, np.diag([0.1, 0.1, 0.1]))
        mech.add_body(mb.Body(name, inertia))
        hinge = mb.RevoluteJoint(f"to {name}", axis=(0, 1, 0), point=point)
        mech.add_joint(hinge, before, name)
        point, before = point + along, name
    mech.add_joint(mb.RevoluteJoint("last", axis=(0, 1, 0), point=point), "e", "world")
    mech.add_force(mb.SpringDamper("spring", "a", "d", stiffness=30.0, rest_length=0.4))
    return mech.assemble(coordinates)


def accelerations(system, q, v):
    vdot, _ = system.solve_dynamics(q, v)
    return system.accelerations(q, v, vdot, representation=mb.Hybrid())


@pytest.mark.some(2)
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize("name", ["to c", "last", "to a"])
def test_closed_mechanisms_have_one_more_constraint(name):
    """Bordered by the row of the locked joint, that of the angle between its bodies."""
    system = six_bar()
    q, v = system.close_loops(system.reference_configuration() + 0.1, np.ones(system.nv))
    turns = {"last": ("e", "world"), "to a": ("world", "a"), "to c": ("b", "c")}[name]
    before, after = (system.body_names.index(each) for each in turns)
    J = [system.jacobian(each, q, representation=mb.Hybrid())[1] for each in turns]
    row = J[1] - J[0]
    A = np.vstack([system.constraint_jacobian(q), row])
    v = v - np.linalg.pinv(A) @ (A @ v)  # which the loop and the lock allow
    M, b = system.mass_matrix(q), system.bias_force(q, v) - system.generalized_forces(q, v)
    bias = np.append(system.constraint_bias(q, v), 0.0)  # axes are parallel: angles add
    K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    vdot = np.linalg.lstsq(K, np.concatenate([-b, -bias]), rcond=1e-12)[0][: system.nv]
    expected = system.accelerations(q, v, vdot, representation=mb.Hybrid())
    places, C = system.joint_places[name], system.poses(q)
    T = (
        np.linalg.inv(C[before] @ places.near) @ C[after] @ places.far
    )  # of the joint, from poses alone
    angle = np.arctan2(T[0, 2], T[0, 0])
    for coordinates in (mb.RelativeCoordinates(), mb.AbsoluteCoordinates()):
        stiff = six_bar(coordinates).with_locked({name: angle})
        state = stiff.state_of(system, q, v)
        np.testing.assert_allclose(accelerations(stiff, *state), expected, atol=1e-8)
        assert type(stiff.coordinates) is type(coordinates)


def gripper(ratio=1.0):
    """An arm with two fingers, coupled, with a spring on one of them."""
    mech = mb.Mechanism("gripper")
    for name, before, axis in (
        ("arm", "world", (0, 1, 0)), ("left", "arm", (1, 0, 0)), ("right", "arm", (1, 0, 0)),
    ):  # fmt: skip
        mech.add_body(mb.Body(name, mb.SpatialInertia.from_com(1.0, (0, 0.1, -0.5))))
        mech.add_joint(mb.RevoluteJoint(name, axis=axis), before, name)
    mech.add_constraint(mb.GearRatio("mimic", "left", "right", ratio=ratio))
    mech.add_force(mb.JointSpring("spring", "left", stiffness=3.0))
    mech.add_force(mb.JointDamper("damper", "arm", damping=0.2))
    return mech.assemble()


def test_couplings_and_forces_along_locked_joints_alone_are_left_out():
    system = gripper()
    stiff = system.with_locked({"left": 0.3, "right": 0.3})
    assert (stiff.force_names, stiff.num_velocity_constraints) == (("damper",), 0)
    run = mb.simulate(stiff, (0.0, 0.5), 1e-3, q=[0.4])
    assert np.abs(run.energy_balance).max() < 1e-9
    again = parse_model(stiff.model_text).assemble()
    assert again.position_names == stiff.position_names == ("arm",)
    more = mb.JointSpring("more", "arm", stiffness=1.0)
    assert stiff.with_forces([more]).force_names == ("damper", "more")


def test_names_alone_lock_at_the_reference():
    stiff = gripper().with_locked(["left", "right"])
    assert stiff.position_names == ("arm",)
    assert gripper().with_locked({"left": None, "right": None}).nq == 1
    assert gripper().with_locked(["arm", "left", "right"]).nv == 0


def test_what_cannot_be_locked_is_refused():
    system = gripper()
    for joints, error, message in (
        ({"elbow": 0.1}, mb.NameUnknownError, "has no joint 'elbow'"),
        ({"arm": [0.1, 0.2]}, mb.ShapeError, "joint 'arm' must have 1 numbers"),
        ({"arm": np.nan}, mb.NotFiniteError, "joint 'arm' must be finite"),
        ({"left": 0.1}, mb.ConstraintError, "of joint 'left'.*of 'right': lock these as well"),
        ({"left": 0.1, "right": 0.2}, mb.ConstraintError, "'mimic' couples locked joints"),
        (3, mb.UsageError, "joints must be names"),
    ):
        with pytest.raises(error, match=message):
            system.with_locked(joints)
    mech = mb.Mechanism("all")
    mech.add_body(mb.Body("a", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, "a")
    mech.add_force(mb.ForceFunction("drag", lambda t, q, v: -v))
    with pytest.raises(mb.ForceError, match="'drag' is a function of joint 'ball'"):
        mech.assemble().with_locked(["ball"])
    with pytest.raises(mb.MbkitError):
        mech.assemble().without_forces().with_locked({"ball": [2.0, 0.0, 0.0, 0.0]})
