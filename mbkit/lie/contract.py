"""The contract of a group's maps on arrays that have been checked, and the checks."""

from __future__ import annotations

import abc
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from mbkit.autodiff.marks import copied_when_traced
from mbkit.lie.arrays import FloatArray, checked


@copied_when_traced
class GroupMaps(abc.ABC):
    """The class attributes and the methods that a subclass of `Group` writes.

    Arguments are float64 arrays of the right shape, with any leading axes; elements given to
    `_log` and `_cay_inv` are of the group, those given to `_compose` have equal leading axes.
    Results are new arrays. Differentials are the spatial ones.
    """

    dimension: ClassVar[int]
    element_shape: ClassVar[tuple[int, ...]]

    @classmethod
    @abc.abstractmethod
    def _identity(cls) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _compose(cls, first: FloatArray, second: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _inverse(cls, element: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _adjoint(cls, element: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _bracket(cls, x: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _random(cls, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _require_members(cls, element: FloatArray, owner: str) -> None:
        """Raise GeometryError, in the name of `owner`, unless all elements are of the group."""

    @classmethod
    @abc.abstractmethod
    def _exp(cls, x: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _log(cls, element: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _dexp(cls, x: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _dexp_inv(cls, x: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _cay(cls, c: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _cay_inv(cls, element: FloatArray) -> FloatArray:
        """Return Cayley coordinates; not finite at rotations by pi."""

    @classmethod
    @abc.abstractmethod
    def _dcay(cls, c: FloatArray) -> FloatArray: ...

    @classmethod
    @abc.abstractmethod
    def _dcay_inv(cls, c: FloatArray) -> FloatArray: ...

    @classmethod
    def _vector(cls, x: npt.ArrayLike, function: str) -> FloatArray:
        return checked(x, (cls.dimension,), f"{cls.__name__}.{function}")

    @classmethod
    def _element(cls, element: npt.ArrayLike, function: str) -> FloatArray:
        return checked(element, cls.element_shape, f"{cls.__name__}.{function}")

    @classmethod
    def _member(cls, element: npt.ArrayLike, function: str) -> FloatArray:
        array = cls._element(element, function)
        cls._require_members(array, f"{cls.__name__}.{function}")
        return array
