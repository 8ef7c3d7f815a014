"""Each line of a report tells a joint that keeps its law from one that breaks it."""

from __future__ import annotations

import math
import re
import subprocess
import sys

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints import JointKernels
from mbkit.lie import SO3
from mbkit.testing import check_joint
from tests.contracts.test_joint import JOINTS
from tests.joints.pose_only import TWINS
from tests.reference.user_joints import BallJoint, CardanJoint, PlanarJoint


class Good(mb.Joint):
    """Along a parabola, turning on the way; every method is right."""

    num_positions = num_velocities = 1
    zero_reference = True

    def pose(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, 0, s, q[0]], [0, 1, 0, 0], [-s, 0, c, q[0] ** 2], [0, 0, 0, 1]])

    def motion_subspace(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[0.0, 1.0, 0.0, c - 2.0 * q[0] * s, 0.0, s + 2.0 * q[0] * c]]).T

    def bias(self, q, v):
        c, s = np.cos(q[0]), np.sin(q[0])
        x, z = -3.0 * s - 2.0 * q[0] * c, 3.0 * c - 2.0 * q[0] * s
        return np.array([0.0, 0.0, 0.0, x, 0.0, z]) * v[0] ** 2


@mb.joint_kernel("motion")
def motion(slot, parameters, q, v, R, p, S, bias):
    """The compiled form of Good; parameters[0] is an error in its bias, or negative."""
    if parameters[0] < 0.0:
        return 7
    c, s = math.cos(q[0]), math.sin(q[0])
    for j in range(9):
        R[j] = 0.0
    for j in range(6):
        S[j] = 0.0
        bias[j] = 0.0
    R[0], R[2], R[4], R[6], R[8] = c, s, 1.0, -s, c
    p[0], p[1], p[2] = q[0], 0.0, q[0] * q[0]
    S[1], S[3], S[5] = 1.0, c - 2.0 * q[0] * s, s + 2.0 * q[0] * c
    bias[3] = (-3.0 * s - 2.0 * q[0] * c) * v[0] * v[0] + parameters[0]
    bias[5] = (3.0 * c - 2.0 * q[0] * s) * v[0] * v[0]
    return 0


class Compiled(Good):
    """Good, with its compiled form."""

    error = 0.0

    def kernels(self):
        return JointKernels(motion=motion)

    def parameters(self):
        return np.array([self.error])


def variant(base, **attributes):
    return type("Variant", (base,), attributes)("joint")


def stretched(self, q):
    T = np.eye(4)
    T[0, 3] = q[0]
    T[1, 1] = 1.0 + 1e-6 * q[0] ** 4  # next to the neutral one the definition is refused
    return T


def shifted(self, q):
    T = np.eye(4)
    T[:3, 3] = q[0], 0.0, 1.0
    return T


class Step(mb.Joint):
    """A slide with a step of 0.01 m, at which no sample is."""

    num_positions = num_velocities = 1

    def pose(self, q):
        T = np.eye(4)
        T[2, 3] = q[0] + (0.01 if q[0] > 0.35 else 0.0)
        return T


class Remembering(Good):
    """Gives something else at every call."""

    calls = 0.0

    def bias(self, q, v):
        Remembering.calls += 1e-9
        return super().bias(q, v) + Remembering.calls


BROKEN = {
    "pose is a rotation and a translation": lambda: variant(
        Good, pose=stretched, motion_subspace=mb.Joint.motion_subspace, bias=mb.Joint.bias
    ),
    "pose is the identity at the neutral": lambda: variant(Good, pose=shifted),
    "pose does not jump": lambda: variant(Step),
    "motion subspace is the derivative": lambda: variant(
        Good, motion_subspace=lambda self, q: Good.motion_subspace(self, q) + 1e-6 * q[0]
    ),
    "motion subspace has full rank": lambda: variant(
        Good, motion_subspace=lambda self, q: np.zeros((6, 1))
    ),
    "bias is the rate": lambda: variant(
        Good, bias=lambda self, q, v: 1.00001 * Good.bias(self, q, v)
    ),
    "motion subspace is the same everywhere": lambda: variant(Good, constant_subspace=True),
    "constraint wrenches do no work": lambda: variant(
        Good, constraint_wrenches=lambda self, q: np.eye(6)[:, 1:]
    ),
    "constraint wrenches are all": lambda: variant(
        Good, constraint_wrenches=lambda self, q: np.eye(6)[:, [0, 2, 2, 0, 4]]
    ),
    "constraint wrenches change smoothly": lambda: variant(
        Good,
        constraint_wrenches=lambda self, q: (
            Good.constraint_wrenches(self, q) * (1.0 if int(1e7 * q[0]) % 2 else -1.0)
        ),
    ),
    "configuration_from_pose finds poses": lambda: variant(
        Good, configuration_from_pose=lambda self, T: np.array([T[0, 3] * (1.0 + 1e-9)])
    ),
    # the turn tells q as well, but what is left to it is not what is shortest
    "configuration_from_pose is next to a pose": lambda: variant(
        Good, configuration_from_pose=lambda self, T: T[:1, 3]
    ),
    "retract and difference are inverse": lambda: variant(
        PlanarJoint, difference=lambda self, q0, q1: q1 - q0
    ),
    "dexp_inv is the rate": lambda: variant(PlanarJoint, dexp_inv=lambda self, x, v: v),
    "the same arguments give the same": lambda: Remembering("joint"),
    "compiled and Python forms agree": lambda: variant(Compiled, error=1e-9),
    "power is what the energy gains": lambda: variant(
        Good, bias=lambda self, q, v: 2.0 * Good.bias(self, q, v)
    ),
}


