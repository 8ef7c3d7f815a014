"""Steps on SE(3) keep a lower pair to the ground; those on SO(3) x R^3 by their order only."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples import effect_of_the_group as example
from mbkit.lie import SE3

ON_SE3 = [local for local in example.LOCAL if local.group is SE3]
APART = [local for local in example.LOCAL if local.group is not SE3]

AXIS, POINT = (1.0, 2.0, 0.5), (0.1, 0.0, -0.2)
LOWER_PAIRS = (
    mb.RevoluteJoint("pair", AXIS, POINT),
    mb.PrismaticJoint("pair", AXIS),
    mb.HelicalJoint("pair", AXIS, POINT, pitch=0.1),
    mb.CylindricalJoint("pair", AXIS, POINT),
    mb.PlanarJoint("pair", AXIS, POINT),
    mb.SphericalJoint("pair", point=POINT),
)


def opening(joint, coordinates, h=2e-3):
    """Return how far a body's joint to the ground opens in half a second, without projection."""
    mech = mb.Mechanism("pair")
    inertia = mb.SpatialInertia.from_com(2.0, (0, 0, 0), np.diag([0.3, 0.5, 0.75]))
    body = mech.add_body(mb.Body("body", inertia, mb.spatial.translation((0.2, 0.6, -0.1))))
    mech.add_joint(joint, mech.world, body)
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    v = np.linspace(5.0, 9.0, relative.nv)
    q, v = absolute.state_of(relative, relative.reference_configuration(), v)
    run = mb.simulate(
        absolute, (0.0, 0.5), h, q=q, v=v, stabilisation=None, save_every=10, progress=False
    )
    return np.abs(absolute.constraint_residual(run.q)).max()


@pytest.mark.some(8)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("local", ON_SE3, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("joint", LOWER_PAIRS, ids=lambda each: type(each).__name__)
def test_lower_pairs_to_the_ground_stay_closed_on_se3(joint, local, side):
    """Whatever the step is: velocities of the joint are a subalgebra, in either trivialisation."""
    coordinates = mb.AbsoluteCoordinates(mb.UnitQuaternion(), local, side)
    if isinstance(joint, mb.HelicalJoint) and not isinstance(local, mb.ScrewCoordinates):
        # a screw of finite pitch is no algebraic curve: Cayley maps keep it by their order
        gaps = [opening(joint, coordinates, h) for h in (2e-2, 1e-2)]
        assert 3.7 < np.log2(gaps[0] / gaps[1]) < 5.3
        return
    assert opening(joint, coordinates) < 2e-13


@pytest.mark.parametrize("local", APART, ids=lambda each: type(each).__name__)
def test_steps_of_rotation_and_position_apart_open_a_ball_joint(local):
    """By the order of the method: four."""
    coordinates = mb.AbsoluteCoordinates(mb.UnitQuaternion(), local)
    gaps = [opening(LOWER_PAIRS[-1], coordinates, h) for h in (1e-2, 5e-3)]
    assert gaps[0] > 1e-8
    assert 3.7 < np.log2(gaps[0] / gaps[1]) < 5.3


def test_the_heavy_top_shows_it():
    """The numbers of the page, by powers of ten."""
    screws, apart = mb.ScrewCoordinates(), mb.RotationVectorPosition()
    for method, bound in (("heun", 1e-3), ("kutta3", 1e-4), ("rk4", 1e-6)):
        assert example.opening(example.top(), screws, method)["tip"] < 1e-13
        assert example.opening(example.top(), apart, method)["tip"] > bound


def test_between_two_moving_bodies_neither_is_exact():
    """The tip of the first stays, the joint between both opens."""
    for local in (mb.ScrewCoordinates(), mb.RotationVectorPosition()):
        gaps = example.opening(example.two_tops(), local)
        assert gaps["between"] > 1e-6
    assert example.opening(example.two_tops(), mb.ScrewCoordinates())["tip"] < 1e-13
