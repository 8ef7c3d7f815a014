"""The pattern of a factor: all loops at once, or local elimination of nested loops."""

from __future__ import annotations

from typing import Any

import attrs

from mbkit.kernels.constraints.layout import BUFFER_SIZE
from mbkit.sparsity.blocks import blocks_of
from mbkit.sparsity.nesting import nested_pattern
from mbkit.sparsity.supports import set_supports, supports_of
from mbkit.systems.memory.closure import ClosureArrays


def with_pattern(
    closure: ClosureArrays, constraints: Any, carriers: list[list[int]], bodies: Any
) -> ClosureArrays:
    """Return the constraints with the pattern in which their solver finds multipliers.

    The solver is chosen. `carriers` has by constraint the rows of the joints that it names.
    """
    nested = nested_pattern(constraints, closure.sites, carriers, bodies)
    if nested is None:
        return _open(closure, constraints, carriers, bodies)
    closure = attrs.evolve(closure, has_nested_loops=True)
    nested["owners"] = (*closure.owners, *nested["owners"])
    found = attrs.evolve(closure, **nested)
    if found.solver.kernels(found.num_velocities, found.num_rows).nested is None:
        return _open(closure, constraints, carriers, bodies)
    return found


def _open(
    closure: ClosureArrays, constraints: Any, carriers: list[list[int]], bodies: Any
) -> ClosureArrays:
    """Return the constraints with the pattern of A M^-1 A^T."""
    constraints = constraints.copy()
    parent = bodies["parent"].tolist()
    supports = supports_of(constraints, closure.sites, carriers, parent, nested=False)
    counts, paths, owners = set_supports(constraints, supports, bodies)
    found = blocks_of(constraints, closure.sites, supports, bodies)
    rows = constraints["num_rows"].tolist()
    room = [
        6 * m * (1 + max(own for own, _, _ in each)) for m, each in zip(rows, paths, strict=True)
    ]
    arrays = {
        "constraints": constraints, "pairs": found.pairs, "blocks": found.blocks,
        "separators": found.separators,
    }  # fmt: skip
    for array in arrays.values():
        array.flags.writeable = False
    return attrs.evolve(
        closure, **arrays, **counts, num_gram=found.num_gram, num_unknowns=found.num_unknowns,
        num_propagated=max(room), num_buffer=max(BUFFER_SIZE, int(found.blocks["num_rows"].max())),
        supports=tuple(each.rows for each in supports),
        owners=(*closure.owners, *owners, *found.owners),
    )  # fmt: skip
