"""What is connected to what, as the algorithms need it."""

from __future__ import annotations

from typing import final

import attrs

from mbkit.errors import NameUnknownError, suggestion

__all__ = ["WORLD", "Topology"]

#: The name of body 0.
WORLD = "world"


@final
@attrs.frozen
class Topology:
    """A spanning tree of bodies in regular numbering, and the joints it leaves out.

    Body 0 is the world; ``parent[i] < i``. Numbers run depth-first, so that a body's subtree is the
    range of numbers that follows it.

    Attributes
    ----------
    bodies : tuple of str
        Names by number.
    parent : tuple of int
        Number of the body towards the world; -1 for the world.
    joint_of_body : tuple of str
        Name of the joint that leads to the parent; "" for the world.
    reversed : tuple of bool
        True where the tree goes from that joint's successor to its predecessor.
    loop_joints : tuple of str
        Joints that are not in the tree; each closes a loop.
    cycles : tuple of tuple of str
        The loop that each of them closes: itself, then the joints of the tree from its successor to
        its predecessor.
    """

    bodies: tuple[str, ...]
    parent: tuple[int, ...]
    joint_of_body: tuple[str, ...]
    reversed: tuple[bool, ...]
    loop_joints: tuple[str, ...] = ()
    cycles: tuple[tuple[str, ...], ...] = ()

    @property
    def tree_joints(self) -> tuple[str, ...]:
        """Names of the joints of the tree, in the order of their bodies."""
        return self.joint_of_body[1:]

    def number(self, body: str) -> int:
        """Return the number of a body.

        Parameters
        ----------
        body : str
            Its name.

        Returns
        -------
        int
            Its number, 0 for the world.

        Raises
        ------
        NameUnknownError
            If there is no such body.
        """
        try:
            return self.bodies.index(body)
        except ValueError:
            message = f"Body {body!r} is not in this topology; {suggestion(body, self.bodies)}"
            raise NameUnknownError(message) from None

    def subtree(self, body: str) -> tuple[str, ...]:
        """Return a body and all beyond it, as seen from the world.

        Parameters
        ----------
        body : str
            Its name.

        Returns
        -------
        tuple of str
            Names in regular numbering, the body itself first.

        Raises
        ------
        NameUnknownError
            If there is no such body.
        """
        first = last = self.number(body)
        while last + 1 < len(self.bodies) and self.parent[last + 1] >= first:
            last += 1
        return self.bodies[first : last + 1]
