"""The memory of an implicit step, by address: results of the system, unknowns, matrix."""

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
        ("solve", _i8),  # with a matrix by blocks; 0: it is dense
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
        # the state, which a step goes on from, and its end: what was evaluated last
        ("q", _i8),  # nq
        ("v", _i8),  # nv
        ("work", _i8),  # NUM_POWERS
        ("q_next", _i8),  # nq
        ("v_next", _i8),  # nv
        # the unknowns, and what follows from them
        ("D", _i8),  # nv
        ("vdot", _i8),  # nv
        ("multipliers", _i8),  # m
        ("eta", _i8),  # m
        ("change", _i8),  # n: what Newton's method changes
        ("shift", _i8),  # nv: D + A_n^T eta, as much as changes
        ("gain", _i8),  # nv x MOST_STEPS: G, in which velocities follow D + A_n^T eta; 0: unity
        # the residual
        ("applied", _i8),  # nv: forces on the tree, the constraints' apart
        ("left", _i8),  # nv: M vdot + b - applied - A^T lambda
        ("powers_kept", _i8),  # NUM_POWERS: of the forces, where they were evaluated last
        ("constraint_values", _i8),  # mp + 2 m: g, A v + g_t, bias
        ("given", _i8),  # max(nv, m) + 1: an argument and t
        ("rate", _i8),  # m: A v + g_t of the last evaluation
        ("position_of_row", _i8),  # m integers: which row of g, or -1
        ("width", _i8),  # nv, or how many columns there are where some share one
        ("column_of", _i8),  # of SPACE, max(steps, nv) integers: the column of each velocity
        ("A", _i8),  # m x width at the end of the step
        ("A_start", _i8),  # m x width at its beginning
        # the matrix
        ("matrix", _i8),  # n x n, factorised; or its blocks
        ("pivots", _i8),  # n integers
        ("kept", _i8),  # m integers: 1 where a row is solved for
        ("scale", _i8),  # 1: of multipliers and constraint rows
        ("prescribed", _i8),  # nv integers: 1 where a drive moves the joint
        ("derivatives", _i8),  # 2 nv x width: by q, by v; after them mass, where it is by blocks
        ("more", _i8),  # 2 max(nv, m) x width
        ("A_made", _i8),  # m x width: A_n of the matrix
        ("Z", _i8),  # m x width: D_q(A v)
        ("mass", _i8),  # nv x width
        ("differential", _i8),  # nv x MOST_STEPS: T, one block a joint
        ("block", _i8),  # 2 BLOCK_SIZE
        ("columns", _i8),  # 2 nv
        # the matrix by blocks: NODE entries in the order of elimination, of each entry of a sorted
        # vector its place in `change`, and the tables below, integers
        ("nodes", _i8),
        ("num_nodes", _i8),
        ("num_entries", _i8),
        ("order", _i8),  # n
        ("largest", _i8),  # n: of each column
        ("sorted", _i8),  # n: what is solved for, in that order
        ("neighbours", _i8),
        ("num_neighbours", _i8),
        ("updates", _i8),
        ("num_updates", _i8),
        ("pairs", _i8),
        ("num_pairs", _i8),
        ("holds", _i8),
        ("num_holds", _i8),
        ("pushes", _i8),
        ("num_pushes", _i8),
        ("meetings", _i8),
        ("num_meetings", _i8),
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
        # of several samples side by side: not 0 where one takes no step, and where Newton's method
        # has failed
        ("waits", _i8),  # 1
        ("failed", _i8),  # 1
    ],
    align=True,
)

#: What the generalized-alpha method has beside the memory of its step, by address: coefficients,
#: memory, scratch.
ALPHA = np.dtype(
    [
        (name, np.int64)
        for name in (
            "take_step", "coefficients", "a", "vdot", "multipliers", "eta", "powers", "started",
            "v_n", "powers_next", "trial", "change", "wanted", "room", "step",
            # of runs side by side: what stays where only others begin, and, with an adaptive step
            # size, tolerances and the largest size, which entries are angles, and what a run has
            "aside", "control", "angular", "progress", "counts", "rate", "sizes", "errors",
        )
    ]
)  # fmt: skip

