"""Elementary functions, of whatever kind of number the kernels run on.

Compiled they are those of floating point. Where Python runs the kernels, arrays may hold other
numbers: a number that counts what is done with it, or one of many digits. Its functions are then
methods of the number, or functions of the package that its type comes from, by these names.

The series of `mbkit.kernels.lie.series` end where doubles do: exponentials, logarithms and their
differentials have 16 digits of any number. Everything else has the digits of its numbers.
"""

import math
import sys

import numpy as np

from mbkit.kernels.compile import UNCOMPILED, helper

if UNCOMPILED:

    def _function(name, x):
        if isinstance(x, int | float):
            return getattr(np, name)  # as compiled code: not a number, where math raises
        if hasattr(x, name):
            return getattr(type(x), name)
        package = sys.modules[type(x).__module__.partition(".")[0]]
        return getattr(package, {"arctan2": "atan2"}.get(name, name))

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
