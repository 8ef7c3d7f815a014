"""Ensembles: each run is the run alone, bit for bit; what fails stops no other."""

import pickle
import signal
import threading
import warnings

import numpy as np
import pytest

import mbkit as mb
from benchmarks.constraints import four_bars
from mbkit.kernels.status import NOT_FINITE, failure
from mbkit.simulation.ensembles.ensemble import Common
from mbkit.simulation.ensembles.starts import Starts
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.stepping.events_within_step import StepError, WithinStep
from tests.constraints.closed_mechanisms import parallelogram
from tests.trees import random_state

ROWS = (
    "t", "q", "v", "kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy",
    "multipliers", "residuals",
)  # fmt: skip


def double_pendulum() -> mb.Mechanism:
    mech = mb.Mechanism("double", gravity=(0.0, 0.0, -9.81))
    upper = mech.add_body(mb.Body("upper", mb.SpatialInertia.from_com(1.0, (0.1, 0.0, -0.5))))
    lower = mech.add_body(mb.Body("lower", mb.SpatialInertia.box(2.0, size=(0.1, 0.2, 0.9))))
    mech.add_joint(mb.RevoluteJoint("shoulder", axis=(0, 1, 0)), mech.world, upper)
    mech.add_joint(mb.SphericalJoint("elbow", point=(0, 0, -1.0)), upper, lower)
    mech.add_force(mb.JointDamper("damper", "shoulder", damping=0.3))
    return mech


def starts(system, count, seed=1):
    rng = np.random.default_rng(seed)
    states = [random_state(rng, system, 1.0) for _ in range(count)]
    return np.array([each.q for each in states]), np.array([each.v for each in states])


def check_alone(runs, system, options, given):
    """Compare each run with a simulation of it alone."""
    for place in np.ndindex(runs.shape):
        own = {
            name: np.broadcast_to(x, (*runs.shape, x.shape[-1]))[place] for name, x in given.items()
        }
        values = {name: x[place] for name, x in runs.parameters.items()}
        changed = system.with_parameters(values) if values else system
        alone, run = mb.simulate(changed, **options, **own, progress=False), runs[place]
        for name in ROWS:
            # of work, the sum over stages is rounded by where its memory lies, in single runs too
            rounding = 1e-15 if name in ("dissipated_energy", "supplied_energy") else 0.0
            np.testing.assert_allclose(
                getattr(run, name), getattr(alone, name), rtol=0.0, atol=rounding, err_msg=name
            )
        assert (run.message, run.model, run.warnings) == (
            alone.message,
            alone.model,
            alone.warnings,
        )
        for name in ("steps_taken", "counts"):
            assert run.options[name] == alone.options[name]
        assert [each[:2] for each in run.events] == [each[:2] for each in alone.events]


@pytest.mark.some(4)
@pytest.mark.compiled  # time loops of Python are tested alone
@pytest.mark.parametrize(
    ("integrator", "further"),
    [
        (mb.RungeKuttaMuntheKaas(), {"save_every": 7}),
        (mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-8), {}),
        (mb.GeneralizedAlpha(), {"save_at": [0.0, 0.05, 0.3]}),
        (mb.GeneralizedAlpha(rtol=1e-4), {}),
        (mb.BLieDF(3), {}),
        (mb.RATTLie(), {"save_at": [0.013, 0.3]}),
        (mb.MultistepMuntheKaas(3), {}),
        (mb.CommutatorFree(mb.COMMUTATOR_FREE4), {"save_every": 30}),
    ],
    ids=lambda each: type(each).__name__,
)
def test_each_run_is_the_run_alone(integrator, further):
    system = double_pendulum().assemble()
    if isinstance(integrator, mb.RATTLie):
        system = system.without_forces(["damper"])  # it takes no forces of velocity
    q, v = starts(system, 3)
    given = {"q": q, "v": v}
    if integrator.takes_forces_of_velocity:
        given["tau"] = np.array([[[0.0, 0.1, 0.0, 0.2]], [[0.5, 0.0, 0.0, 0.0]]])
    else:
        given["q"] = np.array([q, q[::-1]])
    options = {"t_span": (0.0, 0.3), "h": 0.01, "integrator": integrator, **further}
    masses = np.array([1.0, 2.0, 3.0])
    runs = mb.simulate(
        system, **options, **given, parameters={"bodies.upper.mass": masses}, progress=False
    )  # fmt: skip
    assert runs.shape == (2, 3)
    assert runs.completed.all()
    check_alone(runs, system, options, given)
    copy = pickle.loads(pickle.dumps(runs))  # noqa: S301
    np.testing.assert_array_equal(copy[1, 2].q, runs.q[1, 2])
    assert copy[1, 2].model == runs[1, 2].model


