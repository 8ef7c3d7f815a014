"""The command line, as a user meets it: what it prints, what it writes, how it fails."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile

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
    for name in (
        "info",
        "view",
        "simulate",
        "plot",
        "animate",
        "convert",
        "new",
        "run",
        "compare",
        "report",
    ):
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


def test_info_shows_which_motions_are_prescribed(tmp_path):
    mech = mb.Mechanism("shaker")
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail").prescribe("0.1*sin(8*t)"), mech.world, cart)
    mb.save_model(mech, tmp_path / "shaker.toml")
    shown = " ".join(mbkit("info", tmp_path / "shaker.toml").output.split())
    assert "PrismaticJoint, prescribed" in shown
    assert "Of these 1 is prescribed: 'rail'." in shown
    run = mbkit("simulate", tmp_path / "shaker.toml", "--t-end", "0.1", "-o", tmp_path / "run.nc")
    assert run.exit_code == 0
    found = mb.load_result(tmp_path / "run.nc")
    np.testing.assert_array_equal(found["rail"], 0.1 * np.sin(8.0 * found.t))


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


def test_info_shows_forces_with_their_values():
    """What differs from the defaults; of tables and poses how large they are."""
    shown = mbkit("info", pathlib.Path(__file__).parents[1] / "data" / "forces.toml")
    assert shown.exit_code == 0
    lines = [" ".join(line.split()) for line in shown.output.splitlines()]
    assert "│ closer │ JointSpring │ hinge │ stiffness 15, rest -0.1 │" in lines
    assert (
        "│ motor │ JointEffort │ slide │ effort (0, 2, 0), times (0, 0.5, 2), interpolation cubic │"
        in lines
    )
    assert "│ balloon │ UniformField │ bolt │ acceleration (0, 0, 4) │" in lines
    gust = next(line for line in lines if line.startswith("│ gust"))
    assert "wrench of 2 x 6 numbers, times (0, 1), axes body, point (0.4, 0, 1)" in gust
    assert "frame_a of 4 x 4 numbers" in next(line for line in lines if "Bushing" in line)


def test_info_says_where_the_tree_runs_against_a_joint(tmp_path):
    mech = mb.Mechanism("hung from its successor")
    mech.add_joint(
        mb.RevoluteJoint("hinge"), mech.add_body(mb.Body("body", inertia=rod())), mech.world
    )
    mb.save_model(mech, tmp_path / "m.toml")
    shown = mbkit("info", tmp_path / "m.toml")
    assert "body  by hinge (RevoluteJoint, against its direction)" in shown.output


def test_info_warns_of_what_keeps_a_model_from_moving(tmp_path):
    """Tips without inertia and loose bodies are shown, each with its warning."""
    mech = mb.Mechanism("faulty")
    one = mech.add_body(mb.Body("one", inertia=rod()))
    two = mech.add_body(mb.Body("two"))
    mech.add_joint(mb.RevoluteJoint("a"), mech.world, one)
    mech.add_joint(mb.RevoluteJoint("b"), one, two)
    mb.save_model(mech, tmp_path / "tip.toml")
    tip = mbkit("info", tmp_path / "tip.toml").output
    assert "Warning: Joint 'b' moves body 'two', which has no inertia; give it mass" in tip
    assert "Note: without mass of their own: 'two'." in tip
    assert tip.count("Warning:") == 1
    mech.add_body(mb.Body("loose", inertia=rod()))
    mb.save_model(mech, tmp_path / "loose.toml")
    loose = mbkit("info", tmp_path / "loose.toml")
    assert loose.exit_code == 0
    assert "'loose'" in loose.output.partition("Warning:")[2]


def test_info_shows_tree_joints_loop_joints_and_cycles(tmp_path):
    """Of a ring of three joints: which is cut, what it costs, the cycle it closes, and counts."""
    mech = mb.Mechanism("ring")
    one, two = (mech.add_body(mb.Body(name, inertia=rod())) for name in ("one", "two"))
    mech.add_joint(mb.RevoluteJoint("a"), mech.world, one)
    mech.add_joint(mb.SphericalJoint("b"), one, two)
    mech.add_joint(mb.CylindricalJoint("c"), two, mech.world)
    mb.save_model(mech, tmp_path / "ring.toml")
    shown = mbkit("info", tmp_path / "ring.toml")
    assert shown.exit_code == 0
    assert "Mobility: 0 degrees of freedom by count (joints 6, less 6 for the loop; more" in (
        shown.output
    )
    assert "Tree joints: 2, with nq 3 and nv 3; loop joints: 1, with 3 constraint rows" in (
        shown.output
    )
    tree, _, loops = shown.output.partition("Loops")
    assert "one  by a (RevoluteJoint)" in tree
    assert "two  by c (CylindricalJoint, against its direction)" in tree
    row = [cell.strip() for cell in loops.splitlines()[4].strip("│").split("│")]
    assert row == ["b", "SphericalJoint", "3", "c, a"]
    assert "Warning:" not in shown.output


def test_info_shows_the_tree_of_a_loop_that_only_a_cut_body_opens(tmp_path):
    """With the half that is added, and its weld; where no body has mass, what to do instead."""
    for inertia, name in ((rod(), "sprung.toml"), (mb.SpatialInertia.zero(), "massless.toml")):
        mech = mb.Mechanism("sprung")
        seat = mech.add_body(mb.Body("seat", inertia))
        for joint in ("left", "right"):
            mech.add_joint(mb.RevoluteJoint(joint), mech.world, seat)
            mech.add_force(mb.JointSpring(f"spring {joint}", joint, stiffness=1.0))
        mb.save_model(mech, tmp_path / name)
    shown = mbkit("info", tmp_path / "sprung.toml").output
    tree, _, loops = shown.partition("Loops")
    assert "seat  by left (RevoluteJoint)" in tree
    assert "seat (cut)  by right (RevoluteJoint)" in tree
    row = [cell.strip() for cell in loops.splitlines()[4].strip("│").split("│")]
    assert row == ["seat (weld)", "FixedJoint", "6", "right, left"]
    assert "Note: all joints of a loop must stay in the tree, so that 'seat' is cut in two" in shown
    assert "Warning:" not in shown
    massless = mbkit("info", tmp_path / "massless.toml").output
    assert "cannot be cut at a joint" in massless.partition("Warning:")[2]


def test_info_does_not_warn_of_bodies_that_may_be_without_mass(tmp_path):
    """Welded ones, and those with mass beyond them, can be simulated."""
    mech = mb.Mechanism("hand")
    arm, flange, hand = (
        mech.add_body(mb.Body(name, inertia=inertia))
        for name, inertia in [("arm", rod()), ("flange", mb.SpatialInertia.zero()), ("hand", rod())]
    )
    tool = mech.add_body(mb.Body("tool frame"))
    mech.add_joint(mb.RevoluteJoint("shoulder", (0, 1, 0)), mech.world, arm)
    mech.add_joint(mb.RevoluteJoint("roll", (1, 0, 0)), arm, flange)
    mech.add_joint(mb.RevoluteJoint("pitch", (0, 1, 0)), flange, hand)
    mech.add_joint(mb.FixedJoint("weld"), hand, tool)
    mb.save_model(mech, tmp_path / "hand.toml")
    shown = mbkit("info", tmp_path / "hand.toml").output
    assert "Warning" not in shown
    assert shown.splitlines()[-1] == "Note: without mass of their own: 'flange', 'tool frame'."


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


def test_garbage_is_not_looked_for_among_what_a_program_loads(pendulum):
    """It is among what comes later; and a process that calls commands keeps its own ways."""
    code = (
        "import atexit, gc\n"
        "from mbkit.cli.main import main\n"
        f"main.main(['info', {str(pendulum)!r}], standalone_mode=False)\n"
        "assert gc.isenabled() and gc.get_freeze_count() == 0\n"
        "atexit.register(lambda: print(gc.isenabled(), gc.get_freeze_count() > 10_000))\n"
        f"main(['simulate', {str(pendulum)!r}, '-o', {str(pendulum.with_suffix('.nc'))!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "True True"


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
        (["--q", "hinge=1,elbow=2"], "such as --q hinge=1 --q elbow=2"),
        (["--q", "hing=1"], "--q hing=1: there is no joint 'hing'; did you mean 'hinge'?"),
        (["--q", "hinge=a"], "--q hinge=a: 'a' is not a number"),
        (["--v", "hinge=nan"], "--v hinge=nan: 'nan' is not finite"),
        (["--v", "ball=1"], "--v ball=1: 'ball' takes 3 numbers, separated by commas; got 1"),
        (["--v", "hinge=1,2"], "--v hinge=1,2: 'hinge' takes 1 number; got 2"),
        (
            ["--q", "ball[9]=1"],
            (
                "--q ball[9]=1: there is no entry 'ball[9]'; joint 'ball' has ball[0], ball[1], "
                "ball[2], ball[3]; 'ball' alone stands for all of them."
            ),
        ),
        (["--v", "ball[3]=1"], "joint 'ball' has ball[0], ball[1], ball[2]; 'ball' alone"),
        (
            ["--q", "hinge[0]=1"],
            "there is no entry 'hinge[0]'; joint 'hinge' has one, which is called 'hinge'.",
        ),
        (["--q", "bal[1]=1"], "there is no entry 'bal[1]'; did you mean 'ball[1]'?"),
        (["--q", "ball=1,1,0,0"], "--q ball=1,1,0,0: Joint 'ball' has for positions a quaternion"),
        (
            ["--q", "ball[0]=0", "--q", "ball[2]=2"],
            "--q ball[0]=0 --q ball[2]=2: Joint 'ball' has for positions a quaternion",
        ),
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


def test_joints_without_positions_take_no_values(tmp_path):
    mech = mb.Mechanism("welded")
    mech.add_joint(mb.FixedJoint("weld"), mech.world, mech.add_body(mb.Body("b", inertia=rod())))
    mb.save_model(mech, tmp_path / "m.toml")
    for text, message in [
        ("weld=1", "joint 'weld' takes no numbers; leave it out"),
        ("weld[0]=1", "there is no entry 'weld[0]'; joint 'weld' has none."),
    ]:
        failed = mbkit("simulate", tmp_path / "m.toml", "-o", tmp_path / "run.nc", "--q", text)
        assert failed.exit_code == 2
        assert f"--q {text}: {message}" in failed.stderr


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


@pytest.mark.parametrize("kind", ["sealed", "device"])
def test_outputs_that_cannot_be_are_found_before_anything_is_read(
    pendulum, tmp_path, sealed_folder, kind
):
    """Of simulations and pictures alike: a wrong option, said in the user's words."""
    assert mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", "--t-end", 0.01).exit_code == 0
    output = {"sealed": f"{sealed_folder}/run.nc", "device": os.devnull}[kind]
    for command in (["simulate", pendulum], ["plot", tmp_path / "run.nc"]):
        failed = mbkit(*command, "-o", output, "--force")
        assert failed.exit_code == 2
        assert f"'{output}' must be a file that can be written, and is not: " in failed.stderr
        assert failed.stderr.rstrip().endswith("; choose another place.")
        assert ".part" not in failed.stderr


