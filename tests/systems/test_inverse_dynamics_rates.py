"""Rates of inverse dynamics along a motion: against differentiation and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from tests.constraints.loops import closed, random_loops
from tests.forces.cases import every_force, tree
from tests.systems.every_joint import CARDAN, ELLIPSE, SKATE, behind
from tests.systems.test_higher_orders import along, assert_close, rates_of
from tests.trees import MAKERS, random_mechanism, random_state


def check(system, q, rates, tolerance=1e-10):
    """Each rate is the derivative of the one before, that of order 0 inverse dynamics."""
    expected = along(system, q, rates[:3], lambda q, x: system.inverse_dynamics(q, x[0], x[1]))
    assert_close(system.inverse_dynamics_rate(q, *rates[:3]), expected, tolerance)
    expected = along(
        system, q, rates[:4], lambda q, x: system.inverse_dynamics_rate(q, x[0], x[1], x[2])
    )
    assert_close(system.inverse_dynamics_second_rate(q, *rates[:4]), expected, tolerance)


@pytest.mark.some(2)
@pytest.mark.parametrize("turned", [0.0, 1.0], ids=["as set", "turned round"])
@pytest.mark.parametrize("kind", MAKERS)
def test_every_joint_either_way_round(kind, turned):
    """The joint in the middle of a branched tree, and beyond itself, with gravity."""
    rng = np.random.default_rng(100)
    mech = random_mechanism(rng, 5, (kind, "revolute", kind), turned_round=turned)
    frames = ("joint", "com", "world", "user")[list(MAKERS).index(kind) % 4]
    chosen = (mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed())[list(MAKERS).index(kind) % 4]
    system = mech.assemble(mb.RelativeCoordinates(chosen, body_frames=frames))
    check(system, random_state(rng, system).q, rates_of(rng, system, 4))


@pytest.mark.some(4)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "joint",
    [
        CARDAN, ELLIPSE, SKATE,
        mb.AbsoluteJoint("absolute", mb.UnitQuaternion(), mb.RodriguesPosition()),
    ],
    ids=lambda joint: joint.name,
)  # fmt: skip
def test_joints_in_python_and_in_absolute_coordinates(joint, turned):
    rng = np.random.default_rng(101)
    system = behind(joint, rng, turned)
    q = system.retract(system.reference_configuration(), 0.6 * rng.normal(size=system.ndx))
    check(system, q, rates_of(rng, system, 4))
    # forces on the way: not only v, but the configuration moves as the joint says
    rates = rates_of(rng, system, 4)
    last = system.body_names[-1]
    field = mb.SpringDamper("pull", "world", last, stiffness=30.0, rest_length=0.1, damping=2.0)
    check_forces(system.with_forces([field]), q, rates, 0.2)


def check_forces(system, q, rates, t, tolerance=1e-9):
    """The forces' part, against nested differences along the motion."""
    bare = system.without_forces()

    def force_rate(q, x, t):
        return along_time(system, q, x, t, lambda q, x, t: system.generalized_forces(q, x[0], t))

    found = system.inverse_dynamics_rate(q, *rates[:3], t=t)
    expected = bare.inverse_dynamics_rate(q, *rates[:3]) - force_rate(q, rates[:2], t)
    assert_close(found, expected, tolerance)
    found = system.inverse_dynamics_second_rate(q, *rates[:4], t=t)
    second = along_time(system, q, rates[:3], t, force_rate)
    expected = bare.inverse_dynamics_second_rate(q, *rates[:4]) - second
    assert_close(found, expected, tolerance)


def along_time(system, q, rates, t, function):
    """As `along`, for functions of time as well."""
    w = system.rates(q, rates[0])

    def moved(e):
        return function(system.retract(q, e * w), rates[:-1] + e * rates[1:], t + e)

    return derivative(moved)


@pytest.mark.slow
def test_smooth_forces_of_every_kind():
    """Forces and efforts that time changes, and quasi-velocities."""
    rng = np.random.default_rng(102)
    mech, single = tree(rng, floating=True)
    smooth = [
        force for force in every_force(rng, mech, single)
        if not isinstance(force, mb.LimitStop | mb.Drag | mb.DryFriction)
        and force.name not in ("linear", "wind")  # which have kinks in time
    ]  # fmt: skip
    system = mech.assemble().with_forces(smooth)
    check_forces(system, random_state(rng, system).q, rates_of(rng, system, 4), 0.5, 1e-8)