@pytest.mark.some(2)
@pytest.mark.compiled  # time loops of Python are tested alone
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")
@pytest.mark.parametrize(
    "integrator", [mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha(), mb.BLieDF()]
)
def test_multipliers_of_several_runs_are_those_of_each(integrator):
    """Found for the rows of all at once, under efforts that differ; some rows are redundant."""
    system = four_bars(2).assemble()
    q = system.reference_configuration()
    v = system.consistent_velocity({"ground0": 1.0}, q)
    given = {"v": np.array([[0.0], [1.0], [-2.0]]) * v, "tau": np.array([[0.0], [3.0], [5.0]])}
    given["tau"] = given["tau"] * np.eye(system.nv)[0]
    options = {"t_span": (0.0, 0.1), "h": 0.01, "integrator": integrator, "save_every": 3}
    runs = mb.simulate(system, **options, q=q, **given, progress=False)
    assert len(np.unique(runs.multipliers[:, -1].round(6), axis=0)) == 3
    check_alone(runs, system, options, {"q": q, **given})


@pytest.mark.compiled  # time loops of Python are tested alone
@pytest.mark.filterwarnings("ignore::mbkit.FailedRunsWarning")
@pytest.mark.parametrize("integrator", [mb.RungeKuttaMuntheKaas(), mb.MultistepMuntheKaas(3)])
def test_a_step_to_an_output_time_may_fail(monkeypatch, integrator):
    """The run ends where that step begins, and has counted what it has taken up to there."""
    moved = WithinStep.moved

    def failing(within, state, h):
        if state.t > 0.1 and state.v[0] > 0.0:
            raise StepError(failure(NOT_FINITE, 0))
        return moved(within, state, h)

    monkeypatch.setattr(WithinStep, "moved", failing)
    system = double_pendulum().assemble()
    q, v = starts(system, 3)
    v[:, 0] = 5.0, -5.0, 4.0
    options = {"t_span": (0.0, 0.2), "h": 0.01, "integrator": integrator}
    options["save_at"] = [0.003, 0.006, 0.05, 0.092, 0.112, 0.118, 0.154]
    runs = mb.simulate(system, **options, q=q, v=v, progress=False)
    assert sorted(runs.failures) == [(0,), (2,)]
    for k in range(3):
        reason = None
        try:
            alone = mb.simulate(system, **options, q=q[k], v=v[k], progress=False)
        except mb.NotFiniteError as error:
            alone, reason = error.result, f"NotFiniteError: {error}"
        assert runs.failures.get((k,)) == reason
        for name in ("t", "q", "v"):
            np.testing.assert_array_equal(getattr(runs[k], name), getattr(alone, name))
        for name in ("steps_taken", "counts"):
            assert runs[k].options[name] == alone.options[name]


