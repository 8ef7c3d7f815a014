"""The group of rigid body motions."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar, final

import numpy as np

from mbkit.autodiff.marks import traced_as, without
from mbkit.errors import GeometryError
from mbkit.lie.arrays import (
    MEMBERSHIP_TOLERANCE,
    FloatArray,
    batch_of,
    blocks,
    hat,
    index_of,
    pose,
    rows_of,
)
from mbkit.lie.compiled import CompiledGroup
from mbkit.lie.so3 import SO3, why_no_rotation

POSE = (4, 4)


# Its exponential, logarithm and their differentials are in mbkit/kernels/lie/se3_arrays.py, those
# of single poses within kernels in mbkit/kernels/lie/se3.py.


@final
class SE3(CompiledGroup):
    """Poses C = [[R, r], [0, 1]] (4, 4) and screw coordinates X = (x, y), angular first.

    V^b = (w, v) is the body-fixed twist, with v the velocity of the body's origin, V^s the spatial
    twist. Cayley coordinates are the extended Rodrigues parameters (c, d) of the 4x4 Cayley map,
    cay X = (I - X^)^-1 (I + X^). `Group` documents each function.

    Examples
    --------
    A screw along z: half a turn and one metre up.

    >>> import numpy as np
    >>> from mbkit.lie import SE3
    >>> C = SE3.exp([0.0, 0.0, np.pi, 0.0, 0.0, 1.0])
    >>> np.round(C @ [1.0, 0.0, 0.0, 1.0], 12)
    array([-1.,  0.,  1.,  1.])
    """

    dimension: ClassVar[int] = 6
    element_shape: ClassVar[tuple[int, ...]] = POSE

    @classmethod
    def _kernels(cls) -> ModuleType:
        from mbkit.kernels.lie import se3_arrays

        return se3_arrays

    @classmethod
    def _identity(cls) -> FloatArray:
        return np.eye(4)

    @classmethod
    def _compose(cls, first: FloatArray, second: FloatArray) -> FloatArray:
        return first @ second

    @classmethod
    def _inverse(cls, element: FloatArray) -> FloatArray:
        R_back = np.swapaxes(element[..., :3, :3], -1, -2)
        # not by matmul, whose roundings depend on how the arrays lie in memory
        return pose(R_back, -(R_back * element[..., None, :3, 3]).sum(axis=-1))

    @classmethod
    def _adjoint(cls, element: FloatArray) -> FloatArray:
        R = element[..., :3, :3]
        return blocks(R, hat(element[..., :3, 3]) @ R, R)

    @classmethod
    def _bracket(cls, x: FloatArray) -> FloatArray:
        angular = hat(x[..., :3])
        return blocks(angular, hat(x[..., 3:]), angular)

    @classmethod
    def _random(cls, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return pose(SO3.random(rng, shape), rng.standard_normal((*shape, 3)))

    @classmethod
    def _require_members(cls, element: FloatArray, owner: str) -> None:
        require_poses(element, owner)


@traced_as(without)
def require_poses(C: FloatArray, owner: str) -> None:
    """Raise GeometryError, in the name of `owner`, unless all matrices (..., 4, 4) are poses."""
    from mbkit.kernels.lie import se3_arrays

    rows = rows_of(C, POSE)
    bad = se3_arrays.first_non_pose(rows, MEMBERSHIP_TOLERANCE)
    if bad < rows.shape[0]:
        raise GeometryError(
            f"{owner} takes poses [[R, r], [0, 1]] with R R^T = I to {MEMBERSHIP_TOLERANCE:g} and "
            f"det R = 1; got {why_no_rotation(rows[bad, :3, :3])}, last row "
            f"{rows[bad, 3].tolist()}{index_of(bad, batch_of(C, POSE))}. "
            f"Orthonormalise the rotation first."
        )
