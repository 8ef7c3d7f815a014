"""Values of results: read-only arrays, names, and values that files restore unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mbkit.given_values import Named

__all__ = ["Floats", "names", "plain", "read_only", "read_only_arrays", "writable"]

Floats = npt.NDArray[np.float64]


def read_only(value: npt.ArrayLike) -> Floats:
    """Return a read-only array; one that nobody can write to any more is taken without a copy."""
    kept = isinstance(value, np.ndarray) and value.dtype in (np.float64, np.float32)
    if kept and not value.flags.writeable:  # type: ignore[union-attr]
        return value  # type: ignore[return-value]
    array = np.array(value, dtype=value.dtype if kept else np.float64)  # type: ignore[union-attr]
    array.setflags(write=False)
    return array


def read_only_arrays(value: Mapping[str, npt.ArrayLike]) -> Mapping[str, Floats]:
    """Return arrays by name, none of which can be changed."""
    arrays = {str(name): read_only(array) for name, array in value.items()}
    return MappingProxyType(Named(arrays, "The run has no output"))


def names(value: Any) -> tuple[str, ...]:
    """Return texts."""
    return tuple(str(name) for name in value)


def plain(value: Any) -> Any:
    """Return `value` built of tuples, mappings and Python numbers, as a file gives it back."""
    if isinstance(value, Mapping):
        return MappingProxyType({str(key): plain(item) for key, item in value.items()})
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def writable(value: Any) -> Any:
    """Return mappings, and those in them, as dictionaries."""
    return {k: writable(v) for k, v in value.items()} if isinstance(value, Mapping) else value
