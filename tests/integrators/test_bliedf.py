"""BLieDF: orders, what they come from, and what a run asks of a method with a past."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators.integrator import Rows
from mbkit.simulation.preparation import Prepared, prepare
from mbkit.simulation.stabilisation import PROJECTION
from mbkit.testing import check_integrator
from mbkit.testing.convergence import fitted_slope
from mbkit.testing.standard_problems import STANDARD_PROBLEMS
from tests.integrators.motions import motion, orders, solution

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

FORMULATIONS = ("stabilized_index2", "index3")

#: Numbers of steps, by the number of steps of the formula, from which orders are taken.
COUNTS = {
    1: [800, 1600, 3200],
    2: [200, 400, 800],
    3: [200, 400, 800],
    4: [150, 200, 300, 400],
    5: [100, 140, 200, 280],
    6: [80, 100, 125, 156],
}


@pytest.mark.some(2)
@pytest.mark.parametrize("k", COUNTS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_order_with_constraints(k: int, formulation: str) -> None:
    """Of q, v and the multipliers of a top that a ball joint holds as a constraint."""
    found = orders("loop top", mb.BLieDF(k, formulation=formulation), COUNTS[k])
    bound = 0.1 if k < 5 else 0.3  # the multipliers are near rounding
    assert found == pytest.approx(dict.fromkeys(found, k), abs=bound)


@pytest.mark.some(4)
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("name", ["fast loop top", "arm", "four-bar"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_order_elsewhere(k: int, name: str, formulation: str) -> None:
    """Of a fast top, of a planar joint, whose steps are not exponentials, and of a four-bar."""
    counts = [(2 if name == "fast loop top" else 1) * count for count in COUNTS[k]]
    if name == "four-bar":  # with more steps rounding is seen in velocities
        counts = {2: [800, 1600, 3200], 3: [200, 300, 400, 600], 4: [100, 140, 200, 280]}[k]
    found = orders(name, mb.BLieDF(k, formulation=formulation), counts)
    assert found == pytest.approx(dict.fromkeys(found, k), abs=0.15)


@pytest.mark.parametrize("k", [3, 4])
def test_without_correction_order_is_two(k: int) -> None:
    """Increments that are added as on a vector space miss the curvature of the group."""
    found = orders("loop top", mb.BLieDF(k, correction=False), [400, 800, 1600])
    assert max(found.values()) < 2.3
    assert mb.BLieDF(k, correction=False).order == 2


def test_nothing_is_corrected_on_a_vector_space() -> None:
    """A four-bar of hinges moves the same with and without."""
    one = motion("four-bar").run(mb.BLieDF(4), 200)
    other = motion("four-bar").run(mb.BLieDF(4, correction=False), 200)
    assert np.allclose(one.q, other.q, rtol=0, atol=1e-11)
    assert np.allclose(one.v, other.v, rtol=0, atol=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 4])
def test_multipliers_from_the_first_step(k: int) -> None:
    """They have the order in the worst of all steps of the stabilised form, the first included."""
    top, worst, counts = motion("shifted loop top"), [], [100, 200, 400]
    for count in counts:
        run = top.run(mb.BLieDF(k), count, save_every=1)
        every = 3200 // count
        fine = top.run(mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), 3200, save_every=every)
        worst.append(float(np.abs(run.multipliers - fine.multipliers).max()))
    assert fitted_slope(counts, np.array(worst)).value == pytest.approx(k, abs=0.25)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_constraints_hold(formulation: str) -> None:
    """In positions to rounding; in the stabilised form in velocities too."""
    run = motion("four-bar").run(mb.BLieDF(3, formulation=formulation), 200, save_every=1)
    assert run.residuals[:, 0].max() < 1e-12
    if formulation == "stabilized_index2":
        assert run.residuals[:, 1].max() < 1e-10


@pytest.mark.parametrize("integrator", [mb.BLieDF(1), mb.BLieDF(4), mb.BLieDF(2, "index3")])
def test_contract(integrator: mb.BLieDF) -> None:
    """Bits, cuts, states to go on from, failures and events, as for all integrators."""
    check_integrator(integrator, problems=STANDARD_PROBLEMS[1:2]).raise_if_failed()


def _prepared(integrator: mb.Integrator) -> Prepared:
    bar = motion("four-bar")
    return prepare(
        bar.system, integrator, (0.0, 1.0), 2e-3, q=bar.q, v=bar.v, tau=None, forces=(),
        events=(), save_every=3, save_at=None, stabilisation=PROJECTION, constraint_solver=None,
    )  # fmt: skip


@pytest.mark.parametrize("cut", [1, 2, 30])
def test_closed_runs_go_on_bit_for_bit(cut: int) -> None:
    """From the state alone, also where it is cut while the method starts."""
    whole, before, after = (_prepared(mb.BLieDF(4)) for _ in range(3))
    rows = Rows.empty(100, 3, 3, 5)
    whole.course(0, 60, rows)
    before.course(0, cut, rows)
    for name, value in before.problem.state.items():
        after.problem.state[name][:] = value
    after.course(cut, 60 - cut, rows)
    for name, value in whole.problem.state.items():
        assert np.array_equal(value, after.problem.state[name], equal_nan=True), name


def test_output_times_within_steps() -> None:
    """They are as good as the steps."""
    top = motion("loop top")
    times = np.array([0.0123, 0.2345, 0.25, 0.4999])
    run = top.run(mb.BLieDF(4), 500, save_every=1, save_at=times)
    fine = top.run(
        mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), 4000, save_every=1, save_at=times
    )
    assert np.allclose(run.q, fine.q, rtol=0, atol=1e-8)
    assert np.allclose(run.multipliers, fine.multipliers, rtol=0, atol=1e-4)


def _falling_ball() -> mb.System:
    mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail", axis=(0, 0, 1)), mech.world, ball)
    return mech.assemble()


@pytest.mark.parametrize("k", [1, 2, 4])
def test_impacts_begin_anew(k: int) -> None:
    """What was before an impact is not differentiated: a bouncing ball has its closed form."""
    bounce = mb.Event("floor", mb.JointPosition("rail"), direction="falling", reset=mb.Impact(0.5))
    run = mb.simulate(
        _falling_ball(), (0.0, 0.8), 1e-4 if k == 1 else 1e-2, q=[1.0], integrator=mb.BLieDF(k),
        events=[bounce], progress=False,
    )  # fmt: skip
    first = np.sqrt(2.0 / 9.81)
    up, since = 0.5 * 9.81 * first, 0.8 - first
    exact = up * since - 0.5 * 9.81 * since**2
    assert run.q[-1, 0] == pytest.approx(exact, abs=2e-3 if k == 1 else 1e-9)


def test_work_has_the_order_of_the_formula() -> None:
    """The energy balance of an arm with a damper and driven forces."""
    arm = STANDARD_PROBLEMS[3]
    misses = [
        float(np.abs(arm.run(mb.BLieDF(4), count).energy_balance[-1])) for count in (200, 400, 800)
    ]
    assert fitted_slope([200, 400, 800], np.array(misses)).value > 3.7


def test_stiff_damping_costs_no_steps() -> None:
    """A damper of 1e6 / s on a pendulum, at steps where an explicit method is unstable by 1e4."""
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    mech.add_force(mb.JointDamper("damper", "hinge", damping=1e6))
    run = mb.simulate(
        mech.assemble(), (0.0, 100.0), 1e-2, q=[1.0], integrator=mb.BLieDF(3), save_every=100,
        progress=False,
    )  # fmt: skip
    # it creeps: d qdot = -m g l sin q
    exact = 2.0 * np.arctan(np.tan(0.5) * np.exp(-9.81e-6 * run.t))
    assert np.allclose(run.q[:, 0], exact, rtol=0, atol=1e-9)


def test_prescribed_joints_move() -> None:
    """A crank that is driven, with a pendulum on it: as the explicit method has it."""
    mech = mb.Mechanism("driven", gravity=(0, 0, -9.81))
    rod = mb.SpatialInertia.from_com(1.0, (0, 0, -0.5), moment_about_com=0.1 * np.eye(3))
    crank, bob = (mech.add_body(mb.Body(name, rod)) for name in ("crank", "bob"))
    hinge = mb.RevoluteJoint("crank", axis=(0, 1, 0))
    mech.add_joint(hinge.prescribe(lambda t: np.sin(3.0 * t)), mech.world, crank)
    mech.add_joint(mb.SphericalJoint("ball", point=(0, 0, -1.0)), crank, bob)
    system = mech.assemble()
    ends = [
        mb.simulate(
            system, (0.0, 0.5), 0.5 / count, integrator=integrator, save_every=count,
            progress=False,
        )
        for integrator, count in ((mb.RungeKuttaMuntheKaas(), 2000), (mb.BLieDF(4), 400))
    ]  # fmt: skip
    assert np.allclose(ends[0].q[-1], ends[1].q[-1], rtol=0, atol=1e-7)
    assert np.allclose(ends[0].v[-1], ends[1].v[-1], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 7}, "steps must be 1 to 6"),
        ({"steps": 2.0}, "steps must be 1 to 6"),
        ({"formulation": "index 1"}, "formulation must be 'stabilized_index2' or 'index3'"),
        ({"correction": 1}, "correction must be True or False"),
        ({"tolerance": 0.0}, "tolerance must be a positive number"),
    ],
)
def test_what_is_no_formula_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(mb.UsageError, match=message):
        mb.BLieDF(**options)


def test_solutions_are_better_than_what_is_measured() -> None:
    """Half the steps of the reference solution change it by less than the errors that count."""
    assert solution("loop top").q.shape == (2, 7)
    fine = solution("loop top")
    half = motion("loop top").run(mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), 4096)
    assert np.abs(fine.q[-1] - half.q[-1]).max() < 1e-12
