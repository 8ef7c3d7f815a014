"""URDF files: what is read of them, and what is refused, with its line."""

from __future__ import annotations

import os
import pathlib
import re
import warnings

import numpy as np
import pytest

import mbkit as mb
from mbkit.io.text_file import read_bytes
from mbkit.io.urdf import reader
from mbkit.io.xml.angles import rotation_from_rpy, rpy_from_rotation
from mbkit.spatial import rotation, translation

ARM = pathlib.Path(__file__).parents[1] / "data" / "gripper.urdf"


def elementary(axis, angle):
    return rotation(np.eye(3)["xyz".index(axis)], angle)[:3, :3]


@pytest.fixture(scope="module")
def urdf():
    """The small arm of the test data."""
    return mb.read_urdf(ARM)


# --------------------------------------------------------------------------- what is read


@pytest.mark.parametrize("seed", range(5))
def test_angles_are_about_fixed_axes_roll_first(seed):
    """R = Rz(yaw) Ry(pitch) Rx(roll), and back; near pitches of a right angle too."""
    rng = np.random.default_rng(seed)
    roll, pitch, yaw = rng.uniform(-3, 3, 3)
    R = rotation_from_rpy(np.array([roll, pitch, yaw]))
    expected = elementary("z", yaw) @ elementary("y", pitch) @ elementary("x", roll)
    assert np.abs(R - expected).max() < 4e-16
    for angle in (pitch, np.pi / 2, np.pi / 2 - 1e-8, -np.pi / 2 + 1e-5, 1.5708, 0.0, 1e-8):
        turned = rotation((1, 2, 3), roll)[:3, :3] @ rotation((1, 2, 3), -roll)[:3, :3]
        R = elementary("z", yaw) @ elementary("y", angle) @ elementary("x", roll) @ turned
        assert np.abs(rotation_from_rpy(rpy_from_rotation(R)) - R).max() < 2e-15


@pytest.mark.parametrize(
    "rpy", [(0.1, -1.5708, 3.0), (0, 0, 3.14159265359), (1.57, 0, -1.57), (0, 1.570796327, 0)]
)
def test_angles_of_few_digits_come_back_to_the_last_bit(rpy):
    R = rotation_from_rpy(np.array(rpy))
    assert np.array_equal(rotation_from_rpy(rpy_from_rotation(R)), R)


SHAPES = {
    "base": [
        mb.CylinderShape(0.1, 0.1, pose=mb.spatial.translation((0, 0, 0.05)), color=(0.5, 0.5, 0.5))
    ],
    "hand": [mb.BoxShape((0.2, 0.05, 0.05)), mb.SphereShape(0.03)],
}


def test_the_arm_is_what_a_reader_of_the_file_would_build(urdf):
    """The same by hand, number by number: frames, axes, inertias, limits, friction."""
    mech = mb.Mechanism("gripper arm")
    I = np.array([[0.05, 0.001, -0.002], [0.001, 0.04, 0.003], [-0.002, 0.003, 0.02]])  # noqa: E741
    R = rotation_from_rpy(np.array([0.1, -0.2, 0.3]))
    moment = R @ I @ R.T
    inertias = {
        "base": mb.SpatialInertia.from_com(4.0, (0, 0, 0), np.diag([0.02, 0.02, 0.03])),
        "column": mb.SpatialInertia.from_com(3, (0.01, -0.02, 0.2), 0.5 * (moment + moment.T)),
        "carriage": mb.SpatialInertia.zero(),
        "hand": mb.SpatialInertia.from_com(1.5, (0.1, 0, 0), np.diag([0.001, 0.004, 0.004])),
        "camera": mb.SpatialInertia.from_com(
            0.1, (0, 0, 0), np.diag([1e-4, 1e-4, 3e-4]), unphysical=True
        ),
        "balloon": mb.SpatialInertia.from_com(0.2, (0, 0, 0), 0.01 * np.eye(3)),
    }
    for name, inertia in inertias.items():
        mech.add_body(mb.Body(name, inertia, shapes=SHAPES.get(name, ())))

    def frames(xyz, rpy=(0, 0, 0)):
        C = translation(xyz)
        C[:3, :3] = rotation_from_rpy(np.array(rpy, dtype=float))
        return {"frames": (C, np.eye(4))}

    mech.add_joint(mb.FixedJoint("root_joint"), "world", "base", **frames((0, 0, 0)))
    mech.add_joint(
        mb.RevoluteJoint("turn"), "base", "column", **frames((0, 0, 0.1)),
        limits=mb.JointLimits(velocity=2, effort=50), friction=mb.JointFriction(0.5, 0.1),
    )  # fmt: skip
    mech.add_joint(
        mb.PrismaticJoint("lift", (-2, 0, 0)), "column", "carriage",
        **frames((0.05, 0, 0.4), (0, 1.5707963267948966, 0)),
        limits=mb.JointLimits(-0.1, 0.3, 0.5, 200),
    )  # fmt: skip
    mech.add_joint(
        mb.RevoluteJoint("elbow", (0.6, 0, 0.8)), "carriage", "hand",
        **frames((0.3, 0.02, -0.01), (0.3, -0.4, 0.5)),
        limits=mb.JointLimits(-1.5, 1.25, 3.5, 20),
    )  # fmt: skip
    mount = frames((0.05, 0, 0.03), (0, 0, 3.14159))
    mech.add_joint(mb.FixedJoint("camera mount"), "hand", "camera", **mount)
    mech.add_joint(mb.FreeJoint("tethered"), "base", "balloon", **frames((0, 0, 2)))
    assert urdf.mechanism() == mech
    with pytest.warns(mb.ModelFileWarning, match="inertias that no body has, of 'camera', are"):
        assert mb.load_model(ARM) == mech


