"""Frames of bodies by name, wherever kinematics asks for a body."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import mbkit as mb
from mbkit.errors import ModelFileWarning
from mbkit.spatial import rotation, translation
from tests.every_representation import each_representation

TIP = translation((0.4, 0.0, 0.1)) @ rotation((1, 2, 3), 0.5)
EYE = translation((0.0, 0.1, 0.0)) @ rotation((3, 1, 0), 0.7)
V, VDOT = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.3, -0.2, 0.5, 0.1])


def arm():
    """A hinge and a ball joint, frames on both bodies."""
    mech = mb.Mechanism("arm")
    box = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.2))
    upper = mech.add_body(mb.Body("upper", box, frames={"eye": EYE}))
    hand = mech.add_body(mb.Body("hand", box, frames={"tip": TIP, "palm": np.eye(4)}))
    mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper)
    mech.add_joint(mb.SphericalJoint("elbow"), upper, hand, reference=translation((1, 0, 0)))
    return mech


@pytest.fixture(scope="module", params=["relative", "absolute"])
def at(request):
    """A system in either coordinates with a state."""
    relative = arm().assemble()
    q = np.r_[0.3, np.array([0.5, -0.5, 0.5, 0.5])]
    if request.param == "relative":
        return relative, q, V, VDOT
    system = arm().assemble(mb.AbsoluteCoordinates())
    q, v = system.state_of(relative, q, V)
    return system, q, v, np.linspace(-1.0, 1.0, system.nv)


@each_representation
def test_motion_seen_from_a_named_frame(at, representation):
    """By differences of poses, and as by poses of the frames where they are given as such."""
    system, q, v, vdot = at
    seen = {"relative_to": "eye", "representation": representation}
    C_eye, C_tip = system.pose("eye", q), system.pose("tip", q)
    assert np.allclose(C_eye, system.pose("upper", q, frame=EYE), atol=1e-15)
    assert np.allclose(system.pose("tip", q, relative_to="eye"), np.linalg.solve(C_eye, C_tip))
    named, given = (
        system.jacobian(name, q, frame=frame, representation=representation)
        for name, frame in (("tip", None), ("hand", TIP))
    )
    assert np.array_equal(named, given)
    assert np.array_equal(
        named, system.jacobian("hand", q, frame="tip", representation=representation)
    )
    J = system.jacobian("tip", q, **seen)
    assert np.allclose(J @ v, system.twist("tip", q, v, **seen), atol=1e-13)

    h = 1e-6
    ahead, behind = (
        system.twist("tip", system.retract(q, s * v), v + s * vdot, **seen) for s in (h, -h)
    )
    rate = system.acceleration("tip", q, v, vdot, **seen)
    assert np.abs((ahead - behind) / (2 * h) - rate).max() < 1e-8
    poses = [system.pose("tip", system.retract(q, s * v), relative_to="eye") for s in (h, -h)]
    turned = system.twist("tip", q, v, relative_to="eye", representation=mb.Hybrid())
    assert np.abs((poses[0] - poses[1])[:3, 3] / (2 * h) - turned[3:]).max() < 1e-9


def test_twists_resolved_in_named_frames(at):
    """The same arrow in other axes, measured at another point of the body."""
    system, q, v, _ = at
    hybrid = system.twist("tip", q, v, representation=mb.Hybrid())
    C, R = system.pose("tip", q), system.pose("eye", q)[:3, :3]
    found = system.twist("tip", q, v, measured_in="palm", resolved_in="eye")
    arm_of_point = system.pose("palm", q)[:3, 3] - C[:3, 3]
    linear = hybrid[3:] + np.cross(hybrid[:3], arm_of_point)
    assert np.allclose(found, np.r_[R.T @ hybrid[:3], R.T @ linear], atol=1e-13)


def test_inverse_kinematics_of_named_frames():
    """Targets, manipulability and fits by the names of frames."""
    system, q = arm().assemble(), np.r_[0.3, np.array([0.5, -0.5, 0.5, 0.5])]
    goals = {
        "tip": system.pose("tip", q),
        "eye": mb.PoseTarget(system.pose("eye", q), rows="angular"),
    }
    found = mb.inverse_kinematics(system, goals)
    assert found.reason == "reached"
    assert np.abs(system.pose("tip", found.q) - goals["tip"]).max() < 1e-8
    further = mb.PoseTarget(goals["tip"] @ EYE, frame=EYE)
    found = mb.inverse_kinematics(system, {"tip": further})
    assert np.abs(system.pose("tip", found.q) - goals["tip"]).max() < 1e-8
    ways = [("tip", None), ("hand", "tip"), ("hand", TIP)]
    sizes = [
        mb.manipulability(system, body, q, "linear", frame=f).singular_values for body, f in ways
    ]
    assert np.array_equal(sizes[0], sizes[1])
    assert np.array_equal(sizes[0], sizes[2])
    fit = mb.fit_rates(system, q, {"tip": system.twist("tip", q, V)}, weights={"tip": 2.0})
    assert np.allclose(fit.rates, V, atol=1e-13)
    A = system.acceleration("tip", q, V, VDOT)
    assert np.allclose(mb.fit_accelerations(system, q, V, {"tip": A}).rates, VDOT, atol=1e-12)


def test_files_and_copies_keep_frames(tmp_path):
    """Model text, copies, other parameters; a URDF says that it has none."""
    mech = arm()
    assert mb.parse_model(mech.to_toml()) == mech
    hand = mech.bodies["hand"]
    assert copy.deepcopy(hand) == hand
    assert hand != mb.Body("hand", hand.inertia, hand.pose, frames={"tip": TIP})
    system = mech.assemble().with_parameters({"bodies.hand.mass": 2.0})
    assert [*system.frames] == ["eye", "tip", "palm"]
    assert system.frames["tip"].body == "hand"
    plain = mb.Mechanism("door")
    plain.add_body(mb.Body("door", hand.inertia, frames={"handle": TIP}))
    plain.add_joint(mb.RevoluteJoint("hinge"), plain.world, "door", frames=(np.eye(4), np.eye(4)))
    with pytest.warns(ModelFileWarning, match="named frames on bodies: 'handle'"):
        mb.save_urdf(plain, tmp_path / "door.urdf")


def test_links_on_fixed_joints_keep_their_names():
    """As ROS has tool frames."""
    text = """<robot name="arm"><link name="base"/>
    <joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/></joint>
    <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial></link>
    <joint name="flange" type="fixed"><parent link="arm"/><child link="tool0"/>
    <origin xyz="1 0 0" rpy="0 0 0.5"/></joint><link name="tool0"/></robot>"""
    for coordinates in (mb.RelativeCoordinates(), mb.AbsoluteCoordinates(joints=["j"])):
        system = mb.parse_urdf(text).mechanism().assemble(coordinates)
        q = system.close_loops()
        tool = translation((1, 0, 0)) @ rotation((0, 0, 1), 0.5)
        assert np.allclose(system.pose("tool0", q), system.pose("arm", q) @ tool)
        v = system.consistent_velocity({"j": 2.0}, q)
        assert np.allclose(system.twist("tool0", q, v, representation=mb.Hybrid())[2:5], [2, 0, 2])


def test_names_are_told_apart():
    """One name, one thing; messages say what is meant."""
    mech = arm()
    with pytest.raises(mb.DuplicateNameError, match="frame 'tip' on body 'hand'"):
        mech.add_body(mb.Body("tip"))
    for name in ("tip", "hand", "world"):
        with pytest.raises(mb.DuplicateNameError, match=f"'{name}'"):
            mech.add_body(mb.Body("other", frames={name: TIP}))
    assert "other" not in mech.bodies
    with pytest.raises(mb.UsageError, match="has the name of the body"):
        mb.Body("hand", frames={"hand": TIP})
    with pytest.raises(mb.ShapeError, match="frame 'x' must be an array"):
        mb.Body("hand", frames={"x": np.eye(3)})
    system, q = mech.assemble(), mech.assemble().reference_configuration()
    with pytest.raises(mb.NameUnknownError, match="did you mean 'tip'"):
        system.pose("tpi", q)
    with pytest.raises(mb.NameUnknownError, match="'tip' is a frame on body 'hand' and no body"):
        system.body_index("tip")
    with pytest.raises(mb.NameUnknownError, match="has no frame 'eye'; known are 'tip', 'palm'"):
        system.pose("hand", q, frame="eye")
    with pytest.raises(mb.UsageError, match="'hand' is on body 'hand', which is named already"):
        mb.fit_rates(system, q, {"tip": np.ones(6), "hand": np.ones(6)})
