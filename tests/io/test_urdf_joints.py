"""Joints of URDF files: rotations by quaternions, limits that are left out, faults side by side."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.io.xml.angles import rotation_from_rpy
from mbkit.spatial import rotation_from_quaternion

TWO = '<link name="a"/><link name="b"/>'


def robot(body, attributes=""):
    return f'<robot name="r"{attributes}>{body}</robot>'


def joint(inside="", kind="revolute", name="j", parent="a", child="b"):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def faults(body, attributes=""):
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_urdf(robot(body, attributes), source="r.urdf")
    return str(caught.value).split("\n")[1:]


# --------------------------------------------------------------------------------- rotations


def pose(origin):
    return mb.parse_urdf(robot(TWO + joint(origin, "fixed"))).joints[0].pose


@pytest.mark.parametrize("seed", range(3))
def test_quaternions_have_the_scalar_last(seed):
    """The same rotation as by angles: a half turn about x is 1 0 0 0."""
    rng = np.random.default_rng(seed)
    w, *xyz = quaternion = rng.normal(size=4)
    length = np.linalg.norm(quaternion)
    text = " ".join(repr(float(value / length)) for value in (*xyz, w))
    found = pose(f'<origin xyz="1 2 3" quat_xyzw="{text}"/>')
    expected = rotation_from_quaternion(quaternion / length)
    assert np.abs(found[:3, :3] - expected).max() < 1e-15
    assert found[:3, 3].tolist() == [1, 2, 3]
    turned = pose('<origin quat_xyzw="1 0 0 0"/>')
    assert np.abs(turned[:3, :3] - rotation_from_rpy(np.array([np.pi, 0, 0]))).max() < 1e-15


def test_quaternions_of_few_digits_are_made_unit():
    R = pose('<origin quat_xyzw="0.707 0 0 0.707"/>')[:3, :3]
    assert np.abs(R - rotation_from_rpy(np.array([np.pi / 2, 0, 0]))).max() < 1e-15


@pytest.mark.parametrize(
    ("origin", "fault"),
    [
        ('quat_xyzw="1 0 0 0" rpy="0 0 0"', "takes either rpy or quat_xyzw, got both"),
        ('quat_xyzw="1 1 0 0"', "quat_xyzw must be of length 1 to 0.001, got length 1.41421"),
        ('quat_xyzw="0 0 0 0"', "quat_xyzw must be of length 1 to 0.001, got length 0;"),
        ('quat_xyzw="0 0 1"', "quat_xyzw must be 4 numbers, got '0 0 1'"),
        ('quat_xyzw="0 0 1 w"', "quat_xyzw must be a number, got 'w'"),
    ],
)
def test_quaternions_that_are_none_are_refused(origin, fault):
    (found,) = faults(TWO + joint(f"<origin {origin}/>", "fixed"))
    assert found.startswith(f"r.urdf:1: joint 'j', <origin>: {fault}")


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2"])
def test_versions_that_are_read(version):
    assert mb.parse_urdf(robot('<link name="a"/>', f' version="{version}"')).notes == ()


@pytest.mark.parametrize("version", ["2.0", "1.3", "9.x", ""])
def test_other_versions_are_refused(version):
    (found,) = faults('<link name="a"/>', f' version="{version}"')
    assert f"version '{version}' is not known" in found
    assert "known are '1.0', '1.1', '1.2'." in found


# ------------------------------------------------------------------------------------ limits


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_missing_limits_are_told(tmp_path, kind):
    """A joint without them is free; one without bounds stands still: both are worth a word."""
    path = tmp_path / "m.urdf"
    third = '<link name="c"/>' + joint('<limit effort="1"/>', kind, "k", "b", "c")
    fourth = '<link name="d"/>' + joint('<limit upper="1"/>', kind, "m", "c", "d")
    path.write_text(robot(TWO + joint(kind=kind) + third + fourth))
    with pytest.warns(mb.ModelFileWarning) as caught:
        mech = mb.load_urdf(path)
    assert mech.joints["j"].limits == mb.JointLimits()
    assert mech.joints["k"].limits == mb.JointLimits(0, 0, effort=1)
    assert mech.joints["m"].limits == mb.JointLimits(0, 1)
    (told,) = (str(each.message).partition(": ")[2] for each in caught)
    assert told == (
        "joints without <limit>, which the format requires, get no limits: 'j'; joints whose "
        "<limit> has neither lower nor upper are limited to 0, as the format has it: 'k'."
    )
    notes = mb.read_urdf(path).notes
    assert any(
        "joint 'k', <limit> has no lower and no upper and no velocity: the least position is 0 and "
        "the greatest position is 0 and the velocity has no limit." in note
        for note in notes
    )
    assert any("joint 'm', <limit> has no lower and no velocity" in note for note in notes)


@pytest.mark.parametrize("kind", ["continuous", "fixed", "floating"])
def test_joints_that_need_no_limits_have_no_note_on_them(kind):
    assert mb.parse_urdf(robot(TWO + joint(kind=kind))).notes == ()


def test_bounds_of_continuous_joints_are_noted_if_they_say_something():
    quiet = '<limit lower="0" upper="0" effort="1" velocity="1"/>'
    assert mb.parse_urdf(robot(TWO + joint(quiet, "continuous"))).notes == ()
    (note,) = mb.parse_urdf(robot(TWO + joint(quiet.replace('"0"', '"2"'), "continuous"))).notes
    assert "lower and upper of a continuous joint not kept" in note


def test_a_coupling_without_numbers_is_one_to_one():
    third = '<link name="c"/>' + joint('<mimic joint="j"/>', "continuous", "k", "b", "c")
    urdf = mb.parse_urdf(robot(TWO + joint(kind="continuous") + third))
    assert (urdf.joints[1].mimic.multiplier, urdf.joints[1].mimic.offset) == (1.0, 0.0)
    assert urdf.coupled == ("k",)


def test_a_joint_coupled_to_itself_is_refused():
    (found,) = faults(TWO + joint('<mimic joint="j"/>', "continuous"))
    assert "joint 'j', <mimic>: couples the joint to itself" in found


# ---------------------------------------------------------------------------- faults side by side


def test_each_number_of_a_joint_is_looked_at():
    found = faults(
        TWO
        + joint(
            '<limit lower="1" upper="-1" effort="-1" velocity="-1"/>'
            '<dynamics damping="-3" friction="-1"/>'
        )
    )
    keys = ("velocity must be", "effort must be", "lower must be at most", "damping must be",
            "friction must be")  # fmt: skip
    assert [line.count(key) for line, key in zip(found, keys, strict=True)] == [1] * 5
    (found,) = faults(TWO + joint('<limit lower="1" upper="-1"/>'))
    assert "lower must be at most upper" in found


def test_a_joint_at_fault_hides_no_fault_of_the_tree():
    """Its type is unknown, but its links are known to be wrong, and a link stands twice."""
    found = faults('<link name="a"/>\n<link name="a"/>\n' + joint(kind="plan", parent="zz"))
    assert [line.split(": ", 1)[1].partition(";")[0] for line in found] == [
        "link 'a': the name is taken by the link in line 1",
        "joint 'j': type 'plan' is not known",
        "joint 'j': parent 'zz' is no link",
        "joint 'j': child 'b' is no link",
    ]
    # what is missing may be what would join the rest: no word on roots
    found = faults(TWO + '<joint name="j" type="fixed"><child link="b"/></joint>')
    assert len(found) == 1


def test_a_link_joined_to_itself_is_one_fault():
    """Not a loop of one joint besides."""
    found = faults(TWO + joint() + joint(name="k", parent="b", child="b"))
    assert len(found) == 2  # joined to itself, and the child of two joints
    (found,) = faults('<link name="a"/>' + joint(child="a"))
    assert "connects link 'a' to itself" in found


@pytest.mark.parametrize(
    "geometry",
    ['<box size="1 -1 1"/>', '<sphere radius="-1"/>', '<cylinder radius="1" length="-1"/>'],
)
def test_negative_sizes_are_refused(geometry):
    (found,) = faults(f'<link name="a"><visual><geometry>{geometry}</geometry></visual></link>')
    assert "sizes must not be negative" in found


def test_meshes_may_be_mirrored():
    mesh = '<mesh filename="m.stl" scale="1 -1 1"/>'
    text = f'<link name="a"><visual><geometry>{mesh}</geometry></visual></link>'
    assert mb.parse_urdf(robot(text)).links[0].shapes[0].size == (1, -1, 1)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('<link name="a"><xacro:leg side="l"/></link>', "<xacro:leg>"),
        ('<link name="a"/><gazebo><xacro:sensor/></gazebo>', "<xacro:sensor>"),
        ('<link name="${p}a"/>', "'${p}a'"),
        (TWO + joint('<limit lower="${low}" upper="1"/>'), "'${low}'"),
    ],
)
def test_xacro_is_refused_wherever_it_stands(body, found):
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_urdf(robot(body), source="r.urdf")
    assert f"is a xacro file, with {found} (r.urdf:1); mbkit reads the URDF" in str(caught.value)


def test_what_is_not_read_may_hold_what_looks_like_xacro():
    mb.parse_urdf(robot('<link name="a"/><gazebo><plugin path="${HOME}/x"/></gazebo>'))


# ----------------------------------------------------------------------------- planar joints


def test_the_axis_of_a_planar_joint_is_the_normal_of_its_plane():
    """Two shifts in the plane and a turn about the normal; limits of one axis say nothing."""
    inside = '<origin xyz="1 2 3"/><axis xyz="0 0.6 0.8"/><limit lower="0" upper="1" effort="3"/>'
    urdf = mb.parse_urdf(robot(TWO + joint(inside, "planar")))
    assert isinstance(urdf.joints[0].joint, mb.PlanarJoint)
    assert any("is not kept: the joint's type is 'planar'" in str(note) for note in urdf.notes)
    mech = urdf.mechanism()
    planar = mech.joints["j"].joint
    S = planar.motion_subspace(planar.neutral())
    np.testing.assert_allclose(S[:, 0], [0, 0.6, 0.8, 0, 0, 0], atol=1e-15)
    np.testing.assert_allclose([0, 0.6, 0.8] @ S[3:, 1:], 0.0, atol=1e-15)
    system = urdf.mechanism(root_joint=mb.FixedJoint("root_joint"))
    assert system.joints["j"].limits == mb.JointLimits()


def test_a_planar_joint_without_an_axis_is_noted():
    """It is x in the format's description; some programs have z."""
    urdf = mb.parse_urdf(robot(TWO + joint("", "planar")))
    assert urdf.joints[0].joint == mb.PlanarJoint("j", axis=(1, 0, 0))
    assert any("has no <axis>: the normal of its plane is x" in str(note) for note in urdf.notes)


