"""Trees of bodies and joints, in which connections are found in nearly constant time.

networkx does the same; importing it takes a third of the imports of `mbkit simulate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Forest:
    """Bodies, and joints between them that close no loop.

    Examples
    --------
    >>> forest = Forest(["world", "a", "b", "c"])
    >>> forest.add("hinge", "a", "b")
    >>> forest.connects("b", "a"), forest.connects("world", "a")
    (True, False)
    >>> forest.add("rail", "world", "b")
    >>> list(forest.walk("world"))
    [('world', 'b', 'rail'), ('b', 'a', 'hinge')]
    >>> forest.path("a", "world")
    ['hinge', 'rail']
    >>> list(forest.groups())
    [['world', 'b', 'a'], ['c']]
    """

    def __init__(self, bodies: Iterable[str]) -> None:
        self._neighbours: dict[str, list[tuple[str, str]]] = {body: [] for body in bodies}
        self._above = {body: body for body in self._neighbours}  # towards one body of the group
        self._size = dict.fromkeys(self._neighbours, 1)

    def _chief(self, body: str) -> str:
        """Return the body that stands for a group; the way to it is halved."""
        above = self._above
        while above[body] != body:
            above[body] = body = above[above[body]]
        return body

    def connects(self, first: str, second: str) -> bool:
        """Whether joints connect two bodies."""
        return self._chief(first) == self._chief(second)

    def add(self, joint: str, first: str, second: str) -> None:
        """Add a joint between two bodies that are not connected."""
        self._neighbours[first].append((second, joint))
        self._neighbours[second].append((first, joint))
        small, large = sorted((self._chief(first), self._chief(second)), key=self._size.__getitem__)
        self._above[small] = large
        self._size[large] += self._size[small]

    def walk(self, start: str) -> Iterator[tuple[str, str, str]]:
        """Return (from, to, joint) of each step outwards, in depth, in the order of adding."""
        ahead = [(start, body, joint) for body, joint in reversed(self._neighbours[start])]
        while ahead:
            before, body, _ = step = ahead.pop()
            yield step
            further = reversed(self._neighbours[body])
            ahead += [(body, other, by) for other, by in further if other != before]

    def path(self, start: str, end: str) -> list[str]:
        """Return the joints between two bodies that are connected."""
        steps = {body: (before, joint) for before, body, joint in self.walk(end)}
        joints = []
        while start != end:
            start, joint = steps[start]
            joints.append(joint)
        return joints

    def groups(self) -> Iterator[list[str]]:
        """Return the bodies of each group, by the first of them in the order of adding."""
        seen: set[str] = set()
        for first in self._neighbours:
            if first not in seen:
                group = [first, *(body for _, body, _ in self.walk(first))]
                seen.update(group)
                yield group
