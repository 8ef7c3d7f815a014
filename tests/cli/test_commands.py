"""The command line, as a user meets it: what it prints, what it writes, how it fails."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main


def mbkit(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def rod():
    """A slender rod of 1 kg, hanging 1 m down from its origin."""
    moment = np.diag([1.0, 1.0, 0.01]) / 12.0
    return mb.SpatialInertia.from_com(mass=1.0, com=(0, 0, -0.5), moment_about_com=moment)


@pytest.fixture
def pendulum(tmp_path):
    """The model file of a pendulum with a ball joint at its end."""
    mech = mb.Mechanism("pendulum")
    upper = mech.add_body(mb.Body("upper", inertia=rod()))
    lower = mech.add_body(mb.Body("lower [left]", inertia=rod()))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, upper)
    frames = (np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 1.0]]), np.eye(4))
    mech.add_joint(mb.SphericalJoint("ball"), upper, lower, frames=frames)
    path = tmp_path / "pendulum.toml"
    mb.save_model(mech, path)
    return path


def test_every_command_has_help_with_an_example():
    for name in ("info", "simulate", "plot", "warmup"):
        shown = mbkit(name, "--help")
        assert shown.exit_code == 0
        assert "Example" in shown.output
        assert f"  mbkit {name}" in shown.output


def test_version():
    assert mbkit("--version").output == f"mbkit, version {mb.__version__}\n"


def test_unknown_command_is_a_usage_error():
    failed = mbkit("simulat")
    assert failed.exit_code == 2
    assert "No such command 'simulat'" in failed.stderr


# ---------------------------------------------------------------------------------------- info


def test_info_shows_the_model(pendulum):
    """Names with brackets are shown as they are, not taken for markup."""
    shown = mbkit("info", pendulum)
    assert shown.exit_code == 0
    lines = [" ".join(line.split()) for line in shown.output.splitlines()]
    assert "2 bodies, 2 joints, total mass 2 kg, gravity (0, 0, -9.81) m/s^2" in lines
    assert "│ lower [left] │ 1 │ (0, 0, -0.5) │" in lines
    assert "│ ball │ SphericalJoint │ upper │ lower [left] │ 4 │ 3 │" in lines
    assert "Mobility: 4 degrees of freedom (a tree: the joints' in sum)" in lines
    assert lines[-3:] == [
        "world",
        "└── upper by hinge (RevoluteJoint)",
        "└── lower [left] by ball (SphericalJoint)",
    ]


def test_info_says_where_the_tree_runs_against_a_joint(tmp_path):
    mech = mb.Mechanism("hung from its successor")
    mech.add_joint(
        mb.RevoluteJoint("hinge"), mech.add_body(mb.Body("body", inertia=rod())), mech.world
    )
    mb.save_model(mech, tmp_path / "m.toml")
    shown = mbkit("info", tmp_path / "m.toml")
    assert "body  by hinge (RevoluteJoint, against its direction)" in shown.output


def test_info_warns_of_what_keeps_a_model_from_moving(tmp_path):
    """Bodies without mass, loops and loose bodies are shown, each with its warning."""
    mech = mb.Mechanism("faulty")
    one = mech.add_body(mb.Body("one", inertia=rod()))
    two = mech.add_body(mb.Body("two"))
    mech.add_joint(mb.RevoluteJoint("a"), mech.world, one)
    mech.add_joint(mb.RevoluteJoint("b"), one, two)
    mb.save_model(mech, tmp_path / "tip.toml")
    tip = mbkit("info", tmp_path / "tip.toml").output
    assert "Warning: Body 'two' has no mass." in tip
    assert tip.count("Warning:") == 2
    mech.add_joint(mb.RevoluteJoint("c"), two, mech.world)
    mb.save_model(mech, tmp_path / "loop.toml")
    loop = mbkit("info", tmp_path / "loop.toml").output
    assert "closed loops, closed by 'c'; it cannot be simulated yet" in loop
    assert "Mobility: -3 degrees of freedom by count (joints 3, less 6 for each of 1 loops" in loop
    mech.add_body(mb.Body("loose", inertia=rod()))
    mb.save_model(mech, tmp_path / "loose.toml")
    loose = mbkit("info", tmp_path / "loose.toml")
    assert loose.exit_code == 0
    assert "'loose'" in loose.output.partition("Warning:")[2]


def test_info_of_a_bad_file_is_one_message(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("name = [")
    failed = mbkit("info", path)
    assert failed.exit_code == 1
    assert failed.stderr.startswith("Error: ")
    assert "bad.toml" in failed.stderr
    assert "Traceback" not in failed.stderr + failed.stdout


def test_info_of_no_file_is_a_usage_error(tmp_path):
    failed = mbkit("info", tmp_path / "none.toml")
    assert failed.exit_code == 2
    assert "does not exist" in failed.stderr


def test_debug_shows_where_it_was_raised(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("name = [")
    assert isinstance(mbkit("--debug", "info", path).exception, mb.ModelFileError)


def test_info_loads_no_compiler(pendulum):
    """What computes nothing starts fast: neither numba nor plotting is loaded."""
    code = (
        "import sys\n"
        "from mbkit.cli.main import main\n"
        f"main(['info', {str(pendulum)!r}], standalone_mode=False)\n"
        "assert not {'numba', 'matplotlib', 'h5py', 'xarray'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


# ------------------------------------------------------------------------------------ simulate


def test_simulate_writes_what_the_library_computes(pendulum, tmp_path):
    """The command is `mb.simulate` with names: the same numbers, and the options in the file."""
    path = tmp_path / "run.nc"
    done = mbkit(
        "simulate", pendulum, "-o", path, "--t-end", 0.2, "--h", 0.01, "--tableau", "heun",
        "--q", "hinge=0.3", "--v", "ball=0,0,2", "--v", "hinge=-1", "--save-every", 5,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert f"Wrote {path}: 5 instants." in done.output
    run = mb.load_result(path)
    expected = mb.simulate(
        mb.load_model(pendulum).assemble(), (0.0, 0.2), 0.01, q=[0.3, 1, 0, 0, 0],
        v=[-1, 0, 0, 2], save_every=5, integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN),
    )  # fmt: skip
    np.testing.assert_array_equal(run.t, expected.t)
    np.testing.assert_array_equal(run.q, expected.q)
    np.testing.assert_array_equal(run.v, expected.v)
    assert "heun" in run.options["integrator"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--q", "hinge"], "--q hinge: write it as NAME=VALUE"),
        (["--q", "hing=1"], "--q hing=1: there is no joint 'hing'; did you mean 'hinge'?"),
        (["--q", "hinge=a"], "--q hinge=a: 'a' is not a number"),
        (["--v", "hinge=nan"], "--v hinge=nan: 'nan' is not finite"),
        (["--v", "ball=1"], "--v ball=1: 'ball' takes 3 numbers, separated by commas; got 1"),
        (["--h", "0.3"], "whole number of steps"),
        (["--tableau", "rk5"], "--tableau: there is no tableau 'rk5'; did you mean 'rk4'?"),
        (["--save-every", "0"], "0 is not in the range x>=1"),
    ],
)
def test_wrong_options_are_usage_errors(pendulum, tmp_path, arguments, message):
    """Nothing is written, and the exit code is that of a wrong command line."""
    failed = mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", "--t-end", "1", *arguments)
    assert failed.exit_code == 2
    assert message in failed.stderr
    assert not (tmp_path / "run.nc").exists()


def test_single_entries_have_names(pendulum, tmp_path):
    path = tmp_path / "run.nc"
    done = mbkit("simulate", pendulum, "-o", path, "--t-end", "0.001", "--v", "ball[1]=4")
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(mb.load_result(path).v[0], [0.0, 0.0, 4.0, 0.0])


def test_bad_quaternion_is_refused(pendulum, tmp_path):
    failed = mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", "--q", "ball=1,1,0,0")
    assert failed.exit_code == 1
    assert "ball" in failed.stderr
    assert not (tmp_path / "run.nc").exists()


def test_the_output_is_checked_before_anything_is_computed(pendulum, tmp_path, monkeypatch):
    """An hour of computing must not end with "no such directory"."""
    monkeypatch.setattr(mb, "simulate", lambda *_, **__: pytest.fail("it computed"))
    failed = mbkit("simulate", pendulum, "-o", tmp_path / "none" / "run.nc")
    assert failed.exit_code == 2
    assert "does not exist; make it" in failed.stderr
    (tmp_path / "run.nc").write_text("mine")
    failed = mbkit("simulate", pendulum, "-o", tmp_path / "run.nc")
    assert failed.exit_code == 2
    assert "exists already; give --force to replace it" in failed.stderr
    assert (tmp_path / "run.nc").read_text() == "mine"


def test_force_replaces_the_output(pendulum, tmp_path):
    (tmp_path / "run.nc").write_text("mine")
    done = mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", "--t-end", "0.01", "--force")
    assert done.exit_code == 0, done.output
    assert mb.load_result(tmp_path / "run.nc").completed


def test_a_run_that_blows_up_is_kept_as_far_as_it_got(pendulum, tmp_path):
    """Steps far too long for the motion end in infinities; what came before is in the file."""
    path = tmp_path / "run.nc"
    failed = mbkit(
        "simulate", pendulum, "-o", path, "--t-end", 1000, "--h", 1, "--tableau", "euler",
        "--q", "hinge=1", "--v", "hinge=1e3",
    )  # fmt: skip
    assert failed.exit_code == 1
    assert "Error: The simulation stopped at t = " in failed.stderr
    run = mb.load_result(path)
    assert not run.completed
    assert run.t[-1] < 1000
    assert np.isfinite(run.q).all()


@pytest.mark.compiled
@pytest.mark.slow
def test_the_first_start_says_what_it_compiles(pendulum, tmp_path, monkeypatch):
    """With an empty cache, stderr names each kernel; with a full one it is silent."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    starts = []
    for output in ("one.nc", "two.nc"):
        command = [sys.executable, "-m", "mbkit", "simulate", pendulum, "-o", tmp_path / output]
        done = subprocess.run(
            [*command, "--t-end", "0.01"], check=True, capture_output=True, text=True
        )
        starts.append(done.stderr)
    assert re.search(r"Compiling .*forward_dynamics \(first start only\) \.\.\.", starts[0])
    assert starts[1] == ""


# -------------------------------------------------------------------------------- plot, warmup


def test_plot_draws_a_result(pendulum, tmp_path):
    mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", "--t-end", "0.1")
    done = mbkit("plot", tmp_path / "run.nc")
    assert done.exit_code == 0, done.output
    assert done.output == f"Wrote {tmp_path / 'run.png'}.\n"
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert mbkit("plot", tmp_path / "run.nc").exit_code == 2
    assert mbkit("plot", tmp_path / "run.nc", "--force").exit_code == 0
    assert mbkit("plot", tmp_path / "run.nc", "-o", tmp_path / "run.svg").exit_code == 0


def test_plot_refuses_what_is_no_result(pendulum):
    failed = mbkit("plot", pendulum)
    assert failed.exit_code == 1
    assert "is not a netCDF 4 file" in failed.stderr


def test_warmup_imports_every_module_with_kernels():
    from mbkit.cli.warmup import kernel_modules

    done = mbkit("warmup")
    assert done.exit_code == 0
    assert "kernels" in done.output
    assert (
        {"mbkit.kernels.munthe_kaas", "mbkit.kernels.body_fixed.forward_dynamics"}
        <= {*kernel_modules()}
        <= {*sys.modules}
    )