def _refuse_in(folder):
    """A way to save results that fails in one folder alone."""
    save = mb.Result.save

    def refusing(run, path):
        if pathlib.Path(path).parent == folder:
            raise mb.ResultFileError(f"Result file '{path}' cannot be written: the disk is full.")
        save(run, path)

    return refusing


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--t-end", 0.01, "--h", 1e-3], "Completed: 10 steps."),
        (["--t-end", 1000, "--h", 1, "--tableau", "euler", "--q", "hinge=1", "--v", "hinge=1e3"],
         "The simulation stopped at t = "),
    ],
)  # fmt: skip
def test_results_that_cannot_be_saved_are_kept_elsewhere(
    pendulum, tmp_path, monkeypatch, options, reason
):
    """The disk was filled meanwhile: the message says where it is, and how the run ended."""
    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spare))
    monkeypatch.setattr(mb.Result, "save", _refuse_in(tmp_path))
    failed = mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", *options)
    assert failed.exit_code == 1
    assert f"'{tmp_path / 'run.nc'}' cannot be written: the disk is full." in failed.stderr
    assert reason in failed.stderr
    kept = pathlib.Path(re.search(r"The result was kept in '(.*?)'", failed.stderr)[1])
    assert spare in kept.parents
    assert mb.load_result(kept).v[0].tolist()[1:] == [0.0, 0.0, 0.0]


