"""Runs whose `h` is left out: steps by a tolerance, saved states evenly spaced, stiff motions."""

import warnings

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.test_runs import four_bar


def swing(stiffness=4.0, *, rate=0.0):
    """A mass of 1 kg on a spring, with a damper that stops a small one at its end at a rate."""
    mech = mb.Mechanism("swing", gravity=(0, 0, 0))
    mech.add_body(mb.Body("a", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("x"), mech.world, "a")
    mech.add_force(mb.JointSpring("spring", "x", stiffness=stiffness))
    if rate:
        mech.add_body(mb.Body("b", mb.SpatialInertia.sphere(0.001, radius=0.1)))
        mech.add_joint(mb.PrismaticJoint("y"), "a", "b")
        mech.add_force(mb.JointDamper("damper", "y", damping=0.001 * rate))
    return mech.assemble()


@pytest.mark.slow
def test_steps_of_adaptive_size_follow_a_closed_form_at_evenly_spaced_times():
    run = mb.simulate(swing(), (1.0, 11.0), q=[0.5])
    np.testing.assert_allclose(run.t, np.linspace(1.0, 11.0, 1001), rtol=1e-14)
    np.testing.assert_allclose(run.q[:, 0], 0.5 * np.cos(2.0 * (run.t - 1.0)), atol=1e-7)
    assert "rtol=1e-08" in run.options["integrator"]
    assert run.options["h"] == 0.01
    assert run.options["adaptive"]


@pytest.mark.slow
def test_what_is_saved_is_what_is_asked_for():
    few = mb.simulate(swing(), (0.0, 10.0), q=[0.5], save_every=100)
    np.testing.assert_allclose(few.t, np.linspace(0.0, 10.0, 11), rtol=1e-14)
    times = [0.0, 0.123, 1.0 / 3.0, 9.87]
    run = mb.simulate(swing(), (0.0, 10.0), q=[0.5], save_at=times)
    np.testing.assert_allclose(run.q[:, 0], 0.5 * np.cos(2.0 * run.t), atol=1e-7)
    assert run.t.tolist() == times


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_what_h_is_replaced_by_goes_with_all_that_runs_have(tmp_path):
    bar = four_bar().assemble()
    loop = mb.simulate(bar, (0.0, 1.0))
    assert np.abs(loop.residuals[:, 0]).max() < 1e-9
    assert loop.options["stabilisation"]["kind"] == "Projection"
    runs = mb.simulate(swing(), (0.0, 1.0), q=[[0.5], [0.1]])
    np.testing.assert_allclose(runs.q[:, -1, 0], np.array([0.5, 0.1]) * np.cos(2.0), atol=1e-8)
    event = mb.Event("centre", mb.JointPosition("x"), terminal=True)
    stopped = mb.simulate(swing(), (0.0, 10.0), q=[0.5], events=[event])
    assert stopped.t[-1] == pytest.approx(np.pi / 4.0, abs=1e-7)
    kept = mb.simulate(swing(), (0.0, 1.0), q=[0.5], output=tmp_path / "run")
    assert np.array_equal(kept.q[:, 0], mb.simulate(swing(), (0.0, 1.0), q=[0.5]).q[:, 0])
    form = mb.simulate(mb.MomentumForm(swing()), (0.0, 1.0), q=[0.5])
    assert form.q[-1, 0] == pytest.approx(0.5 * np.cos(2.0), abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("method", [mb.GeneralizedAlpha(), mb.RATTLie()])
def test_methods_of_constant_steps_ask_for_h(method):
    with pytest.raises(mb.UsageError, match=r"h was left out, .* steps of one size: give h"):
        mb.simulate(swing(), (0.0, 1.0), integrator=method)
    run = mb.simulate(swing(), (0.0, 1.0), q=[0.5], integrator=mb.GeneralizedAlpha(rtol=1e-7))
    assert run.q[-1, 0] == pytest.approx(0.5 * np.cos(2.0), abs=1e-4)


def told(system, **given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = mb.simulate(system, (0.0, 10.0), progress=False, **given)
    return run, [each for each in caught if each.category is mb.StiffnessWarning]


@pytest.mark.slow
def test_a_stiff_motion_is_told_of_once_with_its_rate_and_the_remedy():
    run, found = told(swing(rate=2e4), q=[0.5, 0.0])
    assert len(found) == 1
    (text,) = run.warnings
    assert text == str(found[0].message)
    assert "at a rate of 2.00" in text
    assert "mbkit.GeneralizedAlpha(rtol=1e-5)" in text
    implicit, found = told(swing(rate=2e4), q=[0.5, 0.0], integrator=mb.GeneralizedAlpha(rtol=1e-5))
    assert not found
    assert implicit.options["counts"]["evaluations"] < 0.2 * run.options["counts"]["evaluations"]


@pytest.mark.slow
def test_efforts_in_python_may_be_what_is_stiff():
    _, found = told(swing(), q=[0.5], tau=lambda t, q, v: -2e3 * (v + 2.0 * q))
    assert len(found) == 1


@pytest.mark.slow
def test_a_fast_motion_that_is_followed_is_not_stiff():
    run, found = told(swing(1e6), q=[0.1])
    assert not found
    np.testing.assert_allclose(run.q[:, 0], 0.1 * np.cos(1e3 * run.t), atol=1e-4)


@pytest.mark.slow
def test_a_run_that_goes_on_has_been_told(tmp_path):
    run, _ = told(swing(rate=2e4), q=[0.5, 0.0], output=tmp_path / "run")
    assert mb.resume(tmp_path / "run").warnings == run.warnings
