"""Model files: round trips, and all faults with their places."""

import pathlib
import re
import sys
import tomllib
import types

import attrs
import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import tomli_w

import mbkit as mb
from mbkit import SpatialInertia
from mbkit.io import load_model, parse_model, save_model
from mbkit.io.toml import loading as module_under_test
from mbkit.io.toml_text.lines import lines_of_keys
from mbkit.joints import Joint
from mbkit.spatial import rotation, translation

numbers = st.floats(-1e3, 1e3)
vectors = st.tuples(numbers, numbers, numbers)
# not so short that dividing by them overflows
axes = vectors.filter(lambda vector: max(map(abs, vector)) > 1e-9)
turns = st.just((0.0, 0.0, 0.0)) | axes
poses = st.builds(rotation, axes, numbers, vectors)
# letters, digits, punctuation, blanks inside, letters of other scripts: what needs quoting in TOML
names = st.text(st.sampled_from("aZ0_-.\"'\\ .#=ßλ"), min_size=1, max_size=6).filter(
    lambda name: name == name.strip() and name != "world"
)


bounds = st.floats(0.0, allow_infinity=True)


@st.composite
def joint_data(draw, joint):
    """Limits and friction, a number or one for each entry of the joint."""
    nq, nv = joint.num_positions, joint.num_velocities

    def entries(count, values):
        lists = st.lists(values, min_size=count, max_size=count) if count else values
        return draw(values | lists)

    is_composed = not joint.positions_add
    pair = (
        (None, None)
        if is_composed
        else (entries(nq, bounds.map(lambda bound: -bound)), entries(nq, bounds))
    )
    return {
        "limits": mb.JointLimits(*pair, entries(nv, bounds), entries(nv, bounds)),
        "friction": mb.JointFriction(entries(nv, st.floats(0, 1e9)), entries(nv, st.floats(0, 9))),
    }  # fmt: skip


@st.composite
def mechanisms(draw):
    """Mechanisms of all joints in all three descriptions, with loops too."""
    mech = mb.Mechanism(draw(names), gravity=draw(vectors))
    bodies = [mech.world]
    for name in draw(st.lists(names, unique=True, max_size=5)):
        size = draw(st.tuples(*[st.floats(1e-3, 10.0)] * 3))
        box = SpatialInertia.box(draw(st.floats(0.01, 100.0)), size=size).transformed(draw(poses))
        inertia = draw(st.sampled_from([SpatialInertia.zero(), box]))
        bodies.append(mech.add_body(mb.Body(name, inertia, draw(st.just(np.eye(4)) | poses))))
    for name in draw(st.lists(names, unique=True, max_size=6 if len(bodies) > 1 else 0)):
        ends = draw(st.permutations(bodies))[:2]
        axis, point = draw(axes), draw(vectors)
        joint = draw(
            st.sampled_from(
                [
                    mb.ScrewJoint(name, (*draw(turns), *axis)),
                    mb.RevoluteJoint(name, axis, point),
                    mb.PrismaticJoint(name, axis, point),
                    mb.HelicalJoint(name, axis, point, pitch=draw(numbers)),
                    mb.SphericalJoint(name, point),
                    mb.SphericalJoint(name, point, coordinates="first kind"),
                    mb.SphericalJoint(name, point, coordinates="second kind", order="zxz"),
                    mb.FreeJoint(name),
                    mb.FreeJoint(name, coordinates="first kind"),
                    mb.FixedJoint(name),
                    mb.CylindricalJoint(name, axis, point),
                    mb.UniversalJoint(name, (0, 0, 1), (1, 0, 0.3), point),
                    mb.ConstantVelocityJoint(name, axis, point),
                    mb.TranslationalJoint(name, ((1, 2, 3), (0, 1, 0.1))),
                    mb.PlanarJoint(name, axis, point),
                    mb.PlanarJoint(
                        name, axis, point, coordinates="second kind", order=("y", "angle", "x")
                    ),
                    mb.HelicalPlanarJoint(name, axis, point, pitch=draw(numbers)),
                    mb.SchoenfliesJoint(name, axis, point, coordinates="first kind"),
                    mb.CompositeJoint(
                        name,
                        mb.HelicalJoint("a b", axis, point, pitch=draw(numbers)),
                        mb.CompositeJoint("c", mb.SphericalJoint("d", point)),
                    ),
                ]
            )
        )
        place = draw(
            st.just({})
            | st.fixed_dictionaries({"frames": st.tuples(poses, poses)})
            | st.fixed_dictionaries(
                {"reference": poses, "screws_in": st.sampled_from(["successor", "predecessor"])}
            )
        )
        data = draw(st.just({}) | joint_data(joint))
        mech.add_joint(joint, *ends, **place, **data)
    return mech


