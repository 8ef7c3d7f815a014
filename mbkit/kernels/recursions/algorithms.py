"""The algorithms of dynamics as functions by address, written once for all representations.

`algorithms` makes those of a representation from its recursion: the functions below, with
`RECURSION` in their globals. A function inside another would have the recursion in a closure, by
which numba's cache does not find it again; one with globals of its own it keeps as that of any
module.
"""

from types import FunctionType
from typing import Any

from mbkit.kernels.compile import UNCOMPILED, FunctionAddress, address_kernel
from mbkit.kernels.constraints.solve import nested, nested_solution, response
from mbkit.kernels.evaluation_form import EVALUATION, vector
from mbkit.kernels.recursions import motion
from mbkit.kernels.recursions.articulated_body import articulated_body, forward, partly_prescribed
from mbkit.kernels.recursions.composite_body import composite_body
from mbkit.kernels.recursions.newton_euler import newton_euler
from mbkit.kernels.recursions.recursion import Recursion

RECURSION: Any = None  # of the representation, in each copy of the functions


def inverse_dynamics(space, option, q, v, vdot, tau):
    """The forces that produce vdot."""
    return newton_euler(space, option, q, v, vdot, tau, RECURSION)


def forward_dynamics(space, option, q, v, tau, vdot):
    """The accelerations under tau."""
    return articulated_body(space, option, q, v, forward(space, tau, vdot), False, RECURSION)


def hybrid_dynamics(space, option, q, v, known, found):
    """Find what is unknown; known: tau, vdot, prescribed (3 nv), found: tau, vdot (2 nv)."""
    problem = partly_prescribed(space, known, found)
    return articulated_body(space, option, q, v, problem, True, RECURSION)


def mass_matrix(space, option, q, _v, _x, M):
    """M(q), or where the option is PACKED each of its entries once."""
    return composite_body(space, option, q, M, RECURSION)


def twists(space, _option, q, v, _x, out):
    """Twists of the user's bodies."""
    return motion.twists(space, q, v, out, RECURSION)


def accelerations(space, _option, q, v, vdot, out):
    """Rates of the twists of the user's bodies."""
    return motion.accelerations(space, q, v, vdot, out, RECURSION)


def jacobian(space, body, q, _v, _x, out):
    """The Jacobian of one of the user's bodies."""
    return motion.jacobian(space, body, q, out, RECURSION)


def apply_wrenches(space, _option, q, _v, wrenches, _out):
    """Wrenches on the user's bodies, left for the dynamics."""
    return motion.apply_wrenches(space, q, wrenches, RECURSION)


def constraint_sites(space, option, q, v, _x, _out):
    """Where the frames are that constraints act on, and how they move, after forward dynamics."""
    return response.move_constraint_sites(space, option, q, v, RECURSION)


def constraint_response(space, _option, _q, _v, _x, _out):
    """How the tree responds to the constraints' wrenches, after forward dynamics."""
    return response.respond(space, RECURSION)


def constraint_motion(space, _option, _q, _v, _x, change):
    """The accelerations that the constraints' wrenches add, out (nv,)."""
    return response.spread(space, vector(space, change), RECURSION)


def constraint_elimination(space, _option, _q, _v, _x, _out):
    """Local elimination of nested loops, each at its base, after forward dynamics."""
    return nested.eliminate_inward(space, RECURSION)


def constraint_solution(space, what, _q, _v, _x, x):
    """Solve the eliminated equations for right sides and multipliers, in place (num_rows,)."""
    return nested_solution.solve(space, what, x, RECURSION)


_FUNCTIONS = (
    inverse_dynamics,
    forward_dynamics,
    hybrid_dynamics,
    mass_matrix,
    twists,
    accelerations,
    jacobian,
    apply_wrenches,
    constraint_sites,
    constraint_response,
    constraint_motion,
    constraint_elimination,
    constraint_solution,
)


def algorithms(recursion: Recursion, module: dict[str, Any]) -> dict[str, FunctionAddress]:
    """Return the functions above for the recursion of a representation, by their names.

    Parameters
    ----------
    recursion : Recursion
        Of the representation.
    module : dict
        ``globals()`` of the module that they become functions of; its file is where the cache of
        compiled code is kept.
    """
    made = {}
    for function in _FUNCTIONS:
        code = function.__code__
        if not UNCOMPILED:  # where Python runs them, tracebacks name the lines above
            code = code.replace(co_filename=module["__file__"])
        copy = FunctionType(code, {**globals(), "RECURSION": recursion}, function.__name__)
        copy.__doc__ = function.__doc__
        copy.__module__ = module["__name__"]
        made[function.__name__] = address_kernel(EVALUATION)(copy)
    return made
