"""A new project: everything in it runs, as its README says, in processes of their own."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.integrate

import mbkit as mb
from mbkit.studies import new_project
from mbkit.studies.project import load_working_project
from tests.studies.conftest import environment, git, mbkit, python

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def cart_on_a_track(times, *, speed=6.0, gust=3.0, mass=0.4, hinge=0.3, damping=0.01):
    """The study `swing` by Lagrange's equations in x and the angle, and another integrator.

    The cart is at (x, c x^2/2), the middle of the rod l away from it, at (x - l sin a,
    c x^2/2 - l cos a). With their Jacobians, M a = sum J^T (f - m Jdot v).
    """
    c, arm, cart, k, period = 0.8, 0.5, 1.0, 0.02, 2.5
    inertia = 0.4 * (1.0**2 / 12.0 + 0.01**2 / 4.0)  # a parameter of its own beside the mass
    g = np.array([0.0, -9.81])

    def rates(t, state):
        q, v = state[:2], state[2:]
        s, co = np.sin(q[1]), np.cos(q[1])
        J_cart = np.array([[1.0, 0.0], [c * q[0], 0.0]])
        J_rod = np.array([[1.0, -arm * co], [c * q[0], arm * s]])
        bias_cart = np.array([0.0, c * v[0] ** 2])
        bias_rod = np.array([arm * s * v[1] ** 2, c * v[0] ** 2 + arm * co * v[1] ** 2])
        u = np.array([speed + gust * np.sin(2 * np.pi * t / period), 0.0]) - J_rod @ v
        M = cart * J_cart.T @ J_cart + mass * J_rod.T @ J_rod + np.diag([0.0, inertia])
        f = J_cart.T @ (cart * (g - bias_cart)) + J_rod.T @ (mass * (g - bias_rod))
        f += J_rod.T @ (k * np.linalg.norm(u) * u) - np.array([0.0, damping * v[1]])
        return np.concatenate([v, np.linalg.solve(M, f)])

    start = [-0.5, hinge, 0.0, 0.0]
    span = (times[0], times[-1])
    found = scipy.integrate.solve_ivp(
        rates, span, start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-12
    )
    return found.y.T


def assert_is_the_motion(run, **numbers):
    """RK4 at h = 1e-3 is good to 1e-8 here."""
    expected = cart_on_a_track(run.t, **numbers)
    np.testing.assert_allclose(run.q, expected[:, :2], atol=1e-8)
    np.testing.assert_allclose(run.v, expected[:, 2:], atol=1e-8)
    assert np.abs(run.energy_balance).max() < 1e-9


@pytest.mark.long
def test_the_command_says_what_to_do_next(tmp_path):
    """From nothing to a plot, by the lines that it prints."""
    made = mbkit("new", "pendulum", folder=tmp_path)
    commands = [line.split()[1:] for line in made.stdout.splitlines() if line[:7] == "  mbkit"]
    assert [command[0] for command in commands] == ["run", "plot"]
    for command in commands:
        mbkit(*command, folder=tmp_path)
    assert (tmp_path / "pendulum" / "results" / "swing.png").stat().st_size > 10_000
    assert_is_the_motion(mb.load_result(tmp_path / "pendulum" / "results" / "swing.nc"))


@pytest.mark.long
@needs_git
def test_a_study_runs_with_and_without_changes(project):
    """The motion is that of an independent derivation, and the result knows where it came from."""
    git("init", "-q", folder=project)
    git("add", "-A", folder=project)
    git("commit", "-q", "-m", "A new project", folder=project)
    commit = git("rev-parse", "HEAD", folder=project)
    mbkit("run", "studies/swing.toml", "--force", folder=project)
    run = mb.load_result(project / "results" / "swing.nc")
    assert run.completed
    assert_is_the_motion(run)
    notes = run.options["notes"]
    assert (notes["commit"], notes["uncommitted_changes"]) == (commit, False)
    assert (notes["study"], notes["plugin"]) == ("studies/swing.toml", "pendulum 0.1.0")
    assert git("status", "--porcelain", folder=project) == ""  # results are ignored

    mbkit(
        "run", "studies/swing.toml", "--set", "forces.wind.speed=-4", "--set",
        "initial.q.hinge=1.2",
        "--set", "bodies.rod.mass=0.7", "--set", "forces.grease.damping=0", "--set",
        "t_span=[0, 4]", "-o", "results/other.nc", folder=project,
    )  # fmt: skip
    other = mb.load_result(project / "results" / "other.nc")
    assert other.t[-1] == 4.0
    assert_is_the_motion(other, speed=-4.0, hinge=1.2, mass=0.7, damping=0.0)
    assert other.options["notes"]["settings"]["initial"]["q"]["hinge"] == 1.2


@pytest.mark.long
def test_refusals_of_the_command(project):
    """What is there already stays; an unknown path is told with what was meant."""
    target = project / "results" / "swing.nc"
    target.parent.mkdir(exist_ok=True)
    target.touch()
    again = mbkit("run", "studies/swing.toml", folder=project, check=False)
    assert again.returncode == 2
    assert "'results/swing.nc' exists already; give --force" in again.stderr
    wrong = mbkit(
        "run", "studies/swing.toml", "--set", "bodies.rod.mas=1", "--set", "forces.wind.sped=2",
        folder=project, check=False,
    )  # fmt: skip
    assert wrong.returncode == 1
    assert "set bodies.rod.mas=1: there is no such key of a study, and no such" in wrong.stderr
    assert "did you mean 'bodies.rod.mass'?" in wrong.stderr
    assert "did you mean 'forces.wind.speed'?" in wrong.stderr
    no_folder = mbkit("run", "studies/swing.toml", "--resume", folder=project, check=False)
    assert no_folder.returncode == 2
    assert "let its 'output' end in /" in no_folder.stderr
    for options in (("-o", "results/d/"), ("--resume", "-o", "results/d/"), ("--resume",)):
        forced = mbkit(
            "run", "studies/swing.toml", "--force", *options, folder=project, check=False
        )
        assert forced.returncode == 2
        assert "--force replaces a result file, and not" in forced.stderr
    assert not (project / "results" / "d").exists()


@pytest.mark.long
def test_the_projects_own_tests_pass(project):
    done = python("-m", "pytest", "-q", "-p", "no:cacheprovider", folder=project)
    assert re.search(r"^\d+ passed", done.stdout.splitlines()[-1])


@pytest.mark.long
def test_the_script_runs(project):
    """The stronger the wind, the further the rod is lifted, against the sense of the hinge."""
    done = python("scripts/compare_winds.py", folder=project)
    rows = np.array([list(map(float, line.split())) for line in done.stdout.splitlines()[1:]])
    assert rows[:, 0].tolist() == [0.0, 4.0, 8.0, 12.0]
    assert (np.diff(rows[:, 1]) < 0.0).all()
    assert (project / "results" / "compare_winds.png").exists()


@pytest.mark.long
def test_the_notebook_runs(project):
    """Its cells one after another, in its folder, without outputs of anybody in it."""
    notebook = json.loads((project / "notebooks" / "first_look.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert notebook["nbformat"] == 4
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    text = "\n\n".join("".join(cell["source"]) for cell in cells)
    check = "\nassert abs(run.energy_balance).max() < 1e-9 and run.completed\nprint(run.q[-1, 1])"
    done = python("-W", "error", "-c", text + check, folder=project / "notebooks")
    end = cart_on_a_track(np.array([0.0, 10.0]))[-1, 1]
    assert float(done.stdout) == pytest.approx(end, abs=1e-8)


@pytest.mark.long
def test_its_plugin_keeps_its_contracts(project):
    """The laws of its joint and of its force, by the command for all plugins."""
    shown = mbkit("plugins", "--check", "pendulum", folder=project).stdout.splitlines()
    assert [line[:6] for line in shown[1:3]] == ["  ok  ", "  ok  "]
    assert shown[3] == "Everything that was checked holds."


@pytest.mark.long
def test_readme_commands_run(project):
    """Those of `mbkit`, with results in places of their own."""
    lines = (project / "README.md").read_text().splitlines()
    commands = [line.split("#")[0].split() for line in lines if line.startswith("    mbkit ")]
    assert len(commands) == 6
    shutil.rmtree(project / "results", ignore_errors=True)
    for command in commands:
        mbkit(*command[1:], folder=project)
    calm = mb.load_result(project / "results" / "calm.nc")
    assert_is_the_motion(calm, speed=0.0, hinge=1.0)


@pytest.mark.long
def test_installed_as_a_package_its_types_are_known_everywhere(project, tmp_path):
    """By the entry point; the folder it was made from has no part in it."""
    ignored = shutil.ignore_patterns("results", ".git", "__pycache__")
    shutil.copytree(project, tmp_path / "sources", ignore=ignored)
    command = (
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
        "--disable-pip-version-check", "--root-user-action=ignore", "--target", "installed",
        "./sources",
    )  # fmt: skip
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    shutil.rmtree(tmp_path / "sources")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(project / "models" / "cart.toml", elsewhere)
    code = (
        "import sys; sys.path.append('../installed')\n"
        "import mbkit as mb\n"
        "from mbkit.cli.main import main\n"
        "joint = mb.load_model('cart.toml').joints['track'].joint\n"
        "assert type(joint).__module__ == 'pendulum.track' and joint.curvature == 0.8\n"
        "main(['plugins'])\n"
    )
    shown = python("-W", "error", "-c", code, folder=elsewhere).stdout
    assert re.search(r"pendulum +│ 0\.1\.0 +│ pendulum +│ joint type: pendulum_track", shown)


# --------------------------------------------------------------------------------- long runs


@pytest.mark.long
@needs_git
@pytest.mark.parametrize("how", [("run", "studies/long.toml", "--resume"), ("simulate", "--resume",
                                 "results/long")], ids=["run", "simulate"])  # fmt: skip
def test_a_killed_study_goes_on_to_the_bit(how, tmp_path):
    """With the project's joint and force, and with another commit meanwhile."""
    folder = new_project(tmp_path / "pendulum")
    git("init", "-q", folder=folder)
    git("add", "-A", folder=folder)
    git("commit", "-q", "-m", "one", folder=folder)
    first = git("rev-parse", "HEAD", folder=folder)
    mbkit("run", "studies/long.toml", "-o", "results/whole/", folder=folder)
    command = [sys.executable, "-m", "mbkit", "run", "studies/long.toml"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 120.0
        while len(list(folder.glob("results/long/part-*.npz"))) < 2:
            assert time.monotonic() < deadline
            assert process.poll() is None, "it was not stopped in time"
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert not (folder / "results" / "long" / "result.nc").exists()
    (folder / "README.md").write_text("Another commit does not keep a run from going on.\n")
    git("commit", "-q", "-a", "-m", "two", folder=folder)
    mbkit(*how, folder=folder)
    whole, resumed = (mb.load_result(folder / "results" / name) for name in ("whole", "long"))
    assert resumed.completed
    for name in ("t", "q", "v", "kinetic_energy", "supplied_energy"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
    assert resumed.options["notes"]["commit"] == first  # of the beginning


@pytest.mark.long
@needs_git
def test_a_study_that_was_changed_is_refused_by_name(tmp_path):
    """Settings, parameters and the code of the project's force."""
    folder = new_project(tmp_path / "pendulum")
    set_short = ("--set", "t_span=[0, 0.2]")
    mbkit("run", "studies/long.toml", *set_short, folder=folder)
    (folder / "results" / "long" / "result.nc").unlink()
    place = folder / "results" / "long"
    assert not list(place.glob("part-*"))  # put together already, so there is nothing to go on from
    go_on = ("run", "studies/long.toml", *set_short, "--resume")
    refused = mbkit(*go_on, "--set", "h=1e-3", folder=folder, check=False)
    assert refused.returncode == 2
    assert "h was 0.002, is 0.001." in refused.stderr
    refused = mbkit(*go_on, "--set", "bodies.rod.mass=1", folder=folder, check=False)
    assert "parameters.bodies.rod.mass was left out, is 1." in refused.stderr
    model = folder / "models" / "cart.toml"
    model.write_text(model.read_text().replace("mass = 1.0", "mass = 1.5"))
    refused = mbkit(*go_on, folder=folder, check=False)
    assert "the system has another model than model.toml" in refused.stderr
    model.write_text(model.read_text().replace("mass = 1.5", "mass = 1.0"))
    wind = folder / "src" / "pendulum" / "wind.py"
    wind.write_text(wind.read_text().replace("* u\n", "* u * 1.01\n"))
    refused = mbkit(*go_on, folder=folder, check=False)
    assert "force 'wind' is not the same code" in refused.stderr
    assert "pendulum.wind" in refused.stderr


# ------------------------------------------------------------------------------- its plugin


@pytest.mark.long
def test_a_plugin_at_fault_is_named_and_what_needs_none_goes_on(tmp_path):
    folder = new_project(tmp_path / "pendulum")
    plugin = folder / "src" / "pendulum" / "plugin.py"
    plugin.write_text("import nothing_of_this_name\n")
    shown = python("-m", "mbkit", "run", "studies/swing.toml", folder=folder, check=False)
    assert shown.returncode == 1
    assert "cannot be run without the plugin of its project, 'pendulum 0.1.0' in" in shown.stderr
    assert "No module named 'nothing_of_this_name'" in shown.stderr
    plain = "mbkit_model = 1\nname = 'ball'\nbodies.ball.shape = {type = 'sphere', radius = 0.1}\n"
    (folder / "models" / "ball.toml").write_text(plain.replace("radius = 0.1}", "radius = 0.1}\n"
                                                 "bodies.ball.mass = 1.0"))  # fmt: skip
    assert "1 bodies" in python("-m", "mbkit", "info", "models/ball.toml", folder=folder).stdout


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("pendulum.plugins", "there is no module 'pendulum.plugins'; "),
        ("../evil", "must be a module, such as 'name.plugin'"),
        ("json.tool", "there is no module 'json.tool'; "),
    ],
)
def test_a_plugin_comes_from_its_project_and_from_nowhere_else(tmp_path, named, message):
    folder = new_project(tmp_path / "pendulum")
    file = folder / "pyproject.toml"
    file.write_text(file.read_text().replace('plugin = "pendulum.plugin"', f'plugin = "{named}"'))
    with pytest.warns(mb.PluginWarning, match=re.escape(message)):
        mb.load_project(folder)