def test_results_that_can_be_saved_nowhere_are_reported_lost(pendulum, tmp_path, monkeypatch):
    def refuse(run, path):
        raise mb.ResultFileError(f"Result file '{path}' cannot be written: the disk is full.")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(mb.Result, "save", refuse)
    failed = mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", "--t-end", "0.01", "--h", 1e-3)
    assert failed.exit_code == 1
    assert "The result is lost. Completed: 10 steps." in failed.stderr


def test_want_of_memory_is_one_message(pendulum, tmp_path, monkeypatch):
    def too_much(*_, **__):
        raise MemoryError("Unable to allocate 728. TiB")

    monkeypatch.setattr(mb, "simulate", too_much)
    failed = mbkit("simulate", pendulum, "-o", tmp_path / "run.nc")
    assert failed.exit_code == 1
    assert failed.stderr == (
        "Error: The command must fit into memory, and does not (Unable to allocate 728. TiB); "
        "save fewer instants (--save-every), or compute a shorter time.\n"
    )


@pytest.mark.parametrize(("h", "code"), [("1e-14", 1), ("1e-320", 2), ("nan", 2), ("-1", 2)])
def test_impossible_steps_are_one_message(pendulum, tmp_path, h, code):
    """Those for whose result there is no memory are no misuse, and end as a failure does."""
    failed = mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", "--h", h)
    assert failed.exit_code == code
    assert isinstance(failed.exception, SystemExit)
    assert failed.stderr.splitlines()[-1].startswith("Error: ")


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


