"""Events and output times of a study are those of `mb.simulate`."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.studies.conftest import STUDY, mbkit

EVENTS = """
[events.stop]
when = {type = "joint_position", name = "shoulder", level = -0.1}
direction = "falling"
reset = {type = "impact", restitution = 0.5}

[events.turn]
when = {type = "joint_velocity", name = "shoulder"}

[events.low]
when = {type = "plane_distance", body = "lower", point = [0.0, 0.0, -1.0], offset = -1.5}

[events.middle]
when = "shoulder"
terminal = false
"""


@pytest.fixture
def study_file(study_folder):
    path = study_folder / "swing.toml"
    path.write_text(STUDY + EVENTS)
    return path


def events():
    """Those of the file."""
    stop = mb.JointPosition("shoulder", level=-0.1)
    low = mb.PlaneDistance("lower", point=(0, 0, -1), offset=-1.5)
    return [
        mb.Event("stop", stop, direction="falling", reset=mb.Impact(0.5)),
        mb.Event("turn", mb.JointVelocity("shoulder")),
        mb.Event("low", low),
        mb.Event("middle", "shoulder"),
    ]


def test_events_are_those_of_the_file(study_file):
    """Same times, states and bounces as of events made in Python."""
    study = mb.load_study(study_file, {"t_span": [0.0, 2.0]})
    run = study.run()
    expected = mb.simulate(
        study.system, (0.0, 2.0), 1e-2, integrator=study.integrator, q=study.q, v=study.v,
        save_every=10, events=events(),
    )  # fmt: skip
    assert study.events == tuple(events())
    assert {"stop", "turn"} <= set(run.events.names)
    assert run.events.names == expected.events.names
    np.testing.assert_array_equal(run.events.t, expected.events.t)
    np.testing.assert_array_equal(run.events.v_after, expected.events.v_after)
    np.testing.assert_array_equal(run.q, expected.q)
    stops = run.events["stop"]
    shoulder = run.velocity_names.index("shoulder")
    np.testing.assert_allclose(stops.v_after[:, shoulder], -0.5 * stops.v[:, shoulder])


def test_a_terminal_event_ends_the_study(study_file):
    run = mb.load_study(study_file, {"events.middle.terminal": True}).run()
    assert run.completed
    assert run.q[-1, 0] == pytest.approx(0.0, abs=1e-11)
    assert run.t[-1] == run.events["middle"].t[0] < 1.0


def test_output_times_are_those_of_the_file(study_folder):
    path = study_folder / "swing.toml"
    path.write_text(STUDY.replace("save_every = 10", "save_at = [0.0, 0.123, 0.5, 0.9999]"))
    run = mb.load_study(path).run()
    assert run.t.tolist() == [0.0, 0.123, 0.5, 0.9999]
    every = mb.load_study(path, {"save_at": [0.5], "h": 0.01}).run()
    np.testing.assert_array_equal(every.q[0], run.q[2])


def test_changes_reach_into_events(study_file):
    changes = {
        "events.stop.when.level": 0.2,
        "events.stop.reset.restitution": 1,
        "events.turn.direction": "rising",
    }
    stop, turn, *_ = mb.load_study(study_file, changes).events
    assert (stop.when.level, stop.reset.restitution, turn.direction) == (0.2, 1.0, "rising")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'name = "shoulder"}',
            'name = "sholder"}',
            "There is no velocity called 'sholder'; did you mean 'shoulder'?",
        ),
        ('"joint_velocity"', '"joint_vel"', "events.turn.when.type: there is no 'joint_vel' here;"),
        ("level = -0.1", "level = '1'", "events.stop.when.level: must be a number, got '1'."),
        ("level = -0.1", "levl = 1", "events.stop.when.levl: unknown key; did you mean 'level'?"),
        ('when = "shoulder"', "when = 3", "events.middle.when: must be a table with a type, 'joi"),
        ('when = "shoulder"', "", "events.middle.when: is missing."),
        ('"falling"', '"down"', "events.stop: Event 'stop': there is no direction 'down'; known"),
        ("restitution = 0.5", "restitution = 2", "restitution must be at most 1, got 2.0."),
        ('"impact"', '"impct"', "events.stop.reset.type: there is no 'impct' here; did you mean"),
        (
            "terminal = false",
            "terminal = 1",
            "events.middle.terminal: must be true or false, got 1",
        ),
        ("terminal = false", "termial = true", "unknown key; did you mean 'terminal'?"),
        ('body = "lower"', 'body = "hand"', "no body 'hand'"),
        ("save_every = 10", "save_every = 10\nsave_at = [1.0]", "save_at: is given beside save_ev"),
        ("save_every = 10", "save_at = [0.2, 0.1]", "swing.toml:5: save_at: save_at must increase"),
        ("save_every = 10", "save_at = [2.0]", "save_at: t = 2 s is not between the start and the"),
        ("save_every = 10", "save_at = 2.0", "save_at: must be an array of numbers, got 2.0."),
    ],
)
def test_faults_of_events_and_times(study_file, old, new, message):
    study_file.write_text((STUDY + EVENTS).replace(old, new))
    with pytest.raises(mb.StudyFileError) as caught:
        mb.load_study(study_file)
    lines = [line for line in str(caught.value).splitlines() if message in line]
    assert lines, str(caught.value)
    assert lines[0].startswith("swing.toml:")


def test_events_go_on_with_their_study(study_file, tmp_path, monkeypatch):
    """A folder of a run that stopped in the middle: the study has the events to go on with."""
    long = {"output": "long/", "t_span": [0.0, 3.0]}
    study = mb.load_study(study_file, long)
    whole = study.run()
    stop_at(monkeypatch, 150)
    stopped = study.run(study.output)
    assert not stopped.completed
    assert 0 < len(stopped.events.names) < len(whole.events.names)
    monkeypatch.undo()
    resumed = mb.load_study(study_file, long).resume()
    assert resumed.completed
    np.testing.assert_array_equal(resumed.q, whole.q)
    np.testing.assert_array_equal(resumed.events.t, whole.events.t)
    assert resumed.events.names == whole.events.names
    assert len(whole.events.names) > 3


def stop_at(monkeypatch, step):
    """Have runs stop as by Ctrl-C at a step, or soon after it."""
    inner = mb.RungeKuttaMuntheKaas.prepare

    def prepare(self, problem):
        advance = inner(self, problem)

        def few(first, steps, *rest):
            if first >= step:
                raise KeyboardInterrupt
            return advance(first, min(steps, 10), *rest)

        return few

    monkeypatch.setattr(mb.RungeKuttaMuntheKaas, "prepare", prepare)


@pytest.mark.long
def test_the_command_tells_what_happened(study_file):
    done = mbkit("run", "swing.toml", "--set", "t_span=0,2", folder=study_file.parent)
    told = next(line for line in done.stdout.splitlines() if line.startswith("Events: "))
    run = mb.load_result(study_file.parent / "results" / "swing.nc")
    assert f"stop {run.events['stop'].t.size}" in told


def test_comparisons_have_the_events_of_the_file(study_folder):
    path = study_folder / "swing.toml"
    table = '\n[compare]\nh = [1e-2]\nintegrators = ["rkmk4"]\nrepeats = 0\n'
    path.write_text(STUDY + EVENTS + table)
    study = mb.load_study(path)
    row = study.findings().table.rows[0]
    assert row["status"] == "completed"
    assert row["events"] == len(study.run().events.names) > 0
