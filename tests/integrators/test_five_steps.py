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


EXPLICIT = (*INTEGRATORS[:6], mb.LocalVectorSpace("RK45"))


@functools.cache
def floating():
    """Return a body with an arm in free fall, and the motion by steps that are short."""
    mech = mb.Mechanism("satellite", gravity=(0.0, 3.0, -9.81))
    bus = mech.add_body(mb.Body("bus", mb.SpatialInertia.box(1.0, size=(0.3, 0.2, 0.5))))
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.box(0.4, size=(0.6, 0.1, 0.1))))
    mech.add_joint(mb.FreeJoint("base"), mech.world, bus)
    mech.add_joint(mb.RevoluteJoint("arm", axis=(0, 0.6, 0.8), point=(0.3, 0, 0)), bus, arm)
    system, v = mech.assemble(), np.array([1.0, 2.0, 3.0, 0.3, -0.2, 0.1, -2.0])
    return system, v, mb.simulate(system, (0.0, 0.01), 1e-3, v=v, save_every=2)


@pytest.mark.every_case
@pytest.mark.parametrize("integrator", EXPLICIT, ids=repr)
def test_five_steps_in_momenta_lead_where_the_motion_goes(integrator):
    system, v, motion = floating()
    form = mb.MomentumForm(system)
    run = mb.simulate(form, (0.0, 0.01), 2e-3, v=v, integrator=integrator)
    for q, found in zip(motion.q, run.q, strict=True):
        assert np.abs(system.difference(q, found)).max() < 5e-7
    np.testing.assert_allclose(run.v, motion.v, rtol=0.0, atol=2e-4)
