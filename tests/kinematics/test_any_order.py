"""Motions of closed mechanisms and of joints from bodies, to any order."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Chebyshev

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME
from tests.kinematics.test_closed_rates import MOVED

ORDERS = 5
REPRESENTATIONS = [mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed()]


def independent_motion(joints, t):
    """Return position, rate and acceleration of joints at times t, and their rates at zero."""
    rng = np.random.default_rng(8)
    motions, rates = {}, {}
    for joint in joints:
        x = np.polynomial.Polynomial([0.1, *rng.uniform(-0.4, 0.4, 4)])
        motions[joint] = (x(t), x.deriv()(t), x.deriv(2)(t))
        rates[joint] = [x.deriv(n)(0.0) for n in range(1, ORDERS)] + [0.0]
    return motions, rates


def by_polynomials(values, t):
    """Return derivatives at zero of what is sampled at times t, (ORDERS, n)."""
    found = np.zeros((ORDERS, values.shape[1]))
    for k, samples in enumerate(values.T):
        fit = Chebyshev.fit(t, samples, 14, domain=(t[0], t[-1]))
        found[:, k] = [fit.deriv(n)(0.0) if n else fit(0.0) for n in range(ORDERS)]
    return found


@pytest.mark.some(4)
@pytest.mark.parametrize("name", MOVED)
def test_rates_of_any_order_of_closed_mechanisms(name):
    """Polynomials through a motion found point by point; then back from the motion of a body."""
    make, joints, body = MOVED[name]
    t = 0.15 * np.cos(np.pi * np.arange(16.5, 0, -1) / 17.0)  # zero is the ninth
    motions, rates = independent_motion(joints, t)
    system = make().assemble()
    q, v, _ = system.closed_motion(motions)
    found = system.dependent_rates(q[8], rates)
    expected = by_polynomials(v, t)
    sizes = np.abs(expected).max(axis=1)
    assert (np.abs(found - expected).max(axis=1) < sizes * [1e-9, 1e-8, 1e-6, 1e-5, 1e-3]).all()
    jerks = system.dependent_jerk(q[8], *found[:2], {name: x[2] for name, x in rates.items()})
    assert np.abs(found[2] - jerks).max() < 1e-11 * sizes[2]
    for representation in REPRESENTATIONS:
        seen = {"representation": representation}
        D = system.body_derivatives(q[8], found, **seen)[:, system.body_index(body)]
        fits = mb.fit_derivatives(system, q[8], {body: D}, **seen)
        for fit, row, size in zip(fits, found, sizes, strict=True):
            assert np.abs(fit.rates - row).max() < 1e-8 * size
            assert fit.undetermined == ()


def free_velocities(system, q):
    """Return names of velocities that determine the motion."""
    _, sizes, Vt = np.linalg.svd(system.constraint_jacobian(q))
    ways = Vt[int((sizes > 1e-9 * sizes[0]).sum()) :]
    found: list[int] = []
    for k in np.argsort(-np.abs(ways).max(axis=0)):
        if np.linalg.matrix_rank(ways[:, [*found, k]], tol=1e-3) > len(found):
            found.append(k)
    return [system.velocity_names[k] for k in found]


@pytest.mark.some(4)
@pytest.mark.parametrize(
    "coordinates",
    [mb.RelativeCoordinates, pytest.param(mb.AbsoluteCoordinates, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_the_first_three_are_those_of_other_methods(name, coordinates):
    """In all closed mechanisms, with joints that step on quaternions too."""
    system = BY_NAME[name].build().assemble(coordinates())
    q = system.close_loops(system.reference_configuration())
    gains = np.random.default_rng(3).normal(size=(system.nv, 3))
    given = dict(zip(free_velocities(system, q), gains, strict=False))
    found = system.dependent_rates(q, given)
    v = system.dependent_velocity(q, {name: x[0] for name, x in given.items()})
    vdot = system.dependent_acceleration(q, v, {name: x[1] for name, x in given.items()})
    vddot = system.dependent_jerk(q, v, vdot, {name: x[2] for name, x in given.items()})
    bound = 1e-12 if coordinates is mb.RelativeCoordinates else 1e-9  # exact, and by differences
    for row, expected in zip(found, (v, vdot, vddot), strict=True):
        assert np.abs(row - expected).max() < bound * np.abs(expected).max()


def test_trees_have_what_is_given():
    mech = mb.Mechanism("one")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, body)
    system = mech.assemble()
    given = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(system.dependent_rates([0.0], {"hinge": given})[..., 0], given)
    with pytest.raises(mb.ShapeError, match=r"shape \(\.\.\., k\)"):
        system.dependent_rates([0.0], {"hinge": 1.0})