def test_parameters_of_all_kinds():
    """Masses, places of joints, forces of joints and between bodies, the field of gravity."""
    mech = double_pendulum()
    mech.add_force(mb.JointSpring("hold", "shoulder", stiffness=3.0))
    mech.add_force(
        mb.SpringDamper("rope", "world", "lower", point_b=(0.0, 0.1, -1.0), stiffness=9.0)
    )
    system = mech.assemble()
    q, v = starts(system, 3)
    place = np.array([system.parameters["joints.elbow.S_pred"]] * 3)
    place[:, 2, 3] = -0.9, -1.0, -1.1
    options = {"t_span": (0.0, 0.2), "h": 0.01, "save_every": 4}
    numbers = {
        "bodies.lower.com": np.array([[0.0, 0.0, -0.4], [0.1, 0.0, -0.5], [0.0, 0.2, -0.3]]),
        "bodies.upper.mass": np.array([1.0, 2.0, 3.0]),
        "forces.hold.stiffness": np.array([1.0, 5.0, 9.0]),
        "forces.damper.damping": np.array([0.0, 0.1, 0.2]),
        "forces.rope.stiffness": np.array([10.0, 20.0, 30.0]),
        "gravity": np.array([0.0, 0.5, -9.81]),
    }
    for parameters in (numbers, {"joints.elbow.S_pred": place, **numbers}):
        runs = mb.simulate(
            system, **options, q=q, v=v, parameters=parameters, progress=False
        )  # fmt: skip
        assert len(np.unique(runs.energy[:, -1])) == 3
        check_alone(runs, system, options, {"q": q, "v": v})


def fourbar_and_floor():
    """Return a closed mechanism, with three configurations, and an event that ends a run."""
    mech = mb.Mechanism("four-bar", gravity=(0.0, -9.81, 0.0))
    points = np.array([[0, 0, 0], [0, 0.4, 0], [0.7, 0.7, 0], [0.8, 0, 0]], dtype=float)
    before = mech.world
    for k in range(3):
        middle = (points[k] + points[k + 1]) / 2
        body = mech.add_body(
            mb.Body(f"rod{k}", mb.SpatialInertia.from_com(1.0 + k, middle, 0.02 * np.eye(3)))
        )
        mech.add_joint(mb.RevoluteJoint(f"hinge{k}", point=points[k]), before, body)
        before = body
    mech.add_joint(mb.RevoluteJoint("hinge3", point=points[3]), before, mech.world)
    system = mech.assemble()
    crank = system.joint_names[0]
    q = np.array([system.close_loops(np.eye(system.nq)[0] * angle) for angle in (0.0, 0.1, -0.2)])
    return system, q, mb.Event("far", mb.JointPosition(crank, 0.2), terminal=True)


@pytest.mark.compiled
def test_closed_mechanisms_and_events_are_as_in_one_run():
    system, q, far = fourbar_and_floor()
    options = {"t_span": (0.0, 0.4), "h": 0.01, "events": [far]}
    with pytest.warns(mb.RedundantConstraintsWarning):  # the axes are parallel
        runs = mb.simulate(system, **options, q=q, progress=False)
    check_alone(runs, system, options, {"q": q})
    ended = [len(run.events) for run in runs]
    assert 0 < sum(ended) < 3
    early = int(np.argmax(ended))
    assert runs.lengths[early] < runs.t.shape[1]
    assert np.isnan(runs.q[early, runs.lengths[early] :]).all()
    assert runs.completed.all()


def nearly_closed(opening):
    """Return three four-bars and starts that leave their loops open by so many metres."""
    system = four_bars(3).assemble()
    rng = np.random.default_rng(6)
    q = system.reference_configuration()
    v = system.consistent_velocity({"ground0": 1.0}, q)
    run = mb.simulate(system, (0.0, 0.09), 0.01, q=q, v=v, progress=False)
    off = opening * rng.normal(size=run.q.shape)
    return system, {"q": run.q + off, "v": run.v, "tau": rng.normal(size=run.v.shape)}


