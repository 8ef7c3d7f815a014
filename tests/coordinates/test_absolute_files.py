"""Absolute coordinates in studies, on the command line, in results and in run directories."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main
from mbkit.coordinates.description import described
from mbkit.io.toml.coordinates import read_coordinates
from tests.constraints import closed_mechanisms

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

EULER = mb.AbsoluteCoordinates(
    mb.EulerAngles("xyz"), mb.RodriguesPosition(), "right", 0.7, joints=["A"]
)


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def model(tmp_path):
    """The model file of a four-bar with a damper in its crank's joint."""
    mech = closed_mechanisms.four_bar()
    mech.add_force(mb.JointDamper("oil", "A", damping=0.1))
    mb.save_model(mech, tmp_path / "four-bar.toml")
    return tmp_path / "four-bar.toml"


def start(model):
    """Return a system in relative coordinates and a state with closed loops."""
    relative = mb.load_model(model).assemble()
    q = relative.close_loops(fixed=["A"])
    return relative, q, relative.consistent_velocity({"A": 2.0}, q)


@pytest.mark.parametrize("coordinates", [mb.AbsoluteCoordinates(), EULER], ids=["default", "all"])
def test_a_table_says_all(coordinates):
    """Through a file and back."""
    table = json.loads(json.dumps(described(coordinates)))
    assert read_coordinates(table) == coordinates
    assert described(mb.RelativeCoordinates()) is None


STUDY = """mbkit_study = 1
model = "four-bar.toml"
t_span = [0.0, 0.1]
h = 1e-3

[initial.q]
{q}

[initial.v]
{v}
"""
TABLE = """
[coordinates]
type = "absolute"
local = "rodrigues_position"
trivialised = "right"
length = 0.7
joints = ["A"]
orientation = {type = "euler_angles", sequence = "xyz"}
"""


def study(model, further=TABLE):
    relative, *state = start(model)
    q, v = (
        "\n".join(f"{name} = {float(value)!r}" for name, value in zip(names, values, strict=True))
        for names, values in zip(
            (relative.position_names, relative.velocity_names), state, strict=True
        )
    )
    path = model.parent / "study.toml"
    path.write_text(STUDY.format(q=q, v=v) + further)
    return path


@pytest.mark.long
def test_a_study_starts_where_the_joints_say(model):
    """The same file with one more table, and the same motion."""
    found = mb.load_study(study(model))
    assert found.system.coordinates == EULER
    relative = mb.load_study(study(model, ""))
    runs = [each.run() for each in (relative, found)]
    back, _ = relative.system.state_of(found.system, runs[1].q, runs[1].v)
    np.testing.assert_allclose(back, runs[0].q, atol=1e-9)
    assert read_coordinates(runs[1].options["coordinates"]) == EULER
    assert "coordinates" not in runs[0].options


def test_a_study_changes_them_from_outside(model):
    """By the path of a key; other numbers of the model go with it."""
    path = study(model)
    found = mb.load_study(path, {"coordinates.local": "dual_rodrigues"})
    assert found.system.coordinates == attrs.evolve(EULER, local=mb.DualRodrigues())
    heavy = mb.load_study(path, {"bodies.rod 1.mass": 3.0}).system
    assert heavy.parameters["bodies.rod 1.mass"] == 3.0
    cut = mb.load_study(study(model, '[coordinates]\nloop_joints = ["C"]\n'))
    assert cut.system.loop_joints == ("C",)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('type = "absolut"', r"coordinates.type: there are no coordinates 'absolut'; did you mean"),
        (
            'type = "absolute"\nlocal = "rodrigues"',
            "coordinates.local: .rodrigues. is no name of local coordinates",
        ),
        ('type = "absolute"\nloop_joints = ["A"]', "coordinates.loop_joints: unknown key"),
        ('type = "absolute"\ntrivialised = "both"', "coordinates.trivialised: .*must be 'left'"),
        ('local = "rodrigues_position"', "coordinates.local: unknown key; known are 'loop_joints'"),
    ],
)
def test_faults_of_a_table_are_told_with_their_place(model, table, message):
    """And what may have been meant."""
    with pytest.raises(mb.StudyFileError, match=message):
        mb.load_study(study(model, f"[coordinates]\n{table}\n"))