@pytest.mark.long
@pytest.mark.compiled
@pytest.mark.slow
def test_the_first_start_says_what_it_compiles(pendulum, tmp_path, monkeypatch):
    """With an empty cache, stderr names a kernel before it is compiled; with a full one nothing.

    Compiling all of them would take half a minute: the first start is ended after the first words.
    """
    command = [sys.executable, "-m", "mbkit", "simulate", pendulum, "-o", tmp_path / "run.nc"]
    command += ["--force", "--t-end", "0.01"]
    for _ in range(2):  # the first of them fills the cache, where it is not full
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as first:
        said = first.stderr.readline()
        first.kill()
    assert re.fullmatch(r"Compiling \S+ \(first start only\) \.\.\.\n", said)


# -------------------------------------------------------------------------------- plot, warmup


@pytest.fixture
def quickly_drawn(monkeypatch):
    """Pictures are files without a drawing, which takes most of a second each."""
    monkeypatch.setattr(
        "matplotlib.figure.Figure.savefig",
        lambda self, path, **options: pathlib.Path(path).write_bytes(b""),
    )


def test_plot_draws_a_result(pendulum, tmp_path):
    mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", "--t-end", "0.1")
    done = mbkit("plot", tmp_path / "run.nc")
    assert done.exit_code == 0, done.output
    assert done.output == f"Wrote {tmp_path / 'run.png'}.\n"
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("quickly_drawn")
def test_plot_writes_over_a_picture_when_it_is_told_to(pendulum, tmp_path):
    mbkit("simulate", pendulum, "-o", tmp_path / "run.nc", "--t-end", "0.1")
    (tmp_path / "run.png").write_text("a picture")
    assert mbkit("plot", tmp_path / "run.nc").exit_code == 2
    assert (tmp_path / "run.png").read_text() == "a picture"
    assert mbkit("plot", tmp_path / "run.nc", "--force").exit_code == 0
    assert (tmp_path / "run.png").read_text() == ""
    assert mbkit("plot", tmp_path / "run.nc", "-o", tmp_path / "run.svg").exit_code == 0
    assert (tmp_path / "run.svg").exists()


@pytest.mark.usefixtures("quickly_drawn")
def test_plot_compares_results_and_draws_phases(pendulum, tmp_path):
    for name, h in (("fine.nc", 0.01), ("coarse.nc", 0.05)):
        mbkit("simulate", pendulum, "-o", tmp_path / name, "--t-end", "0.1", "--h", h)
    both, picture = (tmp_path / "fine.nc", tmp_path / "coarse.nc"), tmp_path / "both.svg"
    assert mbkit("plot", *both, "--panel", "hinge", "-o", picture).exit_code == 0
    assert mbkit("plot", *both, "--phase", "hinge", "-o", picture, "--force").exit_code == 0
    failed = mbkit("plot", *both, "--panel", "henge", "-o", tmp_path / "none.svg")
    assert "did you mean 'hinge'" in failed.stderr
    assert not (tmp_path / "none.svg").exists()


def test_plot_refuses_what_is_no_result(pendulum):
    failed = mbkit("plot", pendulum)
    assert failed.exit_code == 1
    assert "is not a netCDF 4 file" in failed.stderr


@pytest.mark.long
def test_warmup_compiles_every_module_with_kernels():
    from mbkit.cli.commands.warmup import SLOWEST, kernel_modules

    done = mbkit("warmup", "--processes", 1)
    assert done.exit_code == 0
    assert "kernels" in done.output
    packages = ("body_fixed", "spatial", "hybrid", "mixed")
    expected = {f"mbkit.kernels.{each}.algorithms" for each in packages}
    assert (
        {"mbkit.kernels.time_loops.munthe_kaas", *expected} <= {*kernel_modules()} <= {*sys.modules}
    )
    assert len(kernel_modules()) == len({*kernel_modules()})
    assert {f"mbkit.kernels.{each}" for each in SLOWEST} <= {*sys.modules}
    assert "All kernels were compiled already" in mbkit("warmup").output


LOADED = """
from mbkit.kernels.compiling import caching
loaded = set()
load = caching._KernelCache.load_overload
def noted(self, *arguments):
    loaded.add(self._kernel_name)
    return load(self, *arguments)
caching._KernelCache.load_overload = noted
{0}
print(*sorted(loaded))
"""

A_TREE = """
import mbkit as mb
import pathlib
system = mb.load_model(pathlib.Path({0!r})).assemble()
run = mb.simulate(system, (0.0, 0.1), 1e-2, tau=lambda t, q, v: -v)
run.kinetic_energy, system.poses(run.q), system.inverse_dynamics(run.q, run.v, run.v)
"""

