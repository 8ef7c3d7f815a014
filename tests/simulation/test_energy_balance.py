"""Runs whose steps are too large say so: by the energy balance."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from mbkit.results.balance import EnergyWatch

pytestmark = pytest.mark.compiled  # thousands of steps


def at(x, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, 0.0, z
    return pose


def rail(*forces, gravity=(0, 0, 0)):
    """1 kg on a vertical rail."""
    mech = mb.Mechanism("rail", gravity=gravity)
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail", axis=(0, 0, 1)), mech.world, ball)
    for force in forces:
        mech.add_force(force)
    return mech.assemble()


def double_pendulum():
    rod = mb.SpatialInertia.cylinder(1.0, radius=0.02, length=1.0)
    mech = mb.Mechanism("double pendulum")
    upper = mech.add_body(mb.Body("upper", rod, pose=at(0.0, -0.5)))
    lower = mech.add_body(mb.Body("lower", rod, pose=at(0.0, -1.5)))
    mech.add_joint(mb.RevoluteJoint("shoulder", axis=(0, 1, 0)), mech.world, upper)
    mech.add_joint(mb.RevoluteJoint("elbow", axis=(0, 1, 0), point=(0, 0, -1)), upper, lower)
    return mech.assemble()


def slider_crank(crank, rod):
    """A crank, a rod and a slider of 1 kg each, stretched along x."""
    mech = mb.Mechanism("slider-crank", gravity=(0, 0, 0))
    bodies = [
        mech.add_body(mb.Body(name, mb.SpatialInertia.box(1.0, size=(a, 0.02, 0.02)), pose=at(x)))
        for name, a, x in (
            ("crank", crank, crank / 2), ("rod", rod, crank + rod / 2),
            ("slider", 0.05, crank + rod),
        )
    ]  # fmt: skip
    for name, x, one, other in (
        ("crank", 0.0, mech.world, bodies[0]), ("pin", crank, *bodies[:2]),
        ("wrist", crank + rod, *bodies[1:]),
    ):  # fmt: skip
        mech.add_joint(mb.RevoluteJoint(name, axis=(0, 0, 1), point=(x, 0, 0)), one, other)
    slide = mb.PrismaticJoint("slide", axis=(1, 0, 0), point=(crank + rod, 0, 0))
    mech.add_joint(slide, mech.world, bodies[2])
    return mech.assemble()


def simulated(system, end, h, **options):
    return mb.simulate(system, (0.0, end), h, progress=False, **options)


def told(system, end, h, **options):
    """Return a run that says in its result and by a warning that the balance is not kept."""
    with pytest.warns(
        mb.EnergyBalanceWarning, match="The energy balance has an error of"
    ) as caught:
        run = simulated(system, end, h, **options)
    assert run.completed
    assert [str(each.message) for each in caught] == list(run.warnings)
    missing = np.abs(run.energy_balance)
    assert missing.max() > 0.01 * run.kinetic_energy.max()
    return run


def silent(system, end, h, **options):
    """Return a run that says nothing; a warning is an error here."""
    run = simulated(system, end, h, **options)
    assert run.warnings == ()
    return run


# ---------------------------------------------------------------------- what was "completed"


@pytest.mark.parametrize("integrator", [None, mb.RATTLie()], ids=["RK4", "RATTLie"])
def test_a_spring_that_is_too_hard_for_the_step(integrator):
    """It swings with 1000 rad/s between -0.1 m and 0.1 m; steps of 10 ms end far outside."""
    system = rail(mb.JointSpring("spring", "rail", stiffness=1e6))
    run = told(system, 0.1, 1e-2, q=[0.1], integrator=integrator)
    assert abs(run.q[-1, 0]) > 1e17
    assert "from t = 0.01 s on" in run.warnings[0]
    fine = silent(system, 0.1, 2e-5, q=[0.1], integrator=integrator, save_every=50)
    np.testing.assert_allclose(fine.q[:, 0], 0.1 * np.cos(1e3 * fine.t), atol=1e-3)


@pytest.mark.parametrize("damping", [200.0, 290.0, 1000.0])
def test_a_damper_that_is_too_hard_for_the_step(damping):
    """The body stops in milliseconds: v = exp(-d t / m), and d v^2 / 2 is dissipated."""
    system = rail(mb.JointDamper("damper", "rail", damping=damping))
    run = told(system, 0.2, 1e-2, v=[1.0])
    assert run.dissipated_energy[-1] > 1.2 * 0.5
    fine = silent(system, 0.2, 1e-4, v=[1.0])
    assert fine.dissipated_energy[-1] == pytest.approx(0.5, rel=1e-4)
    assert fine.q[-1, 0] == pytest.approx((1.0 - np.exp(-0.2 * damping)) / damping, rel=1e-4)


def test_a_stop_that_is_too_hard_for_the_step():
    """A body falls by 0.1 m onto an elastic stop, and cannot come up higher than it was."""
    stop = mb.LimitStop("stop", "rail", lower=0.0, upper=1e3, stiffness=1e5, damping=0.0)
    system = rail(stop, gravity=(0, 0, -9.81))
    assert told(system, 2.0, 1e-2, q=[0.1]).q.max() > 1.0
    assert silent(system, 2.0, 1e-4, q=[0.1]).q.max() < 0.1001


def test_a_slider_crank_with_a_motor():
    """What the motor supplies, effort times angle, is kinetic energy."""
    system = slider_crank(0.1, 0.3)
    tau = np.zeros(system.nv)
    tau[system.velocity_slice("crank")] = 5.0
    place = system.position_slice("crank")
    with pytest.warns(mb.RedundantConstraintsWarning):
        system.solve_dynamics(system.reference_configuration(), np.zeros(system.nv))
    coarse = told(system, 2.0, 1e-3, tau=tau)
    fine = silent(system, 2.0, 1e-4, tau=tau, save_every=10)
    angle = fine.q[-1, place][0]
    assert fine.kinetic_energy[-1] == pytest.approx(5.0 * angle, rel=2e-3)
    assert coarse.q[-1, place][0] < 0.9 * angle
    assert coarse.supplied_energy[-1] == pytest.approx(5.0 * coarse.q[-1, place][0], rel=1e-3)


def test_a_double_pendulum_in_steps_of_a_tenth_of_a_second():
    start = {"q": [2.0, 0.5]}
    told(double_pendulum(), 10.0, 0.1, **start)
    silent(double_pendulum(), 10.0, 1e-3, **start)


@pytest.mark.parametrize(
    ("integrator", "speed", "h"), [(None, 1.0, 0.05), (mb.RATTLie(), 5.0, 0.05)],
    ids=["RK4", "RATTLie"],
)  # fmt: skip
def test_a_slider_crank_near_its_dead_centre(integrator, speed, h):
    """RK4 loses energy; RATTLie ends where the rod points the other way, which needs a jump."""
    system = slider_crank(1.0, 1.0001)
    q = system.reference_configuration()
    v = system.consistent_velocity({"crank": speed}, q)
    with pytest.warns(mb.RedundantConstraintsWarning):
        system.solve_dynamics(q, v)
    run = told(system, 10.0, h, q=q, v=v, integrator=integrator)
    crank, pin = (run.q[:, system.position_slice(name)][:, 0] for name in ("crank", "pin"))
    turned_over = np.cos(crank + pin) < 0.0
    assert turned_over.any() == (integrator is not None)
    assert run.energy[-1] < 0.6 * run.energy[0] or turned_over.any()
    silent(system, 10.0, h / 100, q=q, v=v, integrator=integrator, save_every=100)


# ---------------------------------------------------------------------- by the method


def test_methods_that_damp_say_so():
    """An oscillation that is faster than the steps: 10 rad a step, and 1 rad."""
    system = rail(mb.JointSpring("spring", "rail", stiffness=1e4))
    for method in (mb.GeneralizedAlpha(), mb.BLieDF(1)):
        text = told(system, 1.0, 1e-2, q=[0.1], integrator=method).warnings[0]
        assert "which takes energy from motions that are faster than they are" in text
    silent(system, 1.0, 1e-4, q=[0.1], integrator=mb.GeneralizedAlpha(), save_every=10)


def test_tolerances_are_named_where_there_are_some():
    rough = mb.RungeKuttaMuntheKaas(mb.tableaus.BOGACKI_SHAMPINE3, rtol=0.1)
    text = told(double_pendulum(), 20.0, 0.5, q=[2.0, 0.5], integrator=rough).warnings[0]
    assert "The tolerances of RungeKuttaMuntheKaas are too large" in text
    assert "Steps of h" not in text
    careful = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-8)
    silent(double_pendulum(), 20.0, 0.5, q=[2.0, 0.5], integrator=careful)


class Euler(mb.Integrator):
    """Semi-implicit Euler in Python; it may add up what forces dissipate and supply."""

    order = 1

    def __init__(self, works):
        self.works = works

    def prepare(self, problem):
        vdot, powers, x = np.zeros(problem.nv), np.zeros(2), np.zeros(problem.ndx)
        q = problem.q.copy()

        def advance(first, steps, rows):
            saved = 0
            for k in range(first, first + steps):
                t = problem.t0 + k * problem.h
                status = problem.accelerate(t, problem.q, problem.v, vdot, powers)
                if status != 0:
                    return status, k - first, saved
                problem.v += problem.h * vdot
                x[:] = problem.h * problem.v
                problem.retract(problem.q, x, q)
                problem.q[:] = q
                if self.works:
                    problem.work += problem.h * powers
                if (k + 1) % problem.save_every == 0:
                    rows.t[saved] = problem.t0 + (k + 1) * problem.h
                    rows.q[saved], rows.v[saved] = problem.q, problem.v
                    rows.work[saved] = problem.work
                    saved += 1
            return 0, steps, saved

        return advance


def test_an_integrator_that_adds_up_no_work_has_no_balance():
    """Nothing is warned of, and the result says why nothing is known."""
    system = rail(mb.JointDamper("damper", "rail", damping=1.0))
    run = simulated(system, 1.0, 1e-3, v=[1.0], integrator=Euler(works=False))
    assert len(run.warnings) == 1
    assert "is not known: the integrator does not add up" in run.warnings[0]
    silent(system, 1.0, 1e-3, v=[1.0], integrator=Euler(works=True))
    told(system, 1.0, 0.1, v=[1.0], integrator=Euler(works=True))
    told(rail(mb.JointSpring("s", "rail", stiffness=1e4)), 1.0, 0.1, q=[1.0],
         integrator=Euler(works=False))  # fmt: skip


def test_a_force_whose_power_is_not_its_own():
    """It dissipates, and says that it does not."""
    brake = mb.ForceFunction("brake", lambda t, q, v: -5.0 * v, joints="rail", power="supplied")
    silent(rail(brake), 1.0, 1e-3, v=[1.0])

    class Wrong(mb.Force):
        joints = ("rail",)
        power = "conservative"

        def evaluate(self, t, q, v, poses, twists, out):
            out[0] = -5.0 * v[0]

        def potential_energy(self, t, q, poses):
            return 0.0

    told(rail(Wrong("wrong")), 1.0, 1e-3, v=[1.0])


def test_what_misses_more_than_a_hundredth_of_the_kinetic_energy():
    """A stop in a damper: by the change of potential energy alone it would not be said."""
    watch = EnergyWatch()
    rows = {"kinetic": [0, 1.0, 0], "potential": [20, 10, 0], "dissipated": [0, 9, 19.985]}
    watch.look([0, 1, 2], **rows, supplied=[0, 0, 0])
    assert watch.exceeds
    assert "1.5 % of the peak kinetic energy" in watch.finding({})
    slow = EnergyWatch()  # what creeps has no kinetic energy to compare with
    slow.look([0, 1], [0, 1e-9], [20, 10], [0, 9.9995], [0, 0])
    assert not slow.exceeds
    slow.look([2], [1e-9], [0], [19.99], [0])
    assert "0.05 % of the largest energy that moved" in slow.finding({})


# ---------------------------------------------------------------------- no false alarms


def test_what_is_saved_where_it_is_at_rest():
    """Period for period: by the rows nothing moves, and what does between is known."""
    system = rail(mb.JointSpring("spring", "rail", stiffness=(2.0 * np.pi) ** 2))
    for options in ({"save_every": 20}, {"save_at": [0.0, 1.0, 2.0]}):
        run = silent(system, 2.0, 0.05, q=[1.0], **options)
        by_rows = EnergyWatch()
        by_rows.look(run.t, run.kinetic_energy, run.potential_energy, 0.0 * run.t, 0.0 * run.t)
        assert by_rows.exceeds


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "integrator", [None, mb.GeneralizedAlpha(), mb.BLieDF(2), mb.RATTLie()], ids=repr
)
def test_what_stands_still_under_load(integrator):
    """A bridge of bars and a body on a spring: their energies are those of tolerances."""
    mech = mb.Mechanism("bridge")
    rod = mb.SpatialInertia.cylinder(1.0, radius=0.02, length=1.0)
    for name, x in (("left", 0.5), ("right", 1.5)):
        mech.add_body(mb.Body(name, rod, pose=at(x, -0.3)))
    mech.add_joint(mb.RevoluteJoint("A", axis=(0, 1, 0)), mech.world, "left")
    mech.add_joint(mb.RevoluteJoint("B", axis=(0, 1, 0), point=(1, 0, -0.6)), "left", "right")
    mech.add_joint(mb.RevoluteJoint("C", axis=(0, 1, 0), point=(2, 0, 0)), mech.world, "right")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        warnings.simplefilter("ignore", mb.LockedMechanismWarning)
        run = simulated(mech.assemble(), 1.0, 1e-2, integrator=integrator)
    (locked,) = run.warnings
    assert "the mechanism cannot move" in locked
    spring = mb.JointSpring("spring", "rail", stiffness=1e3, rest=9.81e-3)
    silent(rail(spring, gravity=(0, 0, -9.81)), 1.0, 1e-2, integrator=integrator)


def test_a_body_that_creeps_a_thousand_kilometres_up():
    """What rounding leaves of ten megajoules is more than it has."""
    system = rail(gravity=(0, 0, -9.81))
    silent(system, 1.0, 1e-2, q=[1e6], v=[1e-4], tau=[9.81])


def test_impacts_and_other_resets_are_accounted_for():
    bounce = mb.Event("floor", "rail", direction="falling", reset=mb.Impact(0.9))
    run = silent(rail(gravity=(0, 0, -9.81)), 1.0, 1e-2, q=[1.0], events=[bounce])
    assert len(run.events) > 0


# ---------------------------------------------------------------------- where it stands

SPRING = {"q": [0.1]}


def hard():
    return rail(mb.JointSpring("spring", "rail", stiffness=2500.0))


def test_the_result_says_it_in_its_text_and_in_its_file(tmp_path):
    run = told(hard(), 1.0, 1e-2, **SPRING)
    assert repr(run).endswith(f"\n  warning     {run.warnings[0]}>")
    for part in (
        "error of up to 0.26 J, from t = 0.48 s on: at t = 1 s 2.09 % of the peak kinetic energy",
        "Steps of h = 0.01 s are too large for RungeKuttaMuntheKaas",
        "Use a smaller h, rtol for adaptive steps, or mbkit.GeneralizedAlpha()",
    ):
        assert part in run.warnings[0]
    run.save(tmp_path / "run.nc")
    assert mb.load_result(tmp_path / "run.nc").warnings == run.warnings


@pytest.mark.parametrize(
    "options", [{}, {"save_every": 7}, {"save_at": np.linspace(0.3, 1.0, 5)}],
    ids=["every", "seventh", "save_at"],
)  # fmt: skip
def test_a_run_directory_says_the_same_whatever_is_saved(tmp_path, options):
    expected = told(hard(), 1.0, 1e-2, **SPRING, **options)
    run = told(hard(), 1.0, 1e-2, **SPRING, **options, output=tmp_path / "run")
    assert run.warnings == expected.warnings == mb.load_result(tmp_path / "run").warnings
    assert mb.resume(tmp_path / "run").warnings == run.warnings
    with pytest.warns(mb.EnergyBalanceWarning):
        slim = simulated(hard(), 1.0, 1e-2, **SPRING, **options, save=["q"],
                         output=tmp_path / "slim")  # fmt: skip
    assert "has an error of up to 0.2" in slim.warnings[0]
    assert np.isnan(slim.kinetic_energy).all()


class Stopped(Exception):
    pass


class Fails(mb.Force):
    """No force; the run is stopped by it once."""

    joints = ("rail",)
    power = "supplied"
    at = 0.7

    def evaluate(self, t, q, v, poses, twists, out):
        if t > self.at:
            raise Stopped


@pytest.mark.parametrize("options", [{}, {"save_every": 7}], ids=["every", "seventh"])
def test_a_run_that_went_on_says_what_one_in_one_piece_says(tmp_path, options):
    def system():
        return rail(mb.JointSpring("spring", "rail", stiffness=2500.0), Fails("fails"))

    Fails.at = 2.0
    expected = told(system(), 1.0, 1e-2, **SPRING, **options)
    Fails.at = 0.7
    with pytest.raises(Stopped) as caught:
        simulated(system(), 1.0, 1e-2, **SPRING, **options, output=tmp_path / "run")
    assert "The energy balance has an error of" in caught.value.result.warnings[0]
    Fails.at = 2.0
    with pytest.warns(mb.EnergyBalanceWarning):
        run = mb.resume(tmp_path / "run", system=system(), other_versions=True)
    assert run.warnings == expected.warnings


def test_a_warning_that_is_an_error_carries_the_result():
    with pytest.raises(mb.EnergyBalanceWarning) as caught:
        simulated(hard(), 1.0, 1e-2, **SPRING)
    assert caught.value.result.warnings == (str(caught.value),)
    assert caught.value.result.completed


def test_pieces_of_a_run_say_what_it_says_as_a_whole():
    rng = np.random.default_rng(3)
    rows = np.vstack([np.arange(60.0), rng.normal(size=(4, 60)) ** 2 * np.exp(np.arange(60) / 20)])
    rows[1:, 40:] *= 1e-3
    for row in (rows, rows[:, ::-1] * [[-1], [1], [1], [1], [1]]):
        whole = EnergyWatch()
        whole.look(*row)
        parts = EnergyWatch()
        for first in range(0, 60, 7):
            parts.look(*row[:, first : first + 7])
        names = ("missing", "at", "kinetic", "moving", "since", "first", "exceeds")
        assert [getattr(parts, n) for n in names] == [getattr(whole, n) for n in names]
