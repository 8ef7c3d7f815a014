"""A study file says what `mb.simulate` is called with, and what is wrong in it is told."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main
from mbkit.studies.changes import parsed_change
from tests.studies.conftest import STUDY


def by_hand(folder, h=1e-2, shoulder=0.4, stiffness=4.0, mass=2.5):
    """The run that the study describes, without it."""
    mech = mb.load_model(folder / "arm.toml")
    mech.add_force(mb.JointSpring("spring", "shoulder", stiffness=4.0))
    system = mech.assemble(mb.RelativeCoordinates(representation=mb.Hybrid()))
    system = system.with_parameters(
        {
            "bodies.upper.mass": mass,
            "gravity": (0.0, 0.0, -1.62),
            "forces.spring.stiffness": stiffness,
        }
    )
    return mb.simulate(
        system, (0.0, 1.0), h, q=[shoulder, 0.6, 0.8, 0.0, 0.0], v=[0.0, 0.0, 0.0, 3.0],
        integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN), save_every=10,
    )  # fmt: skip


def assert_same(run, expected):
    np.testing.assert_array_equal(run.t, expected.t)
    np.testing.assert_array_equal(run.q, expected.q)
    np.testing.assert_array_equal(run.v, expected.v)
    np.testing.assert_array_equal(run.energy_balance, expected.energy_balance)


def test_a_study_is_the_run_that_it_describes(study_folder):
    study = mb.load_study(study_folder / "swing.toml")
    run = study.run()
    assert_same(run, by_hand(study_folder))
    expected = by_hand(study_folder).options
    for key in ("integrator", "representation", "h", "t_span", "save_every"):
        assert run.options[key] == expected[key]
    assert study.output == study_folder / "results" / "swing.nc"


def test_outputs_are_recorded_as_simulate_records_them(study_folder):
    """The key names what `outputs=` takes; the values are those of a call for the states."""
    names = ["upper.position", "shoulder.reaction", "spring.effort"]
    study = mb.load_study(study_folder / "swing.toml", {"outputs": names})
    run = study.run()
    assert list(run.outputs) == names
    np.testing.assert_array_equal(
        run["upper.position"], study.system.pose("upper", run.q)[..., :3, 3]
    )
    np.testing.assert_allclose(run["spring.effort"], -4.0 * run["shoulder"], rtol=1e-14)
    single = mb.load_study(study_folder / "swing.toml", {"outputs": "spring.effort"})
    assert single.outputs == ("spring.effort",)
    with pytest.raises(mb.StudyFileError, match=r"outputs.*no body or frame 'uper'.*'upper'"):
        mb.load_study(study_folder / "swing.toml", {"outputs": ["uper.position"]})


def test_changes_take_the_place_of_what_the_file_says(study_folder):
    """Keys of the study, of its forces, and parameters of the model, by their names."""
    changes = {
        "h": 5e-3,
        "initial.q.shoulder": -0.2,
        "forces.spring.stiffness": 7.0,
        "bodies.upper.mass": 1.5,
    }
    run = mb.load_study(study_folder / "swing.toml", changes).run()
    assert_same(run, by_hand(study_folder, h=5e-3, shoulder=-0.2, stiffness=7.0, mass=1.5))


def test_changes_may_be_tuples_and_arrays(study_folder):
    path = study_folder / "swing.toml"
    changes = {
        "t_span": (0.0, 2.0),
        "save_every": np.int64(5),
        "initial.v.ball": np.array([1.0, 2.0, 3.0]),
        "gravity": (0.0, 0.0, np.float64(-9.81)),
    }
    study = mb.load_study(path, changes)
    plain = {"t_span": [0, 2], "save_every": 5, "initial.v.ball": [1, 2, 3],
             "gravity": [0, 0, -9.81]}  # fmt: skip
    assert study.settings == mb.load_study(path, plain).settings
    assert_same(study.run(), mb.load_study(path, plain).run())


def test_results_carry_the_study(study_folder, tmp_path):
    """Its name and settings, changes included, also through a file."""
    study = mb.load_study(study_folder / "swing.toml", {"bodies.upper.mass": 3, "h": 5e-3})
    study.run().save(tmp_path / "run.nc")
    notes = mb.load_result(tmp_path / "run.nc").options["notes"]
    assert notes["study"] == "swing.toml"
    assert notes["settings"]["h"] == 5e-3
    assert notes["settings"]["parameters"]["bodies.upper.mass"] == 3
    assert notes["settings"]["parameters"]["gravity"] == (0.0, 0.0, -1.62)
    assert notes["settings"]["initial"]["v"] == {"ball[2]": 3.0}
    assert notes["settings"]["integrator"] == {"tableau": "heun"}


def test_info_tells_what_a_result_was_computed_from(study_folder):
    """Of a file and of a run directory; a description that changes is no obstacle to going on."""
    study = mb.load_study(study_folder / "swing.toml", {"h": 5e-3, "about": "slow"})
    study.run().save(study_folder / "run.nc")
    study.run(study_folder / "runs")
    for place in ("run.nc", "runs"):
        told = CliRunner().invoke(main, ["info", str(study_folder / place)]).output
        assert "from        study swing.toml" in told
        assert "mbkit " + mb.__version__ in told
        for line in ("study: swing.toml", '  about = "slow"', "  h = 0.005",
                     "  parameters.bodies.upper.mass = 2.5"):  # fmt: skip
            assert line in told.splitlines()
    again = mb.load_study(study_folder / "swing.toml", {"h": 5e-3, "about": "slower"})
    assert again.resume(study_folder / "runs").completed
    (study_folder / "runs" / "cases").mkdir()
    refused = CliRunner().invoke(main, ["info", str(study_folder / "runs")])
    assert "mbkit report" in refused.output


def test_a_whole_joint_counts_over_its_entries(study_folder):
    """A change comes after what the file says, whatever it names."""
    changes = {"initial.v.ball": [1.0, 2.0, 4.0]}
    assert mb.load_study(study_folder / "swing.toml", changes).v.tolist() == [0, 1, 2, 4]
    path = study_folder / "swing.toml"
    path.write_text(STUDY.replace('"ball[2]" = 3.0', 'ball = [1, 1, 1]\n"ball[2]" = 3.0'))
    assert mb.load_study(path).v.tolist() == [0, 1, 1, 3]
    assert mb.load_study(path, changes).v.tolist() == [0, 1, 2, 4]


FAULTS = {
    "h = 1e-2": {
        "h = '1'": "swing.toml:4: h: must be a number, got '1'.",
        "h = -1": "swing.toml:4: h: h must be positive",
        "h = 0.3": "swing.toml:4: h: The span 1 s must be a whole number of steps h",
        "hh = 1e-2": "swing.toml:4: hh: unknown key; did you mean 'h'?",
        "": "h: h was left out, and RungeKuttaMuntheKaas(tableau",
    },
    "t_span = [0.0, 1.0]": {
        "t_span = [0.0]": "swing.toml:3: t_span: must be an array of 2 numbers, got [0.0].",
        "t_span = 1": "swing.toml:3: t_span: must be an array of numbers, got 1.",
    },
    'model = "arm.toml"': {
        'model = "am.toml"': "swing.toml:2: model: must be a file, seen from the folder of the st"
        "udy, got 'am.toml'; did you mean 'arm.toml'?",
        'model = "."': "model: must be a file, seen from the folder of the study; '.' is a folder.",
        'model = "/dev/zero"': "of the study; '/dev/zero' is a device or a pipe.",
        'model = "a\\u0000"': "swing.toml:2: model: must be a file",
        f'model = "{300 * "a"}"': "swing.toml:2: model: must be a file",
        f'model = "{300 * "a"}/a.toml"': "swing.toml:2: model: must be a file",
        "model = 3": "swing.toml:2: model: must be a string, got 3.",
    },
    'representation = "hybrid"': {
        'representation = "hybird"': "swing.toml:6: representation: there is no representation 'hy"
        "bird'; did you mean 'hybrid'?",
        'body_frames = "own"': "swing.toml:6: body_frames: RelativeCoordinates: body_frames must",
    },
    "save_every = 10": {
        "save_every = 0": "swing.toml:5: save_every: save_every must be a whole number",
        "save_every = 1.5": "swing.toml:5: save_every: must be an integer, got 1.5.",
        'save = ["q"]': "output: must be a directory, ending in /, where 'save' is given",
        'save = ["p"]\noutput = "a/"': "swing.toml:5: save: save: nothing is called 'p'; known",
        'output = "/tmp/a.nc"': "swing.toml:5: output: must be a place below the folder 'results'",
        'output = "../a.nc"': "swing.toml:5: output: must be a place below the folder 'results'",
        'output = "a/../../b/"': "swing.toml:5: output: must be a place below the folder 'results'",
        'output = "a.toml"': "swing.toml:5: output: must be a file that ends in .nc, or a direct",
    },
    'tableau = "heun"': {
        'tableau = "hen"': "integrator.tableau: there is no tableau 'hen'; did you mean 'heun'?",
        'type = "bdf"': "swing.toml:9: integrator.type: there is no integrator 'bdf'; did you mean",
        "rho = 1": "swing.toml:9: integrator.rho: unknown key; known are 'tableau', ",
    },
    "shoulder = 0.4": {
        "sholder = 0.4": "swing.toml:12: initial.q.sholder: there is no joint 'sholder'; did you m",
        "shoulder = '1'": "swing.toml:12: initial.q.shoulder: must be a finite number, or an arr",
        "shoulder = [1, 2]": "swing.toml:12: initial.q.shoulder: 'shoulder' takes 1 number; got 2",
        "shoulder = nan": "swing.toml:12: initial.q.shoulder: must be a finite number",
        "shoulder = true": "swing.toml:12: initial.q.shoulder: must be a finite number",
    },
    "ball = [0.6, 0.8, 0.0, 0.0]": {
        "ball = [0.6, 0.6, 0.0, 0.0]": "of length 0.848528; it must be of length 1.",
        '"ball[7]" = 1': "there is no entry 'ball[7]'; joint 'ball' has ball[0], ball[1], ball[2]",
    },
    "stiffness = 4.0": {
        "stifness = 4.0": "forces.spring.stifness: unknown key; did you mean 'stiffness'?",
        'stiffness = "4"': "swing.toml:21: forces.spring.stiffness: must be a number, got '4'.",
    },
    'joint = "shoulder"': {
        'joint = "elbow"': "swing.toml:18: forces.spring: Force 'spring': mechanism 'arm' has no",
    },
    'type = "joint_spring"': {
        'type = "joint_spri"': "swing.toml:19: forces.spring.type: 'joint_spri' is no known type",
    },
    "bodies.upper.mass = 2.5": {
        "bodies.uper.mass = 2": "swing.toml:24: parameters.bodies.uper.mass: there is no such k"
        "ey of a study, and no such parameter of its model; did you mean 'bodies.upper.mass'?",
        "bodies.upper.mass = -1": "swing.toml:24: parameters.bodies.upper.mass: ",
        "bodies.upper.mass = 'x'": "must be a number or numbers, got 'x'.",
    },
}
CASES = [(old, new, text) for old, changes in FAULTS.items() for new, text in changes.items()]


@pytest.mark.parametrize(("old", "new", "message"), CASES, ids=[case[1] for case in CASES])
def test_faults_are_told_with_their_lines(study_folder, old, new, message):
    path = study_folder / "swing.toml"
    path.write_text(STUDY.replace(old, new))
    with pytest.raises(mb.StudyFileError) as caught:
        mb.load_study(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["forces = []", "events = 3", "parameters = 'x'", "integrator = 1"]
)
def test_what_must_be_a_table_is_told(study_folder, text):
    path = study_folder / "swing.toml"
    path.write_text(STUDY[: STUDY.index("[integrator]")] + text)
    key = text.partition(" = ")[0]
    with pytest.raises(mb.StudyFileError, match=rf"swing.toml:8: {key}: must be a table, got "):
        mb.load_study(path)


def test_all_faults_are_told_at_once(study_folder):
    path = study_folder / "swing.toml"
    path.write_text(STUDY.replace("1e-2", "-1").replace("hybrid", "x").replace("heun", "y"))
    with pytest.raises(mb.StudyFileError, match="has 4 faults:\n") as caught:
        mb.load_study(path, {"save_every": 0})
    places = [line.partition(": ")[0] for line in str(caught.value).splitlines()[1:]]
    assert places == ["set save_every=0", "swing.toml:4", "swing.toml:6", "swing.toml:9"]
    path.write_text(STUDY.replace("1e-2", "-1").replace("save_every", "save_evry"))
    with pytest.raises(mb.StudyFileError, match="has 2 faults:\n") as caught:
        mb.load_study(path)
    for line in ("swing.toml:4: h", "swing.toml:5: save_evry: unknown key"):
        assert line in str(caught.value)


CHANGES = {
    ("hh", 1): "set hh=1: there is no such key of a study, and no such parameter of its model; did "
    "you mean 'h'?",
    ("h", "x"): "set h=x: must be a number, got 'x'.",
    ("integrator.tableau", "x"): "set integrator.tableau=x: there is no tableau 'x'; known are",
    ("initial.q.sholder", 1): "set initial.q.sholder=1: there is no joint 'sholder'; did you mean",
    ("forces.oil.dampin", 1): "set forces.oil.dampin=1: there is no such key of a study, and no s",
    ("forces.spring.stif", 1): "set forces.spring.stif=1: unknown key; did you mean 'stiffness'?",
    ("bodies.upper.mass", -1): "set bodies.upper.mass=-1: ",
    ("bodies.upper.mass", True): "set bodies.upper.mass=True: must be a number or numbers, got Tr",
    ("output", "../x.nc"): "set output=../x.nc: must be a place below the folder 'results'",
    ("mbkit_study", 2): "set mbkit_study=2: there is no such key",
    ("initial.q.shoulder", 10**400): "must be a finite number, or an array of them, got 1000",
    ("initial.q.ball", (10**400, 0, 0, 0)): "must be a finite number, or an array of them, got [1",
    ("save_every", 10**25): "save_every must be below 2^62, got a number of 84 bits.",
    ("save_at", (0, 10**400)): "save_at must be a list of times, got ",
    ("h.x", 2): "set h.x=2: there is no such key of a study",
}


@pytest.mark.parametrize(("change", "message"), CHANGES.items(), ids=map(str, CHANGES))
def test_faults_of_changes_are_told_as_such(study_folder, change, message):
    with pytest.raises(mb.StudyFileError) as caught:
        mb.load_study(study_folder / "swing.toml", dict([change]))
    assert message in str(caught.value)
    assert "has a fault:" in str(caught.value)


def test_faults_of_the_model_are_those_of_its_file(study_folder):
    (study_folder / "arm.toml").write_text("mbkit_model = 1\nnam = 'arm'\n")
    with pytest.raises(mb.ModelFileError, match=r"arm\.toml:2: nam: unknown key"):
        mb.load_study(study_folder / "swing.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must say its format; begin it with 'mbkit_study = 1' (s.toml:1)."),
        ("\nmbkit_study = 2", "has the format mbkit_study = 2 (s.toml:2); this mbkit reads 1."),
        ("mbkit_study = [", "is no TOML"),
        ("mbkit_study = 1\nmbkit_study = 1", "gives mbkit_study twice"),
        ("x = " + "[" * 100, "is nested too deeply"),
    ],
)
def test_what_is_no_study_is_refused(tmp_path, text, message):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(mb.StudyFileError) as caught:
        mb.load_study(path)
    assert message in str(caught.value)
    with pytest.raises(mb.StudyFileError, match="cannot be read: No such file"):
        mb.load_study(tmp_path / "none.toml")


def test_a_study_writes_nowhere_else_through_a_link(study_folder, tmp_path_factory):
    """A folder of another person may have links in it; the command line may still say where."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (study_folder / "results").symlink_to(elsewhere)
    for output in ("a.nc", "deep/a.nc", "long/"):
        with pytest.raises(mb.StudyFileError, match=r"output=.*: leads out of the project by a li"):
            mb.load_study(study_folder / "swing.toml", {"output": output})
    (study_folder / "results").unlink()
    (study_folder / "results").mkdir()
    (study_folder / "results" / "a.nc").symlink_to(elsewhere / "b.nc")
    with pytest.raises(mb.StudyFileError, match=r"leads out of the project by a link, to '.*/b.nc"):
        mb.load_study(study_folder / "swing.toml", {"output": "a.nc"})
    assert not list(elsewhere.iterdir())
    (study_folder / "results" / "long").mkdir()
    (study_folder / "results" / "long" / "lock").symlink_to(elsewhere / "precious")
    with pytest.raises(mb.StudyFileError, match=r"output=long/: has a link in it, '.*/long/lock'"):
        mb.load_study(study_folder / "swing.toml", {"output": "long/"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h=1e-4", ("h", 1e-4)),
        ("save_every=10", ("save_every", 10)),
        ("integrator.tableau=heun", ("integrator.tableau", "heun")),
        ("initial.q.ball=1,0,0,0", ("initial.q.ball", [1, 0, 0, 0])),
        ("gravity=[0, 0, -1.62]", ("gravity", [0, 0, -1.62])),
        ("initial.q.lower [left]=0.5", ("initial.q.lower [left]", 0.5)),
        ("initial.q.ball[2]=0.5", ("initial.q.ball[2]", 0.5)),
        ("model=../models/a.toml", ("model", "../models/a.toml")),
        ("about=one = two", ("about", "one = two")),
        ("about=1\nh = 2", ("about", "1\nh = 2")),
    ],
)
def test_changes_on_the_command_line(text, expected):
    assert parsed_change(text) == expected


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ('initial.v."ball[2]"=2', ("initial", "v", "ball[2]")),
        ("'initial'.q.\"shoulder\"=2", ("initial", "q", "shoulder")),
        ('"h"=0.01', ("h",)),
        ('forces."spring".stiffness=2', ("forces", "spring", "stiffness")),
        ('bodies."upper".mass=2', ("parameters", "bodies.upper.mass")),
    ],
)
def test_keys_may_be_quoted_as_in_toml(study_folder, change, place):
    path, value = parsed_change(change)
    study = mb.load_study(study_folder / "swing.toml", {path: value})
    found = study.settings
    for key in place:
        found = found[key]
    assert found == value


