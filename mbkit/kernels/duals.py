"""Dual numbers: a value, and its derivatives along several directions, side by side in a register.

Kernels that are written for lanes (`mbkit.kernels.lanes`) are compiled for them from the same
source, and then give exact derivatives besides values: (x, x') (y, y') = (x y, x y' + x' y), and so
on. The type of an address determines the type of its numbers, as for lanes: `LanesAddress`. Unlike
lanes, they are compared by values, with one truth value: kernels branch as they do for doubles.

Source: A. Griewank, A. Walther, Evaluating Derivatives, SIAM 2008, chapter 3.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typeconv import Conversion  # type: ignore[attr-defined]
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_cast,
    overload,
    register_model,
    type_callable,
)

from mbkit.kernels.compile import compiled_address
from mbkit.kernels.elementary import function_of, value_of
from mbkit.kernels.lanes import ADDRESSES
from mbkit.kernels.simd.spread import spread

#: Directions of a dual number: with the value they fill a line of the cache.
DIRECTIONS = 7


class Dual(types.Type):
    """A value in the first lane, its derivatives in the others."""

    width = 1 + DIRECTIONS
    bitwidth = 64 * width
    directions = DIRECTIONS
    branches = True
    #: Forces, constraints and the joints that close loops have numbers with derivatives.
    addresses = ADDRESSES | {
        "force_table", "constraints", "joints", "parameters", "wrench_parameters",
        "configuration_from_pose_parameters",
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__(name=f"Dual{DIRECTIONS}")

    @staticmethod
    def sum_of_products(builder: Any, a: Any, b: Any) -> Any:
        """Return a_0 b_0 + a_1 b_1 + a_2 b_2."""
        first, *others = (_times(builder, *factors) for factors in zip(a, b, strict=True))
        for each in others:
            first = builder.fadd(first, each)
        return first

    @property
    def number(self) -> Dual:
        """The type itself, as of whatever lies at an address."""
        return self

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Doubles and integers are constants."""
        if isinstance(other, types.Float | types.Integer | types.Boolean):
            return Conversion.promote
        return None

    def unify(self, typingctx: Any, other: Any) -> Any:
        """A variable that has a double in one branch is dual in both."""
        return None if self.can_convert_from(typingctx, other) is None else self


#: All of them are alike.
DUAL = Dual()

_made: dict[tuple[Any, str], tuple[int, Any]] = {}


def address_with_dual_parameters(function: Any, form: str) -> int:
    """Return the address of a function compiled for dual numbers, where parameters are so, too.

    The form has one letter per argument: ``i`` int64, ``p`` pointer to dual numbers. Functions of
    joints of the tree have doubles as parameters: `mbkit.kernels.lanes.address_in_lanes`.
    """
    if (function, form) not in _made:
        kinds = [types.int64 if letter == "i" else types.CPointer(DUAL) for letter in form]
        _made[function, form] = compiled_address(function, kinds, Dual.__module__)
    return _made[function, form][0]


_VECTOR = ir.VectorType(ir.DoubleType(), Dual.width)
_FIRST = ir.IntType(32)(0)


@register_model(Dual)
class _DualModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Dual) -> None:
        super().__init__(manager, kind, _VECTOR)


# ------------------------------------------------------------------------------ parts of them


def _value(builder, x):
    return builder.extract_element(x, _FIRST)


def _with_value(builder, x, value):
    return builder.insert_element(x, value, _FIRST)


def _everywhere(builder, number):
    return spread(builder, number, Dual.width)


def _constant(builder, number):
    return _with_value(builder, ir.Constant(_VECTOR, [0.0] * Dual.width), number)


@lower_cast(types.Float, Dual)
@lower_cast(types.Integer, Dual)
@lower_cast(types.Boolean, Dual)
def _number_as_dual(context, builder, source, target, value):
    return _constant(builder, context.cast(builder, value, source, types.float64))


@lower_cast(types.IntegerLiteral, Dual)
def _literal_as_dual(context, builder, source, target, value):
    return _constant(builder, context.get_constant(types.float64, float(source.literal_value)))


@intrinsic
def along(typing_context, x, k):
    """The derivative along a direction, from 0 on."""

    def codegen(context, builder, signature, values):
        one = ir.Constant(values[1].type, 1)
        return builder.extract_element(values[0], builder.add(values[1], one))

    return types.float64(x, types.int64), codegen


@intrinsic
def moving(typing_context, value, k, rate):
    """The number with this value and this derivative along one direction, none along others."""

    def codegen(context, builder, signature, values):
        value, k, rate = values
        one = ir.Constant(k.type, 1)
        return builder.insert_element(_constant(builder, value), rate, builder.add(k, one))

    return DUAL(types.float64, types.int64, types.float64), codegen


# --------------------------------------------------------------------------------- operations


def _dual_among(kinds: Any) -> bool:
    numbers = Dual | types.Float | types.Integer
    return any(isinstance(kind, Dual) for kind in kinds) and all(
        isinstance(kind, numbers) for kind in kinds
    )


