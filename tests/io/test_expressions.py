"""Parameters of model files, and expressions of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mbkit as mb
from mbkit.io.toml.expressions import computed, evaluate_all, with_parameters
from mbkit.model import to_toml

PENDULUM = """
mbkit_model = 1
name = "pendulum"
gravity = [0.0, 0.0, "-g"]

[parameters]
g = 9.81
L = 0.4
rho = "2 * lambda_"
lambda_ = 1.5

[bodies.rod]
mass = "rho * L"
com = [0.0, 0.0, "-L/2"]
moment_about_com = ["rho*L**3/12", "rho*L**3/12", 0.0]
pose = {position = [0.0, 0.0, "L"]}

[joints.hinge]
type = "revolute"
predecessor = "world"
successor = "rod"
axis = [0.0, "cos(60*deg)", "sqrt(3)/2"]
point = [0.0, 0.0, "L"]
friction = {damping = "rho/100"}

[forces.spring]
type = "joint_spring"
joint = "hinge"
stiffness = "max(L, rho)"
"""


def by_hand(g, L, rho):
    """The same pendulum without a file."""
    mech = mb.Mechanism("pendulum", gravity=(0.0, 0.0, -g))
    moment = np.diag([rho * L**3 / 12.0, rho * L**3 / 12.0, 0.0])
    inertia = mb.SpatialInertia.from_com(rho * L, (0.0, 0.0, -L / 2.0), moment)
    rod = mech.add_body(mb.Body("rod", inertia, pose=mb.spatial.translation((0.0, 0.0, L))))
    axis = (0.0, math.cos(60.0 * (math.pi / 180.0)), math.sqrt(3.0) / 2.0)
    hinge = mb.RevoluteJoint("hinge", axis=axis, point=(0.0, 0.0, L))
    mech.add_joint(hinge, mech.world, rod, friction=mb.JointFriction(damping=rho / 100.0))
    mech.add_force(mb.JointSpring("spring", "hinge", stiffness=max(L, rho)))
    return mech


@pytest.mark.parametrize("changes", [{}, {"L": 1.3}, {"rho": 0.2, "g": 1.62}])
def test_a_file_with_parameters_is_the_mechanism_with_these_numbers(changes):
    values = {"g": 9.81, "L": 0.4, "rho": 3.0} | changes
    found = mb.parse_model(PENDULUM, parameters=changes)
    assert to_toml(found) == to_toml(by_hand(**values))


@given(
    st.recursive(
        st.floats(0.1, 9.0).map(repr) | st.sampled_from(["a", "b_2", "pi"]),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/"), inner).map(" ".join),
            inner.map("({})".format),
            inner.map("-{}".format),
            inner.map("cos({})".format),
            st.tuples(inner, inner).map(lambda two: "atan2({}, {})".format(*two)),
        ),
        max_leaves=12,
    )
)
@settings(max_examples=100, deadline=None)
def test_expressions_are_what_python_computes(text):
    values = {"a": 0.7, "b_2": 2.5}
    known = {"cos": math.cos, "atan2": math.atan2, "pi": math.pi, **values}
    try:
        expected = eval(text, {"__builtins__": {}}, known)  # noqa: S307
    except ZeroDivisionError:
        expected = math.nan
    with with_parameters(values):
        if math.isfinite(expected):
            assert float(computed(text)) == expected
        else:
            with pytest.raises(mb.ModelFileError):
                computed(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    {
        "1/0": "divides by zero",
        "sqrt(-1)": "has no value",
        "9**9**9**9": "has no value",
        "1e308*10": "is not finite",
        "M/2": "there is no 'M' in [parameters]; did you mean 'm'?",
        "sine(m)": "there is no function 'sine'; did you mean 'sin'?",
        "__import__('os')": "there is no function '__import__'",
        "m.real": "'m.real' is no number, parameter, operation or function",
        "[m for m in (1,)]": "is no number, parameter",
        "m if m else 1": "is no number, parameter",
        "True": "'True' is no number",
        "sin()": "takes exactly one argument",
        "m m": "it is no expression",
        "(" * 40 + "m" + ")" * 40: "nested more than 30 deep",
        "m+" * 300 + "m": "longer than 500 characters",
    }.items(),
)
def test_what_is_no_expression_is_refused_by_name(text, fault):
    with with_parameters({"m": 2.0}), pytest.raises(mb.ModelFileError) as caught:
        computed(text)
    assert fault in str(caught.value)


def test_faults_of_parameters_are_told_with_their_lines():
    text = PENDULUM.replace("g = 9.81", 'g = "2*h"\nh = "g/2"\nsin = 1.0\n"a b" = 2.0\nc = true')
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_model(text, source="p.toml")
    message = str(caught.value)
    assert "p.toml:7: parameters.g: '2*h' leads back to 'g'" in message
    assert "p.toml:9: parameters.sin: stands for something else in expressions" in message
    assert "p.toml:10: parameters.\"a b\": must be made of letters, digits and '_'" in message
    assert "p.toml:11: parameters.c: must be a number" in message
    with pytest.raises(mb.NameUnknownError, match="has no parameter 'l'; did you mean 'L'"):
        mb.parse_model(PENDULUM, parameters={"l": 1.0})
    with pytest.raises(mb.UsageError, match="parameters, joint_types"):
        mb.load_model("robot.urdf", parameters={"L": 1.0})


SHAKER = """
mbkit_model = 1
name = "shaker"

