"""Rates and accelerations of joints from those of a body, in mechanisms with constraints."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import stewart_platform
from mbkit.lie import SE3
from tests.constraints.closed_mechanisms import bricard, four_bar, sarrus, stewart
from tests.every_representation import each_representation
from tests.kinematics.test_closed_systems import driven, fingers
from tests.trees import random_mechanism, random_pose

#: Mechanisms, their coordinates, the body whose motion is given, and all joints follow from.
CASES = {
    "four-bar": (four_bar, None, "rod 2"),
    "four-bar, absolute": (four_bar, mb.AbsoluteCoordinates(), "rod 2"),
    "Bricard": (bricard, None, "rod 3"),
    "Sarrus": (sarrus, None, "rod 3"),
    "Stewart platform": (stewart, None, "platform"),
    "Stewart platform, absolute": (stewart, mb.AbsoluteCoordinates(), "platform"),
    "fingers": (lambda: fingers(held=True), None, "left finger"),
}


@functools.cache
def state_of(name):
    """Return a system in a posture off its first one, with consistent v and vdot, and a frame."""
    make, coordinates, body = CASES[name]
    system = make().assemble() if coordinates is None else make().assemble(coordinates)
    rng = np.random.default_rng(4)
    q = system.reference_configuration()
    near = system.retract(q, 0.05 * rng.normal(size=system.ndx))
    q = system.close_loops(near)
    v = system.consistent_velocity({}, q, rng.normal(size=system.nv))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        vdot = system.solve_dynamics(q, v, rng.normal(size=system.nv))[0]
    return system, q, v, vdot, body, random_pose(rng)


@pytest.mark.some(7)
@pytest.mark.parametrize("name", CASES)
@each_representation
def test_the_motion_of_one_body_gives_that_of_all_joints(name, representation):
    system, q, v, vdot, body, frame = state_of(name)
    seen = {"frame": frame, "representation": representation}
    V = system.twist(body, q, v, **seen)
    options = {"frames": {body: frame}, "representation": representation}
    fit = mb.fit_rates(system, q, {body: V}, **options)
    assert (fit.rank, fit.undetermined) == (system.nv, ())
    assert np.abs(fit.rates - v).max() < 1e-7 * np.abs(v).max()
    assert np.abs(fit.residuals[system.body_index(body)]).max() < 1e-9 * np.abs(V).max()
    A = system.acceleration(body, q, v, vdot, **seen)
    fit = mb.fit_accelerations(system, q, v, {body: A}, **options)
    assert np.abs(fit.rates - vdot).max() < 1e-6 * np.abs(vdot).max()
    assert fit.undetermined == ()


def differentiated(values, h):
    """Return the derivative in the middle of seven samples."""
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
    return np.tensordot(weights, values, axes=1) / h


#: Mechanisms, their independent joints, and the body whose motion is given.
MOVED = {
    "four-bar": (four_bar, ["A"], "rod 2"),
    "Bricard": (bricard, ["J0"], "rod 3"),
    "Stewart platform": (stewart, [f"leg {k}" for k in range(6)], "platform"),
}


@pytest.mark.some(5)
@pytest.mark.parametrize("name", MOVED)
@each_representation
def test_jerks_along_a_closed_motion(name, representation):
    """Rates of accelerations of joints and of a body along the motion of independent joints."""
    make, joints, body = MOVED[name]
    system = make().assemble()
    frame = random_pose(np.random.default_rng(6))
    h = 5e-3
    s = h * np.arange(-3, 4)
    gains = {joint: 0.3 * np.cos(k) for k, joint in enumerate(joints)}
    motions = {
        joint: (0.1 * a + a * s + a * s**2, a + 2.0 * a * s, 2.0 * a + 0.0 * s)
        for joint, a in gains.items()
    }
    q, v, vdot = system.closed_motion(motions)
    seen = {"frame": frame, "representation": representation}
    D = differentiated(system.acceleration(body, q, v, vdot, **seen), h)
    vddot = differentiated(vdot, h)
    fit = mb.fit_jerks(
        system, q[3], v[3], vdot[3], {body: D}, frames={body: frame}, representation=representation
    )
    assert np.abs(fit.rates - vddot).max() < 1e-7 * np.abs(vddot).max()
    assert fit.undetermined == ()
    assert fit.misfit < 1e-12 * max(1.0, float(D @ D))
    free = dict.fromkeys(joints, 0.0)  # their accelerations are constant
    found = system.dependent_jerk(q, v, vdot, free)
    assert np.abs(found[3] - vddot).max() < 1e-7 * np.abs(vddot).max()
    assert np.abs(found[3] - fit.rates).max() < 1e-8 * np.abs(vddot).max()
    alone = system.dependent_jerk(q[1], v[1], vdot[1], free)
    assert np.abs(found[1] - alone).max() < 1e-10 * np.abs(vddot).max()


def test_legs_of_the_platform_by_the_formula_of_textbooks():
    """Rate of a leg: the velocity of its ball along it; its rate by differences of lengths."""
    system = stewart_platform.build().assemble()
    q = system.reference_configuration()
    C = system.pose("platform", q)
    rng = np.random.default_rng(1)
    V, A = rng.normal(size=(2, 6))
    hybrid = {"representation": mb.Hybrid()}
    balls, feet = stewart_platform.BALLS, stewart_platform.FEET
    way = (balls - feet) / np.linalg.norm(balls - feet, axis=1)[:, None]
    along = np.einsum("ki,ki->k", way, V[3:] + np.cross(V[:3], balls - C[:3, 3]))
    fit = mb.fit_rates(system, q, {"platform": V}, **hybrid)
    legs = [system.velocity_slice(f"leg{k}").start for k in range(1, 7)]
    assert np.abs(fit.rates[legs] - along).max() < 1e-9

    # the platform moves by C(t) = (exp(w t + dw t^2 / 2) R, r + v t + a t^2 / 2)
    def lengths(t):
        x = t * V + 0.5 * t * t * A
        R = SE3.exp(np.append(x[:3], np.zeros(3)))[:3, :3]
        return np.linalg.norm((balls - C[:3, 3]) @ R.T + C[:3, 3] + x[3:] - feet, axis=1)

    h = 1e-4
    second = (lengths(h) - 2.0 * lengths(0.0) + lengths(-h)) / h**2
    fit = mb.fit_accelerations(system, q, fit.rates, {"platform": A}, **hybrid)
    assert np.abs(fit.rates[legs] - second).max() < 1e-5


@pytest.mark.parametrize("name", ["four-bar", "Stewart platform"])
def test_a_motion_that_the_body_cannot_make(name):
    """The fit keeps the constraints, and no rates that do so are nearer."""
    system, q, _, _, body, _ = state_of(name)
    rng = np.random.default_rng(2)
    V = dict(zip((body, system.body_names[-1]), rng.normal(size=(2, 6)), strict=True))
    weights = {each: rng.uniform(0.5, 2.0, size=6) for each in V}
    fit = mb.fit_rates(system, q, V, weights=weights)
    assert np.abs(system.constraint_velocity(q, fit.rates)).max() < 1e-10

    def misfit(v):
        rows = system.twists(q, v)
        return sum(weights[b] @ (V[b] - rows[system.body_index(b)]) ** 2 for b in V)

    assert misfit(fit.rates) == pytest.approx(fit.misfit, rel=1e-12)
    assert fit.misfit > 1e-3
    for _ in range(5):
        change = system.consistent_velocity({}, q, rng.normal(size=system.nv))
        slope = (misfit(fit.rates + 1e-4 * change) - misfit(fit.rates - 1e-4 * change)) / 2e-4
        assert abs(slope) < 1e-8 * (1.0 + fit.misfit)


def test_what_the_body_does_not_tell_is_named():
    """Of two fingers that are free of each other one tells nothing of the other."""
    system = fingers(held=False).assemble()
    fit = mb.fit_rates(system, [0.0, 0.0], {"left finger": [0, 0, 0, 2.0, 0, 0]})
    assert (fit.rank, fit.undetermined) == (1, ("right",))
    assert fit.rates.tolist() == [2.0, 0.0]
    held = fingers(held=True).assemble()
    fit = mb.fit_rates(held, [0.0, 0.0], {"left finger": [0, 0, 0, 2.0, 0, 0]})
    assert (fit.rank, fit.undetermined) == (2, ())
    assert np.allclose(fit.rates, [2.0, 2.0])
    # a platform whose angular velocity alone is known: of all that fit the smallest rates
    system = stewart().assemble()
    q = system.reference_configuration()
    fit = mb.fit_rates(system, q, {"platform": [0.1, 0.2, 0.3, 0, 0, 0]}, weights={
        "platform": [1, 1, 1, 0, 0, 0]
    })  # fmt: skip
    assert fit.rank == system.nv - 3
    rng = np.random.default_rng(3)
    V = system.twist("platform", q, fit.rates, representation=mb.Hybrid())
    for _ in range(5):
        V[3:] = rng.normal(size=3)
        other = mb.fit_rates(system, q, {"platform": V}, representation=mb.Hybrid()).rates
        assert np.linalg.norm(other) > np.linalg.norm(fit.rates)
        assert abs(fit.rates @ (other - fit.rates)) < 1e-9


def test_accelerations_are_the_smallest_that_fit():
    """What a loop asks of them at speed has no part along the motions that are left open."""
    system = stewart().assemble()
    q, turns = system.reference_configuration(), {"platform": [1, 1, 1, 0, 0, 0]}
    v = mb.fit_rates(system, q, {"platform": [0.1, 0.2, 0.3, 0.4, -0.5, 0.6]}).rates
    fit = mb.fit_accelerations(system, q, v, {"platform": np.ones(6)}, weights=turns)
    rows = [system.constraint_jacobian(q), system.jacobian("platform", q)[:3]]
    left_open = np.linalg.svd(np.concatenate(rows))[2][-3:]
    assert fit.rank == system.nv - 3
    assert np.linalg.norm(fit.rates) > 1.0
    assert np.abs(left_open @ fit.rates).max() < 1e-9


@each_representation
def test_redundant_arms_take_the_smallest_rates(representation):
    """Nine joints and the twist of one frame: the pseudoinverse, of rank six."""
    rng = np.random.default_rng(8)
    kinds = ("revolute", "prismatic", "helical")
    system = random_mechanism(rng, 9, kinds, reach=1).assemble()
    q, frame, V = rng.normal(size=system.nq), random_pose(rng), rng.normal(size=6)
    J = system.jacobian("body8", q, frame=frame, representation=representation)
    fit = mb.fit_rates(
        system, q, {"body8": V}, frames={"body8": frame}, representation=representation
    )
    assert fit.rank == 6
    assert np.allclose(fit.rates, np.linalg.pinv(J) @ V, rtol=0.0, atol=1e-10)
    assert np.allclose(J @ fit.rates, V, rtol=0.0, atol=1e-10)
    assert set(fit.undetermined) <= set(system.velocity_names)
    assert len(fit.undetermined) > 3


def test_prescribed_joints_keep_their_motion():
    """Turning at 0.5 rad/s they leave the slide alone to be fitted, with Coriolis terms."""
    system = driven()
    t, reach = 2.0, 0.7
    q = [9.0, reach]  # the first entry is that of the function
    v, vdot = np.array([0.5, -0.3]), np.array([0.0, 1.1])
    at = system.prescribed_state(t, q)[0]
    hybrid = {"representation": mb.Hybrid()}
    V = system.twist("hand", at, v, **hybrid)
    fit = mb.fit_rates(system, q, {"hand": V}, t=t, **hybrid)
    assert np.allclose(fit.rates, v, rtol=0.0, atol=1e-12)
    assert fit.undetermined == ()
    A = system.acceleration("hand", at, v, vdot, **hybrid)
    fit = mb.fit_accelerations(system, q, v, {"hand": A}, t=t, **hybrid)
    assert np.allclose(fit.rates, vdot, rtol=0.0, atol=1e-12)
    D = system.jerks(at, v, vdot, [0.0, -2.0], representation=mb.Hybrid())[2]
    fit = mb.fit_jerks(system, q, v, vdot, {"hand": D}, t=t, **hybrid)
    assert np.allclose(fit.rates, [0.0, -2.0], rtol=0.0, atol=1e-10)
    # what is asked of them besides is not done
    fit = mb.fit_rates(system, q, {"base": [0, 0, 9, 0, 0, 0]}, t=t)
    assert fit.rates[0] == 0.5
    assert fit.undetermined == ("reach",)


def test_prescribed_motions_are_differentiated():
    mech = mb.Mechanism("wheel")
    disk = mech.add_body(mb.Body("disk", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    turn = mb.RevoluteJoint("turn").prescribe(lambda t: 0.3 * np.sin(5.0 * t))
    mech.add_joint(turn, mech.world, disk)
    system, t = mech.assemble(), 0.7
    fit = mb.fit_jerks(system, [0.0], [0.0], [0.0], {"disk": np.zeros(6)}, t=t)
    assert fit.rates[0] == pytest.approx(-0.3 * 125.0 * np.cos(5.0 * t), rel=1e-13)
    assert fit.rank == 1
    times = np.array([0.1, 0.7])
    state = system.prescribed_state(times)
    found = system.dependent_jerk(*state, {}, times)
    assert np.allclose(found[:, 0], -37.5 * np.cos(5.0 * times), rtol=0.0, atol=1e-12)


def test_refusals():
    system = four_bar().assemble()
    q = system.reference_configuration()
    wrong = np.array([1.0, 0.0, 0.0])
    rest = np.zeros(3)
    with pytest.raises(mb.ConstraintError, match=r"motion does not satisfy.*acceleration level"):
        system.dependent_jerk(q, rest, wrong, {"A": 0.0})
    with pytest.raises(mb.ConstraintError, match=r"'A', 'B' cannot be chosen freely"):
        system.dependent_jerk(q, rest, rest, {"A": 0.0, "B": 1.0})
    some = system.dependent_jerk(q, rest, [rest, wrong], {"A": 1.0}, on_error="nan")
    assert np.isnan(some).any(axis=1).tolist() == [False, True]
    with pytest.raises(mb.ConstraintError, match=r"motion does not satisfy.*acceleration level"):
        mb.fit_jerks(system, q, rest, wrong, {"rod 2": np.zeros(6)})
    with pytest.raises(mb.ConstraintError, match=r"motion does not satisfy.*velocity level"):
        mb.fit_accelerations(system, q, wrong, {"rod 2": np.zeros(6)})
    with pytest.raises(mb.NameUnknownError, match="no body 'rod2'"):
        mb.fit_rates(system, q, {"rod 2": np.zeros(6)}, frames={"rod2": np.eye(4)})
    with pytest.raises(mb.UsageError, match="fit_rates: frames must be"):
        mb.fit_rates(system, q, {"rod 2": np.zeros(6)}, frames=np.eye(4))
    with pytest.raises(mb.GeometryError, match="frame on body 'rod 2' takes poses"):
        mb.fit_rates(system, q, {"rod 2": np.zeros(6)}, frames={"rod 2": np.ones((4, 4))})
    mech = mb.Mechanism("driven twice")
    rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    other = mech.add_body(mb.Body("other", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    for name, body, rate in (("one", rod, 1.0), ("two", other, 2.0)):
        joint = mb.RevoluteJoint(name).prescribe(lambda t, rate=rate: rate * t)
        mech.add_joint(joint, mech.world, body)
    mech.add_constraint(mb.PolynomialCoupling("alike", "one", "two", (0.0, 1.0)))
    with pytest.raises(mb.ConstraintError, match=r"no rates that satisfy.*'alike'"):
        mb.fit_rates(mech.assemble(), [0.0, 0.0], {"rod": np.zeros(6)})
