"""Tables of study files for studies of the laboratory: what they give, and what is refused."""

from __future__ import annotations

import pathlib
import tomllib

import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main
from mbkit.studies import load_findings
from tests.studies.test_compare import top
from tests.studies.test_variation import drop

HEAD = 'mbkit_study = 1\nmodel = "{}.toml"\nt_span = [0.0, 1.0]\nh = 0.05\n'
SPIN = '[initial.v]\ntip = [1, 0.4, 5]\n[integrator]\ntableau = "heun"\n'

#: A study with each table: its text, how many cases it has, and what its main table tells.
STUDIES = {
    "convergence": (
        HEAD.format("top") + SPIN + "[convergence]\nhalvings = 3\nsamples = 4\n",
        4,
        lambda table: table.select(of="error")["order"][0] == pytest.approx(2.0, abs=0.2),
    ),
    "work_precision": (
        HEAD.format("top") + SPIN + '[work_precision]\nh = [0.1, 0.05]\nby = "evaluations"\n'
        'integrators = ["rkmk2", "rkmk4"]\nerrors = [0.2]\nsamples = 2\nrepeats = 0\n',
        4,
        # between 20 and 40, with errors of 0.33 and 0.088; the other has 40 and is more precise
        lambda table: 20.0 < table["evaluations at 2e-01"][0] < table["evaluations at 2e-01"][1],
    ),
    "ensemble": (
        HEAD.format("drop") + '[ensemble]\nsamples = 40\nseed = 3\noutputs = ["end"]\n'
        '[ensemble.vary]\n"initial.v.fall" = [4.0, 6.0]\n'
        '"gravity[2]" = {distribution = "norm", loc = -10.0, scale = 1e-6}\n',
        40,
        lambda table: table.select(output="end.q.fall")["mean"][0] == pytest.approx(0.0, abs=0.4),
    ),
    "sensitivity": (
        HEAD.format("drop") + '[sensitivity]\noutputs = "end"\n'
        "[sensitivity.vary]\ninitial.v.fall = [4.0, 6.0]\n",
        3,
        lambda table: table.select(output="end.q.fall")["slope"][0] == pytest.approx(1.0),
    ),
    "scaling": (
        ('mbkit_study = 1\n[scaling]\nsizes = [1, 2]\nmake = "tests.studies.test_scaling:chain"\n'
        'representations = "spatial"\nalgorithms = ["mass_matrix"]\nrepeats = 1\n'),
        2,
        lambda table: set(table["algorithm"]) == {"mass_matrix"},
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    mb.save_model(top(), tmp_path / "top.toml")
    mb.save_model(drop(), tmp_path / "drop.toml")
    return tmp_path


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind == "ensemble" else pytest.param(kind, marks=pytest.mark.long)
        for kind in STUDIES
    ],
)
def test_run_leaves_a_directory_and_goes_on(folder: pathlib.Path, kind: str) -> None:
    """Tables, report and the study itself; started again, the command runs nothing."""
    text, count, holds = STUDIES[kind]
    study, place = folder / "one.toml", folder / "results" / "one"
    study.write_text(text)
    done = CliRunner().invoke(main, ["run", str(study)])
    assert done.exit_code == 0, done.output
    assert f"{count} cases." in done.output
    files = {path.name for path in place.iterdir()}
    assert {"manifest.json", "report.html", "tables.md", "tables.tex", "cases.csv"} <= files
    assert tomllib.loads((place / "study.toml").read_text()) == tomllib.loads(text)
    found = mb.load_study(study).findings(place)
    assert found.kind == mb.load_study(study).kind == kind
    assert holds(found.table)
    again, page = load_findings(place), (place / "report.html").read_text()
    assert again.kind == kind
    assert again.table.markdown() == found.table.markdown()
    assert CliRunner().invoke(main, ["report", str(place)]).exit_code == 0
    assert (place / "report.html").read_text() == page
    assert kind.replace("_", " ").capitalize() in page
    written = {path: path.stat().st_mtime_ns for path in (place / "cases").iterdir()}
    assert len(written) == count == len(again.tables["cases"])
    assert CliRunner().invoke(main, ["run", str(study)]).exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in written} == written


