"""Runge-Kutta-Munthe-Kaas pairs that choose their steps: errors, rejections, failures, bits."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.testing import integrator_contract as laws
from tests.integrators.accurate import ARM, BODY, TETHER, TOP, Count, errors, spatial_four_bar

T = mb.tableaus
PAIRS = [t for t in T.TABLEAUS.values() if t.b_embedded is not None and t.order > 2]


def adaptive(tableau=T.DORMAND_PRINCE5, rtol=1e-8, **options):
    return mb.RungeKuttaMuntheKaas(tableau, rtol=rtol, **options)


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize("tableau", PAIRS, ids=lambda tableau: tableau.name)
@pytest.mark.parametrize("problem", [TETHER, ARM, TOP], ids=lambda problem: problem.name)
def test_the_error_is_proportional_to_the_tolerance(tableau, problem):
    """Over five decades, and of its size: of groups and vector spaces, with all pairs.

    Steps of high orders at coarse tolerances are few and limited by h, and better than asked for.
    """
    tolerances = 10.0 ** np.arange(-9.0, -3.5)
    found = [
        max(errors(problem, problem.run(adaptive(tableau, tol), 4))) / tol for tol in tolerances
    ]
    assert max(found) < 50.0
    slope = 1.0 + np.polyfit(np.log(tolerances), np.log(found), 1)[0]
    assert (0.75 if tableau.order <= 6 else 0.6) < slope < 1.15


@pytest.fixture(scope="module")
def planet():
    """A point mass that is moved in space."""
    mech = mb.Mechanism("planet", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("planet", mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.eye(3))))
    mech.add_joint(mb.TranslationalJoint("place"), mech.world, body)
    return mech.assemble()


def attraction(t, q, v):
    return -q / np.linalg.norm(q) ** 3


#: Kepler's ellipse with eccentricity 0.9, from its far end, whose period is 2 pi.
FAR, SLOW = 1.9, np.sqrt(0.1 / 1.9)


def revolve(planet, integrator, steps=4):
    tau = Count(attraction)
    run = mb.simulate(
        planet, (0.0, 2 * np.pi), 2 * np.pi / steps, q=[-FAR, 0, 0], v=[0, -SLOW, 0], tau=tau,
        integrator=integrator, progress=False,
    )  # fmt: skip
    return np.abs(run.q[-1] - [-FAR, 0, 0]).max(), len(tau.times)


@pytest.mark.slow
def test_steps_are_small_where_the_motion_is_fast(planet):
    """After a revolution the planet is back, with a tenth of the error of steps of one size.

    Those cost four times as much, since all of them have to be as small as at the near end.
    """
    error, evaluations = revolve(planet, adaptive(rtol=1e-9))
    assert error < 1e-6
    assert evaluations < 3000
    assert 10.0 * error < revolve(planet, mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5), 1000)[0]


@pytest.mark.slow
def test_the_tolerance_rules_on_keplers_ellipse(planet):
    """Over decades, although steps differ by a factor of a hundred on the way."""
    tolerances = 10.0 ** np.arange(-11.0, -4.5)
    found = [revolve(planet, adaptive(T.DORMAND_PRINCE8, tol))[0] for tol in tolerances]
    assert 0.8 < np.polyfit(np.log(tolerances), np.log(found), 1)[0] < 1.2


def test_a_blow_is_met_with_rejected_steps_and_not_stepped_over(planet):
    """A short force within a long step: the momentum that it gives is that of its integral."""

    def blow(t, q, v):
        return np.array([np.exp(-(((t - 0.5) / 0.01) ** 2)), 0.0, 0.0])

    tau = Count(blow)
    run = mb.simulate(planet, (0.0, 1.0), 0.1, tau=tau, integrator=adaptive(), progress=False)
    assert abs(run.v[-1, 0] - 0.01 * np.sqrt(np.pi)) < 1e-8
    latest = np.maximum.accumulate(tau.times)
    assert (latest - tau.times > 0.02).any()  # it went back by more than the stages of a step do


def test_a_step_costs_as_many_evaluations_as_are_new(planet):
    """The last stage of Dormand and Prince's pair is the first of the next step: six a step.

    In uniform motion nothing is rejected, and steps grow fivefold to the distance of grid points,
    at which the first stage is evaluated anew.
    """
    tau = Count()
    options = {"v": [1.0, 0, 0], "tau": tau, "integrator": adaptive(), "progress": False}
    mb.simulate(planet, (0.0, 4.0), 1.0, **options)
    ends = np.isclose(np.diff(tau.times), 0.0)  # the last two stages of a step are at its end
    steps = len({round(t, 9) for t in np.array(tau.times[1:])[ends]})
    assert steps == 8
    assert len(tau.times) == 4 + 6 * steps


def test_no_step_turns_a_body_by_more_than_its_coordinates_bear():
    """A body in steady rotation has no error to be seen; ten turns in a step would be none."""
    tau = Count()
    spin = [0.0, 0.0, 60.0]
    run = mb.simulate(
        BODY.system, (0.0, 1.0), 1.0, v=spin, tau=tau, integrator=adaptive(rtol=1e-3),
        progress=False,
    )  # fmt: skip
    assert len(tau.times) > 6 * 60.0 / (0.9 * np.pi)
    half = np.array([np.cos(30.0), 0.0, 0.0, np.sin(30.0)])
    assert min(np.abs(run.q[-1] - half).max(), np.abs(run.q[-1] + half).max()) < 1e-12


@pytest.mark.slow
def test_loops_stay_closed_and_errors_follow_the_tolerance():
    """A spatial four-bar, projected at the end of each step of its own."""
    system, q, v = spatial_four_bar()
    span = (0.0, 0.5)
    exact = mb.simulate(
        system, span, 5e-4, q=q, v=v, save_every=1000, progress=False,
        integrator=mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE8),
    )  # fmt: skip
    for rtol in (1e-4, 1e-6, 1e-8):
        run = mb.simulate(
            system, span, 0.1, q=q, v=v, integrator=adaptive(rtol=rtol), progress=False
        )
        assert np.abs(run.residuals).max() < 1e-12
        assert np.linalg.norm(system.difference(exact.q[-1], run.q[-1])) < 2.0 * rtol
        assert np.linalg.norm(run.v[-1] - exact.v[-1]) < 5.0 * rtol


@pytest.mark.slow
def test_a_prescribed_joint_is_where_it_shall_be():
    """And what hangs on it follows: against many steps of one size."""
    mech = mb.Mechanism("swing", gravity=(0, 0, -9.81))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.box(1.0, size=(0.1, 0.1, 0.1))))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.box(0.5, size=(0.1, 0.1, 0.5))))
    slide = mb.PrismaticJoint("slide", axis=(1, 0, 0)).prescribe(lambda t: 0.2 * np.sin(5 * t))
    mech.add_joint(slide, mech.world, cart)
    mech.add_joint(mb.SphericalJoint("ball", point=(0, 0, 0.4)), cart, bob)
    moved = mech.assemble()
    options = {"v": [0.0, 1.0, -2.0, 0.5], "progress": False}
    exact = mb.simulate(moved, (0.0, 1.0), 1e-3, **options)
    run = mb.simulate(moved, (0.0, 1.0), 0.25, integrator=adaptive(), **options)
    np.testing.assert_allclose(run.q[:, 0], 0.2 * np.sin(5 * run.t), atol=1e-15)
    assert np.abs(run.q[-1] - exact.q[-1]).max() < 1e-7


def test_events_are_found_within_long_steps():
    """A ball that falls and bounces, between grid points that are far apart."""
    mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.eye(3))))
    mech.add_joint(mb.PrismaticJoint("height", axis=(0, 0, 1)), mech.world, ball)
    floor = mb.Event("floor", lambda t, q, v: q[0], direction="falling", terminal=True)
    run = mb.simulate(
        mech.assemble(), (0.0, 5.0), 1.0, q=[3.0], events=[floor], progress=False,
        integrator=adaptive(rtol=1e-10),
    )  # fmt: skip
    assert abs(run.t[-1] - np.sqrt(2 * 3.0 / 9.81)) < 1e-9


# ------------------------------------------------------------------------------- contract


@pytest.mark.slow
@pytest.mark.parametrize("tableau", [T.DORMAND_PRINCE5, T.VERNER6], ids=lambda t: t.name)
def test_the_contract_of_steps_holds(tableau):
    """The same bits however steps are cut into calls, from the state alone, after failures."""
    for line in laws.contract(adaptive(tableau, rtol=1e-6), TOP):
        assert line.holds, line


def test_the_size_of_steps_is_part_of_the_state():
    """Without it a run would go on in other steps than it would have taken."""
    run = laws.prepared(adaptive(rtol=1e-6), TOP)
    assert run.problem.state.keys() == {"q", "v", "work", "step_size"}
    assert not run.problem.memory["step_size"].any()
    run.course(0, 5, laws._rows(run, 10))
    assert run.problem.memory["step_size"].all()


# ------------------------------------------------------------------------------- failures


def test_a_singularity_is_told_and_what_was_computed_kept(planet):
    """v' = v^2 has no solution beyond 1 / v0."""

    def growth(t, q, v):
        with np.errstate(over="ignore"):
            return v**2

    with pytest.raises(mb.MbkitError, match=r"The simulation stopped at t = 0\.9 s") as caught:
        mb.simulate(
            planet, (0.0, 2.1), 0.3, v=[1.0, 0.0, 0.0], tau=growth, integrator=adaptive(),
            progress=False,
        )  # fmt: skip
    run = caught.value.result
    assert run.t[-1] == pytest.approx(0.9)
    assert run.v[-1, 0] == pytest.approx(10.0, rel=1e-6)


