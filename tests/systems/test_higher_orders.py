"""Jerks, rates of twists of any order and rates of Jacobians: against differentiation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import cosdg, sindg

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3
from tests.every_representation import REPRESENTATIONS, each_representation
from tests.forces.test_python_forces import OwnRepresentation
from tests.joints.absolute_joints import LOCALS, SIDES
from tests.reference.user_joints import EllipseJoint
from tests.systems.every_joint import (
    CARDAN,
    ELLIPSE,
    OWN_BALL,
    PRODUCT,
    SKATE,
    SKATE_BY_HAND,
    TWIN,
    behind,
)
from tests.trees import MAKERS, random_mechanism, random_state

#: What eighth-order differences leave, of the largest entry.
NUMERIC = 1e-10


def rates_of(rng, system, count):
    """Return v, vdot, ... of a random motion."""
    return rng.normal(size=(count, system.nv))


def along(system, q, rates, function):
    """Return the rate of function(q, rates) while the system moves with the rates.

    The last of these is that of the one before; to first order the configuration moves along a
    step.
    """
    w = system.rates(q, rates[0])
    return derivative(lambda e: function(system.retract(q, e * w), rates[:-1] + e * rates[1:]))


def assert_close(found, expected, tolerance=NUMERIC):
    size = max(np.abs(expected).max(), 1.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)


def check(system, q, rates, tolerance=NUMERIC):
    """Each rate is the derivative of the one before, the first that of the twists, in all forms."""
    for representation in REPRESENTATIONS:
        check_in(system, q, rates, tolerance, representation=representation)


def check_in(system, q, rates, tolerance, **form):
    body = system.body_names[-1]
    found = system.body_derivatives(q, rates, **form)
    assert_close(found[0], system.twists(q, rates[0], **form), 1e-13)
    assert_close(found[1], system.accelerations(q, rates[0], rates[1], **form), 1e-13)
    for n in range(2, len(rates)):
        expected = along(
            system, q, rates[: n + 1], lambda q, x: system.body_derivatives(q, x, **form)[-1]
        )
        assert_close(found[n], expected, tolerance)
    assert_close(system.jerks(q, *rates[:3], **form), found[2], 1e-13)
    J = along(system, q, rates[:2], lambda q, x: system.jacobian(body, q, **form))
    assert_close(system.jacobian_rate(body, q, rates[0], **form), J, tolerance)
    J = along(system, q, rates[:2], lambda q, x: system.jacobian_rate(body, q, x[0], **form))
    assert_close(system.jacobian_rate(body, q, *rates[:2], **form), J, tolerance)


# ----------------------------------------------------------------------------------- every joint


@pytest.mark.some(3)
@pytest.mark.parametrize("turned", [0.0, 1.0], ids=["as set", "turned round"])
@pytest.mark.parametrize("kind", MAKERS)
def test_every_joint_either_way_round(kind, turned):
    """The joint in the middle of a branched tree, and beyond itself; up to the fourth rate."""
    rng = np.random.default_rng(60)
    mech = random_mechanism(rng, 5, (kind, "revolute", kind), turned_round=turned)
    frames = ("joint", "com", "world", "user")[list(MAKERS).index(kind) % 4]
    system = mech.assemble(mb.RelativeCoordinates(body_frames=frames))
    check(system, random_state(rng, system).q, rates_of(rng, system, 5))


@pytest.mark.some(3)
@pytest.mark.parametrize("angle", [0.0, 1e-8, np.pi, 3.99, 4.01, 9.0])
@pytest.mark.parametrize("kind", ["constant velocity", "rotation vector", "screw coordinates"])
def test_exponentials_of_sums_at_any_angle(kind, angle):
    """From series to closed forms at an angle of four."""
    rng = np.random.default_rng(61)
    system = random_mechanism(rng, 2, (kind, "revolute")).assemble()
    step = rng.normal(size=system.ndx)
    place = system.tangent_slice("joint1")
    step[place] *= angle / np.linalg.norm(step[place][:3])
    q = system.retract(system.reference_configuration(), step)
    check(system, q, rates_of(rng, system, 5))


@pytest.mark.some(2)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("local", LOCALS, ids=lambda local: local.name)
def test_absolute_joints(local, side):
    rng = np.random.default_rng(62)
    orientation = (mb.UnitQuaternion(), mb.RotationVector(), mb.EulerAngles())[
        LOCALS.index(local) % 3
    ]
    joint = mb.AbsoluteJoint("absolute", orientation, local, side)
    system = behind(joint, rng, side == "left")
    check(system, random_state(rng, system, 0.6).q, rates_of(rng, system, 4))


@pytest.mark.some(2)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "joint",
    [
        CARDAN, ELLIPSE, OWN_BALL, pytest.param(TWIN, marks=pytest.mark.long), SKATE,
        SKATE_BY_HAND, PRODUCT,
        mb.CompositeJoint(
            "composite", mb.PlanarJoint("a", (0.5, -1, 0.7), (0.4, -0.3, 0.8)),
            EllipseJoint("b", 1.0, 0.6), mb.RevoluteJoint("c", (1, 2, 0), (0.1, 0.2, 0.3)),
        ),
    ],
    ids=lambda joint: joint.name,
)  # fmt: skip
def test_joints_in_python_are_exact(joint, turned):
    """By tracing, nonholonomic ones and members of composite joints included."""
    rng = np.random.default_rng(63)
    system = behind(joint, rng, turned)
    q = system.retract(system.reference_configuration(), 0.6 * rng.normal(size=system.ndx))
    check(system, q, rates_of(rng, system, 4))


class OpaqueEllipse(EllipseJoint):
    """One whose pose nobody can look into; its motion subspace and bias are written down."""

    def pose(self, q):
        angle = np.rad2deg(q[0])
        T = np.eye(4)
        T[:3, 3] = self.a * sindg(angle), 0.0, -self.b * cosdg(angle)
        return T


def test_where_tracing_ends_a_polynomial_goes_on():
    kinds = EllipseJoint, OpaqueEllipse
    known, opaque = (
        behind(kind("ellipse", 1.0, 0.6), np.random.default_rng(65), True) for kind in kinds
    )
    rng = np.random.default_rng(64)
    q = known.retract(known.reference_configuration(), 0.6 * rng.normal(size=known.ndx))
    rates = rates_of(rng, known, 4)
    expected = known.body_derivatives(q, rates)
    with pytest.warns(mb.JointDerivativeWarning, match="ellipse"):
        found = opaque.body_derivatives(q, rates)
    assert_close(found[:3], expected[:3], 1e-10)
    assert_close(found[3], expected[3], 1e-8)


# ------------------------------------------------------------------------------ independent forms


@pytest.mark.parametrize("name", ["body_fixed", "spatial", "hybrid", "mixed"])
def test_a_chain_by_sums_of_brackets(name):
    """The jerk of the last body by Mueller's sums, (13) and (22) corrected, and by conversion."""
    rng = np.random.default_rng(66)
    system = random_mechanism(rng, 4, ("revolute", "helical", "prismatic"), reach=1).assemble()
    q = random_state(rng, system).q
    v, vdot, vddot = rates_of(rng, system, 3)
    J = system.jacobian("body3", q, representation=mb.BodyFixed()).T
    ad = SE3.ad
    jerk = vddot @ J
    for k in range(4):
        for j in range(k):
            X = ad(J[j]) @ J[k]
            jerk += X * (2 * vdot[j] * v[k] + v[j] * vdot[k]) - ad(J[k]) @ X * v[j] * v[k] ** 2
            for l in range(k + 1, 4):  # noqa: E741 - the index of the paper
                jerk -= 2 * ad(J[l]) @ X * v[j] * v[k] * v[l]
    C = system.poses(q)[4]
    A = system.accelerations(q, v, vdot, representation=mb.BodyFixed())[4]
    V = system.twists(q, v, representation=mb.BodyFixed())[4]
    target = {each.name: each for each in REPRESENTATIONS}[name]
    expected = mb.convert_jerk(jerk, A, V, C, mb.BodyFixed(), target)
    found = system.jerks(q, v, vdot, vddot, representation=target)[4]
    assert_close(found, expected, 1e-13)


