"""The rule of the source by which products and sums are rounded once, the same for all numbers.

    a * b + c     c + a * b     a * b - c     c - a * b     and  c += a * b,  c -= a * b

A product of floating point that stands in a sum, within one expression, is fused with it: computed
as one instruction, and rounded once. Where both operands of the sum are products, that on the right
is fused. A product that has a name first, ``x = a * b``, is rounded as Python does. Nothing else is
fused, and integers never are.

LLVM would choose by itself (its flag `contract`), but differently where a register holds one number
and where it holds those of several samples, so that batches would differ from single calls in the
last digit. The pass below goes through numba's intermediate code of the source, which does not
depend on registers. On processors without the instruction nothing is fused.
"""

from __future__ import annotations

import functools
import operator
import platform
from collections import Counter
from typing import Any

from mbkit.interrupts import HeldInterrupts

with HeldInterrupts():  # Ctrl-C would leave numba half imported
    from llvmlite import ir as llvm
    from numba.core import cgutils, ir, types
    from numba.core.compiler import Compiler
    from numba.core.compiler_machinery import FunctionPass, register_pass
    from numba.core.ir_utils import mk_unique_var
    from numba.core.typed_passes import NopythonRewrites
    from numba.extending import intrinsic

from mbkit.kernels.compiling.caching import features


@functools.cache
def fuses() -> bool:
    """Return whether the processor has the instruction, as all with 64 bits of ARM do.

    Where it does not, the library would be called for each product.
    """
    return "+fma" in features() or platform.machine() in {"arm64", "aarch64"}


# -------------------------------------------------------------------------------- instructions


def of_llvm(builder: Any, name: str, *numbers: Any) -> Any:
    """Return a function of LLVM, such as "sqrt", of numbers of one type, or vectors of them."""
    kind = numbers[0].type
    is_vector = isinstance(kind, llvm.VectorType)
    bits = 32 if (kind.element if is_vector else kind) == llvm.FloatType() else 64
    suffix = f"v{kind.count}f{bits}" if is_vector else f"f{bits}"
    form = llvm.FunctionType(kind, [kind] * len(numbers))
    function = cgutils.get_or_insert_function(builder.module, form, f"llvm.{name}.{suffix}")
    return builder.call(function, numbers)


def fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a b + c of numbers or vectors of them, rounded once."""
    return of_llvm(builder, "fma", a, b, c)


def multiplied_and_added(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a b + c of numbers or vectors of them, as `a * b + c` in a kernel."""
    return fused(builder, a, b, c) if fuses() else builder.fadd(builder.fmul(a, b), c)


def _operation(compute: Any) -> Any:
    @intrinsic
    def operation(typing_context, a, b, c):
        def codegen(context, builder, signature, values):
            return compute(builder, *values)

        return a(a, a, a), codegen

    return operation


#: By operator, the place of the product, and what is computed of its factors and the other operand.
_add = _operation(fused)
_subtract = _operation(lambda builder, a, b, c: fused(builder, a, b, builder.fneg(c)))
_subtract_product = _operation(lambda builder, a, b, c: fused(builder, builder.fneg(a), b, c))
_OPERATIONS: Any = {
    operator.add: {"rhs": _add, "lhs": _add},
    operator.sub: {"rhs": _subtract_product, "lhs": _subtract},
}
_OPERATIONS |= {
    operator.iadd: _OPERATIONS[operator.add],
    operator.isub: _OPERATIONS[operator.sub],
}


# ---------------------------------------------------------------------------------------- pass


def _is_number(kind: Any) -> bool:
    """Whether numbers of the type are doubles, or lanes (`mbkit.kernels.lanes`)."""
    return bool(kind == types.float64 or hasattr(kind, "mask"))


def _is_operation(value: Any, operations: Any) -> bool:
    return (
        isinstance(value, ir.Expr)
        and value.op in ("binop", "inplace_binop")
        and value.fn in operations
    )