@hypothesis.settings(max_examples=25)
@hypothesis.given(mechanisms())
def test_round_trip_is_exact(mech):
    """Reading gives an equal mechanism, to the last bit; writing that gives the same text."""
    text = mech.to_toml()
    again = parse_model(text)
    assert again == mech
    assert again.to_toml() == text


def paths_of(table, above=()):
    """Return the full names of all keys; tables in an array have the same."""
    for key, value in table.items():
        yield (*above, key)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                yield from paths_of(each, (*above, key))


@pytest.mark.long
@hypothesis.given(mechanisms())
def test_every_key_has_the_line_it_stands_in(mech):
    """All of them, and no others; the text of the line has the last of their names."""
    text = mech.to_toml()
    lines = lines_of_keys(text)
    assert set(lines) == set(paths_of(tomllib.loads(text)))
    written = text.split("\n")
    for path, line in lines.items():
        last = tomli_w.dumps({path[-1]: 0}).removesuffix(" = 0\n")
        assert last in written[line - 1]


def test_lines_are_counted_through_values_of_several_lines():
    text = 'a = """\n[x]\n"""\nb = [\n1, # ]\n{c = 1}]\nd = {e = {f = [\n2]}, g.h = 3}\n[[i]]\n'
    lines = lines_of_keys(text)
    assert lines == {
        ("a",): 1, ("b",): 4, ("b", "c"): 6, ("d",): 7, ("d", "e"): 7, ("d", "e", "f"): 7,
        ("d", "g"): 8, ("d", "g", "h"): 8, ("i",): 9,
    }  # fmt: skip


def test_file_round_trip(tmp_path):
    """The same through a file, which is replaced as a whole."""
    mech = mb.Mechanism("m")
    mech.add_joint(mb.RevoluteJoint("Gelenk ä"), "world", mech.add_body(mb.Body("Körper")))
    path = tmp_path / "model.toml"
    path.write_text("something else")
    save_model(mech, path)
    assert load_model(path) == mech
    assert path.read_text(encoding="utf-8") == mech.to_toml()
    assert [each.name for each in tmp_path.iterdir()] == ["model.toml"]


#: What stands before the pieces of docs/model-file.md that are no whole model, by their order.
HEADS = {
    "expressions": "",
    "a body from dimensions": "[parameters]\nL = 0.4\n",
    "shapes": "[bodies.hand]\nmass = 1.0\nmoment_about_com = [0.1, 0.1, 0.1]\n",
    "motions": "[parameters]\namplitude = 0.1\nfrequency = 2.0\n[bodies.cart]\n[bodies.arm]\n",
}


@pytest.mark.parametrize("which", HEADS)
def test_pieces_of_models_in_the_documentation_are_read(which, tmp_path):
    """docs/model-file.md: what each says is in the mechanism."""
    page = pathlib.Path(__file__).parents[2] / "docs" / "model-file.md"
    pieces = page.read_text(encoding="utf-8").split("```toml\n")[2:]
    assert len(pieces) == len(HEADS)
    piece = pieces[list(HEADS).index(which)].split("```")[0]
    path = tmp_path / "model.toml"
    path.write_text(f'mbkit_model = 1\nname = "piece"\n{HEADS[which]}{piece}')
    mech = load_model(path)
    bodies = mech.bodies
    if which == "expressions":
        assert bodies["rod"].inertia.mass == pytest.approx(2700.0 * np.pi * 0.01**2 * 0.4)
    elif which == "a body from dimensions":
        assert bodies["rod"].radius == 0.01
    elif which == "shapes":
        assert [type(each).__name__ for each in bodies["hand"].shapes] == ["BoxShape", "MeshShape"]
    else:
        assert {name for name, each in mech.joints.items() if each.motion} == {"rail", "crank"}


