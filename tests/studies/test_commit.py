"""Results know the commit of their project, where there is one, and lose no time where not."""

from __future__ import annotations

import shutil
import time

import pytest

import mbkit as mb
from mbkit.studies import commit, new_project
from mbkit.studies.commit import commit_of
from tests.studies.conftest import git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def repository(study_folder):
    """A repository around the folder of a study, with one commit."""
    git("init", "-q", folder=study_folder)
    (study_folder / ".gitignore").write_text("/results/\n")
    git("add", "-A", folder=study_folder)
    git("commit", "-q", "-m", "one", folder=study_folder)
    return study_folder


def test_the_commit_is_that_of_git(repository):
    commit = git("rev-parse", "HEAD", folder=repository)
    assert commit_of(repository) == {"commit": commit, "uncommitted_changes": False}


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("name", "changed"),
    [("arm.toml", True), ("new.toml", True), ("results/run.nc", False), ("../beside", False)],
)
def test_changes_are_those_of_the_project(repository, name, changed):
    """New files count, ignored ones do not, nor do those beside the project's own folder."""
    inner = repository / "inner"
    inner.mkdir()
    for each in ("arm.toml", "swing.toml", ".gitignore"):
        (repository / each).rename(inner / each)
    git("add", "-A", folder=repository)
    git("commit", "-q", "-m", "moved", folder=repository)
    file = inner / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("changed")
    (inner / ".gitignore").write_text("results/\n")
    git("add", "inner/.gitignore", folder=repository)
    git("commit", "-q", "-m", "ignore", "--allow-empty", folder=repository)
    assert commit_of(inner)["uncommitted_changes"] is changed


def test_results_carry_it(repository):
    """The state when the run began, looked up anew for each run."""
    study = mb.load_study(repository / "swing.toml")
    notes = study.run().options["notes"]
    assert notes["commit"] == git("rev-parse", "HEAD", folder=repository)
    assert notes["uncommitted_changes"] is False
    (repository / "new.txt").touch()
    assert study.run().options["notes"]["uncommitted_changes"] is True


@pytest.mark.long
@pytest.mark.parametrize("kind", ["compare", "ensemble", "sweep"])
def test_studies_of_the_laboratory_carry_it_from_any_folder(
    repository, tmp_path_factory, monkeypatch, kind
):
    """In manifest and report, whatever folder they are started in, that of another project too."""
    table = {
        "compare": 'repeats = 0\nh = [0.1, 0.05]\nintegrators = ["rkmk2"]',
        "ensemble": 'samples = 2\noutputs = ["end"]\nvary = {"initial.q.shoulder" = [0.1, 0.2]}',
        "sweep": 'vary = {"initial.q.shoulder" = [0.1]}',
    }[kind]
    study = repository / "swing.toml"
    study.write_text(f"{study.read_text()}\n[{kind}]\n{table}\n")
    git("commit", "-q", "-a", "-m", "two", folder=repository)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    git("init", "-q", folder=elsewhere)
    (elsewhere / "a").touch()
    git("add", "-A", folder=elsewhere)
    git("commit", "-q", "-m", "another", folder=elsewhere)
    monkeypatch.chdir(elsewhere)
    place = elsewhere / "found"
    if kind == "sweep":
        mb.studies.sweep(study, directory=place)
    else:
        mb.load_study(study).findings(place)
    about = mb.studies.load_findings(place).about
    assert about["commit"] == git("rev-parse", "HEAD", folder=repository)
    assert about["uncommitted_changes"] is False
    assert about["commit"] in (place / "report.html").read_text()
    assert mb.load_study(study).text() == (place / "study.toml").read_text()


def test_without_repository_commit_or_git_there_is_none(tmp_path, monkeypatch):
    assert commit_of(tmp_path) == {}
    git("init", "-q", folder=tmp_path)
    assert commit_of(tmp_path) == {}  # no commit yet
    (tmp_path / "a").touch()
    git("add", "-A", folder=tmp_path)
    git("commit", "-q", "-m", "one", folder=tmp_path)
    assert commit_of(tmp_path)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", "")
        assert commit_of(tmp_path) == {}


def test_a_repository_around_that_has_nothing_of_the_folder_is_not_its_own(repository):
    """One that ignores the folder would call it clean whatever is in it."""
    ignored, new = repository / "results" / "mine", repository / "new"
    for folder in (ignored, new):
        folder.mkdir(parents=True)
        (folder / "swing.toml").touch()
        assert commit_of(folder) == {}
    git("add", "--force", "results/mine", folder=repository)
    git("commit", "-q", "-m", "one file of an ignored folder", folder=repository)
    assert commit_of(ignored) == {}
    git("add", "new", folder=repository)
    assert commit_of(new) == {}  # no commit has it yet
    git("commit", "-q", "-m", "new", folder=repository)
    assert commit_of(new)["uncommitted_changes"] is False


def test_code_that_changed_after_it_was_loaded_is_not_labelled_with_a_new_commit(
    tmp_path, registry, plugins_apart
):
    """Python runs what it has imported; going back to that gives the commit again."""
    folder = new_project(tmp_path / "pendulum")
    git("init", "-q", folder=folder)
    git("add", "-A", folder=folder)
    git("commit", "-q", "-m", "one", folder=folder)
    study = mb.load_study(folder / "studies" / "swing.toml")
    first = git("rev-parse", "HEAD", folder=folder)
    assert study.notes()["commit"] == first
    wind = folder / "src" / "pendulum" / "wind.py"
    before = wind.read_text()
    wind.write_text(before + "# other\n")
    git("commit", "-q", "-a", "-m", "two", folder=folder)
    for each in (study, mb.load_study(folder / "studies" / "swing.toml")):
        with pytest.warns(mb.PluginWarning, match=r"'src/pendulum/wind\.py' of the project"):
            notes = each.notes()
        assert notes["changed_since_loaded"] == ["src/pendulum/wind.py"]
        assert "commit" not in notes
    wind.write_text(before)
    git("commit", "-q", "-a", "-m", "three", folder=folder)
    assert study.notes()["commit"] == git("rev-parse", "HEAD", folder=folder)


def test_what_keeps_git_waiting_costs_the_commit_and_not_the_run(repository, monkeypatch):
    slow = repository / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent), prepend=":")
    monkeypatch.setattr(commit, "_TIMEOUT", 0.2)
    began = time.perf_counter()
    assert commit_of(repository) == {}
    assert time.perf_counter() - began < 10.0


def test_a_damaged_repository_is_none(repository):
    (repository / ".git" / "HEAD").write_bytes(b"\0")
    assert commit_of(repository) == {}


def test_settings_of_a_repository_start_nothing(repository):
    """A folder of another person may tell git to run a program when its state is asked for."""
    trap = repository / "trap"
    script = repository.parent / "script"
    script.write_text(f"#!/bin/sh\ntouch '{trap}'\n")
    script.chmod(0o755)
    git("config", "core.fsmonitor", str(script), folder=repository)
    assert commit_of(repository)["commit"]
    assert not trap.exists()


def test_hooks_of_git_do_not_lead_elsewhere(repository, tmp_path_factory, monkeypatch):
    """Within a hook git names its own repository in the environment."""
    other = tmp_path_factory.mktemp("other")
    git("init", "-q", folder=other)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert commit_of(repository)["commit"] == git("rev-parse", "HEAD", folder=repository)


def test_no_repository_costs_nothing(tmp_path):
    """Far below a millisecond: a few looks for a folder."""
    began = time.perf_counter()
    for _ in range(100):
        commit_of(tmp_path)
    assert time.perf_counter() - began < 0.5