def test_a_quoted_key_may_have_an_equals_sign():
    assert parsed_change('forces."a=b".stiffness=2') == ('forces."a=b".stiffness', 2)
    assert parsed_change("about='a=b'") == ("about", "a=b")
    assert parsed_change("initial.q.bob's=2") == ("initial.q.bob's", 2)


@pytest.mark.parametrize(
    "path", ["forces.spring", "initial.q", "initial", "integrator", "bodies.upper", "parameters"]
)
def test_whole_tables_are_refused_by_name(study_folder, path):
    with pytest.raises(mb.StudyFileError) as caught:
        mb.load_study(study_folder / "swing.toml", {path: {"mass": 3}})
    assert f"set {path}: a table cannot be given as a whole; give" in str(caught.value)
    assert f"as in {path}.mass=VALUE." in str(caught.value)


@pytest.mark.parametrize("text", ["h", "h=", "=1", "="])
def test_a_change_has_a_path_and_a_value(text):
    with pytest.raises(mb.UsageError, match="write it as PATH=VALUE, such as h=1e-4"):
        parsed_change(text)


def test_notes_are_what_files_can_hold(study_folder):
    """Numbers of numpy become numbers; what no file can hold is refused before anything runs."""
    system = mb.load_model(study_folder / "arm.toml").assemble()
    notes = {"who": "me", "n": np.int64(3), "x": np.ones(2), "deep": {"more": (1.5, None, True)}}
    run = mb.simulate(system, (0.0, 0.1), 0.1, notes=notes)
    assert run.options["notes"] == {
        "who": "me", "n": 3, "x": (1.0, 1.0), "deep": {"more": (1.5, None, True)}
    }  # fmt: skip
    for bad, name in (({"f": print}, "notes['f']"), ({1: 2}, "notes"), ("text", "notes")):
        with pytest.raises(mb.UsageError) as caught:
            mb.simulate(system, (0.0, 0.1), 0.1, notes=bad)
        assert str(caught.value).startswith(f"{name} must be")
