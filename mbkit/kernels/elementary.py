"""Elementary functions, of whatever kind of number the kernels run on.

Compiled they are those of floating point. Where Python runs the kernels, arrays may hold other
numbers: a number that counts what is done with it, or one of many digits. Its functions are then
methods of the number, or functions of the package that its type comes from, by these names.

Results have the precision of their numbers: series have as many terms as that needs, and iterations
that end at the precision of doubles go on by the factor of `grain`. Exceptions: steps of 4 rad and
more, limits below which rows and lengths count as zero, and differences instead of derivatives.
"""

import math
import sys

import numpy as np

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    cgutils,
    helper,
    intrinsic,
    types,
)
from mbkit.kernels.compiling.fusing import fused
from mbkit.kernels.simd.rounding import as_doubles, rounded

if UNCOMPILED:
    _grains: dict[tuple[type, object], float] = {}
    _OTHER_NAMES = {"arctan2": "atan2", "isfinite": "is_finite"}  # of mpmath and gmpy2

    def _function(name, x):
        if isinstance(x, int | float):
            return getattr(np, name)  # as compiled code: not a number, where math raises
        if hasattr(x, name):
            return getattr(type(x), name)
        package = sys.modules[type(x).__module__.partition(".")[0]]
        return getattr(package, name, None) or getattr(package, _OTHER_NAMES[name])

    def sqrt(x):
        """The square root."""
        return _function("sqrt", x)(x)

    def sin(x):
        """The sine."""
        return _function("sin", x)(x)

    def cos(x):
        """The cosine."""
        return _function("cos", x)(x)

    def sin_cos(x):
        """The sine and the cosine."""
        return sin(x), cos(x)

    def select(condition, x, y):
        """x where the condition holds, y elsewhere; both have been computed."""
        return x if condition else y

    def any_lane(condition):
        """Whether it holds for one at least of the numbers that are computed side by side."""
        return bool(condition)

    def all_lanes(condition):
        """Whether it holds for all numbers that are computed side by side."""
        return bool(condition)

    def value_of(x):
        """The value of a number: itself."""
        return x

    def function_of(x, value, slope):
        """The value of a function of x."""
        return value

    def limit_of(x, doubles, singles):
        """A limit for numbers like x: one of these, by their precision."""
        return doubles

    def arctan2(y, x):
        """The angle of (x, y)."""
        return _function("arctan2", y)(y, x)

    def isfinite(x):
        """Whether x is neither infinite nor not a number."""
        return bool(_function("isfinite", x)(x))

    def grain(x):
        """The rounding of numbers like x, by that of doubles; the same for all of their digits.

        What cannot be made of an integer stands for doubles, such as what records its operations.
        """
        if isinstance(x, int | float):
            return 1.0
        try:
            kind = type(x), type(x)(1) / 3
        except TypeError:
            return 1.0
        if kind not in _grains:
            _grains[kind] = min(1.0, float(_rounding(x)) / sys.float_info.epsilon)
        return _grains[kind]

    def _rounding(x):
        """The difference of one and the next number."""
        one = type(x)(1)
        rounding = one
        while one + rounding / 2 > one:
            rounding = rounding / 2
        return rounding

