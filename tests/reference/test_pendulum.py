"""The simple pendulum, released at rest from the horizontal: closed form in elliptic functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj

import mbkit as mb
from tests.reference.orders import measured_order

GRAVITY = 9.81

#: At t: x, y, angle and rate. By Jacobi's functions in 25 digits, confirmed by a Taylor series of
#: high order to 1e-24. Length and mass are 1; the angle is counted from the rest position.
SAMPLES = {
    0.5: (-0.3910487915505463877, -0.9203699487851922, -0.4017708498080833, 4.249430361256138),
    1.0: (0.9862917511318753194, -0.1650108531255411688, 1.405027311524799, 1.799309016907079),
    2.0: (-0.7935661953433217470, -0.608483930443791515, -0.916647589663245, -3.455206899059330),
}


@pytest.fixture(scope="module")
def pendulum():
    """A point mass on a rod without mass, in the plane of x (right) and y (up)."""
    mech = mb.Mechanism("pendulum", gravity=(0, -GRAVITY, 0))
    bob = mb.Body("bob", inertia=mb.SpatialInertia.from_com(1.0, (0, -1, 0)))
    mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, mech.add_body(bob))
    return mech.assemble()


def closed_form(t):
    """Angle -2 arcsin(k cd(w t | k^2)), k^2 = 1/2, and its rate; released from -pi/2."""
    w, m = np.sqrt(GRAVITY), 0.5
    sn, cn, dn, _ = ellipj(w * t, m)
    cd = cn / dn
    cd_rate = -(1 - m) * w * sn / dn**2
    k = np.sqrt(m)
    return -2 * np.arcsin(k * cd), -2 * k * cd_rate / np.sqrt(1 - m * cd**2)


def test_closed_form_agrees_with_samples():
    """The formula in this file and the samples are the same solution."""
    for t, (_, _, angle, rate) in SAMPLES.items():
        np.testing.assert_allclose(closed_form(t), (angle, rate), rtol=1e-13)


def test_samples(pendulum):
    """Angle, rate and place of the bob at the times of the samples, to round-off."""
    h = 1 / 4096
    run = mb.simulate(pendulum, (0.0, 2.0), h, q=[-np.pi / 2])
    for t, (x, y, angle, rate) in SAMPLES.items():
        k = round(t / h)
        np.testing.assert_allclose([run.q[k, 0], run.v[k, 0]], [angle, rate], atol=1e-12)
        bob = pendulum.poses(run.q[k])[1] @ [0, -1, 0, 1]
        np.testing.assert_allclose(bob[:3], [x, y, 0], atol=1e-12)


def test_order(pendulum):
    """The largest error of a whole run falls with order 4."""
    steps = [1 / 64, 1 / 128, 1 / 256, 1 / 512]
    found = []
    for h in steps:
        run = mb.simulate(pendulum, (0.0, 2.0), h, q=[-np.pi / 2])
        angle, rate = closed_form(run.t)
        found.append(max(np.abs(run.q[:, 0] - angle).max(), np.abs(run.v[:, 0] - rate).max()))
    assert measured_order(steps, found) == pytest.approx(4.0, abs=0.1)
