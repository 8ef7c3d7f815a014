"""Scipy's methods on the local model, and on quaternions as four numbers."""

import attrs
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbkit as mb
from mbkit.errors import ConfigurationError
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS
from tests.integrators.accurate import ARM, BODY, TOP, Count, errors

T = mb.tableaus
CLOSED_TOP = CONSTRAINED_PROBLEMS[0]


def local(method, **options):
    return mb.LocalVectorSpace(method, **options)


def quaternions(method, **options):
    return mb.QuaternionVectorSpace(method, **options)


def constrained(method, **options):
    return mb.QuaternionVectorSpace(method, norm="constrained", **options)


KINDS = (local, quaternions, constrained)


# ---------------------------------------------------------------- the wrapper around scipy


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("method", "evaluations"), [("RK23", 4), ("RK45", 7), ("DOP853", 13)], ids=str
)
def test_a_step_of_one_size_is_one_step_of_scipy(kind, method, evaluations):
    """As many evaluations as stages, with the first of the step behind; none rejected."""
    count = Count()
    attrs.evolve(TOP, end=0.1).run(kind(method), 10, tau=count)
    assert len(count.times) in (10 * evaluations, 10 * evaluations + 1)  # one for the result


@pytest.mark.parametrize(
    ("method", "tableau"), [("RK23", T.BOGACKI_SHAMPINE3), ("RK45", T.DORMAND_PRINCE5)], ids=str
)
@pytest.mark.parametrize("problem", [BODY, ARM, CLOSED_TOP], ids=lambda problem: problem.name)
def test_on_the_local_model_it_is_munthe_kaas(problem, method, tableau):
    """The methods of Bogacki and Shampine and of Dormand and Prince, to rounding."""
    found, expected = (
        problem.run(method, 64, save_every=4)
        for method in (local(method), mb.RungeKuttaMuntheKaas(tableau))
    )
    np.testing.assert_allclose(found.q, expected.q, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(found.v, expected.v, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(found.energy_balance, expected.energy_balance, rtol=0.0, atol=1e-11)


@pytest.fixture(scope="module")
def cart():
    """A cart with a pendulum: coordinates add, so that the group is a vector space."""
    mech = mb.Mechanism("cart", gravity=(0, 0, -9.81))
    body = mech.add_body(mb.Body("cart", mb.SpatialInertia.box(1.0, size=(0.1, 0.1, 0.1))))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.box(0.5, size=(0.1, 0.1, 0.5))))
    mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), mech.world, body)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0), point=(0, 0, 0.4)), body, bob)
    mech.add_force(mb.JointDamper("friction", "hinge", damping=0.05))
    return mech.assemble()


def equivalent(system):
    """The equations of motion for `solve_ivp`, quaternions divided by their length."""

    def rates(t, y):
        q, v = y[: system.nq].copy(), y[system.nq :]
        sizes = [np.linalg.norm(q[k : k + 4]) for k in system.quaternions]
        for k, size in zip(system.quaternions, sizes, strict=True):
            q[k : k + 4] /= size
        qdot = system.position_rates(q, v)
        for k, size in zip(system.quaternions, sizes, strict=True):
            qdot[k : k + 4] *= size
        return np.concatenate([qdot, system.solve_dynamics(q, v, t=t)[0]])

    return rates


