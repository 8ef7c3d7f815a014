"""Rows of the constraints that are of position level too."""

from mbkit.kernels.compile import int64, integers, kernel
from mbkit.kernels.constraints.layout import LOOP_JOINT
from mbkit.kernels.constraints.workspace import closure_of, constraints


@kernel(int64(int64, integers))
def describe_rows(space, position_of_row):
    """Write the row of g for each of A v, or -1; return 1 if all are of joints that close loops."""
    loops_alone = 1
    every = constraints(closure_of(space))
    for c in range(every.shape[0]):
        constraint = every[c]
        if constraint.kind != LOOP_JOINT:
            loops_alone = 0
        for r in range(constraint.num_rows):
            inside = r < constraint.num_position_rows
            position_of_row[constraint.first_row + r] = (
                constraint.first_position_row + r if inside else -1
            )
    return loops_alone
