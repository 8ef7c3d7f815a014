"""A joint as the graph sees it: which bodies it connects, and what it costs to cut it."""

from __future__ import annotations

from typing import final

import attrs

__all__ = ["WORLD", "JointEdge"]

#: The name of body 0.
WORLD = "world"


@final
@attrs.frozen
class JointEdge:
    """An edge of the graph of bodies.

    Attributes
    ----------
    name : str
        Of the joint.
    predecessor, successor : str
        Names of its bodies.
    num_velocities : int, default 6
        Its freedom; with 6 it constrains nothing.
    num_positions : int, default 6
        Entries of q that it has while it is in the tree.
    held : str, default ""
        Why the joint must stay in the tree, as the end of a sentence about it; empty if it need
        not.
    is_cut : bool, default False
        Whether it closes a loop whatever else does: a weld between the two halves of a body.

    Examples
    --------
    >>> JointEdge("hinge", "world", "door", num_velocities=1, num_positions=1).num_constraints
    5
    """

    name: str
    predecessor: str
    successor: str
    num_velocities: int = 6
    num_positions: int = 6
    held: str = ""
    is_cut: bool = False

    @property
    def num_constraints(self) -> int:
        """Number of constraint rows that it gives as a loop joint."""
        return 6 - self.num_velocities