def partial(system, q, function, k):
    """Return the derivative of a function of q along the k-th velocity."""
    w = system.rates(q, np.eye(system.nv)[k])
    return derivative(lambda e: function(system.retract(q, e * w)))


@each_representation
def test_partial_derivatives_of_jacobians(representation):
    """By differences along each velocity; their sum with velocities is the rate."""
    rng = np.random.default_rng(72)
    mech = random_mechanism(rng, 4, ("universal", "spherical", "prismatic", "rotation vector"))
    system = mech.assemble()
    q = random_state(rng, system).q
    form = {"representation": representation}
    H = system.jacobian_derivatives("body3", q, **form)
    for k in range(system.nv):
        J = partial(system, q, lambda q: system.jacobian("body3", q, **form), k)
        assert_close(H[k], J)
    v = rng.normal(size=system.nv)
    rate = system.jacobian_rate("body3", q, v, **form)
    assert_close(np.tensordot(v, H, 1), rate, 1e-13)


def test_derivatives_of_order_two_and_three():
    """The brackets [[J_j, J_k], J_l], and differences of those of second order."""
    rng = np.random.default_rng(73)
    system = random_mechanism(rng, 4, ("revolute", "helical", "universal"), reach=1).assemble()
    q = random_state(rng, system).q
    fixed = {"representation": mb.BodyFixed()}
    H = system.jacobian_derivatives("body3", q, 2, **fixed)
    for k in range(system.nv):
        expected = partial(system, q, lambda q: system.jacobian_derivatives("body3", q, **fixed), k)
        assert_close(H[k], expected)
        expected = partial(
            system, q, lambda q: system.jacobian_derivatives("body3", q, 2, **fixed), k
        )
        assert_close(system.jacobian_derivatives("body3", q, 3, **fixed)[k], expected)
    chain = random_mechanism(rng, 5, ("revolute", "helical", "prismatic"), reach=1).assemble()
    q = random_state(rng, chain).q
    J = chain.jacobian("body4", q, **fixed).T
    H = chain.jacobian_derivatives("body4", q, 2, **fixed)
    order = [chain.velocity_slice(f"joint{n}").start for n in range(5)]
    for path in itertools.combinations_with_replacement(range(5), 3):
        a, b, c = (order[n] for n in path)
        expected = SE3.ad(SE3.ad(J[a]) @ J[b]) @ J[c]
        assert_close(H[b, c, :, a], expected, 1e-13)
        assert_close(H[c, b, :, a], expected, 1e-13)


