"""A spanning tree, with the loop joints across it."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mbkit.results.facts import as_html
from mbkit.results.palette import COLOURS
from mbkit.viz.figure import new_figure, svg_of
from mbkit.viz.tidy_tree import tidy_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mbkit.topology import Topology

__all__ = ["draw_topology", "topology_html"]

Points = npt.NDArray[np.float64]

_TREE = {"color": "0.3", "linestyle": "-", "label": "tree joint"}
_REVERSED = {"color": COLOURS[1], "linestyle": "-", "label": "tree joint against its direction"}
_LOOP = {"color": COLOURS[0], "linestyle": "--", "label": "loop joint"}

_LARGEST = 40.0  # side of a figure of our own [inch]
_BEND = 0.45  # of a loop joint's line off the straight one, in distances between bodies


def topology_html(topology: Topology) -> str:
    """Return a topology as a table for notebooks, below its picture if it can be drawn."""
    facts = [
        (body, f"{'against' if turned else 'by'} '{joint}' from {parent}")
        for body, parent, joint, turned in topology.tree_edges
    ]
    cycles = zip(topology.loop_joints, topology.cycles, strict=False)
    facts += [(joint, f"closes the loop {', '.join(cycle)}") for joint, cycle in cycles]
    head = f"Topology: {len(topology.bodies)} bodies, mobility {topology.mobility} by count"
    table = as_html(head, facts)
    joints = len(topology.tree_joints) + len(topology.loop_joints)
    if len(topology.edges) != joints or importlib.util.find_spec("matplotlib") is None:
        return table
    figure = new_figure(size=_size(tidy_tree(topology.parent)), of_pyplot=False)
    draw_topology(topology, figure.add_subplot())
    return f"<div>{svg_of(figure)}</div>{table}"


def draw_topology(topology: Topology, ax: Axes | None = None) -> Axes:
    """Draw a spanning tree, from the world on the left, for `Topology.draw`; loop joints in dashes.

    Each joint is a line with its name as ``gid``, and an arrow from predecessor to successor.
    """
    points = tidy_tree(topology.parent) * (1.0, -1.0)  # the first child on top
    if ax is None:
        ax = new_figure(size=_size(points), of_pyplot=True).add_subplot()
    place = dict(zip(topology.bodies, points, strict=True))
    against = dict(zip(topology.joint_of_body, topology.reversed, strict=True))
    bends: dict[frozenset[str], int] = {}
    for edge in topology.edges:
        start, end = place[edge.predecessor], place[edge.successor]
        if edge.name in topology.loop_joints:
            # of several between the same bodies, each bends more than the one before
            pair = frozenset((edge.predecessor, edge.successor))
            bends[pair] = bends.get(pair, 0) + 1
            _draw_joint(ax, edge.name, _bent(start, end, bends[pair] * _BEND), _LOOP)
        else:
            style = _REVERSED if against[edge.name] else _TREE
            _draw_joint(ax, edge.name, np.linspace(start, end, 21), style)
    for body, (x, y) in place.items():
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "0.3"}
        ax.text(x, y, body, ha="center", va="center", bbox=box, zorder=3, parse_math=False)
    _set_limits(ax, points)
    return ax


def _size(points: Points) -> tuple[float, float]:
    width, height = np.ptp(points, axis=0)
    return min(2.0 * width + 2.5, _LARGEST), min(0.9 * height + 2.0, _LARGEST)


def _bent(start: Points, end: Points, bend: float) -> Points:
    """Return points on a parabola between two bodies, the same whichever comes first."""
    along = end - start
    normal = np.array([-along[1], along[0]]) / np.hypot(*along)
    # away from the world, and up where a line runs along the branches
    if normal[0] < -1e-9 or (abs(normal[0]) <= 1e-9 and normal[1] < 0.0):
        normal = -normal
    s = np.linspace(0.0, 1.0, 41)[:, None]
    points: Points = start + s * along + 4.0 * s * (1.0 - s) * bend * normal
    return points


def _draw_joint(ax: Axes, name: str, points: Points, style: dict[str, Any]) -> None:
    """Draw a line with its name on it, and an arrow at two thirds of it."""
    ax.plot(*points.T, gid=name, linewidth=1.2, zorder=1, **style)
    tip = 2 * len(points) // 3
    arrow = {"arrowstyle": "-|>", "color": style["color"], "shrinkA": 0.0, "shrinkB": 0.0}
    ax.annotate("", points[tip], points[tip - 1], arrowprops=arrow, zorder=2)
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    x, y = points[len(points) // 2]
    ax.text(
        x,
        y,
        name,
        ha="center",
        va="center",
        fontsize="small",
        color=style["color"],
        bbox=box,
        zorder=2,
        parse_math=False,
    )


def _set_limits(ax: Axes, points: Points) -> None:
    """Leave room for boxes and bent lines, and add a legend of the colours."""
    lines = [line.get_xydata() for line in ax.lines]
    points = np.vstack([points, *lines])
    low, high = points.min(axis=0) - 0.5, points.max(axis=0) + 0.5
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_axis_off()
    if kinds := {str(line.get_label()): line for line in ax.lines}:
        ax.legend(
            handles=list(kinds.values()), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3,
            fontsize="small", frameon=False,
        )  # fmt: skip