def test_the_example_of_the_documentation_is_as_it_says():
    """docs/model-file.md: read, compared with the same in Python, assembled."""
    page = pathlib.Path(__file__).parents[2] / "docs" / "model-file.md"
    text = page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    mech = parse_model(text)
    expected = mb.Mechanism("cart and pendulum")
    cart = expected.add_body(
        mb.Body("cart", SpatialInertia.from_com(3.0, (0, 0, 0.1), np.diag([0.02, 0.05, 0.06])))
    )
    tube = SpatialInertia.cylinder(density=2700.0, radius=0.01, length=0.8)
    tube = tube.transformed(translation((0, 0, -0.4)))
    shape = mb.CylinderShape(0.01, 0.8, pose=translation((0, 0, -0.4)))
    rod = expected.add_body(mb.Body("rod", tube, translation((0, 0, 0.2)), shapes=[shape]))
    sphere = SpatialInertia.sphere(0.5, radius=0.05)
    bob = expected.add_body(mb.Body("bob", sphere, shapes=[mb.SphereShape(0.05)]))
    turned = translation((1.0, 0, 0)) @ np.diag([1.0, -1.0, -1.0, 1.0])
    moment = np.diag([1e-4] * 3)
    ball = expected.add_body(
        mb.Body("ball", SpatialInertia.from_origin(0.1, (0, 0, 0), moment), turned)
    )
    expected.add_joint(mb.PrismaticJoint("slide", (1, 0, 0)), expected.world, cart)
    limits, friction = mb.JointLimits(-1.5, 1.5, effort=20.0), mb.JointFriction(damping=0.05)
    hinge = mb.RevoluteJoint("hinge", (0, 1, 0), (0, 0, 0.2))
    expected.add_joint(hinge, cart, rod, limits=limits, friction=friction)
    expected.add_joint(mb.FixedJoint("weld"), rod, bob, reference=translation((0, 0, -0.8)))
    frames = translation((1, 0, 0)), np.eye(4)
    expected.add_joint(mb.FreeJoint("floating"), expected.world, ball, frames=frames)
    assert mech == expected
    assert parse_model(mech.to_toml()) == mech
    assert mech.assemble().nv == 8


HEAD = 'mbkit_model = 1\nname = "m"\n'
BODY = "[bodies.b]\n"
JOINT = '[bodies.b]\n[joints.j]\npredecessor = "world"\nsuccessor = "b"\n'

