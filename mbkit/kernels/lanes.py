"""Lanes: several numbers side by side in a register, one of each sample of a batch.

Kernels are compiled for them besides doubles, from the same source. The type of an address gives
the type of its numbers: doubles at an integer, lanes at a `LanesAddress`, such as the scratch
memory of a workspace for lanes. Numbers that depend on the sample are then of the type `Lanes`; the
model and the parameters of joints, which do not, stay doubles, and are spread where both meet.

Comparisons give a `Mask`, one truth value a lane. It has none of its own, so that a branch that is
not the same for all samples does not compile: kernels use `any_lane`, `all_lanes` or `select`.

Memory of lanes begins and ends where a line of the cache does: numbers are read and written as a
whole.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
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
from numba.np.numpy_support import from_dtype

from mbkit.kernels.compile import compiled_address
from mbkit.kernels.compiling.caching import features
from mbkit.kernels.compiling.fusing import of_llvm
from mbkit.kernels.constraints.layout import CLOSURE, CONSTRAINT
from mbkit.kernels.implicit_integrators.layout import (
    ALPHA,
    FORMULA,
    IMPLICIT,
    OF_EACH_SAMPLE,
    STARTING,
)
from mbkit.kernels.layout import FORCE, SPACE
from mbkit.kernels.simd.rounding import as_doubles, rounded
from mbkit.kernels.simd.spread import spread

#: Bytes of a line of the cache, and of the widest register.
LINE = 64

#: The entries of SPACE and CLOSURE, and of records of lanes, that are addresses of lanes.
ADDRESSES = frozenset(
    {"scratch", "rest", "columns", "slot", "directions", "changes", "trial"}
    | {"tau", "efforts", "powers", "sites", "time"}
    | {"closure", "joint_scratch", "residual", "rate", "time_rate", "bias"}
    | {"wrenches", "coefficients", "buffer", "propagated", "response", "gram", "compared"}
    | {"pivots", "limits", "kept", "chosen", "counted", "largest", "unknowns", "multipliers"}
    | {"change", "room", "dense", "unloaded", "step", "next_q", "closed_columns"}
)

# ------------------------------------------------------------------------------------ types


class Lanes(types.Type):
    """The numbers of as many samples."""

    bits = 64
    element: Any = ir.DoubleType()  # a number in LLVM's code
    branches = False  # whether comparisons give one truth value
    addresses = ADDRESSES  # what records have of them, by name

    def __init__(self, width: int) -> None:
        self.width = width
        self.bitwidth = self.bits * width
        super().__init__(name=f"{type(self).__name__}{width}")

    @property
    def mask(self) -> Mask:
        """The type of comparisons."""
        return Mask(self)

    @property
    def number(self) -> Lanes:
        """The type itself, as of whatever has lanes."""
        return self

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Doubles and integers are spread."""
        if isinstance(other, types.Float | types.Integer | types.Boolean):
            return Conversion.promote
        return None

    def unify(self, typingctx: Any, other: Any) -> Any:
        """A variable that has a double in one branch has lanes in both."""
        return None if self.can_convert_from(typingctx, other) is None else self


class SingleLanes(Lanes):
    """The same in single precision: twice as many have room in a register."""

    bits = 32
    element = ir.FloatType()

    @property
    def doubles(self) -> Lanes:
        """The lanes of double precision of as many samples."""
        return Lanes(self.width)


class Mask(types.Type):
    """The type of the result of a comparison of lanes."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        super().__init__(name=lanes.name.replace("Lanes", "Mask"))

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Of booleans: the same in all lanes."""
        return Conversion.promote if other == types.boolean else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        """See `Lanes.unify`."""
        return self if other == types.boolean else None


class LanesAddress(types.Type):
    """An address of lanes, or of a record that has them, or, such as SPACE, their addresses."""

    def __init__(self, lanes: Lanes) -> None:
        self.number = lanes
        super().__init__(name=f"{type(self).__name__}[{lanes.name}]")

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """It is converted to an integer where only the address is used."""
        return Conversion.safe if other == types.int64 else None

    def record(self, kind: types.Record) -> types.Record:
        """Return the record for lanes that replaces a record."""
        if kind in [from_dtype(each) for each in (SPACE, CLOSURE, FORCE, CONSTRAINT)]:
            return with_addresses(kind, self, self.number.addresses)
        if kind in [from_dtype(each) for each in (IMPLICIT, ALPHA, FORMULA, STARTING)]:
            return with_addresses(kind, self, OF_EACH_SAMPLE)
        return _with_lanes(kind, self.number)


class LanesRecord(types.Record):
    """A record in which doubles have become lanes; integers are there once."""

    @property
    def dtype(self) -> Any:
        """Of its size: numpy has no such numbers."""
        return np.dtype(("V", self.size))


