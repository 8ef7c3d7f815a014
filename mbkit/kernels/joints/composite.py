"""A joint of joints: T = T_1 ... T_m, each T_i called by address and given in a frame of its own.

With T_i = K_i T_i' K_i^-1 from the canonical frame K_i of member i, going outwards,

    S = (Ad_T_i^-1 S, Ad_K_i S_i'),   V = Ad_T_i^-1 V + S_i v_i,
    c = Ad_T_i^-1 c + c_i + [Ad_T_i^-1 V before, S_i v_i].
"""

from collections.abc import Callable
from typing import NamedTuple

from mbkit.kernels.compile import address_kernel, at, call_address, helper, pointer_after
from mbkit.kernels.joints.parameter_header import write_pose, write_twist
from mbkit.kernels.joints.reciprocal_wrenches import allocate_motion, complement
from mbkit.kernels.joints.screw_product import (
    IDENTITY,
    ZERO,
    to_successor,
    twist_at,
    vector_at,
)
from mbkit.kernels.lie.matrices import matrix_product, matrix_times
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, cross, motion_bracket, scale, subtract

#: The parameters: how many members and velocities, a row for each member, then their parameters.
NUM_MEMBERS = 0
NUM_VELOCITIES = 1
FIRST_MEMBER = 2

#: The row of a member: functions by address (0: absent), sizes, where its parameters begin, and its
#: canonical frame, R by rows and p.
MOTION = 0
RETRACT = 1
DIFFERENCE = 2
DEXP_INV = 3
RATES = 4
POSITIONS = 5
VELOCITIES = 6
STEPS = 7
PARAMETERS = 8
FRAME = 9
MEMBER_SIZE = 21


@helper
def rows_of(pointer, first):
    """Nine numbers from an index on."""
    return (
        pointer[first],
        pointer[first + 1],
        pointer[first + 2],
        pointer[first + 3],
        pointer[first + 4],
        pointer[first + 5],
        pointer[first + 6],
        pointer[first + 7],
        pointer[first + 8],
    )


@helper
def transposed(A):
    """A^T."""
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@helper
def from_frame(K, k, w, u):
    """Ad_K (w, u), K = (K, k)."""
    turned = matrix_times(K, w)
    return turned, add(matrix_times(K, u), cross(k, turned))


@helper
def composite_motion(slot, parameters, q, v, R, p, S, bias):
    """Pose, motion subspace and S-dot v; the members write into the same memory first."""
    a = 0
    first = 0
    C = IDENTITY
    r = ZERO
    w = ZERO
    u = ZERO
    cw = ZERO
    cu = ZERO
    for m in range(int(parameters[NUM_MEMBERS])):
        row = FIRST_MEMBER + MEMBER_SIZE * m
        nv = int(parameters[row + VELOCITIES])
        status = call_address(
            int(parameters[row + MOTION]),
            (
                slot,
                pointer_after(parameters, int(parameters[row + PARAMETERS])),
                pointer_after(q, a),
                pointer_after(v, first),
                R,
                p,
                pointer_after(S, 6 * first),
                bias,
            ),
        )
        if status != OK:
            return status
        K = rows_of(parameters, row + FRAME)
        k = vector_at(parameters, row + FRAME + 9)
        Cm = matrix_product(matrix_product(K, rows_of(R, 0)), transposed(K))
        rm = add(matrix_times(K, vector_at(p, 0)), subtract(k, matrix_times(Cm, k)))
        for j in range(first):
            sw, su = twist_at(S, j)
            sw, su = to_successor(Cm, rm, sw, su)
            write_twist(sw, su, S, 6 * j)
        xw = ZERO
        xu = ZERO
        for j in range(first, first + nv):
            sw, su = twist_at(S, j)
            sw, su = from_frame(K, k, sw, su)
            write_twist(sw, su, S, 6 * j)
            xw = add(xw, scale(v[j], sw))
            xu = add(xu, scale(v[j], su))
        w, u = to_successor(Cm, rm, w, u)
        cw, cu = to_successor(Cm, rm, cw, cu)
        bw, bu = from_frame(K, k, vector_at(bias, 0), vector_at(bias, 3))
        kw, ku = motion_bracket(w, u, xw, xu)
        cw = add(cw, add(bw, kw))
        cu = add(cu, add(bu, ku))
        w = add(w, xw)
        u = add(u, xu)
        r = add(r, matrix_times(C, rm))
        C = matrix_product(C, Cm)
        a += int(parameters[row + POSITIONS])
        first += nv
    write_pose(C, r, R, p)
    write_twist(cw, cu, bias, 0)
    return OK