@pytest.mark.parametrize("kinds", [("revolute", "helical"), tuple(MAKERS)], ids=["one", "all"])
def test_factors_of_the_rate_of_the_system_jacobian(kinds):
    """The closed form of accelerations, for joints of one velocity and of several."""
    rng = np.random.default_rng(75)
    system = random_mechanism(rng, 22 if len(kinds) > 2 else 5, kinds).assemble()
    q = random_state(rng, system).q
    v, vdot = rates_of(rng, system, 2)
    J = system.system_jacobian(q, mb.BodyFixed())
    rates = J.rates(v)
    rows = [
        system.jacobian_rate(name, q, v, representation=mb.BodyFixed())
        for name in system.body_names[1:]
    ]
    assert_close(rates.J_rate.toarray(), np.concatenate(rows), 1e-12)
    A = system.accelerations(q, v, vdot, representation=mb.BodyFixed())[1:].ravel()
    V = J.apply(v)
    assert_close(J.J @ vdot + J.A @ (rates.X_rate @ v - rates.a @ V), A, 1e-12)
    identity = rates.b @ J.J - J.A @ (rates.b @ J.X + rates.a @ (J.J - J.X))
    assert_close(identity.toarray(), np.zeros(J.shape), 1e-12)
    if len(kinds) == 2:
        assert rates.X_rate.count_nonzero() == 0
        assert_close((J.A @ rates.a @ J.J).toarray(), -np.concatenate(rows), 1e-12)
    with pytest.raises(mb.UsageError, match="body-fixed"):
        system.system_jacobian(q, mb.Hybrid()).rates(v)


