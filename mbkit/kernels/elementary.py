"""Elementary functions, of whatever kind of number the kernels run on.

Compiled they are those of floating point. Where Python runs the kernels, arrays may hold other
numbers: a number that counts what is done with it, or one of many digits. Its functions are then
methods of the number, or functions of the package that its type comes from, by these names.

Everything has the digits of its numbers: series go on until they have them, and iterations that end
where doubles do go on by as much as `grain` says. Exceptions: steps of 4 rad and more, limits below
which rows and lengths count as zero, and differences that stand for derivatives.
"""

import math
import sys

import numpy as np

from mbkit.kernels.compile import UNCOMPILED, helper

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

    @helper
    def sin(x):
        """The sine."""
        return math.sin(x)

    @helper
    def cos(x):
        """The cosine."""
        return math.cos(x)

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
