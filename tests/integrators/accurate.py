"""Solutions of the standard problems to rounding, and errors against them."""

import functools

import numpy as np

import mbkit as mb
from mbkit.testing.convergence import fitted_slope
from mbkit.testing.standard_problems import STANDARD_PROBLEMS

BODY, TOP, TETHER, ARM = STANDARD_PROBLEMS


@functools.cache
def solution(problem, times=None):
    """q and v at the end, or at the times: order 8 in 1500 steps, right to 1e-13."""
    method = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8)
    if times is None:
        run = problem.run(method, 1500)
        return run.q[-1:], run.v[-1:]
    run = problem.run(method, 1500, save_every=1, save_at=times)
    return run.q, run.v


def errors(problem, run, times=None):
    """The largest errors of q, on its group, and of v at the end, or at the times."""
    q, v = solution(problem, times)
    found_q, found_v = (run.q[-1:], run.v[-1:]) if times is None else (run.q, run.v)
    steps = [problem.system.difference(*pair) for pair in zip(q, found_q, strict=True)]
    return float(np.linalg.norm(steps, axis=1).max()), float(abs(found_v - v).max())


def orders(problem, integrator, counts):
    """The slopes of the errors of q and v over numbers of steps."""
    found = np.array([errors(problem, problem.run(integrator, n)) for n in counts])
    return [fitted_slope(counts, column).value for column in found.T]