def test_rates_of_motion_subspaces():
    rng = np.random.default_rng(76)
    system = random_mechanism(rng, 22).assemble()
    q = random_state(rng, system).q
    rates = rates_of(rng, system, 2)
    expected = along(system, q, rates, lambda q, x: system.motion_subspaces(q))
    assert_close(system.motion_subspace_rates(q, rates[0]), expected)
    expected = along(system, q, rates, lambda q, x: system.motion_subspace_rates(q, x[0]))
    assert_close(system.motion_subspace_rates(q, *rates), expected)


def test_tenth_rate_of_a_wheel():
    """Each rate of a point on a circle is the one before, turned by a right angle."""
    mech = mb.Mechanism("wheel")
    ball, place = mb.SpatialInertia.sphere(1.0, radius=0.1), mb.spatial.translation((2.0, 0.0, 0.0))
    rim = mech.add_body(mb.Body("rim", ball, pose=place))
    mech.add_joint(mb.RevoluteJoint("axle", axis=(0, 0, 1)), mech.world, rim)
    rates = np.zeros((10, 1))
    rates[0] = 3.0
    found = mech.assemble().body_derivatives([0.0], rates, representation=mb.Hybrid())[:, 1, 3:5]
    n = np.arange(10)
    expected = 6.0 * 3.0**n * np.array([-np.sin(n * np.pi / 2), np.cos(n * np.pi / 2)])
    np.testing.assert_allclose(found.T, expected, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("by", ["system", "argument"])
def test_a_representation_of_ones_own(by):
    """Its twists are spatial ones, which kernels of higher orders do not know by its class."""
    rng = np.random.default_rng(64)
    own = OwnRepresentation()
    chosen = own if by == "system" else mb.BodyFixed()
    system = random_mechanism(rng, 6).assemble(mb.RelativeCoordinates(representation=chosen))
    form = {} if by == "system" else {"representation": own}
    body, S = system.body_names[-1], SE3.exp(rng.normal(size=6))
    q = np.stack([random_state(rng, system).q for _ in range(2)])
    rates = rng.normal(size=(3, 1, 4, system.nv))

    def compare(name, *arguments, **options):
        found = getattr(system, name)(*arguments, **options, **form)
        other = getattr(system, name)(*arguments, **options, representation=mb.Spatial())
        assert_close(found, other, 1e-12)

    compare("body_derivatives", q, rates)
    compare("jerks", q, *np.moveaxis(rates[..., :3, :], -2, 0))
    compare("jerks", q[0], *rates[0, 0, :3])
    compare("jacobian_rate", body, q, rates[..., 0, :])
    compare("jacobian_rate", body, q, *np.moveaxis(rates, -2, 0), frame=S)
    compare("jacobian_derivatives", body, q[0], 2)
    out = np.empty((len(system.body_names), 6))
    assert system.jerks(q[0], *rates[0, 0, :3], out=out, **form) is out


@pytest.mark.some(2)
@each_representation
def test_acceleration_and_jerk_by_jacobians(representation):
    """A = J vdot + Jdot v, and the jerk is J vddot + 2 Jdot vdot + Jddot v."""
    rng = np.random.default_rng(67)
    system = random_mechanism(rng, 8).assemble()
    state = random_state(rng, system)
    form = {"representation": representation}
    A = system.accelerations(state.q, state.v, state.vdot, **form)
    vddot = rng.normal(size=system.nv)
    jerks = system.jerks(state.q, state.v, state.vdot, vddot, **form)
    for b, name in enumerate(system.body_names):
        J = system.jacobian(name, state.q, **form)
        rate = system.jacobian_rate(name, state.q, state.v, **form)
        assert_close(J @ state.vdot + rate @ state.v, A[b], 1e-12)
        second = system.jacobian_rate(name, state.q, state.v, state.vdot, **form)
        found = J @ vddot + 2.0 * rate @ state.vdot + second @ state.v
        assert_close(found, jerks[b], 1e-12)


def test_welded_bodies_and_absolute_coordinates():
    """Bodies on one row have frames of their own; the rates of free bodies are those of a tree."""
    rng = np.random.default_rng(68)
    mech = random_mechanism(rng, 6, ("revolute", "fixed", "spherical", "fixed"))
    relative, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates())
    q, rates = random_state(rng, relative).q, rates_of(rng, relative, 3)
    check(relative, q, rates)
    Q, V = absolute.state_of(relative, q, rates[0])
    twists = relative.body_derivatives(q, rates, representation=mb.BodyFixed())
    solve = [mb.rates_from_twists(absolute, Q, twists[0], representation=mb.BodyFixed())]
    np.testing.assert_allclose(solve[0], V, atol=1e-9)


