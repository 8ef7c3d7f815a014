"""Prescribed motions that jump are told of; those that are followed are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb

pytestmark = pytest.mark.compiled  # thousands of steps


def driven(motion, joint=None, gravity=(0, 0, 0)):
    """A body on a joint whose motion is a function of time, and a rod that hangs on it."""
    mech = mb.Mechanism("driven", gravity=gravity)
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    cart = mech.add_body(mb.Body("cart", ball))
    joint = mb.PrismaticJoint("drive", axis=(1, 0, 0)) if joint is None else joint
    mech.add_joint(joint.prescribe(motion), mech.world, cart)
    bob = mech.add_body(mb.Body("bob", ball))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0), point=(0, 0, 1)), cart, bob)
    return mech.assemble()


def simulated(system, h=1e-2, **options):
    return mb.simulate(system, (0.0, 2.0), h, progress=False, **options)


def step(t):
    return np.where(t > 1.004, 1.0, 0.0)


ADAPTIVE = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-8)
METHODS = (None, ADAPTIVE, mb.GeneralizedAlpha(), mb.MultistepMuntheKaas())
each_method = pytest.mark.parametrize("integrator", METHODS, ids=repr)


@pytest.mark.some(4)
@each_method
def test_a_jump_is_told_of_once_whatever_is_saved(integrator):
    """Horizontally it costs no energy, and the velocity is zero before and after."""
    for options in ({}, {"save_every": 50}):
        with pytest.warns(mb.JumpWarning, match="joint 'drive' jumps") as caught:
            run = simulated(driven(step), integrator=integrator, **options)
        assert [str(each.message) for each in caught] == list(run.warnings)
        assert "it moves by 1, and by 0 as its velocities say" in run.warnings[0]
        first, last = (float(part.split(" s")[0]) for part in run.warnings[0].split("t = ")[1:])
        assert first <= 1.004 < last


def test_it_stands_in_a_run_directory_and_in_a_file(tmp_path):
    with pytest.warns(mb.JumpWarning):
        run = simulated(driven(step), output=tmp_path / "run")
    assert "jumps" in run.warnings[0]
    assert mb.load_result(tmp_path / "run").warnings == run.warnings


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "motion",
    [np.tan, lambda t: 1.0 / (t - 1.003) ** 2, lambda t: 1e-3 / (t - 1.003)],
    ids=["tan", "even", "odd"],
)
def test_a_pole_is_told_of(motion):
    """By the jump, or by the energy that is missing behind it."""
    with pytest.warns((mb.JumpWarning, mb.EnergyBalanceWarning)):
        run = simulated(driven(motion))
    assert run.warnings


def test_a_jump_upwards_is_told_of_by_its_energy_too():
    system = driven(step, mb.PrismaticJoint("drive", axis=(0, 0, 1)), gravity=(0, 0, -9.81))
    with pytest.warns((mb.JumpWarning, mb.EnergyBalanceWarning)) as caught:
        run = simulated(system)
    assert {each.category for each in caught} == {mb.JumpWarning, mb.EnergyBalanceWarning}
    assert len(run.warnings) == 2


@pytest.mark.long
def test_a_motion_that_is_faster_than_the_steps_is_told_of():
    """Half steps are half a period; adaptive ones are as small as it asks for."""
    for rate, told in ((620.0, True), (100.0, False)):
        system = driven(lambda t, rate=rate: 1e-3 * np.sin(rate * t))
        if told:
            with pytest.warns((mb.JumpWarning, mb.EnergyBalanceWarning)) as caught:
                simulated(system)
            assert mb.JumpWarning in {each.category for each in caught}
        assert simulated(system, integrator=ADAPTIVE).warnings == ()


@pytest.mark.some(5)
@each_method
@pytest.mark.parametrize(
    "motion",
    [
        lambda t: 1e6 + 1e-3 * np.sin(t),
        lambda t: np.maximum(t - 1.003, 0.0) ** 2,
        lambda t: np.where(t < 1.0, 0.0, np.exp(-1.0 / np.maximum(t - 1.0, 1e-3))),
    ],
    ids=["far away", "starts", "starts smoothly"],
)
def test_motions_that_are_followed_are_not_told_of(integrator, motion):
    """A warning of jumps is an error here."""
    system = driven(motion)
    run = simulated(system, integrator=integrator)
    assert not any("jumps" in text for text in run.warnings)


@pytest.mark.some(4)
@each_method
@pytest.mark.parametrize("at", [1.0, 1.0037])  # where a step ends, and within one
def test_a_kink_is_told_of_by_its_time_even_if_it_costs_no_energy(integrator, at):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = simulated(driven(lambda t: np.abs(t - at)), integrator=integrator)
    assert [str(each.message) for each in caught if each.category is mb.JumpWarning] == [
        text for text in run.warnings if "kink" in text
    ]
    assert f"has a kink at t = {at:.9g} s: its velocity jumps from -1 to 1" in run.warnings[0]


def test_energy_that_a_kink_takes_is_not_blamed_on_the_steps():
    with pytest.warns((mb.JumpWarning, mb.EnergyBalanceWarning)):
        run = simulated(driven(lambda t: np.minimum(3.0 * t, 1.5)))
    kink, balance = run.warnings
    assert "has a kink at t = 0.5 s: its velocity jumps from 3 to 0" in kink
    assert "First mend the prescribed motion" in balance
    assert "h =" not in balance


def test_an_angle_that_is_wrapped_is_the_same_angle():
    hinge = mb.RevoluteJoint("drive", axis=(0, 0, 1))
    wrapped = driven(lambda t: np.arctan2(np.sin(3.0 * t), np.cos(3.0 * t)), hinge)
    assert simulated(wrapped).warnings == ()
    with pytest.warns(mb.JumpWarning):
        simulated(driven(lambda t: np.where(t > 1.0, 3.0, 0.0), hinge))


def test_a_ball_joint_is_looked_at_on_its_group():
    """By the rotation vector between its quaternions, not by their difference."""
    ball = mb.SphericalJoint("drive")

    def turning(t):
        return np.array([np.cos(2.0 * t), 0.0, 0.0, np.sin(2.0 * t)])

    assert simulated(driven(turning, ball)).warnings == ()

    def jumping(t):
        angle = 2.0 * t + np.where(t > 1.004, 0.5, 0.0)
        return np.array([np.cos(angle), 0.0, 0.0, np.sin(angle)])

    with pytest.warns(mb.JumpWarning, match="jumps"):
        simulated(driven(jumping, ball))
