"""The viewers of mbkit, as a plugin registers its own."""

from __future__ import annotations

from collections.abc import Mapping

from mbkit.plugins.hookspecs import hookimpl
from mbkit.viz.viewers.mujoco_viewer import MujocoViewer
from mbkit.viz.viewers.viewer import Viewer
from mbkit.viz.viewers.viser_viewer import ViserViewer


@hookimpl
def mbkit_viewers() -> Mapping[str, Viewer]:
    """Return the viewers of mbkit; the first one of a suffix writes files of this suffix."""
    return {"viser": ViserViewer(), "mujoco": MujocoViewer()}
