"""Places of the entries of a mass matrix among those that kernels leave once, without zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.systems.memory.arrays import SystemArrays


def packed_mass_matrix(arrays: SystemArrays) -> tuple[Any, int]:
    """Return the place of each entry of M, row by row, and how many places there are.

    In the order of `mbkit.kernels.recursions.composite_body`. The first is that of all zeros. Of
    entries that are found twice, within a joint, the last counts.
    """
    nv = int(arrays.bodies[0]["num_velocities"])
    places = np.zeros((nv, nv), dtype=np.int64)
    count = 1
    for row in arrays.bodies[:0:-1]:
        columns = arrays.velocity_of_column[row["first_column"] : row["end_column"]]
        for k in range(row["num_velocities"]):
            velocity = row["first_velocity"] + k
            found = count + np.arange(len(columns))
            places[velocity, columns] = found
            places[columns, velocity] = found
            count += len(columns)
    return places.reshape(-1), count
