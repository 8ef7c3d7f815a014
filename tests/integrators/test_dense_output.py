"""Dense output: its order, its price, and that loops are closed within steps, too."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.testing import integrator_contract as laws
from mbkit.testing.convergence import fitted_slope
from tests.integrators.accurate import ARM, TETHER, TOP, Count, errors, spatial_four_bar

T = mb.tableaus
DENSE = [t for t in T.TABLEAUS.values() if t.b_dense is not None]
TIMES = tuple(np.linspace(0.013, 1.987, 61))


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("tableau", DENSE, ids=lambda tableau: tableau.name)
@pytest.mark.parametrize("problem", [TETHER, ARM], ids=lambda problem: problem.name)
def test_states_within_steps_have_the_order_of_the_method(tableau, problem):
    """What a polynomial of one order less adds is of the order that the steps add up to."""
    counts = (64, 90, 128, 181) if tableau.order == 5 and problem is ARM else (128, 181, 256, 362)
    method = mb.RungeKuttaMuntheKaas(tableau)
    found = np.array(
        [
            errors(problem, problem.run(method, n, save_every=1, save_at=TIMES), TIMES)
            for n in counts
        ]
    )
    slopes = [fitted_slope(counts, column).value for column in found.T]
    np.testing.assert_allclose(slopes, tableau.order, atol=0.35)


@pytest.mark.slow
@pytest.mark.parametrize("tableau", DENSE, ids=lambda tableau: tableau.name)
def test_a_step_of_its_own_has_the_order_of_the_polynomial_and_one(tableau):
    """The error within the first step, in which no others are: O(h^(d + 1)) for order d."""
    found = []
    sizes = (0.08 if tableau.order == 5 else 0.03) * 0.7 ** np.arange(4)
    start = TETHER.run(mb.RungeKuttaMuntheKaas(), 200, save_every=50)  # at no special state
    for h in sizes:
        options = {"q": start.q[1], "v": start.v[1], "progress": False}
        exact = mb.simulate(
            TETHER.system, (0.0, 0.6 * h), 0.01 * h, **options,
            integrator=mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE8),
        )  # fmt: skip
        run = mb.simulate(
            TETHER.system, (0.0, h), h, save_at=[0.6 * h], **options,
            integrator=mb.RungeKuttaMuntheKaas(tableau),
        )  # fmt: skip
        found.append(
            [
                np.linalg.norm(TETHER.system.difference(exact.q[-1], run.q[0])),
                np.linalg.norm(exact.v[-1] - run.v[0]),
            ]
        )
    slopes = np.polyfit(np.log(sizes), np.log(found), 1)[0]
    np.testing.assert_allclose(slopes, tableau.dense_order + 1, atol=0.15)


@pytest.mark.parametrize("rtol", [None, 1e-6])
def test_many_output_times_cost_no_steps(rtol):
    """A thousand states in ten steps ask the equations of motion as often as three do."""
    counts = []
    for number in (3, 1000):
        tau = Count()
        TETHER.run(
            mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5, rtol=rtol), 10, tau=tau, save_every=1,
            save_at=np.linspace(0.19, 1.81, number),
        )  # fmt: skip
        counts.append(len(tau.times))
    # one stage a step more where there are outputs; with own steps, these steps again
    assert counts[1] <= (10 * 7 if rtol is None else 2.2 * counts[0])


@pytest.mark.parametrize("rtol", [None, 1e-5])
@pytest.mark.parametrize("tableau", DENSE, ids=lambda tableau: tableau.name)
def test_states_within_a_step_are_the_same_in_any_order(tableau, rtol):
    """And they begin and end where the step does."""
    run = laws.prepared(mb.RungeKuttaMuntheKaas(tableau, rtol=rtol), TOP)
    problem = run.problem
    run.course(0, 1, laws._rows(run, 2))
    before = {name: value.copy() for name, value in problem.state.items()}
    status, *_ = run.course(1, 1, laws._rows(run, 2))
    assert status == 0
    after = {name: value.copy() for name, value in problem.state.items()}

    def state(t):
        parts = [before[name].copy() for name in ("q", "v", "work")]
        assert problem.interpolate(t, *parts) == 0
        return np.concatenate(parts)

    times = np.linspace(0.01, 0.02, 12)
    in_order = [state(t) for t in times]
    shuffled = np.random.default_rng(1).permutation(12)
    for k in shuffled:
        np.testing.assert_array_equal(state(times[k]), in_order[k])
    for ends, k in ((before, 0), (after, -1)):
        expected = np.concatenate([ends[name] for name in ("q", "v", "work")])
        np.testing.assert_allclose(in_order[k], expected, rtol=0.0, atol=1e-14)
    for name, value in problem.state.items():
        np.testing.assert_array_equal(value, after[name])


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [None, 1e-7])
def test_loops_are_closed_within_steps(rtol):
    system, q, v = spatial_four_bar()
    times = np.linspace(0.01, 0.49, 37)
    options = {"q": q, "v": v, "save_at": times, "progress": False}
    exact = mb.simulate(
        system, (0.0, 0.5), 1e-3, **options, integrator=mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE8)
    )
    run = mb.simulate(
        system, (0.0, 0.5), 0.5 / 64, **options,
        integrator=mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5, rtol=rtol),
    )  # fmt: skip
    assert np.abs(run.residuals).max() < 1e-12
    steps = [system.difference(*pair) for pair in zip(exact.q, run.q, strict=True)]
    assert np.abs(steps).max() < 1e-6


def test_prescribed_joints_and_work_are_those_of_the_time():
    """A driven slide that drags a damper: position and dissipated energy at output times."""
    mech = mb.Mechanism("slide", gravity=(0, 0, 0))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.box(1.0, size=(0.1, 0.1, 0.1))))
    slide = mb.PrismaticJoint("slide", axis=(1, 0, 0)).prescribe(lambda t: 0.2 * np.sin(5 * t))
    mech.add_joint(slide, mech.world, cart)
    mech.add_force(mb.JointDamper("damper", "slide", damping=3.0))
    times = np.linspace(0.003, 0.997, 23)
    for rtol in (None, 1e-9):
        run = mb.simulate(
            mech.assemble(), (0.0, 1.0), 0.02, save_at=times, progress=False,
            integrator=mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5, rtol=rtol),
        )  # fmt: skip
        np.testing.assert_allclose(run.q[:, 0], 0.2 * np.sin(5 * times), atol=1e-15)
        np.testing.assert_allclose(run.v[:, 0], np.cos(5 * times), atol=1e-8)  # by differences
        dissipated = 3.0 * (times / 2 + np.sin(10 * times) / 20)
        np.testing.assert_allclose(run.dissipated_energy, dissipated, atol=2e-8)