@pytest.mark.parametrize("law", BROKEN)
def test_a_broken_law_is_found(law):
    """The line that names the law says so, with an error beyond its bound."""
    report = check_joint(BROKEN[law]())
    failed = [line for line in report.failed if line.law.startswith(law)]
    assert failed
    assert failed[0].error > failed[0].bound
    assert "FAIL" in str(report)
    assert "q = [" in failed[0].remark
    with pytest.raises(mb.ContractError, match=law):
        report.raise_if_failed()


OTHERS = [
    Good("good"),
    Compiled("compiled"),
    CardanJoint("cardan"),
    BallJoint("ball"),
    PlanarJoint("planar"),
    *(make(name) for name, (_, make) in TWINS.items()),
]


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "joint",
    [
        pytest.param(joint, id=joint.name, marks=pytest.mark.long if k % 8 else ())
        for k, joint in enumerate([*JOINTS, *OTHERS])
    ],
)
def test_right_joints_pass(joint):
    """Those of mbkit, those of users, those by their pose alone."""
    report = check_joint(joint)
    report.raise_if_failed()
    assert report.holds
    assert all(line.holds is not False for line in report.lines)


def test_a_wrong_definition_is_one_line():
    """The report says what is expected, and looks no further."""
    report = check_joint(variant(Good, bias=lambda self, q: np.zeros(6)))
    assert len(report.lines) == 1
    assert "must define bias(q, v) -> (6,)" in str(report)


class Swapped(mb.Joint):
    """A rotation with a sign lost: none but at the neutral configuration."""

    num_positions = num_velocities = 1

    def pose(self, q):
        T = np.eye(4)
        c, s = np.cos(q[0]), np.sin(q[0])
        T[:2, :2] = [[c, s], [s, c]]
        return T


class Grows(mb.Joint):
    num_positions = num_velocities = 1

    def pose(self, q):
        T = np.eye(4)
        T[:3, :3] *= 1.0 + q[0]
        return T


class Forgets(mb.Joint):
    """Its pose ignores the second position."""

    num_positions = num_velocities = 2

    def pose(self, q):
        T = np.eye(4)
        T[0, 3] = q[0]
        return T


class Repeats(Forgets):
    def pose(self, q):
        T = np.eye(4)
        T[0, 3] = q[0] + 2.0 * q[1]
        return T


class Squared(Forgets):
    """Its pose does not change with q where q is zero, and does elsewhere."""

    num_positions = num_velocities = 1

    def pose(self, q):
        T = np.eye(4)
        T[0, 3] = 0.2 * q[0] ** 2
        return T


class SquaredFromOne(Squared):
    def neutral(self):
        return np.ones(1)


def on_a_box(joint):
    mech = mb.Mechanism("m")
    box = mech.add_body(mb.Body("box", mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))))
    mech.add_joint(joint, mech.world, box)
    return mech.assemble()


def test_a_singular_neutral_configuration_is_named():
    """Not the pose, which depends on q elsewhere; another neutral configuration helps."""
    with pytest.raises(
        mb.JointError, match=r"at q = \[0.0\].* singular there; give it another neu"
    ):
        on_a_box(Squared("j"))
    assert on_a_box(SquaredFromOne("j")).nv == 1


@pytest.mark.parametrize(
    ("kind", "error", "cause"),
    [
        (Swapped, mb.JointError, r"pose\(q\) at q = \[0.1\] must hold a rotation"),
        (Grows, mb.JointError, r"pose\(q\) at q = \[0.1\] must hold a rotation"),
        (Forgets, mb.JointError, "pose does not depend on velocity 1"),
        (Repeats, mb.JointError, "2 velocities move the bodies in fewer ways"),
    ],
)
def test_a_wrong_pose_is_named_not_the_inertia(kind, error, cause):
    """In the report, and where the joint is added and assembled."""
    text = str(check_joint(kind("j")))
    assert re.search(cause, text)
    assert "nertia" not in text
    with pytest.raises(error, match=cause):
        on_a_box(kind("j"))


def test_inertia_that_is_missing_is_still_named():
    """Where the joint is right, and a point mass on its axis cannot resist."""
    mech = mb.Mechanism("m")
    point = mech.add_body(mb.Body("point", mb.SpatialInertia.from_com(1.0, (0, 0, 0.4))))
    mech.add_joint(mb.RevoluteJoint("j"), mech.world, point)
    with pytest.raises(mb.InertiaError, match="no inertia in that direction"):
        mech.assemble()