@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")  # eight steps
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
def test_steps_are_those_of_solve_ivp(cart, kind, method):
    """Which with errors that do not count, and a step that may not grow, takes the same ones."""
    v = [0.3, 2.0]
    run = mb.simulate(cart, (0.0, 1.0), 0.125, v=v, integrator=kind(method))
    start = np.concatenate([cart.reference_configuration(), v])
    expected = solve_ivp(
        equivalent(cart), (0.0, 1.0), start, method, first_step=0.125, max_step=0.125, atol=np.inf
    )
    assert expected.t.size == 9
    np.testing.assert_allclose(run.q, expected.y[:2].T, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(run.v, expected.y[2:].T, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau"])
def test_steps_by_tolerance_are_those_of_solve_ivp(method):
    """From one grid point to the next, on four numbers each; quaternions are renormalised there."""
    system = TOP.system
    run = mb.simulate(
        system, (0.0, 0.6), 0.3, v=TOP.velocity, integrator=quaternions(method, rtol=1e-7)
    )
    y = np.concatenate([system.reference_configuration(), TOP.velocity])
    for k in range(2):
        y = solve_ivp(equivalent(system), (0.0, 0.3), y, method, rtol=1e-7, atol=1e-7).y[:, -1]
        y[:4] /= np.linalg.norm(y[:4])
        # not the same first step
        np.testing.assert_allclose(np.r_[run.q[k + 1], run.v[k + 1]], y, rtol=0.0, atol=5e-6)


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("kind", "tolerances"),
    [
        (local, (1e-4, 1e-6, 1e-8)),
        (quaternions, (1e-4, 1e-6, 1e-8)),
        (constrained, (1e-7, 1e-8, 1e-9)),  # or the lengths drift too far
    ],
)
@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau"])
def test_errors_follow_the_tolerance(kind, tolerances, method):
    """They are proportional to it, by a factor of the motion, wherever the grid points are."""
    found = [max(errors(TOP, TOP.run(kind(method, rtol=rtol), 3))) for rtol in tolerances]
    assert 0.75 < np.polyfit(np.log(tolerances), np.log(found), 1)[0] < 1.3
    assert all(error < 100 * rtol for error, rtol in zip(found, tolerances, strict=True))


def test_steps_of_their_own_sizes_remember_the_size():
    """From one grid point to the next, so that a run of many of them does not begin anew."""
    counts = []
    for steps in (1, 8):
        counts.append(Count())
        TOP.run(local("RK45", rtol=1e-8), steps, tau=counts[-1])
    assert len(counts[1].times) < 1.5 * len(counts[0].times)


def test_coordinates_are_taken_anew_before_they_end():
    """A body that turns by 40 rad between two grid points, about an axis that moves."""
    fast = attrs.evolve(BODY, end=10.0)
    run = fast.run(local("DOP853", rtol=1e-10), 1)
    exact = fast.run(mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE8), 4000)
    assert np.abs(BODY.system.difference(exact.q[-1], run.q[-1])).max() < 1e-7
    steady = mb.simulate(
        BODY.system, (0.0, 10.0), 10.0, v=[0.0, 0.0, 4.0], integrator=local("RK45", rtol=1e-6)
    )
    expected = [np.cos(20.0), 0.0, 0.0, np.sin(20.0)]
    assert abs(abs(steady.q[-1] @ expected) - 1.0) < 1e-12


def test_what_is_stiff_is_for_radau(cart):
    """A damper with a rate of some 1e6 1/s: steps of 10 ms, as the slow motion wants them."""
    stiff = cart.with_forces([mb.JointDamper("grease", "slide", damping=1e6)])
    for kind in KINDS:
        run = mb.simulate(stiff, (0.0, 0.5), 0.01, v=[0.0, 2.0], integrator=kind("Radau"))
        assert np.abs(run.q[:, 0]).max() < 1e-5
        assert abs(run.energy_balance).max() < 1e-6 * run.kinetic_energy.max()
    with pytest.raises(mb.NotFiniteError, match="are too large for LocalVectorSpace"):
        mb.simulate(stiff, (0.0, 0.5), 0.01, v=[0.0, 2.0], integrator=local("RK45"))


def test_a_step_that_radau_does_not_solve_says_so():
    with pytest.raises(mb.ConvergenceError, match="more than 1e-08 after six times") as caught:
        TOP.run(local("Radau"), 1)
    assert "in the step from t = 0 s" in "".join(caught.value.__notes__)
    TOP.run(local("Radau", rtol=1e-6), 1)


def test_a_force_that_ends_the_motion_is_named():
    """Where it is not a number, smaller steps are tried first, and its message is kept."""

    def torque(t, q, v):
        return np.full(3, np.nan if t > 0.3 else 0.0)

    for kind in KINDS:
        with pytest.raises(mb.NotFiniteError, match=r"stopped at t = 0.3 s, in step 3") as caught:
            TOP.run(kind("RK45", rtol=1e-7), 10, tau=torque, save_every=1)
        np.testing.assert_array_equal(caught.value.result.t, [0.0, 0.15, 0.3])
        with pytest.raises(mb.NotFiniteError, match=r"stopped at t = 0.28125 s, in step 13"):
            TOP.run(kind("RK45"), 64, tau=torque)


# ------------------------------------------------------------------------------ quaternions


@pytest.fixture(scope="module")
def mixed():
    """A tree with free, spherical, planar and other joints, and a composite with a ball."""
    mech = mb.Mechanism("mixed")
    inertia = mb.SpatialInertia.from_com(1.0, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.15]))
    joints = (
        mb.FreeJoint("base"),
        mb.PlanarJoint("plane"),
        mb.RevoluteJoint("hinge", axis=(0, 1, 1)),
        mb.CompositeJoint(
            "both", mb.TranslationalJoint("shift"), mb.SphericalJoint("far", point=(0, 0, 1))
        ),
        mb.SphericalJoint("vector", coordinates="first kind"),
        mb.SchoenfliesJoint("scara"),
    )
    previous = mech.world
    for joint in joints:
        body = mech.add_body(mb.Body(f"behind {joint.name}", inertia))
        mech.add_joint(joint, previous, body)
        previous = body
    return mech.assemble()


