"""The spanning tree of the user's bodies: parents, and joints to them."""

from __future__ import annotations

import functools
from typing import Any, final

import attrs
import numpy as np
from numpy.typing import NDArray

from mbkit.systems.memory.arrays import SystemArrays

Integers = NDArray[np.int64]


def _frozen(values: Any) -> Integers:
    array = np.array(values, dtype=np.int64)
    array.flags.writeable = False
    return array


@final
@attrs.frozen(eq=False, slots=False)
class BodyTree:
    """Parents, joints and velocities of the user's bodies, all in the order of `body_names`.

    Bodies stand in the order in which they were added, so that a parent may come after its child.

    Attributes
    ----------
    parents : ndarray of int, shape (bodies + 1,)
        Row of the parent; -1 for the world.
    joints : tuple of str
        Name of the joint to the parent; "" for the world.
    first_velocity, num_velocities : ndarray of int, shape (bodies + 1,)
        Entries of v of that joint.
    levels : tuple of ndarray of int
        Rows by their distance from the world in joints: the world alone, its children, theirs...
    body_of_row : ndarray of int, shape (rows,)
        For each row of the kernels' model, the body on its joint.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("door")
    >>> box = mb.SpatialInertia.box(1.0, size=(0.8, 2.0, 0.05))
    >>> handle, leaf = mech.add_body(mb.Body("handle", box)), mech.add_body(mb.Body("leaf", box))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, leaf)
    >>> latch = mech.add_joint(mb.RevoluteJoint("latch", axis=(1, 0, 0)), leaf, handle)
    >>> mech.assemble().tree.parents
    array([-1,  2,  0])
    """

    parents: Integers = attrs.field(converter=_frozen)
    joints: tuple[str, ...]
    first_velocity: Integers = attrs.field(converter=_frozen)
    num_velocities: Integers = attrs.field(converter=_frozen)
    levels: tuple[Integers, ...]
    body_of_row: Integers = attrs.field(converter=_frozen)

    @classmethod
    def of(
        cls,
        edges: dict[str, tuple[str, str]],
        velocities: dict[str, slice],
        arrays: SystemArrays,
    ) -> BodyTree:
        """Return the tree of bodies by numbers.

        `edges` has the parent of each body and the joint between them, bodies in the order of the
        system without the world; `velocities` the entries of v of each joint; `arrays` the rows of
        the kernels.
        """
        number = {name: k for k, name in enumerate(("world", *edges))}
        joints = [joint for _, joint in edges.values()]
        body_of_joint = {joint: number[body] for body, (_, joint) in edges.items()}
        parents = [-1, *(number[parent] for parent, _ in edges.values())]
        entries = [velocities[joint] for joint in joints]
        return cls(
            parents=parents,
            joints=("", *joints),
            first_velocity=[0, *(each.start for each in entries)],
            num_velocities=[0, *(each.stop - each.start for each in entries)],
            levels=_levels(parents),
            body_of_row=[0, *(body_of_joint[name] for name in arrays.joint_names[1:])],
        )

    @functools.cached_property
    def address(self) -> int:
        """Where kernels find `body_of_row`."""
        from mbkit.kernels.compile import array_address

        return array_address(self.body_of_row)

    @property
    def body_of_velocity(self) -> Integers:
        """For each velocity, the row of the body that its joint carries, shape (nv,)."""
        owner = np.zeros(int(self.num_velocities.sum()), dtype=np.int64)
        for body, first, count in zip(
            range(len(self.parents)), self.first_velocity, self.num_velocities, strict=True
        ):
            owner[first : first + count] = body
        return owner

    def paths(self) -> tuple[Integers, Integers]:
        """Return all pairs (i, j) with body j on the path from the world to body i, i included."""
        heads: list[Integers] = []
        ancestors: list[Integers] = []
        here = there = np.arange(1, len(self.parents))
        while here.size:
            heads.append(here)
            ancestors.append(there)
            up = self.parents[there]
            here, there = here[up > 0], up[up > 0]
        empty = np.zeros(0, dtype=np.int64)
        return np.concatenate([empty, *heads]), np.concatenate([empty, *ancestors])


def _levels(parents: list[int]) -> tuple[Integers, ...]:
    """Return the rows by their depth: support paths, of which each round adds the next half."""
    above = np.maximum(parents, 0)
    depths = (np.arange(len(parents)) > 0).astype(np.int64)
    while above.any():
        depths += depths[above]
        above = above[above]
    order = np.argsort(depths, kind="stable")
    ends = np.cumsum(np.bincount(depths))
    return tuple(_frozen(level) for level in np.split(order, ends[:-1]))
