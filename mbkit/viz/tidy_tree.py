"""Places for the nodes of a tree in a picture."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt


@attrs.define
class _Outline:
    """How far a subtree reaches to either side, by levels, the deepest first."""

    left: list[float]
    right: list[float]
    nodes: list[float]  # where the children of the node to come stand


def tidy_tree(parent: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return where to draw the nodes of a tree, (n, 2): depth, and place across.

    By the number of each node's parent, less than its own; -1 for node 0. Nodes of a depth are at
    least 1 apart and stand in the order of their numbers, branches do not cross, a parent stands in
    the middle between its first child and its last, and equal subtrees are drawn alike. Node 0 is
    at (0, 0).

    Notes
    -----
    Outlines of subtrees are pushed together from the last node to the first, each pair for as many
    levels as the shorter one has. Source: Reingold and Tilford, "Tidier drawings of trees", IEEE
    Trans. Softw. Eng. 7, 1981.

    Examples
    --------
    >>> tidy_tree([-1, 0, 1, 1, 0])
    array([[ 0. ,  0. ],
           [ 1. , -0.5],
           [ 2. , -1. ],
           [ 2. ,  0. ],
           [ 1. ,  0.5]])
    """
    children: list[list[int]] = [[] for _ in parent]
    for node, above in enumerate(parent):
        if above >= 0:
            children[above].append(node)
    outlines: dict[int, _Outline] = {}
    offset = np.zeros(len(parent))
    for node in reversed(range(len(parent))):
        outline = _Outline([], [], [])
        for child in children[node]:
            outline = _joined(outline, outlines.pop(child))
        middle = (outline.nodes[0] + outline.nodes[-1]) / 2 if outline.nodes else 0.0
        offset[children[node]] = np.array(outline.nodes) - middle
        outline.left.append(middle)
        outline.right.append(middle)
        outline.nodes = [middle]
        outlines[node] = outline
    points = np.zeros((len(parent), 2))
    for node, above in enumerate(parent):
        if above >= 0:
            points[node] = points[above] + (1.0, offset[node])
    return points


def _joined(one: _Outline, other: _Outline) -> _Outline:
    """Return the outline of two neighbours, the other one pushed as near as it goes."""
    if not one.nodes:
        return other
    common = range(1, min(len(one.left), len(other.left)) + 1)
    shift = 1.0 + max(one.right[-level] - other.left[-level] for level in common)
    if len(other.left) <= len(one.left):
        for level in common:
            one.right[-level] = other.right[-level] + shift
        one.nodes.append(other.nodes[0] + shift)
        return one
    # the longer one is kept, so that joining costs no more than the shorter one has levels
    for level in common:
        other.left[-level] = one.left[-level] - shift
    other.nodes = [*(place - shift for place in one.nodes), other.nodes[0]]
    return other
