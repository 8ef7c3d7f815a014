"""Arrays of the constraints: bodies and velocities, rows, and the memory of the solution.

A row is a constraint at velocity level: wrenches on sites and coefficients of velocities. Those of
position level are the first ones of their constraint.
"""

import numpy as np

_i8 = np.int64
_f8 = np.float64

#: Kinds of constraints: a joint that closes a loop, computed in place, or one called by address.
LOOP_JOINT = 0
TABLE = 1

#: One record a system: where everything lies, by address.
CLOSURE = np.dtype(
    [
        ("constraints", _i8),  # CONSTRAINT entries
        ("num_constraints", _i8),
        ("num_rows", _i8),  # of velocity level
        ("num_position_rows", _i8),
        ("sites", _i8),  # CONSTRAINT_SITE entries
        ("num_sites", _i8),
        ("joints", _i8),  # BODY entries: the joints that close loops; the first is none
        ("joint_scratch", _i8),  # SCRATCH entries, as many
        ("num_joints", _i8),
        ("length", _f8),  # by which moments are compared with forces
        # results of the constraints at a state, by row
        ("residual", _i8),  # num_position_rows: g
        ("rate", _i8),  # A v + g_t
        ("time_rate", _i8),  # g_t of TABLE constraints
        ("bias", _i8),  # A vdot + dA/dt v + ..., with the vdot that was given
        ("wrenches", _i8),  # 6 numbers a row and site of its constraint
        ("num_wrenches", _i8),
        ("coefficients", _i8),
        ("num_coefficients", _i8),
        # the response of the tree to the rows
        ("response", _i8),  # S.f of each column inward of a constraint, f the propagated wrench
        ("num_response", _i8),
        ("propagated", _i8),  # room for the wrenches that go inwards: 6 numbers a row and path
        ("num_propagated", _i8),
        ("pairs", _i8),  # PAIR entries
        ("num_pairs", _i8),
        # A M^-1 A^T by blocks, and its factor in the same place
        ("gram", _i8),
        ("num_gram", _i8),
        ("blocks", _i8),  # BLOCK entries, in the order of elimination
        ("num_blocks", _i8),
        ("separators", _i8),  # SEPARATOR entries: what is not multiplied out
        ("num_separators", _i8),
        ("num_unknowns", _i8),  # num_rows, and the velocities of separators
        ("pivots", _i8),  # num_unknowns integers: in each block, which of its rows comes when
        ("limits", _i8),  # num_unknowns: the least pivot that counts
        ("kept", _i8),  # num_unknowns integers: 1 where a row is independent of those before it
        # rows that counted where the step began, num_rows integers, and 1 while they come first
        ("chosen", _i8),
        ("follows", _i8),
        ("decided", _i8),  # 1 from the first stage of a step to its end
        # few rows: see `mbkit.kernels.constraints.solve.rank`
        ("compared", _i8),  # nv (num_rows + 1) numbers
        ("num_compared", _i8),  # 0 where rows are many
        ("counted", _i8),  # num_rows integers: 1 for those that count
        ("judged", _i8),  # 1 where this evaluation has looked
        ("scales", _i8),  # nv: one over the length for velocities that turn, else 1
        ("largest", _i8),  # num_unknowns, room for the diagonal
        ("unknowns", _i8),  # num_unknowns: what is solved for
        ("buffer", _i8),  # BUFFER_SIZE numbers, or as many as the largest block has rows
        ("num_buffer", _i8),
        ("multipliers", _i8),  # num_rows
        ("step", _i8),  # ndx: a correction of q
        ("change", _i8),  # nv: M^-1 A^T of the multipliers
        ("unloaded", _i8),  # nv zeros
        ("next_q", _i8),  # nq
        # where nested loops are eliminated locally: see `mbkit.kernels.constraints.solve.nested`
        ("propagations", _i8),  # PROPAGATION entries, by body of the tree
        ("first_propagations", _i8),  # integers: the first of each row of the tree, and one more
        ("num_propagations", _i8),
        ("closed_columns", _i8),  # CLOSED_COLUMN entries, nv of them
        ("num_closed_columns", _i8),
        ("eliminate_inward", _i8),  # the representation's own, by address; form of `evaluation`
        ("solve_nested", _i8),
        # the representation's own, by address; form of `evaluation`
        ("free_dynamics", _i8),
        ("hybrid_dynamics", _i8),
        ("move_sites", _i8),
        ("respond", _i8),
        ("spread", _i8),
        # of all representations, by address: they are long, and many kernels call them
        ("constraint_rows", _i8),
        ("linearise", _i8),
        # stabilisation: the wanted frequency and damping [1/s], zero without
        ("stiffness", _f8),
        ("damping", _f8),
        # the strategy, by address: see `mbkit.kernels.constraints.solve.strategy`
        ("prepare", _i8),
        ("resolve", _i8),
        ("reduce", _i8),  # 0: its multipliers are those of least norm already
        ("gather", _i8),
        (
            "tolerance",
            _f8,
        ),  # squared size of a row that depends on others, by that of its constraint
        ("watched", _i8),  # 1: inertias differ so much that a row may be lost to a light body
        ("room", _i8),  # 3 num_unknowns numbers
        # strategies on a dense matrix: see `mbkit.kernels.constraints.solve.dense`
        ("dense_prepare", _i8),
        ("dense_solve", _i8),
        ("dense", _i8),
        ("efforts", _i8),  # nv
        ("memory", _i8),  # the strategy's own numbers
        # of samples side by side: how many numbers of one are there, with its matrix and vectors
        ("num_alone", _i8),
    ],
    align=True,
)