else:

    @helper
    def sqrt(x):
        """The square root."""
        return math.sqrt(x)

    # The library's sine and cosine are called one number at a time. These have no branch for angles
    # that occur, so that many of them can be computed side by side, with the same bits.

    #: Larger angles have lost more digits by whole turns than the reduction below makes up for.
    _FAR = 1e6
    #: pi/2 in three parts.
    _QUARTERS = 1.5707963267948966, 6.123233995736765e-17, 1.082856673921914e-32
    #: 1.5 2^52: what is added to it is rounded to a whole number, which stands in its last bits.
    _WHOLE = 6755399441055744.0

    # Where `mbkit.kernels.lanes` has its numbers instead of doubles, conditions are masks.

    @intrinsic
    def fma(typing_context, a, b, c):
        """a b + c, rounded once."""
        kind = _widest(a, b, c)

        def codegen(context, builder, signature, values):
            return fused(builder, *values)

        return kind(kind, kind, kind), codegen

    def _widest(*kinds):
        """The type of numbers that several can be made of: lanes, where one of them is."""
        return next((kind for kind in kinds if hasattr(kind, "number")), types.float64)

    # Where `mbkit.kernels.duals` has its numbers, the value stands in the first lane.

    @intrinsic
    def value_of(typing_context, x):
        """The value of a number: itself, unless it is dual."""
        is_dual = hasattr(x, "directions")

        def codegen(context, builder, signature, values):
            first = cgutils.ir.IntType(32)(0)
            return builder.extract_element(values[0], first) if is_dual else values[0]

        return (types.float64 if is_dual else x)(x), codegen

    @intrinsic
    def function_of(typing_context, x, value, slope):
        """The value of a function of x; with its derivatives, slope x', where x is dual."""
        is_dual = hasattr(x, "directions")

        def codegen(context, builder, signature, values):
            x, value, slope = values
            if not is_dual:
                return value
            slopes = cgutils.ir.Constant(x.type, cgutils.ir.Undefined)
            for k in range(x.type.count):
                slopes = builder.insert_element(slopes, slope, cgutils.ir.IntType(32)(k))
            rates = builder.fmul(slopes, x)
            return builder.insert_element(rates, value, cgutils.ir.IntType(32)(0))

        return (x if is_dual else value)(x, value, slope), codegen

    # Lanes of single precision have `doubles`, the type of as many in double precision.

    @intrinsic
    def _in_doubles(typing_context, x):
        """The number in double precision."""

        def codegen(context, builder, signature, values):
            return as_doubles(builder, values[0])

        return getattr(x, "doubles", x)(x), codegen

    @intrinsic
    def _as_precise(typing_context, x, value):
        """A value in the precision of x."""
        is_single = hasattr(x, "doubles")

        def codegen(context, builder, signature, values):
            return rounded(builder, values[1], x.element) if is_single else values[1]

        return (x if is_single else value)(x, value), codegen

    @intrinsic
    def limit_of(typing_context, x, doubles, singles):
        """A limit for numbers like x: one of these, by their precision."""
        which = 2 if hasattr(x, "doubles") else 1

        def codegen(context, builder, signature, values):
            return values[which]

        return types.float64(x, types.float64, types.float64), codegen

    def _bit_test(number):
        @intrinsic
        def is_set(typing_context, x):
            """Whether one of the bits of a double is set."""

            def codegen(context, builder, signature, values):
                word = cgutils.ir.IntType(64)
                count = getattr(values[0].type, "count", None)
                kind = word if count is None else cgutils.ir.VectorType(word, count)
                bit = cgutils.ir.Constant(kind, number if count is None else [number] * count)
                none = cgutils.ir.Constant(kind, 0 if count is None else [0] * count)
                bits = builder.bitcast(values[0], kind)
                return builder.icmp_unsigned("!=", builder.and_(bits, bit), none)

            return getattr(x, "mask", types.boolean)(x), codegen

        return is_set

    _is_odd = _bit_test(1)
    _is_turned = _bit_test(2)

    @intrinsic
    def select(typing_context, condition, x, y):
        """x where the condition holds, y elsewhere; both have been computed."""
        kind = getattr(condition, "lanes", None) or _widest(x, y)
        if kind == types.float64 and isinstance(x, types.Integer) and isinstance(y, types.Integer):
            kind = types.int64

        def codegen(context, builder, signature, values):
            return builder.select(*values)

        return kind(condition, kind, kind), codegen

    @intrinsic
    def any_lane(typing_context, condition):
        """Whether it holds for one at least of the numbers that are computed side by side."""
        return types.boolean(condition), _reduced("!=", 0)

    @intrinsic
    def all_lanes(typing_context, condition):
        """Whether it holds for all numbers that are computed side by side."""
        return types.boolean(condition), _reduced("==", -1)

    def _reduced(sign, bits):
        """The mask as one whole number, compared with the one of no bits or of all."""

        def codegen(context, builder, signature, values):
            count = getattr(values[0].type, "count", None)
            if count is None:
                return values[0]
            kind = cgutils.ir.IntType(count)
            mask = builder.bitcast(values[0], kind)
            return builder.icmp_signed(sign, mask, cgutils.ir.Constant(kind, bits))

        return codegen

    @helper
    def sin_cos(x):
        """The sine and the cosine; of dual numbers with their derivatives."""
        s, c = _sin_cos(_in_doubles(value_of(x)))
        s, c = _as_precise(x, s), _as_precise(x, c)
        return function_of(x, s, c), function_of(x, c, -s)

    @helper
    def _sin_cos(x):
        """The sine and the cosine of numbers without derivatives, to 1.5 units of the last digit.

        By the distance from the next multiple of pi/2, with polynomials of fdlibm (k_sin.c,
        k_cos.c), whose errors are below 2^-58.
        """
        whole = fma(x, 2.0 / math.pi, _WHOLE)
        quarters = whole - _WHOLE
        r = fma(-quarters, _QUARTERS[0], x)
        r = fma(-quarters, _QUARTERS[1], r)
        r = fma(-quarters, _QUARTERS[2], r)
        z = r * r

        s = fma(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08)
        s = fma(z, s, 2.75573137070700676789e-06)
        s = fma(z, s, -1.98412698298579493134e-04)
        s = fma(z, s, 8.33333333332248946124e-03)
        s = fma(z, s, -1.66666666666666324348e-01)
        s = fma(z * r, s, r)

        c = fma(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09)
        c = fma(z, c, -2.75573143513906633035e-07)
        c = fma(z, c, 2.48015872894767294178e-05)
        c = fma(z, c, -1.38888888888741095749e-03)
        c = fma(z, c, 4.16666666666666019037e-02)
        rest = 1.0 - 0.5 * z
        c = rest + fma(z * z, c, (1.0 - rest) - 0.5 * z)

        is_odd, is_turned = _is_odd(whole), _is_turned(whole)
        s, c = select(is_odd, c, s), select(is_odd, -s, c)
        s, c = select(is_turned, -s, s), select(is_turned, -c, c)
        is_far = abs(x) > _FAR
        if any_lane(is_far):
            return select(is_far, math.sin(x), s), select(is_far, math.cos(x), c)
        return s, c

    @helper
    def sin(x):
        """The sine."""
        return sin_cos(x)[0]

    @helper
    def cos(x):
        """The cosine."""
        return sin_cos(x)[1]

    @helper
    def arctan2(y, x):
        """The angle of (x, y)."""
        return math.atan2(y, x)

    @helper
    def isfinite(x):
        """Whether x is neither infinite nor not a number."""
        return math.isfinite(x)

    @helper
    def grain(x):
        """The rounding of numbers like x, by that of doubles."""
        return 1.0