def test_of_two_copies_the_second_is_refused(tmp_path):
    """Python has one module of a name: better none than that of the other folder."""
    new_project(tmp_path / "pendulum")
    shutil.copytree(tmp_path / "pendulum", tmp_path / "copy")
    code = (
        "import warnings, mbkit as mb\n"
        "mb.load_project('pendulum')\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    mb.load_project('copy')\n"
        "print(caught[0].category.__name__, caught[0].message)\n"
    )
    shown = python("-c", code, folder=tmp_path).stdout
    assert shown.startswith("PluginWarning The plugin 'pendulum 0.1.0'")
    assert "was imported from" in shown


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to others")
def test_code_of_others_is_not_loaded_unless_they_are_named(tmp_path, monkeypatch):
    """A pyproject.toml above the working directory may be anyone's."""
    folder = new_project(tmp_path / "pendulum")
    mine = folder / "mine"
    mine.mkdir()
    shutil.copy(folder / "studies" / "swing.toml", mine)
    (folder / "src" / "pendulum" / "plugin.py").write_text("import nothing_of_this_name")
    os.chown(folder / "pyproject.toml", 12345, -1)
    monkeypatch.chdir(mine)
    other = "belongs to another user"
    with pytest.warns(mb.PluginWarning, match=other):
        load_working_project()
    with pytest.warns(mb.PluginWarning, match=other), pytest.raises(mb.ModelFileError):
        mb.load_study("swing.toml")
    os.chown(folder / "studies" / "swing.toml", 12345, -1)
    skipped = "No module named 'nothing_of_this_name'"  # so it was loaded
    with pytest.raises(mb.StudyFileError, match=skipped):
        mb.load_study("../studies/swing.toml")