#: What BLieDF has beside the memory of its step: the number k of its steps, rows of what was
#: before, and, by address, coefficients, memory, scratch, and a `STARTING` record. Each helper
#: opens what it needs: all of it in each of them compiles a quarter longer.
FORMULA = np.dtype(
    [
        (name, np.int64)
        for name in (
            "take_step", "steps", "num_past", "coefficients", "foreseen",
            "past_q", "past_x", "past_v", "past_work", "multipliers", "started",
            "powers", "x", "sum_x", "rate", "q_before", "v_before", "work_before",
            "starting", "step",
        )
    ]
)  # fmt: skip

#: What the first steps of multistep methods have, by address: the state, the tableau and how many
#: stages it has, and memory.
STARTING = np.dtype(
    [
        (name, np.int64)
        for name in (
            "q", "v", "work",
            "num_stages", "stage_weights", "b", "c",
            "results",  # (2, nq + nv + NUM_POWERS), in lanes one row more
            "room",  # nq + nv
            "q_stage", "v_stage", "xdot", "vdot", "powers",
        )
    ]
)  # fmt: skip

#: The entries of these records at which each of several samples side by side has its own numbers:
#: see `mbkit.kernels.lanes`. The others, sizes, tables and functions, are the same for all.
OF_EACH_SAMPLE = frozenset(
    {"q", "v", "work", "q_next", "v_next", "D", "vdot", "multipliers", "eta", "change", "shift"}
    | {"gain", "applied", "left", "constraint_values", "given", "rate", "A", "A_start"}
    | {"matrix", "pivots", "kept", "scale", "derivatives", "more", "A_made", "Z", "mass"}
    | {"differential", "block", "columns", "largest", "sorted", "made_at", "made", "restore"}
    | {"history", "residual", "total", "powers_kept", "waits", "failed"}
    | {"a", "powers", "started", "v_n", "powers_next", "trial", "wanted", "room", "step", "aside"}
    | {"progress", "counts", "sizes", "errors"}
    | {"past_q", "past_x", "past_v", "past_work", "x", "sum_x", "q_before", "v_before"}
    | {"work_before", "starting", "results", "q_stage", "v_stage", "xdot"}
)

#: What stands before the vectors in `made_at`.
VALID = 0
TIME = 1
STEP = 2
VELOCITY_GAIN = 3
ACCELERATION_GAIN = 4
PATIENCE = 5  # steps that begin with a new matrix, before an old one is tried again
AGE = 6  # in steps
NOISE = 7  # how large corrections were that a new matrix made no smaller; 0: none were
ROWS_AT_END = 8  # 1: which rows count was seen at the end of the step, not where it begins
MADE_HEAD = 9

#: The largest tangent dimension of a joint.
MOST_STEPS = 6

#: Unknowns that are eliminated together: velocities of a row of the tree, or multipliers and eta of
#: a constraint. Its rows of the matrix lie side by side, (count, count + width): its own block, and
#: what is right of it; then, (width, count), what is below. `width` counts the unknowns of its
#: neighbours, which are coupled with it and come later.
NODE = np.dtype(
    [
        ("first", _i8),  # of its unknowns, in the order of elimination
        ("count", _i8),
        ("width", _i8),
        ("right", _i8),  # where its rows begin
        ("below", _i8),
        ("first_neighbour", _i8),  # numbers of nodes
        ("num_neighbours", _i8),
        ("first_update", _i8),  # of each pair of neighbours: where their block is, and its stride
    ],
    align=True,
)

#: Where a block of the matrix is: its first entry, and how far on the next row is. Of two rows of
#: the tree: which, where, and whether the velocity of one meets the other's equations.
PAIR_HIGH = 0
PAIR_LOW = 1
PAIR_START = 2
PAIR_STRIDE = 3
PAIR_MOVES = 4
PAIR_SIZE = 5

#: A constraint and a body of the tree that it moves: the block in the rows of the constraint, and
#: that in the rows of the equations of motion.
HOLD_CONSTRAINT = 0
HOLD_ROW = 1
HOLD_START = 2
HOLD_STRIDE = 3
HOLD_FORCE_START = 4
HOLD_FORCE_STRIDE = 5
HOLD_SIZE = 6

#: Row i of the tree, whose equations the velocity of row l meets, which a constraint moves: P_il
#: times A_n^T. And two constraints that move row l: a A_l A_n^T of one and the other.
PRODUCT_LEFT = 0  # i, or a constraint
PRODUCT_CONSTRAINT = 1
PRODUCT_ROW = 2  # l
PRODUCT_START = 3
PRODUCT_STRIDE = 4
PRODUCT_SIZE = 5
