"""Steps that turn a body farther than their local coordinates reach are told of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb

SPIN = 40.0
#: With the angle at which they end.
LOCAL = (
    (mb.ScrewCoordinates(), 2 * np.pi),
    (mb.RotationVectorPosition(), 2 * np.pi),
    (mb.RodriguesPosition(), np.pi),
    (mb.ExtendedRodrigues(), np.pi),
    (mb.DualRodrigues(), np.pi),
    (mb.WienerMilenkovicPosition(), 2 * np.pi),
    (mb.ExtendedWienerMilenkovic(), 2 * np.pi),
)
each_local = pytest.mark.parametrize(
    ("local", "limit"), LOCAL, ids=[type(local).__name__ for local, _ in LOCAL]
)


def stones(local, side="left", orientation=None):
    """Two bodies that spin freely, the second one faster."""
    mech = mb.Mechanism("stones", gravity=(0, 0, 0))
    for name in ("slow", "fast"):
        mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(mb.FreeJoint(name), mech.world, name)
    orientation = mb.UnitQuaternion() if orientation is None else orientation
    return mech.assemble(mb.AbsoluteCoordinates(orientation, local, side))


def spin(system, h, *, steps=8, integrator=None, speed=SPIN, **options):
    v = np.zeros(system.nv)
    v[2], v[8] = 0.1, speed
    run = mb.simulate(
        system, (0.0, steps * h), h, v=v, integrator=integrator, progress=False, **options
    )
    exact = mb.spatial.rotation((0, 0, 1), speed * steps * h)
    return np.abs(system.poses(run.q[-1])[2] - exact).max()


@pytest.mark.parametrize("side", ["left", "right"])
@each_local
def test_a_step_beyond_half_of_the_range_is_told_once(local, limit, side):
    """With the joint, the angle and the range; below, nothing is."""
    system = stones(local, side)
    with pytest.warns(mb.LargeStepWarning, match=r"'fast \(free\)' turns by") as caught:
        spin(system, 0.52 * limit / SPIN)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert f"turns by {0.52 * limit:.3g} rad" in message
    assert f"half of the {limit:.3g} rad at which {type(local).__name__}" in message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spin(system, 0.48 * limit / SPIN)


@pytest.mark.parametrize(
    "integrator",
    [mb.RungeKuttaMuntheKaas(), mb.CommutatorFree(), mb.GeneralizedAlpha(), mb.LocalVectorSpace()],
    ids=repr,
)
def test_what_was_wrong_without_a_word_is_told(integrator):
    """Rodrigues parameters, and steps of 4 rad."""
    system = stones(mb.RodriguesPosition())
    with pytest.warns(mb.LargeStepWarning):
        assert spin(system, 4.0 / SPIN, integrator=integrator) > 0.5


@pytest.mark.compiled  # hundreds of steps
@pytest.mark.parametrize(
    "integrator",
    [
        mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-8),
        mb.LocalVectorSpace(rtol=1e-8),
        mb.QuaternionVectorSpace(rtol=1e-9),
    ],
    ids=repr,
)
def test_steps_of_their_own_size_are_right_and_not_told_of(integrator):
    """A warning is an error here."""
    assert spin(stones(mb.RodriguesPosition()), 4.0 / SPIN, integrator=integrator) < 1e-6


def test_a_body_that_comes_to_spin_faster_is_told_of_with_the_time():
    """Also where few states are saved."""
    system = stones(mb.ScrewCoordinates())
    push = mb.BodyWrench("push", "fast", wrench=(0, 0, 0.4 * 0.1**2 * 10.0, 0, 0, 0))
    with pytest.warns(mb.LargeStepWarning, match="'fast") as caught:
        spin(system, 0.1, steps=100, speed=0.0, forces=[push], save_every=7)
    t = float(str(caught[0].message).split("t = ")[1].split(" s")[0])
    assert 10.0 * t * 0.1 > np.pi  # 10 rad/s^2
    assert len(caught) == 1


def test_a_run_in_a_directory_is_told_of_too(tmp_path):
    """By the same loop."""
    with pytest.warns(mb.LargeStepWarning):
        spin(stones(mb.RodriguesPosition()), 4.0 / SPIN, output=tmp_path / "run")