def test_a_folder_in_no_project_says_so(tmp_path):
    with pytest.raises(mb.UsageError, match="is in no project: no folder from there upwards has"):
        mb.load_project(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.mbkit\n")
    with (
        pytest.warns(mb.PluginWarning, match="is no TOML"),
        pytest.raises(mb.UsageError, match="is in no project"),
    ):
        mb.load_project(tmp_path)


# ------------------------------------------------------------------------------- its folder


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Pendulum", "begin with a letter; 'pendulum' would do."),
        ("my pendulum", "'my-pendulum' would do."),
        ("2d", "begin with a letter; 'd' would do."),
        ("a--b", "'a-b' would do."),
        ("pendel\u00fc", "it names a Python package"),
        ("..", "it names a Python package"),
        ("a\nb", "cannot be called 'a\\nb'"),
        ("class", "it is a word of the language Python"),
        ("match", "it is a word of the language Python"),
        ("json", "there is a Python module 'json' already"),
        ("numpy", "there is a Python module 'numpy' already"),
        ("mbkit", "there is a Python module 'mbkit' already"),
        ("models", "a folder of the project has this name"),
        ("x" * 51, "must have at most 50 letters"),
    ],
)
def test_names_that_cannot_be_are_refused_before_anything_is_written(tmp_path, name, message):
    with pytest.raises(mb.UsageError) as caught:
        new_project(tmp_path / name)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_names_with_hyphens_become_modules_with_underscores(tmp_path):
    folder = new_project(tmp_path / "two-carts")
    assert (folder / "src" / "two_carts" / "plugin.py").is_file()
    code = "import mbkit as mb; mb.load_project(); mb.load_model('models/cart.toml')"
    python("-W", "error", "-c", code, folder=folder)