def test_poses_are_products_along_the_tree(urdf):
    """Of the joints' origins and their motions, for any q."""
    system = urdf.mechanism().assemble()
    q = system.reference_configuration()
    q[:3] = 0.7, 0.2, -0.4
    poses = system.poses(q)
    C = {joint.name: joint.pose for joint in urdf.joints}
    column = C["turn"] @ rotation((0, 0, 1), 0.7)
    carriage = column @ C["lift"] @ translation((-0.2, 0, 0))
    hand = carriage @ C["elbow"] @ rotation((0.6, 0, 0.8), -0.4)
    camera = hand @ C["camera mount"]
    for name, expected in (("carriage", carriage), ("hand", hand), ("camera", camera)):
        assert np.abs(poses[system.body_index(name)] - expected).max() < 1e-15


TAKEN = (
    "link 'camera', <inertial> is taken as it is, though: Inertia: moment_about_com must keep the "
    "triangle inequality (no principal moment above the sum of the others), got principal moments "
    "[0.0001, 0.0001, 0.0003]"
)


def test_notes_say_what_is_not_read(urdf):
    """Each element and attribute once, with its first line; and moments that no body has."""
    notes = [note.partition(": ") for note in urdf.notes]
    assert [(place, text.split(";")[0]) for place, _, text in notes] == [
        ("gripper.urdf:40", "joint/safety_controller is not read."),
        ("gripper.urdf:48", "attribute joint/limit@current is not read."),
        (
            "gripper.urdf:65",
            TAKEN,
        ),
        ("gripper.urdf:81", "robot/gazebo is not read."),
    ]


def test_materials_are_colours():
    """By name, of the robot or of another shape, or of the shape itself; the rest is told."""
    sphere = "<geometry><sphere radius='1'/></geometry>"
    text = robot(
        "<material name='red'><color rgba='1 0 0 0.5'/><texture filename='t.png'/></material>"
        f"<link name='a'><visual>{sphere}<material name='red'/></visual>"
        f"<visual>{sphere}<material name='own'><color rgba='0 1 0 1'/></material></visual>"
        f"<visual>{sphere}<material name='none'/></visual>"
        f"<visual>{sphere}<material name=''><color rgba='0 255 0 1'/></material></visual>"
        f"<visual><geometry><box size='1 0 1'/></geometry></visual>"
        f"<collision>{sphere}</collision></link>"
        f"<link name='b'><visual>{sphere}<material name='own'/></visual></link>"
        "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
    )
    urdf = mb.parse_urdf(text)
    mech = urdf.mechanism()
    colors = [shape.color for shape in mech.bodies["a"].shapes]
    assert colors == [(1.0, 0.0, 0.0, 0.5), (0.0, 1.0, 0.0, 1.0), None, None]
    assert mech.bodies["b"].shapes[0].color == (0.0, 1.0, 0.0, 1.0)
    assert {note.partition(": ")[2] for note in urdf.notes} == {
        "robot/material/texture is not read.",
        "attribute link/visual/material/color@rgba is not read.",
    }
    assert mb.parse_model(mech.to_toml()) == mech