FAULTS = {
    "gravity = [0, 0]": "gravity: must be an array of 3 numbers, got [0, 0].",
    "gravity = [0, -inf, nan]": (
        "gravity: the array must be finite, got -inf at [1] and 1 more; give an ordinary number"
    ),
    'gravity = [0, 0, "1"]': "gravity: must be an array of numbers alone, got [0, 0, '1'].",
    "gravty = [0, 0, 1]": "gravty: unknown key; did you mean 'gravity'?",
    "bodies = 3": "bodies: ",
    "joints.j = 3": "joints.j: must be a table, got 3.",
    "bodies.b = 3": "bodies.b: must be a table, got 3.",
    "[bodies.world]": "bodies.world: Body name 'world' is taken by the inertial frame",
    '[bodies." b"]': 'bodies." b": Body name must have no blanks at its ends',
    BODY + 'mass = "1"': "bodies.b.mass: must be a number, got '1'.",
    BODY + "mass = true": "bodies.b.mass: must be a number, got True.",
    BODY + "mass = inf": "bodies.b.mass: must be finite, got inf; give an ordinary number",
    BODY + f"mass = 1{'0' * 400}": "bodies.b.mass: must be finite, got 1000",
    BODY + "mas = 1": "bodies.b.mas: unknown key; did you mean 'mass'?",
    BODY + "mass = 1": "bodies.b: a body with mass takes one of moment_about_com",
    BODY + "com = [0, 0, 0]": "bodies.b.com: goes with mass; give the mass.",
    BODY + "density = 1": "bodies.b.density: goes with shape",
    BODY + "mass = -1\nmoment_about_com = [1, 1, 1]": (
        "bodies.b.mass: Inertia: mass must be finite and positive"
    ),
    BODY + "mass = 1\nmoment_about_com = [1, 1, 3]": (
        "bodies.b.moment_about_com: Inertia: moment_about_com must keep the triangle inequality"
    ),
    BODY + "mass = 1\nmoment_about_origin = [1, 1]": (
        "bodies.b.moment_about_origin: Inertia: moment_about_origin must be an array of shape"
    ),
    BODY + 'mass = 1\nshape = {type = "bx"}': "bodies.b.shape.type: 'bx' is no shape; did you mean",
    BODY + "mass = 1\nshape = {}": "bodies.b.shape.type: is missing; known are 'box', 'cylinder'",
    BODY + 'mass = 1\nshape = {type = "box"}': "bodies.b.shape.size: is missing.",
    BODY + 'mass = 1\nshape = {type = "sphere", radius = 0}': (
        "bodies.b.shape.radius: SphereShape: radius must be positive"
    ),
    BODY + 'shape = {type = "sphere", radius = 1}': (
        "bodies.b: Inertia: a sphere takes either mass or density, got neither"
    ),
    BODY + 'mass = 1\ncom = [0, 0, 0]\nshape = {type = "sphere", radius = 1}': (
        "bodies.b.com: follows from shape"
    ),
    BODY + "pose = {quaternion_wxyz = [1, 1, 0, 0]}": (
        "bodies.b.pose.quaternion_wxyz: quaternion_wxyz must be a unit quaternion"
    ),
    BODY + "pose = {rotation = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}": (
        "bodies.b.pose.rotation: a pose must hold a rotation, got one that mirrors"
    ),
    BODY + "pose = {position = [0, 0, 0], matrix = [[1]]}": (
        "bodies.b.pose.matrix: must be an array of 4 rows of 4 numbers, got [[1]]."
    ),
    BODY + "pose = {rotation = [[1,0,0],[0,1,0],[0,0,1]], quaternion_wxyz = [1,0,0,0]}": (
        "bodies.b.pose: a pose takes either matrix, or position with one of"
    ),
    JOINT: "joints.j.type: is missing.",
    JOINT + 'type = "revolut"': "joints.j.type: 'revolut' is no known type of joint; did you mean",
    JOINT + 'type = "x"': "joints.j.type: 'x' is no known type of joint; known are 'screw', 'rev",
    JOINT + 'type = "os:Joint"': "joints.j.type: 'os:Joint' is no known type of joint; import its",
    JOINT + 'type = "helical"': "joints.j.pitch: is missing.",
    JOINT + 'type = "fixed"\naxis = [0, 0, 1]': "joints.j.axis: unknown key; known are 'type'",
    JOINT + 'type = "free"\nname = "x"': "joints.j.name: unknown key",
    JOINT + 'type = "revolute"\naxis = [0, 0, 0]': "joints.j.axis: Joint 'j': axis must have a dir",
    JOINT + 'type = "revolute"\naxis = 3': "joints.j.axis: must be an array of numbers, got 3.",
    JOINT
    + 'type = "screw"\nscrew = [1]': "joints.j.screw: Joint 'j': screw must be an array of sh",
    JOINT + 'type = "free"\nframes = {pred = {}}': "joints.j.frames.pred: unknown key; known are",
    JOINT + 'type = "free"\nscrews_in = "world"': "joints.j: Joint 'j': screws_in must be",
    JOINT + 'type = "free"\nframes = {}\nreference = {}': "joints.j: Joint 'j' takes either frames",
    JOINT.replace("world", "wrld") + 'type = "free"': (
        "joints.j.predecessor: Joint 'j' has the predecessor 'wrld', which is no body of the "
        "mechanism; did you mean 'world'?"
    ),
    JOINT + 'type = "revolute"\nlimits = {lower = 1, upper = 0}': (
        "joints.j.limits.lower: JointLimits: lower must be at most upper"
    ),
    JOINT + 'type = "revolute"\nlimits = {lower = nan}': (
        "joints.j.limits.lower: JointLimits: lower must be numbers, got nan; leave it out where"
    ),
    JOINT + 'type = "revolute"\nlimits = {effort = [1, 2]}': (
        "joints.j.limits.effort: Joint 'j': effort must be a number or 1 of them"
    ),
    JOINT + 'type = "revolute"\nlimits = {speed = 1}': (
        "joints.j.limits.speed: unknown key; known are 'lower', 'upper', 'velocity', 'effort'."
    ),
    JOINT + 'type = "revolute"\nfriction = {damping = "a"}': (
        "joints.j.friction.damping: must be a number, got 'a': there is no 'a' in [parameters]; "
        "known are 'pi', 'deg'."
    ),
    JOINT + 'type = "revolute"\nfriction = {damping = inf}': (
        "joints.j.friction.damping: JointFriction: damping must be finite, got inf"
    ),
    BODY + "unphysical = true": "bodies.b.unphysical: goes with mass",
    BODY + "mass = 1\nunphysical = 1\nmoment_about_com = [1, 1, 3]": (
        "bodies.b.unphysical: must be true or false, got 1."
    ),
    BODY + "mass = 1\nunphysical = true\nmoment_about_com = [[1,2,0],[0,1,0],[0,0,1]]": (
        "bodies.b.moment_about_com: Inertia: moment_about_com must be symmetric"
    ),
    JOINT + 'type = "spherical"\ncoordinates = "quaternion"': (
        "joints.j.coordinates: Joint 'j': coordinates must be one of 'group', 'first kind', 'second"
    ),
    JOINT + 'type = "spherical"\ncoordinates = 3': "joints.j.coordinates: must be a string, got 3",
    JOINT + 'type = "planar"\norder = ["x"]': (
        "joints.j.order: Joint 'j': order is that of the factors of coordinates='second kind'"
    ),
    JOINT + 'type = "planar"\ncoordinates = "second kind"\norder = ["x", "z", "angle"]': (
        "joints.j.order: Joint 'j': order must have each of 'angle', 'x', 'y' once, got ['x', 'z',"
    ),
    JOINT + 'type = "translational"\naxes = [[1, 0, 0], [2, 0, 0]]': (
        "joints.j.axes: Joint 'j': axes must be independent, got [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]"
    ),
    JOINT + 'type = "universal"\naxis2 = [1, 0, 0]': (
        "joints.j.axis2: Joint 'j': axis2 must not be parallel to axis1"
    ),
    JOINT
    + 'type = "composite"': "joints.j.members: must be an array of tables of joints, got None",
    JOINT + 'type = "composite"\nmembers = [{type = "revolute"}]': (
        "joints.j.members: each must have type and name, got {'type': 'revolute'}"
    ),
    JOINT + 'type = "composite"\nmembers = [{type = "revolut", name = "a"}]': (
        "joints.j.members.type: 'revolut' is no known type of joint; did you mean 'revolute'?"
    ),
    JOINT + 'type = "composite"\nmembers = [\n{type = "revolute", name = "a", axs = [1, 2, 3]}]': (
        "joints.j.members.axs: unknown key; did you mean 'axis'?"
    ),
    JOINT + 'type = "composite"\nmembers = [{type = "revolute", name = "a", axis = [0, 0, 0]}]': (
        "joints.j.members.axis: Joint 'a': axis must have a direction, got [0.0, 0.0, 0.0]"
    ),
    JOINT.replace("world", "b")
    + 'type = "free"': "joints.j: Joint 'j' connects body 'b' to itself",
}


