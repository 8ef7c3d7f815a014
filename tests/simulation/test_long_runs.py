"""Runs in directories: the same as in memory, and the same again after every kind of end."""

import importlib
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mbkit as mb
from mbkit.io.results.run_directory import RunDirectory
from tests.simulation.long_runs import (
    EVERY,
    NAMES,
    SPAN,
    STEP,
    assert_same,
    ball_and_hinge,
    manifest,
    simulate,
    start,
)

pytestmark = pytest.mark.slow

recording = importlib.import_module("mbkit.simulation.long_runs.recording")


@pytest.fixture(scope="module")
def system():
    return ball_and_hinge().assemble()


@pytest.fixture
def often(monkeypatch):
    """A part every 4 ms, and short chunks."""
    monkeypatch.setattr(recording, "SHORTEST", 0.004)
    monkeypatch.setattr(recording, "SHARE", 0.0)
    monkeypatch.setattr("mbkit.simulation.stepping.chunks.CHUNK", 1e-4)


# What ends a run in these tests: forces read it, and it is no part of them.
class Trouble:
    at = np.inf
    error = KeyboardInterrupt


def tau(t, q, v):
    """Dampers that fail at a time which no fingerprint may see: it is looked up by name."""
    trouble = importlib.import_module("tests.simulation.test_long_runs").Trouble
    if t > trouble.at:
        raise trouble.error
    return -0.1 * v


@pytest.fixture
def trouble():
    yield Trouble
    Trouble.at, Trouble.error = np.inf, KeyboardInterrupt


def test_a_run_in_a_directory_is_the_run_in_memory(system, tmp_path):
    run = simulate(system, tmp_path / "run")
    assert_same(run, simulate(system))
    assert_same(run, mb.load_result(tmp_path / "run"))
    assert_same(run, mb.load_result(tmp_path / "run" / "result.nc"))
    left = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert left == ["lock", "manifest.json", "model.toml", "result.nc"]
    assert manifest(tmp_path / "run")["status"] == "completed"
    assert manifest(tmp_path / "run")["steps_taken"] == 1000


@pytest.mark.some(6)
@pytest.mark.parametrize("every", [1, 3, 1000, 5000])
@pytest.mark.parametrize("rows", [16, 40, 10**6])
def test_where_parts_are_cut_changes_no_bit_of_the_file(system, tmp_path, monkeypatch, every, rows):
    """Full buffers, or one part for all; the last row is there once."""
    simulate(system, tmp_path / "whole", save_every=every)
    monkeypatch.setattr(recording, "PART_SIZE", 8 * (1 + system.nq + system.nv) * rows)
    written = []
    write = RunDirectory.write_part
    monkeypatch.setattr(
        RunDirectory,
        "write_part",
        lambda self, number, arrays: (written.append(number), write(self, number, arrays)),
    )
    simulate(system, tmp_path / "cut", save_every=every)
    assert written == list(range(len(written)))
    if 1000 // every > 2 * rows:
        assert len(written) > 1000 // every // rows
    files = [tmp_path / name / "result.nc" for name in ("whole", "cut")]
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.long
@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("at", [0.2, 0.2004, 0.7, 1.1997])
def test_a_run_that_is_stopped_by_ctrl_c_goes_on_bit_for_bit(system, tmp_path, trouble, at):
    """From the first step to the last one, twice in a row, with a force in Python."""
    whole = simulate(system, tmp_path / "whole", tau=tau)
    trouble.at = at
    path = tmp_path / "run"
    part = simulate(system, path, tau=tau)
    assert not part.completed
    assert part.message.startswith("Interrupted by the user after t =")
    assert manifest(path)["status"] == "stopped"
    assert_rows_begin(part, whole)
    if at > 0.2:
        trouble.at = at + 1e-4
        assert_rows_begin(mb.resume(path, tau=tau, progress=False), whole)
    trouble.at = np.inf
    assert_same(mb.resume(path, tau=tau, progress=False), whole)
    assert (path / "result.nc").read_bytes() == (tmp_path / "whole/result.nc").read_bytes()


def assert_rows_begin(part, whole):
    count = part.t.size
    for name in NAMES:
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[:count])