def test_what_is_there_stays(tmp_path):
    """A folder with anything in it, a file, a link; an empty folder is taken."""
    full, file, link, empty = (tmp_path / name for name in ("full", "file", "link", "empty"))
    full.mkdir()
    (full / "note.txt").write_text("mine")
    file.write_text("mine")
    empty.mkdir()
    link.symlink_to(empty)
    before = sorted(tmp_path.rglob("*"))
    cases = (
        (full, "has something in it"),
        (file, "exists already, and is no"),
        (link, "exists already"),
        (tmp_path / "no" / "way", "does not exist"),
    )
    for target, message in cases:
        with pytest.raises(mb.UsageError, match=message):
            new_project(target)
    assert sorted(tmp_path.rglob("*")) == before
    assert (new_project(empty) / "README.md").is_file()


def test_a_folder_that_is_there_is_filled_and_stays_what_it_is(tmp_path, monkeypatch):
    """Its permissions and its place on the disk: a shell that is in it goes on in it."""
    folder = tmp_path / "pendulum"
    folder.mkdir(mode=0o700)
    before = folder.stat()
    monkeypatch.chdir(folder)
    assert new_project(".") == folder
    after = folder.stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert {"README.md", "models", "studies"} <= {each.name for each in pathlib.Path().iterdir()}
    assert not list(folder.glob(".pendulum.*"))
    with pytest.raises(mb.UsageError, match="has something in it already"):
        new_project(".")


