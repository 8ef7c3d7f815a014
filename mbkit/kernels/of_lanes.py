"""Helpers for samples side by side alone, as `of_one` of `mbkit.kernels.compile` is for one."""

from collections.abc import Callable
from typing import Any

from mbkit.kernels.compile import UNCOMPILED, overload  # type: ignore[attr-defined]


def of_lanes(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a helper if one of the arguments is lanes, or an address of them; else return 0.

    Of one sample, and of dual numbers, the helper is not compiled.
    """
    return 0


if not UNCOMPILED:

    def _is_of_lanes(kind: Any) -> bool:
        number = getattr(kind, "number", None)
        return number is not None and not number.branches

    @overload(of_lanes, jit_options={"error_model": "numpy", "forceinline": True})
    def _of_lanes(function, arguments):
        if any(map(_is_of_lanes, arguments)):
            return lambda function, arguments: function(*arguments)
        return lambda function, arguments: 0
