"""SDF files: frames, joints and inertias mean what SDFormat says, and what is not read is named."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import mbkit as mb
from mbkit.io.xml.angles import rpy_from_rotation
from mbkit.spatial import inverse, rotation, translation
from tests.trees import random_inertia, random_pose

DATA = pathlib.Path(__file__).parents[1] / "data"
KINDS = ("revolute", "prismatic", "screw", "universal", "continuous", "fixed")


def text_of(values):
    return " ".join(repr(float(each)) for each in np.ravel(values))


def quaternion_xyzw(R):
    """Return x, y, z and the scalar part; a random rotation is no half turn."""
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    return [*(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w)), w]


def pose_text(C, form, relative=""):
    """Return a <pose> in one of the ways in which a file may write it."""
    about = f' relative_to="{relative}"' if relative else ""
    if form == 0:
        return f"<pose{about}>{text_of([*C[:3, 3], *rpy_from_rotation(C[:3, :3])])}</pose>"
    if form == 1:
        angles = np.rad2deg(rpy_from_rotation(C[:3, :3]))
        return f'<pose{about} degrees="true">{text_of([*C[:3, 3], *angles])}</pose>'
    values = text_of([*C[:3, 3], *quaternion_xyzw(C[:3, :3])])
    return f'<pose{about} rotation_format="quat_xyzw">{values}</pose>'


def inertial_text(inertia):
    J, names = inertia.moment_about_com, ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = [float(J[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    table = "".join(
        f"<{name}>{value!r}</{name}>" for name, value in zip(names, entries, strict=True)
    )
    return (
        f"<inertial><mass>{inertia.mass!r}</mass><pose>{text_of(inertia.com)} 0 0 0</pose>"
        f"<inertia>{table}</inertia></inertial>"
    )


def sdf(body, version="1.9", attributes=""):
    return f'<sdf version="{version}"><model name="m"{attributes}>{body}</model></sdf>'


def joint_of(kind, name, axes, point):
    """Return the joint with axes through a point, all in the world."""
    if kind in ("revolute", "continuous"):
        return mb.RevoluteJoint(name, axis=axes[0], point=point)
    if kind == "prismatic":
        return mb.PrismaticJoint(name, axis=axes[0])
    if kind == "screw":
        return mb.HelicalJoint(name, axis=axes[0], point=point, pitch=0.3 / (2.0 * np.pi))
    if kind == "universal":
        return mb.UniversalJoint(name, axis1=axes[0], axis2=axes[1], point=point)
    return mb.FixedJoint(name)


def random_file(rng):
    """Return a chain of all kinds as SDF, and as a mechanism with axes and points in the world.

    Each pose is relative to a frame that was met before, each axis expressed in one.
    """
    count = len(KINDS)
    outer = random_pose(rng)  # of the model
    poses = [random_pose(rng) for _ in range(count)]  # in the model
    known = {"__model__": np.eye(4)}
    mech = mb.Mechanism("m")
    lines = [pose_text(outer, 0)]
    for k, kind in enumerate(KINDS):
        base = [*known][int(rng.integers(len(known)))]
        link, joint = f"link{k}", f"joint{k}"
        while np.trace((inverse(known[base]) @ poses[k])[:3, :3]) < -0.9:
            poses[k] = random_pose(rng)
        relative = inverse(known[base]) @ poses[k]
        inertia = random_inertia(rng)
        named = "" if base == "__model__" and rng.integers(2) else base
        lines.append(
            f'<link name="{link}">{pose_text(relative, int(rng.integers(3)), named)}'
            f"{inertial_text(inertia)}</link>"
        )
        known[link] = poses[k]
        off = translation(rng.normal(size=3)) @ rotation(rng.normal(size=3), 1.0)
        axes = [rng.normal(size=3), np.zeros(3)]
        axes[1] = np.cross(axes[0], rng.normal(size=3)) + 0.1 * axes[0]
        inside = pose_text(off, int(rng.integers(3)))  # relative to the child
        known[joint] = poses[k] @ off
        frame = [*known][int(rng.integers(len(known)))]
        expressed = f' expressed_in="{frame}"' if rng.integers(2) else ""
        R = outer[:3, :3] @ known[frame if expressed else joint][:3, :3]
        for tag, axis in zip(("axis", "axis2"), axes, strict=True):
            if kind != "fixed" and (tag == "axis" or kind == "universal"):
                inside += f"<{tag}><xyz{expressed}>{text_of(axis)}</xyz></{tag}>"
        if kind == "screw":
            inside += "<screw_thread_pitch>0.3</screw_thread_pitch>"
        parent = f"link{k - 1}" if k else "world"
        lines.append(
            f'<joint name="{joint}" type="{kind}"><parent>{parent}</parent><child>{link}</child>'
            f"{inside}</joint>"
        )
        mech.add_body(mb.Body(link, inertia, pose=outer @ poses[k]))
        point = (outer @ known[joint])[:3, 3]
        made = joint_of(kind, joint, [R @ axis for axis in axes], point)
        mech.add_joint(made, parent, link)
    return sdf("".join(lines)), mech


@pytest.mark.parametrize("seed", range(4))
def test_a_chain_is_the_one_that_is_meant(seed):
    """Whatever frames poses and axes are given in: poses, mass matrix and bias are equal."""
    rng = np.random.default_rng(seed)
    text, mech = random_file(rng)
    found, own = (each.assemble() for each in (mb.parse_sdf(text).mechanism(), mech))
    assert found.position_names == own.position_names
    q, v = rng.normal(size=(2, own.nq))
    for name in mech.bodies:
        np.testing.assert_allclose(found.pose(name, q), own.pose(name, q), atol=1e-12)
    np.testing.assert_allclose(found.mass_matrix(q), own.mass_matrix(q), rtol=1e-11, atol=1e-11)
    bias = own.bias_force(q, v)
    np.testing.assert_allclose(found.bias_force(q, v), bias, atol=1e-11 * np.abs(bias).max())


def test_balls_turn_about_the_frame_of_the_joint():
    """The pose of the child is X_J R X_J^-1 X_L."""
    rng = np.random.default_rng(5)
    X_L, off = random_pose(rng), random_pose(rng)
    body = (
        f'<link name="a">{pose_text(X_L, 0)}</link>'
        f'<joint name="j" type="ball">{pose_text(off, 0)}<parent>world</parent><child>a</child>'
        "</joint>"
    )
    system = mb.parse_sdf(sdf(body)).mechanism().assemble()
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    T = np.eye(4)
    T[:3, :3] = mb.spatial.rotation_from_quaternion(q)
    X_J = X_L @ off
    np.testing.assert_allclose(system.pose("a", q), X_J @ T @ inverse(X_J) @ X_L, atol=1e-12)


@pytest.mark.parametrize(
    ("tag", "value", "metres"),
    [("screw_thread_pitch", 0.02, 0.02), ("thread_pitch", -100.0, 0.02 * np.pi)],
)
def test_threads(tag, value, metres):
    """Metres in a turn; the older tag has radians in a metre, of a left-handed thread."""
    body = (
        f'<link name="a"/><joint name="j" type="screw"><parent>world</parent><child>a</child>'
        f"<axis><xyz>1 0 0</xyz></axis><{tag}>{value}</{tag}></joint>"
    )
    system = mb.parse_sdf(sdf(body)).mechanism().assemble()
    assert system.pose("a", [2.0 * np.pi])[0, 3] == pytest.approx(metres)


FOUR_BAR = (
    '<link name="crank"/><link name="coupler"><pose>0 0 1 0 0 0</pose></link>'
    '<link name="rocker"><pose>2 0 0 0 0 0</pose></link>'
    + "".join(
        f'<joint name="{name}" type="revolute"><pose relative_to="__model__">{at} 0 0 0</pose>'
        f"<parent>{parent}</parent><child>{child}</child><axis><xyz>0 1 0</xyz></axis></joint>"
        for name, parent, child, at in (
            ("A", "world", "crank", "0 0 0"),
            ("B", "crank", "coupler", "0 0 1"),
            ("C", "coupler", "rocker", "2.2 0 1.5"),
            ("D", "rocker", "world", "2 0 0"),
        )
    )
)


def test_loops_are_closed():
    """A four-bar: four hinges, one degree of freedom, and its bars keep their lengths."""
    mech = mb.parse_sdf(sdf(FOUR_BAR)).mechanism()
    system = mech.assemble()
    assert len(system.loop_joints) == 1
    q = system.close_loops({"A": 0.3})
    ends = {
        "crank": (0, 0, 1, 1),
        "coupler": (2.2, 0, 0.5, 1),
        "rocker": (0.2, 0, 1.5, 1),
    }
    at = {name: (system.pose(name, q) @ end)[:3] for name, end in ends.items()}
    assert np.linalg.norm(at["coupler"] - at["rocker"]) < 1e-9
    assert np.linalg.norm(at["crank"] - at["coupler"]) == pytest.approx(np.hypot(2.2, 0.5))
    assert system.diagnose(q).mobility == 1


def test_nested_models_and_frames():
    """Poses go from model to model; a placement frame is what the pose of its model places."""
    rng = np.random.default_rng(6)
    X_hand, X_finger, X_tip = (random_pose(rng) for _ in range(3))
    body = (
        '<link name="arm"/><model name="hand" placement_frame="finger">'
        f'{pose_text(X_hand, 0, "arm")}<link name="palm"/><link name="finger">'
        f"{pose_text(X_finger, 0)}</link>"
        f'<frame name="tip" attached_to="finger">{pose_text(X_tip, 0)}</frame></model>'
        '<joint name="wrist" type="fixed"><parent>arm</parent><child>hand::tip</child></joint>'
        '<joint name="knuckle" type="revolute"><parent>hand</parent><child>hand::finger</child>'
        "<axis><xyz>0 0 1</xyz></axis></joint>"
    )
    document = mb.parse_sdf(sdf(body, attributes=' canonical_link="arm"'))
    assert [link.name for link in document.links] == ["arm", "hand::palm", "hand::finger"]
    assert [(joint.parent, joint.child) for joint in document.joints] == [
        ("arm", "hand::finger"),
        ("hand::palm", "hand::finger"),
    ]
    system = document.mechanism(root_joint=mb.FixedJoint("root")).assemble()
    q = [0.0]
    np.testing.assert_allclose(system.pose("hand::finger", q), X_hand, atol=1e-12)
    np.testing.assert_allclose(system.pose("hand::tip", q), X_hand @ X_tip, atol=1e-12)
    palm = X_hand @ inverse(X_finger)
    np.testing.assert_allclose(system.pose("hand::palm", q), palm, atol=1e-12)


def test_worlds():
    """Gravity, static models, models that float, and links on which no gravity acts."""
    text = (
        '<sdf version="1.10"><world name="w"><gravity>0 0 -2</gravity><light name="sun"/>'
        '<model name="wall"><static>true</static><pose>1 0 0 0 0 0</pose><link name="a"/></model>'
        '<model name="ball"><pose>0 3 0 0 0 0</pose><link name="a"><gravity>false</gravity></link>'
        '</model><model name="stone"><link name="a"/></model>'
        '<frame name="goal"><pose>1 1 1 0 0 0</pose></frame></world></sdf>'
    )
    document = mb.parse_sdf(text, source="w.sdf")
    mech = document.mechanism()
    assert list(mech.bodies) == ["wall::a", "ball::a", "stone::a"]
    assert list(mech.joints) == ["wall::a fixed", "ball::a free", "stone::a free"]
    system = mech.assemble()
    q = system.reference_configuration()
    assert system.pose("wall::a", q)[0, 3] == 1.0
    assert system.pose("ball::a", q)[1, 3] == 3.0
    fall = system.accelerations(q, np.zeros(12), system.forward_dynamics(q, np.zeros(12)))
    np.testing.assert_allclose(fall[1:, 5], [0.0, 0.0, -2.0], atol=1e-14)
    assert any("sdf/world/light is not read" in note for note in document.notes)
    assert any("frame 'goal' is one of the world" in note for note in document.notes)


def test_springs_dampers_and_couplings():
    """Of revolute joints; friction and limits are data, and mimic joints are constraints."""
    body = (
        '<link name="a"/><link name="b"/><joint name="i" type="revolute"><parent>world</parent>'
        "<child>a</child><axis><xyz>0 1 0</xyz><dynamics><damping>0.5</damping>"
        "<friction>0.1</friction><spring_stiffness>4</spring_stiffness><spring_reference>0.2"
        "</spring_reference></dynamics><limit><lower>-1</lower><upper>2</upper><effort>-1</effort>"
        "<velocity>3</velocity></limit></axis></joint>"
        '<joint name="j" type="prismatic"><parent>world</parent><child>b</child><axis>'
        '<xyz>0 1 0</xyz><mimic joint="i"><multiplier>2</multiplier><offset>0.3</offset>'
        "<reference>0.1</reference></mimic></axis></joint>"
    )
    mech = mb.parse_sdf(sdf(body, version="1.11")).mechanism()
    assert mech.joints["i"].limits == mb.JointLimits(-1.0, 2.0, velocity=3.0)
    assert mech.joints["i"].friction == mb.JointFriction(friction=0.1)
    system = mech.assemble()
    tau = system.generalized_forces([0.5, 0.0], [2.0, 0.0])
    np.testing.assert_allclose(tau, [-4.0 * 0.3 - 0.5 * 2.0, 0.0])
    q = system.close_loops({"i": 0.6})
    assert q[1] == pytest.approx(2.0 * (0.6 - 0.1) + 0.3)


def test_axes_of_old_versions():
    """Before 1.5 axes are those of the model, until 1.6 where the file says so."""
    for version, inside, expected in (
        ("1.4", "", (1, 0, 0)),
        ("1.6", "<use_parent_model_frame>true</use_parent_model_frame>", (1, 0, 0)),
        ("1.6", "", (0, 1, 0)),
    ):
        body = (
            '<link name="a"><pose>0 0 0 0 0 1.5707963267948966</pose></link>'
            '<joint name="j" type="prismatic"><parent>world</parent><child>a</child>'
            f"<axis><xyz>1 0 0</xyz>{inside}</axis></joint>"
        )
        system = mb.parse_sdf(sdf(body, version=version)).mechanism().assemble()
        np.testing.assert_allclose(system.pose("a", [1.0])[:3, 3], expected, atol=1e-15)


def test_shapes_and_meshes(tmp_path):
    """Visuals with their materials; meshes are found as those of a URDF."""
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "m.stl").write_text("solid")
    visuals = "".join(
        f'<visual name="v{k}"><pose>0 0 {k} 0 0 0</pose><geometry>{each}</geometry>'
        "<material><diffuse>1 0 0 1</diffuse><ambient>0 1 0 1</ambient></material></visual>"
        for k, each in enumerate(
            (
                "<box><size>1 2 3</size></box>",
                "<cylinder><radius>0.1</radius><length>2</length></cylinder>",
                "<ellipsoid><radii>1 2 3</radii></ellipsoid>",
                "<mesh><uri>meshes/m.stl</uri><scale>2 2 2</scale></mesh>",
                "<mesh><uri>model://other/x.dae</uri></mesh>",
                "<plane><normal>0 0 1</normal></plane>",
            )
        )
    )
    path = tmp_path / "m.sdf"
    path.write_text(sdf(f'<link name="a">{visuals}</link>'))
    shapes = mb.load_model(path).bodies["a"].shapes
    assert [type(each).__name__ for each in shapes] == [
        "BoxShape", "CylinderShape", "EllipsoidShape", "MeshShape", "MeshShape",
    ]  # fmt: skip
    assert [each.pose[2, 3] for each in shapes] == [0, 1, 2, 3, 4]
    assert shapes[0].color == (1.0, 0.0, 0.0, 1.0)
    assert shapes[3].file == str((tmp_path / "meshes" / "m.stl").resolve())
    assert shapes[4].file == "model://other/x.dae"
    assert any("geometry/plane is not read" in each for each in mb.read_sdf(path).notes)
    with pytest.warns(mb.ModelFileWarning, match="SDF file .*1 of 2 meshes are not found"):
        mb.load_sdf(path, package_roots=tmp_path)


def test_what_is_not_read_has_a_name():
    body = (
        '<link name="a"><collision name="c"/><sensor name="s"/><inertial><mass>1</mass>'
        "<inertia><ixx>9</ixx></inertia></inertial></link><plugin/>"
    )
    document = mb.parse_sdf(sdf(body), source="m.sdf")
    told = "\n".join(document.notes)
    for each in ("link/collision is", "link/sensor is", "model/plugin is", "is taken as it is"):
        assert each in told
    assert document.links[0].inertia.unphysical


LINK = '<link name="a"/>'


def joint(inside="", kind="revolute", parent="world", child="a"):
    return (
        f'<joint name="j" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
        f"{inside}</joint>"
    )


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("", "must have a link"),
        ('<include><uri>model://x</uri></include><link name="a"/>', "'gz sdf -p FILE' prints"),
        (LINK * 2, "the name 'a' is taken"),
        ('<link name="a"><pose>1 2</pose></link>', "must be 6 numbers, got '1 2'"),
        ('<link name="a"><pose>1 2 3 0 0 nan</pose></link>', "must be a number, got 'nan'"),
        ('<link name="a"><pose relative_to="c"/></link>', "there is no frame 'c'"),
        ('<link name="a"><pose relative_to="a"/></link>', "relative to itself"),
        (LINK + '<frame name="f" attached_to="f"/>', "itself; break the circle"),
        (LINK + joint(kind="gearbox"), "a gearbox is not read; add an mbkit.GearRatio"),
        (LINK + joint(kind="hinge"), "type 'hinge' is not known"),
        (LINK + joint(), "must have an element <axis>"),
        (LINK + joint("<axis><xyz>0 0 0</xyz></axis>"), "axis must have a direction"),
        (LINK + joint(child="c", kind="fixed"), "there is no frame 'c'"),
        (LINK + joint("<axis/>", kind="screw"), "must have an element <screw_thread_pitch>"),
        (
            LINK + joint('<axis><mimic joint="i"><multiplier>1</multiplier></mimic></axis>'),
            "no joint 'i'",
        ),
        (
            '<link name="a"><inertial><mass>-1</mass></inertial></link>',
            "mass",
        ),
        ('<link name="a"><inertial auto="true"/></link>', "needs shapes of collision"),
    ],
)
def test_faults_are_named_with_their_lines(body, fault):
    with pytest.raises(mb.ModelFileError, match=r"m\.sdf:1") as caught:
        mb.parse_sdf(sdf(body), source="m.sdf").mechanism()
    assert fault in str(caught.value)


def test_other_files_are_refused():
    for text, fault in (
        ('<robot name="r"/>', "a URDF has the suffix .urdf"),
        ('<sdf version="2.0"/>', "version '2.0' is not known"),
        ('<sdf version="1.9"/>', "must have one <model> or one <world>, got 0"),
        ('<!DOCTYPE sdf><sdf version="1.9"/>', "must have no DOCTYPE"),
    ):
        with pytest.raises(mb.ModelFileError, match="SDF file") as caught:
            mb.parse_sdf(text)
        assert fault in str(caught.value)
    two = mb.parse_sdf(sdf('<link name="a"/><link name="b"/>'))
    with pytest.raises(mb.UsageError, match=r"one group of links .* got 2"):
        two.mechanism(root_joint=mb.FixedJoint("root"))


@pytest.mark.parametrize("number", [0, 1])
def test_drake_reads_the_same(number):
    """Mass matrix and bias of chains with frames of all kinds, as Drake 1.58 has them."""
    case = json.loads((DATA / "drake_sdf.json").read_text())["cases"][number]
    system = mb.parse_sdf(case["sdf"]).mechanism().assemble()
    assert list(system.position_names) == case["names"]
    q, v = case["q"], case["v"]
    for found, expected in (
        (system.mass_matrix(q), case["mass_matrix"]),
        (system.bias_force(q, v), case["bias"]),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-13 * np.abs(expected).max())