# ------------------------------------------------------------------------------------- loops


MOMENTS = 'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"'


def two_arms(loop):
    """Two links that hang on hinges one metre apart, and what holds them together."""
    arms = "".join(
        joint(
            f'<origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>', "continuous", f"j{x}", "base", f"arm{x}"
        )
        + f'<link name="arm{x}"><inertial><mass value="1"/><inertia {MOMENTS}/></inertial></link>'
        for x in (0, 1)
    )
    return mb.parse_urdf(robot(f'<link name="base"/>{arms}{loop}'), source="r.urdf")


@pytest.mark.parametrize(
    "loop",
    [
        (
            '<loop_joint name="c" type="spherical"><link1 link="arm0" xyz="0.5 0 1"/>'
            '<link2 link="arm1" xyz="-0.5 0 1" rpy="1 2 3"/></loop_joint>'
        ),
        # as Isaac Sim's own pages have it
        (
            '<loop_joint name="c" type="spherical"><link1 link="arm0" xyz="0.5 0 1" rpy="0 0 0"/>'
            '<link1 link="arm1" xyz="-0.5 0 1" rpy="0 0 0"/></loop_joint>'
        ),
        (
            '<loop_joint name="c" type="continuous"><link1 link="arm0" xyz="0.5 0 1"/>'
            '<link2 link="arm1" xyz="-0.5 0 1"/><axis xyz="0 1 0"/></loop_joint>'
        ),
        (
            '<drake:ball_constraint><drake:ball_constraint_body_A name="arm0"/>'
            '<drake:ball_constraint_body_B name="arm1"/>'
            '<drake:ball_constraint_p_AP value="0.5 0 1"/>'
            '<drake:ball_constraint_p_BQ value="-0.5 0 1"/></drake:ball_constraint>'
        ),
    ],
)
def test_loops_of_simulators_are_closed(loop):
    """The points that are joined are one, where they can be: a triangle does not move."""
    urdf = two_arms(loop)
    assert urdf.notes == ()
    (found,) = urdf.loops
    assert found.links == ("arm0", "arm1")
    system = urdf.mechanism().assemble()
    q = system.close_loops([0.1, -0.1])
    ends = [
        system.pose(name, q) @ [*point, 1.0]
        for name, point in (("arm0", (0.5, 0, 1)), ("arm1", (-0.5, 0, 1)))
    ]
    assert np.abs(ends[0] - ends[1]).max() < 1e-9
    assert np.linalg.matrix_rank(system.constraint_jacobian(q), tol=1e-9) == 2


def loop_of(end):
    return f'<loop_joint name="j0" type="fixed"><link1 link="arm0"/>{end}</loop_joint>'


@pytest.mark.parametrize(
    ("loop", "fault"),
    [
        ('<loop_joint name="c" type="screw"/>', "type 'screw' is not known"),
        ('<loop_joint name="c" type="fixed"/>', "must have <link1> and <link2>, got 0"),
        (
            loop_of('<link2 link="arm3"/>'),
            "'arm3' is no link; did you mean",
        ),
        (
            loop_of('<link2 link="arm0"/>'),
            "connects link 'arm0' to itself",
        ),
    ],
)
def test_faults_of_loops(loop, fault):
    with pytest.raises(mb.ModelFileError, match=r"r\.urdf:1: loop joint '") as caught:
        two_arms(loop)
    assert fault in str(caught.value)
