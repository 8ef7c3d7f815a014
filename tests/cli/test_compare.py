"""Comparisons on the command line and in study files."""

from __future__ import annotations

import csv
import pathlib

import pytest
from click.testing import CliRunner, Result

import mbkit as mb
from mbkit.cli.main import main
from tests.studies.test_compare import top


def mbkit(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def model(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "top.toml"
    mb.save_model(top(), path)
    return path


def test_options_are_those_of_python(model: pathlib.Path) -> None:
    shown = mbkit(
        "compare", model, "--v", "tip=1,0.4,5", "--t-end", 0.5, "--h", "0.02,0.01", "--repeats", 0,
        "--coordinates", "relative,rotation_vector/rodrigues_position",
        "--integrators", "rkmk4,generalized_alpha(rho_inf=0.8, tolerance=1e-12)",
    )  # fmt: skip
    assert shown.exit_code == 0, shown.output
    found = mb.studies.compare(
        top(), (0.0, 0.5), [0.02, 0.01], v=[1.0, 0.4, 5.0], repeats=0,
        coordinates=["relative", "rotation_vector/rodrigues_position"],
        integrators=["rkmk4", "generalized_alpha(rho_inf=0.8, tolerance=1e-12)"],
    )  # fmt: skip
    lines = [line.split("|") for line in shown.stdout.splitlines() if line.startswith("|")]
    assert [line[4].strip() for line in lines[2:]] == [f"{x:.3g}" for x in found.table["error"]]


@pytest.mark.long
def test_the_directory_of_a_command_has_a_study_file_that_repeats_it(
    model: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """To the last bit, from its own model: the one that was given may be gone."""
    given = (
        "--v", "tip=1,0.4,5", "--t-end", 0.1, "--h", "0.02,0.01", "--samples", 5, "--repeats", 0,
        "--body-frames", "user,com", "--integrators", "rkmk4,bliedf3",
    )  # fmt: skip
    done = mbkit("compare", model, *given, "-o", tmp_path / "first")
    assert done.exit_code == 0, done.output
    model.unlink()
    found = mb.load_study(tmp_path / "first" / "study.toml").findings()
    assert len(found.failed) == 0
    assert found.table.csv() == (tmp_path / "first" / "cases.csv").read_text()


def test_cases_run_where_options_or_the_table_say(model: pathlib.Path) -> None:
    """Errors are those of one case after the other, and times are not measured."""
    given = "compare", model, "--v", "tip=1,0.4,5", "--t-end", 0.1, "--h", "0.02,0.01"
    one = mbkit(*given, "--repeats", 0)
    two = mbkit(*given, "--executor", "threads", "--workers", 2)
    assert (one.exit_code, two.exit_code) == (0, 0), two.output
    assert one.stdout == two.stdout
    study = model.with_name("choice.toml")
    study.write_text(
        'mbkit_study = 1\nmodel = "top.toml"\nt_span = [0, 0.1]\n[initial.v]\ntip = [1, 0.4, 5]\n'
        '[compare]\nh = [0.02, 0.01]\nintegrators = "rkmk4"\nexecutor = "threads"\nworkers = 1\n'
    )
    found = mb.load_study(study).findings()
    assert "time" not in found.table.columns
    assert [f"{x:.3g}" for x in found.table["error"]] == [
        line.split("|")[2].strip() for line in one.stdout.splitlines()[2:4]
    ]
    for more, message in (
        (("--workers", 2), "takes no workers"), (("--time-limit", 1), "cannot end a task"),
        (("--executor", "threads", "--repeats", 3), "side by side mean nothing"),
    ):  # fmt: skip
        assert message in mbkit(*given, *more).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--h", "fast"), "--h: 'fast' is no number"),
        (("--integrators", "rk4"), "did you mean 'rkmk4'"),
        (("--q", "tipp=1"), "there is no joint 'tipp'"),
        (("--loop-joints", "tip"), "tip"),
        (("--joint-coordinates", "frist_kind"), "joint_coordinates"),
    ],
)
def test_what_is_wrong_is_told(
    model: pathlib.Path, arguments: tuple[str, ...], message: str
) -> None:
    study = model.with_name("study.toml")
    study.write_text('mbkit_study = 1\nmodel = "top.toml"\n')
    assert "is a study, and no model: run it by 'mbkit run'" in mbkit("compare", study).stderr
    failed = mbkit("compare", model, "--repeats", 0, *arguments)
    assert message in failed.stderr
    assert "Traceback" not in failed.output


@pytest.mark.long
def test_a_study_file_compares_and_goes_on(model: pathlib.Path) -> None:
    study = model.with_name("choice.toml")
    study.write_text(
        'mbkit_study = 1\nmodel = "top.toml"\nt_span = [0, 0.5]\nh = 0.01\n'
        "[initial.v]\ntip = [1, 0.4, 5]\n"
        '[compare]\nintegrators = ["rkmk2", "rkmk4"]\nsamples = 10\nrepeats = 0\n'
    )
    assert "2 cases" in mbkit("run", study).stdout
    place = model.parent / "results" / "choice"
    assert "4 cases" in mbkit("run", study, "--set", "compare.h=[0.01, 0.005]").stdout
    rows = list(csv.DictReader((place / "cases.csv").read_text().splitlines()))
    assert [row["h [s]"] for row in rows] == ["0.01", "0.01", "0.005", "0.005"]
    page = (place / "report.html").read_text()
    (place / "report.html").unlink()
    assert "4 cases" in mbkit("report", place).stdout
    assert (place / "report.html").read_text() == page
    failed = mbkit("run", study, "--set", "compare.repeat=1")
    assert "did you mean 'repeats'?" in failed.stderr
    assert "manifest.json' cannot be read" in mbkit("report", model.parent).stderr