@pytest.fixture
def prepared(monkeypatch):
    """The numbers of the runs whose starts were looked at by themselves."""
    found = []
    prepare = Common.prepared

    def noted(common, number, *, alone=False):
        if not alone:
            found.append(number)
        return prepare(common, number, alone=alone)

    monkeypatch.setattr(Common, "prepared", noted)
    return found


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_a_start_that_is_refused_has_the_reason_of_its_run_alone(prepared):
    """Its loops are open, or its velocity opens them; the others are fine."""
    system, given = nearly_closed(1e-8)
    for name in ("q", "v"):
        rows = given[name].copy()
        rows[4] += 1e-3 * np.arange(system.nv)
        options = {"t_span": (0.0, 0.05), "h": 0.01}
        changed = {**given, name: rows}
        with pytest.raises(mb.ConstraintError) as alone:
            mb.simulate(system, **options, **{key: each[4] for key, each in changed.items()})
        with pytest.raises(mb.ConstraintError) as refused:
            mb.simulate(system, **options, **changed, progress=False)
        assert str(refused.value) == f"Sample (4,): {alone.value}"
    assert prepared == 2 * [0, 1, 2, 3, 4]


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")
def test_constraints_that_are_redundant_in_some_starts_are_told_of_by_sample(prepared, monkeypatch):
    """A parallelogram that lies flat has a row less than one that is open: two runs tell of it."""
    crank = np.array([0.3, -0.3, 0.2, 0.0, 0.1])
    q = np.stack([crank, -crank, crank], axis=1)

    def told():
        system = parallelogram().assemble(mb.RelativeCoordinates(loop_joints=["C"]))
        with pytest.warns(mb.RedundantConstraintsWarning) as found:
            mb.simulate(system, (0.0, 0.01), 0.01, q=q, progress=False)
        return [str(each.message) for each in found]

    together = told()
    assert any(
        text.startswith("In 2 runs of 5, the first of them sample (0,)") for text in together
    )
    assert prepared == [0]
    monkeypatch.setattr(Starts, "like", lambda *_: False)
    assert told() == together
    assert prepared == [0, 0, 1, 2, 3, 4]


@pytest.mark.some(3)
@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")
@pytest.mark.parametrize("stabilisation", [mb.Projection(), mb.Baumgarte(50.0), None])
def test_starts_of_closed_mechanisms_are_closed_together(prepared, stabilisation):
    """As the run alone closes its own: what it is given is open by less than is refused."""
    system, given = nearly_closed(1e-8)
    assert np.abs(system.constraint_residual(given["q"])).max() > 1e-9
    options = {"t_span": (0.0, 0.05), "h": 0.01, "stabilisation": stabilisation}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert prepared == [0]
    assert np.abs(runs.residuals[:, 0, 0]).max() < 1e-13
    assert runs.completed.all()
    check_alone(runs, system, options, given)


def test_a_run_that_fails_stops_no_other():
    system = double_pendulum().assemble()
    q, v = starts(system, 4)
    v[2] *= 1e150
    options = {"t_span": (0.0, 0.2), "h": 0.01, "save_every": 3}
    started = {"q": q.reshape(2, 2, -1), "v": v.reshape(2, 2, -1)}
    said = (
        r"^1 of 4 runs failed, the first of them sample \(1, 0\): NotFiniteError: .*without bounds"
    )
    with pytest.warns(mb.FailedRunsWarning, match=said):
        runs = mb.simulate(system, **options, **started)
    with pytest.raises(mb.FailedRunsWarning) as raised:
        mb.simulate(system, **options, **started)
    np.testing.assert_array_equal(raised.value.result.q, runs.q)
    assert runs.failed.tolist() == [[False, False], [True, False]]
    assert list(runs.failures) == [(1, 0)]
    with pytest.raises(mb.NotFiniteError, match="without bounds") as alone:
        mb.simulate(system, **options, q=q[2], v=v[2])
    assert runs.failures[1, 0] == f"NotFiniteError: {alone.value}"
    np.testing.assert_array_equal(runs[1, 0].q, alone.value.result.q)
    assert not runs[1, 0].completed
    assert repr(runs).partition("\n")[0].endswith("3 completed, 1 failed")
    assert "failed      sample (1, 0): NotFiniteError" in str(runs)


