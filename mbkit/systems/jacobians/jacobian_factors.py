"""Factors of the system Jacobian: forms of screws, recursions and blocks along the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError, suggestion
from mbkit.lie import SE3
from mbkit.representations import BodyFixed, Hybrid, Mixed, Representation, Spatial
from mbkit.representations.arguments import transposed
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.memory.body_tree import BodyTree, Integers

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Recursions", "screw_maps", "sparse_blocks"]

_FORMS: dict[str, Representation] = {
    form.name: form for form in (BodyFixed(), Spatial(), Hybrid(), Mixed())
}
_REFERENCE = "reference"


def screw_maps(
    system: System, C: FloatArray, representation: Representation, screws: str | None
) -> tuple[str, FloatArray, FloatArray]:
    """Return the name of a form of screws, and the maps to it from body-fixed ones and back.

    C (n, 4, 4) are the poses of the bodies, without the world, and the maps are (n, 6, 6). Forms
    and their default are those of `System.system_jacobian`.
    """
    word = representation.name if screws is None else screws
    words = dict.fromkeys((*_FORMS, _REFERENCE, representation.name))
    if not (isinstance(word, str) and word in words):
        raise UsageError(
            f"system_jacobian: screws cannot be written as {word!r}; {suggestion(word, words)}"
        )
    if word == _REFERENCE:
        rest = system.poses(system.reference_configuration())[1:]
        return word, SE3.Ad(rest), SE3.Ad(SE3.inverse(rest))
    form = representation if word == representation.name else _FORMS[word]
    return word, form.twist_map(C), form.inverse_twist_map(C)


def between(to_form: FloatArray, from_form: FloatArray, *, same: bool) -> FloatArray:
    """Return the product of two maps (n, 6, 6), exactly the identity where they undo each other."""
    if same:
        return np.broadcast_to(np.eye(6), to_form.shape)
    return np.asarray(to_form @ from_form)


@final
@attrs.frozen(eq=False)
class Recursions:
    """Products with I - T, its inverse and their transposes, level by level of the tree.

    T has the block P_i at (i, parent of i) and no other. Vectors have the shape (n, 6, k): k
    vectors of six numbers for each body but the world.
    """

    tree: BodyTree  # parents of the bodies
    transport: FloatArray  # (n, 6, 6): p_i; unused for children of the world
    # the rows of T that have a block: the bodies whose parent is not the world
    moving: Integers = attrs.field(init=False)

    @moving.default
    def _moving(self) -> Integers:
        return np.flatnonzero(self.tree.parents > 0)

    def outward(self, twists: FloatArray) -> FloatArray:
        """Return (I - T)^-1 V: each level of the tree adds the values of its parents."""
        result = twists.copy()
        for rows in self.tree.levels[2:]:
            parents = self.tree.parents[rows]
            result[rows - 1] += self.transport[rows - 1] @ result[parents - 1]
        return result

    def inward(self, wrenches: FloatArray) -> FloatArray:
        """Return (I - T)^-T W: each level of the tree gives to its parents."""
        result = wrenches.copy()
        for rows in self.tree.levels[:1:-1]:
            parents = self.tree.parents[rows]
            given = transposed(self.transport[rows - 1]) @ result[rows - 1]
            np.add.at(result, parents - 1, given)
        return result

    def differences(self, twists: FloatArray) -> FloatArray:
        """Return (I - T) V: the difference of each body from its parent."""
        rows = self.moving
        result = twists.copy()
        result[rows - 1] -= self.transport[rows - 1] @ twists[self.tree.parents[rows] - 1]
        return result

    def differences_back(self, wrenches: FloatArray) -> FloatArray:
        """Return (I - T)^T W."""
        rows = self.moving
        result = wrenches.copy()
        given = transposed(self.transport[rows - 1]) @ wrenches[rows - 1]
        np.subtract.at(result, self.tree.parents[rows] - 1, given)
        return result


def sparse_blocks(blocks: FloatArray, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    """Return a sparse matrix of dense blocks (m, height, width) whose corners are given."""
    from scipy.sparse import csr_array

    height, width = blocks.shape[1:]
    i = np.asarray(rows)[:, None, None] + np.arange(height)[:, None]
    j = np.asarray(columns)[:, None, None] + np.arange(width)
    i, j = np.broadcast_to(i, blocks.shape), np.broadcast_to(j, blocks.shape)
    return csr_array((blocks.ravel(), (i.ravel(), j.ravel())), shape=shape)