def test_an_exception_of_a_force_keeps_what_was_computed(system, tmp_path, trouble):
    """It comes out as it is, its attribute has the result, and the run can go on."""
    trouble.at, trouble.error = 0.9, ZeroDivisionError("in the force")
    with pytest.raises(ZeroDivisionError, match="in the force") as caught:
        simulate(system, tmp_path / "run", tau=tau)
    run = caught.value.result
    assert not run.completed
    assert "ZeroDivisionError" in run.message
    assert any("result.nc" in note for note in caught.value.__notes__)
    assert run.t[-1] == pytest.approx(0.9, abs=EVERY * STEP)
    trouble.at = np.inf
    assert_same(mb.resume(tmp_path / "run", tau=tau), simulate(system, tau=tau))


def test_a_run_that_goes_on_shows_how_much_is_done_of_all(
    system, tmp_path, trouble, often, monkeypatch, capsys
):
    """Its percentage is that of the whole span, the time left by the pace since it goes on."""
    monkeypatch.setattr(importlib.import_module("mbkit.simulation.progress"), "PATIENCE", 0.0)
    trouble.at = 1.0
    simulate(system, tmp_path / "run", tau=tau)
    trouble.at = np.inf
    assert mb.resume(tmp_path / "run", tau=tau).completed
    line = re.match(
        r"simulate: t = (.*) s of 1.2 s \((.*) %\), about 0 s left", capsys.readouterr().err
    )
    t, done = float(line[1]), float(line[2])
    assert 0.99 < t < 1.2
    assert done == pytest.approx(100.0 * (t - 0.2), abs=0.51)