@pytest.mark.parametrize(("text", "fault"), FAULTS.items(), ids=FAULTS.values())
def test_fault_is_told_with_its_place(text, fault):
    """Alone, it is the only line after the heading."""
    with pytest.raises(mb.ModelFileError) as caught:
        parse_model(HEAD + text, source="arm.toml")
    heading, line = str(caught.value).split("\n")
    assert heading == "Model file 'arm.toml' has a fault:"
    place, fault_told = line.split(": ", 1)
    assert re.fullmatch(r"arm\.toml:\d+", place)
    assert 1 <= int(place.partition(":")[2]) <= (HEAD + text).count("\n") + 1
    assert fault_told.startswith(fault)


def test_all_faults_come_at_once():
    """One line each; a faulty body does not make its joints faulty."""
    text = HEAD + (
        'gravity = "down"\n[bodies.a]\nmass = "1"\ncom = [0]\n[bodies."b c"]\nmas = 1\n'
        '[joints.j]\ntype = "revolute"\nsuccessor = "a"\naxis = [0, 0, 0]\naxs = 1\n'
        '[joints.k]\ntype = "fixed"\npredecessor = "a"\nsuccessor = "b c"\n'
    )
    with pytest.raises(mb.ModelFileError, match="has 7 faults") as caught:
        parse_model(text)
    places = [line.split(": ")[1] for line in str(caught.value).split("\n")[1:]]
    assert sorted(places) == [
        'bodies."b c".mas',
        "bodies.a.com",
        "bodies.a.mass",
        "gravity",
        "joints.j.axis",
        "joints.j.axs",
        "joints.j.predecessor",
    ]


