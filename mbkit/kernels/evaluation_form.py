"""The one form in which everything that a system computes can be called by address."""

from mbkit.kernels.compile import as_array, helper
from mbkit.kernels.workspace import bodies

#: ``function(space, option, q, v, x, out)`` with x a third vector, for example vdot. A function
#: reads and writes what its algorithm needs; pointers that it does not use may have any value.
EVALUATION = "iipppp"


@helper
def positions(model, q):
    """The pointer q as an array (nq,)."""
    return as_array(q, model[0].num_positions)


@helper
def velocities(model, v):
    """The pointer v as an array (nv,)."""
    return as_array(v, model[0].num_velocities)


@helper
def tangent(model, dx):
    """The pointer dx as an array (ndx,)."""
    return as_array(dx, model[0].ndx)


@helper
def as_matrix(pointer, count, width):
    """The pointer as an array (count, width)."""
    return as_array(pointer, count * width).reshape((count, width))


@helper
def vector(space, x):
    """The pointer x as an array (nv,)."""
    return velocities(bodies(space), x)
