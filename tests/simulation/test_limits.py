"""Limits of joints in runs: said where nothing applies them, and stops made of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import four_bar

pytestmark = pytest.mark.slow

SPAN = (0.0, 0.6)
PASSED = np.sqrt(2.0 / 9.81)  # when a body has fallen a metre [s]


def slide(limits=None, **options):
    """A body of 2 kg on a vertical slide."""
    mech = mb.Mechanism("slide")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    limits = mb.JointLimits(-1.0, 5.0) if limits is None else limits
    joint = options.get("joint", mb.PrismaticJoint("fall"))
    mech.add_joint(joint, mech.world, body, limits=limits)
    return mech


def told(system, h=1e-3, **options):
    """The run, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = mb.simulate(system, SPAN, h, progress=False, **options)
    assert all(each.category is mb.LimitsNotAppliedWarning for each in caught)
    return run, [str(each.message) for each in caught]


@pytest.mark.parametrize("h", [1e-3, None])
def test_the_first_limit_that_is_passed_is_named_once(h):
    """With its time, and in the result; the remedy is one call."""
    run, (text,) = told(slide().assemble(), h)
    assert run.warnings == (text,)
    passed = float(text.split("t = ")[1].split(" s")[0])
    assert PASSED <= passed < PASSED + 2e-3
    assert "'fall' is at -1.0" in text
    assert "its lower limit -1." in text
    assert "mechanism.add_limit_stops()" in text


def test_nothing_is_said_where_limits_do_not_matter():
    """Within them, with stops, with an event, where the motion is prescribed, without limits."""
    mech = slide()
    mech.add_force(mb.LimitStop("floor", "fall", lower=-0.9, upper=9.0, stiffness=1e4))
    stop = mb.Event("floor", mb.JointPosition("fall", level=-1.0), terminal=True)
    given = mb.PrismaticJoint("fall").prescribe(lambda t: -5.0 * t)
    cases = [
        (slide(mb.JointLimits(-2.0, 2.0)), {}),
        (slide(mb.JointLimits()), {}),
        (mech, {}),
        (slide(), {"events": [stop]}),
        (slide(joint=given), {}),
    ]
    for each, options in cases:
        run, texts = told(each.assemble(), **options)
        assert not texts
        assert run.warnings == ()


def test_runs_of_ensembles_and_continued_runs_say_it_once(tmp_path):
    """Once for all samples that pass; a run in a directory does not say it again."""
    system = slide().assemble()
    runs, (text,) = told(system, q=[[0.0], [4.0], [-0.5]])
    alone, _ = told(system, q=[-0.5])
    assert list(runs.warnings) == [(0,), (2,)]
    assert runs[2].warnings == alone.warnings
    with pytest.warns(mb.LimitsNotAppliedWarning) as located:
        mb.simulate(system, SPAN, 1e-3, progress=False, q=[[0.0], [4.0]])
    assert located[0].filename == __file__
    assert text.startswith("In 2 runs of 3, the first of them sample (0,): Limits are not applied")
    run, (text,) = told(system, output=tmp_path / "run")
    assert [*run.warnings] == [text]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [*mb.resume(tmp_path / "run", progress=False).warnings] == [text]


def test_the_first_velocity_above_its_limit_is_named_once(tmp_path):
    """A body falls freely, at 3 m/s after 3/9.81 s; in ensembles and directories likewise."""
    system = slide(mb.JointLimits(velocity=3.0)).assemble()
    run, (text,) = told(system)
    assert run.warnings == (text,)
    assert text.startswith("Limits of velocities are not applied: at t = 0.306 s")
    assert "the velocity of 'fall' is -3.00186 m/s, its limit 3 m/s." in text
    assert not told(system, v=[2.9])[1]  # up first, and down at 2.986 m/s in the end
    _, both = told(slide(mb.JointLimits(-1.0, 5.0, velocity=3.0)).assemble())
    assert [each.partition(":")[0] for each in sorted(both)] == [
        "Limits are not applied", "Limits of velocities are not applied",
    ]  # fmt: skip
    runs, (of_all,) = told(system, v=[[0.0], [2.9]])
    assert runs[0].warnings == run.warnings
    assert runs[1].warnings == ()
    assert text in of_all
    kept, (again,) = told(system, output=tmp_path / "run")
    assert again == text
    assert [*mb.resume(tmp_path / "run", progress=False).warnings] == [*kept.warnings]