def test_each_number_of_a_joint_is_looked_at():
    """Limits and friction alike, besides each other and besides bodies that are not there."""
    text = (
        HEAD
        + JOINT.replace("world", "wrld")
        + 'type = "revolute"\nlimits = {lower = [1, 2], velocity = -1}\n'
        + "friction = {damping = nan}"
    )
    with pytest.raises(mb.ModelFileError, match="has 4 faults") as caught:
        parse_model(text)
    places = [line.split(": ")[1] for line in str(caught.value).split("\n")[1:]]
    assert sorted(places) == [
        "joints.j.friction.damping",
        "joints.j.limits.lower",
        "joints.j.limits.velocity",
        "joints.j.predecessor",
    ]


def test_a_joint_that_is_not_known_says_nothing_on_the_count_of_its_limits():
    with pytest.raises(mb.ModelFileError, match="has a fault"):
        parse_model(HEAD + JOINT + 'type = "balls"\nlimits = {velocity = [1, 2, 3]}')


@pytest.mark.parametrize("before", ["", f'text = "{"1" * 5000}"\n', f"x = 0.{'1' * 5000}"])
def test_integers_without_end_are_refused_in_words_of_our_own(before):
    text = HEAD + f"{before}\ngravity = [0,\n0, {'9' * 5000}]\n"
    line = text[: text.index("999")].count("\n") + 1
    with pytest.raises(mb.ModelFileError) as caught:
        parse_model(text, source="m.toml")
    assert str(caught.value) == (
        f"Model file 'm.toml' has an integer of more than 4300 digits (m.toml:{line}); give a "
        "number that is meant."
    )