def test_what_raises_is_a_line():
    """With the name of the exception; the other lines are there."""

    def stumbles(self, q, v):
        return Good.bias(self, q, v) if abs(q[0]) < 1.0 else {}[q[0]]

    report = check_joint(variant(Good, bias=stumbles))
    line = next(line for line in report.lines if line.law.startswith("bias"))
    assert line.holds is False
    assert line.remark[:10] == "KeyError: "
    assert next(line for line in report.lines if line.law.startswith("motion sub")).holds


def test_arguments_are_left_alone():
    """A method that writes to q is found out, where it does not do so at the neutral one."""

    def writes(self, q):
        if q[0] != 0.0:
            q[0] = np.mod(q[0], 2.0)
        return Good.pose(self, q)

    report = check_joint(variant(Good, pose=writes))
    assert any("read-only" in line.remark for line in report.failed)


def test_a_compiled_form_that_fails_is_reported():
    """By its status."""
    line = next(
        line
        for line in check_joint(variant(Compiled, error=-1.0)).lines
        if line.law.startswith("compiled")
    )
    assert "compiled form of motion reports failure 7" in line.remark


def test_a_compiled_form_that_is_missing_is_refused():
    """Compiled, the default would take the place of a method that is none."""

    class Ball(BallJoint):
        def kernels(self):
            return JointKernels(motion=motion)

    report = check_joint(Ball("ball"))
    assert "none of retract and difference and dexp_inv" in report.lines[0].remark


def test_a_compiled_form_that_reads_too_far_gets_nan():
    """Rather than what happens to stand in memory."""
    line = next(
        line
        for line in check_joint(variant(Compiled, parameters=lambda self: np.zeros(0))).lines
        if line.law.startswith("compiled")
    )
    assert line.holds is False


class Spliced(mb.Joint):
    """Two parabolas that meet with one slope, and the body turned along them."""

    num_positions = num_velocities = 1

    def pose(self, q):
        bend = 1.0 if q[0] < 0.0 else 3.0
        slope = bend * q[0]
        length = np.sqrt(1.0 + slope**2)
        c, s = 1.0 / length, slope / length
        T = np.eye(4)
        T[:3, :3] = [[c, -s, 0], [s, c, 0], [0, 0, 1]]
        T[:2, 3] = q[0], 0.5 * bend * q[0] ** 2
        return T


def test_the_seams_of_curves_are_no_faults():
    """Where pieces meet the motion subspace jumps, and is that of the side it claims."""
    check_joint(Spliced("spliced")).raise_if_failed()
    wrong = variant(Spliced, bias=lambda self, q, v: Spliced.bias(self, q, v) + 1e-5)
    assert {line.law[:11] for line in check_joint(wrong).failed} == {"bias is the", "power is wh"}


def test_where_to_look_can_be_said():
    """A joint that does not take every q is looked at where it does."""

    def narrow(self, q):
        if abs(q[0]) > 0.5:
            raise ValueError("beyond the rail")
        return Good.pose(self, q)

    joint = variant(Good, pose=narrow)
    assert not check_joint(joint).holds
    assert check_joint(joint, configurations=[[0.1], [-0.3], [0.4]]).holds


def test_the_library_knows_nothing_better_than_differences():
    """The motion subspace of a rotation vector, whose S is dexp, is confirmed."""

    class Vector(mb.Joint):
        num_positions = num_velocities = 3

        def pose(self, q):
            T = np.eye(4)
            T[:3, :3] = SO3.exp(q)
            return T

    report = check_joint(Vector("vector"))
    assert report.holds
    q = np.array([0.3, -0.7, 0.4])
    expected = SO3.dexp_body(q)
    np.testing.assert_allclose(Vector("v").motion_subspace(q)[:3], expected, atol=1e-15)


PLUGIN = """
import mbkit as mb
import numpy as np

class Slider(mb.Joint):
    num_positions = num_velocities = 1

    def pose(self, q):
        T = np.eye(4)
        T[0, 3] = q[0] ** 3 + q[0]
        return T

class Slack(Slider):
    def bias(self, q, v):
        return np.zeros(6)

def test_right(check_joint):
    check_joint(Slider("slider"))

def test_wrong(check_joint):
    check_joint(Slack("slack"))
"""


@pytest.mark.long
def test_the_fixture(pytester_like):
    """It passes for a right joint, and fails with the report for a wrong one."""
    done = pytester_like(PLUGIN)
    assert "1 failed, 1 passed" in done.stdout
    assert "FAIL  bias is the rate of the motion subspace" in done.stdout


def test_pytest_starts_without_mbkit(pytester_like):
    """The plugin alone imports neither mbkit nor numba."""
    done = pytester_like(
        "import sys\n\ndef test_it():\n    assert not {'mbkit', 'numba'} & set(sys.modules)\n"
    )
    assert "1 passed" in done.stdout, done.stdout


@pytest.fixture
def pytester_like(tmp_path):
    """Run pytest on a file, with the plugin that an installation has."""

    def run(text):
        (tmp_path / "test_it.py").write_text(text)
        options = ["-p", "mbkit_pytest", "-p", "no:cacheprovider", "-q"]
        # with or without an installation that brings it
        environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": ":".join(sys.path)}
        command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )

    return run
