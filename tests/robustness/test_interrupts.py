"""A few hundred of the interrupts that `tests.robustness.interrupts` can send any number of."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from numba.core.registry import cpu_target

import mbkit as mb
from mbkit.interrupts import HeldInterrupts, Interrupts
from mbkit.simulation.options import described_part
from mbkit.systems.calls import waiting_threads
from mbkit.systems.calls.threads import cores
from mbkit.systems.calls.waiting_threads import WaitingThread
from mbkit.systems.memory.in_lanes.workspace import native_lanes
from tests.robustness.interrupted import CASES, batch_to_out
from tests.robustness.interrupts import in_a_process

pytestmark = pytest.mark.compiled  # moments are of compiled code


@pytest.mark.long
def test_interrupts_of_batches_and_runs():
    """None hangs, leaves a handler, changes a bit of what comes next, or ends as anything else."""
    outcomes = in_a_process(CASES, 20, seed=1)
    assert outcomes["interrupts"] > 8 * len(CASES)
    assert outcomes["raised"] > 2 * len(CASES)
    assert outcomes["part"] > len(CASES)


@pytest.mark.long
def test_interrupts_of_loading():
    """What was interrupted is loaded by the next call, with the same result, in any thread."""
    outcomes = in_a_process(["batch", "constrained"], 10, seed=1, loading=True)
    assert outcomes["interrupts"] >= 20


@pytest.fixture
def listening():
    """Python's own handler of SIGINT: a shell starts background jobs with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("listening")
def test_the_second_is_raised():
    """After the handler is what it was: nothing has to be put back while it goes up."""
    with Interrupts() as interrupts:
        press()
        assert interrupts.noted
        with pytest.raises(KeyboardInterrupt):
            press()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("listening")
@pytest.mark.skipif(cores() < 2, reason="a batch is computed by as many threads as there are cores")
def test_threads_have_stopped_when_a_second_interrupt_comes(monkeypatch):
    """One when others take part, another where they would be stopped for it."""
    case = batch_to_out(500_000)
    case.call()
    hand_over, abandon = WaitingThread.hand_over, waiting_threads.abandon
    pressed = []

    def handed_over_and_pressed(*arguments):
        hand_over(*arguments)
        pressed.append("handed over")
        press()

    def pressed_and_abandoned(shared):
        press()
        abandon(shared)

    monkeypatch.setattr(WaitingThread, "hand_over", handed_over_and_pressed)
    monkeypatch.setattr(waiting_threads, "abandon", pressed_and_abandoned)
    with pytest.raises(KeyboardInterrupt):
        case.call()
    assert pressed


@pytest.mark.usefixtures("listening")
def test_all_are_held():
    """And one is raised at the end, or counts as one of those that are noted outside."""
    reached = []

    def hold():
        with HeldInterrupts():
            press()
            press()
            reached.append("end")

    with pytest.raises(KeyboardInterrupt):
        hold()
    assert reached == ["end"]
    with Interrupts() as outer:
        with HeldInterrupts():
            press()
            press()
            assert not outer.noted
        assert outer.noted
        with pytest.raises(KeyboardInterrupt), HeldInterrupts():
            press()


@pytest.mark.usefixtures("listening")
def test_handlers_of_others_stay():
    """They know what they do."""
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append("it"))
    try:
        with Interrupts() as interrupts, HeldInterrupts() as held:
            press()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert heard == ["it"]
    assert not interrupts.noted
    assert not held.noted


def test_ctrl_c_waits_until_llvm_has_said_what_the_processor_can(monkeypatch):
    """It would leave LLVM's lock held, and other threads wait for ever."""
    mech = mb.Mechanism("door")
    mech.add_body(mb.Box("leaf", (0.8, 0.04, 2.0), mass=20.0))
    mech.add_joint(mb.RevoluteJoint("hinge", point=(-0.4, 0, 0)), "world", "leaf")
    system, ended = mech.assemble(), []
    codegen = type(cpu_target.target_context.codegen())
    usual = codegen.magic_tuple

    def interrupted(self):
        signal.raise_signal(signal.SIGINT)
        ended.append(usual(self))
        return ended[0]

    native_lanes.cache_clear()  # as in a process that has not asked
    monkeypatch.setattr(codegen, "magic_tuple", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _ = system.evaluator.lanes_model
    assert ended == [usual(cpu_target.target_context.codegen())]
    monkeypatch.undo()
    assert system.evaluator.lanes_model.lanes.width in (4, 8)


def is_interrupted(call, name, line):
    """Whether a call was interrupted at its line-th line in functions of this name."""
    seen = []

    def at_each_line(frame, event, arg):
        if frame.f_code.co_name != name:
            return None
        if event == "line":
            seen.append(frame.f_lineno)
            if len(seen) == line:
                press()
        return at_each_line

    sys.settrace(at_each_line)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.usefixtures("listening")
def test_texts_of_options_are_whole_after_an_interrupt():
    """At each line of what attrs writes for a representation: it keeps a list of what it is at."""
    integrator, line = mb.RungeKuttaMuntheKaas(), 1
    expected = described_part(integrator)
    while is_interrupted(lambda: described_part(integrator), "__repr__", line):
        assert described_part(integrator) == expected
        line += 1
    assert line > 5
