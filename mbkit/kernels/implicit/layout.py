"""The memory of an implicit step, by address: what it asks the system for, unknowns, matrix."""

import numpy as np

_i8 = np.int64
_f8 = np.float64

#: One record a run. The unknowns of a step are D (nv,), the multipliers (m,) and, where it is
#: stabilised, eta (m,); n = nv + m + eta_rows of them.
IMPLICIT = np.dtype(
    [
        ("nq", _i8),
        ("nv", _i8),
        ("m", _i8),  # constraint rows of velocity level
        ("mp", _i8),  # of position level
        ("stabilised", _i8),  # 1: index 2, with eta; 0: index 3
        ("n", _i8),
        # own functions by address: compiled once, and not again into each time loop
        ("make", _i8),
        ("solve_step", _i8),
        ("accelerate", _i8),
        ("add_least", _i8),
        ("solve_end", _i8),  # of the generalized-alpha method
        ("predict", _i8),  # these two of BLieDF
        ("starting_step", _i8),
        # functions of the system by address, in the form of `evaluation`
        ("generalized_forces", _i8),
        ("constraint_state", _i8),  # 0 for a tree, like all of the constraints
        ("constraint_jacobian", _i8),
        ("dynamics_derivatives", _i8),
        ("force_derivatives", _i8),
        ("velocity_derivative", _i8),  # 0: by differences
        ("force_derivative", _i8),
        # the unknowns, and what follows from them
        ("D", _i8),  # nv
        ("vdot", _i8),  # nv
        ("multipliers", _i8),  # m
        ("eta", _i8),  # m
        ("change", _i8),  # n: what Newton's method changes
        ("shift", _i8),  # nv: D + A_n^T eta, as much as changes
        ("gain", _i8),  # nv x nv: G, in which velocities follow D + A_n^T eta; 0: unity
        # the residual
        ("applied", _i8),  # nv: forces on the tree, the constraints' apart
        ("left", _i8),  # nv: M vdot + b - applied - A^T lambda
        ("state", _i8),  # mp + 2 m: g, A v + g_t, bias
        ("given", _i8),  # max(nv, m) + 1: an argument and t
        ("rate", _i8),  # m: A v + g_t of the last evaluation
        ("position_of_row", _i8),  # m integers: which row of g, or -1
        ("A", _i8),  # m x nv at the end of the step
        ("A_start", _i8),  # m x nv at its beginning
        # the matrix
        ("matrix", _i8),  # n x n, factorised
        ("pivots", _i8),  # n integers
        ("kept", _i8),  # m integers: 1 where a row is solved for
        ("scale", _i8),  # 1: of multipliers and constraint rows
        ("prescribed", _i8),  # nv integers: 1 where a drive moves the joint
        ("derivatives", _i8),  # 2 nv x nv: by q, by v
        ("more", _i8),  # 2 max(nv, m) x nv
        ("A_made", _i8),  # m x nv: A_n of the matrix
        ("Z", _i8),  # m x nv: D_q(A v)
        ("mass", _i8),  # nv x nv
        ("differential", _i8),  # nv x nv: T
        ("block", _i8),  # 2 BLOCK_SIZE
        ("columns", _i8),  # 2 nv
        # where the matrix was made: valid, t, h, gains; q_n, q, v, vdot, D, multipliers
        ("made_at", _i8),  # part of the memory of a run
        ("made", _i8),  # a copy: of what is in the matrix
        ("num_made", _i8),
        ("restore", _i8),  # as it was at the beginning of the step
        # Newton's method
        ("tolerance", _f8),  # of D
        ("most", _i8),
        ("history", _i8),  # most x 2
        ("residual", _i8),  # nv + m
        ("count", _i8),  # integers: iterations of the step
        ("total", _i8),  # integers: iterations, factorisations
    ],
    align=True,
)

#: What stands before the vectors in `made_at`.
VALID = 0
TIME = 1
STEP = 2
VELOCITY_GAIN = 3
ACCELERATION_GAIN = 4
PATIENCE = 5  # steps that begin with a new matrix, before an old one is tried again
AGE = 6  # in steps
MADE_HEAD = 7