def test_what_single_runs_warn_of_is_told_once_and_kept_by_sample():
    system = double_pendulum().assemble()
    q, v = starts(system, 4)
    v = 0.2 * v
    v[1:3] *= 50.0
    options = {"t_span": (0.0, 0.8), "h": 0.02, "save_every": 5}
    with pytest.warns(
        mb.EnergyBalanceWarning, match=r"In 2 runs of 4, the first .*\(1,\): The e"
    ) as told:
        runs = mb.simulate(system, **options, q=q, v=v, progress=False)
    assert len(told) == 1
    assert list(runs.warnings) == [(1,), (2,)]
    with pytest.warns(mb.EnergyBalanceWarning):
        alone = mb.simulate(system, **options, q=q[2], v=v[2], progress=False)
    assert runs[2].warnings == alone.warnings == runs.warnings[2,]


@pytest.mark.parametrize(
    "events", [[], [mb.Event("turned", "shoulder")]], ids=["threads", "in turn"]
)
def test_what_may_be_wrong_with_runs_that_failed_is_told(events):
    """Beside their failure, and as of runs that completed."""
    system = double_pendulum().assemble()
    q, v = starts(system, 3)
    damping = {"forces.damper.damping": [0.0, 1e4, 0.1]}  # stiff, so that its energy grows
    options = {"parameters": damping, "events": events, "progress": False}
    with pytest.warns() as told:
        runs = mb.simulate(system, (0.0, 0.5), 0.01, q=q, v=v, **options)
    assert list(runs.failures) == list(runs.warnings) == [(1,)]
    texts = {each.category: str(each.message) for each in told}
    assert set(texts) == {mb.FailedRunsWarning, mb.EnergyBalanceWarning}
    assert texts[mb.EnergyBalanceWarning] == f"Sample (1,): {runs.warnings[1,][0]}"


def test_threads_leave_the_filters_of_warnings_alone(monkeypatch):
    """They are those of the process: threads that change them by turns may leave them changed."""
    system = double_pendulum().assemble()
    q, v = starts(system, 8)
    by = []

    class Noted(warnings.catch_warnings):
        def __enter__(self):
            by.append(threading.current_thread())
            return super().__enter__()

    monkeypatch.setattr(warnings, "catch_warnings", Noted)
    before = list(warnings.filters)
    masses = {"bodies.upper.mass": np.linspace(1.0, 2.0, 8)}
    place = {"joints.elbow.S_pred": np.array([system.parameters["joints.elbow.S_pred"]] * 8)}
    for parameters in ({}, masses, masses | place):  # those of a joint make systems of their own
        mb.simulate(system, (0.0, 0.1), 0.01, q=q, v=v, parameters=parameters, progress=False)
    assert set(by) == {threading.main_thread()}
    assert warnings.filters == before


@pytest.mark.some(2)
@pytest.mark.compiled
@pytest.mark.parametrize("damped", [True, False], ids=["one by one", "in lanes"])
def test_ctrl_c_keeps_what_is_finished(monkeypatch, damped):
    system = double_pendulum().assemble()
    system = system if damped else system.without_forces(["damper"])
    q, v = starts(system, 40)
    update, sent = ProgressDisplay.update, []

    def interrupt(display, reached):
        if reached > 10.0 and not sent:  # a second one might end the runs that follow
            sent.append(reached)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        update(display, reached)

    monkeypatch.setattr(ProgressDisplay, "update", interrupt)
    h = 4e-3 if damped else 1e-3  # by itself a run takes longer
    options = {"t_span": (0.0, 20.0), "h": h, "save_every": 100}
    runs = mb.simulate(system, **options, q=q, v=v, progress=False)
    monkeypatch.setattr(ProgressDisplay, "update", update)  # a slow run shows its time [s]
    assert 8 <= runs.completed.sum() < 40
    assert not runs.failed.any()
    assert runs.lengths[-1] == 0
    assert str(runs.messages[-1]).startswith("Not started")
    assert "interrupted" in repr(runs)
    k = int(np.argmax(runs.completed))  # not always 0: the thread that has it may have to wait
    finished = mb.simulate(system, **options, q=q[k], v=v[k], progress=False)
    np.testing.assert_array_equal(runs[k].v, finished.v)
    for k in np.flatnonzero(~runs.completed & (runs.lengths > 0))[:1]:  # the last row is its own
        rows = slice(0, runs.lengths[k] - 1)
        alone = mb.simulate(system, **options, q=q[k], v=v[k], progress=False)
        np.testing.assert_array_equal(runs.v[k, rows], alone.v[rows])
        assert "Interrupted by the user after" in str(runs.messages[k])
    with pytest.raises(mb.UsageError, match="not started"):
        runs[39]