def test_velocities_of_runs_in_momenta_are_compared_and_not_momenta():
    """A body of 2 kg has twice its velocity as its momentum."""
    method = mb.RungeKuttaMuntheKaas()
    for most, expected in ((3.0, True), (6.0, False)):  # it falls at 5.9 m/s in the end
        form = mb.MomentumForm(slide(mb.JointLimits(velocity=most)).assemble())
        run, texts = told(form, integrator=method)
        assert bool(texts) is expected
        assert not texts or "'fall' is -3.00186 m/s" in texts[0]
        assert run.warnings == tuple(texts)


def test_nothing_is_said_of_velocities_that_are_given_or_watched():
    fast = mb.JointLimits(velocity=3.0)
    given = mb.PrismaticJoint("fall").prescribe(lambda t: -5.0 * t)
    event = mb.Event("fast", mb.JointVelocity("fall", level=-3.0))
    cases = [
        (slide(fast, joint=given), {}),
        (slide(fast), {"events": [event]}),
        (slide(mb.JointLimits(velocity=6.0)), {}),
    ]
    for each, options in cases:
        run, texts = told(each.assemble(), **options)
        assert not texts
        assert run.warnings == ()


def test_the_first_effort_above_its_limit_is_named_once(tmp_path):
    """However efforts are given: numbers, functions, controllers, rows, several of them."""
    system = slide(mb.JointLimits(effort=20.0)).assemble()
    begins = "Limits of efforts are not applied: at t = "
    rising = mb.PiecewiseEfforts([[1.0], [25.0], [-30.0]], t_span=SPAN)
    cases = [
        ([25.0], "0 s", "25"),
        (lambda t, q, v: [50.0 * t], "0.4005 s", "20.025"),  # a stage of the classical method
        (mb.Sampled(lambda t, q, v: [50.0 * t], period=0.1), "0.501 s", "25"),
        (rising, "0.2 s", "25"),
    ]
    for tau, time, effort in cases:
        run, (text,) = told(system, tau=tau)
        assert text.startswith(f"{begins}{time} the effort tau of 'fall' is {effort} N, its limit")
        assert run.warnings == (text,)
    for tau in ([-20.0], lambda t, q, v: [20.0], mb.Sampled(lambda t, q, v: [-20.0], 0.1)):
        assert not told(system, tau=tau)[1]
    runs, (of_all,) = told(system, tau=[[20.0], [-25.0]])
    assert (runs[0].warnings, len(runs[1].warnings)) == ((), 1)
    assert runs[1].warnings[0] in of_all
    kept, (text,) = told(system, tau=[25.0], output=tmp_path / "run")
    assert [*mb.resume(tmp_path / "run", progress=False).warnings] == [*kept.warnings] == [text]


def test_efforts_of_steps_that_are_taken_back_do_not_count():
    """Of the step from 0.39 s to 0.42 s only 5 ms are left, before the effort is 20 N at 0.4 s."""
    system = slide(mb.JointLimits(effort=20.0)).assemble()
    asked = []

    def tau(t, q, v):
        asked.append(50.0 * t)
        return [asked[-1]]

    t = 0.395  # q'' = 50 t / 2 - 9.81
    level = 25.0 * t**3 / 6.0 - 9.81 * t**2 / 2.0
    event = mb.Event("there", mb.JointPosition("fall", level=level), terminal=True)
    run, texts = told(system, 0.03, tau=tau, events=[event])
    assert np.isclose(run.t[-1], t, rtol=1e-9)
    assert max(asked) > 20.0
    assert not texts


