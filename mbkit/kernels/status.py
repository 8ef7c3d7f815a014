"""Status integers of the kernels: a code, and the index it speaks of."""

from mbkit.kernels.compile import helper

OK = 0
WRONG_LENGTH = 1
CALLBACK_FAILED = 2  # a Python function did not come to its end
JOINT_FAILED = 3  # a joint's function returned a non-zero status; index: body
SINGULAR_INERTIA = 4  # no inertia along a velocity; index: velocity
NOT_FINITE = 5
FORCE_FAILED = 6  # a force's function returned a non-zero status; index: force
FORCE_NOT_FINITE = 7  # index: force
EVENT_FAILED = 8  # the number of an event is not finite; index: event, or their count: a callback
MOTION_FAILED = 10  # the function of time of a prescribed joint did not come to its end
CONSTRAINT_FAILED = 11  # a constraint's function returned a non-zero status; index: constraint
NOT_CLOSED = 12  # no configuration nearby closes the loops
CONSTRAINT_NOT_FINITE = 13  # index: constraint
SOLVER_FAILED = 14  # a constraint solver in Python did not come to its end
NOT_CONVERGED = 15  # Newton's iteration
SINGULAR_STEP = 16  # Newton's matrix; index: the column without a pivot
STEP_TOO_SMALL = 17  # of an integrator that chooses its steps; index: why, as follows
NOT_SOLVED = 18  # the equations of the multipliers, by their factor; index: row
EVENT = 9  # no failure: an event lies in the step that was not taken

#: Why steps are too small: their error is too large, they are too many, the parts of a starting
#: step do not agree, Newton's method fails; LARGEST_ERROR + j: their error is, most at velocity j.
INACCURATE = 0
TOO_MANY = 1
IN_PARTS = 2
UNSOLVED = 3
LARGEST_ERROR = 4

_FACTOR = 1 << 32


@helper
def failure(code, index):
    """Pack a code and an index into one status."""
    return code + index * _FACTOR


@helper
def code_of(value):
    """The code of a status."""
    return value % _FACTOR


def unpack(value: int) -> tuple[int, int]:
    """Return (code, index)."""
    return value % _FACTOR, value // _FACTOR