@pytest.mark.filterwarnings("ignore::mbkit.FailedRunsWarning")
def test_a_force_in_python_that_fails_is_of_its_run_alone():
    system = double_pendulum().assemble()
    v = np.array([[0.1, 0, 0, 0], [8.0, 0, 0, 0], [0.0, 0.1, 0, 0]])

    def tau(t, q, v):
        if t > 0.05 and abs(v[0]) > 2.0:
            raise RuntimeError("too fast")
        return -0.1 * v

    runs = mb.simulate(system, (0.0, 0.1), 0.01, tau=tau, v=v, progress=False)
    reason = "RuntimeError: too fast. Raised by the forces tau(t, q, v), in the step from t = "
    assert list(runs.failures) == [(1,)]
    assert runs.failures[1,].startswith(reason)
    assert runs.lengths.tolist() == [11, 6, 11]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"q": [[0, 1, 0, 0, 0], [np.nan, 1, 0, 0, 0.0]]}, mb.NotFiniteError, r"Sample \(1,\)"),
        ({"q": np.ones((3, 4))}, mb.ShapeError, r"'q'.*\(5,\)"),
        ({"q": np.ones((2, 5)), "v": np.ones((3, 4))}, mb.ShapeError, r"q \(2,\), v \(3,\)"),
        ({"v": np.ones((0, 4))}, mb.UsageError, r"axes \(0,\)"),
        ({"v": np.ones((2, 4)), "output": "x"}, mb.UsageError, "one run"),
        ({"parameters": {"bodies.uper.mass": [1]}}, mb.NameUnknownError, "bodies.upper.mass"),
        ({"parameters": {"bodies.upper.com": [1, 2]}}, mb.ShapeError, r"\(3,\).*\[1, 2\]"),
        ({"parameters": {"bodies.upper.mass": [1, -1]}}, mb.ParameterError, r"Sample \(1,\): .*-1"),
        ({"parameters": 3}, mb.UsageError, "parameters"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_sample_is_said_before_the_first_step(given, error, message):
    with pytest.raises(error, match=message):
        mb.simulate(double_pendulum().assemble(), (0.0, 1.0), 0.1, **given)


def test_parameters_without_axes_are_of_one_run():
    system = double_pendulum().assemble()
    v = np.ones(4)
    run = mb.simulate(system, (0.0, 0.1), 0.01, v=v, parameters={"forces.damper.damping": 2.0})
    changed = system.with_parameters({"forces.damper.damping": 2.0})
    assert isinstance(run, mb.Result)
    np.testing.assert_array_equal(run.q, mb.simulate(changed, (0.0, 0.1), 0.01, v=v).q)


def test_indices_say_one_run():
    runs = mb.simulate(double_pendulum().assemble(), (0.0, 0.1), 0.1, v=np.ones((2, 3, 4)))
    assert len(runs) == 6
    np.testing.assert_array_equal(runs[-1, -1].q, runs[1, 2].q)
    with pytest.raises(mb.UsageError, match="2 whole numbers"):
        runs[0]
    with pytest.raises(IndexError, match="2, 3"):
        runs[2, 0]
