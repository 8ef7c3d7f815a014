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
    freedoms : tuple of int
        Number of velocities of that joint; 0 for the world.
    loop_joints : tuple of str
        Joints that are not in the tree; each closes a loop.
    cycles : tuple of tuple of str
        The loop that each of them closes: itself, then the joints of the tree from its successor to
        its predecessor.
    loop_freedoms : tuple of int
        Number of velocities of each of them.
    """

    bodies: tuple[str, ...]
    parent: tuple[int, ...]
    joint_of_body: tuple[str, ...]
    reversed: tuple[bool, ...]
    freedoms: tuple[int, ...]
    loop_joints: tuple[str, ...] = ()
    cycles: tuple[tuple[str, ...], ...] = ()
    loop_freedoms: tuple[int, ...] = ()

    @property
    def tree_joints(self) -> tuple[str, ...]:
        """Names of the joints of the tree, in the order of their bodies."""
        return self.joint_of_body[1:]

    @property
    def mobility(self) -> int:
        """Number of degrees of freedom, by count.

        For a tree it is the sum of the velocities of its joints, and exact. With loops it is the
        count of Gruebler and Kutzbach in space: the sum over all joints, less 6 for each loop. This
        is a lower bound, which may be negative: where the joints of a loop move in fewer than six
        dimensions, as in a plane, its conditions depend on each other. A planar four-bar linkage
        has the count -2, and moves with one degree of freedom.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("top")
        >>> tip = mech.add_joint(mb.SphericalJoint("tip"), "world", mech.add_body(mb.Body("top")))
        >>> mech.topology().mobility
        3
        """
        return sum(self.freedoms) + sum(self.loop_freedoms) - 6 * len(self.loop_joints)

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