def record_of_lanes(dtype: np.dtype[Any], lanes: Lanes) -> LanesRecord:
    """Return the record with lanes for doubles: those first, then the integers."""
    return _with_lanes(from_dtype(dtype), lanes)


@functools.cache
def _with_lanes(kind: types.Record, lanes: Lanes) -> LanesRecord:
    fields: Any = []
    integers: list[str] = []
    offset = 0
    for name, field in _members(kind):
        nested = isinstance(field, types.NestedArray)
        if (field.dtype if nested else field) != types.float64:
            integers.append(name)
            continue
        number = types.NestedArray(lanes, field.shape) if nested else lanes
        fields.append((name, {"type": number, "offset": offset}))
        offset += lanes.bitwidth // 8 * (field.nitems if nested else 1)
    for name in integers:
        address = LanesAddress(lanes) if name in lanes.addresses else types.int64
        fields.append((name, {"type": address, "offset": offset}))
        offset += 8
    return LanesRecord(fields, -(-offset // LINE) * LINE, True)


def _members(kind: Any) -> Any:
    """Return the names of a record's fields, and their types."""
    return kind.members


@functools.cache
def with_addresses(
    kind: types.Record, address: LanesAddress, named: frozenset[str]
) -> types.Record:
    """Return the record with such addresses for the integers of these names."""
    fields: Any = [
        (name, {"type": address if name in named else field, "offset": kind.offset(name)})
        for name, field in _members(kind)
    ]
    return LanesRecord(fields, kind.size, True)


@register_model(Lanes)
@register_model(SingleLanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, ir.VectorType(kind.element, kind.width))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Mask) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), kind.lanes.width))


@register_model(LanesAddress)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: LanesAddress) -> None:
        super().__init__(manager, kind, ir.IntType(64))


register_model(LanesRecord)(models.RecordModel)


@lower_cast(LanesAddress, types.int64)
def _as_integer(context, builder, source, target, value):
    return value


@lower_cast(types.Float, Lanes)
@lower_cast(types.Integer, Lanes)
@lower_cast(types.Boolean, Lanes)
def _number_as_lanes(context, builder, source, target, value):
    number = context.cast(builder, value, source, types.float64)
    return spread(builder, rounded(builder, number, target.element), target.width)


@lower_cast(types.IntegerLiteral, Lanes)
def _literal_as_lanes(context, builder, source, target, value):
    number = context.get_constant(types.float64, float(source.literal_value))
    return spread(builder, rounded(builder, number, target.element), target.width)


@lower_cast(types.Boolean, Mask)
def _boolean_as_mask(context, builder, source, target, value):
    return spread(builder, value, target.lanes.width)


# ------------------------------------------------------------------------------- operations


def _lanes_among(kinds: Any) -> Lanes | None:
    """Return the lanes that numbers of these types are computed in, if one of them is lanes."""
    found = [kind for kind in kinds if isinstance(kind, Lanes)]
    numbers = Lanes | types.Float | types.Integer
    return found[0] if found and all(isinstance(kind, numbers) for kind in kinds) else None


def _arithmetic(instruction: str, *operators: Any) -> None:
    for symbol in operators:

        @type_callable(symbol)
        def type_of(context):
            def generic(a, b):
                lanes = _lanes_among((a, b))
                return None if lanes is None else lanes(lanes, lanes)

            return generic

        @lower_builtin(symbol, Lanes, Lanes)
        def lower(context, builder, signature, values):
            return getattr(builder, instruction)(*values)


def _comparison(sign: str, symbol: Any) -> None:
    @type_callable(symbol)
    def type_of(context):
        def generic(a, b):
            lanes = _lanes_among((a, b))
            return None if lanes is None else lanes.mask(lanes, lanes)

        return generic

    @lower_builtin(symbol, Lanes, Lanes)
    def lower(context, builder, signature, values):
        compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        return compare(sign, *values)


def _logic(instruction: str, symbol: Any) -> None:
    @type_callable(symbol)
    def type_of(context):
        def generic(a, b):
            masks = [kind for kind in (a, b) if isinstance(kind, Mask)]
            fits = all(kind in (*masks[:1], types.boolean) for kind in (a, b))
            return masks[0](masks[0], masks[0]) if masks and fits else None

        return generic

    @lower_builtin(symbol, Mask, Mask)
    def lower(context, builder, signature, values):
        return getattr(builder, instruction)(*values)


def _of_one(kind: Any, compute: Any, *functions: Any) -> None:
    """Enter an operation on one number, or mask, of which the result has the type."""
    for function in functions:

        @type_callable(function)
        def type_of(context):
            return lambda a: a(a) if isinstance(a, kind) else None

        @lower_builtin(function, kind)
        def lower(context, builder, signature, values):
            return compute(builder, values[0])


