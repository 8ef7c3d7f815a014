"""numpy and math, as functions see them while they are traced."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.autodiff.rules import ELEMENTARY
from mbkit.autodiff.tape import CannotTraceError, Traced, add, apply, multiply, number_of

__all__ = ["MATH", "NUMPY", "Float", "holds_traced", "promoted", "stand_in"]


class _FloatType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, float | Traced)


class Float(float, metaclass=_FloatType):
    """`float`, which returns traced numbers unchanged."""

    def __new__(cls, value: Any = 0.0) -> Any:
        """Return a float, or the traced number."""
        if holds_traced(value):
            return number_of(value)
        return float(value)


def holds_traced(value: Any) -> bool:
    """Whether there is a traced number in a scalar, an array or nested sequences."""
    if isinstance(value, Traced):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(each, Traced) for each in value.flat)
    if isinstance(value, list | tuple):
        return any(map(holds_traced, value))
    return isinstance(value, dict) and any(map(holds_traced, value.values()))


def promoted(value: Any) -> Any:
    """Return arrays of floats as arrays of objects, into which traced numbers can be written."""
    return _converted(value, "f", object)


def _plain(value: Any) -> Any:
    """Return arrays of objects as arrays of floats; there is no traced number in them."""
    return _converted(value, "O", float)


def _converted(value: Any, kind: str, target: type) -> Any:
    """Return arrays of a kind, also those in tuples and lists, with entries of another type."""
    if isinstance(value, np.ndarray) and value.dtype.kind == kind:
        return value.astype(target)
    if type(value) is tuple:
        return tuple(_converted(each, kind, target) for each in value)
    if isinstance(value, list):
        return [_converted(each, kind, target) for each in value]
    return value


def stand_in(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function of numpy for arguments that may hold traced numbers.

    It treats them as numpy treats arrays of objects. Where that fails, the function has no
    derivative here, and the message has its name.
    """

    def call(*arguments: Any, **options: Any) -> Any:
        if not (holds_traced(arguments) or holds_traced(options)):
            return promoted(function(*map(_plain, arguments), **options))
        if options.get("dtype") in (float, Float, np.float64):
            del options["dtype"]
        try:
            return promoted(function(*arguments, **options))
        except Exception as error:
            raise CannotTraceError(f"{name} has no derivative here") from error

    call.__name__ = call.__qualname__ = name
    return call


def _elementwise(function: Callable[..., Any], count: int, plain: Callable[..., Any]) -> Any:
    over = np.frompyfunc(function, count, 1)

    def call(*arguments: Any, **options: Any) -> Any:
        if not holds_traced(arguments):
            return promoted(plain(*map(_plain, arguments), **options))
        if options:
            raise CannotTraceError(f"{plain.__name__} with {', '.join(options)}=")
        return over(*arguments)

    call.__name__ = plain.__name__
    return call


def _sinc(x: Any) -> Any:
    """Return sin(pi x) / (pi x), smooth where it is one."""
    z = (math.pi * x) * (math.pi * x)
    if not z < 1.0:
        return apply("sin", math.pi * x) / (math.pi * x)
    value: Any = 0.0
    for j in range(9, -1, -1):
        value = value * z + (-1) ** j / math.factorial(2 * j + 1)
    return value


def _step(x: Any, half: Any) -> Any:
    return 1.0 if x > 0.0 else 0.0 if x < 0.0 else half


def _of(name: str) -> Callable[[Any], Any]:
    return lambda x: apply(name, number_of(x))


def _hypot(*parts: Any) -> Any:
    total: Any = 0.0
    for part in map(number_of, parts):
        total = add(total, multiply(part, part))
    return apply("sqrt", total)