def _uses(blocks: Any) -> Counter[str]:
    """Return how often each variable is read."""
    count: Counter[str] = Counter()
    for block in blocks:
        for statement in block.body:
            read = statement.value if isinstance(statement, ir.Assign) else statement
            if isinstance(read, ir.Var):
                count[read.name] += 1
            elif hasattr(read, "list_vars"):
                count.update(each.name for each in read.list_vars())
    return count


@register_pass(mutates_CFG=False, analysis_only=False)
class _FuseProducts(FunctionPass):
    """Put one operation in the place of a product and the sum that it stands in."""

    _name = "mbkit_fuse_products"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Go through all blocks; return whether anything is fused."""
        blocks = state.func_ir.blocks
        uses = _uses(blocks.values())
        operations = _Operations(state)
        for block in blocks.values():
            self._fuse(block, state, uses, operations)
        blocks[min(blocks)].body[:0] = operations.statements
        return bool(operations.statements)

    @staticmethod
    def _fuse(block: Any, state: Any, uses: Counter[str], operations: _Operations) -> None:
        products: dict[str, int] = {}  # where they are, by the variable
        assigned: dict[str, int] = {}  # where a variable was assigned last
        gone = set()
        for k, statement in enumerate(block.body):
            if not isinstance(statement, ir.Assign):
                continue
            name, value = statement.target.name, statement.value
            if _is_operation(value, (operator.mul, operator.imul)):
                if name.startswith("$") and uses[name] == 1 and _is_number(state.typemap[name]):
                    products[name] = k
            elif _is_operation(value, _OPERATIONS) and _is_number(state.typemap[name]):
                for side in ("rhs", "lhs"):
                    place = products.get(getattr(value, side).name)
                    if place is None:
                        continue
                    product = block.body[place].value
                    factors = product.lhs, product.rhs
                    if any(assigned.get(each.name, -1) > place for each in factors):
                        continue
                    other = value.lhs if side == "rhs" else value.rhs
                    call = operations.call(_OPERATIONS[value.fn][side], (*factors, other), value)
                    statement.value = call
                    state.func_ir._definitions[name] = [call]
                    gone.add(place)
                    break
            assigned[name] = k
        if gone:
            block.body = [each for k, each in enumerate(block.body) if k not in gone]


class _Operations:
    """Calls of the operations in the code of one function, and what makes their names known."""

    def __init__(self, state: Any) -> None:
        self.statements: list[Any] = []
        self._state = state
        self._variables: dict[Any, Any] = {}
        self._signatures: dict[Any, Any] = {}

    def call(self, operation: Any, arguments: Any, of: Any) -> Any:
        """Return the call that stands for the sum `of`, and of its type."""
        state = self._state
        kind = state.calltypes[of].return_type
        variable = self._variables.get(operation)
        if variable is None:
            block = state.func_ir.blocks[min(state.func_ir.blocks)]
            variable = ir.Var(block.scope, mk_unique_var("$fused"), block.loc)
            self._variables[operation] = variable
            value = ir.Global("fused", operation, block.loc)
            self.statements.append(ir.Assign(value, variable, block.loc))
            state.func_ir._definitions[variable.name] = [value]
            state.typemap[variable.name] = state.typingctx.resolve_value_type(operation)
        key = operation, kind
        if key not in self._signatures:
            function = state.typemap[variable.name]
            self._signatures[key] = function.get_call_type(state.typingctx, (kind,) * 3, {})
        call = ir.Expr.call(variable, arguments, (), of.loc)
        state.calltypes[call] = self._signatures[key]
        return call


class FusingCompiler(Compiler):
    """numba's compiler, and the rule above."""

    def define_pipelines(self) -> Any:
        """Add the pass behind those that know the types."""
        pipelines = super().define_pipelines()
        if fuses():
            for pipeline in pipelines:
                pipeline.add_pass_after(_FuseProducts, NopythonRewrites)
                pipeline.finalize()
        return pipelines
