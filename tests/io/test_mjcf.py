"""MJCF files: what is refused before MuJoCo opens anything."""

from __future__ import annotations

import sys

import pytest

import mbkit as mb

GOOD = '<mujoco><worldbody><body name="b"><joint/><geom size="1"/></body></worldbody></mujoco>'


@pytest.fixture
def folder(tmp_path):
    """A folder with a file beside it that no model may read."""
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    (tmp_path / "secret.stl").write_text("solid")
    inner = tmp_path / "model"
    (inner / "parts").mkdir(parents=True)
    return inner


@pytest.mark.parametrize(
    "text",
    [
        '<mujoco><include file="../secret.xml"/></mujoco>',
        '<mujoco><worldbody><include file="/etc/passwd"/></worldbody></mujoco>',
        '<mujoco><include file="parts/inner.xml"/></mujoco>',
        '<mujoco><include file="link.xml"/></mujoco>',
        '<mujoco><asset><mesh file="../secret.stl"/></asset></mujoco>',
        '<mujoco><compiler meshdir=".."/><asset><mesh file="secret.stl"/></asset></mujoco>',
        '<mujoco><compiler assetdir="/"/><asset><hfield file="etc/passwd"/></asset></mujoco>',
        '<mujoco><asset><texture type="cube" fileright="../../a.png"/></asset></mujoco>',
        '<mujoco><asset><model file="../secret.xml"/></asset></mujoco>',
    ],
)
def test_files_elsewhere_are_refused(folder, text):
    """No include, mesh, texture or model outside the folder is read, through links neither."""
    (folder / "parts" / "inner.xml").write_text(
        '<mujoco><include file="../../secret.xml"/></mujoco>'
    )
    (folder / "link.xml").symlink_to(folder.parent / "secret.xml")
    (folder / "model.xml").write_text(text)
    with pytest.raises(mb.ModelFileError, match=r"names a file outside its folder, .* \(.*:1\)"):
        mb.load_mjcf(folder / "model.xml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot/>", "root element <mujoco>, got <robot>.*suffix .urdf"),
        ("<mujoco>", "is no XML"),
        ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', "must have no DOCTYPE"),
        ("<a>" * 100, "nested more than 64 deep"),
    ],
)
def test_what_is_no_model(tmp_path, text, message):
    """XML is read as strictly as that of a URDF."""
    (tmp_path / "model.xml").write_text(text)
    with pytest.raises(mb.ModelFileError, match=message):
        mb.load_model(tmp_path / "model.xml")


def test_loops_of_includes_end(folder):
    """A file that includes itself is looked through once; MuJoCo refuses it afterwards."""
    path = folder / "model.xml"
    path.write_text('<mujoco><include file="model.xml"/></mujoco>')
    with pytest.raises((mb.ModelFileError, mb.UsageError), match=r"MuJoCo|mbkit\[mjcf\]"):
        mb.load_mjcf(path)


def test_without_mujoco(folder, monkeypatch):
    """The message has the command that installs it."""
    monkeypatch.setitem(sys.modules, "mujoco", None)
    (folder / "model.xml").write_text(GOOD)
    with pytest.raises(mb.UsageError, match=r"pip install 'mbkit\[mjcf\]'"):
        mb.load_mjcf(folder / "model.xml")
    with pytest.raises(mb.UsageError, match="path must be a string or a path, got 3"):
        mb.read_mjcf(3)
