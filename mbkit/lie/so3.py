"""The group of rotation matrices."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar, final

import numpy as np

from mbkit.autodiff.marks import traced_as, without
from mbkit.errors import GeometryError
from mbkit.lie.arrays import MEMBERSHIP_TOLERANCE, FloatArray, batch_of, hat, index_of, rows_of, run
from mbkit.lie.compiled import CompiledGroup

MATRIX = (3, 3)
QUATERNION = (4,)


@final
class SO3(CompiledGroup):
    """Rotation matrices R (3, 3) and rotation vectors x (3,).

    V^b and V^s are the angular velocity in body and in space axes. Cayley coordinates are
    Rodrigues parameters. `Group` documents each function.

    Examples
    --------
    >>> import numpy as np
    >>> from mbkit.lie import SO3
    >>> quarter_turn = SO3.exp([0.0, 0.0, np.pi / 2])
    >>> SO3.log(quarter_turn @ quarter_turn) / np.pi
    array([0., 0., 1.])
    >>> SO3.exp(np.zeros((5, 2, 3))).shape
    (5, 2, 3, 3)
    """

    dimension: ClassVar[int] = 3
    element_shape: ClassVar[tuple[int, ...]] = MATRIX

    @classmethod
    def _kernels(cls) -> ModuleType:
        from mbkit.kernels.lie import so3_arrays

        return so3_arrays

    @classmethod
    def _identity(cls) -> FloatArray:
        return np.eye(3)

    @classmethod
    def _compose(cls, first: FloatArray, second: FloatArray) -> FloatArray:
        return first @ second

    @classmethod
    def _inverse(cls, element: FloatArray) -> FloatArray:
        return np.swapaxes(element, -1, -2).copy()

    @classmethod
    def _adjoint(cls, element: FloatArray) -> FloatArray:
        return element.copy()

    @classmethod
    def _bracket(cls, x: FloatArray) -> FloatArray:
        return hat(x)

    @classmethod
    def _random(cls, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        from mbkit.kernels.lie import quaternion_arrays

        return run(quaternion_arrays.rotation, random_quaternions(rng, shape), QUATERNION, MATRIX)

    @classmethod
    def _require_members(cls, element: FloatArray, owner: str) -> None:
        require_rotations(element, owner)


def random_quaternions(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Return unit quaternions of the given batch axes, all rotations equally likely."""
    # a normal distribution in four dimensions has no preferred direction
    q = rng.standard_normal((*shape, 4))
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


@traced_as(without)
def require_rotations(R: FloatArray, owner: str) -> None:
    """Raise GeometryError, in the name of `owner`, unless all of R (..., 3, 3) are rotations."""
    from mbkit.kernels.lie import so3_arrays

    rows = rows_of(R, MATRIX)
    bad = so3_arrays.first_non_rotation(rows, MEMBERSHIP_TOLERANCE)
    if bad < rows.shape[0]:
        raise GeometryError(
            f"{owner} takes rotation matrices, R R^T = I to {MEMBERSHIP_TOLERANCE:g} and "
            f"det R = 1; got {why_no_rotation(rows[bad])}{index_of(bad, batch_of(R, MATRIX))}. "
            f"Orthonormalise it first."
        )


def why_no_rotation(R: FloatArray) -> str:
    """Return why a matrix (3, 3) is no rotation, as text for a message."""
    with np.errstate(all="ignore"):
        error = float(np.max(np.abs(R @ R.T - np.eye(3))))
        determinant = float(np.linalg.det(R))
    return f"|R R^T - I| = {error:.3g}, det R = {determinant:.6g}"
