"""Derivatives of runs of a tree of six bodies on joints with several velocities, by complex steps.

The methods are written here anew with complex numbers, from the equations in their docstrings; the
derivatives of the end of a run are imaginary parts, exact to rounding.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.sensitivities.differences import assert_adjoint
from tests.sensitivities.test_complex_steps import RHO, Alpha, ComplexMethod
from tests.systems.complex_steps import STEP
from tests.systems.test_complex_steps import KINDS, assert_close, forces
from tests.trees import random_mechanism, random_state

H, STEPS = 0.002, 2

#: Parameters, and how they move.
MOVED = {
    "gravity": (0.3, 0.2, -0.5), "bodies.body2.mass": 1.0, "bodies.body5.com": (0.1, 0.3, -0.2),
    "joints.joint3.S_pred": (0.3, -0.1, 0.2, 0.5, 0.4, 0.1), "forces.pair.stiffness": 1.0,
    "joints.joint4.S_succ": (0.1, 0.2, -0.3, 0.1, -0.4, 0.2), "forces.drag.quadratic": 1.0,
    "joints.joint1.point": (0.2, -0.1, 0.3), "joints.joint3.axis1": (0.1, -0.3, 0.2),
}  # fmt: skip


class Classical(ComplexMethod):
    """Steps of the classical method on the group."""

    NAMES = ("forward_dynamics", "retract", "dexp_inv")

    def end(self, q, v):
        for step in range(STEPS):
            here, w, speeds, rates = q, v, [v], []
            for c, ahead in ((0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 0.0)):
                rates.append(self.at("forward_dynamics", q=here, v=w, t=(step + c) * H))
                if ahead:
                    x, w = ahead * H * speeds[-1], v + ahead * H * rates[-1]
                    here = self.at("retract", q=q, dx=x)
                    speeds.append(self.at("dexp_inv", dx=x, rate=w))
            b = np.array([1.0, 2.0, 2.0, 1.0]) * H / 6.0
            q, v = self.at("retract", q=q, dx=b @ speeds), v + b @ rates
        return np.concatenate([q, v])


class AlphaOfTrees(Alpha):
    """Generalized-alpha on the group."""

    NAMES = ("inverse_dynamics", "forward_dynamics", "retract")

    def __init__(self, system, q, free, tau):
        ComplexMethod.__init__(self, system, q, free, tau)
        self.stabilised, self.plain, self.held = True, False, self.rows
        self.c, self.solved = mb.AlphaCoefficients.from_rho_inf(RHO), {}

    def moved(self, q, x):
        return self.at("retract", q=q, dx=x)

    def jacobian(self, _):
        return np.zeros((0, self.system.nv))

    def at(self, name, t=0.0, **given):
        found = super().at(name, t, **given)
        return found - self.tau if name == "inverse_dynamics" else found

    def end(self, q, v):
        return np.concatenate(self.walk(q, v, [H] * STEPS)[:2])


METHODS = {
    "classical": (Classical, mb.RungeKuttaMuntheKaas()),
    "generalized-alpha": (AlphaOfTrees, mb.GeneralizedAlpha(RHO, tolerance=1e-13)),
}


def turn(t, q, v):
    return -0.1 * np.cos(q[: v.size]) * v


class Pull(mb.Force):
    """A wrench on a body that depends on its place and its twist."""

    acts_on = "bodies"
    bodies = ("body3",)
    representation = mb.BodyFixed()

    def evaluate(self, t, q, v, poses, twists, out):
        out[0, 3:] = -4.0 * poses[0, :3, :3].T @ poses[0, :3, 3] - 0.3 * np.cross(
            *np.split(twists[0], 2)
        )
        out[0, :3] = 0.2 * poses[0, 1, :3] * twists[0, 4]


@pytest.mark.slow
@pytest.mark.filterwarnings("error::mbkit.ForceDerivativeWarning")
@pytest.mark.some(2)
@pytest.mark.parametrize("name", METHODS)
def test_runs(name):
    """Forward and adjoint, by state, efforts, and parameters of bodies, joints and forces."""
    mech = forces(random_mechanism(np.random.default_rng(70), 6, KINDS, turned_round=0.5))
    timeless = [mb.ForceFunction("turn", turn), Pull("pull")]  # in Python, and traced
    system = mech.assemble().with_forces(timeless)
    if name == "generalized-alpha":
        system = system.without_forces(["push"])  # which knows the time
    state = random_state(np.random.default_rng(90), system)
    make, integrator = METHODS[name]
    run = mb.simulate(
        system, (0.0, STEPS * H), H, q=state.q, v=state.v, tau=state.tau, integrator=integrator
    )
    method = make(system, state.q, tuple(MOVED), state.tau)
    q, v, tau = state.q + 0j, state.v + 0j, state.tau
    end = method.end(q, v).real
    assert_close(np.concatenate([run.q[-1], run.v[-1]]), end, 1e-11)
    found = mb.sensitivities(run, by=["q", "v", "tau", *MOVED])
    assert_adjoint(run, found, rtol=1e-11)

    def check(moves, moved):
        """Compare the sum of the derivatives along all of these moves, in random directions."""
        by_q, by_v = (
            sum(np.tensordot(part[of][-1], x, np.ndim(x)) for of, x in moves.items())
            for part in (found.q, found.v)
        )
        own = np.concatenate([system.position_rates(run.q[-1], by_q), by_v])
        assert_close(own, moved.imag / STEP)

    rng, e = np.random.default_rng(1), 1j * STEP
    x, w, pull = rng.normal(size=(3, system.nv))
    method.tau = tau + e * pull
    moved = method.end(q + e * system.position_rates(state.q, x), v + e * w)
    check({"q": x, "v": w, "tau": pull}, moved)
    method.tau = tau
    changes = method.own["forward_dynamics"].changes
    method.moves = {each: np.atleast_2d(along) @ changes(each) for each, along in MOVED.items()}
    check(MOVED, method.end(q, v))
