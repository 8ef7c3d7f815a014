"""Events in a run: when they are found, in which order, and how the run goes on."""

import importlib

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import REPRESENTATIONS
from tests.integrators.motions import motion
from tests.simulation.long_runs import ball_and_hinge

chunks = importlib.import_module("mbkit.simulation.stepping.chunks")

G = 9.81
FALL = np.sqrt(2.0 / G)  # from a height of one metre


def ball(mass=2.0):
    mech = mb.Mechanism("ball", gravity=(0, 0, -G))
    body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(mass, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("height"), mech.world, body)
    return mech.assemble()


def floor(restitution=0.8, **options):
    options = {"direction": "falling", "reset": mb.Impact(restitution), **options}
    return mb.Event("floor", "height", **options)


APEX = mb.Event("apex", mb.JointVelocity("height"), direction="falling")


@pytest.mark.slow
def test_a_bouncing_ball_is_that_of_the_textbook():
    """Impacts at T, T (1 + 2 e), ...; heights e^2, e^4, ...; energies to the last digits."""
    e = 0.8
    run = mb.simulate(ball(), (0.0, 2.5), 1e-3, q=[1.0], events=[floor(e), APEX])
    impacts = FALL * (1.0 + 2.0 * np.cumsum([0.0, e, e**2, e**3]))
    impacts = impacts[impacts < 2.5]
    np.testing.assert_allclose(run.events["floor"].t, impacts, rtol=0, atol=2e-12)
    apexes = impacts[:-1] + FALL * e ** np.arange(1, impacts.size)
    np.testing.assert_allclose(run.events["apex"].t[: apexes.size], apexes, rtol=0, atol=2e-12)
    heights = run.events["apex"].q[: apexes.size, 0]
    np.testing.assert_allclose(heights, e ** (2 * np.arange(1, apexes.size + 1)), rtol=1e-11)
    np.testing.assert_allclose(run.events["floor"].v_after, -e * run.events["floor"].v, rtol=1e-15)
    assert (run.events["floor"].q >= 0.0).all()  # never through the floor
    assert run.energy_balance == pytest.approx(0.0, abs=1e-11)
    lost = run.dissipated_energy[-1]
    assert lost == pytest.approx(2.0 * G * (1.0 - e ** (2 * impacts.size)), rel=1e-11)


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("representation", REPRESENTATIONS, ids=lambda each: each.name)
def test_a_rod_that_falls_on_its_corner_in_every_representation(representation):
    """One impact of a free body: impulse and rates of Newton's laws, from a formula of its own."""
    mech = mb.Mechanism("rod", gravity=(0, 0, -G))
    rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.box(3.0, size=(1.0, 0.1, 0.1))))
    mech.add_joint(mb.FreeJoint("free"), mech.world, rod)
    system = mech.assemble(mb.RelativeCoordinates(representation))
    corner = np.array([0.5, 0.02, -0.05])
    event = mb.Event(
        "floor", mb.PlaneDistance("rod", corner), direction="falling", reset=mb.Impact(0.5)
    )
    q = system.retract(system.reference_configuration(), np.array([0.1, 0.4, 0.2, 0, 0, 0]))
    q[-1] = 2.0
    run = mb.simulate(system, (0.0, 0.7), 2e-4, q=q, v=[0.3, -0.2, 0.1, 0, 0, 0], events=[event])
    assert len(run.events) >= 1
    first = next(iter(run.events))
    pose = system.poses(first.q)[1]
    R, arm = pose[:3, :3], pose[:3, :3] @ corner
    before, after = (
        system.twists(first.q, v, representation=mb.Hybrid())[1] for v in (first.v, first.v_after)
    )
    impulse = 3.0 * (after[3:] - before[3:])
    np.testing.assert_allclose(impulse[:2], 0.0, atol=1e-12)
    turned = R @ mb.SpatialInertia.box(3.0, size=(1.0, 0.1, 0.1)).moment_about_com @ R.T
    np.testing.assert_allclose(
        turned @ (after[:3] - before[:3]), np.cross(arm, impulse), atol=1e-11
    )
    approach, departure = (t[5] + np.cross(t[:3], arm)[2] for t in (before, after))
    assert approach < 0.0
    assert departure == pytest.approx(-0.5 * approach, rel=1e-10)
    assert abs(pose[2, 3] + arm[2]) < 1e-11
    assert abs(run.energy_balance).max() < 1e-8


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4, 5])
def test_times_of_events_converge_with_the_order_of_the_scheme(order):
    """Recorded ones, and those after a reset, in coordinates of a group."""
    tableau = {each.order: each for each in mb.tableaus.TABLEAUS.values()}[order]
    system = ball_and_hinge().assemble()
    events = [
        mb.Event("stop", mb.JointPosition("hinge", 0.8), reset=mb.Impact(0.7), direction="rising"),
        mb.Event("turn", mb.JointVelocity("hinge")),
        mb.Event("plane", mb.PlaneDistance("lower", through=(0.1, 0, 0), normal=(1, 0, 0))),
    ]

    def times(h, scheme):
        run = mb.simulate(
            system, (0.0, 1.2), h, v=[0.2, -0.3, 0.1, 0.5], events=events,
            integrator=mb.RungeKuttaMuntheKaas(scheme), save_every=1000,
        )  # fmt: skip
        return run.events.names, run.events.t

    names, exact = times(1.2 / 4000, mb.tableaus.DORMAND_PRINCE5)
    assert {"stop", "turn", "plane"} <= set(names)
    errors = []
    first = {2: 1500, 4: 300, 5: 60}[order]
    for count in (first, 4 * first):
        found, t = times(1.2 / count, tableau)
        assert found == names
        errors.append(abs(t - exact).max())
    assert np.log(errors[0] / errors[1]) / np.log(4.0) > order - 0.3, errors