_arithmetic("fadd", operator.add, operator.iadd)
_arithmetic("fsub", operator.sub, operator.isub)
_arithmetic("fmul", operator.mul, operator.imul)
_arithmetic("fdiv", operator.truediv, operator.itruediv)
for _sign, _symbol in (
    ("<", operator.lt), ("<=", operator.le), (">", operator.gt), (">=", operator.ge),
    ("==", operator.eq), ("!=", operator.ne),
):  # fmt: skip
    _comparison(_sign, _symbol)
_logic("and_", operator.and_)
_logic("or_", operator.or_)


def _extreme(sign: str, function: Any) -> None:
    """Enter max or min of two: the second where it is the larger, or smaller, as for doubles."""

    @type_callable(function)
    def type_of(context):
        def generic(a, b):
            lanes = _lanes_among((a, b))
            return None if lanes is None else lanes(lanes, lanes)

        return generic

    @lower_builtin(function, Lanes, Lanes)
    def lower(context, builder, signature, values):
        a, b = values
        return builder.select(builder.fcmp_ordered(sign, b, a), b, a)


_extreme(">", max)
_extreme("<", min)
_of_one(Mask, lambda builder, mask: builder.not_(mask), operator.invert)
_of_one(Lanes, lambda builder, value: builder.fneg(value), operator.neg)
_of_one(Lanes, lambda builder, value: of_llvm(builder, "sqrt", value), math.sqrt)
_of_one(Lanes, lambda builder, value: of_llvm(builder, "fabs", value), abs)

# ------------------------------------------------------------------------------- lane by lane


@intrinsic
def lane(typing_context, x, j):
    """The number in one of the lanes."""

    def codegen(context, builder, signature, values):
        return as_doubles(builder, builder.extract_element(values[0], values[1]))

    return types.float64(x, types.int64), codegen


@intrinsic
def with_lane(typing_context, x, j, value):
    """The lanes with another number in one of them."""

    def codegen(context, builder, signature, values):
        number = rounded(builder, values[2], x.element)
        return builder.insert_element(values[0], number, values[1])

    return x(x, types.int64, types.float64), codegen


@intrinsic
def width_of(typing_context, x):
    """How many lanes there are."""

    def codegen(context, builder, signature, values):
        return context.get_constant(types.int64, x.width)

    return types.int64(x), codegen


def _lane_by_lane(function: Any) -> None:
    """Let a function of the library be called for each lane."""

    @overload(function, strict=False)
    def of_lanes(x):
        if not isinstance(x, Lanes):
            return None
        width = x.width

        def compute(x):
            out = x
            for j in range(width):
                out = with_lane(out, j, function(lane(x, j)))
            return out

        return compute


_lane_by_lane(math.sin)
_lane_by_lane(math.cos)
_lane_by_lane(math.tanh)


@overload(math.atan2, strict=False)
def _atan2(y, x):
    if _lanes_among((y, x)) is None or not (isinstance(y, Lanes) and isinstance(x, Lanes)):
        return None
    width = y.width

    def compute(y, x):
        out = x
        for j in range(width):
            out = with_lane(out, j, math.atan2(lane(y, j), lane(x, j)))
        return out

    return compute


# -------------------------------------------------------------------------------- addresses

_KINDS = {
    "i": lambda _: types.int64,
    "d": lambda _: types.float64,
    "t": lambda lanes: lanes,
    "c": lambda _: types.CPointer(types.float64),
    "p": types.CPointer,
}

_made: dict[Any, tuple[int, Any]] = {}


def address_in_lanes(
    function: Any, form: str, lanes: Any, space: type[LanesAddress] = LanesAddress
) -> int:
    """Return the address of a function compiled for lanes; the first look compiles it.

    Parameters
    ----------
    function : callable
        A function of a module.
    form : str
        One letter per argument: ``i`` int64, ``d`` double, ``t`` a number, such as a time, ``s``
        address of a SPACE with lanes, ``c`` pointer to double, ``p`` pointer to lanes.
    lanes : Lanes or Dual
        The numbers; see `mbkit.kernels.duals`.
    space : type, default LanesAddress
        The type of addresses of a SPACE, with the type of its numbers:
        `mbkit.kernels.simd.own_models`.
    """
    space = space if "s" in form else LanesAddress
    key = function, form, lanes, space
    if key not in _made:
        kinds = [space(lanes) if letter == "s" else _KINDS[letter](lanes) for letter in form]
        of = type(lanes) if space is LanesAddress else space
        _made[key] = compiled_address(function, kinds, of.__module__)
    return _made[key][0]


def native_width() -> int:
    """Return how many doubles the registers of this processor have room for, four at least.

    Narrower registers take two instructions a number of lanes.
    """
    return 8 if "+avx512f" in features() else 4