def test_a_jump_that_no_step_resolves_is_told(planet):
    """A force that is another number each time it is asked for."""
    rng = np.random.default_rng(5)
    with pytest.raises(mb.ConvergenceError, match="would need steps below the resolution of t"):
        mb.simulate(
            planet, (0.0, 1.0), 0.1, tau=lambda t, q, v: 1e20 * rng.normal(size=3),
            integrator=mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5, atol=1e-12), progress=False,
        )  # fmt: skip


@pytest.mark.slow
def test_a_stiff_motion_is_told():
    """A damper that stops a body within a ten-millionth of a second."""
    mech = mb.Mechanism("stiff")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.box(1.0, size=(1, 1, 1))))
    mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), mech.world, body)
    mech.add_force(mb.JointDamper("damper", "slide", damping=1e7))
    with pytest.raises(mb.ConvergenceError, match=r"100000 steps .* which asks for an implicit"):
        mb.simulate(
            mech.assemble(), (0.0, 1.0), 1.0, v=[1.0], integrator=adaptive(), progress=False
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tableau": T.RK4, "rtol": 1e-6}, "tableau 'rk4' has no b_embedded; use heun, bogacki"),
        ({"tableau": T.DORMAND_PRINCE5, "rtol": 0.0}, "rtol must be a positive number, got 0.0"),
        ({"tableau": T.DORMAND_PRINCE5, "atol": np.inf}, "atol must be a positive number, got inf"),
        ({"tableau": T.DORMAND_PRINCE5, "rtol": "small"}, "rtol must be a positive number"),
    ],
)
def test_tolerances_that_are_none_are_refused(options, message):
    with pytest.raises(mb.UsageError, match=message):
        mb.RungeKuttaMuntheKaas(**options)