@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")  # of 10 ms
@pytest.mark.slow
def test_recorded_events_change_no_bit_of_the_motion():
    system = ball_and_hinge().assemble()
    start = {"v": [0.2, -0.3, 0.1, 0.5]}
    events = [
        mb.Event("a", mb.JointPosition("hinge", 3.0)),
        mb.Event("b", mb.JointVelocity("ball[1]")),
        mb.Event("c", lambda t, q, v: q[1] - v[0]),
    ]
    run = mb.simulate(system, (0.0, 2.0), 1e-2, events=events, **start)
    plain = mb.simulate(system, (0.0, 2.0), 1e-2, **start)
    assert set(run.events.names) == {"a", "b", "c"}
    assert (np.diff(run.events.t) >= 0.0).all()
    for name in ("t", "q", "v", "dissipated_energy"):
        np.testing.assert_array_equal(getattr(run, name), getattr(plain, name))
    np.testing.assert_array_equal(run.events.q, run.events.q_after)
    np.testing.assert_allclose(run.events["a"].q[:, 4], 3.0, atol=1e-10)
    np.testing.assert_allclose(run.events["b"].v[:, 1], 0.0, atol=1e-10)


@pytest.mark.slow
def test_the_size_of_chunks_never_changes_a_bit(monkeypatch):
    """Nor the time, the order or the state of an event."""
    runs = []
    events = [floor(), APEX, mb.Event("high", lambda t, q, v: q[0] - 0.2)]
    for chunk in (0.0, 1e-4, 10.0):
        monkeypatch.setattr(chunks, "CHUNK", chunk)
        runs.append(mb.simulate(ball(), (0.3, 2.3), 1e-3, q=[1.0], events=events, save_every=7))
    for run in runs[1:]:
        for name in ("t", "q", "v", "dissipated_energy"):
            np.testing.assert_array_equal(getattr(run, name), getattr(runs[0], name))
        assert run.events.names == runs[0].events.names
        for name in ("t", "q", "v_after"):
            np.testing.assert_array_equal(getattr(run.events, name), getattr(runs[0].events, name))


@pytest.mark.slow
def test_the_direction_says_which_crossings_count():
    """A pendulum passes its lowest point twice a period."""
    system = ball_and_hinge().assemble()
    start = {"q": system.reference_configuration(), "v": [0, 0, 0, 0.3]}
    found = {}
    for direction in ("rising", "falling", "both"):
        event = mb.Event("through", mb.JointPosition("hinge", 3.0), direction=direction)
        found[direction] = mb.simulate(system, (0.0, 3.0), 1e-3, events=[event], **start).events
    assert len(found["rising"]) > 0
    assert len(found["falling"]) > 0
    assert (found["rising"].v[:, 3] > 0.0).all()
    assert (found["falling"].v[:, 3] < 0.0).all()
    both = np.sort(np.concatenate([found["rising"].t, found["falling"].t]))
    np.testing.assert_array_equal(found["both"].t, both)


