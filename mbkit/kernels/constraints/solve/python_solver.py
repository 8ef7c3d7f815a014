"""A strategy in Python, on a dense matrix: the target copied in, called back, multipliers out."""

from mbkit.kernels.compile import address_kernel, as_array, call_address
from mbkit.kernels.constraints.solve.dense import DENSE_PREPARE, DENSE_SOLVE
from mbkit.kernels.layout import DONE, PENDING, SLOT_STATUS
from mbkit.kernels.status import OK, SOLVER_FAILED

SOLVER_CALLBACK = 1
SOLVER_ADDRESS = 2  # of the slot itself
SOLVER_VECTORS = 3  # target, multipliers


def memory_size(m: int) -> int:
    """Return the size of the slot."""
    return SOLVER_VECTORS + 2 * m


@address_kernel(DENSE_PREPARE)
def prepare(_nv, _m, _matrix, _limits, _kept, _memory):
    """B is left as it is, and all rows as independent."""
    return OK


@address_kernel(DENSE_SOLVE)
def solve(nv, m, matrix, target, efforts, multipliers, memory):
    """See `mbkit.kernels.constraints.solve.dense`: efforts = B multipliers."""
    slot = as_array(memory, SOLVER_VECTORS + 2 * m)
    for r in range(m):
        slot[SOLVER_VECTORS + r] = target[r]
    slot[SLOT_STATUS] = PENDING
    call_address(int(slot[SOLVER_CALLBACK]), (int(slot[SOLVER_ADDRESS]),))
    if slot[SLOT_STATUS] != DONE:
        return SOLVER_FAILED
    for r in range(m):
        multipliers[r] = slot[SOLVER_VECTORS + m + r]
    for k in range(nv):
        value = 0.0
        for r in range(m):
            value += matrix[k * m + r] * multipliers[r]
        efforts[k] = value
    return OK