def test_arguments_that_are_none_are_refused(tmp_path):
    """Before anything is opened or written."""
    mech = mb.Mechanism("m")
    for call in (
        lambda: load_model(3),
        lambda: mb.load_urdf(3),
        lambda: mb.read_urdf(None),
        lambda: mb.save_model(mech, 3),
        lambda: mb.save_urdf(mech, 3),
    ):
        with pytest.raises(mb.UsageError, match="path must be a string or a path, got"):
            call()
    with pytest.raises(mb.UsageError, match="text must be a string, got bytes"):
        parse_model(b"mbkit_model = 1")
    with pytest.raises(mb.UsageError, match="text must be a string, got bytes"):
        mb.parse_urdf(b"<robot/>")
    with pytest.raises(mb.UsageError, match=r"files, and 'm\.urdf' is a URDF; leave"):
        load_model("m.urdf", joint_types={})
    for name in ("m.json", "m", "m.toml.bak"):
        with pytest.raises(mb.UsageError, match=r"must end in \.toml, \.urdf, \.xml or \.mjcf"):
            mb.save_model(mech, tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"mbkit_model = 1\nname = \n", "is no TOML: .*line 2"),
        (
            b"[bodies]\nrod = {mass = 1,\n  com = 0}",
            r"toml:2\). TOML 1.0 has tables in braces in one",
        ),
        (b'name = "m"', "must say its format; begin it with 'mbkit_model = 1'"),
        (b"mbkit_model = 2", r"has the format mbkit_model = 2 \(arm.toml:1\); this mbkit reads 1"),
        (b"mbkit_model = true", "has the format mbkit_model = True"),
        (b"mbkit_model = 1\n", "name: is missing"),
        (b'name = "\xff"', "must be UTF-8 text, got byte 0xff at 8"),
        (b"x = " + b"[" * 100_000, "is nested too deeply"),
    ],
)
def test_files_that_are_none_are_refused(tmp_path, content, message):
    """With the file's name, and the line where there is one."""
    path = tmp_path / "arm.toml"
    path.write_bytes(content)
    with pytest.raises(mb.ModelFileError, match=rf"(?s)Model file '.*arm\.toml' .*{message}"):
        load_model(path)


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("[bodies.rod]\nmass = 1\n[bodies.rod]\nmass = 2\n", "bodies.rod", 3),
        ('[bodies."my rod"]\n[bodies."my rod"] # again\n', 'bodies."my rod"', 2),
        ("[bodies.rod]\nmass = 1\nmass = 2\n", "bodies.rod.mass", 3),
        ("name = 'a'\nname = 'b'", "name", 2),  # to the end of the document
        ("[joints.j]\naxis = [\n[1],\n2]\naxis = 3\n", "joints.j.axis", 5),
        ("[bodies.b]\npose = {position = [0], position = [1]}\n", "bodies.b.pose.position", 2),
        ("[bodies.b]\npose.position = [0]\n[bodies.b.pose]\n", "bodies.b.pose", 3),
        ("name = 'a'\nname = [1,\n2]\n", "the key whose value ends with '2]'", 3),
    ],
)
def test_names_that_stand_twice_are_told(text, name, line):
    """With the name, the line, the rule and the remedy, in place of the parser's words."""
    with pytest.raises(mb.ModelFileError) as caught:
        parse_model(text, source="arm.toml")
    assert str(caught.value) == (
        f"Model file 'arm.toml' gives {name} twice, the second time in line {line} "
        f"(arm.toml:{line}); each name is given once, so rename or remove one of them."
    )


def test_files_that_cannot_be_read_or_written_are_refused(tmp_path, monkeypatch):
    """Missing ones, folders, and those that are too large."""
    with pytest.raises(mb.ModelFileError, match=r"none\.toml' cannot be read: No such file"):
        load_model(tmp_path / "none.toml")
    with pytest.raises(mb.ModelFileError, match="cannot be written: No such file"):
        save_model(mb.Mechanism("m"), tmp_path / "none" / "m.toml")
    monkeypatch.setattr(module_under_test, "MAX_SIZE", 10)
    (tmp_path / "m.toml").write_text(HEAD)
    with pytest.raises(mb.ModelFileError, match="must have at most 10 bytes, got 27"):
        load_model(tmp_path / "m.toml")


def test_moments_that_no_body_has_are_read_where_the_file_says_so():
    """They come back as they were, and what is possible after all is not marked."""
    moment = "mass = 1\nunphysical = true\nmoment_about_com = "
    mech = parse_model(HEAD + BODY + moment + "[1, 1, 3]\n[bodies.c]\n" + moment + "[1, 1, 2]")
    assert mech.bodies["b"].inertia.unphysical
    assert not mech.bodies["c"].inertia.unphysical
    assert mech.to_toml().count("unphysical = true") == 1
    assert parse_model(mech.to_toml()) == mech