def test_a_start_at_zero_is_no_event_and_a_start_in_contact_is_no_way_through():
    system = ball()
    recorded = mb.Event("start", "height", terminal=True)
    run = mb.simulate(system, (0.0, 1.5), 1e-2, q=[0.0], v=[G / 2], events=[recorded])
    np.testing.assert_allclose(run.events.t, [1.0], atol=1e-11)  # when it comes back
    assert run.t[-1] == run.events.t[0]
    bounced = mb.simulate(system, (0.0, 0.05), 1e-2, q=[0.0], v=[-1.0], events=[floor(0.5)])
    assert bounced.events.t[0] == 0.0
    assert bounced.events.v_after[0, 0] == 0.5


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_ball_that_comes_to_rest_is_an_error_in_words(restitution):
    """It does not fall through the floor on the quiet, and what was computed is kept."""
    rest = FALL * (1.0 + 2.0 * restitution / (1.0 - restitution))
    with pytest.raises(mb.EventError, match="'floor' resets the state more than 100") as caught:
        mb.simulate(ball(), (0.0, 10.0), 1e-2, q=[1.0], events=[floor(restitution)])
    run = caught.value.result
    assert not run.completed
    assert abs(run.t[-1] - rest) <= 1e-2
    assert (run.q >= 0.0).all()
    assert len(run.events) > 0 or restitution == 0.0


def test_a_terminal_event_ends_the_run_at_its_moment():
    run = mb.simulate(
        ball(), (0.0, 3.0), 1e-2, q=[1.0], events=[floor(reset=None, terminal=True)], save_every=7
    )
    assert run.completed
    assert run.message.startswith("Ended by event 'floor' at t = 0.45152")
    assert run.t[-1] == pytest.approx(FALL, abs=2e-12)
    assert 0.0 <= run.q[-1, 0] < 1e-11
    np.testing.assert_array_equal(run.t[:-1], np.arange(0, 45, 7) * 1e-2)
    assert run.options["steps_taken"] == 45
    assert run.energy_balance == pytest.approx(0.0, abs=1e-12)


def test_a_reset_and_the_end_at_one_moment_happen_in_the_order_given():
    """The last state is the one after the reset."""
    events = [floor(0.5), floor(reset=None, terminal=True).__class__(
        "end", "height", direction="falling", terminal=True
    )]  # fmt: skip
    run = mb.simulate(ball(), (0.0, 3.0), 1e-2, q=[1.0], events=events)
    assert run.events.names == ("floor", "end")
    assert run.v[-1, 0] == pytest.approx(0.5 * G * FALL, rel=1e-12)
    assert run.energy_balance == pytest.approx(0.0, abs=1e-12)


