"""Solutions of the standard problems to rounding, and errors against them."""

import functools

import attrs
import numpy as np

import mbkit as mb
from mbkit.testing.convergence import fitted_slope
from mbkit.testing.standard_problems import STANDARD_PROBLEMS

BODY, TOP, LONG_TETHER, ARM = STANDARD_PROBLEMS

#: Two seconds of it: what steps are named in these tests for.
TETHER = attrs.evolve(LONG_TETHER, end=2.0)


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
    speeds = np.linalg.norm(found_v - v, axis=1)
    return float(np.linalg.norm(steps, axis=1).max()), float(speeds.max())


def orders(problem, integrator, counts):
    """The slopes of the errors of q and v over numbers of steps."""
    found = np.array([errors(problem, problem.run(integrator, n)) for n in counts])
    return [fitted_slope(counts, column).value for column in found.T]


class Count:
    """Forces that are none, and count how often they are asked for; the times are kept."""

    def __init__(self, tau=None):
        self.times = []
        self.tau = tau

    def __call__(self, t, q, v):
        self.times.append(t)
        return np.zeros(v.size) if self.tau is None else self.tau(t, q, v)


def spatial_four_bar():
    """Crank, coupler between two balls and rocker, about axes that are skew: one closed loop."""
    mech = mb.Mechanism("spatial four-bar", gravity=(0, 0, -9.81))
    box, at = mb.SpatialInertia.box, mb.spatial.translation
    crank = mech.add_body(mb.Body("crank", box(0.5, size=(0.2, 0.02, 0.03))))
    coupler = mech.add_body(mb.Body("coupler", box(1.0, size=(0.4, 0.3, 0.02))))
    rocker = mech.add_body(mb.Body("rocker", box(0.8, size=(0.03, 0.3, 0.02))))
    mech.add_joint(
        mb.RevoluteJoint("crank pivot", axis=(0, 0, 1)), mech.world, crank,
        frames=(np.eye(4), at((-0.1, 0, 0))),
    )  # fmt: skip
    mech.add_joint(
        mb.SphericalJoint("near ball"), crank, coupler,
        frames=(at((0.1, 0, 0)), at((-0.2, -0.15, 0))),
    )  # fmt: skip
    mech.add_joint(
        mb.RevoluteJoint("rocker pivot", axis=(1, 0, 1)), mech.world, rocker,
        frames=(at((0.6, 0, 0)), at((0, -0.15, 0))),
    )  # fmt: skip
    mech.add_joint(
        mb.SphericalJoint("far ball"), coupler, rocker,
        frames=(at((0.2, 0.15, 0)), at((0, 0.15, 0))),
    )  # fmt: skip
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["far ball"]))
    q = system.reference_configuration()
    wished = np.array([0.0, 2.0, 1.0, -1.0, 0.0])  # the coupler spins about its balls, too
    return system, q, system.consistent_velocity({"crank pivot": 5.0}, q, wished)