CONSTRAINT = np.dtype(
    [
        ("kind", _i8),
        ("first_row", _i8),
        ("num_rows", _i8),
        ("first_position_row", _i8),
        ("num_position_rows", _i8),
        ("first_site", _i8),
        ("num_sites", _i8),
        ("first_wrench", _i8),
        ("joint", _i8),  # LOOP_JOINT: which row of the joints
        # TABLE: function by address, its parameters, by which rows are multiplied for metres, and
        # the joints it names (as in FORCE) with the velocities it has coefficients for
        ("function", _i8),
        ("parameters", _i8),
        ("num_parameters", _i8),
        ("scales", _i8),
        ("slot", _i8),  # a constraint in Python finds its arguments here
        ("joints", _i8),
        ("num_joints", _i8),
        ("velocities", _i8),  # integers
        ("num_velocities", _i8),
        ("first_coefficient", _i8),
        # the bodies of the tree that carry its sites and joints, from the tips inwards
        ("support", _i8),  # integers
        ("num_support", _i8),
        ("paths", _i8),  # PATH_SIZE integers for each of them
        ("num_columns", _i8),
        ("first_response", _i8),
    ],
    align=True,
)

#: A support path leads from a tip to where it joins another, or to the world: on which one a row of
#: the tree is, on which its parent is, and whether it is the first of its own.
PATH_OWN = 0
PATH_ON = 1
PATH_BEGINS = 2
PATH_SIZE = 3

#: A frame on a row of the tree: its pose in the row's frame, and in world axes, at its own origin:
#: pose, twist and acceleration.
CONSTRAINT_SITE = np.dtype(
    [
        ("row", _i8),
        ("place_R", _f8, (3, 3)),
        ("place_p", _f8, (3,)),
        ("R", _f8, (3, 3)),
        ("p", _f8, (3,)),
        ("arm", _f8, (3,)),
        ("V", _f8, (6,)),
        ("A", _f8, (6,)),
    ],
    align=True,
)

#: Slot of a constraint in Python after the status: callback, t, then q and v of its joints, poses
#: and twists of its bodies; and its results: residual, the terms of its rate without velocities and
#: of its second derivative without accelerations, wrenches and coefficients.
OWN_EVALUATE = 1
OWN_TIME = 2
OWN_VECTORS = 3

#: Two constraints that move a common row of the tree. Their entries in the Gram matrix begin at
#: `target`, `stride` numbers a row; a match is MATCH_SIZE integers for each such row.
PAIR = np.dtype(
    [
        ("row", _i8),
        ("column", _i8),
        ("target", _i8),
        ("stride", _i8),
        ("matches", _i8),
        ("num_matches", _i8),
    ],
    align=True,
)

