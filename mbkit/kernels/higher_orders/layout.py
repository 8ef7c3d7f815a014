"""Records of the series: pieces of joints, and arguments of an evaluation.

A joint whose motion subspace changes is a chain of pieces; each has it as a series in time.
"""

import numpy as np

_i8 = np.int64
_f8 = np.float64

#: Kinds of pieces: S is constant; a screw, exp(X q); the exponential of a sum of screws; a pose in
#: absolute coordinates, S not constant; a joint in Python, whose series comes with the rates.
CONSTANT = 0
SCREW = 1
SUM = 2
ABSOLUTE = 3
GIVEN = 4

#: A piece of a joint. `motion` and `parameters` are those of the table of joints, of a screw a row
#: of `mbkit.kernels.joints.screw_product`. `R`, `p`: its canonical frame K in that of the joint,
#: T = K T' K^-1. `given`: where its numbers begin behind the rates, R by rows, p, then the series
#: of each column of S.
PIECE = np.dtype(
    [
        ("kind", _i8),
        ("first_position", _i8),
        ("first_velocity", _i8),
        ("num_velocities", _i8),
        ("motion", _i8),
        ("parameters", _i8),
        ("given", _i8),
        ("R", _f8, (3, 3)),
        ("p", _f8, (3,)),
    ],
    align=True,
)

#: Arguments of an evaluation, by address: the representation of its result, the number of terms of
#: its series, the pieces, and by body of the tree the first of its pieces, one more than bodies.
#: Bodies without pieces have a constant S.
PLAN = np.dtype(
    [
        ("representation", _i8),  # by its number in `mbkit.kernels.layout`
        ("count", _i8),
        ("pieces", _i8),
        ("num_pieces", _i8),
        ("first_piece", _i8),
        ("num_given", _i8),  # numbers behind the rates
        # of the user, for Jacobians; for motion subspaces, address of which one is on each row
        ("body", _i8),
        ("columns", _i8),  # `pieces.joint_columns`, by address
    ],
    align=True,
)

#: Numbers of a given pose: R, p.
GIVEN_POSE = 12
