"""Numbers that a compiled force or constraint reads, as dual numbers that parameters move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from mbkit.systems.calls.arguments import Floats
from mbkit.systems.memory.in_lanes.workspace import lines

__all__ = ["MovedNumbers"]


@final
class MovedNumbers:
    """Sets of dual numbers, each with some directions, and the sums of derivatives by these.

    Parameters
    ----------
    row : record
        CALLED_FORCE or CALLED_CONSTRAINT, into which their addresses are written.
    numbers : ndarray, shape (n,)
        The numbers that the function reads.
    moving : mapping of str to ndarray
        Their derivatives by entries of parameters, (n, k) by name.
    directions : int
        Those of one set.
    """

    def __init__(
        self, row: Any, numbers: Floats, moving: Mapping[str, Floats], directions: int
    ) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.duals import DIRECTIONS

        rates = np.concatenate([*moving.values()], axis=1)
        parts = -(-rates.shape[1] // directions)
        n, width = len(rates), 1 + DIRECTIONS
        seeds = lines(parts * n * width)[: parts * n * width].reshape((parts, n, width))
        seeds[..., 0] = numbers
        for part, seed in enumerate(seeds):
            columns = rates[:, directions * part : directions * (part + 1)]
            seed[:, 1 : 1 + columns.shape[1]] = columns
        self._seeds, self._sums = seeds, np.zeros(directions * parts)
        row["seeds"], row["num_seeds"] = array_address(seeds), parts
        row["size"], row["sums"] = seeds[0].nbytes, array_address(self._sums)
        ends = np.cumsum([0, *(each.shape[1] for each in moving.values())]).tolist()
        self._places = {
            name: slice(*places) for name, *places in zip(moving, ends, ends[1:], strict=False)
        }

    def by_parameters(self) -> dict[str, Floats]:
        """Return the sums, (k,) by name."""
        return {name: self._sums[own].copy() for name, own in self._places.items()}
