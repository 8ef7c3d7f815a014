"""Several projects, and folders of other people, in one process."""

from __future__ import annotations

import os

import pytest

import mbkit as mb
from mbkit.studies import new_project
from mbkit.studies.project import find_project
from tests.studies.conftest import MODEL, STUDY

only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to others")


def test_a_study_does_not_run_with_the_code_of_another_project(tmp_path):
    """Both plugins have one name: the second is no other than the first to Python."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first = new_project(tmp_path / "one" / "pendulum")
    second = new_project(tmp_path / "two" / "pendulum")
    assert mb.load_study(first / "studies" / "swing.toml").plugin == "pendulum 0.1.0"
    for _ in range(2):
        with pytest.raises(mb.StudyFileError) as caught:
            mb.load_study(second / "studies" / "swing.toml")
        assert "cannot be run without the plugin of its project" in str(caught.value)
        assert f"was imported from {first}" in str(caught.value)
    assert mb.load_study(first / "studies" / "swing.toml").root == first


@only_root
def test_a_strangers_folder_above_is_no_root(tmp_path):
    """Results are written beside the study, as where there is no project."""
    (tmp_path / "pyproject.toml").write_text("[tool.mbkit]\n")
    mine = tmp_path / "me"
    mine.mkdir()
    (mine / "arm.toml").write_text(MODEL)
    (mine / "swing.toml").write_text(STUDY)
    assert mb.load_study(mine / "swing.toml").root == tmp_path
    os.chown(tmp_path / "pyproject.toml", 12345, -1)
    with pytest.warns(mb.PluginWarning, match="passed over: .* another user .number 12345"):
        study = mb.load_study(mine / "swing.toml")
    assert study.output == mine / "results" / "swing.nc"
    os.chown(mine / "swing.toml", 12345, -1)
    assert mb.load_study(mine / "swing.toml").root == tmp_path


@pytest.mark.parametrize("text", ["tool = 3", "tool.mbkit = 3", "[[tool]]\nmbkit = {}"])
def test_tables_that_are_none_are_no_project(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    assert find_project(tmp_path, tmp_path) is None


def test_a_project_without_name_has_that_of_its_folder(tmp_path):
    (tmp_path / "pyproject.toml").write_text("project = 3\ntool.mbkit = {}\n")
    assert find_project(tmp_path, tmp_path).name == tmp_path.name
