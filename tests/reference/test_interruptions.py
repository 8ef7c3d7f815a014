"""Early ends of a simulation: exceptions, Ctrl-C, numbers that are not finite."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import mbkit as mb
from tests.reference.user_joints import EllipseJoint, StumblingJoint
from tests.trees import random_inertia


def two_bodies(joint):
    """A pendulum, and another body behind the joint."""
    rng = np.random.default_rng(1)
    mech = mb.Mechanism("two bodies")
    first = mech.add_body(mb.Body("first", inertia=random_inertia(rng)))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, first)
    second = mech.add_body(mb.Body("second", inertia=random_inertia(rng)))
    mech.add_joint(joint, first, second)
    return mech.assemble()


@pytest.fixture(scope="module")
def pendulum():
    """The same with a joint of mbkit."""
    return two_bodies(mb.RevoluteJoint("elbow", axis=(0, 1, 0), point=(0, 0, -1)))


class OwnError(Exception):
    """An exception that mbkit cannot know."""


def test_exception_of_a_joint_in_dynamics():
    """It comes out as it is, with a note of the joint's name and its configuration."""
    error = OwnError("beyond the end of the wire")
    system = two_bodies(StumblingJoint("wire", limit=0.5, error=error))
    assert np.isfinite(system.forward_dynamics([0.1, 0.2], [0.0, 0.0])).all()
    with pytest.raises(OwnError) as caught:
        system.forward_dynamics([0.1, 0.75], [0.0, 0.0])
    assert caught.value is error
    (note,) = error.__notes__
    assert "'wire'" in note
    assert "0.75" in note
    # and the system works on
    assert np.isfinite(system.forward_dynamics([0.1, 0.2], [0.0, 0.0])).all()


def test_exception_of_a_joint_in_the_loop():
    """It comes out as it is, with the joint's name, q and t, and with what was computed."""
    error = OwnError("beyond the end of the wire")
    system = two_bodies(StumblingJoint("wire", limit=0.5, error=error))
    with pytest.raises(OwnError) as caught:
        mb.simulate(system, (0.0, 10.0), 1e-3, v=[0.0, 5.0])
    assert caught.value is error
    notes = " ".join(error.__notes__)
    run = error.result
    assert "'wire'" in notes
    assert "q = " in notes
    assert f"t = {run.t[-1]:.6g}"[:8] in notes
    assert not run.completed
    assert 0.0 < run.t[-1] < 10.0
    assert run.q[-1, 1] == pytest.approx(0.5, abs=0.01)


def test_wrong_shape_from_a_joint():
    """A method that returns the wrong shape is named with its joint, and nothing is spread."""
    system = two_bodies(StumblingJoint("wire", limit=0.5, bias=[1.0]))
    with pytest.raises(mb.JointError, match=r"'wire': bias must return an array of shape \(6,\)"):
        system.forward_dynamics([0.1, 0.75], [0.0, 0.0])


def test_joint_that_returns_nan():
    """The joint in which it began is named."""
    system = two_bodies(StumblingJoint("wire", limit=0.5, bias=[np.nan] * 6))
    with pytest.raises(mb.NotFiniteError, match="'wire'"):
        mb.simulate(system, (0.0, 10.0), 1e-3, v=[0.0, 5.0])


def test_keyboard_interrupt_from_a_force(pendulum):
    """Ctrl-C in a Python force ends the run and keeps what was computed."""

    def tau(t, q, v):
        if t > 0.25:
            raise KeyboardInterrupt
        return [0.0, 0.0]

    run = mb.simulate(pendulum, (0.0, 1.0), 1e-3, v=[1.0, 0.0], tau=tau)
    assert not run.completed
    assert run.t[-1] == pytest.approx(0.25, abs=2e-3)
    whole = mb.simulate(pendulum, (0.0, 1.0), 1e-3, v=[1.0, 0.0])
    assert np.array_equal(run.q, whole.q[: len(run.q)])


def test_keyboard_interrupt_from_a_joint():
    """So does Ctrl-C in a Python joint, with whatever call it is in."""
    system = two_bodies(StumblingJoint("wire", limit=0.5, error=KeyboardInterrupt()))
    run = mb.simulate(system, (0.0, 10.0), 1e-3, v=[0.0, 5.0])
    assert not run.completed
    assert run.q[-1, 1] == pytest.approx(0.5, abs=0.01)
    with pytest.raises(KeyboardInterrupt):
        system.forward_dynamics([0.1, 0.75], [0.0, 0.0])