@address_kernel("ippppppp", in_lanes=True)
def motion(slot, parameters, q, v, R, p, S, bias):
    """Pose, motion subspace and S-dot v."""
    return composite_motion(slot, parameters, q, v, R, p, S, bias)


@address_kernel("ippp")
def constraint_wrenches(slot, parameters, q, out):
    """An orthonormal basis of the wrenches reciprocal to S."""
    n = int(parameters[NUM_VELOCITIES])
    R, p, S, bias, v = allocate_motion(n)
    status = composite_motion(
        slot, parameters, q, at(v, 0), at(R, 0), at(p, 0), at(S, 0), at(bias, 0)
    )
    complement(S, n, out)
    return status


# ------------------------------------------------------------------------- member by member


class Operation(NamedTuple):
    """An operation of two vectors: where in the row of a member its address and sizes are.

    Attributes
    ----------
    address : int
        Of the member's function, 0 where it has none.
    x, y, out : int
        How many entries of each the member has.
    plain : (x, y) -> float
        An entry of `out` where the member has no function: it is a vector space.
    """

    address: int
    x: int
    y: int
    out: int
    plain: Callable[[float, float], float]


@helper
def total(x, y):
    """x + y."""
    return x + y


@helper
def way(x, y):
    """y - x."""
    return y - x


@helper
def second(x, y):
    """y."""
    return y


_RETRACT = Operation(RETRACT, POSITIONS, STEPS, POSITIONS, total)
_DIFFERENCE = Operation(DIFFERENCE, POSITIONS, POSITIONS, STEPS, way)
_DEXP_INV = Operation(DEXP_INV, STEPS, STEPS, STEPS, second)
_RATES = Operation(RATES, POSITIONS, VELOCITIES, STEPS, second)


@helper
def each_member(slot, parameters, x, y, out, operation):
    """out = operation(x, y), member by member."""
    a = 0
    b = 0
    c = 0
    for m in range(int(parameters[NUM_MEMBERS])):
        row = FIRST_MEMBER + MEMBER_SIZE * m
        address = int(parameters[row + operation.address])
        if address == 0:
            for j in range(int(parameters[row + STEPS])):
                out[c + j] = operation.plain(x[a + j], y[b + j])
        else:
            own = pointer_after(parameters, int(parameters[row + PARAMETERS]))
            status = call_address(
                address,
                (slot, own, pointer_after(x, a), pointer_after(y, b), pointer_after(out, c)),
            )
            if status != OK:
                return status
        a += int(parameters[row + operation.x])
        b += int(parameters[row + operation.y])
        c += int(parameters[row + operation.out])
    return OK


@address_kernel("ipppp")
def retract(slot, parameters, q, dx, out):
    """Members without a function add."""
    return each_member(slot, parameters, q, dx, out, _RETRACT)


@address_kernel("ipppp")
def difference(slot, parameters, q0, q1, out):
    """Members without a function subtract."""
    return each_member(slot, parameters, q0, q1, out, _DIFFERENCE)


@address_kernel("ipppp")
def dexp_inv(slot, parameters, x, w, out):
    """Members without a function are vector spaces."""
    return each_member(slot, parameters, x, w, out, _DEXP_INV)


@address_kernel("ipppp")
def rates(slot, parameters, q, v, out):
    """Velocities of members without a function are rates of steps."""
    return each_member(slot, parameters, q, v, out, _RATES)
