"""Five steps of every integrator: what is looked at where kernels are not compiled, too."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import mbkit as mb
from tests.integrators.tops import TOPS

INTEGRATORS = (
    mb.RungeKuttaMuntheKaas(),
    mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-6),
    mb.RungeKuttaMuntheKaas(truncation=2),
    mb.CommutatorFree(),
    mb.CrouchGrossman(),
    mb.MultistepMuntheKaas(3),
    mb.GeneralizedAlpha(),
    mb.GeneralizedAlpha(formulation="index3"),
    mb.GeneralizedAlpha(rtol=1e-4),
    mb.BLieDF(3),
    mb.BLieDF(2, formulation="index3"),
    mb.RATTLie(),
    mb.LocalVectorSpace("RK45"),
    mb.LocalVectorSpace("Radau", rtol=1e-6),
    mb.QuaternionVectorSpace("RK45"),
    mb.QuaternionVectorSpace("RK45", norm="constrained"),
)


@functools.cache
def exact(name):
    """Return a top, its velocity at the start, and its motion in six instants."""
    system, v = TOPS[name]()
    return system, v, mb.simulate(system, (0.0, 0.01), 1e-3, v=v, save_every=2)


@pytest.mark.some(3)
@pytest.mark.every_case
@pytest.mark.parametrize("name", TOPS)
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=repr)
def test_five_steps_lead_where_the_motion_goes(name, integrator):
    """To what methods of order two leave of steps of 2 ms, with loops closed."""
    system, v, motion = exact(name)
    run = mb.simulate(system, (0.0, 0.01), 2e-3, v=v, integrator=integrator)
    for q, found in zip(motion.q, run.q, strict=True):
        assert np.abs(system.difference(q, found)).max() < 5e-7
    np.testing.assert_allclose(run.v, motion.v, rtol=0.0, atol=2e-4)
    if system.num_velocity_constraints:
        assert run.residuals[:, 0].max() < 1e-11
