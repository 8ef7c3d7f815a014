"""Groups whose maps are kernels that run over rows."""

from __future__ import annotations

import abc
from types import ModuleType

from mbkit.lie.arrays import FloatArray, run
from mbkit.lie.group import Group


class CompiledGroup(Group):
    """A group with a module of kernels, one for each map, that take rows and write rows.

    The modules are imported at the first call, which compiles the kernels where no cache has them.
    """

    @classmethod
    @abc.abstractmethod
    def _kernels(cls) -> ModuleType: ...

    @classmethod
    def _exp(cls, x: FloatArray) -> FloatArray:
        return run(cls._kernels().exp, x, (cls.dimension,), cls.element_shape)

    @classmethod
    def _log(cls, element: FloatArray) -> FloatArray:
        return run(cls._kernels().log, element, cls.element_shape, (cls.dimension,))

    @classmethod
    def _dexp(cls, x: FloatArray) -> FloatArray:
        return run(cls._kernels().dexp, x, (cls.dimension,), (cls.dimension, cls.dimension))

    @classmethod
    def _dexp_inv(cls, x: FloatArray) -> FloatArray:
        return run(cls._kernels().dexp_inv, x, (cls.dimension,), (cls.dimension, cls.dimension))

    @classmethod
    def _cay(cls, c: FloatArray) -> FloatArray:
        return run(cls._kernels().cay, c, (cls.dimension,), cls.element_shape)

    @classmethod
    def _cay_inv(cls, element: FloatArray) -> FloatArray:
        return run(cls._kernels().cay_inv, element, cls.element_shape, (cls.dimension,))

    @classmethod
    def _dcay(cls, c: FloatArray) -> FloatArray:
        return run(cls._kernels().dcay, c, (cls.dimension,), (cls.dimension, cls.dimension))

    @classmethod
    def _dcay_inv(cls, c: FloatArray) -> FloatArray:
        return run(cls._kernels().dcay_inv, c, (cls.dimension,), (cls.dimension, cls.dimension))