def _is_close(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    return bool(abs(a - b) <= atol + rtol * abs(b))


def _all_close(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    pairs = np.broadcast(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
    return all(_is_close(x, y, rtol, atol) for x, y in pairs)


def _is_finite(x: Any) -> bool:
    return math.isfinite(x.value if isinstance(x, Traced) else x)


def _is_nan(x: Any) -> bool:
    return math.isnan(x.value if isinstance(x, Traced) else x)


def _logarithm(x: Any, base: Any = math.e) -> Any:
    value = apply("log", number_of(x))
    return value if base == math.e else value / math.log(base)


_ONE: dict[str, Callable[..., Any]] = {name: _of(name) for name in ELEMENTARY}
_ONE.update(
    abs=abs,
    square=lambda x: x * x,
    reciprocal=lambda x: 1.0 / x,
    exp2=lambda x: 2.0**x,
    log2=lambda x: _logarithm(x, 2.0),
    log10=lambda x: _logarithm(x, 10.0),
    deg2rad=lambda x: x * (math.pi / 180.0),
    rad2deg=lambda x: x * (180.0 / math.pi),
    sinc=_sinc,
    sign=lambda x: 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0,
    isfinite=_is_finite,
    isnan=_is_nan,
)
_TWO: dict[str, Callable[..., Any]] = {
    "arctan2": lambda y, x: apply("arctan2", number_of(y), number_of(x)),
    "hypot": _hypot,
    "heaviside": _step,
    "maximum": lambda a, b: a if a >= b else b,
    "minimum": lambda a, b: a if a <= b else b,
}
_ALIASES = {
    "absolute": "abs", "fabs": "abs", "radians": "deg2rad", "degrees": "rad2deg",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "atan2": "arctan2",
}  # fmt: skip


# --------------------------------------------------------------------------- linear algebra


def _eliminate(A: Any, B: Any) -> tuple[Any, Any]:
    """Return A^-1 B and det A, by elimination with the pivots that the values choose."""
    A, B = np.array(A, dtype=object), np.array(B, dtype=object)
    n = len(A)
    determinant: Any = 1.0
    for k in range(n):
        pivot = k + int(np.argmax([abs(float(getattr(x, "value", x))) for x in A[k:, k]]))
        if pivot != k:
            A[[k, pivot]], B[[k, pivot]] = A[[pivot, k]], B[[pivot, k]]
            determinant = -determinant
        determinant = determinant * A[k, k]
        B[k] = B[k] / A[k, k]
        A[k] = A[k] / A[k, k]
        for i in range(n):
            if i != k:
                factor = A[i, k]
                B[i] = B[i] - factor * B[k]
                A[i] = A[i] - factor * A[k]
    return B, determinant


def _norm(x: Any, ord: Any = None, axis: Any = None) -> Any:  # noqa: A002 - numpy's name
    fits = ord is None or (ord == 2 and np.ndim(x) == 1) or (ord == "fro" and np.ndim(x) == 2)
    if not fits or axis is not None:
        raise CannotTraceError(
            f"np.linalg.norm with ord={ord!r}, axis={axis!r} of {np.ndim(x)} dimensions"
        )
    return _hypot(*np.ravel(x))


_LINALG: dict[str, Callable[..., Any]] = {
    "norm": _norm,
    "inv": lambda A: _eliminate(A, np.eye(len(A)))[0],
    "solve": lambda A, b: _eliminate(A, b)[0],
    "det": lambda A: _eliminate(A, np.zeros((len(A), 1)))[1],
}


# ------------------------------------------------------------------------------- namespaces


class Namespace:
    """Replacement of a module: functions of its own, and the module's functions, adapted."""

    def __init__(self, module: types.ModuleType, name: str, own: dict[str, Any]) -> None:
        self._module = module
        self._name = name
        self._own = own

    def __getattr__(self, name: str) -> Any:
        """Return the function of this name."""
        own = self._own.get(name)
        if own is not None:
            return own
        value = getattr(self._module, name)
        if isinstance(value, types.ModuleType):
            own = {"linalg": _linalg()}.get(name, {}) if self._module is np else {}
            return Namespace(value, f"{self._name}.{name}", own)
        if callable(value) and not isinstance(value, type):
            return stand_in(value, f"{self._name}.{name}")
        return promoted(value)


def _either(name: str, own: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        if holds_traced(arguments):
            return own(*arguments, **options)
        return promoted(plain(*map(_plain, arguments), **options))

    call.__name__ = name
    return call


def _linalg() -> dict[str, Any]:
    return {name: _either(name, own, getattr(np.linalg, name)) for name, own in _LINALG.items()}


def _numpy() -> dict[str, Any]:
    own: dict[str, Any] = {}
    for name, function in _ONE.items():
        own[name] = _elementwise(function, 1, getattr(np, name))
    own |= {name: _elementwise(f, 2, getattr(np, name)) for name, f in _TWO.items()}
    own |= {alias: own[name] for alias, name in _ALIASES.items() if hasattr(np, alias)}
    own["isclose"] = _either("isclose", _is_close, np.isclose)
    own["allclose"] = _either("allclose", _all_close, np.allclose)
    own |= {"float64": Float, "double": Float}
    return own


def _math_function(name: str) -> Callable[..., Any]:
    plain: Any = getattr(math, name)

    def refuse(*_arguments: Any, **_options: Any) -> Any:
        raise CannotTraceError(f"math.{name} has no derivative here")

    special = {"hypot": _hypot, "log": _logarithm, "isclose": _is_close, "pow": pow}
    key = _ALIASES.get(name, name)
    own: Any = special.get(name) or _ONE.get(key) or _TWO.get(key) or refuse
    return _either(name, own, plain)


def _math() -> dict[str, Any]:
    return {
        name: _math_function(name)
        for name in dir(math)
        if not name.startswith("_") and callable(getattr(math, name))
    }


NUMPY = Namespace(np, "np", _numpy())
MATH = Namespace(math, "math", _math())
