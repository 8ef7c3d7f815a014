"""Sweeps: a row for each point of a grid, each point once, whatever is killed on the way."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main
from mbkit.studies import load_findings, sweep
from mbkit.studies.changes import parsed_values
from mbkit.studies.laboratory.findings.plots import curves_over
from mbkit.studies.laboratory.findings.report import page
from tests.constraints.closed_mechanisms import four_bar
from tests.studies.test_variation import HEIGHT, drop

ROOT = pathlib.Path(__file__).parents[2]
GRID: dict[str, Any] = {"v.fall": [4.0, 5.0, 6.0], "gravity[2]": np.array([-10.0, -8.0])}


def test_a_grid_is_a_tidy_table_of_the_closed_form() -> None:
    """After a second the ball is at v + g / 2; of the end there are more columns by themselves."""
    found = sweep(drop(), (0.0, 1.0), 0.5, vary=GRID, outputs=HEIGHT)
    values = [(row["v.fall"], row["gravity[2]"]) for row in found.table]
    assert values == [(v, g) for v in (4.0, 5.0, 6.0) for g in (-10.0, -8.0)]
    assert found.table["height"] == pytest.approx([v + g / 2.0 for v, g in values], rel=1e-12)
    row = sweep(drop(), (0.0, 1.0), 0.5, vary={"v.fall": [4.0, 4.0]}).table.rows
    assert len(row) == 1
    assert row[0]["end.t"] == 1.0
    assert row[0]["end.q.fall"] == pytest.approx(-1.0, rel=1e-12)
    assert row[0]["end.v.fall"] == pytest.approx(-6.0, rel=1e-12)
    assert row[0]["energy_drift"] < 1e-12
    assert (row[0]["steps"], row[0]["evaluations"]) == (2, 8)


def test_a_point_of_a_study_is_what_run_computes(study_folder: pathlib.Path) -> None:
    """With the grammar of --set: keys of the study, its forces, the start, and words."""
    study = study_folder / "swing.toml"
    vary = {"initial.q.shoulder": [0.1, 0.4], "integrator.tableau": ["heun", "rk4"],
            "forces.spring.stiffness": [5]}  # fmt: skip
    found = sweep(study, vary=vary, executor="threads")
    for row in found.table:
        run = mb.load_study(study, {name: row[name] for name in vary}).run(progress=False)
        assert row["end.q.ball[0]"] == run.q[-1, 1]
        assert row["end.v.shoulder"] == run.v[-1, 0]
        assert row["evaluations"] == run.options["counts"]["evaluations"]
    loaded = mb.load_study(study, {"h": 0.05})  # changes that it was loaded with stay
    assert sweep(loaded, vary={"save_every": [1, 2]}).table["steps"].tolist() == [20, 20]


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_joints_that_the_start_names_stay_where_they_are_put_in_all_points() -> None:
    """Lengths vary, and the others close the loops: as in a run of the point alone."""
    start: dict[str, Any] = {"q": {"A": 0.5}, "v": {"D": 2.0}}
    outputs = {
        f"{kind}.{k}": lambda run, kind=kind, k=k: getattr(run, kind)[0, k]
        for kind in "qv"
        for k in range(3)
    }
    vary = {"joints.D.point[0]": [0.9, 0.95], "bodies.rod 1.mass": [1.0, 2.0]}
    found = sweep(four_bar(), (0.0, 0.01), 1e-3, vary=vary, outputs=outputs, **start).table
    assert set(found["status"]) == {"completed"}
    for row in found:
        values = {"joints.D.point": [row["joints.D.point[0]"], 0.0, 0.0],
                  "bodies.rod 1.mass": row["bodies.rod 1.mass"]}  # fmt: skip
        system = four_bar().assemble().with_parameters(values)
        run = mb.simulate(system, (0.0, 0.01), 1e-3, **start)
        assert row["q.0"] == 0.5
        assert row["v.2"] == pytest.approx(2.0, rel=1e-14)
        assert [row[f"q.{k}"] for k in range(3)] == pytest.approx(run.q[0], abs=1e-12)
        assert [row[f"v.{k}"] for k in range(3)] == pytest.approx(run.v[0], abs=1e-12)


def test_recorded_outputs_have_their_extremes_and_last_values(study_folder: pathlib.Path) -> None:
    """Of a study those of its run; of a ball that falls its velocities in closed form."""
    study, vary = study_folder / "swing.toml", {"initial.q.shoulder": [0.1, 0.4]}
    names = ["spring.effort", "upper.position"]
    found = sweep(study, vary=vary, outputs=names).table
    run = mb.load_study(study, {"outputs": names}).run(progress=False)
    assert found["max.spring.effort"][1] == run["spring.effort"].max()
    assert found["min.upper.position[2]"][1] == run["upper.position"][:, 2].min()
    assert found["end.upper.position[0]"][1] == run["upper.position"][-1, 0]
    assert found.units["min.spring.effort"] == "N m"
    assert found.units["max.upper.position[2]"] == "m"
    by_file = sweep(mb.load_study(study, {"outputs": names}), vary=vary).table
    assert by_file["max.spring.effort"].tolist() == found["max.spring.effort"].tolist()
    assert "end.t" in by_file.columns
    assert "end.t" not in found.columns
    falls = sweep(drop(), (0.0, 1.0), 0.5, vary=GRID, outputs=["ball.velocity"]).table
    last = [row["v.fall"] + row["gravity[2]"] for row in falls]
    assert falls["end.ball.velocity[2]"] == pytest.approx(last, rel=1e-12)
    assert falls["max.ball.velocity[2]"] == pytest.approx(falls["v.fall"], rel=1e-12)


def test_points_that_fail_are_listed_and_run_again_if_asked_for(tmp_path: pathlib.Path) -> None:
    given: dict[str, Any] = {"vary": GRID, "directory": tmp_path / "study"}

    def height(run: mb.Result) -> float:
        if run.v[0, 0] == 5.0 and not (tmp_path / "cured").exists():
            raise ArithmeticError("too fast")
        return float(run.q[-1, 0])

    given["outputs"] = {"height": height}
    found = sweep(drop(), (0.0, 1.0), 0.5, **given)
    assert [row["status"] for row in found.failed] == ["ArithmeticError: too fast"] * 2
    assert {row["v.fall"] for row in found.failed} == {5.0}
    (tmp_path / "cured").touch()
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "study" / "cases").iterdir()}
    assert len(sweep(drop(), (0.0, 1.0), 0.5, **given).failed) == 2
    wider = given | {"vary": GRID | {"v.fall": [4.0, 5.0, 6.0, 7.0]}}
    found = sweep(drop(), (0.0, 1.0), 0.5, **wider, retry=True)
    assert len(found.failed) == 0
    assert len(found.table) == len(load_findings(tmp_path / "study").table) == 8
    same = [file for file, time in before.items() if file.stat().st_mtime_ns == time]
    assert len(same) == 4


_PULL = """
class Pull(mb.Force):
    joints = ("fall",)
    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = {size}
