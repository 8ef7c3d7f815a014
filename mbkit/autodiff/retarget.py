"""Copies of functions in which numpy, and functions they call, take traced numbers.

A function finds `np` among the globals of its module. A copy of it finds a namespace there whose
arrays can hold traced numbers, and copies of the functions that it calls
(`mbkit.function_copies`). Nothing of the original is changed.
"""

from __future__ import annotations

import builtins
import enum
import functools
import inspect
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mbkit.autodiff.marks import COPIED, is_copied, stand_in_of
from mbkit.autodiff.namespaces import MATH, NUMPY, Float, holds_traced, promoted, stand_in
from mbkit.autodiff.rules import spline
from mbkit.autodiff.tape import CannotTraceError, Number, Traced, number_of
from mbkit.function_copies import ConvertedModule, copied_function

_MATH_FUNCTIONS = {id(getattr(math, name)): name for name in dir(math)}


def _distance_from_pole(_x: Any, z: Any) -> Any:
    return (2.0 * math.pi) ** 2 - z


def _dot_near_pole(x: Any, _z: Any, y: Any) -> Any:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def _quaternion_exp(x: Any) -> Any:
    """Return (cos(phi/2), 1/2 sinc(phi/2) x), smooth in x where the angle phi is zero."""
    z = 0.25 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    if z < 1.0:
        cosine = sinc = 0.0
        for j in range(9, -1, -1):
            cosine = cosine * z + (-1) ** j / math.factorial(2 * j)
            sinc = sinc * z + (-1) ** j / math.factorial(2 * j + 1)
    else:
        half = NUMPY.sqrt(z)
        cosine, sinc = NUMPY.cos(half), NUMPY.sin(half) / half
    return cosine, 0.5 * sinc * x[0], 0.5 * sinc * x[1], 0.5 * sinc * x[2]


def _entries_from(pointer: Any, count: int) -> Any:
    """Return the numbers behind a pointer moved on."""
    return pointer[count:]


#: Modules that have kernels for which something stands.
_WITH_STAND_INS = ("mbkit.kernels.lie.", "mbkit.kernels.compile", "mbkit.kernels.elementary")


@functools.cache
def _kernels() -> dict[types.FunctionType, Callable[..., Any]]:
    """Return the replacements of kernels, which take no traced numbers."""
    from mbkit.kernels import compile as door
    from mbkit.kernels import elementary
    from mbkit.kernels.lie import exact_products, quaternion

    stand_ins: list[tuple[Any, Callable[..., Any]]] = [
        # near its pole the inverse differential is computed by splitting numbers, for the last
        # digits; the form here is the same without
        (exact_products.distance_from_pole, _distance_from_pole),
        (exact_products.dot_near_pole, _dot_near_pole),
        (quaternion.quaternion_exp, _quaternion_exp),
        (door.pointer_after, _entries_from),
        (elementary.sin_cos, lambda x: (NUMPY.sin(x), NUMPY.cos(x))),
        (elementary.select, lambda condition, x, y: x if condition else y),
        (elementary.any_lane, bool),
        (elementary.all_lanes, bool),
        (elementary.limit_of, lambda x, doubles, singles: doubles),
    ]
    # of a helper, of an intrinsic, or of an uncompiled function
    python = ((inspect.unwrap(getattr(each, "py_func", each)), made) for each, made in stand_ins)
    return dict(python)


#: Derivatives of curves: more than tapes need, or zero.
_ORDERS = 6


def _derivatives(curve: Any) -> Iterator[Any]:
    """Give a curve and its derivatives, as many as are not zero."""
    yield curve
    for order in range(1, _ORDERS):
        try:
            yield curve.derivative(order)
        except ValueError:  # of a spline of this degree it is zero
            return


class _Curve:
    """A curve of `scipy.interpolate`, with its derivatives.

    ``entry(curves, order, component, x)`` writes it on a tape: `rules.spline`.
    """

    def __init__(self, curve: Any, entry: Callable[..., Any]) -> None:
        self._curve, self._entry = curve, entry
        self._orders = tuple(_derivatives(curve))

    def __call__(self, x: Any, *arguments: Any, **options: Any) -> Any:
        if not holds_traced(x):
            return promoted(self._curve(x, *arguments, **options))
        order = int(arguments[0] if arguments else options.pop("nu", 0))
        if options or len(arguments) > 1:
            raise CannotTraceError(f"{type(self._curve).__name__} with further arguments")
        x = number_of(x)
        shape = np.shape(self._orders[order](x.value))
        entries = np.empty(math.prod(shape), dtype=object)
        entries[:] = [self._entry(self._orders, order, k, x) for k in range(entries.size)]
        return entries.reshape(shape) if shape else entries[0]

    def derivative(self, order: int = 1) -> Any:
        """Return the derivative of the curve."""
        return _Curve(self._curve.derivative(order), self._entry)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._curve, name)


