"""Viewers of plugins: what they write and show, by suffix and by name, as those of mbkit do."""

from __future__ import annotations

import errno

import numpy as np
import pytest

import mbkit as mb
from mbkit.viz.scene import Scene
from tests.plugins.examples import added, plugin_module


class Table(mb.viz.Viewer):
    """Writes where the origins of frames are; its folder may be full."""

    suffixes = (".path", ".gif")

    def write(self, film, path):
        if path.stem == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        np.savetxt(path, film.scene.system.pose("bob", film.q)[:, :3, 3])


class Window(mb.viz.Viewer):
    """Keeps what it is to show."""

    def show(self, scene, q, **options):
        return scene, q, options


@pytest.fixture
def plugin(registry):
    return added(registry, plugin_module(mbkit_viewers={"table": Table(), "window": Window()}))


@pytest.fixture(scope="module")
def system():
    mech = mb.Mechanism("swing", gravity=(0, 0, -9.81))
    bob = mech.add_body(
        mb.Body(
            "bob", mb.SpatialInertia.sphere(1.0, radius=0.1), mb.spatial.translation((0, 0, -1))
        )
    )
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    return mech.assemble()


@pytest.fixture(scope="module")
def run(system):
    return mb.simulate(system, (0.0, 0.2), 0.01, q={"hinge": 1.0}, progress=False)


def test_a_plugin_writes_films_of_its_suffix(plugin, tmp_path, system, run):
    """Runs and configurations; a suffix that mbkit writes as well is the plugin's by its name."""
    assert not plugin.fault
    run.animate(tmp_path / "run.path", frame_rate=100.0)
    np.testing.assert_allclose(
        np.loadtxt(tmp_path / "run.path"), system.pose("bob", run.q)[:, :3, 3], atol=1e-12
    )
    system.draw(run.q[0]).save(tmp_path / "one.path")
    np.testing.assert_allclose(
        np.loadtxt(tmp_path / "one.path"), system.pose("bob", run.q[0])[:3, 3], atol=1e-12
    )
    run.animate(tmp_path / "run.gif", viewer="table")
    assert len(np.loadtxt(tmp_path / "run.gif")) > 3
    with pytest.raises(mb.UsageError, match=r"'table' writes '\.path', '\.gif', not '.*run\.png'"):
        run.animate(tmp_path / "run.png", viewer="table")
    with pytest.raises(mb.UsageError, match="no viewer 'tabel'; did you mean 'table'"):
        run.animate(tmp_path / "run.path", viewer="tabel")
    with pytest.raises(mb.UsageError, match=r"choose one of .*'\.path'"):
        run.animate(tmp_path / "run.way")


@pytest.mark.parametrize("name", ["full.path", "full.gif"])
def test_a_disk_that_is_full_is_told_whoever_writes(plugin, tmp_path, system, run, name):
    told = rf"Film '.*{name}' cannot be written: No space left on device; choose a folder"
    with pytest.raises(mb.UsageError, match=told):
        run.animate(tmp_path / name, viewer="table")
    with pytest.raises(mb.UsageError, match=told):
        system.draw(run.q[0]).save(tmp_path / name, viewer="table")


def test_a_plugin_shows_scenes_live(plugin, system):
    """With the configuration, its loops closed, and the options of a page."""
    scene, q, options = mb.viz.show(system, [0.3], viewer="window", traces=["bob"])
    assert isinstance(scene, Scene)
    assert scene.system is system
    np.testing.assert_array_equal(q, [0.3])
    assert (options["host"], options["port"], options["traces"][0].name) == (
        "127.0.0.1", 8080, "bob",
    )  # fmt: skip
    with pytest.raises(mb.UsageError, match="Table shows nothing live"):
        mb.viz.show(system, viewer="table")


def test_viewers_of_the_names_of_mbkit_are_refused(registry):
    with pytest.warns(mb.PluginWarning):
        taken = added(registry, plugin_module(mbkit_viewers={"viser": Table()}))
    assert "the viewer 'viser' is one of mbkit already" in taken.fault
