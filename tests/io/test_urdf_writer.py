"""URDF files that are written: read again they are the same, and what is lost is told."""

from __future__ import annotations

import pathlib
import warnings

import numpy as np
import pytest

import mbkit as mb
from mbkit.io.urdf.writer import urdf_text
from mbkit.spatial import rotation, translation
from tests.trees import random_inertia, random_mechanism, random_pose, random_state

ARM = pathlib.Path(__file__).parents[1] / "data" / "gripper.urdf"
KINDS = ("revolute", "prismatic", "fixed")


def read(text):
    return mb.parse_urdf(text).mechanism()


def test_urdf_to_toml_to_urdf_is_exact(tmp_path):
    """Numbers that were typed come back to the last bit, angles included; the texts are equal."""
    mech = mb.read_urdf(ARM).mechanism()
    mb.save_model(mech, tmp_path / "arm.toml")
    again = mb.load_model(tmp_path / "arm.toml")
    mb.save_model(again, tmp_path / "arm.urdf")
    last = mb.read_urdf(tmp_path / "arm.urdf").mechanism()
    assert last == again == mech
    assert urdf_text(last)[0] == (tmp_path / "arm.urdf").read_text()


@pytest.mark.some(4)
@pytest.mark.parametrize("seed", range(8))
def test_a_random_tree_moves_as_before(seed):
    """Axes off the bodies, joints turned round, frames anywhere: the same poses and dynamics."""
    rng = np.random.default_rng(seed)
    mech = random_mechanism(rng, 8, KINDS, gravity=(0, 0, -9.81))
    text, notes = urdf_text(mech)
    again = read(text)
    system, other = mech.assemble(), again.assemble()
    assert other.nv == system.nv
    order = [system.velocity_names.index(name) for name in other.velocity_names]
    state = random_state(rng, system)
    rows = [other.body_index(body) for body in system.body_names]
    poses = other.poses(state.q[order])[rows]
    assert np.abs(poses - system.poses(state.q)).max() < 1e-13
    found = other.inverse_dynamics(*(each[order] for each in (state.q, state.v, state.vdot)))
    expected = system.inverse_dynamics(state.q, state.v, state.vdot)[order]
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    told = "; ".join(notes)
    assert ("are turned round" in told) == any(mech.topology().reversed)
    assert "bodies off the axes of their joints" in told
    assert "the reference poses of bodies" in told


def test_a_free_base_is_floating(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mech = mb.load_urdf(ARM, root_joint=mb.FreeJoint("float"))
    text, notes = urdf_text(mech)
    assert '<joint name="float" type="floating">' in text
    assert '<link name="world"/>' in text
    assert not notes
    assert read(text) == mech


LIMITS = [
    mb.JointLimits(),
    mb.JointLimits(-1, 2, 3, 4),
    mb.JointLimits(upper=2),
    mb.JointLimits(velocity=3),
    mb.JointLimits(-1, 2),
]


@pytest.mark.parametrize("make", [mb.RevoluteJoint, mb.PrismaticJoint])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_limits_come_back_and_others_can_read_them(make, limits):
    """None is the greatest number; a revolute joint has all four attributes, or is continuous."""
    mech = mb.Mechanism("m")
    friction = mb.JointFriction(0.25, 0.5)
    body = mech.add_body(mb.Body("b"))
    mech.add_joint(make("j", (0, 1, 0)), mech.world, body, limits=limits, friction=friction)
    text, _ = urdf_text(mech)
    again = read(text)
    assert again.joints["j"].limits == limits
    assert again.joints["j"].friction == friction
    assert "inf" not in text
    if 'type="continuous"' not in text:
        assert all(f' {key}="' in text for key in ("lower", "upper", "velocity", "effort"))


def one(joint, **place):
    mech = mb.Mechanism("m")
    mech.add_joint(joint, "world", mech.add_body(mb.Body("b")), **place)
    return mech


def loop():
    mech = one(mb.RevoluteJoint("j"))
    mech.add_joint(mb.UniversalJoint("k"), "world", "b")
    return mech


def turned_free():
    mech = mb.Mechanism("m")
    mech.add_joint(mb.FreeJoint("j"), mech.add_body(mb.Body("b")), "world")
    return mech


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: one(mb.SphericalJoint("ball")), "joint 'ball' is a SphericalJoint, and a URDF"),
        (lambda: one(mb.HelicalJoint("nut", pitch=1.0)), "joint 'nut' is a HelicalJoint, and a"),
        (
            lambda: one(mb.FreeJoint("j", coordinates="first kind")),
            "joint 'j' must have coordinates='group' and no point, got FreeJoint",
        ),
        (
            lambda: one(mb.PlanarJoint("j", point=(0, 0, 1))),
            "joint 'j' must have coordinates='group' and no point, got PlanarJoint",
        ),
        (loop, "a URDF is a tree, .*and a loop is closed by 'k'"),
        (turned_free, "the free joint 'j' must lead away from the world"),
        (
            lambda: one(mb.FreeJoint("j"), frames=(np.eye(4), translation((1, 0, 0)))),
            "the free joint 'j' must lead away from the world to the frame of its successor",
        ),
    ],
)
def test_what_a_urdf_cannot_hold_is_refused_by_name(make, message, tmp_path):
    with pytest.raises(mb.ModelFileError, match=message):
        mb.save_urdf(make(), tmp_path / "m.urdf")
    assert not list(tmp_path.iterdir())


