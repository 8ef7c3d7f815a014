"""The way from one body to another through the spanning tree."""

from __future__ import annotations

from typing import final

import attrs


@final
@attrs.frozen
class BodyPath:
    """The bodies and joints between two bodies, which stand in the tree's only way between them.

    Made by `Topology.path`. With the pose T(q) of each joint between its frames, the pose of the
    last body in the first is the product along the path of ``S_pred T S_succ^-1``, inverted where
    the direction is -1.

    Attributes
    ----------
    bodies : tuple of str
        Names, both ends included; one more than there are joints.
    joints : tuple of str
        ``joints[k]`` connects ``bodies[k]`` and ``bodies[k + 1]``.
    directions : tuple of int
        1 where the step goes from that joint's predecessor to its successor, -1 where it goes back.
    ancestor : str
        The body of the path next to the world: up to it the path goes inwards, then outwards.

    Examples
    --------
    >>> path = BodyPath(("arm", "base", "leg"), ("shoulder", "hip"), (-1, 1), "base")
    >>> path.reversed()
    BodyPath(bodies=('leg', 'base', 'arm'), joints=('hip', 'shoulder'), directions=(-1, 1),
    ancestor='base')
    >>> len(path)
    2
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    directions: tuple[int, ...]
    ancestor: str

    def __len__(self) -> int:
        """Return the number of joints."""
        return len(self.joints)

    def reversed(self) -> BodyPath:
        """Return the way back.

        Returns
        -------
        BodyPath
            The same bodies and joints in the opposite order, each joint the other way.
        """
        return BodyPath(
            bodies=self.bodies[::-1],
            joints=self.joints[::-1],
            directions=tuple(-direction for direction in self.directions[::-1]),
            ancestor=self.ancestor,
        )