def test_absolute_coordinates_go_without_a_representation(model):
    """It follows from the local coordinates."""
    with pytest.raises(mb.StudyFileError, match="absolute coordinates go without 'representation'"):
        mb.load_study(study(model), {"representation": "hybrid"})
    with pytest.raises(mb.StudyFileError, match="absolute coordinates go without 'body_frames'"):
        mb.load_study(study(model), {"body_frames": "com"})


@pytest.mark.long
def test_the_command_line_simulates_in_them(model, tmp_path):
    """With the state at the start by joints; results are plotted as any other."""
    relative, q, v = start(model)
    state = [
        text
        for option, names, values in (
            ("--q", relative.position_names, q),
            ("--v", relative.velocity_names, v),
        )
        for name, value in zip(names, values, strict=True)
        for text in (option, f"{name}={float(value)!r}")
    ]
    options = ("--t-end", "0.1", *state)
    choice = (
        "--coordinates", "absolute", "--orientation", "rotation_vector",
        "--local", "rodrigues_position", "--trivialised", "right",
    )  # fmt: skip
    for name, chosen in (("relative", ()), ("absolute", choice)):
        done = invoke("simulate", model, "-o", tmp_path / f"{name}.nc", *options, *chosen)
        assert done.exit_code == 0, done.output
    one, other = (mb.load_result(tmp_path / f"{n}.nc") for n in ("relative", "absolute"))
    system = mb.load_model(model).assemble(read_coordinates(other.options["coordinates"]))
    back, _ = relative.state_of(system, other.q, other.v)
    np.testing.assert_allclose(back, one.q, atol=1e-9)
    assert other.model == one.model
    done = invoke("plot", tmp_path / "absolute.nc", "-o", tmp_path / "absolute.png")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--local", "rodrigues_position"), "--local is for absolute coordinates"),
        (("--coordinates", "absolute", "--local", "rodrigues"), "did you mean 'dual_rodrigues'"),
        (("--coordinates", "absolute", "--orientation", "euler"), "--orientation: there is none"),
        (("--coordinates", "absolute", "--orientation", "euler_angles:zz"), "neighbours of which"),
        (
            ("--coordinates", "absolute", "--orientation", "rotation_vector:zxz"),
            "only euler_angles",
        ),
        (
            ("--coordinates", "absolute", "--orientation", "euler:zxz"),
            "there is none called 'euler'",
        ),
        (("--coordinates", "absolute", "--v", "E=1"), "--v E=1: there is no joint 'E'"),
        (("--coordinates", "absolute", "--representation", "mixed"), "is for relative coordinates"),
    ],
)
def test_options_that_do_not_go_together_are_refused(model, tmp_path, options, message):
    """Before anything is computed."""
    failed = invoke("simulate", model, "-o", tmp_path / "no.nc", *options)
    assert failed.exit_code != 0
    assert message in failed.stderr