# ---------------------------------------------------------------------------------------- calls


def test_batches_broadcast_and_samples_that_fail_are_named():
    rng = np.random.default_rng(69)
    system = random_mechanism(rng, 6, ("universal", "spherical", "revolute")).assemble()
    states = [random_state(rng, system) for _ in range(3)]
    q = np.array([state.q for state in states])
    rates = rng.normal(size=(4, 1, 3, system.nv))
    found = system.body_derivatives(q, rates)
    assert found.shape == (4, 3, 3, 7, 6)
    np.testing.assert_array_equal(found[2, 1], system.body_derivatives(q[1], rates[2, 0]))
    v, vdot, vddot = np.moveaxis(rates, 2, 0)
    jerks = system.jerks(q, v, vdot, vddot[0])
    assert_close(jerks[2, 1], system.jerks(q[1], v[2, 0], vdot[2, 0], vddot[0, 0]), 1e-13)
    J = system.jacobian_rate("body5", q, v)
    np.testing.assert_array_equal(J[2, 1], system.jacobian_rate("body5", q[1], v[2, 0]))
    out = np.empty((7, 6))
    assert system.jerks(q[0], v[0, 0], vdot[0, 0], vddot[0, 0], out=out) is out
    q[1, system.quaternions[0]] = 3.0
    with pytest.raises(mb.ConfigurationError, match="quaternion"):
        system.jerks(q, v[0], vdot[0], vddot[0])
    left = system.jerks(q, v[0], vdot[0], vddot[0], on_error="nan")
    assert np.isnan(left).any(axis=(1, 2)).tolist() == [False, True, False]


def test_no_samples_and_no_velocities():
    rng = np.random.default_rng(74)
    system = random_mechanism(rng, 3, ("revolute",)).assemble()
    none = np.zeros((0, 3))
    assert system.jerks(none, none, none, none).shape == (0, 4, 6)
    assert system.body_derivatives(none, np.zeros((2, 3))).shape == (0, 2, 4, 6)
    assert system.jacobian_derivatives("body0", none).shape == (0, 3, 6, 3)
    fixed = random_mechanism(rng, 2, ("fixed",)).assemble()
    assert not fixed.jerks([], [], [], []).any()
    assert fixed.jacobian_derivatives("body1", []).shape == (0, 6, 0)


def test_joints_in_python_in_batches():
    rng = np.random.default_rng(70)
    system = behind(CARDAN, rng, True)
    q = np.array([random_state(rng, system).q for _ in range(3)])
    rates = rng.normal(size=(3, 3, system.nv))
    found = system.jerks(q, *np.moveaxis(rates, 1, 0))
    for k in range(3):
        assert_close(found[k], system.jerks(q[k], *rates[k]), 1e-14)
    assert system.jacobian_rate("b2", q, rates[:, 0]).shape == (3, 6, system.nv)