"""


@pytest.mark.long
def test_edited_code_of_the_user_is_not_mixed_with_old_rows(tmp_path: pathlib.Path) -> None:
    """A force of the base is refused by its name; integrators listed beside it are other cases."""

    def made(source: str, name: str, **values: Any) -> Any:
        names = {"__name__": "somewhere", "mb": mb, **values}
        exec(source, names)  # noqa: S102 - our own text
        return names[name]

    def swept(size: float, remark: str = "\n") -> Any:
        mech = drop()
        mech.add_force(made(remark + _PULL.format(size=size), "Pull")("pull"))
        return sweep(mech, (0.0, 1.0), 0.5, vary={"v.fall": [4.0]}, directory=tmp_path / "sweep")

    first = swept(2.0).table["end.v.fall"]
    assert swept(2.0, "# the same\n").table["end.v.fall"] == first
    with pytest.raises(mb.UsageError, match="another setting: code: force 'pull'"):
        swept(4.0)

    def compared(by: str) -> list[Any]:
        source = "class Own(mb.Integrator):\n order = 2\n def prepare(self, problem):\n"
        own = made(f"{source}  return mb.{by}.prepare(problem)\n def __repr__(self): return ''",
                   "Own")  # fmt: skip
        integrators = {"own": own(), "rkmk2": mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN)}
        mech = mb.Mechanism("swing", gravity=(0, 0, -10.0))
        inertia = mb.SpatialInertia.from_com(2.0, (0, 0, -1.0))
        rod = mech.add_body(mb.Body("rod", inertia))
        mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
        found = mb.studies.compare(
            mech, (0.0, 1.0), 0.1, integrators=integrators, repeats=0, v=[1.0],
            reference=lambda t: np.array([0.0]), quantity=lambda s, q, v: q,
            directory=tmp_path / "compare",
        )  # fmt: skip
        assert found.table["status"].tolist() == ["completed"] * 2
        return found.about["cases"]  # type: ignore[no-any-return]

    heun = compared("RungeKuttaMuntheKaas(mb.tableaus.HEUN)")
    assert compared("RungeKuttaMuntheKaas(mb.tableaus.HEUN)") == heun
    euler = compared("RungeKuttaMuntheKaas(mb.tableaus.EULER)")
    assert len(set(heun) | set(euler)) == 3


@pytest.mark.long
@pytest.mark.parametrize("executor", ["processes", "dask"])
def test_a_killed_worker_and_a_killed_client_lose_nothing(executor: str) -> None:
    """By signal 9, in the script that does it with ten thousand points."""
    script = ROOT / "benchmarks" / "sweep_kills.py"
    done = subprocess.run(
        [sys.executable, str(script), "--points", "80", "--executor", executor],
        cwd=ROOT, check=False, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Equal to the last bit" in done.stdout


def test_a_table_of_the_study_says_what_varies_and_where(study_folder: pathlib.Path) -> None:
    """Values as in --vary; arguments and options come before it, and it decides on no row."""
    study = study_folder / "swing.toml"
    text = study.read_text()
    table = (
        '[sweep]\noutputs = ["counts"]\nexecutor = "threads"\nworkers = 2\n'
        '[sweep.vary]\nsave_every = 4\n"initial.q.shoulder" = "0.1:0.3:3"\nh = [0.05, 0.02]\n'
    )
    study.write_text(f"{text}\n{table}")
    vary = {"save_every": [4], "initial.q.shoulder": [0.1, 0.2, 0.3], "h": [0.05, 0.02]}
    found = sweep(study)
    study.write_text(text)
    expected = sweep(study, vary=vary, outputs=["counts"])
    assert found.table.csv() == expected.table.csv()
    assert found.about["cases"] == expected.about["cases"]
    assert "nothing that varies" in run(study, "-o", study_folder / "out").output
    study.write_text(f"{text}\n{table}")
    done = run(study, "--vary", "h=0.05", "--executor", "serial", "-o", study_folder / "out")
    assert "3 points, 0 failed" in done.output  # --vary replaces values of its own path alone
    table_found = load_findings(study_folder / "out").table
    assert sorted(table_found["initial.q.shoulder"]) == [0.1, 0.2, 0.3]
    row = table_found.rows[0]
    assert (row["h"], row["steps"], "end.t" in row) == (0.05, 20, False)
    study.write_text(f"{text}\n{table}retry = 1\n".replace("workers", "worker"))
    with pytest.raises(mb.StudyFileError, match=r"sweep\.worker: .*did you mean 'workers'"):
        sweep(study)
    for workers, message in ((2, 'give executor="processes"'), ('"two"', "got 'two'")):
        study.write_text(f"{text}\n[sweep]\nworkers = {workers}\nvary.h = [0.05]\n")
        with pytest.raises(mb.StudyFileError, match=message):
            sweep(study)
    study.write_text(f'{text}\n[sweep.vary]\nh = "0.1:0.2"\n')
    with pytest.raises(mb.StudyFileError, match=r"h=0.1:0.2: how many values"):
        sweep(study)


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["sweep", *map(str, arguments)])


@pytest.mark.long
def test_the_command_goes_on_where_it_was(study_folder: pathlib.Path) -> None:
    given = study_folder / "swing.toml", "--set", "h=0.05", "--outputs", "end,counts"
    place = study_folder / "out"
    done = run(*given, "--vary", "bodies.upper.mass=1:2:3", "-o", place)
    assert done.exit_code == 0, done.output
    assert "3 points, 0 failed" in done.output
    assert "| 1.5" in done.output
    first = {file: file.stat().st_mtime_ns for file in (place / "cases").iterdir()}
    done = run(*given, "--vary", "bodies.upper.mass=1,1.5,2,2.5", "-o", place)
    assert "4 points, 0 failed" in done.output
    assert all(file.stat().st_mtime_ns == time for file, time in first.items())
    page = (place / "report.html").read_text()
    assert "<th>bodies.upper.mass [kg]</th>" in page
    # the evaluations are the same for all masses
    table = load_findings(place).table
    ends = [name for name in table.columns if name.startswith("end.") and name != "end.t"]
    assert page.count("<figure><svg") == len(ends) == 9
    expected = mb.load_study(given[0], {"h": 0.05, "bodies.upper.mass": 2.5}).run(progress=False)
    assert table.select(**{"bodies.upper.mass": 2.5})["end.q.shoulder"][0] == expected.q[-1, 0]
    done = run(*given, "--vary", "bodies.upper.mass=-1,1", "-o", place)
    assert "2 points, 1 failed" in done.output
    assert "bodies.upper.mass=-1: StudyFileError" in done.output
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vary", "bodies.uper.mass=1:2:3"], "bodies.upper.mass"),
        (["--vary", "h"], "PATH=VALUE"),
        (["--vary", "h=1:2:x"], "START:STOP:COUNT"),
        (["--vary", "h=1:2:0"], "COUNT 1 or more"),
        (["--vary", "h=1:2"], "START:STOP:COUNT, such as 1:2:11"),
        (["--vary", "h=1e-2", "--vary", "h=1e-3"], "twice"),
        (["--vary", "h=1e-2", "--executor", "daks"], "did you mean 'dask'"),
        (["--vary", "h=1e-2", "--workers", "2"], "takes no workers"),
        (["--vary", "h=1e-2", "--time-limit", "2"], "cannot end a task"),
        (["--vary", "h=1e-2", "--outputs", "ende"], "did you mean 'end'"),
        (["--vary", "h=1e-2", "--outputs", "sholder.effort"], "did you mean 'shoulder'"),
        (["--vary", "h=1e-2", "--outputs", "math:cosinus"], "no function 'cosinus'"),
        (["--vary", "h=1e-2", "--outputs", "maths:cos"], "maths"),
    ],
)
def test_the_command_refuses_by_name(
    study_folder: pathlib.Path, arguments: list[str], message: str
) -> None:
    done = run(study_folder / "swing.toml", *arguments, "-o", study_folder / "out")
    assert done.exit_code in (1, 2)
    assert message in re.sub(r"\s+", " ", done.output)
    assert not (study_folder / "out" / "cases").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vary": {}}, "vary must be a dict"),
        ({"vary": {"q.fall": 1.0}}, "a list of values"),
        ({"vary": {"q.fall": []}}, "has no values"),
        ({"vary": {"q.fall": ["one"]}}, "must be numbers"),
        ({"vary": {"q.fall": [np.nan]}}, "must be finite"),
        ({"vary": {"q.fal": [1.0]}}, "fall"),
        ({"vary": {"q.fall": np.arange(2000), "v.fall": np.arange(2000)}}, "4000000 points"),
        ({"outputs": 3}, "outputs must be names"),
        ({"outputs": {"height": 1.0}}, "function of a Result"),
        ({"retry": 1}, "True or False"),
        ({"integrater": 1}, "integrator"),
        ({"what": 3, "t_span": None, "h": None}, "a Mechanism, a Study"),
    ],
)
def test_bad_input_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    given = {"what": drop(), "t_span": (0.0, 1.0), "h": 0.5, "vary": {"q.fall": [0.0]}} | change
    with pytest.raises((mb.UsageError, mb.NameUnknownError), match=message):
        sweep(**given)


def test_pictures_of_two_factors_have_a_curve_for_each_value_of_the_second() -> None:
    """Words are told by curves; of three factors there is no picture."""
    found = sweep(drop(), (0.0, 1.0), 0.5, vary=GRID, outputs=HEIGHT)
    axes = curves_over(found.table, "v.fall", "height", "gravity[2]").axes[0]
    assert [each.get_label() for each in axes.lines] == ["-10", "-8"]
    assert np.allclose(axes.lines[0].get_ydata(), np.array([4.0, 5.0, 6.0]) - 5.0)
    assert (axes.get_xlabel(), found.table.units["gravity[2]"]) == ("v.fall [m/s]", "m/s^2")
    assert page(found).count("<figure><svg") == 1
    three = sweep(drop(), (0.0, 1.0), 0.5, vary=GRID | {"q.fall": [0.0, 1.0]}, outputs=HEIGHT)
    assert "<svg" not in page(three)


def test_values_keep_their_kind() -> None:
    """Counts are whole numbers, others are not; a word with commas is several."""
    assert [type(each) for each in parsed_values("save_every=1:5:3")[1]] == [int] * 3
    assert [type(each) for each in parsed_values("h=1.0:5:3")[1]] == [float] * 3
    assert parsed_values("h=2")[1] == [2]
    assert parsed_values("representation=hybrid")[1] == ["hybrid"]
