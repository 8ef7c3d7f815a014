"""The only door to numba: how kernels are compiled, addressed and called by address."""

from __future__ import annotations

import ctypes
import functools
import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mbkit.interrupts import HeldInterrupts, Interrupts

with HeldInterrupts():  # Ctrl-C would leave numba half imported
    import numba
    from numba.core import cgutils, types
    from numba.core.ccallback import CFunc
    from numba.core.registry import cpu_target
    from numba.extending import intrinsic, overload
    from numba.np.numpy_support import as_dtype

    from mbkit.kernels.compiling.caching import enable_cache
    from mbkit.kernels.compiling.fusing import FusingCompiler
    from mbkit.kernels.compiling.linking import linked

    _ = cpu_target.target_context  # made here: Ctrl-C would leave LLVM's lock held

UNCOMPILED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

# No "fastmath": results have the same bits whatever LLVM makes of the code.
_OPTIONS: dict[str, Any] = {"error_model": "numpy"}

# -------------------------------------------------------------------------------- decorators


def kernel(signature: Any, *, nogil: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function over arrays for one signature, now, from the cache if it is there.

    Arguments of other types raise TypeError; nothing is ever compiled behind the caller's back.
    With ``NUMBA_DISABLE_JIT=1`` the Python function runs, and structured arrays arrive as
    recarrays, so that ``rows[i].R`` is spelt the same.
    """

    def decorate(py_func: Callable[..., Any]) -> Any:
        if UNCOMPILED:
            return _interpreted(py_func, signature)
        dispatcher = numba.njit(nogil=nogil, pipeline_class=FusingCompiler, **_OPTIONS)(py_func)
        enable_cache(dispatcher, py_func)
        _undisturbed(lambda: dispatcher.compile(signature))
        dispatcher.disable_compile()
        return dispatcher

    return decorate


def _undisturbed(compile_or_load: Callable[[], Any]) -> None:
    """Let one Ctrl-C wait for it, which would leave numba's lock held; the second is raised.

    Python's search for garbage waits, too: it takes 7 % of the time, and what is made stays.
    """
    searches = gc.isenabled()
    gc.disable()
    try:
        with Interrupts() as interrupts:
            compile_or_load()
    finally:
        if searches:
            gc.enable()
    interrupts.look()


def _interpreted(py_func: Callable[..., Any], signature: Any) -> Any:
    @functools.wraps(py_func)
    def call(*arguments: Any) -> Any:
        if _twin is not None:
            return py_func(*(_each(_twin, argument) for argument in arguments))
        if not all(map(_is_taken, arguments, signature.args)):
            raise TypeError(f"No matching definition for the arguments of {py_func.__name__}.")
        with np.errstate(all="ignore"):  # as compiled code: inf and nan, no warnings
            return py_func(*(_each(_as_records, argument) for argument in arguments))

    interpreted: Any = call
    interpreted.py_func = py_func  # where numba's dispatchers have it
    return interpreted


def _is_taken(argument: Any, kind: Any) -> bool:
    """Whether compiled code would take the argument as it is; objects stand for other numbers."""
    if hasattr(kind, "instance_class"):  # of a NamedTuple
        if type(argument) is not kind.instance_class:
            return False
        return all(_is_taken(*each) for each in zip(argument, kind.types, strict=True))
    if not isinstance(kind, types.Array):
        return isinstance(argument, int | float)
    return (
        isinstance(argument, np.ndarray)
        and argument.ndim == kind.ndim
        and argument.dtype in (as_dtype(kind.dtype), np.dtype(object))
        and argument.flags.c_contiguous
        and argument.flags.writeable
    )


def _each(change: Callable[[Any], Any], argument: Any) -> Any:
    """Change an argument, or each field of one that is a named tuple."""
    if not isinstance(argument, tuple):
        return change(argument)
    return type(argument)(*(_each(change, field) for field in argument))


def _as_records(argument: Any) -> Any:
    if isinstance(argument, np.ndarray) and argument.dtype.names is not None:
        return argument.view(np.recarray)
    return argument


def helper(py_func: Callable[..., Any]) -> Any:
    """Mark a function that is compiled into the kernels that call it (on tuples: no cost)."""
    return py_func if UNCOMPILED else linked(py_func, _OPTIONS)


def subroutine(py_func: Callable[..., Any]) -> Any:
    """Mark a helper of which a kernel holds one copy, whatever number of calls there are.

    For what is long, and called in several places that are not the innermost loops: a call takes
    some 20 ns, a copy of a thousand lines a second of compiling.
    """
    return py_func if UNCOMPILED else linked(py_func, _OPTIONS, copied=False)


# ------------------------------------------------------------------------- calls by address
#
# A function of the tables (joints, forces, systems) is data: a 64-bit address. The C signature
# is fixed by the number and kind of the arguments: integers as int64, floats as double, arrays as
# double*; all return an int64 status.


class FunctionAddress:
    """A function with a C signature, or its stand-in when nothing is compiled.

    Attributes
    ----------
    function : callable
        The Python function it was made from.
    in_lanes : bool
        Whether it is written for lanes as well.
    """

    def __init__(
        self, function: Callable[..., Any], make: Callable[[], tuple[int, Any]], in_lanes: bool
    ) -> None:
        self.function = function
        self.in_lanes = in_lanes
        self._make = make

    @property
    def address(self) -> int:
        """The address, for tables of functions; first access compiles, or loads from the cache."""
        return self._made[0]

    @functools.cached_property
    def _made(self) -> tuple[int, Any]:
        return self._make()  # the address, and what keeps the machine code alive


_stand_ins: dict[int, Callable[..., Any]] = {}
_arrays: dict[int, list[weakref.ref[Any]]] = {}


def array_address(array: Any) -> int:
    """Return the address of an array's data, which the caller keeps alive.

    Where nothing is compiled the array itself is found again by this number, whatever the type of
    its entries: of the arrays that still exist the one of the last call.
    """
    address = int(array.ctypes.data)
    if UNCOMPILED:
        others = [each for each in _arrays.get(address, ()) if each() is not array]
        _arrays[address] = [*others, weakref.ref(array, functools.partial(_forget, address))]
    return address


def _forget(address: int, ended: weakref.ref[Any]) -> None:
    left = [each for each in _arrays.get(address, ()) if each is not ended]
    if left:
        _arrays[address] = left
    else:
        _arrays.pop(address, None)


def _living(address: int) -> Any:
    """Return the array of the last call of `array_address`, of those that still exist."""
    found = [array for each in _arrays[address] if (array := each()) is not None]
    return found[-1]


#: What stands for the arguments of kernels, and for arrays that have an address, where Python runs
#: the kernels on other numbers; see tests/twins.py.
_twin: Callable[[Any], Any] | None = None
_twins: dict[int, Any] = {}


def let_twins_in(twin: Callable[[Any], Any] | None) -> None:
    """Replace every array that kernels read by ``twin(array)``; None: by the array itself.

    Only where nothing is compiled. Each twin is made once, as a copy: it does not follow what
    Python writes into the array afterwards, nor the array what kernels write.
    """
    global _twin
    _twin = twin
    _twins.clear()


def _array_at(address: int) -> Any:
    """Return the array at an address, where nothing is compiled."""
    if _twin is None:
        return _living(int(address))
    found = _twins.get(address)
    if found is None:
        found = _twins[int(address)] = _twin(_living(int(address)))
    return found


_C_TYPES = {"i": types.int64, "d": types.float64, "p": types.CPointer(types.float64)}


def address_kernel(
    form: str, *, in_lanes: bool = False
) -> Callable[[Callable[..., Any]], FunctionAddress]:
    """Let a module-level function be called by address; it is compiled at the first access.

    Parameters
    ----------
    form : str
        One letter per argument: ``i`` int64, ``d`` double, ``p`` pointer to double. Inside the
        function a pointer is indexed like a flat array. The function returns an int status.
    in_lanes : bool
        Whether `mbkit.kernels.lanes` may compile the function too: branches that depend on its
        numbers are written with `any_lane`, `all_lanes` and `select`.
    """

    def decorate(py_func: Callable[..., Any]) -> FunctionAddress:
        def make() -> tuple[int, Any]:
            return compiled_address(py_func, [_C_TYPES[letter] for letter in form])

        if UNCOMPILED:
            return _stand_in(py_func, in_lanes=in_lanes)
        return FunctionAddress(py_func, make, in_lanes)

    return decorate


def compiled_address(
    py_func: Callable[..., Any], kinds: Sequence[Any], module: str = ""
) -> tuple[int, Any]:
    """Compile a function of arguments of these types of numba, or load it from the cache.

    Its code depends on the `module` of types too, if one is named. Returns its address, and what
    keeps the machine code alive.
    """
    compiled = CFunc(py_func, (tuple(kinds), types.int64), {}, dict(_OPTIONS), FusingCompiler)
    enable_cache(compiled, py_func, module)
    _undisturbed(compiled.compile)
    return int(compiled.address or 0), compiled


def _stand_in(function: Callable[..., int], *, in_lanes: bool = False) -> FunctionAddress:
    address = len(_stand_ins) + 1
    _stand_ins[address] = function
    return FunctionAddress(function, lambda: (address, None), in_lanes)


def python_address(form: str, function: Callable[..., int]) -> FunctionAddress:
    """Return an address that calls a Python function of integers and floats (a ctypes callback)."""
    if UNCOMPILED:
        return _stand_in(function)
    c_types: dict[str, Any] = {"i": ctypes.c_int64, "d": ctypes.c_double}
    callback = ctypes.CFUNCTYPE(ctypes.c_int64, *[c_types[letter] for letter in form])(function)
    pointer = ctypes.cast(callback, ctypes.c_void_p).value or 0
    return FunctionAddress(function, lambda: (pointer, callback), in_lanes=False)


def _flat(argument: Any) -> Any:
    return argument.reshape(-1) if isinstance(argument, np.ndarray) else argument


if UNCOMPILED:

    def call_address(address: int, arguments: tuple[Any, ...]) -> int:
        """Call the function at `address`; arrays arrive flat."""
        return int(_stand_ins[int(address)](*map(_flat, arguments)))

    def floats_at(address: int, count: int) -> Any:
        """Return `count` numbers at `address` as an array."""
        return _array_at(address)[:count]

    integers_at = floats_at
    singles_at = floats_at

    def pointer_at(address: int) -> Any:
        """Return an address as a pointer argument."""
        return _array_at(address) if address else np.zeros(0)

    def at(array: Any, index: int) -> Any:
        """Return a pointer to an entry of an array, counted flat."""
        return array.reshape(-1)[index:]

    def pointer_after(pointer: Any, count: int) -> Any:
        """Return a pointer argument moved on by `count` numbers."""
        return pointer[count:]

    def as_array(pointer: Any, count: int) -> Any:
        """Return the `count` doubles behind a pointer argument as an array."""
        return pointer[:count]

    def of_one(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a helper that has no form for lanes: there it is not compiled, and never called.

        Batches in lanes do not have the options of kernels that would call it.
        """
        return function(*arguments)

    def records_at(address: int, count: int, dtype: np.dtype[Any]) -> Any:
        """Return `count` records at `address` as a structured array."""
        return _as_records(_array_at(address))[:count]

else:

    @intrinsic
    def call_address(typing_context, address, arguments):
        """Call the C function at `address`; the argument tuple fixes its signature."""
        signature = types.int64(types.int64, arguments)

        def codegen(context, builder, signature, values):
            llvm_arguments = []
            for position, kind in enumerate(arguments.types):
                value = builder.extract_value(values[1], position)
                if isinstance(kind, types.Array):
                    value = context.make_array(kind)(context, builder, value).data
                    value = builder.bitcast(value, cgutils.ir.DoubleType().as_pointer())
                elif isinstance(kind, types.Integer):
                    value = context.cast(builder, value, kind, types.int64)
                llvm_arguments.append(value)
            int64 = cgutils.ir.IntType(64)
            c_type = cgutils.ir.FunctionType(int64, [value.type for value in llvm_arguments])
            function = builder.inttoptr(values[0], c_type.as_pointer())
            return builder.call(function, llvm_arguments)

        return signature, codegen

    @intrinsic
    def at(typing_context, array, index):
        """Return a pointer to an entry of an array, counted flat."""

        def codegen(context, builder, signature, values):
            data = context.make_array(array)(context, builder, values[0]).data
            index = context.cast(builder, values[1], signature.args[1], types.int64)
            return builder.gep(data, [index])

        return types.CPointer(array.dtype)(array, index), codegen

    @intrinsic
    def pointer_after(typing_context, pointer, count):
        """Return a pointer argument moved on by `count` numbers."""

        def codegen(context, builder, signature, values):
            count = context.cast(builder, values[1], signature.args[1], types.int64)
            return builder.gep(values[0], [count])

        return pointer(pointer, count), codegen

    @intrinsic
    def pointer_at(typing_context, address):
        """Return an address as a pointer argument."""

        def codegen(context, builder, signature, values):
            return builder.inttoptr(values[0], cgutils.ir.DoubleType().as_pointer())

        return types.CPointer(types.float64)(types.int64), codegen

    def of_one(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a helper that has no form for lanes: there it is not compiled, and never called.

        Batches in lanes do not have the options of kernels that would call it.
        """

    _INLINE: Any = {**_OPTIONS, "forceinline": True}

    @overload(of_one, jit_options=_INLINE)
    def _of_one(function, arguments):
        if any(hasattr(kind, "number") for kind in arguments):
            return lambda function, arguments: 0
        return lambda function, arguments: function(*arguments)

    @intrinsic
    def _integers(typing_context, address):
        return types.CPointer(types.int64)(types.int64), _as_pointer(types.int64)

    @intrinsic
    def _singles(typing_context, address):
        return types.CPointer(types.float32)(types.int64), _as_pointer(types.float32)

    # The type of an address determines the type of its numbers: doubles at integers, lanes at the
    # addresses of `mbkit.kernels.lanes`.

    @intrinsic
    def _floats(typing_context, address):
        kind = getattr(address, "number", types.float64)
        return types.CPointer(kind)(_as_address(address)), _as_pointer(kind)

    @intrinsic
    def _records(typing_context, address, dtype):
        kind = address.record(dtype.dtype) if hasattr(address, "record") else dtype.dtype
        return types.CPointer(kind)(_as_address(address), dtype), _as_pointer(kind)

    def _as_address(kind: Any) -> Any:
        return types.int64 if isinstance(kind, types.Integer) else kind

    def _as_pointer(kind: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_data_type(kind).as_pointer())

        return codegen

    @intrinsic
    def _array(typing_context, pointer, count):
        """The first `count` values at a pointer, as an array."""
        kind = types.Array(pointer.dtype, 1, "C")

        def codegen(context, builder, signature, values):
            array = context.make_array(kind)(context, builder)
            data, length = values
            size = context.get_constant(types.intp, context.get_abi_sizeof(data.type.pointee))
            array.data, array.nitems, array.itemsize = data, length, size
            array.shape = cgutils.pack_array(builder, [length])
            array.strides = cgutils.pack_array(builder, [size])
            array.meminfo = cgutils.get_null_value(array.meminfo.type)  # whose it is: nobody's
            array.parent = cgutils.get_null_value(array.parent.type)
            return array._getvalue()

        return kind(pointer, types.intp), codegen

    @helper
    def floats_at(address, count):
        """Return `count` doubles at `address` as an array."""
        return _array(_floats(address), count)

    @helper
    def integers_at(address, count):
        """Return `count` 64-bit integers at `address` as an array."""
        return _array(_integers(address), count)

    @helper
    def singles_at(address, count):
        """Return `count` numbers of single precision at `address` as an array."""
        return _array(_singles(address), count)

    @helper
    def as_array(pointer, count):
        """Return the `count` doubles behind a pointer argument as an array."""
        return _array(pointer, count)

    @helper
    def records_at(address, count, dtype):
        """Return `count` records at `address` as a structured array."""
        return _array(_records(address, dtype), count)


# ------------------------------------------------------------------------- types of arguments

int64 = types.int64
float64 = types.float64
boolean = types.boolean
integers = types.int64[::1]
floats = types.float64[::1]
matrix = types.float64[:, ::1]
stack = types.float64[:, :, ::1]


def typed(record: Any) -> Any:
    """Return the numba type of a NamedTuple of arguments: its fields are annotated with theirs.

    Kernels take what belongs together as one argument, and hand it on to helpers by its name. A
    field may be such a tuple itself: annotate it ``typed(Other)``. Handing it in from Python costs
    as much as its fields do one by one.
    """
    return types.BaseTuple.from_types(tuple(record.__annotations__.values()), record)