def test_one_joint_is_enough_on_the_command_line(model, tmp_path):
    """The others follow, in relative coordinates as in absolute ones."""
    starts = []
    for name in ("relative", "absolute"):
        target = tmp_path / f"{name}.nc"
        options = ("--t-end", "0.01", "--q", "A=1", "--v", "A=2", "--coordinates", name)
        done = invoke("simulate", model, "-o", target, *options)
        assert done.exit_code == 0, done.output
        run = mb.load_result(target)
        assert run.options["solved"]["q"]
        chosen = run.options.get("coordinates")
        system = mb.load_model(model).assemble(read_coordinates(chosen) if chosen else None)
        assert np.abs(system.constraint_residual(run.q[0])).max() < 1e-10
        relative = mb.load_model(model).assemble()
        starts.append(relative.state_of(system, run.q[0], run.v[0]))
        assert starts[-1][0][relative.position_slice("A")] == pytest.approx(1.0)
        assert starts[-1][1][relative.velocity_slice("A")] == pytest.approx(2.0)
    for one, other in zip(*starts, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("orientation", "expected"),
    [
        ("euler_angles", mb.EulerAngles("zyx")),
        ("euler_angles:zxz", mb.EulerAngles("zxz")),
        ("euler_angles:xyz", mb.EulerAngles("xyz")),
    ],
)
def test_the_command_line_takes_a_sequence_of_angles(model, tmp_path, orientation, expected):
    """After a colon; that of yaw, pitch and roll where it is left out."""
    path = tmp_path / "angles.nc"
    options = ("--t-end", "0.01", "--coordinates", "absolute", "--orientation", orientation)
    done = invoke("simulate", model, "-o", path, *options)
    assert done.exit_code == 0, done.output
    found = read_coordinates(mb.load_result(path).options["coordinates"])
    assert found.orientation == expected


def test_remedies_are_options_on_the_command_line(tmp_path):
    """And not calls in Python."""
    mech = mb.Mechanism("bob")
    mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), "world", "bob")
    path = tmp_path / "bob.toml"
    path.write_text(mech.to_toml())
    failed = invoke("simulate", path, "-o", tmp_path / "no.nc", "--coordinates", "absolute")
    assert failed.exit_code != 0
    assert "or take --coordinates relative" in failed.stderr
    shown = invoke("info", path, "--coordinates", "absolute")
    assert "or take --coordinates relative" in shown.output
    assert "mbkit." not in failed.stderr + shown.output


def test_info_shows_what_is_cut(model):
    """Free joints, loops, joints that keep their coordinates, and what cannot be."""
    shown = invoke("info", model, "--coordinates", "absolute")
    assert shown.exit_code == 0, shown.output
    for text in (
        "rod 2  by rod 2 (free) (AbsoluteJoint)",
        "Tree joints: 4, with nq 22 and nv 19; loop joints: 4, with 21 constraint rows",
        "Mobility: -2 degrees of freedom by count",
        "Note: 'A' keeps its coordinates, by a part of a body.",
    ):
        assert text in shown.output
    mech = mb.load_model(model)
    mech.add_body(mb.Body("ghost"))
    mech.add_joint(mb.SphericalJoint("held"), "rod 1", "ghost")
    model.write_text(mech.to_toml())
    shown = invoke("info", model, "--coordinates", "absolute")
    assert "Warning: Body 'ghost' has no mass" in shown.output


@pytest.mark.slow
def test_a_run_goes_on_from_its_directory(model, tmp_path, monkeypatch):
    """After Ctrl-C in the middle, bit for bit."""
    monkeypatch.setattr("mbkit.simulation.stepping.chunks.CHUNK", 1e-4)
    relative, q, v = start(model)
    system = mb.load_model(model).assemble(EULER)
    q, v = system.state_of(relative, q, v)
    options = {"q": q, "v": v, "progress": False}
    kind = mb.RungeKuttaMuntheKaas
    prepare = kind.prepare

    def stopping(self, problem):
        inner = prepare(self, problem)

        def advance(first, steps, rows):
            if first >= 50:
                raise KeyboardInterrupt
            return inner(first, min(steps, 20), rows)

        return advance

    with monkeypatch.context() as patched:
        patched.setattr(kind, "prepare", stopping)
        run = mb.simulate(system, (0.0, 0.1), 1e-3, output=tmp_path / "run", **options)
        assert not run.completed
    went_on = mb.resume(tmp_path / "run", progress=False)
    whole = mb.simulate(system, (0.0, 0.1), 1e-3, **options)
    np.testing.assert_array_equal(went_on.q, whole.q)
    np.testing.assert_array_equal(went_on.v, whole.v)