def test_planar_joints_come_back(tmp_path):
    """With their normal and their place; where a URDF has no place for them they are refused."""
    mech = mb.Mechanism("m")
    link = mech.add_body(mb.Body("link", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    frames = translation((1.0, 2.0, 3.0)), np.eye(4)
    mech.add_joint(mb.PlanarJoint("slide", axis=(0, 0.6, 0.8)), mech.world, link, frames=frames)
    mb.save_urdf(mech, tmp_path / "m.urdf")
    again = mb.load_urdf(tmp_path / "m.urdf")
    assert again.joints["slide"].joint == mech.joints["slide"].joint
    systems = mech.assemble(), again.assemble()
    q, v = np.array([0.3, -0.5, 0.7]), np.array([1.0, 2.0, -1.0])
    poses = [system.poses(q)[-1] for system in systems]
    np.testing.assert_allclose(poses[1], poses[0], atol=1e-15)
    accelerations = [system.forward_dynamics(q, v) for system in systems]
    np.testing.assert_allclose(accelerations[1], accelerations[0], atol=1e-13)


def test_what_is_lost_is_told(tmp_path):
    mech = mb.Mechanism("m", gravity=(0, 0, -1.62))
    body = mech.add_body(mb.Body("b"))
    mech.add_joint(mb.FreeJoint("j"), mech.world, body, limits=mb.JointLimits(effort=1))
    with pytest.warns(mb.ModelFileWarning) as told:
        mb.save_urdf(mech, tmp_path / "m.urdf")
    assert "gravity [0.0, 0.0, -1.62]" in str(told[0].message)
    assert "limits and friction of free, fixed and loop joints: 'j'" in str(told[0].message)
    with pytest.raises(mb.ModelFileError, match=r"m\.urdf' cannot be written: No such file"):
        mb.save_urdf(mb.Mechanism("m"), tmp_path / "none" / "m.urdf")


def test_names_are_escaped():
    mech = mb.Mechanism('<"m">')
    mech.add_joint(mb.FixedJoint("a & 'b'"), "world", mech.add_body(mb.Body('<link name="x"/>')))
    assert read(urdf_text(mech)[0]) == mech


@pytest.mark.parametrize("seed", range(5))
def test_rounding_is_not_off_the_axis(tmp_path, seed):
    """A turned joint frame leaves 1e-17 of the distance to an axis through the body's origin."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    far = rotation(rng.normal(size=3), 1.0)
    mech = mb.Mechanism("m")
    body = mech.add_body(mb.Body("b"))
    joint = mb.RevoluteJoint("j", axis, point=0.7 * axis)
    mech.add_joint(joint, mech.world, body, frames=(np.eye(4), far))
    mb.save_urdf(mech, tmp_path / "m.urdf")
    assert list(mb.read_urdf(tmp_path / "m.urdf").mechanism().bodies) == ["b"]


def test_loops_come_back(tmp_path):
    """A four-bar with frames at odd angles: the same constraints and the same forces."""
    rng = np.random.default_rng(3)
    mech = mb.Mechanism("four-bar")
    at = {"A": (0, 0, 0), "B": (0, 0, 1), "C": (2.2, 0, 1.5), "D": (2, 0, 0)}
    for name in ("crank", "coupler", "rocker"):
        mech.add_body(mb.Body(name, random_inertia(rng), pose=random_pose(rng)))
    ends = ("world", "crank", "coupler", "rocker", "world")
    for k, (name, point) in enumerate(at.items()):
        mech.add_joint(mb.RevoluteJoint(name, axis=(0, 1, 0), point=point), ends[k], ends[k + 1])
    path = tmp_path / "four-bar.urdf"
    with pytest.warns(mb.ModelFileWarning, match="that it is no tree: .* leave out"):
        mb.save_urdf(mech, path)
    (loop,) = mech.topology().loop_joints
    again = mb.load_urdf(path)
    own, other = (
        each.assemble(mb.RelativeCoordinates(loop_joints=[loop])) for each in (mech, again)
    )
    q = own.close_loops({"A": 0.3})
    there = other.close_loops({"A": 0.3})
    names = [other.position_names.index(each) for each in own.position_names]
    np.testing.assert_allclose(q, there[names], atol=1e-9)
    np.testing.assert_allclose(
        own.forward_dynamics(q, 0 * q), other.forward_dynamics(there, 0 * q)[names], atol=1e-8
    )
