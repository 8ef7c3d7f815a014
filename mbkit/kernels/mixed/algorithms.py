"""The algorithms of dynamics in mixed twists."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.constraints.solve import nested, nested_solution, response
from mbkit.kernels.evaluation import EVALUATION, vector
from mbkit.kernels.mixed import recursion as own
from mbkit.kernels.recursions import columns, motion
from mbkit.kernels.recursions.articulated_body import articulated_body, split
from mbkit.kernels.recursions.composite_body import columns_power, composite_body
from mbkit.kernels.recursions.newton_euler import newton_euler
from mbkit.kernels.recursions.world import start


@address_kernel(EVALUATION)
def inverse_dynamics(space, option, q, v, vdot, tau):
    """The forces that produce vdot."""
    return newton_euler(
        space, option, q, v, vdot, tau,
        start, own.twist, own.acceleration, own.own_wrench, columns.column_power, own.to_parent,
        own.wrench_from_world,
    )  # fmt: skip


@address_kernel(EVALUATION)
def forward_dynamics(space, option, q, v, tau, vdot):
    """The accelerations under tau."""
    tau, vdot = vector(space, tau), vector(space, vdot)
    return articulated_body(
        space, option, q, v, tau, tau, vdot, tau, False,
        start, own.twist, own.own_bias, own.place_for_forces, own.forces,
        columns.column_inertia, columns.column_power, own.to_parent, own.inertia_to_parent,
        own.from_parent, columns.add_column,
    )  # fmt: skip


@address_kernel(EVALUATION)
def hybrid_dynamics(space, option, q, v, known, found):
    """What is not prescribed; known holds tau, vdot, prescribed (3 nv), found tau, vdot (2 nv)."""
    given, tau, vdot, prescribed = split(space, known, found)
    return articulated_body(
        space, option, q, v, given, tau, vdot, prescribed, True,
        start, own.twist, own.own_bias, own.place_for_forces, own.forces,
        columns.column_inertia, columns.column_power, own.to_parent, own.inertia_to_parent,
        own.from_parent, columns.add_column,
    )  # fmt: skip


@address_kernel(EVALUATION)
def mass_matrix(space, _option, q, _v, _x, M):
    """M(q)."""
    return composite_body(
        space, q, M,
        own.place, own.column_wrench, columns_power, own.columns_to_parent,
        own.composite_to_parent,
    )  # fmt: skip


@address_kernel(EVALUATION)
def twists(space, _option, q, v, _x, out):
    """Twists of the user's bodies."""
    return motion.twists(space, q, v, out, start, own.twist, own.twist_to_site)


@address_kernel(EVALUATION)
def accelerations(space, _option, q, v, vdot, out):
    """Rates of the twists of the user's bodies."""
    return motion.accelerations(
        space, q, v, vdot, out, start, own.twist, own.acceleration, own.rate_to_site
    )


@address_kernel(EVALUATION)
def jacobian(space, body, q, _v, _x, out):
    """The Jacobian of one of the user's bodies."""
    return motion.jacobian(space, body, q, out, own.column_at)


@address_kernel(EVALUATION)
def apply_wrenches(space, _option, q, _v, wrenches, _out):
    """Wrenches on the user's bodies, left for the dynamics."""
    return motion.apply_wrenches(space, q, wrenches, True, own.wrench_from_site)


@address_kernel(EVALUATION)
def constraint_sites(space, option, q, v, _x, _out):
    """Where the frames are that constraints act on, and how they move, after forward dynamics."""
    return response.move_constraint_sites(
        space, option, q, v,
        start, own.twist, own.place_for_forces, own.twist_in_world, own.acceleration_in_world,
    )  # fmt: skip


@address_kernel(EVALUATION)
def constraint_response(space, _option, _q, _v, _x, _out):
    """How the tree responds to the constraints' wrenches, after forward dynamics."""
    return response.respond(space, own.wrench_from_world, columns.column_power, own.to_parent)


@address_kernel(EVALUATION)
def constraint_motion(space, _option, _q, _v, _x, change):
    """The accelerations that the constraints' wrenches add, out (nv,)."""
    change = vector(space, change)
    return response.spread(space, change, own.from_parent, columns.add_column)


@address_kernel(EVALUATION)
def constraint_closing(space, _option, _q, _v, _x, _out):
    """Loops that hang on loops, each closed at its base, after forward dynamics."""
    return nested.close_inward(
        space, own.wrench_from_world, own.own_bias, columns.column_inertia, columns.column_power,
        own.to_parent, own.inertia_to_parent,
    )  # fmt: skip


@address_kernel(EVALUATION)
def constraint_solution(space, what, _q, _v, _x, rows):
    """What follows from that for right sides and multipliers, in place (num_rows,)."""
    return nested_solution.solve(
        space, what, rows, own.wrench_from_world, columns.column_power, own.to_parent,
        own.from_parent, columns.add_column,
    )  # fmt: skip
