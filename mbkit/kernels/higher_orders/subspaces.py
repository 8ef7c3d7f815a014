"""Rates of motion subspaces of any order, where the user's bodies have their frames."""

from mbkit.kernels.compile import address_kernel, as_array, integers_at, records_at
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions
from mbkit.kernels.higher_orders.layout import PLAN
from mbkit.kernels.higher_orders.memory import new_room
from mbkit.kernels.higher_orders.motion import has_pieces, load_rates, relative_twist
from mbkit.kernels.higher_orders.series import factorial
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import angular, linear, motion_to_child, scale, store
from mbkit.kernels.workspace import bodies, frames

_ZERO = (0.0, 0.0, 0.0)


@address_kernel(EVALUATION)
def motion_subspace_rates(space, option, q, _v, given, out):
    """The rate of order count - 1 of X_k = Ad_site^-1 S_k of each velocity k, out (nv, 6).

    Reads   q; given: v and its derivatives (count - 1, nv), then numbers that the plan requires.
    option  address of a PLAN.
    """
    plan = records_at(option, 1, PLAN)[0]
    model = bodies(space)
    count = plan.count
    nv = model[0].num_velocities
    q = positions(model, q)
    given = as_array(given, (count - 1) * nv + plan.num_given)
    memory, room = new_room(model, plan, given)
    load_rates(given, count - 1, room.rates)
    factor = factorial(count - 1)
    owners = integers_at(plan.body, model.shape[0])
    columns = as_matrix(out, nv, 6)
    for i in range(1, model.shape[0]):
        row = model[i]
        site = frames(space)[owners[i]]
        changes = has_pieces(plan, i)
        if changes:
            behind = given[(count - 1) * nv :]
            if relative_twist(space, option, i, q, behind, memory, room) != OK:
                return failure(JOINT_FAILED, i)
        for c in range(row.num_velocities):
            w = _ZERO
            u = _ZERO
            if changes:
                y = room.columns[c, count - 1]
                w, u = motion_to_child(site.R, site.p, angular(y), linear(y))
            store(columns[row.first_velocity + c], scale(factor, w), scale(factor, u))
    return OK
