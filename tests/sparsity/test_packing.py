"""Lists that records point to."""

import numpy as np

from mbkit.sparsity.packing import packed


def test_parts_follow_each_other_in_one_array() -> None:
    parts = packed([[1, 2], [], [3]])
    assert [part.tolist() for part in parts] == [[1, 2, 0], [0], [3, 0]]
    addresses = [part.ctypes.data for part in parts]
    assert np.diff(addresses).tolist() == [3 * 8, 1 * 8]


def test_nothing_has_no_parts() -> None:
    assert packed([]) == []