FOR_TREES = """
from mbkit.cli.compiling import kernels_of_trees
from mbkit.cli.workers import _compile
for name in kernels_of_trees():
    _compile(name)
"""


@pytest.mark.long
@pytest.mark.compiled
def test_warmup_for_trees_compiles_all_that_a_tree_calls():
    """What simulating a tree loads, with a Python function for its motors, is in the list."""

    def loaded(code: str) -> set[str]:
        command = [sys.executable, "-c", LOADED.format(code)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return {*done.stdout.split()}

    model = pathlib.Path(__file__).parents[2] / "examples" / "models" / "panda.toml"
    needed = loaded(A_TREE.format(str(model)))
    assert {"time_loops.munthe_kaas.advance", "body_fixed.algorithms.forward_dynamics"} <= needed
    assert needed <= loaded(FOR_TREES)


A_START = """
import pathlib, sys
from mbkit.cli.main import main
if __name__ == "__main__":
    main(["simulate", {0!r}, "-o", {1!r}, "--t-end", "0.1"])
"""


@pytest.mark.long
@pytest.mark.compiled
def test_the_first_start_compiles_each_kernel_once_and_the_second_none(tmp_path):
    """In several processes where there are cores; what a run calls is in the list."""
    model = pathlib.Path(__file__).parents[2] / "examples" / "models" / "panda.toml"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    said = []
    for name in ("first.nc", "second.nc"):
        script = tmp_path / "start.py"
        script.write_text(A_START.format(str(model), str(tmp_path / name)))
        done = subprocess.run(
            [sys.executable, script], check=True, env=environment, capture_output=True, text=True
        )
        said.append([line for line in done.stderr.splitlines() if line.startswith("Compiling")])
    assert len(said[0]) > 4
    assert len(said[0]) == len({*said[0]})
    assert said[1] == []


@pytest.mark.long
@pytest.mark.compiled
def test_what_a_run_loads_is_compiled_beforehand(tmp_path):
    """The list is that of the run, so that no kernel is left for one process alone."""
    from mbkit.cli.compiling import kernels_of_runs

    model = pathlib.Path(__file__).parents[2] / "examples" / "models" / "panda.toml"
    for options, chosen_steps in (([], True), (["--h", "0.01"], False)):
        output = str(tmp_path / f"{chosen_steps}.nc")
        start = [str(model), "-o", output, "--t-end", "0.1", *options]
        call = f"main(['simulate', *{start!r}], standalone_mode=False)"
        code = f"from mbkit.cli.main import main\n{call}"
        command = [sys.executable, "-c", LOADED.format(code)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        needed = {*done.stdout.splitlines()[-1].split()}
        listed = kernels_of_runs(chosen_steps=chosen_steps)
        modules = tuple(each.partition(":")[0].removeprefix("mbkit.kernels.") for each in listed)
        assert {each for each in needed if not each.startswith(modules)} == set()


SIDE_BY_SIDE = """
from mbkit.cli.workers import compile_side_by_side, workers
if __name__ == "__main__":
    with workers(2) as connections:
        compile_side_by_side(["{0}", "{0}"], connections, print, lambda: print("a module"))
"""


def side_by_side(module, tmp_path):
    """Let two processes compile one module at once, with a cache of their own."""
    script = tmp_path / "side_by_side.py"
    script.write_text(SIDE_BY_SIDE.format(module))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, script]
    return subprocess.run(command, check=False, env=environment, capture_output=True, text=True)


@pytest.mark.long
@pytest.mark.compiled
def test_two_processes_that_need_a_kernel_compile_it_once(tmp_path):
    done = side_by_side("mbkit.kernels.lie.so3_arrays", tmp_path)
    assert done.returncode == 0, done.stderr
    said = done.stdout.split("\n")[:-1]
    assert said.count("a module") == 2
    assert len(said) > 4
    kernels = [line for line in said if line != "a module"]
    assert len(kernels) == len({*kernels})
    # the second time there is nothing to compile
    assert side_by_side("mbkit.kernels.lie.so3_arrays", tmp_path).stdout.split() == [
        "a", "module", "a", "module"
    ]  # fmt: skip
    assert not [*tmp_path.rglob("*.tmp.*")]


@pytest.mark.long
def test_a_process_that_fails_to_compile_is_named(tmp_path):
    failed = side_by_side("mbkit.kernels.no_such_module", tmp_path)
    assert failed.returncode != 0
    assert "No module named 'mbkit.kernels.no_such_module'" in failed.stderr
    assert "compiled the kernels of mbkit.kernels.no_such_module has ended" in failed.stderr


# ------------------------------------------------------------------------- URDF, robots, convert

GRIPPER = pathlib.Path(__file__).parents[1] / "data" / "gripper.urdf"


def test_info_of_a_urdf_has_notes_and_warnings():
    shown = mbkit("info", GRIPPER)
    assert shown.exit_code == 0
    assert "turn" in shown.output
    assert "Note: gripper.urdf:40: joint/safety_controller is not read." in shown.output
    assert "Warning: URDF file" in shown.stdout
    assert "inertias that no body has, of 'camera'" in " ".join(shown.stdout.split())
    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    row = next(line for line in lines if "elbow" in line)
    assert row == (
        "│ elbow │ RevoluteJoint │ carriage │ hand │ 1 │ 1 │ -1.5 to 1.25, velocity 3.5, effort 20 "
        "│ │"
    )
    assert "│ velocity 2, effort 50 │ damping 0.5, dry 0.1 │" in "\n".join(lines)
    floating = mbkit("info", GRIPPER, "--floating")
    assert "base  by root_joint (FreeJoint)" in floating.output


def test_sdf_files_are_shown_and_converted(tmp_path):
    """Notes name what is not read; the TOML file is the same mechanism."""
    path = GRIPPER.with_suffix(".sdf")
    shown = CliRunner().invoke(main, ["info", str(path)])
    assert "Note: gripper.sdf:19: sdf/world/model/link/collision is not read." in shown.output
    done = CliRunner().invoke(main, ["convert", str(path), str(tmp_path / "gripper.toml")])
    assert done.exit_code == 0, done.output
    assert mb.load_model(tmp_path / "gripper.toml") == mb.load_sdf(path)


def test_mobility_of_gears_in_a_ring_is_by_their_rank(tmp_path):
    """Three gears, of which one follows from the others."""
    mech = mb.Mechanism("ring")
    for name in "abc":
        mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(mb.RevoluteJoint(f"axle {name}"), mech.world, name)
    for driver, driven, ratio in (("a", "b", 2.0), ("b", "c", 4.0), ("c", "a", 0.125)):
        gear = mb.GearRatio(driver + driven, f"axle {driver}", f"axle {driven}", ratio=ratio)
        mech.add_constraint(gear)
    mb.save_model(mech, tmp_path / "ring.toml")
    shown = " ".join(mbkit("info", tmp_path / "ring.toml").stdout.split())
    assert np.linalg.matrix_rank(mech.assemble().constraint_jacobian(np.zeros(3))) == 2
    assert "Mobility: 1 degree of freedom (a tree: the joints' in sum, less 2 by gears)" in shown


def test_coupled_joints_are_constraints_unless_they_are_to_move_on_their_own(tmp_path):
    path = tmp_path / "m.urdf"
    path.write_text(
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
        + "".join(
            f'<joint name="{name}" type="continuous"><parent link="{ends[0]}"/>'
            f'<child link="{ends[1]}"/>{mimic}</joint>'
            for name, ends, mimic in (("j", "ab", ""), ("k", "bc", '<mimic joint="j"/>'))
        )
        + "</robot>"
    )
    shown = " ".join(mbkit("info", path).stdout.split())
    assert "k mimics j" in shown
    assert "Mobility: 1 degree of freedom (a tree: the joints' in sum, less 1 by gears)" in shown
    assert "GearRatio" in shown
    assert "move on their own:" not in shown
    assert mbkit("convert", path, tmp_path / "m.toml", "--mimic", "refuse").exit_code == 1
    coupled = mbkit("convert", path, tmp_path / "coupled.toml")
    assert coupled.exit_code == 0
    assert list(mb.load_model(tmp_path / "coupled.toml").constraints) == ["k mimics j"]
    done = mbkit("convert", path, tmp_path / "m.toml", "--mimic", "independent")
    assert done.exit_code == 0
    assert "Warning" in done.stderr
    failed = mbkit("convert", tmp_path / "m.toml", tmp_path / "n.toml", "--mimic", "independent")
    assert failed.exit_code == 2
    assert "--mimic is for URDF files" in failed.stderr


def test_links_are_written_through(tmp_path):
    """With --force; the link stays. One that leads nowhere is refused with it and without."""
    target, link, dangling = (tmp_path / name for name in ("a.toml", "link.toml", "none.toml"))
    target.write_text("mine")
    link.symlink_to(target.name)
    dangling.symlink_to("nowhere.toml")
    assert mbkit("convert", GRIPPER, link).exit_code == 2
    assert target.read_text() == "mine"
    assert mbkit("convert", GRIPPER, link, "--force").exit_code == 0
    assert link.is_symlink()
    assert "gripper" in target.read_text()
    for options in ([], ["--force"]):
        failed = mbkit("convert", GRIPPER, dangling, *options)
        assert failed.exit_code == 2
        assert "it is a link to a file that is not there" in failed.stderr
    assert dangling.is_symlink()
    assert not (tmp_path / "nowhere.toml").exists()


def test_convert_goes_both_ways(tmp_path):
    """What was made of the file is in both formats; nothing is replaced without being asked to."""
    toml, urdf = tmp_path / "arm.toml", tmp_path / "arm.urdf"
    assert mbkit("convert", GRIPPER, toml).output.endswith(f"Wrote {toml}: 6 bodies, 6 joints.\n")
    assert mbkit("convert", toml, urdf).exit_code == 0
    assert mb.read_urdf(urdf).mechanism() == mb.load_model(toml)
    failed = mbkit("convert", GRIPPER, toml)
    assert failed.exit_code == 2
    assert "exists already; give --force" in failed.stderr
    assert mbkit("convert", GRIPPER, toml, "--force", "--floating").exit_code == 0
    assert type(mb.load_model(toml).joints["root_joint"].joint) is mb.FreeJoint


def test_convert_refuses_what_cannot_be(pendulum, tmp_path):
    failed = mbkit("convert", pendulum, tmp_path / "m.urdf")
    assert failed.exit_code == 1
    assert "joint 'ball' is a SphericalJoint, and a URDF has" in failed.stderr
    failed = mbkit("convert", pendulum, tmp_path / "m.yaml")
    assert failed.exit_code == 2
    assert "must end in .toml, .urdf" in failed.stderr
    failed = mbkit("convert", pendulum, tmp_path / "m.toml", "--floating")
    assert "--floating is for URDF files" in failed.stderr


def test_convert_tells_what_is_lost(tmp_path):
    mech = mb.Mechanism("moon", gravity=(0, 0, -1.62))
    mb.save_model(mech, tmp_path / "moon.toml")
    done = mbkit("convert", tmp_path / "moon.toml", tmp_path / "moon.urdf")
    assert done.exit_code == 0
    assert "Warning: URDF file" in done.stderr
    assert "gravity [0.0, 0.0, -1.62]" in done.stderr


@pytest.fixture
def robots(tmp_path, monkeypatch):
    """An installed collection of robots, two of the same name."""
    import importlib.metadata

    site = tmp_path / "site"
    names = ("arm_description/urdf/arm.urdf", "leg_a_description/urdf/leg.urdf", "leg_b/r/leg.urdf")
    for name in names:
        (site / "robots" / name).parent.mkdir(parents=True)
        (site / "robots" / name).write_text(GRIPPER.read_text())
    info = site / "example_robot_data-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: example-robot-data\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"robots/{name},,\n" for name in names))
    found, others = importlib.metadata.Distribution.at(info), importlib.metadata.distribution

    def distribution(name):
        return found if name == "example-robot-data" else others(name)

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)
    return site


