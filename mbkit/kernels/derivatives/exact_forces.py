"""Derivatives of forces by dual numbers, exact: see `mbkit.kernels.duals`."""

import math
from typing import NamedTuple

from mbkit.kernels.compile import (
    as_array,
    at,
    call_address,
    floats_at,
    helper,
    int64,
    kernel,
    matrix,
    records_at,
    stack,
    typed,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.derivatives.forces import called_forces, some_forces
from mbkit.kernels.duals import DIRECTIONS, along, moving
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies, scratch_of, trials

#: The form of `called_forces_along` and `one_force_along`: times, and those of the space, are dual
#: numbers.
FORM = "siiccpc"


@helper
def move_along(space, direction_of, given, q, v):
    """Let the trial state move from (q, v), entry j of (dx, v) along direction_of(given, j).

    Of the DIRECTIONS; entries without one, -1, are constant. Behind the memory of `trials` there is
    some for q as dual numbers.
    """
    trial, speed, dx = trials(space)
    nq = q.shape[0]
    ndx = dx.shape[0]
    size = nq + v.shape[0] + ndx
    start = floats_at(records_at(space, 1, SPACE)[0].trial, size + nq)[size:]
    for j in range(nq):
        start[j] = q[j]
    for j in range(ndx):
        k = direction_of(given, j)
        dx[j] = moving(0.0, k, 1.0) if k >= 0 else 0.0
    for j in range(v.shape[0]):
        k = direction_of(given, ndx + j)
        speed[j] = moving(v[j], k, 1.0) if k >= 0 else v[j]
    return retract_rows(bodies(space), scratch_of(space), start, dx, trial)


@helper
def one_by_one(first, j):
    """Direction k has entry first + k."""
    k = j - first
    return k if k < DIRECTIONS else -1


@helper
def write_along(numbers, count, out, first, size):
    """Derivatives of numbers along that many directions, from entry `first` of rows of a size."""
    for k in range(count):
        for j in range(numbers.shape[0]):
            out[k * size + first + j] = along(numbers[j], k)


def called_forces_along(space, first, count, q, v, t, out):
    """Derivatives of the forces that are called by the entries first to first + count of (dx, v).

    out (count, nv), of at most DIRECTIONS entries.
    """
    model = bodies(space)
    nv = model[0].num_velocities
    start = as_array(q, model[0].num_positions), as_array(v, nv)
    status = move_along(space, one_by_one, first, *start)
    if status != OK:
        return status
    trial, speed, _ = trials(space)
    tau = floats_at(records_at(space, 1, SPACE)[0].efforts, nv)
    status = called_forces(space, at(trial, 0), at(speed, 0), t, tau)
    write_along(tau, count, out, 0, nv)
    return status


def one_force_along(space, place, count, q, v, t, out):
    """Derivatives of the force at a place of the order, as its numbers and the time have them.

    out (count, nv), along that many directions.
    """
    nv = bodies(space)[0].num_velocities
    trial, speed, _ = trials(space)
    for j in range(trial.shape[0]):
        trial[j] = q[j]
    for j in range(nv):
        speed[j] = v[j]
    tau = floats_at(records_at(space, 1, SPACE)[0].efforts, nv)
    status = some_forces(space, (place, place + 1), at(trial, 0), at(speed, 0), t, tau)
    write_along(tau, count, out, 0, nv)
    return status


class States(NamedTuple):
    """N states, one a row."""

    q: matrix  # (N, nq)
    v: matrix  # (N, nv)
    t: matrix  # (N, 1)


@kernel(int64(int64, int64, matrix, typed(States), stack))
def along_all(function, space, time, states, out):
    """The first, by address, of N states by all entries, out (N, ndx + nv, nv).

    `time` (1, 1 + DIRECTIONS) is memory for the time as a dual number. Derivatives of a state at
    which a force fails are not numbers. Returns OK.
    """
    q, v, t = states
    time[:] = 0.0
    for n in range(out.shape[0]):
        time[0, 0] = t[n, 0]
        for first in range(0, out.shape[1], DIRECTIONS):
            count = min(DIRECTIONS, out.shape[1] - first)
            part = out[n, first : first + count]
            if call_address(function, (space, first, count, q[n], v[n], time, part)) != OK:
                part[:] = math.nan
    return OK


class Numbers(NamedTuple):
    """The time and n numbers that functions read, as dual numbers.

    Attributes
    ----------
    memory : ndarray, shape (1 + n, 1 + DIRECTIONS)
        Where they are read.
    seeds : ndarray, shape (..., 1 + n, 1 + DIRECTIONS)
        What they are, but for the time's value, for each DIRECTIONS of the derivatives.
    """

    memory: matrix
    seeds: stack


@kernel(int64(int64, int64, int64, typed(Numbers), typed(States), stack))
def one_along_all(function, space, place, numbers, states, out):
    """The second, by address, of N states, out (N, k, nv).

    `numbers` are the time and those of the force; their memory is left without derivatives.
    """
    q, v, t = states
    memory, seeds = numbers
    for part in range(seeds.shape[0]):
        memory[:, :] = seeds[part]
        first = part * DIRECTIONS
        count = min(DIRECTIONS, out.shape[1] - first)
        for n in range(out.shape[0]):
            memory[0, 0] = t[n, 0]
            rates = out[n, first : first + count]
            if call_address(function, (space, place, count, q[n], v[n], memory, rates)) != OK:
                rates[:] = math.nan
    memory[:, 1:] = 0.0
    return OK