def test_stops_of_limits_hold_what_falls_on_them():
    """As deep as the energy of the fall, in closed form, on a spring of 25 Hz."""
    mech = slide()
    (stop,) = mech.add_limit_stops(damping=0.0)
    assert (stop.name, stop.lower, stop.upper) == ("limits of fall", -1.0, 5.0)
    assert np.isclose(stop.stiffness, 2.0 * (2.0 * np.pi * 25.0) ** 2)
    run, texts = told(mech.assemble(), 1e-4)
    assert not texts
    k, weight = stop.stiffness, 2.0 * 9.81  # k d^2 / 2 = weight (1 + d)
    depth = (weight + np.sqrt(weight**2 + 2.0 * k * weight)) / k
    assert np.isclose(-1.0 - run.q.min(), depth, rtol=1e-4)
    assert mech.add_limit_stops() == ()  # they are there


def test_stops_swing_at_their_rate_though_other_joints_give_way():
    """The first joint of an arm whose second one is free carries less than the whole arm."""
    mech = mb.Mechanism("arm", gravity=(0.0, 0.0, 0.0))
    rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.05, 0.05))
    upper, lower = (mech.add_body(mb.Body(name, rod)) for name in ("upper", "lower"))
    limits = {"limits": mb.JointLimits(-1.0, 1.0)}
    shoulder = mb.RevoluteJoint("shoulder", point=(-0.5, 0.0, 0.0))
    mech.add_joint(shoulder, mech.world, upper, **limits)
    along = mb.spatial.translation((1.0, 0.0, 0.0))
    elbow = mb.RevoluteJoint("elbow", point=(-0.5, 0.0, 0.0))
    mech.add_joint(elbow, upper, lower, reference=along, **limits)
    for stop in mech.add_limit_stops(damping=0.0):
        spring = mb.JointSpring("same", stop.joint, stiffness=stop.stiffness)
        alone = mech.assemble().without_forces().with_forces([spring])
        frequencies = alone.linearize({}).modes().frequency
        assert np.isclose(np.max(frequencies), 25.0, rtol=1e-6)


def test_stops_of_a_closed_mechanism_with_limits_on_one_side():
    """Joints that get stops stay in the tree; the side without a limit has none."""
    mech = mb.Mechanism("four-bar", gravity=(0.0, -9.81, 0.0))
    given = four_bar.build()
    for body in given.bodies.values():
        mech.add_body(body)
    for name, edge in given.joints.items():
        limits = mb.JointLimits(upper=0.5) if name == "C" else None
        frames = (edge.S_pred, edge.S_succ)
        mech.add_joint(edge.joint, edge.predecessor, edge.successor, frames=frames, limits=limits)
    (stop,) = mech.add_limit_stops(joints=["C"])
    system = mech.assemble()
    assert "C" not in system.loop_joints
    assert stop.stiffness > 0.0
    at_rest = np.zeros(system.nv)
    q = system.reference_configuration()
    for angle, is_held in ((0.6, True), (-3.0, False)):
        q[system.position_slice("C")] = angle
        assert bool(system.generalized_forces(q, at_rest).any()) is is_held


def test_what_cannot_be_a_stop_is_refused():
    """By name, and nothing is added."""
    mech = slide(mb.JointLimits())
    for call, error, match in (
        ({"joints": ["fall"]}, mb.UsageError, "joint 'fall' has no limits of positions"),
        ({"joints": ["rail"]}, mb.NameUnknownError, "no joint 'rail'; known are 'fall'"),
        ({"joints": 5}, mb.UsageError, "names of joints, got 5"),
    ):
        with pytest.raises(error, match=match):
            mech.add_limit_stops(**call)
    mech = slide()
    for call, error, match in (
        ({"stiffness": -1.0}, mb.UsageError, "stiffness must be a positive number, got -1.0"),
        ({"damping": -1.0}, mb.ForceError, "damping must be at least 0"),
    ):
        with pytest.raises(error, match=match):
            mech.add_limit_stops(**call)
    assert not mech.forces
    assert mech.add_limit_stops(stiffness=500.0)[0].stiffness == 500.0
