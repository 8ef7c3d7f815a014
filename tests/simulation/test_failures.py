"""Runs that end early: nothing that was computed is lost, and nothing wrong is returned."""

import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import mbkit as mb


class Guarded(mb.Joint):
    """A slider along x in plain Python that refuses positions beyond a wall."""

    num_positions = num_velocities = 1

    def __init__(self, name, wall):
        super().__init__(name)
        self.wall = wall

    def pose(self, q):
        if q[0] > self.wall:
            raise ValueError("beyond the wall")
        T = np.eye(4)
        T[0, 3] = q[0]
        return T

    def motion_subspace(self, q):
        return np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]).T

    def bias(self, q, v):
        return np.zeros(6)


def slider(joint, mass=1.0):
    mech = mb.Mechanism("slider", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(mass, radius=0.1)))
    mech.add_joint(joint, mech.world, body)
    return mech.assemble()


@pytest.mark.parametrize("tableau", [mb.tableaus.EULER, mb.tableaus.RK4], ids=lambda t: t.name)
def test_a_joint_that_fails_keeps_what_was_computed(tableau):
    """Also where only the last state's energy fails: Euler never looks at the state it reaches."""
    with pytest.raises(ValueError, match="beyond the wall") as caught:
        mb.simulate(
            slider(Guarded("rail", 1.05)), (0.0, 2.0), 0.1, v=[1.0],
            integrator=mb.RungeKuttaMuntheKaas(tableau=tableau),
        )  # fmt: skip
    notes = " ".join(caught.value.__notes__)
    assert "joint 'rail'" in notes
    assert "attribute 'result'" in notes
    run = caught.value.result
    assert not run.completed
    np.testing.assert_allclose(run.t, np.arange(run.t.size) * 0.1, rtol=0, atol=1e-15)
    assert 10 <= run.t.size <= 12
    np.testing.assert_allclose(run.kinetic_energy[:10], 0.5, rtol=1e-15)


def test_an_overflow_names_its_joint():
    """An acceleration, and an energy, that no number holds."""
    system = slider(mb.PrismaticJoint("rail"), mass=1e-3)
    with pytest.raises(mb.NotFiniteError, match=r"t = 0 s, in step 1: .* joint 'rail'") as caught:
        mb.simulate(system, (0.0, 1.0), 0.1, tau=[1e307])
    assert caught.value.result.t.size == 1
    with pytest.raises(mb.NotFiniteError, match=r"energy at t = 0 s .* 'rail'"):
        mb.simulate(system, (0.0, 1.0), 0.1, v=[1e200])


class Refuses(mb.Integrator):
    """Explicit Euler in Python, whose steps of another size than 0.1 fail."""

    order = 1

    def prepare(self, problem):
        vdot, powers = np.zeros(problem.nv), np.zeros(2)

        def advance(first, steps, rows):
            if problem.h != 0.1:
                return problem.failed(ValueError("boom")), 0, 0
            for k in range(first, first + steps):
                problem.accelerate(problem.t0 + k * problem.h, problem.q, problem.v, vdot, powers)
                problem.q += problem.h * problem.v
                problem.v += problem.h * vdot
            return 0, steps, 0

        return advance


def test_what_fails_within_a_step_is_what_is_raised():
    """A step to an output time is taken by a copy of the problem; its exception is not lost."""
    system = slider(mb.PrismaticJoint("rail"))
    with pytest.raises(ValueError, match="boom"):
        mb.simulate(system, (0.0, 1.0), 0.1, v=[1.0], integrator=Refuses(), save_at=[0.05])


# A shell starts its background jobs with SIGINT ignored, and they hand this on: undone here.
LISTEN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

CTRL_C = """
import numpy as np
import mbkit as mb
from tests.simulation.test_failures import Guarded, slider

system = slider(Guarded("rail", np.inf))
force = (lambda t, q, v: -q) if sys.argv[1] == "force" else None
mb.simulate(system, (0.0, 0.01), 1e-3, tau=force)  # everything is loaded now
for _ in range(8):
    print("go", flush=True)
    run = mb.simulate(system, (0.0, 1e4), 1e-3, q=[1.0], v=[0.5], tau=force, save_every=100)
    assert not run.completed, run.message
    assert run.t.size > 1
    if force is None:
        np.testing.assert_allclose(run.q[:, 0], 1.0 + 0.5 * run.t, rtol=1e-9)
    else:
        np.testing.assert_allclose(run.energy + 0.5 * run.q[:, 0] ** 2, 0.625, rtol=1e-9)
    print(run.message, flush=True)
"""


def interrupted(code, *arguments):
    """Yield the line that a process prints after each of eight SIGINTs.

    They come at random moments after "go"; nothing else is printed, nor to stderr.
    """
    rng = np.random.default_rng(7)
    command = [sys.executable, "-c", LISTEN + textwrap.dedent(code), *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        late = threading.Timer(120, child.kill)
        late.start()
        try:
            for _ in range(8):
                assert child.stdout.readline() == "go\n"
                time.sleep(rng.uniform(0.05, 0.3))
                child.send_signal(signal.SIGINT)
                yield child.stdout.readline()
            assert child.communicate(timeout=30) == ("", "")
        finally:
            late.cancel()
            child.kill()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("where", ["joint", "force"])
def test_a_signal_while_python_is_called_back_ends_the_run_and_spoils_nothing(where):
    """SIGINT from outside, at eight random moments: it ends the run, and every row is right."""
    for line in interrupted(CTRL_C, where):
        assert line.startswith("Interrupted by the user")


DIRECT = """
import numpy as np
import mbkit as mb
from tests.simulation.test_failures import Guarded, slider

system = slider(Guarded("rail", np.inf))
q = np.zeros(1)
for _ in range(8):
    print("go", flush=True)
    try:
        while True:
            q[0] += 1.0
            assert system.poses(q)[1, 0, 3] == q[0], "a wrong number"
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_signal_during_a_direct_call_never_gives_a_wrong_number():
    """CPython may drop a callback before its first statement: its old output is not taken."""
    for line in interrupted(DIRECT):
        assert line == "interrupted\n"


BEFORE_ITS_FIRST_STATEMENT = """
import ctypes, itertools, operator, signal
from mbkit.systems.memory.callbacks import callback_address

run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(callback_address("evaluate"))
signal.signal(signal.SIGALRM, signal.default_int_handler)
# C functions alone between the signal and the callback: there Python looks for signals first
calls = [(signal.setitimer, signal.ITIMER_REAL, 0.01), (sum, range(10_000_000)), (run, 0)]
list(itertools.starmap(operator.call, calls))
print("ended")
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.compiled
def test_a_signal_before_the_first_statement_of_a_callback_prints_nothing():
    """CPython would print that it ignored KeyboardInterrupt; it is raised by the caller instead."""
    code = LISTEN + BEFORE_ITS_FIRST_STATEMENT
    child = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert (child.stdout, child.stderr) == ("ended\n", "")