def test_a_root_link_called_world_keeps_its_shapes(tmp_path):
    sphere = "<visual><geometry><sphere radius='1'/></geometry></visual>"
    text = robot(
        f"<link name='world'>{sphere}</link><link name='b'/>"
        "<joint name='j' type='fixed'><parent link='world'/><child link='b'/></joint>"
    )
    mech = mb.parse_urdf(text).mechanism()
    assert mech.world.shapes == (mb.SphereShape(1.0),)
    mb.save_urdf(mech, tmp_path / "copy.urdf")
    assert mb.load_urdf(tmp_path / "copy.urdf") == mech


def test_shapes_are_data(urdf):
    shapes = {link.name: link.shapes for link in urdf.links}
    (disc,) = shapes["base"]
    assert (disc.use, disc.kind, disc.size) == ("visual", "cylinder", (0.1, 0.1))
    assert disc.pose[2, 3] == 0.05
    (mesh,) = shapes["column"]
    assert (mesh.use, mesh.size) == ("collision", (1e-3,) * 3)
    assert mesh.filename == "package://gripper_arm/meshes/column.stl"
    assert [shape.kind for shape in shapes["hand"]] == ["box", "sphere"]


def test_a_floating_base_stands_first():
    """The root joint is the user's, with six velocities before all others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mech = mb.load_urdf(ARM, root_joint=mb.FreeJoint("base"))
    assert next(iter(mech.joints)) == "base"
    assert mech.assemble().velocity_slice("base") == slice(0, 6)


def robot(body, name="r"):
    return f'<robot name="{name}">{body}</robot>'


TWO = '<link name="a"/><link name="b"/>'


def joint(inside="", kind="revolute", name="j", parent="a", child="b"):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def test_defaults_are_those_of_the_format():
    """The axis is x, the origin the identity, absent bounds are zero; a missing limit is noted."""
    urdf = mb.parse_urdf(robot(TWO + joint('<limit effort="1" velocity="2"/>')))
    (only,) = urdf.joints
    assert only.joint == mb.RevoluteJoint("j", (1, 0, 0))
    assert np.array_equal(only.pose, np.eye(4))
    assert only.limits == mb.JointLimits(0, 0, 2, 1)
    urdf = mb.parse_urdf(robot(TWO + joint()))
    assert urdf.joints[0].limits == mb.JointLimits()
    assert "joint 'j' has no <limit>, which the format requires for its type" in urdf.notes[0]
    assert mb.parse_urdf(robot(TWO + joint(kind="spherical"))).joints[0].joint.num_velocities == 3


def test_a_root_link_called_world_is_the_world():
    """Its joints start from the inertial frame; it cannot float, and its mass is told as lost."""
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial>"
    )
    text = robot(f'<link name="world">{inertial}</link><link name="b"/>' + joint(parent="world"))
    urdf = mb.parse_urdf(text)
    mech = urdf.mechanism()
    assert list(mech.bodies) == ["b"]
    assert mech.joints["j"].predecessor == "world"
    assert any("its mass of 1 kg is not kept" in note for note in urdf.notes)
    with pytest.raises(mb.UsageError, match="link 'world' is the inertial frame by its name"):
        urdf.mechanism(root_joint=mb.FreeJoint("f"))
    below = mb.parse_urdf(robot('<link name="a"/><link name="world"/>' + joint(child="world")))
    with pytest.raises(mb.ModelFileError, match="link 'world' must be the root"):
        below.mechanism()


def test_the_weld_to_the_world_evades_names_that_are_taken():
    urdf = mb.parse_urdf(robot(TWO + joint(name="root_joint")))
    assert list(urdf.mechanism().joints) == ["root_joint_", "root_joint"]
    with pytest.raises(mb.UsageError, match="has a joint 'root_joint' already"):
        urdf.mechanism(root_joint=mb.FreeJoint("root_joint"))
    with pytest.raises(mb.UsageError, match=r"root_joint must be an mbkit\.Joint, got 'free'"):
        urdf.mechanism(root_joint="free")


def test_coupled_joints_get_a_constraint_or_are_refused_or_move_on_their_own(tmp_path):
    path = tmp_path / "m.urdf"
    third = '<link name="c"/>' + joint('<mimic joint="j" multiplier="2"/>', name="k", child="c")
    path.write_text(robot(TWO + joint() + "\n" + third))
    with pytest.raises(mb.ModelFileError, match=r"couples joints by <mimic>.*m\.urdf:2\): 'k'"):
        mb.load_urdf(path, mimic="refuse")
    with pytest.warns(mb.ModelFileWarning, match="joints without <limit>"):
        gear = mb.load_urdf(path).constraints["k mimics j"]
    assert gear == mb.GearRatio("k mimics j", "j", "k", ratio=2.0)
    with pytest.warns(mb.ModelFileWarning, match="that <mimic> couples move on their own: 'k'"):
        assert len(mb.load_urdf(path, mimic="independent").joints) == 3
    assert mb.read_urdf(path).joints[1].mimic.multiplier == 2.0
    with pytest.raises(mb.UsageError, match="'refuse' or 'independent', got 'drop'"):
        mb.load_urdf(path, mimic="drop")


# ------------------------------------------------------------------------ what is refused

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'

FAULTS = {
    "": "<robot>: must have a link, got none",
    "<link/>": "link '': must have the attribute name; give it.",
    '<link name=" a"/>': "<link>: Body name must have no blanks at its ends, got ' a'.",
    '<link name="a"/><link name="a"/>': "link 'a': the name is taken by the link in line 1",
    TWO: "link 'b': all links but one must be the child of a joint; no joint leads to 'a' (line 1)",
    TWO + joint(kind="revolut"): "joint 'j': type 'revolut' is not known; did you mean 'revolute'?",
    TWO + joint(name="j[0]"): "<joint>: Joint name must have no square brackets, got 'j[0]'",
    TWO + joint(child="c"): "joint 'j': child 'c' is no link; known are 'a', 'b'.",
    TWO + joint(child="a"): "joint 'j': connects link 'a' to itself; parent and child must differ.",
    TWO + joint() + joint(name="k"): (
        "joint 'k': link 'b' is the child of joint 'j' (line 1) already; a URDF is a tree"
    ),
    TWO + joint() + joint(name="k", parent="b", child="a"): "joints 'k', 'j' close a loop; a URDF",
    TWO + joint('<axis xyz="0 0 0"/>'): "joint 'j', <axis>: xyz must have a direction, got zero",
    TWO + joint('<axis xyz="0 1"/>'): "joint 'j', <axis>: xyz must be 3 numbers, got '0 1'",
    TWO + joint('<axis xyz="0 1 l"/>'): "joint 'j', <axis>: xyz must be a number, got 'l'; give a",
    TWO + joint("<axis/>"): "joint 'j', <axis>: must have the attribute xyz; give it.",
    TWO + joint('<origin xyz="0 1 nan"/>'): "joint 'j', <origin>: xyz must be a number, got 'nan'",
    TWO + joint('<origin rpy="0 1 1e999"/>'): "joint 'j', <origin>: rpy must be finite, got",
    TWO + joint("<origin/><origin/>"): "joint 'j', <origin>: is given twice, first in line 1",
    TWO + joint('<limit lower="1" upper="0"/>'): (
        "joint 'j', <limit>: JointLimits: lower must be at most upper"
    ),
    TWO + joint('<limit effort="-1"/>'): "joint 'j', <limit>: JointLimits: effort must be zero or",
    TWO + joint('<dynamics damping="-1"/>'): "joint 'j', <dynamics>: JointFriction: damping must",
    '<link name="a"><inertial/></link>': "link 'a', <inertial>: must have an element <mass>; give",
    '<link name="a"><inertial><mass value="1"/></inertial></link>': (
        "link 'a', <inertial>: must have an element <inertia>; give it."
    ),
    f'<link name="a"><inertial><mass value="-1"/>{INERTIA}</inertial></link>': (
        "link 'a', <inertial>: Inertia: mass must be finite and positive"
    ),
    f'<link name="a"><inertial><mass value="1_0"/>{INERTIA}</inertial></link>': (
        "link 'a', <inertial>, <mass>: value must be a number, got '1_0'"
    ),
    '<link name="a"><visual><geometry/></visual></link>': (
        "link 'a', <visual>, <geometry>: must have one of <box>, <cylinder>, <capsule>, <sphere>"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "fault"), FAULTS.items(), ids=FAULTS.values())
def test_fault_is_told_with_its_line(body, fault):
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_urdf(robot(body), source="here/r.urdf")
    heading, *lines = str(caught.value).split("\n")
    assert heading.startswith("URDF file 'here/r.urdf' has ")
    assert any(line.startswith(f"r.urdf:1: {fault}") for line in lines), lines


def test_all_faults_come_at_once_by_lines():
    text = (
        '<robot name="">\n<link name="a">\n<inertial>\n<mass value="x"/>\n</inertial></link>\n'
        + joint('<axis xyz="a b c"/>', child="zz")
        + "\n</robot>"
    )
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_urdf(text, source="r.urdf")
    heading, *lines = str(caught.value).split("\n")
    assert heading == "URDF file 'r.urdf' has 7 faults:"
    assert [int(line.split(":")[1]) for line in lines] == [1, 3, 4, 6, 6, 6, 6]
    assert lines[-1] == "r.urdf:6: joint 'j': child 'zz' is no link; known are 'a'."


REFUSED = {
    "<robot": "is no XML: unclosed token (r.urdf:1)",
    "": "is no XML: no element found (r.urdf:1)",
    "<robot>\n</robo>": "is no XML: mismatched tag (r.urdf:2)",
    '<robot name="a" name="b"/>': "is no XML: duplicate attribute (r.urdf:1)",
    "<robot>\n&lol;</robot>": "is no XML: undefined entity (r.urdf:2)",
    "<sdf/>": "must have the root element <robot>, got <sdf> (r.urdf:1)",
    '\n<!DOCTYPE robot SYSTEM "file:///etc/passwd"><robot/>': "must have no DOCTYPE, which can",
    '<!DOCTYPE r [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><robot name="&c;"/>': "must have no DOCTYPE",
    "<a>" * 65: "has elements nested more than 64 deep, with <a>",
    '<?xml version="1.0" encoding="latin-1"?>\n<robot name="é"/>': "must be UTF-8 text, and says",
    '<robot name="r">\n<xacro:include filename="x"/></robot>': (
        "is a xacro file, with <xacro:include> (r.urdf:2); mbkit reads the URDF that is made of it"
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items(), ids=REFUSED.values())
def test_what_is_no_urdf_is_refused(text, message):
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_urdf(text, source="r.urdf")
    assert str(caught.value).startswith(f"URDF file 'r.urdf' {message}")
    assert re.search(r"r\.urdf:\d", str(caught.value))


def test_too_many_elements_are_refused(monkeypatch):
    monkeypatch.setattr("mbkit.io.xml.elements.MAX_ELEMENTS", 10)
    with pytest.raises(mb.ModelFileError, match="has more than 10 elements"):
        mb.parse_urdf(robot('<link name="a"/>' * 10))


def test_files_that_are_none_are_refused(tmp_path, monkeypatch):
    """Before they are opened: a pipe would wait for ever, a device never end."""
    with pytest.raises(mb.ModelFileError, match=r"'.*none\.urdf' cannot be read: No such file"):
        mb.load_urdf(tmp_path / "none.urdf")
    with pytest.raises(mb.ModelFileError, match="must be a regular file, and is a directory"):
        mb.load_urdf(tmp_path)
    os.mkfifo(tmp_path / "pipe.urdf")
    for special in (tmp_path / "pipe.urdf", "/dev/zero"):
        with pytest.raises(mb.ModelFileError, match="and is a device or a pipe"):
            mb.load_urdf(special)
        with pytest.raises(mb.ModelFileError, match="and is a device or a pipe"):
            read_bytes(pathlib.Path(special), "File", 10)
    with pytest.raises(mb.ModelFileError, match="is a xacro file; mbkit reads the URDF"):
        mb.load_model(tmp_path / "r.urdf.xacro")
    with pytest.raises(mb.ModelFileError, match="cannot be read: embedded null"):
        mb.load_urdf("a\0.urdf")
    (tmp_path / "r.urdf").write_bytes(
        b'\xef\xbb\xbf<robot name="r"><link name="\xc3\xa9"/></robot>'
    )
    assert list(mb.load_urdf(tmp_path / "r.urdf").bodies) == ["é"]
    (tmp_path / "r.urdf").write_bytes(b'<robot>\n<link name="\xe9"/></robot>')
    with pytest.raises(mb.ModelFileError, match=r"must be UTF-8 text, got byte 0xe9 .*r\.urdf:2"):
        mb.load_urdf(tmp_path / "r.urdf")
    monkeypatch.setattr(reader, "MAX_SIZE", 10)
    with pytest.raises(mb.ModelFileError, match="must have at most 10 bytes, got 32"):
        mb.load_urdf(tmp_path / "r.urdf")


# ---------------------------------------------------------------------------------- meshes


@pytest.fixture
def meshes(tmp_path):
    """Find the mesh of a name, from a package with one mesh and a secret beside it."""
    package = tmp_path / "share" / "pack"
    (package / "meshes").mkdir(parents=True)
    (package / "urdf").mkdir()
    (package / "meshes" / "m.stl").write_text("solid")
    (tmp_path / "secret").write_text("secret")
    (package / "link.stl").symlink_to(tmp_path / "secret")

    def find(name, *roots):
        path = package / "urdf" / "r.urdf"
        mesh = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
        path.write_text(robot(f'<link name="a">{mesh}</link>'))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = mb.read_urdf(path).mesh_files([tmp_path / root for root in roots])
        return [str(file.relative_to(tmp_path)) for file in found.values()], caught

    return find


def test_a_package_of_its_own_is_looked_through(meshes, tmp_path):
    """Where a package.xml stands above the file; what is not found keeps its name."""
    for marked in (False, True):
        if marked:
            (tmp_path / "share" / "pack" / "package.xml").write_text("<package/>")
        found, _ = meshes("package://pack/meshes/m.stl")
        assert found == ["share/pack/meshes/m.stl"] * marked
        path = tmp_path / "share" / "pack" / "urdf" / "r.urdf"
        (shape,) = mb.load_urdf(path).bodies["a"].shapes
        file = str((tmp_path / "share/pack/meshes/m.stl").resolve())
        assert shape == mb.MeshShape(file=file if marked else "package://pack/meshes/m.stl")
        mb.save_urdf(mb.load_urdf(path), tmp_path / "copy.urdf")
        assert mb.load_urdf(tmp_path / "copy.urdf") == mb.load_urdf(path)
    with pytest.raises(mb.ModelFileError, match=r"package://lost/m\.stl"):
        mb.MeshShape(file="package://lost/m.stl").mesh()


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("package://pack/meshes/m.stl", "share"),
        ("package://pack/meshes/m.stl", "share/pack"),  # the package itself
        ("package:///pack/meshes/m.stl", "share"),  # three strokes: the package's name is empty
        ("model://pack/meshes/m.stl", "share"),
        ("../meshes/m.stl", "share"),
        ("meshes/m.stl", "share/pack"),
    ],
)
def test_meshes_are_found_below_the_roots(meshes, name, root):
    found, told = meshes(name, root)
    assert found == ["share/pack/meshes/m.stl"]
    assert not told


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("package://pack/../../secret", "is outside of the given folders"),
        ("package://pack/%2e%2e/%2e%2e/secret", "is outside of the given folders"),
        ("../../../secret", "is outside of the given folders"),
        ("/etc/passwd", "is outside of the given folders"),
        ("file:///etc/passwd", "is outside of the given folders"),
        ("package://pack/link.stl", "is outside of the given folders"),  # a link to the secret
        ("package://pack/meshes", "is no file there"),
        ("package://pack/none.stl", "is no file there"),
        ("http://example.com/m.stl", "is an address (http), and nothing is fetched"),
        ("file://host/m.stl", "is no file there"),
        ("", "is no name of a file"),
    ],
)
def test_meshes_elsewhere_are_not_found_and_counted(meshes, name, why):
    found, (told,) = meshes(name, "share")
    assert not found
    assert "1 of 1 meshes are not found" in str(told.message)
    assert why in str(told.message)


def test_without_roots_nobody_looks_for_meshes_but_beside_the_file(meshes):
    """Files of other folders are not even asked for."""
    found, (told,) = meshes("../meshes/m.stl")
    assert not found
    assert "is outside of the given folders" in str(told.message)