@pytest.mark.filterwarnings("ignore::mbkit.ModelFileWarning")
def test_robots_are_found_by_name(robots, tmp_path):
    assert "gripper arm" in mbkit("info", "robot:arm").output
    for name in ("robot:leg_a/leg", "robot:leg_b/leg", "robot:arm/arm"):
        assert mbkit("info", name).exit_code == 0
    failed = mbkit("info", "robot:arn")
    assert failed.exit_code == 2
    assert "There is no robot 'arn'; did you mean 'arm'?" in failed.stderr
    assert mb.load_model("robot:arm").name == mb.load_urdf("robot:leg_a/leg").name == "gripper arm"
    with pytest.raises(mb.UsageError, match=r"There is no robot 'arn'; did you mean 'arm'\?"):
        mb.load_model("robot:arn")
    study = tmp_path / "robot.toml"
    study.write_text('mbkit_study = 1\nmodel = "robot:arm"\nt_span = [0.0, 0.1]\n')
    assert mb.load_study(study).system.name == "gripper arm"
    ambiguous = mbkit("info", "robot:leg")
    assert "no robot 'leg'; known are 'leg_a/leg', 'leg_b/leg'." in ambiguous.stderr


def test_robots_that_are_not_installed_are_told_how(monkeypatch):
    import importlib.metadata

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    failed = mbkit("simulate", "robot:panda", "-o", "x.nc")
    assert failed.exit_code == 2
    assert "pip install example-robot-data" in failed.stderr


