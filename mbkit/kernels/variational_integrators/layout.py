"""The memory of a variational step, by address: results of the system, unknowns, matrices."""

import numpy as np

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.implicit_integrators.step_memory import matrix_at

_i8 = np.int64

#: One record a run. What belongs to a configuration is there twice: at the start of the step, and
#: at its end.
VARIATIONAL = np.dtype(
    [
        ("nq", _i8),
        ("n", _i8),  # velocities
        ("m", _i8),  # constraint rows
        # functions of the system by address, in the form of `evaluation`
        ("generalized_forces", _i8),
        ("mass_action", _i8),
        ("dynamics_derivatives", _i8),
        ("constraint_state", _i8),  # 0 for a tree, as the next one
        ("constraint_jacobian", _i8),
        # parts of the step by address
        ("look_around", _i8),
        ("equations", _i8),
        ("newton_matrix", _i8),
        ("factorised", _i8),
        ("solve_for", _i8),
        ("newton", _i8),
        ("arrive", _i8),
        # the state, its multipliers, and what was evaluated last
        ("q", _i8),  # nq
        ("v", _i8),  # n
        ("work", _i8),  # NUM_POWERS
        ("multipliers", _i8),  # m
        ("q_stage", _i8),  # nq
        ("v_stage", _i8),  # n
        # at both ends
        ("mass", _i8),  # n x n
        ("force", _i8),  # n: of gravity and all forces
        ("weight", _i8),  # n x n: D_q of b(q, 0), which is gravity's
        ("A", _i8),  # m x n
        ("drift", _i8),  # m: g_t
        ("end_mass", _i8),
        ("end_force", _i8),
        ("end_weight", _i8),
        ("end_A", _i8),
        ("end_drift", _i8),
        ("effort", _i8),  # n: constant forces along coordinates, which supply what they do
        ("reach", _i8),  # 1: how far joints lie from the origin in the reference configuration
        # the unknowns
        ("D", _i8),  # n
        ("impulse", _i8),  # m: h/2 times the multipliers
        ("received", _i8),  # m: the same at the end of the step before
        # the residual, and what Newton's method changes
        ("q_end", _i8),  # nq
        ("v_end", _i8),  # n
        ("momentum", _i8),  # n: of the start
        ("mean_momentum", _i8),  # n: (M_n + M_{n+1}) D / 2
        ("gradient", _i8),  # n: of D.M D / 2
        ("left", _i8),  # n
        ("gap", _i8),  # m
        ("change", _i8),  # n
        ("change_impulse", _i8),  # m
        ("constraint_values", _i8),  # 3 m: g, A v + g_t, bias
        ("given", _i8),  # n + 1
        ("x", _i8),  # n: a step
        ("unit", _i8),  # n
        ("column", _i8),  # n
        ("other", _i8),  # n
        # the matrix
        ("derivatives", _i8),  # 2 n x n
        ("slopes", _i8),  # n x n: D_q(M D)
        ("L", _i8),  # n x n: dexp_inv by columns
        ("J", _i8),  # n x n
        ("product", _i8),  # n x n
        ("order", _i8),  # n + 1 integers: rows of J, and the rank of the constraints
        ("A_end", _i8),  # m x n
        ("X", _i8),  # m x n
        ("G", _i8),  # m x m
        ("scale", _i8),  # m
        ("row_order", _i8),  # m integers
        ("column_order", _i8),  # m integers
        ("room", _i8),  # m
        # Newton's method
        ("history", _i8),  # MOST x 2
        ("residual", _i8),  # n + m
        ("count", _i8),  # iterations of the step
        ("total", _i8),  # iterations, factorisations
    ],
    align=True,
)

START = 0
END = 1

#: Iterations of Newton's method, at most.
MOST = 40


def sizes(nq: int, n: int, m: int) -> dict[str, int]:
    """Return how many floating point numbers each array has."""
    return {
        "mass": n * n, "force": n, "weight": n * n, "A": m * n, "drift": m,
        "end_mass": n * n, "end_force": n, "end_weight": n * n, "end_A": m * n, "end_drift": m,
        "effort": n, "reach": 1,
        "D": n, "impulse": m, "received": m, "q_end": nq, "v_end": n, "momentum": n,
        "mean_momentum": n,
        "gradient": n, "left": n, "gap": m, "change": n, "change_impulse": m,
        "constraint_values": 3 * m,
        "given": n + 1, "x": n, "unit": n, "column": n, "other": n, "derivatives": 2 * n * n,
        "slopes": n * n, "L": n * n, "J": n * n, "product": n * n, "A_end": m * n, "X": m * n,
        "G": m * m, "scale": m, "room": m,
    }  # fmt: skip


@helper
def memory_of(step):
    """The record of a step."""
    return records_at(step, 1, VARIATIONAL)[0]


@helper
def masses(record, side):
    """M (n, n) at one end of the step."""
    return matrix_at(record.mass if side == START else record.end_mass, record.n, record.n)


@helper
def weights(record, side):
    """D_q b(q, 0), (n, n)."""
    return matrix_at(record.weight if side == START else record.end_weight, record.n, record.n)


@helper
def forces(record, side):
    """f (n,)."""
    return floats_at(record.force if side == START else record.end_force, record.n)


@helper
def jacobians(record, side):
    """A (m, n)."""
    return matrix_at(record.A if side == START else record.end_A, record.m, record.n)


@helper
def drifts(record, side):
    """g_t (m,)."""
    return floats_at(record.drift if side == START else record.end_drift, record.m)