@pytest.fixture
def listening():
    """Python's own handler of SIGINT: a shell starts background jobs with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listening")
def test_signal_in_compiled_code(pendulum):
    """A real SIGINT while the loop is compiled code ends the run soon; it would last minutes."""
    mb.simulate(pendulum, (0.0, 0.1), 1e-3, v=[1.0, 0.0])  # compiled by now
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, send)
    timer.start()
    try:
        run = mb.simulate(pendulum, (0.0, 1e5), 1e-3, v=[1.0, 0.0], save_every=1000)
    finally:
        timer.cancel()
    waited = time.monotonic() - sent[0]
    assert waited < 5.0
    assert not run.completed
    assert "interrupt" in run.message.lower() or "ctrl-c" in run.message.lower()
    assert 0.0 < run.t[-1] < 1e5
    whole = mb.simulate(pendulum, (0.0, float(run.t[-1])), 1e-3, v=[1.0, 0.0], save_every=1000)
    assert np.array_equal(run.q, whole.q)  # chunks change no bit


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_force_that_is_not_finite(pendulum, bad):
    """It stops the run with time, step and joint, and keeps what was computed."""

    def tau(t, q, v):
        return [0.0, bad if t > 0.25 else 0.0]

    with pytest.raises(mb.NotFiniteError) as caught:
        mb.simulate(pendulum, (0.0, 1.0), 1e-3, v=[1.0, 0.0], tau=tau)
    message = str(caught.value)
    assert "t = 0.25" in message
    assert "step 251" in message
    assert "'elbow'" in message
    run = caught.value.result
    assert not run.completed
    assert run.t[-1] == pytest.approx(0.25)
    assert np.isfinite(run.q).all()


def test_motion_that_grows_without_bounds(pendulum):
    """Overflow in the motion itself is found too, and names a joint."""
    with pytest.raises(mb.NotFiniteError, match=r"'(hinge|elbow)'"):
        mb.simulate(pendulum, (0.0, 1e4), 1.0, tau=[1e200, 0.0])


def test_force_of_the_wrong_shape(pendulum):
    """A force with too few entries says how many there must be."""
    with pytest.raises(mb.ShapeError, match=r"tau\(t, q, v\).*\(2,\)"):
        mb.simulate(pendulum, (0.0, 1.0), 1e-3, tau=lambda t, q, v: [0.0])


def test_constant_and_callable_forces(pendulum):
    """A constant force is the same as a function that returns it, bit by bit."""
    tau = np.array([0.3, -0.7])
    constant = mb.simulate(pendulum, (0.0, 0.5), 1e-3, tau=tau)
    called = mb.simulate(pendulum, (0.0, 0.5), 1e-3, tau=lambda t, q, v: tau)
    assert np.array_equal(constant.q, called.q)
    assert np.array_equal(constant.v, called.v)
    free = mb.simulate(pendulum, (0.0, 0.5), 1e-3)
    assert np.abs(constant.q - free.q).max() > 1e-3


def test_arguments_of_a_force(pendulum):
    """A force is asked at the stages of the method, with the state there, which it may keep."""
    asked = []

    def tau(t, q, v):
        asked.append((t, q, v))
        return np.zeros(2)

    run = mb.simulate(pendulum, (1.0, 1.1), 1e-2, v=[1.0, 0.0], tau=tau)
    times = np.array([t for t, _, _ in asked])
    expected = 1.0 + 1e-2 * (np.arange(10)[:, None] + [0.0, 0.5, 0.5, 1.0])
    np.testing.assert_allclose(times, expected.ravel(), rtol=0.0, atol=1e-12)
    first = asked[::4]
    assert np.array_equal([q for _, q, _ in first], run.q[:-1])
    assert np.array_equal([v for _, _, v in first], run.v[:-1])


def test_system_called_from_a_force():
    """A force may call the system that it drives: here it holds the pendulum against gravity."""
    system = two_bodies(EllipseJoint("wire", 1.0, 1.0))
    q = np.array([0.4, 0.2])
    run = mb.simulate(
        system,
        (0.0, 0.5),
        1e-3,
        q=q,
        tau=lambda t, q, v: system.inverse_dynamics(q, v, np.zeros(2)),
    )
    np.testing.assert_allclose(run.q, np.broadcast_to(q, run.q.shape), rtol=0.0, atol=1e-12)
