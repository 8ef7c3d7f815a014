"""Adjoints of the coordinates that steps on the group are taken in, joint by joint."""

from mbkit.kernels.compile import at, helper
from mbkit.kernels.sensitivities.charts import has_blocks


@helper
def add_block(B, x, out, height, width):
    """out += B^T x for a block B (height, width); all are pointers."""
    for i in range(height):
        weight = x[i]
        for j in range(width):
            out[j] += weight * B[i * width + j]


@helper
def back_through_map(model, maps, every, moved, start, step):
    """From the adjoint of retract(q, x) to those of q, which is added, and of x."""
    step[:] = 0.0
    block = 0
    for i in range(1, model.shape[0]):
        row = model[i]
        a = row.first_step
        d = row.ndx
        if has_blocks(row):
            add_block(at(maps, block), at(moved, a), at(start, a), d, d)
            add_block(at(maps, block + d * d), at(moved, a), at(step, a), d, d)
            block += 2 * d * d
            if every != 0:
                block += 2 * d * d + d * row.num_velocities
        else:
            for k in range(a, a + d):
                start[k] += moved[k]
                step[k] = moved[k]


@helper
def back_through_rates(model, maps, rates, x, q, v):
    """From the adjoint of the rates of x to those of x, q and v, which are added."""
    block = 0
    for i in range(1, model.shape[0]):
        row = model[i]
        a = row.first_step
        d = row.ndx
        n = row.first_velocity
        if has_blocks(row):
            block += 2 * d * d
            add_block(at(maps, block), at(rates, a), at(x, a), d, d)
            add_block(at(maps, block + d * d), at(rates, a), at(q, a), d, d)
            block += 2 * d * d
            add_block(at(maps, block), at(rates, a), at(v, n), d, row.num_velocities)
            block += d * row.num_velocities
        else:
            for k in range(d):
                v[n + k] += rates[a + k]
