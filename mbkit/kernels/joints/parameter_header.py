"""The common beginning of the parameters of joints in several coordinates.

The number n of velocities, then 6 - n wrenches of six numbers each, a basis of those that the joint
bears where it is constant in its successor's frame; what else a joint needs comes after them.
"""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.status import OK


@helper
def count_of(parameters):
    """The number of velocities."""
    return int(parameters[0])


@helper
def rest_of(parameters):
    """Where the rest of the parameters begins."""
    return 1 + 6 * (6 - int(parameters[0]))


@address_kernel("ippp")
def stored_wrenches(slot, parameters, q, out):
    """The wrenches that stand in the parameters."""
    for j in range(6 * (6 - count_of(parameters))):
        out[j] = parameters[1 + j]
    return OK


@helper
def write_pose(C, r, R, p):
    """Write a rotation, a tuple of nine, and a position."""
    for j in range(9):
        R[j] = C[j]
    for j in range(3):
        p[j] = r[j]


@helper
def write_twist(w, u, out, first):
    """Write a twist from an index on."""
    for j in range(3):
        out[first + j] = w[j]
        out[first + 3 + j] = u[j]
