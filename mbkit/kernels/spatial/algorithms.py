"""The algorithms of dynamics in spatial twists."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.constraints.solve import nested, nested_solution, response
from mbkit.kernels.evaluation import EVALUATION, vector
from mbkit.kernels.recursions import motion
from mbkit.kernels.recursions.articulated_body import articulated_body, forward, hybrid
from mbkit.kernels.recursions.composite_body import composite_body
from mbkit.kernels.recursions.newton_euler import newton_euler
from mbkit.kernels.spatial.steps import STEPS


@address_kernel(EVALUATION)
def inverse_dynamics(space, option, q, v, vdot, tau):
    """The forces that produce vdot."""
    return newton_euler(space, option, q, v, vdot, tau, STEPS)


@address_kernel(EVALUATION)
def forward_dynamics(space, option, q, v, tau, vdot):
    """The accelerations under tau."""
    return articulated_body(space, option, q, v, forward(space, tau, vdot), False, STEPS)


@address_kernel(EVALUATION)
def hybrid_dynamics(space, option, q, v, known, found):
    """What is not prescribed; known holds tau, vdot, prescribed (3 nv), found tau, vdot (2 nv)."""
    problem = hybrid(space, known, found)
    return articulated_body(space, option, q, v, problem, True, STEPS)


@address_kernel(EVALUATION)
def mass_matrix(space, _option, q, _v, _x, M):
    """M(q)."""
    return composite_body(space, q, M, STEPS)


@address_kernel(EVALUATION)
def twists(space, _option, q, v, _x, out):
    """Twists of the user's bodies."""
    return motion.twists(space, q, v, out, STEPS)


@address_kernel(EVALUATION)
def accelerations(space, _option, q, v, vdot, out):
    """Rates of the twists of the user's bodies."""
    return motion.accelerations(space, q, v, vdot, out, STEPS)


@address_kernel(EVALUATION)
def jacobian(space, body, q, _v, _x, out):
    """The Jacobian of one of the user's bodies."""
    return motion.jacobian(space, body, q, out, STEPS)


@address_kernel(EVALUATION)
def apply_wrenches(space, _option, q, _v, wrenches, _out):
    """Wrenches on the user's bodies, left for the dynamics."""
    return motion.apply_wrenches(space, q, wrenches, STEPS)


@address_kernel(EVALUATION)
def constraint_sites(space, option, q, v, _x, _out):
    """Where the frames are that constraints act on, and how they move, after forward dynamics."""
    return response.move_constraint_sites(space, option, q, v, STEPS)


@address_kernel(EVALUATION)
def constraint_response(space, _option, _q, _v, _x, _out):
    """How the tree responds to the constraints' wrenches, after forward dynamics."""
    return response.respond(space, STEPS)


@address_kernel(EVALUATION)
def constraint_motion(space, _option, _q, _v, _x, change):
    """The accelerations that the constraints' wrenches add, out (nv,)."""
    return response.spread(space, vector(space, change), STEPS)


@address_kernel(EVALUATION)
def constraint_closing(space, _option, _q, _v, _x, _out):
    """Loops that hang on loops, each closed at its base, after forward dynamics."""
    return nested.close_inward(space, STEPS)


@address_kernel(EVALUATION)
def constraint_solution(space, what, _q, _v, _x, rows):
    """What follows from that for right sides and multipliers, in place (num_rows,)."""
    return nested_solution.solve(space, what, rows, STEPS)
