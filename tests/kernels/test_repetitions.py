"""Work that numba does once in place of each time, and the same code that comes of it."""

from __future__ import annotations

import operator
import re
import subprocess
import sys

import pytest

from mbkit.kernels.compile import UNCOMPILED

if UNCOMPILED:
    pytest.skip("Nothing is compiled.", allow_module_level=True)

import numba
from numba.core import compiler, event, ir, targetconfig
from numba.core.registry import cpu_target
from numba.core.types import functions

from mbkit.kernels.compiling.repetitions import spare_repetitions

spare_repetitions()

#: A function with calls, loops, records and errors, and its machine code.
PROGRAM = """
import numba, numpy as np
from mbkit.kernels.compiling.repetitions import spare_repetitions

def code():
    @numba.njit
    def part(a, k):
        return (a[k] + 1.5) * k - a[0] ** 2

    @numba.njit
    def whole(a, n):
        total = 0.0
        for k in range(n):
            if a[k] > total or k == 3:
                total += part(a, k) / (1 + k)
        if total < 0.0:
            raise ValueError("below zero")
        return total, a[1:n]

    whole.compile("(float64[::1], int64)")
    return "".join(whole.inspect_asm().values())

each_time = code()
spare_repetitions()
print(each_time, code(), sep="the other:")
"""


def options(**changed):
    flags = compiler.Flags()
    for name, value in changed.items():
        setattr(flags, name, value)
    return flags


def test_options_are_those_that_properties_give():
    flags = options(nrt=True, boundscheck=True)
    assert flags.values() == {name: getattr(flags, name) for name in flags.options}


def test_options_are_equal_where_their_values_are():
    assert options() == options(nrt=compiler.Flags().nrt)  # one says what the other has by default
    assert hash(options()) == hash(options(nrt=compiler.Flags().nrt))
    assert options(nrt=True) != options(nrt=False)
    assert options() != 1


@pytest.mark.parametrize("kinds", [(numba.float64, numba.float64), (numba.int64, numba.float64)])
@pytest.mark.parametrize("symbol", [operator.add, operator.mul, operator.lt, operator.getitem])
def test_operators_have_the_types_that_numba_finds_each_time(symbol, kinds):
    context = cpu_target.typing_context
    context.refresh()
    function = context.resolve_value_type(symbol)
    kinds = (numba.float64[::1], numba.int64) if symbol is operator.getitem else kinds
    with targetconfig.ConfigStack().enter(compiler.Flags()):
        each_time = functions.BaseFunction.get_call_type.__wrapped__(function, context, kinds, {})
        assert [function.get_call_type(context, kinds, {}) for _ in range(2)] == [each_time] * 2


def test_variables_are_those_of_every_part_of_a_statement():
    def function(a, b):
        for each in (a, b):
            if each > b[0]:
                return {"sum": a + b, "parts": [a, (b, each)]}
        return None

    def each_time(value):
        if isinstance(value, ir.Var):
            return [value]
        if isinstance(value, ir.Inst):
            return [found for part in vars(value).values() for found in each_time(part)]
        parts = value.values() if isinstance(value, dict) else value
        several = isinstance(value, list | tuple | dict)
        return [found for part in parts for found in each_time(part)] if several else []

    blocks = compiler.run_frontend(function).blocks.values()
    statements = [each for block in blocks for each in block.body]
    assert len(statements) > 20
    for each in statements:
        assert each.list_vars() == each_time(each)


def test_whoever_listens_hears_of_compilation():
    with event.install_recorder("numba:compile") as recorder:
        numba.njit(lambda x: x + 1.0).compile("(float64,)")
    assert [each.is_start for _, each in recorder.buffer] == [True, False]


def test_the_code_is_the_same():
    """Each time and once, but for the numbers that names have in the order of compilation."""
    run = [sys.executable, "-c", PROGRAM]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    code = [re.sub(r"B\d+v\d+", "B", each).strip() for each in printed.split("the other:")]
    assert len(code[0]) > 1000
    assert code[0] == code[1]
