"""``mbkit run A.toml B.toml``: one after the other, and what failed is named at the end."""

from __future__ import annotations

import shlex

import attrs
import pytest
from click.testing import CliRunner

import mbkit as mb
import mbkit.studies.study
from mbkit.cli.main import main


@pytest.fixture
def studies(tmp_path, monkeypatch):
    """Make studies of a falling ball by their names and settings; return their paths."""
    monkeypatch.chdir(tmp_path)
    mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("fall", axis=(0, 0, 1)), mech.world, "ball")
    mb.save_model(mech, tmp_path / "ball.toml")
    (tmp_path / "pyproject.toml").write_text("[tool.mbkit]\n")
    common = 'mbkit_study = 1\nmodel = "ball.toml"\nt_span = [0.0, 1.0]\nh = 0.1\n'

    def make(**settings):
        for name, text in settings.items():
            (tmp_path / f"{name}.toml").write_text(common + text)
        return [f"{name}.toml" for name in settings]

    return make


def run(*arguments):
    return CliRunner().invoke(main, ["run", *arguments])


def test_a_study_that_fails_stops_no_other(studies, tmp_path):
    names = studies(
        first="", broken="hh = 3", second="[initial.q]\nfall = 2.0", twin='output = "first.nc"'
    )
    done = run(names[0], "nowhere.toml", *names[1:])
    assert done.exit_code == 1
    for number, name in zip((1, 3, 4, 5), names, strict=True):
        assert f"[{number}/5] {name}" in done.output
    assert "File 'nowhere.toml' does not exist" in done.stderr
    assert "broken.toml" in done.stderr
    assert " hh" in done.stderr
    assert "has the result of first.toml already" in done.output
    end = "3 of 5 studies failed: nowhere.toml, broken.toml, twin.toml.\n"
    assert done.output.endswith(end)
    for name, height in (("first", 0.0), ("second", 2.0)):
        found = mb.load_result(tmp_path / "results" / f"{name}.nc")
        assert found["fall"][-1] == pytest.approx(height - 9.81 / 2)
    again = run(*names[::2], "--force", "--set", "h=0.05")
    assert again.exit_code == 0
    assert mb.load_result(tmp_path / "results" / "second.nc").options["h"] == 0.05


def test_one_place_is_not_for_several(studies):
    done = run(*studies(first="", second=""), "-o", "both.nc")
    assert done.exit_code == 2
    assert "the place of one study" in done.output


def test_ctrl_c_starts_no_other(studies, tmp_path, monkeypatch):
    names = studies(first="", second="", third="")
    simulate = mb.studies.study.simulate

    def interrupted(system, *arguments, **options):
        def tau(t, q, v):
            if t > 0.5:
                raise KeyboardInterrupt
            return 0.0 * v

        return simulate(system, *arguments, **options, tau=tau)

    assert run(names[0]).exit_code == 0
    monkeypatch.setattr("mbkit.studies.study.simulate", interrupted)
    done = run(*names[1:])
    assert done.exit_code == 1
    assert "Interrupted in second.toml. Not started: third.toml." in done.output
    assert not mb.load_result(tmp_path / "results" / "second.nc").completed
    assert not (tmp_path / "results" / "third.nc").exists()


def test_an_interrupted_run_goes_on_by_the_command_that_is_told(studies, tmp_path, monkeypatch):
    """With the same changes and place; of a completed run it says nothing more."""
    studies(long="", stiff="[forces.oil]\ntype = 'joint_spring'\njoint = 'fall'\nstiffness = 2e2")
    simulate = mb.studies.study.simulate
    asked = ("long.toml", "--set", "t_span=[0, 2]", "-o", "my runs/long/")

    def at_once(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("mbkit.studies.study.simulate", at_once)
    assert "Interrupted by the user in long.toml before there was a result" in run(*asked).stderr

    def interrupted(system, *arguments, **options):
        done = simulate(system, *arguments, **options)
        text = "Interrupted by the user after t = 1 s; mbkit.resume('my runs/long') goes on."
        return attrs.evolve(done, completed=False, message=text)

    monkeypatch.setattr("mbkit.studies.study.simulate", interrupted)
    command = shlex.split(run(*asked).stderr.split("; mbkit run ")[1].partition(" goes on")[0])
    assert command == [*asked, "--resume"]
    done = run(*command)
    assert done.output == "The run in my runs/long was completed already.\n"
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert "Use a smaller h (--set h=...), or another" in run("stiff.toml").stderr