def test_a_sharp_friction_beside_a_force_in_time():
    """Closed forms: friction -F tanh(v / w) of 1 mm/s, where long steps see nothing; sin(5 t)."""
    mech = mb.Mechanism("slide", gravity=(0, 0, 0))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, cart)
    w = 1e-2
    mech.add_force(mb.ForceFunction("own", lambda t, q, v: -3.0 * np.tanh(v / w) + np.sin(5.0 * t)))
    system = mech.assemble()
    v, a, j, s, t = 0.004, 0.7, -2.0, 1.5, 0.3
    x = np.tanh(v / w)
    first, slope = 3.0 * (1 - x * x) / w, -6.0 * x * (1 - x * x) / w**2
    rate = 2.0 * j + first * a - 5.0 * np.cos(5.0 * t)
    found = system.inverse_dynamics_rate([0.0], [v], [a], [j], t=t)
    np.testing.assert_allclose(found, rate, rtol=1e-10)
    second = 2.0 * s + first * j + slope * a * a + 25.0 * np.sin(5.0 * t)
    found = system.inverse_dynamics_second_rate([0.0], [v], [a], [j], [s], t=t)
    np.testing.assert_allclose(found, second, rtol=1e-8)


def test_a_pendulum():
    """Closed form: Q = I a + m g l sin(q)."""
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -10.0))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(3.0, (0, 0, -1.0))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    system = mech.assemble()
    q, v, a, j, s = 0.4, 2.0, -1.0, 3.0, 5.0
    rate = 3.0 * j + 30.0 * np.cos(q) * v
    np.testing.assert_allclose(system.inverse_dynamics_rate([q], [v], [a], [j]), rate, rtol=1e-14)
    second = 3.0 * s + 30.0 * (np.cos(q) * a - np.sin(q) * v * v)
    found = system.inverse_dynamics_second_rate([q], [v], [a], [j], [s])
    np.testing.assert_allclose(found, second, rtol=1e-14)


def test_no_samples_have_no_derivatives():
    """Of forces that are called, where dual numbers are at hand."""
    mech = mb.Mechanism("stopped")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge", point=(1, 0, 0)), mech.world, body)
    mech.add_joint(mb.PrismaticJoint("slide"), body, mech.add_body(mb.Body("other", body.inertia)))
    mech.add_force(mb.LimitStop("stop", "hinge", lower=-1.0, upper=1.0, stiffness=3.0))
    system, none = mech.assemble(), np.zeros((0, 2))
    assert [x.shape for x in system.force_derivatives(none, none)] == [(0, 2, 2)] * 2
    found = system.inverse_dynamics_second_derivatives(none, none, none)
    assert [x.shape for x in found] == [(0, 2, 2, 2)] * 4
    zero = np.zeros(2)
    assert system.inverse_dynamics_second_rate(*[zero] * 5, t=[]).shape == (0, 2)


def test_batches_failures_and_closed_mechanisms():
    rng = np.random.default_rng(103)
    system = random_mechanism(rng, 6, ("universal", "spherical", "revolute")).assemble()
    q = np.array([random_state(rng, system).q for _ in range(3)])
    v, a, j, s = rng.normal(size=(4, 2, 1, system.nv))
    found = system.inverse_dynamics_second_rate(q, v, a, j[0], s)
    assert found.shape == (2, 3, system.nv)
    alone = system.inverse_dynamics_second_rate(q[1], v[1, 0], a[1, 0], j[0, 0], s[1, 0])
    np.testing.assert_array_equal(found[1, 1], alone)
    forced = system.with_forces([mb.JointDamper("damper", system.joint_names[0], damping=2.0)])
    q[0] = np.nan
    found = forced.inverse_dynamics_rate(q, v, a, j, on_error="nan")
    assert np.isnan(found[:, 0]).all()
    bare = system.inverse_dynamics_rate(q[1:], v, a, j)
    own = system.velocity_slice(system.joint_names[0])
    bare[..., own] += 2.0 * a[..., own]
    assert_close(found[:, 1:], bare, 1e-12)
    with pytest.raises(mb.ShapeError, match="'vdddot'"):
        system.inverse_dynamics_second_rate(q[1], v[0, 0], a[0, 0], j[0, 0], s[..., 1:])
    mech, _, loops = random_loops(rng, 4, ("revolute", "spherical"))
    loop = closed(mech, loops)
    zero = np.zeros(loop.nv)
    with pytest.raises(mb.UsageError, match="has loops"):
        loop.inverse_dynamics_rate(loop.reference_configuration(), zero, zero, zero)
