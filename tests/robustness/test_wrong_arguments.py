"""Messages on wrong arguments name the thing, the rule, the value and what to do."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main


def system_of(joint=None):
    mech = mb.Mechanism("pendulum")
    mech.add_body(mb.Rod("rod", length=1.0, radius=0.02, mass=1.0, axis=(0, 0, -1)))
    mech.add_joint(joint or mb.RevoluteJoint("hinge", (0, 1, 0)), "world", "rod")
    return mech.assemble()


HINGE = system_of()
BALL = system_of(mb.SphericalJoint("ball"))
DAMPED = HINGE.with_forces([mb.JointDamper("damper", "hinge", damping=0.3)])
PAIR = mb.tableaus.DORMAND_PRINCE5


def simulate(*given, system=HINGE, **named):
    return mb.simulate(system, (0.0, 0.1), *given, progress=False, **named)


def gradient(loss, by="v"):
    return mb.gradient(simulate(0.05), loss, by=[by])


class OtherLetters(mb.RevoluteJoint):
    def Pose(self, q):
        return np.eye(4)


class OtherLettersOfADefault(mb.Joint):
    num_positions = num_velocities = 1

    def pose(self, q):
        return np.eye(4)

    def Neutral(self):
        return np.zeros(1)


CASES = {
    "power that overflows": (
        lambda: DAMPED.forward_dynamics([0.0], [1e160]), mb.NotFiniteError,
        "Force 'damper', or its power, is beyond the largest number, .*; give velocities",
    ),
    "text for a parameter of a run": (
        lambda: simulate(parameters={"bodies.rod.mass": "2"}), mb.ParameterError,
        "bodies.rod.mass: must be real numbers, got '2'",
    ),
    "None for a parameter of a run": (
        lambda: simulate(parameters={"bodies.rod.mass": None}), mb.ParameterError,
        "bodies.rod.mass: must be real numbers, got None",
    ),
    "None for a parameter": (
        lambda: HINGE.with_parameters({"bodies.rod.mass": None}), mb.ParameterError,
        "bodies.rod.mass: must be real numbers, got None; leave it out to keep what it is",
    ),
    "texts for a parameter": (
        lambda: HINGE.with_parameters({"gravity": ["1", "x", "2"]}), mb.ParameterError,
        r"gravity must be real numbers in an array of shape \(3,\), got \['1', 'x', '2'\]",
    ),
    "a method in other letters": (
        lambda: system_of(OtherLetters("hinge")), mb.JointError,
        r"OtherLetters defines Pose, which nothing calls; did you mean pose\(q\)",
    ),
    "a default in other letters": (
        lambda: system_of(OtherLettersOfADefault("hinge")), mb.JointError,
        r"defines Neutral, which nothing calls; did you mean neutral\(\)",
    ),
    "samples by name": (
        lambda: simulate(q={"hinge": [[0.1], [0.2]]}), mb.UsageError,
        r"^q: .*\[\[0.1\], \[0.2\]\]. Names give one vector; .* array of shape \(samples, 1\)",
    ),
    "samples of numbers by name": (
        lambda: simulate(q={"hinge": [0.1, 0.2]}), mb.UsageError,
        r"takes 1 number; got 2. Names give one vector; for several samples",
    ),
    "efforts by a wrong name": (
        lambda: simulate(tau={"Hinge": 1.0}), mb.NameUnknownError,
        "tau: there is no joint 'Hinge'; did you mean 'hinge'",
    ),
    "entry of a joint of one": (
        lambda: simulate(q={"hinge[0]": 0.1}), mb.NameUnknownError,
        "no entry 'hinge.0.'; joint 'hinge' has one, which is called 'hinge'",
    ),
    "rtol of a run": (
        lambda: simulate(rtol=1e-10), mb.UsageError,
        r"no argument 'rtol', .*integrator=mb.RungeKuttaMuntheKaas\(mb.tableaus.DORMAND_PRINCE5, r",
    ),
    "misspelt argument of a run": (
        lambda: simulate(outptus=["rod.position"]), mb.UsageError,
        "simulate has no argument 'outptus'; did you mean 'outputs'",
    ),
    "tau returns nan": (
        lambda: simulate(0.05, tau=lambda t, q, v: [np.nan]), mb.NotFiniteError,
        r"tau\[0\] of joint 'hinge' is nan; .*The function tau returned it; mend it there\.$",
    ),
    "one parameter without a list": (
        lambda: mb.symbolic(HINGE, parameters="bodies.rod.mass"), mb.UsageError,
        r"in a list, such as \['gravity'\], or a mapping .* got 'bodies.rod.mass'",
    ),
    "misspelt evaluation": (
        lambda: mb.symbolic(HINGE).evaluation("mass_matrx"), mb.UsageError,
        "symbolic: there is no evaluation 'mass_matrx'; did you mean 'mass_matrix'",
    ),
    "quaternion of zeros": (
        lambda: simulate(system=BALL, q=np.zeros(4)), mb.ConfigurationError,
        r"of length 0; it must be of length 1. That of no turn is \(1, 0, 0, 0\), .*on\(\)\.$",
    ),
    "quaternion of one sample": (
        lambda: BALL.poses([[1.0, 0, 0, 0], [2.0, 0, 0, 0]]), mb.ConfigurationError,
        r"of length 2; .* Divide it by its length, .* At sample \(1,\)\.$",
    ),
    "wrench of three": (
        lambda: mb.BodyWrench("push", "rod", wrench=[0, 0, 1]), mb.ShapeError,
        r"'push': wrench must be 6 numbers, moment and force, or rows .*; got shape \(3,\)",
    ),
    "efforts without times": (
        lambda: mb.JointEffort("motor", "hinge", [1, 2, 3]), mb.ShapeError,
        "'motor': times must be 3 times, those of the entries of effort; got none",
    ),
    "efforts of other times": (
        lambda: mb.JointEffort("motor", "hinge", [1, 2, 3], times=[0, 1]), mb.ShapeError,
        "'motor': effort must have an entry for each of the 2 times, got 3",
    ),
    "output of other arguments": (
        lambda: simulate(outputs={"angle": lambda t, q: q}), mb.UsageError,
        r"outputs: 'angle' must take three arguments, \(t, q, v\); .*\(t, q\) does not",
    ),
    "event of other arguments": (
        lambda: simulate(events=[mb.Event("down", lambda t, q: q[0])]), mb.UsageError,
        r"event 'down' must take three arguments, \(t, q, v\)",
    ),
    "reset of other arguments": (
        lambda: simulate(events=[mb.Event("down", "hinge", reset=lambda q, v: (q, v))]),
        mb.UsageError, r"The reset of event 'down' must take three arguments, \(t, q, v\)",
    ),
    "loss of nan": (
        lambda: gradient(lambda t, q, v: (np.nan, None, None)), mb.ShapeError,
        "loss must return finite numbers; its value is nan",
    ),
    "derivative of a loss of nan": (
        lambda: gradient(lambda t, q, v: (0.0, None, np.where(t[:, None] > 0.07, np.nan, v))),
        mb.ShapeError, "loss must return finite numbers; its derivative by v is nan in row 2",
    ),
    "gradient by a parameter of a file": (
        lambda: gradient(lambda t, q, v: (0.0, None, None), "L"), mb.NameUnknownError,
        r"no derivatives by 'L'; .*mb.load_model\(path, parameters=\{'L': \.\.\.\}\)",
    ),
    "time backwards": (
        lambda: mb.simulate(HINGE, (1.0, 0.0)), mb.UsageError,
        r"t_span must go forward in time, .* later end; got t_span=\(1.0, 0.0\)\.$",
    ),
    "endless time": (
        lambda: mb.simulate(HINGE, (0.0, np.inf)), mb.UsageError,
        r"t_span must be two finite times; got t_span=\(0.0, inf\)\.$",
    ),
    "negative step": (
        lambda: simulate(-0.05), mb.UsageError, r"h must be positive, a step .* h=-0.05\.$",
    ),
    "output times that do not increase": (
        lambda: simulate(save_at=[0.0, 0.05, 0.02]), mb.UsageError,
        "save_at must increase; 0.02 s follows 0.05 s",
    ),
    "rtol below rounding": (
        lambda: mb.RungeKuttaMuntheKaas(PAIR, rtol=1e-30), mb.UsageError,
        "rtol must not be below rounding, 2.2e-16, .*got 1e-30. Give for example 1e-12",
    ),
    "rtol of an implicit method below rounding": (
        lambda: mb.GeneralizedAlpha(rtol=1e-30), mb.UsageError, "GeneralizedAlpha: rtol must not",
    ),
    "no directory": (
        lambda: mb.resume("nowhere"), mb.ResultFileError,
        "'nowhere' has no run: there is no such directory; give the one that simulate",
    ),
    "output of another name": (
        lambda: simulate(outputs={"tip": "rod.position"}).outputs["ti"], mb.NameUnknownError,
        "The run has no output 'ti'; did you mean 'tip'",
    ),
    "output of another name of runs": (
        lambda: simulate(q=[[0.1], [0.2]], outputs={"tip": "rod.position"}).outputs["ti"],
        mb.NameUnknownError, "The runs have no output 'ti'; did you mean 'tip'",
    ),
    "derivative by another input": (
        lambda: HINGE.derivatives("forward_dynamics", [0.0], [0.0], by=["q", "v"]).vdot["tau"],
        mb.NameUnknownError, "These derivatives are not by 'tau'; known are 'q', 'v'",
    ),
    "negative damping": (
        lambda: mb.JointDamper("damper", "hinge", damping=-1), mb.ForceError,
        "'damper': damping must be at least 0, got -1.0; give a number from 0 on",
    ),
    "text for a stiffness": (
        lambda: mb.JointSpring("spring", "hinge", stiffness="soft"), mb.ForceError,
        "'spring': stiffness must be a number, got 'soft'",
    ),
    "a derivative that was not asked for": (
        lambda: mb.sensitivities(simulate(), by=["q"]).q["tau"], mb.NameUnknownError,
        "no derivatives by 'tau'; known are 'q'",
    ),
    "a loss of two arguments": (
        lambda: mb.gradient(simulate(), lambda t, q: None, by=["q"]), mb.UsageError,
        r"loss must take three arguments, \(t, q, v\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_messages(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, error, words = CASES[case]
    with pytest.raises(error) as raised:
        call()
    assert re.search(words, str(raised.value)), str(raised.value)


def test_an_output_that_raises_is_named_with_the_time():
    def late(t, q, v):
        if t > 0.04:
            raise ValueError("late")
        return t

    with pytest.raises(ValueError, match="late") as raised:
        simulate(0.05, outputs={"clock": late})
    assert "Raised by the output 'clock' at t = 0.05 s." in raised.value.__notes__
    with pytest.warns(mb.FailedRunsWarning):
        runs = simulate(0.05, outputs={"clock": late}, q=[[0.1], [0.2]])
    assert runs.failures[1,] == "ValueError: late. Raised by the output 'clock' at t = 0.05 s."


def test_a_picture_is_not_drawn(tmp_path):
    picture = tmp_path / "run.png"
    picture.touch()
    done = CliRunner().invoke(main, ["plot", str(picture)])
    assert done.exit_code == 2
    assert "is a picture; RUN is a result file or a run directory" in done.output
