"""Short lists that records point to, packed in one array."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def packed(lists: Iterable[Sequence[float]], dtype: type = np.int64) -> list[Any]:
    """Return each list as a part of one array, with one more entry.

    A pass over all records then reads contiguous memory, which the processor prefetches; separate
    arrays would be scattered. No list is empty, so that each has an address.
    """
    longer = [[*each, 0] for each in lists]
    flat: Any = np.array([*itertools.chain.from_iterable(longer)], dtype=dtype)
    ends = np.cumsum([0, *(len(each) for each in longer)])
    return [flat[first:end] for first, end in itertools.pairwise(ends.tolist())]