def test_what_does_not_fit_is_refused():
    rng = np.random.default_rng(71)
    system = random_mechanism(rng, 3, ("revolute",)).assemble()
    q, v = np.zeros(3), np.zeros(3)
    for wrong in (v, np.zeros((2, 4)), np.zeros((0, 3)), "rates", [[1.0], [1.0, 2.0]]):
        with pytest.raises(mb.ShapeError, match="v, vdot and so on as rows"):
            system.body_derivatives(q, wrong)
    with pytest.raises(mb.ShapeError, match="vddot"):
        system.jerks(q, v, v, np.zeros(4))
    with pytest.raises(mb.NameUnknownError):
        system.jacobian_rate("nobody", q, v)
    for order in (0, True, 13, 10**400):
        with pytest.raises(mb.UsageError, match="order must be"):
            system.jacobian_derivatives("body0", q, order)
    with pytest.raises(mb.UsageError, match="representation"):
        system.jerks(q, v, v, v, representation="hybrid")


@pytest.mark.some(2)
@each_representation
def test_frames_move_as_bodies_that_are_welded_there(representation):
    rng = np.random.default_rng(11)
    S = mb.spatial.translation((0.3, -0.7, 0.4)) @ mb.spatial.rotation((1.0, 2.0, -0.5), 0.8)

    def built(*, welded):
        mech = mb.Mechanism("arm")
        inertia = mb.SpatialInertia.from_com(1.0, (0.1, 0.2, 0.3), np.eye(3))
        arm = mech.add_body(mb.Body("arm", inertia))
        hand = mech.add_body(mb.Body("hand", inertia, frames={} if welded else {"tip": S}))
        places = {
            "frames": (mb.spatial.rotation((0, 1, 0), 0.4), mb.spatial.translation((1, 0, 0)))
        }
        mech.add_joint(mb.SphericalJoint("shoulder"), mech.world, arm, **places)
        mech.add_joint(mb.UniversalJoint("wrist"), arm, hand, **places)
        if welded:
            tip = mech.add_body(mb.Body("tip", mb.SpatialInertia.zero()))
            mech.add_joint(mb.FixedJoint("weld"), hand, tip, frames=(S, np.eye(4)))
        return mech.assemble()

    system, twin = built(welded=False), built(welded=True)
    q = system.retract(system.reference_configuration(), rng.normal(size=(2, system.ndx)))
    rates, form = rng.normal(size=(2, 4, system.nv)), {"representation": representation}
    for order in (1, 2, 3):
        along = np.moveaxis(rates[:, :order], 1, 0)
        expected = twin.jacobian_rate("tip", q, *along, **form)
        for named in (("tip",), ("hand", S), ("hand", "tip"), ("hand", np.stack([S, S]))):
            frame = {"frame": named[1]} if len(named) > 1 else {}
            found = system.jacobian_rate(named[0], q, *along, **frame, **form)
            assert_close(found, expected, 1e-13)
    out = np.zeros((2, 6, system.nv))
    assert system.jacobian_rate("tip", q, rates[:, 0], out=out, **form) is out
    assert_close(out, twin.jacobian_rate("tip", q, rates[:, 0], **form), 1e-13)
    for order in (1, 2):
        expected = twin.jacobian_derivatives("tip", q, order, **form)
        found = system.jacobian_derivatives("hand", q, order, frame=S, **form)
        assert_close(found, expected, 1e-12)

    measured = twin.body_derivatives(q[0], rates[0], **form)[:, twin.body_index("tip")]
    fits = mb.fit_derivatives(twin, q[0], {"tip": measured}, **form)
    again = mb.fit_derivatives(system, q[0], {"hand": measured}, frames={"hand": S}, **form)
    for fit, same in zip(fits, again, strict=True):
        assert_close(same.rates, fit.rates, 1e-11)
        assert same.misfit < 1e-20


def test_frames_of_rates_that_do_not_fit_are_refused():
    mech = mb.Mechanism("wheel")
    rim = mech.add_body(mb.Body("rim", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("axle"), mech.world, rim)
    system = mech.assemble()
    with pytest.raises(mb.NameUnknownError, match="has no frame 'edge'"):
        system.jacobian_rate("rim", [0.0], [1.0], frame="edge")
    with pytest.raises(mb.ShapeError, match="frame on body 'rim'"):
        system.jacobian_derivatives("rim", [0.0], frame=np.eye(3))
    with pytest.raises(mb.NameUnknownError, match="'rin'"):
        mb.fit_derivatives(system, [0.0], {"rin": np.zeros((2, 6))})
