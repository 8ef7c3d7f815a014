"""The form of all constraints that are called, and access to the arguments and results of each.

``function(space, c, t, q, v)`` evaluates constraint c at a state. It writes the residual g of its
rows of position level, wrenches W and coefficients c of all rows, and the rate and the bias, the
terms of g' and g'' without velocities and without accelerations,
    g'  = sum W.V + sum c v + rate,     g'' = sum W.A + sum c vdot + bias.
Results that it does not write are zero. The frames of its bodies have pose, twist V, acceleration A
in world axes, at their own origin. It returns a status.
"""

from mbkit.kernels.compile import floats_at, helper, integers_at
from mbkit.kernels.constraints.workspace import (
    closure_of,
    coefficients_of,
    constraints,
    sites,
    wrenches_of,
)
from mbkit.kernels.layout import JOINT_POSITION, JOINT_SIZE, JOINT_VELOCITY

CONSTRAINT_FORM = "iidpp"


@helper
def parameters(space, c):
    """The numbers that constraint c was given."""
    constraint = constraints(closure_of(space))[c]
    return floats_at(constraint.parameters, constraint.num_parameters)


@helper
def body(space, c, which):
    """The frame of one of the bodies of constraint c."""
    closure = closure_of(space)
    return sites(closure)[constraints(closure)[c].first_site + which]


@helper
def joint(space, c, which):
    """Of one of the joints of constraint c: its first entry of q, its first entry of v."""
    constraint = constraints(closure_of(space))[c]
    entries = integers_at(constraint.joints, JOINT_SIZE * constraint.num_joints)
    return (
        entries[JOINT_SIZE * which + JOINT_POSITION],
        entries[JOINT_SIZE * which + JOINT_VELOCITY],
    )


@helper
def residual(space, c):
    """g, by rows of position level."""
    closure = closure_of(space)
    constraint = constraints(closure)[c]
    first = constraint.first_position_row
    count = constraint.num_position_rows
    return floats_at(closure.residual, closure.num_position_rows)[first : first + count]


@helper
def _of_rows(closure, constraint, address):
    first = constraint.first_row
    return floats_at(address, closure.num_rows)[first : first + constraint.num_rows]


@helper
def rate(space, c):
    """The terms of g' without velocities, by rows."""
    closure = closure_of(space)
    return _of_rows(closure, constraints(closure)[c], closure.rate)


@helper
def bias(space, c):
    """The terms of g'' without accelerations, by rows."""
    closure = closure_of(space)
    return _of_rows(closure, constraints(closure)[c], closure.bias)


@helper
def wrenches(space, c):
    """Row r on body s, in world axes at its origin, in row r bodies + s; (rows and bodies, 6)."""
    closure = closure_of(space)
    return wrenches_of(closure, constraints(closure)[c])


@helper
def coefficients(space, c):
    """By row and velocity of its joints; (rows, num_velocities)."""
    closure = closure_of(space)
    return coefficients_of(closure, constraints(closure)[c])