def test_positions_change_as_the_motion_says(mixed):
    """Rates of positions, along with those of steps; also of many samples at once."""
    from mbkit.joints.defaults.differences import derivative

    rng = np.random.default_rng(3)
    q = mixed.retract(mixed.reference_configuration(), 0.4 * rng.normal(size=mixed.nv))
    v = rng.normal(size=(2, mixed.nv))
    found = mixed.position_rates(q, v)
    for rate, velocity in zip(found, v, strict=True):
        expected = derivative(lambda e, w=velocity: mixed.retract(q, e * w))
        np.testing.assert_allclose(rate, expected, rtol=0.0, atol=1e-11)
        np.testing.assert_array_equal(mixed.position_rates(q, velocity), rate)
    assert mixed.quaternions == (0, mixed.position_slice("both").start + 3)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_coordinates_is_integrated(mixed, kind):
    """Next to each other, with the result of the Lie group method."""
    v = np.random.default_rng(4).normal(size=mixed.nv)
    exact = mb.simulate(
        mixed, (0.0, 0.2), 1e-3, v=v, integrator=mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5)
    )
    run = mb.simulate(mixed, (0.0, 0.2), 0.01, v=v, integrator=kind("DOP853"))
    assert np.abs(mixed.difference(exact.q[-1], run.q[-1])).max() < 1e-9
    np.testing.assert_allclose(run.v[-1], exact.v[-1], rtol=0.0, atol=1e-8)


def test_renormalised_quaternions_have_length_one():
    run = TOP.run(quaternions("RK23"), 64, save_every=1)
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1.0).max() < 4e-16


@pytest.mark.long
def test_the_length_drifts_where_its_acceleration_is_constrained():
    """By the order of the method."""
    drifts = []
    for steps in (32, 64):
        run = BODY.run(constrained("Radau"), steps, save_every=steps // 8)
        drifts.append(np.abs(np.linalg.norm(run.q, axis=1) - 1.0))
    assert 4.9 < np.log2(drifts[0][-1] / drifts[1][-1]) < 5.1
    assert drifts[0].max() > 1e-8


def test_a_length_that_has_drifted_too_far_ends_the_run():
    with pytest.raises(ConfigurationError, match=r"in positions \[0, 1, 2, 3\] has drifted") as end:
        BODY.run(constrained("RK23"), 64, save_every=1)
    run = end.value.result
    assert 0.0 < run.t[-1] < BODY.end
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1.0).max() < 1.1e-6


def test_what_is_no_quaternion_is_found():
    """A joint that says so of positions that double the angle."""

    class Twice(mb.Joint):
        num_positions, num_velocities, quaternions = 4, 3, (0,)
        _ball = mb.SphericalJoint("ball")

        def pose(self, q):
            return self._ball.pose(self._ball.retract(np.eye(4)[0], 2 * self._log(q)))

        def _log(self, q):
            return self._ball.difference(np.eye(4)[0], q)

        def motion_subspace(self, q):
            return np.eye(6)[:, :3]

        def bias(self, q, v):
            return np.zeros(6)

        def retract(self, q, dx):
            return self._ball.retract(q, 0.5 * dx)

        def difference(self, q0, q1):
            return 2 * self._ball.difference(q0, q1)

        def dexp_inv(self, x, w):
            return w

        def position_rates(self, q, w):
            return self._ball.position_rates(q, 0.5 * w)

        def neutral(self):
            return np.eye(4)[0]

        def constraint_wrenches(self, q):
            return np.eye(6)[:, 3:]

    mech = mb.Mechanism("twice")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(Twice("twice"), mech.world, body)
    with pytest.raises(mb.UsageError, match=r"positions \[0, 1, 2, 3\] are said to be a unit"):
        mb.simulate(mech.assemble(), (0.0, 1.0), 0.1, integrator=constrained("RK23"))


# --------------------------------------------------------------------------- what is taken