[parameters]
amplitude = 0.1
w = "2*pi"

[bodies.cart]
mass = 2.0
moment_about_com = [1.0, 1.0, 1.0]

[joints.rail]
type = "prismatic"
predecessor = "world"
successor = "cart"
axis = [1.0, 0.0, 0.0]
motion = MOTION
"""
TIMES = np.linspace(0.0, 1.0, 41)
TABLE = f"{{times = {TIMES.tolist()}, positions = {(0.3 * TIMES**3 - TIMES).tolist()}}}"


@pytest.mark.parametrize(
    ("motion", "expected"),
    [
        ('"amplitude * sin(w*t)"', lambda t: 0.1 * np.sin(2.0 * np.pi * t)),
        ('"0.3 * t**3 - t"', lambda t: 0.3 * t**3 - t),
        (TABLE, lambda t: 0.3 * t**3 - t),  # a cubic spline is exact
    ],
)
def test_motions_in_files_are_those_of_functions(motion, expected):
    mech = mb.parse_model(SHAKER.replace("MOTION", motion))
    again = to_toml(mb.parse_model(to_toml(mech)))
    assert again == to_toml(mech)
    by_hand_of = mb.Mechanism("shaker")
    cart = mb.Body("cart", mb.SpatialInertia.from_com(2.0, (0.0, 0.0, 0.0), np.eye(3)))
    rail = mb.PrismaticJoint("rail", axis=(1.0, 0.0, 0.0))
    by_hand_of.add_joint(rail.prescribe(expected), by_hand_of.world, by_hand_of.add_body(cart))
    for t in (0.0, 0.2345, 0.9):
        states = [each.assemble().prescribed_state(t) for each in (mech, by_hand_of)]
        np.testing.assert_allclose(*states, atol=1e-12)


def test_several_positions_have_an_expression_each():
    turn = ["cos(t/2)", "0", "0", "sin(t/2)"]  # about z, with one radian in a second
    mech = mb.Mechanism("top")
    body = mech.add_body(mb.Body("top", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.SphericalJoint("ball").prescribe(turn), mech.world, body)
    v = mb.parse_model(to_toml(mech)).assemble().prescribed_state(0.7)[1]
    np.testing.assert_allclose(v, [0.0, 0.0, 1.0], atol=1e-14)


@pytest.mark.parametrize(
    ("motion", "fault"),
    {
        '"a*sin(t)"': "there is no 'a' in the expression of a motion; known are",
        "3.0": "must be an expression of the time t in quotes",
        '["t", "t"]': "has 1 positions, and 2 expressions",
        '"log(t)"': "'log(t)' has no value at t = 0",
        "{times = [0.0, 1.0], positions = [0.0, 1.0]}": "must be 4 or more, increasing",
        "{times = [0.0, 1.0, 2.0, 3.0], values = [0.0]}": "has times and positions, got",
        TABLE.replace("-", "", 1).replace("0.0,", "", 1): "must be an array of shape (40,)",
    }.items(),
)
def test_motions_that_are_none_are_refused_by_name(motion, fault):
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_model(SHAKER.replace("MOTION", motion), source="shaker.toml")
    assert "joints.rail" in str(caught.value)
    assert fault in str(caught.value)


def test_a_table_ends_at_its_last_time():
    system = mb.parse_model(SHAKER.replace("MOTION", TABLE)).assemble()
    mb.simulate(system, (0.0, 1.0), 0.1)
    with pytest.raises(mb.JointError, match="its table is from 0 s to 1 s"):
        mb.simulate(system, (0.0, 1.2), 0.1)
    named = SHAKER.replace("w =", "t =").replace("MOTION", '"sin(t)"')
    with pytest.raises(mb.ModelFileError, match="has the time t, which is a parameter here"):
        mb.parse_model(named)


def test_parameters_may_stand_in_any_order():
    assert evaluate_all({"c": "b + a", "b": "2*a", "a": 3}, print) == {"a": 3.0, "b": 6.0, "c": 9.0}


def test_studies_change_parameters_of_their_model(tmp_path):
    (tmp_path / "pendulum.toml").write_text(PENDULUM)
    (tmp_path / "study.toml").write_text(
        'mbkit_study = 1\nmodel = "pendulum.toml"\nt_span = [0.0, 0.1]\nh = 1e-2\n'
        "[parameters]\nL = 0.5\n"
    )

    def load(**changes):
        return mb.load_study(tmp_path / "study.toml", changes).system.parameters

    assert load()["bodies.rod.mass"] == 3.0 * 0.5
    assert load(L=0.8, rho="L")["bodies.rod.mass"] == 0.8 * 0.8
    both = mb.load_study(tmp_path / "study.toml", {"L": 0.8, "bodies.rod.mass": 7.0}).system
    assert both.parameters["bodies.rod.mass"] == 7.0
    with pytest.raises(mb.StudyFileError, match=r"set LL=1\.0: there is no such .* mean 'L'\?"):
        load(LL=1.0)