def test_a_motion_without_bounds_ends_a_run_with_what_was_finite(tmp_path):
    mech = mb.Mechanism("slider", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1e-3, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail"), mech.world, body)
    slider = mech.assemble()
    with pytest.raises(mb.NotFiniteError, match=r"step 1: .* joint 'rail'") as caught:
        mb.simulate(slider, (0.0, 1.0), 0.1, tau=[1e307], output=tmp_path / "run")
    assert caught.value.result.t.size == 1
    with pytest.raises(mb.NotFiniteError, match="step 1"):
        mb.resume(tmp_path / "run")
    with pytest.raises(mb.NotFiniteError, match=r"energy at t = 0 s .* 'rail'"):
        mb.simulate(slider, (0.0, 1.0), 0.1, v=[1e200], output=tmp_path / "fast")


def test_a_completed_run_is_not_computed_again(system, tmp_path, monkeypatch):
    run = simulate(system, tmp_path / "run")
    before = (tmp_path / "run/result.nc").stat().st_mtime_ns
    monkeypatch.setattr("mbkit.simulation.long_runs.resume._prepared", None)
    assert_same(mb.resume(tmp_path / "run"), run)
    assert (tmp_path / "run/result.nc").stat().st_mtime_ns == before


def test_what_was_confirmed_can_be_looked_at_while_a_run_goes_on(system, tmp_path, monkeypatch):
    """Without its result file: from the parts, in memory, by another reader."""
    seen = []
    write = RunDirectory.write_part

    def look(self, number, arrays):
        write(self, number, arrays)
        if number:
            seen.append(mb.load_result(self.path))

    monkeypatch.setattr(RunDirectory, "write_part", look)
    monkeypatch.setattr(recording, "PART_SIZE", 0)
    whole = simulate(system, tmp_path / "run")
    assert len(seen) > 5
    assert not seen[0].completed
    assert "of 1000 steps are confirmed" in seen[0].message
    for part in seen:
        assert_rows_begin(part, whole)


def test_what_is_not_saved_is_not_a_number(system, tmp_path):
    whole = simulate(system)
    run = simulate(system, tmp_path / "run", save=("q",), dtype="float32")
    assert run.q.dtype == np.float32
    np.testing.assert_array_equal(run.q, whole.q.astype(np.float32))
    np.testing.assert_array_equal(run.t, whole.t)
    assert np.isnan(run.v).all()
    assert np.isnan(run.energy).all()
    assert run.v.shape == whole.v.shape
    read = mb.load_result(tmp_path / "run/result.nc")
    np.testing.assert_array_equal(read.v, run.v)
    energies = simulate(system, tmp_path / "energies", save="energies")
    np.testing.assert_array_equal(energies.energy, whole.energy)
    assert np.isnan(energies.q).all()


@pytest.mark.long
@pytest.mark.usefixtures("often")
def test_what_is_left_out_and_single_precision_do_not_change_how_a_run_goes_on(
    system, tmp_path, trouble
):
    options = {"save": ("q",), "dtype": "float32", "tau": tau}
    whole = simulate(system, tmp_path / "whole", **options)
    trouble.at = 0.5
    assert np.isnan(simulate(system, tmp_path / "run", **options).v).all()
    trouble.at = np.inf
    run = mb.resume(tmp_path / "run", tau=tau)
    np.testing.assert_array_equal(run.q, whole.q)
    assert run.q.dtype == np.float32


@pytest.mark.long
@pytest.mark.parametrize("body_frames", ["joint", "com", "world"])
@pytest.mark.parametrize("representation", [mb.BodyFixed(), mb.Hybrid()], ids=lambda r: r.name)
def test_another_process_makes_the_same_system_from_the_model_file(
    tmp_path, trouble, body_frames, representation
):
    """Also with other frames inside; fingerprints and hashes are those of this process."""
    coordinates = mb.RelativeCoordinates(representation, body_frames)
    system = ball_and_hinge().assemble(coordinates)
    whole = simulate(system, tmp_path / "whole", tau=tau)
    trouble.at = 0.9
    simulate(system, tmp_path / "run", tau=tau)
    code = (
        "import sys, mbkit as mb\n"
        "from tests.simulation.test_long_runs import tau\n"
        "print(mb.resume(sys.argv[1], tau=tau).message)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "Completed: 1000 steps.\n"
    assert_same(mb.load_result(tmp_path / "run"), whole)


@pytest.mark.long
def test_signals_are_noted_between_chunks(system, tmp_path):
    """A real SIGINT to compiled steps: the run ends, and goes on where it was."""
    code = (
        "import signal, sys, threading, time, os, mbkit as mb\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tests.simulation.long_runs import ball_and_hinge, start\n"
        "system = ball_and_hinge().assemble()\n"
        "mb.simulate(system, (0.0, 0.01), 1e-3)\n"
        "print('go', flush=True)\n"
        "run = mb.simulate(system, (0.0, 1e5), 1e-3, save_every=1000, output=sys.argv[1],\n"
        "    **start(system))\n"
        "print(run.completed, run.t[-1])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "go\n"
        while not (tmp_path / "run/part-000001.npz").exists():
            assert child.poll() is None
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGINT)
        completed, end = child.communicate(timeout=30)[0].split()
    assert completed == "False"
    whole = mb.simulate(system, (0.0, float(end)), 1e-3, save_every=1000, **start(system))
    np.testing.assert_array_equal(mb.load_result(tmp_path / "run").q, whole.q)


KILLS = os.path.join(os.path.dirname(__file__), "..", "..", "benchmarks", "kills.py")


@pytest.mark.long
@pytest.mark.compiled
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["compiled", "force in Python"])
def test_kills_at_random_moments_lose_nothing(force):
    """Signal 9 while a run starts, goes on, and is put together."""
    root = os.path.dirname(os.path.dirname(KILLS))
    command = [sys.executable, KILLS, "--kills", "6", *force]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": root}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("that of the uninterrupted run, bit for bit\n")


MEMORY = """
import pathlib, sys, tempfile
import mbkit as mb
from benchmarks.kills import double_pendulum

def largest():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    (line,) = [each for each in lines if "VmHWM" in each]
    return int(line.split()[1]) / 1024

def simulate(steps, name):
    mb.simulate(system, (0.0, steps * 1e-3), 1e-3, q=[1.0, 0.5], output=f"{sys.argv[1]}/{name}")

system = double_pendulum()
simulate(100_000, "first")
before = largest()
simulate(1_000_000, "run")
print(largest() - before)
"""


@pytest.mark.long
@pytest.mark.compiled
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux's /proc")
def test_memory_stays_flat(tmp_path):
    """Ten times more rows, 56 MB of them, and less than 20 MiB more memory."""
    command = [sys.executable, "-c", MEMORY, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert float(done.stdout) < 20.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"save": ("p",)}, "save: nothing is called 'p'"),
        ({"save": ()}, "save must have at least one of 'q', 'v', 'energies'"),
        ({"dtype": "float16"}, "dtype must be 'float64' or 'float32', got 'float16'"),
    ],
)
def test_impossible_wishes_are_refused(system, tmp_path, options, message):
    for path in (None, tmp_path / "run"):
        with pytest.raises(mb.UsageError, match=message):
            simulate(system, path, **options)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("options", [{"save": ("q",)}, {"dtype": "float32"}])
def test_results_in_memory_are_whole(system, options):
    with pytest.raises(mb.UsageError, match="this one has none; add output="):
        mb.simulate(system, SPAN, STEP, **options)