#: Methods of a class that a copy of it has no use for.
_LEFT_OUT = frozenset(
    f"__{name}__"
    for name in (
        "new", "init", "del", "init_subclass", "class_getitem", "subclasshook", "getattribute",
        "getattr", "setattr", "delattr", "dir", "reduce", "reduce_ex", "getstate", "setstate",
        "sizeof", "class", "attrs_post_init", "post_init", "set_name", "instancecheck",
        "subclasscheck", "slots", "module", "qualname", "doc", "name",
    )
) | {COPIED}  # fmt: skip


class _Shadow:
    """Stands for an object: methods that are copies, and the attributes of the object."""

    _original: Any
    _convert: Callable[[Any], Any]

    @property  # type: ignore[misc] # what isinstance asks for
    def __class__(self) -> Any:
        return type(self._original)

    def __getattr__(self, name: str) -> Any:
        return self._convert(getattr(self._original, name))


class Retargeting:
    """Copies of functions, classes and objects for traced numbers, each made once.

    Examples
    --------
    >>> from mbkit.autodiff.tape import Tape
    >>> def place(x):
    ...     T = np.eye(4)
    ...     T[0, 3] = np.sin(x)
    ...     return T
    >>> x = Tape().input("x", 0.5)
    >>> round(Retargeting().convert(place)(x)[0, 3].value, 6)
    0.479426
    """

    def __init__(self) -> None:
        self._functions: dict[int, Any] = {}
        self._classes: dict[int, Any] = {}
        self._objects: dict[int, Any] = {}
        self._kept: list[Any] = []  # or an id might come back
        self._builtins = {**vars(builtins), "float": Float, "__import__": self._import}

    def convert(self, value: Any) -> Any:
        """Return the replacement of a value; the value itself where it needs none."""
        if value is None or isinstance(value, Traced | str | bool | int | float):
            return value
        if isinstance(value, np.ndarray):
            return promoted(value)
        if isinstance(value, types.ModuleType):
            return self._module(value)
        kernel = getattr(value, "py_func", None)  # of numba, or of a kernel that is not compiled
        if isinstance(kernel, types.FunctionType):
            return self._function(kernel)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return getattr(self.convert(value.__self__), value.__name__, value)
        if isinstance(value, functools.partial):
            converted = (self.convert(each) for each in value.args)
            return functools.partial(self.convert(value.func), *converted, **value.keywords)
        if isinstance(value, type):
            return self._type(value)
        kinds = np.ufunc | types.BuiltinFunctionType | type(np.sum)  # a function, or its dispatcher
        if isinstance(value, kinds):
            return self._builtin(value)
        return self._object(value)

    # ------------------------------------------------------------------------------ functions

    def _module(self, module: types.ModuleType) -> Any:
        if module is np:
            return NUMPY
        if module is np.linalg:
            return NUMPY.linalg
        return MATH if module is math else ConvertedModule(module, self.convert)

    def _builtin(self, function: Any) -> Any:
        if id(function) in _MATH_FUNCTIONS:
            return getattr(MATH, _MATH_FUNCTIONS[id(function)])
        name = getattr(function, "__name__", "")
        for module, namespace in ((np, NUMPY), (np.linalg, NUMPY.linalg)):
            if getattr(module, name, None) is function:
                return getattr(namespace, name)
        return function

    def _function(self, function: types.FunctionType, cell: Any = None) -> Any:
        known = self._functions.get(id(function))
        if known is not None:
            return known
        module, name = function.__module__ or "", function.__name__
        package = module.partition(".")[0]
        marked = stand_in_of(function)
        if marked is None and module.startswith(_WITH_STAND_INS):
            marked = _kernels().get(function)
        made: Any
        if marked is not None:
            made = marked
        elif package == "numpy":
            holder = NUMPY.linalg if module.startswith("numpy.linalg") else NUMPY
            own = getattr(holder, name, None)
            made = stand_in(function, f"np.{name}") if own is None else own
        elif package in ("scipy", "numba"):
            made = stand_in(function, f"{module}.{name}")
        else:
            return self._copy(function, cell)
        self._keep(self._functions, function, made)
        return made

    def _copy(self, function: types.FunctionType, cell: Any) -> Any:
        keep = functools.partial(self._keep, self._functions)
        return copied_function(function, self.convert, self._builtins, keep, cell)

    def _import(self, name: str, *arguments: Any, **options: Any) -> Any:
        return self.convert(builtins.__import__(name, *arguments, **options))

    def _keep(self, known: dict[int, Any], original: Any, made: Any) -> None:
        known[id(original)] = made
        self._kept.append(original)

    # ------------------------------------------------------------------- classes and objects

    def _type(self, kind: type) -> Any:
        if kind in (float, np.float64):
            return Float
        return self._shadow_class(kind) if is_copied(kind) else kind

    def _shadow_class(self, kind: type) -> Any:
        """Return a class with copies of a class' functions, and of those of its bases."""
        if kind is object:
            return _Shadow
        known = self._classes.get(id(kind))
        if known is not None:
            return known
        bases = tuple(self._shadow_class(base) for base in kind.__bases__ if _is_of_python(base))
        made: Any = type(kind.__name__, bases or (_Shadow,), {})
        self._keep(self._classes, kind, made)
        for name, value in vars(kind).items():
            if name in _LEFT_OUT:
                continue
            if isinstance(value, types.FunctionType):
                setattr(made, name, self._function(value, made))
            elif isinstance(value, staticmethod | classmethod):
                function: Any = value.__func__
                copy = self._function(function, made)
                setattr(made, name, type(value)(copy))
            elif isinstance(value, property | functools.cached_property):
                self._copy_property(kind, made, name, value)
            elif isinstance(value, int | float | str | tuple):
                setattr(made, name, value)
        return made

    def _copy_property(self, kind: type, made: Any, name: str, value: Any) -> None:
        """Copy a property of somebody's class: it may compute with traced numbers.

        Those of mbkit do not: they are those of the original.
        """
        if (kind.__module__ or "").partition(".")[0] == "mbkit":
            setattr(made, name, property(lambda self: _Shadow.__getattr__(self, name)))
            return
        cached = isinstance(value, functools.cached_property)
        given: Any = (value.func,) if cached else (value.fget, value.fset)
        if all(each is None or isinstance(each, types.FunctionType) for each in given):
            copies = (each if each is None else self._function(each, made) for each in given)
            setattr(made, name, property(*copies))

    def _entry_of_curve(
        self, curves: tuple[Any, ...], order: int, component: int, x: Traced
    ) -> Number:
        """Return the traced entry of a curve, or of its derivative, at a traced number."""
        return spline(curves, order, component, x)

    def _container(self, value: Any) -> Any:
        """Return the same container with replacements of its entries."""
        if type(value) in (tuple, list):
            return type(value)(map(self.convert, value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.convert, value))
        if type(value) is dict:
            return {key: self.convert(each) for key, each in value.items()}
        return value

    def _object(self, value: Any) -> Any:
        kind = type(value)
        package = (kind.__module__ or "").partition(".")[0]
        if package == "scipy" and callable(value) and hasattr(value, "derivative"):
            return _Curve(value, self._entry_of_curve)
        wrapped = getattr(value, "__wrapped__", None)
        if callable(value) and isinstance(wrapped, types.FunctionType):  # such as one with a cache
            return self._function(wrapped)
        if isinstance(value, tuple | list | dict):
            return self._container(value)
        if package in ("numpy", "scipy", "builtins") or not _is_of_python(kind):
            return value
        if isinstance(value, enum.Enum | set):
            return value
        known = self._objects.get(id(value))
        if known is not None:
            return known
        made = object.__new__(self._shadow_class(kind))
        vars(made).update(_original=value, _convert=self.convert)
        self._keep(self._objects, value, made)
        # its own attributes come before those of its class
        own = {
            name: getattr(value, name) for name in _hidden(kind, type(made)) if hasattr(value, name)
        }
        own |= getattr(value, "__dict__", {})
        vars(made).update({name: self.convert(each) for name, each in own.items()})
        return made


def _hidden(kind: type, shadow: type) -> set[str]:
    """Return the slots that a constant of a base class has the name of, in the shadow's class."""
    slots = {name for base in kind.__mro__ for name in vars(base).get("__slots__", ())}
    return {name for name in slots if name not in _LEFT_OUT and hasattr(shadow, name)}


def _is_of_python(kind: type) -> bool:
    """Whether a class was made by a class statement."""
    return bool(kind.__flags__ & (1 << 9))  # Py_TPFLAGS_HEAPTYPE
