"""Runs that grow without bounds since their steps are too large say so, and which step would do."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import flyball_governor, four_bar
from mbkit.simulation.monitors.growth import fastest_rate


@pytest.mark.parametrize(("h", "steps"), [(1e-3, 10), (2e-3, 10)])
def test_rkmk4_fails_on_the_governor_in_words(h, steps):
    """Its hard springs have a rate of 8117 1/s: three and six times the limit."""
    system = flyball_governor.build().assemble()
    v = flyball_governor.initial_velocity(system)
    with pytest.raises(mb.NotFiniteError) as caught:
        mb.simulate(system, (0.0, 0.5), h, v=v, progress=False)
    message = str(caught.value)
    for part in (
        "The simulation stopped at t = 0.00", "in step", "grows without bounds",
        f"Steps of h = {h:g} s are too large for RungeKuttaMuntheKaas", "rate of 8117 1/s",
        "explicit methods need h below about 2.5 over it, 0.00031 s", "mbkit.GeneralizedAlpha()",
    ):  # fmt: skip
        assert part in message
    assert isinstance(caught.value.__cause__, mb.MbkitError)
    assert 1 < len(caught.value.result.t) <= steps


class Push(mb.Force):
    """It supplies energy, and then is not finite."""

    joints = ("rail",)

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = np.inf if t > 0.5 else 1e9


def test_an_implicit_method_is_not_told_to_be_another():
    """It grows since a force supplies energy; h below that of explicit methods would not help."""
    mech = mb.Mechanism("rail", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail"), mech.world, body)
    mech.add_force(Push("push"))
    with pytest.raises(mb.NotFiniteError, match="grows without bounds") as caught:
        mb.simulate(mech.assemble(), (0.0, 1.0), 0.1, integrator=mb.BLieDF(1), progress=False)
    assert "too large for BLieDF, or the forces supply energy." in str(caught.value)
    assert "explicit" not in str(caught.value)
    assert "mbkit.BLieDF" not in str(caught.value)


@pytest.mark.compiled
def test_the_step_that_the_message_names_is_one_that_works():
    system = flyball_governor.build().assemble()
    v = flyball_governor.initial_velocity(system)
    run = mb.simulate(system, (0.0, 0.5), 3.125e-4, v=v, progress=False, save_every=1600)
    height = flyball_governor.HEIGHT + run.q[-1, system.position_slice("slide")][0]
    assert abs(height - flyball_governor.HEIGHT_AFTER_500_MS) < 1e-10


def test_the_fastest_rate_of_a_closed_mechanism_is_that_of_what_its_loops_allow():
    """A four-bar with a spring in its crank: the eigenvalue of the reduced equation of motion."""
    mech = four_bar.build()
    mech.add_force(mb.JointSpring("spring", "A", stiffness=1e4))
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))
    q, rest = system.reference_configuration(), np.zeros(system.nv)
    H = system.constrained_jacobian(q, ["A"])
    inertia = (H.T @ system.mass_matrix(q) @ H).item()
    found = fastest_rate(system, 0.0, q, rest)
    assert found == pytest.approx(np.sqrt(1e4 / inertia), rel=2e-2)  # gravity beside the spring


def test_forces_that_are_not_finite_are_not_called_growth():
    system = flyball_governor.build().assemble()

    def tau(t, q, v):
        return np.full(system.nv, np.nan if t > 1e-3 else 0.0)

    with pytest.raises(mb.NotFiniteError) as caught:
        mb.simulate(system, (0.0, 0.5), 2e-4, tau=tau, progress=False)
    assert "grows" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [1.5, 2.6])
def test_no_step_is_advised_that_is_larger_than_the_one_used(rate):
    """Euler's method, which follows no vibration at all, and steps just beyond most others."""
    mech = mb.Mechanism("rail", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail"), mech.world, body)
    mech.add_force(mb.JointSpring("spring", "rail", stiffness=rate**2))
    method = mb.RungeKuttaMuntheKaas(mb.tableaus.EULER)
    with pytest.raises(mb.NotFiniteError, match="too large for RungeKuttaMuntheKaas") as caught:
        mb.simulate(mech.assemble(), (0.0, 2000.0), 1.0, q=[1.0], integrator=method, progress=False)
    message = str(caught.value)
    advised = [float(part.split(" s")[0]) for part in message.split("over it, ")[1:]]
    assert all(h <= 0.5 for h in advised)
    assert len(advised) == (rate > 2.5)
    assert f"at a rate of {rate:.4g} 1/s" in message