def _operation(compute: Any, *operators: Any) -> None:
    for symbol in operators:

        @type_callable(symbol)
        def type_of(context):
            return lambda a, b: DUAL(DUAL, DUAL) if _dual_among((a, b)) else None

        @lower_builtin(symbol, Dual, Dual)
        def lower(context, builder, signature, values):
            return compute(builder, *values)


def _comparison(sign: str, symbol: Any) -> None:
    @type_callable(symbol)
    def type_of(context):
        return lambda a, b: types.boolean(DUAL, DUAL) if _dual_among((a, b)) else None

    @lower_builtin(symbol, Dual, Dual)
    def lower(context, builder, signature, values):
        compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        return compare(sign, *(_value(builder, x) for x in values))


def _of_one(compute: Any, function: Any) -> None:
    @type_callable(function)
    def type_of(context):
        return lambda a: a(a) if isinstance(a, Dual) else None

    @lower_builtin(function, Dual)
    def lower(context, builder, signature, values):
        return compute(builder, values[0])


def _times(builder, x, y):
    """(x y, x y' + x' y)."""
    a, b = _value(builder, x), _value(builder, y)
    rates = builder.fmul(_everywhere(builder, a), y), builder.fmul(_everywhere(builder, b), x)
    return _with_value(builder, builder.fadd(*rates), builder.fmul(a, b))


def _over(builder, x, y):
    """(x / y, (x' - (x / y) y') / y)."""
    b = _value(builder, y)
    quotient = builder.fdiv(_value(builder, x), b)
    rest = builder.fsub(x, builder.fmul(_everywhere(builder, quotient), y))
    return _with_value(builder, builder.fdiv(rest, _everywhere(builder, b)), quotient)


def _absolute(builder, x):
    zero = ir.Constant(ir.DoubleType(), 0.0)
    is_negative = builder.fcmp_ordered("<", _value(builder, x), zero)
    return builder.select(is_negative, builder.fneg(x), x)


def _root(builder, x):
    """(r, x' / 2 r) with r the root; at zero the derivative is taken to be none.

    Lengths are roots of squares, and what they are multiplied with is zero there too.
    """
    form = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()])
    sqrt = cgutils.get_or_insert_function(builder.module, form, "llvm.sqrt.f64")
    root = builder.call(sqrt, [_value(builder, x)])
    zero = ir.Constant(ir.DoubleType(), 0.0)
    rates = builder.fdiv(x, _everywhere(builder, builder.fadd(root, root)))
    none = ir.Constant(_VECTOR, [0.0] * Dual.width)
    rates = builder.select(builder.fcmp_ordered("==", root, zero), none, rates)
    return _with_value(builder, rates, root)


_operation(lambda builder, x, y: builder.fadd(x, y), operator.add, operator.iadd)
_operation(lambda builder, x, y: builder.fsub(x, y), operator.sub, operator.isub)
_operation(_times, operator.mul, operator.imul)
_operation(_over, operator.truediv, operator.itruediv)
for _sign, _symbol in (
    ("<", operator.lt), ("<=", operator.le), (">", operator.gt), (">=", operator.ge),
    ("==", operator.eq), ("!=", operator.ne),
):  # fmt: skip
    _comparison(_sign, _symbol)
_of_one(lambda builder, x: builder.fneg(x), operator.neg)
_of_one(_absolute, abs)
_of_one(_root, math.sqrt)


@type_callable(int)
def _type_of_integer(context):
    return lambda a: types.int64 if isinstance(a, Dual) else None


@lower_builtin(int, Dual)
def _integer(context, builder, signature, values):
    return builder.fptosi(_value(builder, values[0]), ir.IntType(64))


# ---------------------------------------------------------------------- elementary functions


@overload(math.floor, strict=False)
def _floor(x):
    if not isinstance(x, Dual):
        return None
    return lambda x: math.floor(value_of(x))


@overload(math.sin, strict=False)
def _sin(x):
    if not isinstance(x, Dual):
        return None
    return lambda x: function_of(x, math.sin(value_of(x)), math.cos(value_of(x)))


@overload(math.cos, strict=False)
def _cos(x):
    if not isinstance(x, Dual):
        return None
    return lambda x: function_of(x, math.cos(value_of(x)), -math.sin(value_of(x)))


@overload(math.tanh, strict=False)
def _tanh(x):
    if not isinstance(x, Dual):
        return None

    def compute(x):
        y = math.tanh(value_of(x))
        return function_of(x, y, 1.0 - y * y)

    return compute


@overload(math.atan2, strict=False)
def _atan2(y, x):
    if not (isinstance(y, Dual) and isinstance(x, Dual)):
        return None

    def compute(y, x):
        a = value_of(y)
        b = value_of(x)
        square = a * a + b * b
        return function_of(y, math.atan2(a, b), b / square) - function_of(x, 0.0, a / square)

    return compute