def test_steps_have_a_size_or_a_tolerance(pendulum, tmp_path):
    out = tmp_path / "run.nc"
    done = mbkit("simulate", pendulum, "-o", out, "--t-end", 1, "--rtol", 1e-6)
    assert done.exit_code == 0, done.output
    run = mb.load_result(out)
    np.testing.assert_allclose(run.t, np.linspace(0.0, 1.0, 1001), atol=1e-12)
    assert "dormand_prince5" in run.options["integrator"]
    assert "rtol=1e-06" in run.options["integrator"]
    failed = mbkit("simulate", pendulum, "-o", out, "--force", "--tableau", "rk4")
    assert failed.exit_code == 2
    assert "--tableau rk4 does not estimate its error" in failed.stderr


def test_simulate_a_urdf(tmp_path):
    """From a file to a result, with the base welded and floating."""
    out = tmp_path / "run.nc"
    done = mbkit("simulate", GRIPPER, "-o", out, "--t-end", 0.01, "--h", 1e-3, "--q", "elbow=0.5")
    assert done.exit_code == 0, done.output
    assert mb.load_result(out).q.shape == (11, 10)
    done = mbkit("simulate", GRIPPER, "-o", out, "--force", "--t-end", 0.01, "--floating")
    assert mb.load_result(out).q.shape == (1001, 17)  # without --h: by a tolerance


