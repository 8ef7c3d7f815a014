"""The configuration space as a group: the product of the joints' own."""

from mbkit.kernels.compile import address_kernel, at, call_address, helper, pointer_at
from mbkit.kernels.evaluation import EVALUATION, positions, steps, velocities
from mbkit.kernels.layout import SCREW
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import JOINT_FAILED, OK, status

# A joint without functions of its own is a vector space: its coordinates add, v = dq/dt.


@helper
def retract_rows(model, work, q, dx, out):
    """out = q exp(dx), joint by joint; q + dx for screws."""
    for i in range(1, model.shape[0]):
        row = model[i]
        a = row.first_position
        k = row.first_step
        if row.kind == SCREW:
            out[a] = q[a] + dx[k]
        elif row.retract == 0:
            for j in range(row.num_steps):
                out[a + j] = q[a + j] + dx[k + j]
        elif (
            call_address(
                row.retract,
                (work[i].slot, pointer_at(row.parameters), at(q, a), at(dx, k), at(out, a)),
            )
            != OK
        ):
            return status(JOINT_FAILED, i)
    return OK


@helper
def dexp_inv_rows(model, work, x, w, out):
    """out = dx/dt where q = retract(q0, x) moves with the rates w, joint by joint."""
    for i in range(1, model.shape[0]):
        row = model[i]
        k = row.first_step
        if row.kind == SCREW:
            out[k] = w[k]
        elif row.dexp_inv == 0:
            for j in range(row.num_steps):
                out[k + j] = w[k + j]
        elif (
            call_address(
                row.dexp_inv,
                (work[i].slot, pointer_at(row.parameters), at(x, k), at(w, k), at(out, k)),
            )
            != OK
        ):
            return status(JOINT_FAILED, i)
    return OK


@helper
def rates_rows(model, work, q, v, out):
    """out = rates at which a step leaves q with velocity v: v, but for nonholonomic joints."""
    for i in range(1, model.shape[0]):
        row = model[i]
        k = row.first_velocity
        d = row.first_step
        if row.rates == 0:
            for j in range(row.num_velocities):
                out[d + j] = v[k + j]
        elif (
            call_address(
                row.rates,
                (
                    work[i].slot,
                    pointer_at(row.parameters),
                    at(q, row.first_position),
                    at(v, k),
                    at(out, d),
                ),
            )
            != OK
        ):
            return status(JOINT_FAILED, i)
    return OK


@helper
def difference_rows(model, work, q0, q1, out):
    """The dx that leads from q0 to q1, joint by joint; q1 - q0 for screws."""
    for i in range(1, model.shape[0]):
        row = model[i]
        a = row.first_position
        k = row.first_step
        if row.difference == 0:
            for j in range(row.num_steps):
                out[k + j] = q1[a + j] - q0[a + j]
        elif (
            call_address(
                row.difference,
                (work[i].slot, pointer_at(row.parameters), at(q0, a), at(q1, a), at(out, k)),
            )
            != OK
        ):
            return status(JOINT_FAILED, i)
    return OK


@address_kernel(EVALUATION)
def retract(space, _option, q, dx, _x, out):
    """The configuration that dx leads to from q, out (nq,)."""
    model = bodies(space)
    return retract_rows(
        model, scratch(space), positions(model, q), steps(model, dx), positions(model, out)
    )


@address_kernel(EVALUATION)
def difference(space, _option, q0, q1, _x, out):
    """The dx that leads from q0 to q1, out (num_steps,)."""
    model = bodies(space)
    return difference_rows(
        model, scratch(space), positions(model, q0), positions(model, q1), steps(model, out)
    )


@address_kernel(EVALUATION)
def rates(space, _option, q, v, _x, out):
    """The rates at which a step leaves q with velocity v, out (num_steps,)."""
    model = bodies(space)
    return rates_rows(
        model, scratch(space), positions(model, q), velocities(model, v), steps(model, out)
    )
