"""Copies of arrays."""

from mbkit.kernels.compile import helper


@helper
def assign(target, source):
    """target = source, for vectors of one length.

    As a loop: what numba makes of ``target[:] = source`` allocates, counts references and writes
    messages into machine code, which takes a third of a second to compile.
    """
    for i in range(target.shape[0]):
        target[i] = source[i]