@attrs.frozen
class CamJoint(Joint):
    """A user's joint that follows a cam of a given height."""

    name: str
    height: float
    samples: np.ndarray = attrs.field(default=(1.0, 2.0), converter=np.asarray, eq=False)
    label: str = "cam"
    law: object = None
    num_positions = num_velocities = 1

    def pose(self, q):
        return translation((0, 0, self.height * np.sin(q[0])))

    def motion_subspace(self, q):
        return np.array([[0, 0, 0, 0, 0, self.height * np.cos(q[0])]]).T

    def bias(self, q, v):
        return np.array([0, 0, 0, 0, 0, -self.height * np.sin(q[0]) * v[0] ** 2])


def cam_mechanism(joint):
    mech = mb.Mechanism("m")
    mech.add_joint(joint, "world", mech.add_body(mb.Body("b")))
    return mech


def test_joints_of_users_go_to_files_and_back(monkeypatch):
    """By a name that the reader is given, or by their imported module."""
    mech = cam_mechanism(CamJoint("cam", 0.3, samples=[[1.0, 2.0]], label='"x"'))
    text = mech.to_toml()
    name = f"{CamJoint.__module__}:CamJoint"
    again = parse_model(text, joint_types={name: CamJoint})
    assert again.joints["cam"].joint == mech.joints["cam"].joint
    assert again.joints["cam"].joint.samples.tolist() == [[1.0, 2.0]]
    user = types.ModuleType("users_joints")
    user.CamJoint = CamJoint
    monkeypatch.setitem(sys.modules, "users_joints", user)
    assert (
        parse_model(text.replace(name, "users_joints:CamJoint")).joints["cam"].joint.height == 0.3
    )


def test_a_file_never_imports_anything():
    """A module that is not there yet stays so."""
    text = JOINT + 'type = "antigravity:Joint"'
    sys.modules.pop("antigravity", None)
    with pytest.raises(mb.ModelFileError, match="import its module first"):
        parse_model(HEAD + text)
    assert "antigravity" not in sys.modules


def test_joints_that_no_file_can_hold_are_refused(tmp_path):
    """At writing; and at reading the text that went with a result."""
    mech = cam_mechanism(CamJoint("cam", 0.3, law=len))
    with pytest.raises(
        mb.ModelFileError, match=r"Joint 'cam' cannot be written .* holds law, which"
    ):
        save_model(mech, tmp_path / "m.toml")
    assert not list(tmp_path.iterdir())
    driven = mb.Mechanism("driven")
    driven.add_body(mb.Body("bob", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    drive = mb.RevoluteJoint("drive").prescribe(lambda t: 0.1 * t)
    driven.add_joint(drive, driven.world, "bob")
    with pytest.raises(mb.ModelFileError, match=r"'drive' .* function of Python.* an expression"):
        save_model(driven, tmp_path / "m.toml")
    assert not list(tmp_path.iterdir())
    types_by_name = {f"{CamJoint.__module__}:CamJoint": CamJoint}
    with pytest.raises(mb.ModelFileError, match=r"joints.cam.not_written: .*\['law'\] could not"):
        parse_model(mech.to_toml(), joint_types=types_by_name)


def test_no_fault_hides_another(tmp_path):
    """Wrong digits, unknown keys and types, and wrong ends, in the same tables: one line each."""
    path = tmp_path / "model.toml"
    path.write_text(
        """
mbkit_model = 1
name = "x"
[bodies.rod]
mass = -1.0
moment_about_com = [1, 1, 3]
colour = "red"
[joints.j]
type = "revolut"
predecessor = "world"
successor = "rodd"
[joints.k]
type = "revolute"
axis = [0, 0, 0]
predecessor = "rod"
successor = "rod"
"""
    )
    with pytest.raises(mb.ModelFileError) as caught:
        mb.load_model(path)
    lines = [line.partition(": ")[2] for line in str(caught.value).splitlines()[1:]]
    starts = [
        "bodies.rod.colour: unknown key",
        "bodies.rod.mass: ",
        "bodies.rod.moment_about_com: ",
        "joints.j.type: 'revolut' is no known type",
        "joints.j.successor: ",
        "joints.k.axis: ",
    ]
    assert len(lines) == len(starts) + 1
    for start in starts:
        assert sum(line.startswith(start) for line in lines) == 1, (start, lines)
    assert sum(line.startswith("joints.k: ") and "to itself" in line for line in lines) == 1
