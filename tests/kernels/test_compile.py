"""The door to numba: signatures, addresses, stand-ins, the cache's stamp."""

import math
import pathlib
import subprocess
import sys
import textwrap
from typing import NamedTuple

import numpy as np
import pytest

from mbkit.kernels import compile as door


@door.kernel(door.int64(door.floats, door.floats))
def _double(a, out):
    for j in range(a.shape[0]):
        out[j] = 2.0 * a[j]
    return 0


@door.kernel(door.boolean(door.float64))
def _is_nan(x):
    return math.isnan(x)


@door.address_kernel("idpp")
def _weighted(count, weight, a, out):
    total = 0.0
    for j in range(count):
        total += weight * a[j]
    out[0] = total
    return 7


@door.kernel(door.int64(door.int64, door.float64, door.floats, door.floats))
def _call(address, weight, a, out):
    return door.call_address(address, (a.shape[0], weight, a, out))


class _Point(NamedTuple):
    x: door.floats
    count: door.int64


class _Pair(NamedTuple):
    one: door.typed(_Point)
    other: door.typed(_Point)


class _Twin(NamedTuple):
    x: door.floats
    count: door.int64


@door.helper
def _sum_of(point):
    total = 0.0
    for j in range(point.count):
        total += point.x[j]
    return total


@door.kernel(door.float64(door.typed(_Pair)))
def _difference_of(pair):
    pair.one.x[0] += 1.0
    return _sum_of(pair.other) - _sum_of(pair.one)


def test_arguments_that_belong_together_are_one_argument():
    """Their fields arrive by name, arrays in place; a tuple of another name is refused."""
    one, other = _Point(np.arange(3.0), 3), _Point(np.arange(4.0), 4)
    assert _difference_of(_Pair(one, other)) == 6.0 - 4.0
    assert one.x[0] == 1.0
    for bad in (_Pair(one, _Twin(*other)), (one, other), _Pair(one, _Point(other.x, None))):
        with pytest.raises(TypeError, match="No matching definition"):
            _difference_of(bad)


def test_a_kernel_refuses_what_it_was_not_compiled_for():
    """A list, a strided or a read-only array raises TypeError; nothing is compiled anew."""
    a, out = np.arange(6.0), np.zeros(6)
    assert _double(a, out) == 0
    np.testing.assert_array_equal(out, 2.0 * a)
    frozen = a.copy()
    frozen.flags.writeable = False
    for bad in ([1.0, 2.0], a[::2], frozen):
        with pytest.raises(TypeError, match="No matching definition"):
            _double(bad, out)


def test_not_a_number_is_still_noticed():
    """The floating-point flags keep isnan true: a run that has blown up is found."""
    assert _is_nan(math.nan)
    assert not _is_nan(math.inf)


def test_a_function_is_called_through_its_address():
    """Integers, doubles and arrays arrive, and the status comes back."""
    a, out = np.array([1.0, 2.0, 3.5]), np.zeros(1)
    assert _call(_weighted.address, 2.0, a, out) == 7
    assert out[0] == 13.0


@door.helper
def _half(x):
    return 0.5 * x


@door.kernel(door.float64(door.float64))
def _quarter(x):
    return _half(_half(x))


def test_a_helper_is_called_by_kernels_and_by_python():
    assert _quarter(3.0) == 0.75
    assert _half(3.0) == 1.5


@pytest.mark.skipif(door.UNCOMPILED, reason="nothing is compiled")
def test_a_helper_has_no_wrappers_in_the_kernels_that_link_it():
    """What nobody calls is not compiled, and not carried from caller to caller."""
    _, overload = _quarter.overloads.popitem()
    functions = [function.name for function in overload.library.get_defined_functions()]
    if not functions:
        pytest.skip("loaded from the cache, which has machine code alone")
    assert any("_quarter" in name for name in functions)
    assert not any("_half" in name for name in functions)


