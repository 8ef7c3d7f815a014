"""The group of unit quaternions."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from mbkit.errors import GeometryError
from mbkit.lie.arrays import (
    MEMBERSHIP_TOLERANCE,
    FloatArray,
    batch_of,
    checked,
    hat,
    index_of,
    rows_of,
    run,
)
from mbkit.lie.compiled import CompiledGroup
from mbkit.lie.so3 import MATRIX, QUATERNION, random_quaternions, require_rotations


@final
class UnitQuaternion(CompiledGroup):
    """Unit quaternions q = (w, x, y, z), scalar first, and rotation vectors (3,).

    The algebra is scaled so that exp(x) turns by the vector x; then velocities are angular
    velocities, and all differentials are those of SO3. ``Ad(q)`` is the rotation matrix. ``log``
    and ``cay_inv`` are those of the rotation: they are equal for q and -q. `Group` documents each
    function. (`mbkit.UnitQuaternion` is a choice of positions, of an `mbkit.AbsoluteJoint`.)

    Examples
    --------
    >>> import numpy as np
    >>> from mbkit.lie import UnitQuaternion
    >>> q = UnitQuaternion.exp([0.0, 0.0, np.pi])
    >>> np.round(q, 12)
    array([0., 0., 0., 1.])
    >>> np.round(UnitQuaternion.Ad(q) @ [1.0, 2.0, 3.0], 12)
    array([-1., -2.,  3.])
    >>> np.round(UnitQuaternion.log(-UnitQuaternion.exp([0.1, 0.2, 0.3])), 12)
    array([0.1, 0.2, 0.3])
    """

    dimension: ClassVar[int] = 3
    element_shape: ClassVar[tuple[int, ...]] = QUATERNION

    @classmethod
    def from_rotation(cls, rotation: npt.ArrayLike) -> FloatArray:
        """Return the unit quaternion with w >= 0 of a rotation matrix; `Ad` is the way back.

        Parameters
        ----------
        rotation : array_like, shape (..., 3, 3)
            Rotation matrices, to 1e-6.

        Returns
        -------
        ndarray, shape (..., 4)
            Unit quaternions, scalar first.

        Raises
        ------
        ShapeError
            If the last two axes are not (3, 3), or the numbers are not real.
        GeometryError
            If a matrix is no rotation.

        Examples
        --------
        >>> from mbkit.lie import UnitQuaternion
        >>> UnitQuaternion.from_rotation([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
        array([0., 1., 0., 0.])
        """
        from mbkit.kernels.lie import quaternion_arrays

        R = checked(rotation, MATRIX, f"{cls.__name__}.from_rotation")
        require_rotations(R, f"{cls.__name__}.from_rotation")
        return run(quaternion_arrays.from_rotation, R, MATRIX, QUATERNION)

    @classmethod
    def _kernels(cls) -> ModuleType:
        from mbkit.kernels.lie import quaternion_arrays

        return quaternion_arrays

    @classmethod
    def _identity(cls) -> FloatArray:
        return np.array([1.0, 0.0, 0.0, 0.0])

    @classmethod
    def _compose(cls, first: FloatArray, second: FloatArray) -> FloatArray:
        from mbkit.kernels.lie import quaternion_arrays

        out = np.empty((first.size // 4, 4))
        quaternion_arrays.product(rows_of(first, QUATERNION), rows_of(second, QUATERNION), out)
        return out.reshape(first.shape)

    @classmethod
    def _inverse(cls, element: FloatArray) -> FloatArray:
        conjugate = element.copy()
        conjugate[..., 1:] *= -1.0
        return conjugate

    @classmethod
    def _adjoint(cls, element: FloatArray) -> FloatArray:
        from mbkit.kernels.lie import quaternion_arrays

        return run(quaternion_arrays.rotation, element, QUATERNION, MATRIX)

    @classmethod
    def _bracket(cls, x: FloatArray) -> FloatArray:
        return hat(x)

    @classmethod
    def _random(cls, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return random_quaternions(rng, shape)

    @classmethod
    def _require_members(cls, element: FloatArray, owner: str) -> None:
        from mbkit.kernels.lie import quaternion_arrays

        rows = rows_of(element, QUATERNION)
        bad = quaternion_arrays.first_non_unit(rows, MEMBERSHIP_TOLERANCE)
        if bad < rows.shape[0]:
            raise GeometryError(
                f"{owner} takes unit quaternions, |q|^2 = 1 to {MEMBERSHIP_TOLERANCE:g}; got "
                f"|q|^2 = {float(rows[bad] @ rows[bad]):.6g}"
                f"{index_of(bad, batch_of(element, QUATERNION))}. Divide it by its norm first."
            )
