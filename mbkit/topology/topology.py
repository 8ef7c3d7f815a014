"""`Topology`: the connections of bodies, as the algorithms need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs

from mbkit.errors import NameUnknownError, UsageError, suggestion
from mbkit.topology.cuts import Cuts, list_cuts
from mbkit.topology.graph import WORLD, JointEdge
from mbkit.topology.path import BodyPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    edges : tuple of JointEdge
        All joints with their ends, in the order in which they were added; empty if the topology was
        not made by `Mechanism.topology`.
    """

    bodies: tuple[str, ...]
    parent: tuple[int, ...]
    joint_of_body: tuple[str, ...]
    reversed: tuple[bool, ...]
    freedoms: tuple[int, ...]
    loop_joints: tuple[str, ...] = ()
    cycles: tuple[tuple[str, ...], ...] = ()
    loop_freedoms: tuple[int, ...] = ()
    edges: tuple[JointEdge, ...] = attrs.field(default=(), repr=False)

    @property
    def tree_joints(self) -> tuple[str, ...]:
        """Names of the joints of the tree, in the order of their bodies."""
        return self.joint_of_body[1:]

    @property
    def tree_edges(self) -> tuple[tuple[str, str, str, bool], ...]:
        """Each body but the world: its name, its parent, their joint, whether it is reversed."""
        rows = zip(self.bodies, self.parent, self.joint_of_body, self.reversed, strict=True)
        return tuple((body, self.bodies[k], joint, turned) for body, k, joint, turned in rows)[1:]

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

    @property
    def num_constraints(self) -> int:
        """Number of constraint rows that the loop joints give: 6 for each, less its velocities."""
        return 6 * len(self.loop_joints) - sum(self.loop_freedoms)

    def cuts(self, limit: int = 20) -> Cuts:
        """Return which joints could be cut instead, the best choice first.

        Parameters
        ----------
        limit : int, default 20
            How many are listed at most.

        Returns
        -------
        Cuts
            A sequence of `Cut`, in the order in which `Mechanism.topology` would choose them: by
            constraint rows, then by depth of the tree, then by the order of adding. Its text is a
            table, with a star at the cut of this topology, which comes last if it is not among the
            best. 10,000 cuts are looked at, from the best on, or as many as have trees of 1,000,000
            bodies together; where there are more, better ones than the last listed may be missing.

        Raises
        ------
        UsageError
            If `limit` is no positive integer, or this topology does not know the ends of its joints
            (`edges`).

        Examples
        --------
        A ring of four hinges can be cut at any of them; in the middle, the tree is shallower.

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("four-bar")
        >>> bodies = [mech.add_body(mb.Body(name)) for name in ("crank", "coupler", "rocker")]
        >>> for name, a, b in zip("ABCD", [mech.world, *bodies], [*bodies, mech.world]):
        ...     _ = mech.add_joint(mb.RevoluteJoint(name), a, b)
        >>> mech.topology().cuts()
           rows  depth  mean  nq  nv  loop joints
        *     5      2  1.33   3   3  C
              5      2  1.33   3   3  B
              5      3  2.00   3   3  D
              5      3  2.00   3   3  A
        (the best 4 of 4 cuts)
        >>> mech.topology(mech.topology().cuts()[2].loop_joints).tree_joints
        ('A', 'B', 'C')
        """
        self._check_edges()
        return list_cuts(self.bodies, self.edges, self.loop_joints, limit)

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the spanning tree, and the loop joints in dashes across it.

        Arrows go from predecessor to successor; a joint that the tree goes through against its
        direction has an arrow towards the world, and a colour of its own.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; without it, on a figure of pyplot's, which ``matplotlib.pyplot.show()``
            opens.

        Returns
        -------
        matplotlib.axes.Axes
            The axes; ``axes.figure.savefig("tree.svg")`` writes it to a file.

        Raises
        ------
        UsageError
            If matplotlib is not installed, or this topology does not know the ends of its joints
            (`edges`).
        """
        from mbkit.viz.draw_topology import draw_topology

        self._check_edges()
        return draw_topology(self, ax)

    def _repr_html_(self) -> str:
        from mbkit.viz.draw_topology import topology_html

        return topology_html(self)

    def _check_edges(self) -> None:
        if len(self.edges) != len(self.tree_joints) + len(self.loop_joints):
            raise UsageError(
                f"This topology has {len(self.tree_joints) + len(self.loop_joints)} joints and "
                f"the ends of {len(self.edges)}; make it by Mechanism.topology()."
            )

    def number(self, body: str) -> int:
        """Return the number of a body, 0 for the world.

        NameUnknownError if there is no body of this name.
        """
        try:
            return self.bodies.index(body)
        except ValueError:
            message = f"Body {body!r} is not in this topology; {suggestion(body, self.bodies)}"
            raise NameUnknownError(message) from None

    def subtree(self, body: str) -> tuple[str, ...]:
        """Return a body and all beyond it, as seen from the world, in regular numbering.

        Examples
        --------
        >>> walker = Topology(
        ...     bodies=("world", "base", "arm", "hand", "leg"),
        ...     parent=(-1, 0, 1, 2, 1),
        ...     joint_of_body=("", "float", "shoulder", "wrist", "hip"),
        ...     reversed=(False, False, False, False, True),
        ...     freedoms=(0, 6, 1, 1, 1),
        ... )
        >>> walker.subtree("arm")
        ('arm', 'hand')
        """
        first = last = self.number(body)
        while last + 1 < len(self.bodies) and self.parent[last + 1] >= first:
            last += 1
        return self.bodies[first : last + 1]

    def children(self, body: str) -> tuple[str, ...]:
        """Return the bodies whose parent a body is, or that the world carries; see `number`.

        In regular numbering, which is the order in which their joints were added; none for a body
        at the end of a branch.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("walker")
        >>> base, arm, leg = (mech.add_body(mb.Body(name)) for name in ("base", "arm", "leg"))
        >>> _ = mech.add_joint(mb.FreeJoint("float"), "world", base)
        >>> _ = mech.add_joint(mb.RevoluteJoint("shoulder"), base, arm)
        >>> _ = mech.add_joint(mb.RevoluteJoint("hip"), leg, base)
        >>> mech.topology().children("base")
        ('arm', 'leg')
        """
        number = self.number(body)
        pairs = zip(self.bodies, self.parent, strict=True)
        return tuple(name for name, parent in pairs if parent == number)

    def depth(self, body: str) -> int:
        """Return the number of joints between a body and the world."""
        return len(self._numbers_inward(body)) - 1

    def common_ancestor(self, a: str, b: str) -> str:
        """Return the body farthest from the world whose subtree holds two bodies; see `number`.

        That of `a` or `b` itself where one carries the other, "world" where they have nothing else
        in common.
        """
        return self.path(a, b).ancestor

    def path(self, a: str, b: str) -> BodyPath:
        """Return the bodies and joints between two bodies, through their common ancestor.

        With the same name twice the path has one body and no joint. Joints that close loops are not
        in it.

        Examples
        --------
        >>> walker = Topology(
        ...     bodies=("world", "base", "arm", "hand", "leg"),
        ...     parent=(-1, 0, 1, 2, 1),
        ...     joint_of_body=("", "float", "shoulder", "wrist", "hip"),
        ...     reversed=(False, False, False, False, True),
        ...     freedoms=(0, 6, 1, 1, 1),
        ... )
        >>> path = walker.path("hand", "leg")
        >>> path.bodies
        ('hand', 'arm', 'base', 'leg')
        >>> path.joints  # the hip goes from the leg to the base
        ('wrist', 'shoulder', 'hip')
        >>> path.directions
        (-1, -1, -1)
        """
        inward, outward = self._numbers_inward(a), self._numbers_inward(b)
        # both end at the world; their common part is not between the bodies
        shared = 0
        for i, j in zip(reversed(inward), reversed(outward), strict=False):
            if i != j:
                break
            shared += 1
        ancestor = inward[-shared]
        inward, outward = inward[:-shared], outward[:-shared][::-1]
        return BodyPath(
            bodies=tuple(self.bodies[i] for i in (*inward, ancestor, *outward)),
            joints=tuple(self.joint_of_body[i] for i in (*inward, *outward)),
            directions=(
                *(1 if self.reversed[i] else -1 for i in inward),
                *(-1 if self.reversed[i] else 1 for i in outward),
            ),
            ancestor=self.bodies[ancestor],
        )

    def path_to_world(self, body: str) -> BodyPath:
        """Return the bodies and joints from a body, the first, to the world; see `path`."""
        return self.path(body, WORLD)

    def _numbers_inward(self, body: str) -> list[int]:
        """Return the numbers of a body, its parent and so on, 0 last."""
        numbers = [self.number(body)]
        while numbers[-1] != 0:
            numbers.append(self.parent[numbers[-1]])
        return numbers
