"""The direct product of rotations and translations."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from mbkit.lie.arrays import FloatArray, blocks, pose, run
from mbkit.lie.group import Group
from mbkit.lie.se3 import require_poses
from mbkit.lie.so3 import SO3


@final
class SO3xR3(Group):
    """Pairs of a rotation and a translation with the law (R1 R2, r1 + r2).

    Elements are stored as poses are, [[R, r], [0, 1]], but the law is not their matrix product.
    Vectors are (x, r): rotation vector, or Rodrigues parameters, and translation. V^b =
    (w^b, rdot) is what Mueller calls the mixed twist, V^s = (w^s, rdot) the hybrid one. Every map
    acts on the two factors by itself, Mueller (40). `Group` documents each function.

    Examples
    --------
    >>> import numpy as np
    >>> from mbkit.lie import SO3xR3
    >>> C = SO3xR3.exp([0.0, 0.0, np.pi, 1.0, 2.0, 3.0])
    >>> SO3xR3.compose(C, C)[:3, 3]
    array([2., 4., 6.])
    """

    dimension: ClassVar[int] = 6
    element_shape: ClassVar[tuple[int, ...]] = (4, 4)

    @classmethod
    def _identity(cls) -> FloatArray:
        return np.eye(4)

    @classmethod
    def _compose(cls, first: FloatArray, second: FloatArray) -> FloatArray:
        return pose(
            first[..., :3, :3] @ second[..., :3, :3], first[..., :3, 3] + second[..., :3, 3]
        )

    @classmethod
    def _inverse(cls, element: FloatArray) -> FloatArray:
        return pose(np.swapaxes(element[..., :3, :3], -1, -2), -element[..., :3, 3])

    @classmethod
    def _adjoint(cls, element: FloatArray) -> FloatArray:
        return _diagonal(element[..., :3, :3], np.eye(3))

    @classmethod
    def _bracket(cls, x: FloatArray) -> FloatArray:
        return _diagonal(SO3.ad(x[..., :3]), np.zeros((3, 3)))

    @classmethod
    def _random(cls, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return pose(SO3.random(rng, shape), rng.standard_normal((*shape, 3)))

    @classmethod
    def _require_members(cls, element: FloatArray, owner: str) -> None:
        require_poses(element, owner)

    @classmethod
    def _exp(cls, x: FloatArray) -> FloatArray:
        return pose(SO3.exp(x[..., :3]), x[..., 3:])

    @classmethod
    def _log(cls, element: FloatArray) -> FloatArray:
        return np.concatenate([SO3.log(element[..., :3, :3]), element[..., :3, 3]], axis=-1)

    @classmethod
    def _dexp(cls, x: FloatArray) -> FloatArray:
        return _diagonal(SO3.dexp_spatial(x[..., :3]), np.eye(3))

    @classmethod
    def _dexp_inv(cls, x: FloatArray) -> FloatArray:
        return _diagonal(SO3.dexp_spatial_inv(x[..., :3]), np.eye(3))

    @classmethod
    def _cay(cls, c: FloatArray) -> FloatArray:
        return pose(SO3.cay(c[..., :3]), c[..., 3:])

    @classmethod
    def _cay_inv(cls, element: FloatArray) -> FloatArray:
        from mbkit.kernels.lie import so3_arrays

        c = run(so3_arrays.cay_inv, element[..., :3, :3], (3, 3), (3,))
        return np.concatenate([c, element[..., :3, 3]], axis=-1)

    @classmethod
    def _dcay(cls, c: FloatArray) -> FloatArray:
        return _diagonal(SO3.dcay_spatial(c[..., :3]), np.eye(3))

    @classmethod
    def _dcay_inv(cls, c: FloatArray) -> FloatArray:
        return _diagonal(SO3.dcay_spatial_inv(c[..., :3]), np.eye(3))


def _diagonal(rotation: FloatArray, translation: FloatArray) -> FloatArray:
    return blocks(rotation, np.zeros((3, 3)), translation)
