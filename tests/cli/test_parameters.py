"""``mbkit simulate --set``: other numbers of the model, by the motion that they make."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from click.testing import CliRunner, Result

import mbkit as mb
from mbkit.cli.main import main

#: A ball of mass m on a spring: it swings as cos(sqrt(k / m) t), about where its weight is borne.
MODEL = """mbkit_model = 1
name = "drop"
[parameters]
k = 8.0
[bodies.ball]
mass = 2.0
moment_about_com = [1.0, 1.0, 1.0]
[joints.fall]
type = "prismatic"
predecessor = "world"
successor = "ball"
[forces.spring]
type = "joint_spring"
joint = "fall"
stiffness = "k"
"""


@pytest.fixture
def model(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "drop.toml").write_text(MODEL)
    return tmp_path / "drop.toml"


def simulated(model: pathlib.Path, target: pathlib.Path, *more: str) -> Result:
    given = ["simulate", model, "-o", target, "--t-end", 1, "--h", 0.01, "--q", "fall=0.3", *more]
    return CliRunner().invoke(main, [*map(str, given)])


@pytest.mark.parametrize("coordinates", ["relative", "absolute"])
def test_the_ball_swings_with_the_numbers_that_are_set(
    model: pathlib.Path, coordinates: str
) -> None:
    target = model.with_name("run.nc")
    given = ("--set", "bodies.ball.mass=0.5", "--set", "k=18", "--set", "gravity[2]=-2")
    done = simulated(model, target, *given, "--coordinates", coordinates)
    assert done.exit_code == 0, done.output
    rest = -2.0 * 0.5 / 18.0
    height = mb.load_result(target).q[-1, -1]
    assert height == pytest.approx(rest + (0.3 - rest) * np.cos(6.0), abs=1e-6)


def test_a_run_directory_keeps_them(model: pathlib.Path) -> None:
    runner, place = CliRunner(), model.with_name("run")
    command = ["simulate", str(model), "-o", f"{place}/", "--t-end", "0.1", "--h", "0.01"]
    assert runner.invoke(main, [*command, "--set", "gravity=0,0,-4"]).exit_code == 0
    run = mb.load_result(place)
    assert run.v[-1, 0] == pytest.approx(-2.0 * np.sin(2.0 * 0.1), rel=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("bodies.bal.mass=1", "no such parameter of the model; did you mean 'bodies.ball.mass'?"),
        ("K=18", "no such parameter of the model; did you mean 'k'?"),
        ("gravity[3]=1", "--set gravity[3]: 'gravity' has 3 numbers, from 'gravity[0]' on."),
        ("bodies.ball.mass[0]=1", "has 1 numbers"),
        ("bodies.ball.mass=heavy", "must be a number, or numbers with commas between"),
        ("bodies.ball.mass", "write it as PATH=VALUE, such as bodies.rod.mass=2"),
        ("bodies.ball.mass=-1", "--set bodies.ball.mass"),
        ("gravity=1,2", "--set gravity"),
    ],
)
def test_wrong_numbers_are_refused_by_name(model: pathlib.Path, given: str, message: str) -> None:
    done = simulated(model, model.with_name("run.nc"), "--set", given)
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert not model.with_name("run.nc").exists()