MATCH_HIGH = 0  # the place of its first column in one of them
MATCH_LOW = 1  # in the other
MATCH_COUNT = 2  # how many columns follow each other
MATCH_VELOCITY = 3  # that of the first column; those of the others are one less each
MATCH_ROW = 4
MATCH_SIZE = 5

#: A row of the tree that so many constraints share that its velocities stay unknowns beside the
#: multipliers: [A M^-1 A^T, B; B^T, -1] with B = y times the root of D, where the product is
#: without them. One row for each constraint that moves it; `target` is where B begins in the Gram
#: matrix, and how far on the next row of the constraint is, and the next velocity.
SEPARATOR = np.dtype(
    [
        ("constraint", _i8),
        ("place", _i8),  # of its first column in y
        ("row", _i8),  # of the tree
        ("velocity", _i8),  # of that column; those of the others are one less each
        ("num_columns", _i8),
        ("target", _i8),
        ("row_stride", _i8),
        ("column_stride", _i8),
    ],
    align=True,
)

#: Rows that are eliminated together. A neighbour is a block that comes later and is coupled with
#: it: NEIGHBOUR_SIZE integers; its update is one integer for itself and each neighbour before it.
BLOCK = np.dtype(
    [
        ("first_row", _i8),
        ("num_rows", _i8),
        ("start", _i8),  # where its own part begins in the Gram matrix
        ("rank", _i8),
        ("is_separator", _i8),  # 1: its pivot is negative, and kept with the other sign
        ("neighbours", _i8),
        ("num_neighbours", _i8),
        ("updates", _i8),
        ("num_updates", _i8),
        # of a constraint whose loop is eliminated at its base
        ("base_row", _i8),  # the row of the tree at which it is
        ("base_start", _i8),  # where L^-1 of the wrenches there begins in the Gram matrix, (6, n)
        ("propagated", _i8),  # integers: where its wrenches lie at the base, and each neighbour's
        ("first_pair", _i8),  # those that are complete at the base
        ("num_pairs", _i8),
    ],
    align=True,
)

NEIGHBOUR_BLOCK = 0  # its number in the order of elimination
NEIGHBOUR_START = 1  # where the coupling begins: its rows by this block's columns
NEIGHBOUR_SIZE = 2

#: The wrenches of a constraint, propagated inwards, at one row of the tree.
PROPAGATION = np.dtype(
    [
        ("constraint", _i8),
        ("place", _i8),  # of the row's first column in y
        ("wrenches", _i8),  # where its wrenches lie: at this row,
        ("there", _i8),  # and at the row's parent
        ("begins", _i8),  # 1: nothing of it comes from further out
        ("ends", _i8),  # 1: this is the base, and it goes no further
    ],
    align=True,
)

#: What the articulated-body algorithm has by velocity, where nested loops are eliminated locally.
CLOSED_COLUMN = np.dtype([("U", _f8, (6,)), ("D", _f8), ("u", _f8)], align=True)

#: What `solve_nested` does.
INWARD = 0
OUTWARD = 1  # from what INWARD has left
OUTWARD_AT_REST = 2  # as if that were zero
GATHER = 3
SUBTRACT_MOTION = 4

#: How much of a row counts as dependent where loops are open, in parts of the gap, and at most.
OPENNESS = 10.0
MOST_OPENED = 1e-2

#: How much more of a row must be left, squared, if it did not count where the step began.
PREFERENCE = 1e4

#: How much of a row that counts the factor must leave, squared: bodies are lighter than others by
#: no more.
KEPT = 1e-16

#: The most rows that are compared with each other whatever the strategy.
MOST_COMPARED = 24

#: Squared sizes of rows below this part of the largest are rounding.
ROUNDING = 1e-24

#: The most rows of a loop joint, and where in the buffer its wrenches lie, and what the velocity of
#: its coordinates is solved with.
MOST_ROWS = 6
BUFFER_WRENCHES = 0
BUFFER_Q = 36
BUFFER_R = 72
BUFFER_SIZE = 108
