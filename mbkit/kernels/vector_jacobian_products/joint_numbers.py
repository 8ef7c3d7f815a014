"""Vector-Jacobian products of dynamics by numbers of joints of the tree, such as pitches and axes.

Such a number changes the pose of a joint by a twist D, S and S-dot v, as a step of the joint does
(`mbkit.kernels.vector_jacobian_products.dynamics`), and nothing else: with P, F, r and G as there,

    y . dtau = D . (ad_Ap^T P + ad_Vp^T r + ad_Wp^T F + G) + dS v . (r + ad_V^T P)
               + (dS vdot + d(S-dot v)) . P + dS y . F.

D, dS and d(S-dot v) come from the joint's own function on dual numbers
(`mbkit.kernels.derivatives.joints.changes_by_numbers`): one call for each joint, in any tree.
"""

import math

import numpy as np

from mbkit.kernels.compile import call_address, floats_at, helper, records_at
from mbkit.kernels.derivatives.directions import weighted_change
from mbkit.kernels.derivatives.joints.changes_by_numbers import ENTRIES
from mbkit.kernels.derivatives.joints.joint_changes import to_world
from mbkit.kernels.duals import DIRECTIONS
from mbkit.kernels.layout import CHANGE
from mbkit.kernels.status import OK
from mbkit.kernels.vector_jacobian_products.places import bracket, plus
from mbkit.kernels.vectors import dot, load, pairing, subtract

_i8 = np.int64

#: Derivatives by numbers of joints, for the adjoint.
NUMBERS = np.dtype(
    [
        ("function", _i8),  # `changes_by_numbers` for dual numbers, by address
        ("space", _i8),  # SPACE of dual numbers
        ("joints", _i8),  # MOVED_JOINT entries, by row of the tree
        ("count", _i8),
        ("changes", _i8),  # memory for ENTRIES of CHANGE
    ],
    align=True,
)

#: A joint: its row with its parameters as dual numbers, sets of `DIRECTIONS` directions each,
#: and the sums of derivatives by these directions.
MOVED_JOINT = np.dtype(
    [
        ("seeds", _i8),
        ("size", _i8),  # bytes of one set
        ("sums", _i8),
        ("moved", _i8),  # directions, 0 where none of its numbers moves
    ],
    align=True,
)


@helper
def weighted_by_change(joint, weights, change):
    """y . dtau along one change, which is given in the body's own frame, and taken to the world."""
    row, body, parent, _, state, W_p, P, F, r, G = joint
    for V in (change.D, change.bias):
        to_world(V, body.world_R, load(body.world_p))
    for c in range(row.num_velocities):
        to_world(change.S[c], body.world_R, load(body.world_p))
    g = plus(plus(bracket(parent.A, P), bracket(parent.V, r)), bracket(W_p, F))
    g = subtract(g[0], G[0]), subtract(g[1], G[1])
    total = -pairing(change.D, g[0], g[1]) + pairing(change.bias, P[0], P[1])
    t, f = bracket(body.V, P)
    x, y = weighted_change(change, row, state.v)
    total += dot(x, subtract(r[0], t)) + dot(y, subtract(r[1], f))
    x, y = weighted_change(change, row, state.vdot)
    total += dot(x, P[0]) + dot(y, P[1])
    x, y = weighted_change(change, row, weights)
    return total + dot(x, F[0]) + dot(y, F[1])


@helper
def add_numbers_of_joint(memory, joint, i, weights):
    """Add y . dtau by the numbers of the joint of row i; `memory` is the address of NUMBERS.

    The sums become NaN where the joint's function fails on dual numbers.
    """
    record = records_at(memory, 1, NUMBERS)[0]
    own = records_at(record.joints, record.count, MOVED_JOINT)[i]
    table = records_at(record.changes, ENTRIES, CHANGE)
    sums = floats_at(own.sums, own.moved)
    q, v = joint.state.q, joint.state.v
    for first in range(0, own.moved, DIRECTIONS):
        numbers = own.seeds + first // DIRECTIONS * own.size
        status = call_address(record.function, (record.space, i, numbers, q, v, record.changes))
        for k in range(first, min(first + DIRECTIONS, own.moved)):
            along = weighted_by_change(joint, weights, table[k - first])
            sums[k] += along if status == OK else math.nan
