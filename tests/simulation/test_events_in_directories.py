"""Runs with events that are written to a directory, and go on after every kind of end."""

import importlib

import numpy as np
import pytest

import mbkit as mb
from mbkit.io.results.run_directory import RunDirectory
from tests.simulation.long_runs import assert_same, ball_and_hinge, manifest

pytestmark = pytest.mark.slow

recording = importlib.import_module("mbkit.simulation.long_runs.recording")
SPAN, STEP = (0.2, 2.2), 1e-3
START = {"v": [0.2, -0.3, 0.1, 0.5], "progress": False}


class Trouble:
    at = np.inf


def slow(t, q, v):
    """A number that fails at a time which no fingerprint may see: it is looked up by name."""
    if t > importlib.import_module("tests.simulation.test_events_in_directories").Trouble.at:
        raise KeyboardInterrupt
    return v[0] + 0.2 * v[3]


def renamed(function):
    """Return another function under the same name."""
    function.__name__, function.__qualname__ = slow.__name__, slow.__qualname__
    return function


class Energy(mb.Quantity):
    """A quantity of the user, which has no text of its own."""

    def __init__(self, level):
        self.level = level

    def value(self, system, t, q, v):
        return system.kinetic_energy(q, v) - self.level


def test_a_quantity_of_the_user_is_compared_by_what_it_holds(system, tmp_path):
    def run_of(level):
        return [mb.Event("fast", Energy(level)), *events()]

    path = tmp_path / "run"
    Trouble.at = 1.0
    mb.simulate(system, SPAN, STEP, events=run_of(0.5), output=path, **START)
    Trouble.at = np.inf
    with pytest.raises(mb.UsageError, match="when of event 'fast': 'level'"):
        mb.resume(path, events=run_of(0.6), progress=False)
    whole = mb.simulate(system, SPAN, STEP, events=run_of(0.5), **START)
    assert_same_events(mb.resume(path, events=run_of(0.5), progress=False), whole)


def events(restitution=0.9):
    return [
        mb.Event("through", mb.JointPosition("hinge", 1.0)),
        mb.Event(
            "stop", mb.JointPosition("hinge", 2.0), direction="rising", reset=mb.Impact(restitution)
        ),
        mb.Event("slow", slow),
    ]


@pytest.fixture(scope="module")
def system():
    return ball_and_hinge().assemble()


@pytest.fixture
def often(monkeypatch):
    """A part every 4 ms, and short chunks."""
    monkeypatch.setattr(recording, "SHORTEST", 0.004)
    monkeypatch.setattr(recording, "SHARE", 0.0)
    monkeypatch.setattr("mbkit.simulation.stepping.chunks.CHUNK", 1e-4)
    yield
    Trouble.at = np.inf


def assert_same_events(one, other):
    assert one.events.names == other.events.names
    for name in ("t", "q", "v", "q_after", "v_after"):
        np.testing.assert_array_equal(getattr(one.events, name), getattr(other.events, name))


@pytest.mark.long
@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("options", [{"save_every": 7}, {"save_at": np.linspace(0.21, 2.19, 555)}])
def test_a_run_in_a_directory_is_the_run_in_memory(system, tmp_path, options):
    run = mb.simulate(
        system, SPAN, STEP, events=events(), output=tmp_path / "run", **options, **START
    )
    memory = mb.simulate(system, SPAN, STEP, events=events(), **options, **START)
    assert set(memory.events.names) == {"through", "stop", "slow"}
    assert_same(run, memory)
    assert_same_events(run, memory)
    assert_same_events(mb.load_result(tmp_path / "run" / "result.nc"), memory)


@pytest.mark.long
@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("options", [{"save_every": 7}, {"save_at": np.linspace(0.21, 2.19, 555)}])
@pytest.mark.parametrize("at", [0.2, 0.9131, 1.7, 2.1995])
def test_a_run_that_was_stopped_goes_on_bit_for_bit(system, tmp_path, at, options):
    """Stopped by Ctrl-C in an event of the user, twice."""
    whole = mb.simulate(
        system, SPAN, STEP, events=events(), output=tmp_path / "whole", **options, **START
    )
    path = tmp_path / "run"
    Trouble.at = at
    part = mb.simulate(system, SPAN, STEP, events=events(), output=path, **options, **START)
    assert not part.completed
    assert part.events.names == whole.events.names[: len(part.events)]
    Trouble.at = at + 0.05
    mb.resume(path, events=events(), progress=False)
    Trouble.at = np.inf
    again = mb.resume(path, events=events(), progress=False)
    assert_same(again, whole)
    assert_same_events(again, whole)
    assert (path / "result.nc").read_bytes() == (tmp_path / "whole/result.nc").read_bytes()


def test_a_run_that_an_event_has_ended_stays_ended(system, tmp_path, monkeypatch):
    """Also where the process was killed between its last part and the result."""
    ending = [*events(), mb.Event("end", lambda t, q, v: t - 1.2345, terminal=True)]
    path = tmp_path / "run"
    long_run = importlib.import_module("mbkit.simulation.long_runs.long_run")
    with monkeypatch.context() as patch:

        def killed(*_arguments, **_options):
            raise MemoryError("killed")

        patch.setattr(long_run, "consolidate", killed)
        with pytest.raises(MemoryError):
            mb.simulate(system, SPAN, STEP, events=ending, output=path, save_every=7, **START)
    parts = RunDirectory(path).parts()
    run = mb.resume(path, events=ending, progress=False)
    assert RunDirectory(path).parts() == []
    assert parts
    memory = mb.simulate(system, SPAN, STEP, events=ending, save_every=7, **START)
    assert run.message == memory.message == "Ended by event 'end' at t = 1.2345 s."
    assert_same(run, memory)
    assert_same_events(run, memory)
    assert run.t[-1] == pytest.approx(1.2345, abs=1e-12)
    assert manifest(path)["status"] == "completed"
    assert_same_events(mb.resume(path, progress=False), memory)  # nothing is left to do


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ((), "was given the events 'through', 'stop', 'slow'; give them again"),
        (events()[:2], "there were 3 events, are 2"),
        (events(0.8), r"an event was stop: JointPosition\(name='hinge', level=2.0\) rising"),
        ([*events()[:2], mb.Event("slow", lambda t, q, v: v[0])], "<lambda>"),
        ([*events()[:2], mb.Event("slow", renamed(lambda t, q, v: v[0]))], "when of event 'slow'"),
    ],
)
def test_other_events_are_refused_by_name(system, tmp_path, other, message):
    path = tmp_path / "run"
    Trouble.at = 1.0
    mb.simulate(system, SPAN, STEP, events=events(), output=path, **START)
    Trouble.at = np.inf
    with pytest.raises(mb.UsageError, match=message):
        mb.resume(path, events=other, progress=False)


@pytest.mark.long
def test_events_do_not_pile_up_in_memory(system, tmp_path, often):
    """What a part has confirmed is forgotten."""
    course = importlib.import_module("mbkit.simulation.stepping.course").Course
    seen = []
    call = course.__call__

    def watched(self, first, steps, rows):
        seen.append(len(self.log))
        return call(self, first, steps, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(course, "__call__", watched)
        many = mb.Event("many", lambda t, q, v: np.sin(2000.0 * t))
        run = mb.simulate(system, SPAN, STEP, events=[many], output=tmp_path / "run", **START)
    assert len(run.events) > 1000
    assert max(seen) < 500
