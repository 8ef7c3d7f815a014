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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--h", "fast"), "--h: 'fast' is no number"),
        (("--integrators", "rk4"), "none called 'rk4'"),
        (("--q", "tipp=1"), "there is no joint 'tipp'"),
        (("--loop-joints", "tip"), "tip"),
    ],
)
def test_what_is_wrong_is_told(
    model: pathlib.Path, arguments: tuple[str, ...], message: str
) -> None:
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