@pytest.mark.parametrize("kind", KINDS)
def test_prescribed_joints_events_and_output_times(kind):
    """A ball that is turned by a function of time, with a pendulum on it that falls."""
    mech = mb.Mechanism("shaken", gravity=(0, 0, -9.81))
    inertia = mb.SpatialInertia.from_com(1.0, (0, 0.3, 0), np.diag([0.1, 0.2, 0.15]))
    bodies = [mech.add_body(mb.Body(name, inertia)) for name in ("disc", "bob")]
    ball = mb.SphericalJoint("ball")
    turned = ball.prescribe(lambda t: np.array([np.cos(t), np.sin(t), 0.0, 0.0]))
    mech.add_joint(turned, mech.world, bodies[0])
    mech.add_joint(mb.SphericalJoint("pin", point=(0, 0.3, 0)), *bodies)
    system = mech.assemble()
    event = mb.Event("late", lambda t, q, v: t - 0.77, terminal=True)
    options = {"save_at": [0.0, 0.13, 0.5], "events": [event], "progress": False}
    exact = mb.simulate(system, (0.0, 1.0), 4e-3, **options)
    run = mb.simulate(system, (0.0, 1.0), 0.05, integrator=kind("DOP853"), **options)
    np.testing.assert_allclose(run.t, [0.0, 0.13, 0.5, 0.77], rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(run.q, exact.q, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(run.v, exact.v, rtol=0.0, atol=1e-7)
    np.testing.assert_array_equal(run.q[:3, :4], exact.q[:3, :4])  # what is prescribed


class Skate(mb.Joint):
    """Turns, and glides along its blade: angle, x and y by two velocities."""

    num_positions, num_velocities, ndx = 3, 2, 3

    def pose(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, -s, 0, q[1]], [s, c, 0, q[2]], [0, 0, 1, 0], [0, 0, 0, 1]])

    def rates(self, q, v):
        return np.array([v[0], v[1] * np.cos(q[0]), v[1] * np.sin(q[0])])


def test_joints_with_fewer_velocities_are_taken_where_v_stays_the_state():
    mech = mb.Mechanism("sleigh")
    sleigh = mech.add_body(mb.Body("sleigh", mb.SpatialInertia.box(2.0, size=(0.5, 0.2, 0.1))))
    mech.add_joint(Skate("skate"), mech.world, sleigh)
    system = mech.assemble()
    for kind in (local, quaternions):
        run = mb.simulate(system, (0.0, 1.0), 0.05, v=[2.0, 1.0], integrator=kind("DOP853"))
        expected = [2.0, np.sin(2.0) / 2, (1 - np.cos(2.0)) / 2]
        np.testing.assert_allclose(run.q[-1], expected, rtol=0.0, atol=1e-9)
    with pytest.raises(mb.UsageError, match="does not take joints with fewer velocities"):
        mb.simulate(system, (0.0, 1.0), 0.05, v=[2.0, 1.0], integrator=constrained("DOP853"))


def test_a_joint_that_does_not_say_how_its_positions_change_is_refused():
    """Its steps are all that the local model needs."""

    class Wire(mb.Joint):
        num_positions = num_velocities = 1

        def pose(self, q):
            T = np.eye(4)
            T[0, 3] = np.exp(q[0])
            return T

        def retract(self, q, dx):
            return q + dx

        def difference(self, q0, q1):
            return q1 - q0

    mech = mb.Mechanism("wire")
    bead = mech.add_body(mb.Body("bead", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(Wire("wire"), mech.world, bead)
    system = mech.assemble()
    with pytest.raises(mb.UsageError, match=r"'wire': its positions do not add.*LocalVectorSpace"):
        mb.simulate(system, (0.0, 1.0), 0.1, v=[1.0], integrator=quaternions("RK23"))
    mb.simulate(system, (0.0, 1.0), 0.1, v=[1.0], integrator=local("RK23"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["BDF", "LSODA"])
def test_methods_of_several_steps_are_refused(kind, method):
    """Their history would lie in coordinates that have been left."""
    with pytest.raises(mb.UsageError, match=f"'{method}' goes on from the states of several steps"):
        kind(method)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: local("Euler"), "method must be 'RK23' or 'RK45' or 'DOP853' or 'Radau', got"),
        (lambda: local("RK45", rtol=1e-15), r"rtol must be a number from 2.2e-14 on, got 1e-15"),
        (lambda: local("RK45", atol=0.0), r"atol must be a positive number, got 0.0"),
        (
            lambda: quaternions("RK45", rtol=True),
            r"rtol must be a number from 2.2e-14 on, got True",
        ),
        (lambda: mb.QuaternionVectorSpace(norm="kept"), "norm must be 'renormalised' or 'constra"),
    ],
)
def test_what_is_no_method_is_refused(make, message):
    with pytest.raises(mb.UsageError, match=message):
        make()
