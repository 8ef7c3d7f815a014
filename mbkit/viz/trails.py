"""Ways that points leave behind on a live page while the mechanism is moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from mbkit.spatial.arrays import FloatArray
from mbkit.viz.film import Trace

if TYPE_CHECKING:
    from viser import ViserServer

    from mbkit.systems import System

#: Points of a trail at most; the oldest go first.
_MOST = 2000


@final
class Trails:
    """The trails of the origins of bodies and frames.

    Attributes
    ----------
    points : dict of str to list of ndarray, shape (3,)
        Where each of them has been, in the world. [m]
    """

    def __init__(self, system: System, traces: Sequence[Trace], width: float) -> None:
        self._system, self._width = system, width
        self._colors = {each.name: np.array(each.color[:3]) for each in traces}
        self.points: dict[str, list[FloatArray]] = {each.name: [] for each in traces}
        self._nodes: dict[str, Any] = {}

    def follow(self, server: ViserServer, q: FloatArray) -> None:
        """Go on to where the points are at a configuration (nq,)."""
        for name, points in self.points.items():
            here = self._system.pose(name, q)[:3, 3]
            if points and np.array_equal(points[-1], here):
                continue
            points.append(here)
            del points[:-_MOST]
            if len(points) > 1:
                way = np.array(points)
                self._nodes[name] = server.scene.add_line_segments(
                    f"/traces/{name}", np.stack([way[:-1], way[1:]], axis=1),
                    np.round(255.0 * self._colors[name]).astype(np.uint8), thickness=self._width,
                )  # fmt: skip

    def clear(self) -> None:
        """Forget where the points have been."""
        for node in self._nodes.values():
            node.remove()
        self._nodes.clear()
        for points in self.points.values():
            points.clear()