def test_a_kick_that_lets_the_motion_go_on_happens_once_a_crossing():
    """It does not turn the number round: the crossing must not be found again and again."""
    mech = mb.Mechanism("slider", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail"), mech.world, body)
    kicks = [
        mb.Event("one", mb.JointPosition("rail", 1.0), reset=lambda t, q, v: (q, 2.0 * v)),
        mb.Event("time", lambda t, q, v: t - 0.8, reset=lambda t, q, v: (q + 5.0, 0.5 * v)),
    ]
    run = mb.simulate(mech.assemble(), (0.0, 2.0), 1e-2, q=[0.253], v=[1.0], events=kicks)
    assert run.events.names == ("one", "time")
    np.testing.assert_allclose(run.events.t, [0.747, 0.8], atol=1e-11)
    expected = 1.0 + 2.0 * (0.8 - 0.747) + 5.0 + (2.0 - 0.8)
    assert run.q[-1, 0] == pytest.approx(expected, abs=1e-10)
    assert run.supplied_energy[-1] == pytest.approx(0.5 * 2.0 * (4.0 - 1.0), rel=1e-12)
    assert run.dissipated_energy[-1] == pytest.approx(0.5 * 2.0 * (4.0 - 1.0), rel=1e-12)


def test_several_events_in_one_step_come_in_the_order_of_their_times():
    """Also those between two impacts, with a step that is far too large for anything else."""
    levels = [
        mb.Event(f"at {level}", mb.JointPosition("height", level)) for level in (0.3, 0.6, 0.9)
    ]
    run = mb.simulate(ball(), (0.0, 0.5), 0.5, q=[1.0], events=[*levels, floor(0.8)])
    assert run.events.names == ("at 0.9", "at 0.6", "at 0.3", "floor")
    exact = np.sqrt(2.0 * (1.0 - np.array([0.9, 0.6, 0.3, 0.0])) / G)
    np.testing.assert_allclose(run.events.t, exact, atol=1e-11)


def failing(t, q, v):
    if t > 0.3:
        raise ValueError("no number")
    return 1.0


@pytest.mark.parametrize(
    ("event", "kind", "message"),
    [
        (mb.Event("bad", failing), ValueError, "no number"),
        (mb.Event("bad", lambda t, q, v: np.nan if t > 0.3 else 1.0), mb.NotFiniteError, "'bad'"),
        (mb.Event("bad", lambda t, q, v: "high"), mb.MbkitError, "must be a number"),
        (floor(reset=lambda t, q, v: v), mb.UsageError, "must return the pair"),
        (
            floor(reset=lambda t, q, v: (q, np.zeros(3))),
            mb.ShapeError,
            r"must have shape \(1,\) \(.*\); got \(3,\)",
        ),
        (floor(reset=lambda t, q, v: (q, v * np.inf)), mb.NotFiniteError, "reset"),
    ],
)
def test_what_a_function_raises_comes_out_with_the_event_and_the_run(event, kind, message):
    with pytest.raises(kind, match=message) as caught:
        mb.simulate(ball(), (0.0, 1.0), 1e-2, q=[1.0], events=[event])
    text = str(caught.value) + "".join(caught.value.__notes__)
    assert event.name in text
    run = caught.value.result
    assert not run.completed
    np.testing.assert_allclose(run.q[:, 0], 1.0 - 0.5 * G * run.t**2, atol=1e-12)


@pytest.mark.slow
def test_events_go_into_files_and_data_sets(tmp_path):
    """And an empty log is one, too."""
    run = mb.simulate(ball(), (0.0, 1.5), 1e-3, q=[1.0], events=[floor(), APEX])
    run.save(tmp_path / "run.nc")
    back = mb.load_result(tmp_path / "run.nc")
    assert back.events.names == run.events.names
    for name in ("t", "q", "v", "q_after", "v_after"):
        np.testing.assert_array_equal(getattr(back.events, name), getattr(run.events, name))
    xr = pytest.importorskip("xarray")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        np.testing.assert_array_equal(data.event_time, run.events.t)
        assert list(data.event_name.values) == list(run.events.names)
    assert list(run.to_xarray().event_name.values) == list(run.events.names)
    none = mb.simulate(ball(), (0.0, 0.1), 1e-2, q=[1.0], events=[floor()])
    none.save(tmp_path / "none.nc")
    assert len(mb.load_result(tmp_path / "none.nc").events) == 0


def slider(q=0.0, v=1.0, span=(0.0, 6.0), h=0.1, **options):
    """Return a run of a body that slides without forces."""
    mech = mb.Mechanism("slider", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail"), mech.world, body)
    return mb.simulate(mech.assemble(), span, h, q=[q], v=[v], **options)


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("t0", [0.0, 0.3, -1.7, 1000.0])
@pytest.mark.parametrize("reset", [None, lambda t, q, v: (q, v)])
def test_numbers_that_are_zero_on_the_grid_are_found_once(t0, reset):
    """Whatever rounding makes of a zero at the end of a step."""
    levels = [
        mb.Event(f"{k}", mb.JointPosition("rail", 0.1 * k), reset=reset) for k in range(1, 60)
    ]
    run = slider(span=(t0, t0 + 6.0), events=levels)
    assert sorted(run.events.names, key=int) == [str(k) for k in range(1, 60)]
    np.testing.assert_allclose(run.events.t, t0 + 0.1 * np.arange(1, 60), rtol=0, atol=1e-11)


@pytest.mark.some(9)
@pytest.mark.slow
@pytest.mark.parametrize("level", np.arange(1, 60) / 10)
def test_walls_and_ends_on_the_grid_are_never_passed(level):
    wall = {"direction": "rising", "when": mb.JointPosition("rail", level)}
    bounced = slider(events=[mb.Event("wall", reset=mb.Impact(0.5), **wall)])
    assert bounced.q.max() <= level
    assert bounced.v[-1, 0] == -0.5
    ended = slider(events=[mb.Event("end", terminal=True, **wall)])
    assert ended.t[-1] == pytest.approx(level, abs=1e-11)
    assert ended.message.startswith("Ended by event 'end'")


def test_times_of_rows_are_those_of_the_formula_to_the_last_bit():
    """A compiler that fuses t0 + k h would round otherwise, and lose an event at t = 0."""
    run = slider(span=(-1.1, 1.1), events=[mb.Event("now", lambda t, q, v: t, terminal=True)])
    assert abs(run.t[-1]) < 1e-11
    for t0, h in ((-1.1, 0.1), (0.7, 0.013), (1e3, 1e-3)):
        run = slider(span=(t0, t0 + 50 * h), h=h)
        np.testing.assert_array_equal(run.t, t0 + np.arange(51) * h)


@pytest.mark.slow
def test_two_walls_push_and_never_pull():
    """The same wall as a position and as a distance; and a box that lands on two corners."""
    walls = [
        mb.Event("a", "height", direction="falling", reset=mb.Impact(0.8)),
        mb.Event("b", mb.PlaneDistance("ball"), direction="falling", reset=mb.Impact(0.8)),
    ]
    run = mb.simulate(ball(), (0.0, 1.0), 1e-2, q=[1.0], events=walls)
    assert run.v[47, 0] > 0.0
    assert (run.q > -1e-11).all()
    mech = mb.Mechanism("box", gravity=(0, 0, -G))
    box = mech.add_body(mb.Body("box", mb.SpatialInertia.box(1.0, size=(0.4, 0.1, 0.1))))
    mech.add_joint(mb.FreeJoint("free"), mech.world, box)
    corners = [
        mb.Event(
            f"corner {side}", mb.PlaneDistance("box", (0.2 * side, 0, -0.05)),
            direction="falling", reset=mb.Impact(0.5),
        )
        for side in (-1, 1)
    ]  # fmt: skip
    system = mech.assemble()
    q = system.reference_configuration()
    q[-1] = 0.5
    run = mb.simulate(system, (0.0, 0.4), 1e-3, q=q, events=corners)
    assert run.q[-1, -1] > 0.05
    ends = [corner.when.value(system, 0.0, q, None) for q in run.q for corner in corners]
    assert min(ends) > -1e-10
    assert abs(run.energy_balance).max() < 1e-8


@pytest.mark.compiled
def test_a_contact_may_part_and_comes_back():
    """A start on the floor: with a velocity upwards no impact; 1e-17 below it is on it."""
    run = mb.simulate(ball(), (0.0, 0.1), 1e-2, q=[0.0], v=[0.3], events=[floor(0.8)])
    np.testing.assert_allclose(run.events.t, [0.6 / G], atol=1e-11)
    at_rest = mb.Event(
        "floor", mb.PlaneDistance("ball", point=(0, 0, -0.1), through=(0, 0, 0.2)),
        direction="falling", reset=mb.Impact(0.5),
    )  # fmt: skip
    with pytest.raises(mb.EventError):
        mb.simulate(ball(), (0.0, 1.0), 1e-2, q=[0.3], events=[at_rest])


@pytest.mark.parametrize("tolerance", [1e-12, 1e-3])
def test_two_resets_at_one_moment_happen_once_each(tolerance):
    kicks = [
        mb.Event(
            name, when, reset=lambda t, q, v: (q, v + 1.0), tolerance=tolerance
        )
        for name, when in (
            ("one", mb.JointPosition("rail", 1.0)), ("time", lambda t, q, v: t - 0.747)
        )
    ]  # fmt: skip
    run = slider(q=0.253, span=(0.0, 2.0), events=kicks)
    assert sorted(run.events.names) == ["one", "time"]
    assert run.v[-1, 0] == 3.0


def test_functions_may_keep_and_change_what_they_are_given():
    kept = []

    def when(t, q, v):
        kept.append((q, q.copy()))
        value = q[0] - 1.05
        q -= 0.5
        v[:] = np.nan
        return value

    class Turn(mb.Reset):
        def apply(self, system, event, t, q, v):
            v *= -0.5
            return q, v

    plain = slider(events=[])
    run = slider(events=[mb.Event("seen", when)])
    np.testing.assert_array_equal(run.q, plain.q)
    assert all(np.allclose(q + 0.5, copy) for q, copy in kept)
    turned = slider(events=[mb.Event("turn", mb.JointPosition("rail", 1.05), reset=Turn())])
    assert turned.events.v[0, 0] == 1.0
    assert turned.events.v_after[0, 0] == -0.5
    assert turned.energy_balance == pytest.approx(0.0, abs=1e-14)


def test_the_message_names_the_event_that_has_ended_the_run():
    events = [
        mb.Event("end", mb.JointPosition("rail", 1.05), terminal=True),
        mb.Event("kick", mb.JointPosition("rail", 1.05), reset=lambda t, q, v: (q, 2.0 * v)),
    ]
    for order in (1, -1):
        run = slider(events=events[::order])
        assert run.message.startswith("Ended by event 'end'")
        assert run.v[-1, 0] == 2.0


def test_a_run_may_go_on_from_where_an_event_has_ended_it():
    """Phase by phase: the end of one is the start of the next, and no event of it."""
    event = mb.Event("end", mb.JointPosition("rail", 1.05), terminal=True)
    first = slider(events=[event])
    second = slider(q=first.q[-1, 0], events=[event])
    assert second.completed
    assert len(second.events) == 0


@pytest.mark.parametrize("power", [1, 3, 9])
def test_a_flat_zero_is_found(power):
    """Where interpolation is of no use the bracket is halved."""
    flat = mb.Event("flat", lambda t, q, v: (q[0] - 1.0) ** power)
    assert slider(h=0.6, events=[flat]).events.t == pytest.approx([1.0], abs=1e-11)


@pytest.mark.long
@pytest.mark.slow
def test_many_events_in_one_step_do_not_accumulate():
    """Only those of one event do."""
    events = [
        mb.Event(f"{k}", mb.JointPosition("rail", k / 40), reset=lambda t, q, v: (q, v))
        for k in range(1, 200)
    ]
    assert len(slider(h=6.0, events=events).events) == 199


@pytest.mark.slow
def test_an_integrator_that_knows_nothing_of_events_has_them():
    """It is run step by step then."""

    class Euler(mb.Integrator):
        order = 1

        def prepare(self, problem):
            inner = mb.RungeKuttaMuntheKaas(mb.tableaus.EULER).prepare(problem)

            def advance(first, steps, rows):
                record = rows_record(problem)
                watch, record["watch"] = int(record["watch"]), 0
                result = inner(first, steps, rows)
                record["watch"] = watch
                return result

            return advance

    from tests.testing.test_check_integrator import records_at_python

    def rows_record(problem):
        return records_at_python(problem.space)

    events = [floor(0.5), APEX, mb.Event("end", lambda t, q, v: t - 0.8123, terminal=True)]
    options = {"q": [1.0], "events": events, "save_every": 7}
    run = mb.simulate(ball(), (0.0, 1.0), 1e-3, integrator=Euler(), **options)
    euler = mb.RungeKuttaMuntheKaas(mb.tableaus.EULER)
    same = mb.simulate(ball(), (0.0, 1.0), 1e-3, integrator=euler, **options)
    assert run.events.names == same.events.names == ("floor", "apex", "end")
    np.testing.assert_array_equal(run.events.t, same.events.t)
    np.testing.assert_array_equal(run.q, same.q)


def held_and_moved(rail):
    """Return a double pendulum on a cart, with one of its corners watched."""
    mech = mb.Mechanism("cart", gravity=(0, 0, 0))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    rod = mb.SpatialInertia.from_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    upper, lower = (mech.add_body(mb.Body(name, rod)) for name in ("upper", "lower"))
    mech.add_joint(rail, mech.world, cart)
    mech.add_joint(mb.RevoluteJoint("h1", axis=(0, 1, 0)), cart, upper)
    mech.add_joint(mb.RevoluteJoint("h2", axis=(0, 1, 0), point=(0, 0, -1)), upper, lower)
    return mech.assemble()


@pytest.mark.compiled
def test_prescribed_joints_do_not_give_way_to_an_impact():
    """A cart that is held is a fixed one; one that moves is a wall that moves."""
    wall = mb.Event("wall", mb.JointPosition("h1", 0.1), direction="rising", reset=mb.Impact(1.0))
    options = {"h": 1e-3, "events": [wall], "save_every": 50}
    fixed = held_and_moved(mb.FixedJoint("rail"))
    held = held_and_moved(mb.PrismaticJoint("rail", axis=(1, 0, 0)).prescribe(lambda t: 0.0 * t))
    one = mb.simulate(fixed, (0.0, 0.3), v=[1.0, 0.2], **options)
    other = mb.simulate(held, (0.0, 0.3), v=[0.0, 1.0, 0.2], **options)
    assert len(one.events) == len(other.events) == 1
    np.testing.assert_allclose(other.events.v_after[:, 1:], one.events.v_after, atol=1e-12)
    assert abs(one.energy_balance).max() < 1e-10
    assert abs(other.energy_balance).max() < 1e-10
    moving = held_and_moved(mb.PrismaticJoint("rail", axis=(1, 0, 0)).prescribe(lambda t: 0.5 * t))
    gap = mb.PlaneDistance("lower", point=(0, 0, -1.0), normal=(-1, 0, 0), through=(0.1, 0, 0))
    hit = mb.Event("hit", gap, direction="falling", reset=mb.Impact(0.5))
    run = mb.simulate(moving, (0.0, 0.3), h=1e-3, events=[hit])
    before, after = run.events.v[0], run.events.v_after[0]
    g = gap.gradient(moving, run.events.t[0], run.events.q[0])
    assert before[0] == after[0] == 0.5
    assert g @ after == pytest.approx(-0.5 * (g @ before), rel=1e-12)
    with pytest.raises(mb.UsageError, match="'rail', whose motion is prescribed"):
        mb.simulate(
            held, (0.0, 0.1), 1e-2,
            events=[mb.Event("x", "rail", direction="falling", reset=mb.Impact(1.0))],
        )  # fmt: skip


class Euler(mb.Integrator):
    """Euler's method with projection, which says -1e6 N for all multipliers, if it says them."""

    order = 1
    takes_constraints = True

    def __init__(self, *, gives_multipliers):
        self.gives_multipliers = gives_multipliers

    def prepare(self, problem):
        vdot, powers, out = np.zeros(problem.nv), np.zeros(2), problem.q.copy()

        def advance(first, steps, rows):
            saved = 0
            for k in range(first, first + steps):
                t = problem.t0 + (k + 1) * problem.h
                problem.accelerate(t - problem.h, problem.q, problem.v, vdot, powers)
                problem.retract(problem.q, problem.h * problem.v, out)
                problem.q[:] = out
                problem.v += problem.h * vdot
                problem.close(t, problem.q, problem.v)
                problem.multipliers[:] = -1e6
                if (k + 1) % problem.save_every == 0:
                    row = (t, problem.q, problem.v, problem.work, problem.multipliers)
                    for part, value in zip(rows, row, strict=True):
                        part[saved] = value
                    saved += 1
            return 0, steps, saved

        return advance


@pytest.mark.parametrize("save_every", [1, 30])
def test_multipliers_after_a_reset_are_not_those_before_it(save_every):
    """In the last step: they belong to the state after the reset, and are found from it."""
    system, q, v, _ = motion("loop top")
    slower = mb.Event("brake", lambda t, q, v: t - 0.0982, reset=lambda t, q, v: (q, 0.2 * v))
    said, found = (
        mb.simulate(
            system, (0.0, 0.1), 5e-3, q=q, v=v, events=[slower], save_every=save_every,
            integrator=Euler(gives_multipliers=gives),
        )
        for gives in (True, False)
    )  # fmt: skip
    assert np.array_equal(said.q[-1], found.q[-1])
    assert np.array_equal(said.multipliers[-1], found.multipliers[-1])
    if save_every == 1:
        assert np.all(said.multipliers[5] == -1e6)