def test_ensembles_of_a_study_are_those_of_its_mechanism(folder: pathlib.Path) -> None:
    """The same numbers are drawn, by whatever names; arguments come before the table."""
    (folder / "one.toml").write_text(STUDIES["ensemble"][0])
    given = {"seed": 5, "samples": 6}
    found = mb.studies.ensemble(folder / "one.toml", executor="threads", **given)
    expected = mb.studies.ensemble(
        drop(), (0.0, 1.0), 0.05, outputs=["end"], **given,
        vary={"v.fall": (4.0, 6.0), "gravity[2]": {"distribution": "norm", "loc": -10.0,
                                                   "scale": 1e-6}},
    )  # fmt: skip
    ends = found.tables["cases"]["end.q.fall"]
    assert len(ends) == 6
    assert ends == pytest.approx(expected.tables["cases"]["end.q.fall"], abs=1e-14)
    changed = mb.load_study(folder / "one.toml", {"ensemble.samples": 2, "ensemble.seed": 5})
    assert changed.findings().tables["cases"]["end.q.fall"] == pytest.approx(ends[:2])


def test_all_faults_of_a_table_are_told_at_once(folder: pathlib.Path) -> None:
    text = HEAD.format("top") + (
        '[sweep]\noutputs = ["ende"]\nworkers = 0\nvery = 1\n[sweep.vary]\n'
        '"bodies.top.mass" = "1:2"\nh = "1:2:x"\n'
    )
    (folder / "one.toml").write_text(text)
    with pytest.raises(mb.StudyFileError) as caught:
        mb.load_study(folder / "one.toml")
    told = str(caught.value)
    assert "5 faults" in told
    for part in (
        "one.toml:6: sweep.outputs: outputs: there is no 'ende'; did you mean 'end'?",
        "one.toml:7: sweep.workers: workers must be a whole number from 1 on",
        "one.toml:8: sweep.very: there is no such argument of mbkit.studies.sweep; did you",
        "bodies.top.mass=1:2: how many values",
        "one.toml:11: sweep.vary.h: h=1:2:x: START:STOP:COUNT",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[compare]\nh = 0.1\n[ensemble]\nseed = 1\n", r":7: ensemble: stands beside \[compare\]"),
        ("[convergence]\nhalvings = 1\n", "halvings must be a whole number from 2 on"),
        ("[work_precision]\nintegrators = 'rk4'\n", "did you mean 'rkmk4'"),
        ("[ensemble]\nvary.h = 3\n", "a pair of numbers"),
        ("[ensemble]\nvary.h = {distribution = 'normal'}\n", "did you mean 'norm'"),
        ("[ensemble]\nvary.h = {distribution = 'norm', width = 1}\n", "width"),
        ("[ensemble]\nvary.h = {distribution = 'norm', scale = -1}\n", "has no median"),
        ("[ensemble]\nexecutor = 'serial'\ntime_limit = 1\n", "cannot end a task"),
        ("[sensitivity]\nmethod = 'sobel'\n", "'one_at_a_time' or 'sobol'"),
        ("[scaling]\nsizes = [0]\nmake = 'chain'\n", "positive integers.*\n.*'MODULE:FUNCTION'"),
        ("[scaling]\nsizes = [1]\nmake = 'tests:chain'\n", "no function 'chain'"),
        ("[scaling]\nsizes = [1]\n", r"scaling\.make: is missing"),
    ],
)
def test_bad_tables_are_refused_by_name(folder: pathlib.Path, table: str, message: str) -> None:
    (folder / "one.toml").write_text(HEAD.format("top") + table)
    with pytest.raises(mb.StudyFileError, match=message):
        mb.load_study(folder / "one.toml")


def test_names_that_vary_are_looked_up_before_anything_runs(folder: pathlib.Path) -> None:
    text = HEAD.format("drop") + "[ensemble.vary]\n{} = [1, 2]\n"
    for name, message in {
        '"bodies.bal.mass"': "bodies.ball.mass",
        '"gravity[3]"': "has 3 numbers, from",
        '"bodies.ball.mass[0]"': "has 1 numbers",
    }.items():
        (folder / "one.toml").write_text(text.format(name))
        with pytest.raises(mb.StudyFileError, match=message.replace("[", r"\[")):
            mb.load_study(folder / "one.toml").findings(folder / "out")
        assert not (folder / "out").exists()
    (folder / "one.toml").write_text(HEAD.format("drop"))
    with pytest.raises(mb.UsageError, match="has none of the tables compare, convergence"):
        mb.load_study(folder / "one.toml").findings()