@pytest.mark.parametrize("at", [0, 3])
def test_a_failure_leaves_an_empty_folder_empty(tmp_path, monkeypatch, at):
    rename, left = pathlib.Path.rename, [at]

    def fail(path, place):
        left[0] -= 1
        if left[0] < 0:
            raise OSError("No space left on device")
        return rename(path, place)

    (tmp_path / "pendulum").mkdir()
    monkeypatch.setattr(pathlib.Path, "rename", fail)
    with pytest.raises(OSError, match="No space"):
        new_project(tmp_path / "pendulum")
    assert list((tmp_path / "pendulum").iterdir()) == []


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError("No space left on device")

    monkeypatch.setattr(pathlib.Path, "write_text", fail)
    with pytest.raises(OSError, match="No space"):
        new_project(tmp_path / "pendulum")
    assert list(tmp_path.iterdir()) == []


def test_everything_in_it_explains_itself(project):
    """No mark of the template is left, names are explained, lines fit a screen."""
    files = [path for path in project.rglob("*") if path.is_file() and ".git/" not in str(path)]
    texts = {path: path.read_text() for path in files if path.suffix in (".py", ".toml", ".md")}
    assert len(texts) >= 11
    for path, text in texts.items():
        assert "@PROJECT@" not in text, path
        assert "@MODULE@" not in text, path
        assert max(map(len, text.splitlines())) <= 120, path
        assert path.suffix != ".py" or text.startswith('"""'), path
    readme = (project / "README.md").read_text()
    for folder in ("models", "studies", "src", "tests", "scripts", "notebooks", "results"):
        assert f"`{folder}/" in readme
