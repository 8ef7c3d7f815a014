"""Memory of large results: that of a result which nobody holds any more serves the next one.

The operating system clears new memory page by page, and takes it back with the array: of 90 MB that
is as long as a batch of derivatives of thirty bodies takes to compute.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["RecycledMemory", "results"]

#: Smaller arrays are the business of the C library, which keeps their memory itself. [bytes]
LEAST = 2**22

#: How much memory is kept. [bytes]
MOST = 2**28


def _popped(blocks: list[NDArray[np.uint8]]) -> tuple[NDArray[np.uint8], int]:
    """Return the last block, and the number of references to it as Python counts them here."""
    block = blocks.pop()
    return block, sys.getrefcount(block)


#: The number of references to a block that nobody else has.
_NOBODY = _popped([np.empty(1, np.uint8)])[1]


class RecycledMemory:
    """Blocks of memory, each that of one array at a time.

    An array and all its views hold a reference to their block, so that a block with no other
    reference belongs to nobody. Blocks are popped and appended, which is atomic: a block that one
    thread looks at is seen by no other.
    """

    def __init__(self) -> None:
        self._blocks: list[NDArray[np.uint8]] = []

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return an array like `numpy.empty`, in memory that is no longer used if there is some."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if not LEAST <= size <= MOST:
            return np.empty(shape, dtype)
        block = self._take(size)
        return block[:size].view(dtype).reshape(shape)

    def _take(self, size: int) -> NDArray[np.uint8]:
        """Return a block that nobody uses; it is kept, and of the others the newest."""
        seen: list[NDArray[np.uint8]] = []
        found = None
        while self._blocks and found is None:
            block, references = _popped(self._blocks)
            if size <= block.nbytes <= 2 * size and references == _NOBODY:
                found = block
            else:
                seen.append(block)
        if found is None:
            found = np.empty(size, np.uint8)
        # the newest come last
        self._blocks += [*reversed(seen), found]
        while sum(block.nbytes for block in self._blocks) > MOST:
            del self._blocks[:1]
        return found


#: That of results of systems.
results = RecycledMemory()