def test_a_python_function_is_called_through_its_address():
    """A callback is a row of the table like any other."""
    seen = []

    def note(number: int) -> int:
        seen.append(number)
        return number + 1

    made = door.python_address("i", note)

    assert _call_integer(made.address, 41) == 42
    assert seen == [41]


@door.kernel(door.int64(door.int64, door.int64))
def _call_integer(address, number):
    return door.call_address(address, (number,))


def test_arrays_are_found_by_address():
    """An address and a length give back the array itself."""
    a = np.arange(5.0)
    assert _first_of(door.array_address(a), 5) == 10.0


@door.kernel(door.float64(door.int64, door.int64))
def _first_of(address, count):
    total = 0.0
    view = door.floats_at(address, count)
    for j in range(count):
        total += view[j]
    return total


@pytest.mark.long
@pytest.mark.skipif(door.UNCOMPILED, reason="there is no cache where nothing is compiled")
def test_an_edit_in_a_helper_of_another_file_compiles_what_links_it_alone(tmp_path):
    """The stamp of a kernel covers all that its module imports, through others, and no more."""
    package = tmp_path / "mbkit" / "kernels"
    (package / "compiling").mkdir(parents=True)
    for each in (tmp_path / "mbkit", package, package / "compiling"):
        (each / "__init__.py").write_text("")
    behind = "caching", "fusing", "linking", "repetitions"
    door_to_numba = "compile", *(f"compiling/{each}" for each in behind)
    for name in (*door_to_numba, "../interrupts"):
        source = pathlib.Path(door.__file__).parent / f"{name}.py"
        (package / f"{name}.py").write_text(source.read_text(encoding="utf-8"))
    (package / "between.py").write_text(
        "from mbkit.kernels import (\n    compile as door,\n    callee,\n)\n\n"
        "constant = callee.constant\n\n"
        "@door.helper\ndef twice():\n    return 2.0 * constant()\n"
    )
    for name, value in (("caller", "twice()"), ("other", "7.0")):
        (package / f"{name}.py").write_text(
            "from mbkit.kernels.compile import float64, kernel\n"
            + ("from mbkit.kernels.between import twice\n" if name == "caller" else "")
            + f"\n@kernel(float64())\ndef value():\n    return {value}\n"
        )
    code = textwrap.dedent(
        """
        from mbkit.kernels.compiling.caching import compilation_listener
        heard = []
        with compilation_listener(heard.append):
            from mbkit.kernels import caller, other
        print(caller.value(), other.value(), *heard)
        """
    )

    def values_with(number: float) -> list[str]:
        (package / "callee.py").write_text(
            "from mbkit.kernels.compile import helper\n\n"
            f"@helper\ndef constant():\n    return {number}\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path, capture_output=True, text=True, check=True,
            # bytecode files go by the second, and these edits come faster
            env={
                "PYTHONPATH": str(tmp_path),
                "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        )  # fmt: skip
        return done.stdout.split()

    assert values_with(1.5) == ["3.0", "7.0", "caller.value", "other.value"]
    assert values_with(2.5) == ["5.0", "7.0", "caller.value"]
    assert values_with(2.5) == ["5.0", "7.0"]


@pytest.mark.long
@pytest.mark.skipif(door.UNCOMPILED, reason="nothing is compiled")
def test_compiling_is_announced_and_loading_is_not(tmp_path):
    """A listener hears of each kernel that has to be compiled, and of none that is loaded."""
    code = textwrap.dedent(
        """
        from mbkit.kernels.compiling.caching import compilation_listener
        heard = []
        with compilation_listener(heard.append):
            from mbkit.kernels import configuration
            print(configuration.retract.address > 0, configuration.difference.address > 0)
        print("heard:" + ",".join(heard))
        """
    )

    def heard() -> str:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, check=True,
            env={"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        )  # fmt: skip
        return done.stdout.split()[-1]

    assert heard() == "heard:configuration.retract,configuration.difference"
    assert heard() == "heard:"