def test_simulate_in_another_representation(pendulum, tmp_path):
    """The same motion, and the result says in which it was computed."""
    runs = []
    for name in ("body_fixed", "mixed"):
        path = tmp_path / f"{name}.nc"
        arguments = ("-o", path, "--t-end", "0.1", "--representation", name, "--h", "0.01")
        assert mbkit("simulate", pendulum, *arguments).exit_code == 0
        runs.append(mb.load_result(path))
    assert [run.options["representation"] for run in runs] == ["body_fixed", "mixed"]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0.0, atol=1e-12)
    failed = mbkit("simulate", pendulum, "-o", tmp_path / "no.nc", "--representation", "hybird")
    assert failed.exit_code != 0
    assert "did you mean 'hybrid'?" in failed.stderr


def test_steps_that_are_too_large_are_a_line(tmp_path):
    """Once, with remedies that options are, also of a run in a directory; a picture has it too."""
    mech = mb.Mechanism("stiff", gravity=(0, 0, 0))
    mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail"), mech.world, "ball")
    mech.add_force(mb.JointSpring("spring", "rail", stiffness=2500.0))
    mb.save_model(mech, tmp_path / "stiff.toml")
    start = ("--t-end", 1, "--h", 0.01, "--q", "rail=0.1")
    for output in (tmp_path / "run.nc", f"{tmp_path / 'run'}/"):
        done = mbkit("simulate", tmp_path / "stiff.toml", "-o", output, *start)
        assert done.exit_code == 0
        (line,) = (each for each in done.stderr.splitlines() if "Warning" in each)
        assert line.startswith(
            "Warning: The energy balance has an error of up to 0.26 J, from t = 0.4"
        )
        assert "Use a smaller --h, or another integrator in a study" in line
        assert "mbkit.GeneralizedAlpha" not in line
    again = mbkit("simulate", "--resume", tmp_path / "run")
    assert "was completed already" in again.stdout
    assert "Warning: The energy balance has an error of" in again.stderr
    fine = mbkit("simulate", tmp_path / "stiff.toml", "-o", tmp_path / "fine.nc", "--h", 1e-3)
    assert "Warning" not in fine.stderr


@pytest.mark.parametrize(("axis", "text"), [
    ((0, 2, 0), "Mobility: 1 degree of freedom by count (joints 4, less 3 for the planar loop; -2"),
    ((0, 2, 0.1), "Mobility: -2 degrees of freedom by count (joints 4, less 6 for the loop; more"),
])  # fmt: skip
def test_info_counts_planar_loops_in_their_plane(tmp_path, axis, text):
    """A slider-crank, its bodies described turned; with a tilted pin it is in space."""
    mech = mb.Mechanism("slider-crank")
    turned = mb.spatial.rotation((1, 2, 3), 0.7)
    for name in ("crank", "rod", "slider"):
        mech.add_body(mb.Body(name, inertia=rod(), pose=turned))
    mech.add_joint(mb.RevoluteJoint("main", (0, 1, 0)), mech.world, "crank")
    mech.add_joint(mb.RevoluteJoint("pin", (0, -1, 0), point=(0.2, 0, 0)), "crank", "rod")
    mech.add_joint(mb.RevoluteJoint("wrist", axis, point=(0.8, 0, 0)), "slider", "rod")
    mech.add_joint(mb.PrismaticJoint("guide", (1, 0, 1)), mech.world, "slider")
    mb.save_model(mech, tmp_path / "crank.toml")
    assert text in mbkit("info", tmp_path / "crank.toml").output
