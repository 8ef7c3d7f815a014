"""The time loop around an integrator: chunks, saved rows, impossible spans."""

import importlib

import numpy as np
import pytest

import mbkit as mb
from mbkit.representations import REPRESENTATIONS as BY_NAME
from tests.every_representation import REPRESENTATIONS
from tests.trees import random_mechanism, random_state

module = importlib.import_module("mbkit.simulation.stepping.chunks")


@pytest.fixture(scope="module")
def system():
    """A ball joint that carries a hinge: a group and a vector space."""
    mech = mb.Mechanism("ball and hinge")
    upper = mech.add_body(
        mb.Body("upper", inertia=mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.5)))
    )
    lower = mech.add_body(
        mb.Body("lower", inertia=mb.SpatialInertia.box(0.7, size=(0.1, 0.1, 0.4)))
    )
    mech.add_joint(mb.SphericalJoint("ball", point=(0, 0, 0.4)), mech.world, upper)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 1), point=(0, 0, -0.3)), upper, lower)
    return mech.assemble()


@pytest.fixture(scope="module")
def start(system):
    """A state in motion."""
    rng = np.random.default_rng(11)
    q = system.retract(system.reference_configuration(), rng.normal(size=4))
    return {"q": q, "v": rng.normal(size=4)}


@pytest.mark.slow
def test_the_size_of_chunks_never_changes_a_bit(system, start, monkeypatch):
    """t = t0 + k h, whatever happens between chunks."""
    runs = []
    for chunk in (0.0, 1e-4, 10.0):
        monkeypatch.setattr(module, "CHUNK", chunk)
        runs.append(mb.simulate(system, (0.3, 1.3), 1e-3, save_every=7, **start))
    for run in runs[1:]:
        for name in ("t", "q", "v", "kinetic_energy", "potential_energy"):
            np.testing.assert_array_equal(getattr(run, name), getattr(runs[0], name))


def test_rows_are_saved_at_multiples_and_at_both_ends(system, start):
    """The first and the last state are always there."""
    run = mb.simulate(system, (1.0, 1.2), 0.002, save_every=30, **start)
    np.testing.assert_array_equal(run.t, 1.0 + np.array([0, 30, 60, 90, 100]) * 0.002)
    every = mb.simulate(system, (1.0, 1.2), 0.002, **start)
    assert every.t.shape == (101,)
    np.testing.assert_array_equal(run.q, every.q[[0, 30, 60, 90, 100]])
    np.testing.assert_array_equal(run.v[-1], every.v[-1])
    assert run.completed
    assert run.message == "Completed: 100 steps."
    assert run.options["steps_taken"] == 100
    assert set(run.versions) == {"python", "mbkit", "numpy", "scipy", "numba"}
    assert "ball and hinge" in run.model


@pytest.mark.slow
def test_quaternions_stay_on_the_group(system, start):
    """Their length is one after thousands of steps, without any projection."""
    run = mb.simulate(system, (0.0, 5.0), 1e-3, save_every=100, **start)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, :4], axis=1), 1.0, rtol=0, atol=4e-16)


def test_a_constant_and_a_callable_force_give_the_same_motion(system, start):
    """Bit for bit: they enter the same compiled loop."""
    tau = np.array([0.3, -0.2, 0.1, 0.05])
    constant = mb.simulate(system, (0.0, 0.3), 1e-2, tau=tau, **start)
    called = mb.simulate(system, (0.0, 0.3), 1e-2, tau=lambda t, q, v: tau, **start)
    free = mb.simulate(system, (0.0, 0.3), 1e-2, **start)
    np.testing.assert_array_equal(constant.q, called.q)
    assert np.abs(constant.q - free.q).max() > 1e-4
    assert (constant.options["tau"], called.options["tau"], free.options["tau"]) == (
        "constant", "callable", "none"
    )  # fmt: skip


def test_a_callable_force_may_keep_its_arguments(system, start):
    """It gets copies, at the times of the stages."""
    kept = []

    def force(t, q, v):
        kept.append((t, q, v))
        return -0.1 * v

    run = mb.simulate(system, (0.0, 0.02), 0.01, tau=force, **start)
    times = [t for t, _, _ in kept]
    np.testing.assert_allclose(times, [0, 0.005, 0.005, 0.01, 0.01, 0.015, 0.015, 0.02])
    np.testing.assert_array_equal(kept[0][1], start["q"])
    np.testing.assert_array_equal(kept[4][2], run.v[1])


def test_the_model_at_rest_is_where_a_run_starts(system):
    """The reference configuration and zero velocity, unless something else is said."""
    run = mb.simulate(system, (0.0, 0.1), 0.05)
    np.testing.assert_array_equal(run.q[0], system.reference_configuration())
    np.testing.assert_array_equal(run.v[0], np.zeros(4))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"t_span": (1.0, 0.0)}, mb.UsageError, "must go forward in time"),
        ({"t_span": (0.0, np.inf)}, mb.UsageError, "must be two finite times"),
        ({"t_span": (0.0, 1.0, 2.0)}, mb.UsageError, "must be two times"),
        ({"h": -0.1}, mb.UsageError, "h must be positive"),
        ({"h": "fast"}, mb.UsageError, "h a number"),
        ({"h": 0.3}, mb.UsageError, "whole number of steps h; got h=0.3 s. Use .* h=0.25"),
        ({"h": 3.0}, mb.UsageError, "whole number of steps"),
        ({"h": 1e-14}, mb.NoMemoryError, "saved states, .* larger save_every"),
        ({"h": 1e-320}, mb.UsageError, "too small for a span"),
        ({"integrator": mb.tableaus.RK4}, mb.UsageError, "must be an mbkit.Integrator"),
        ({"save_every": 0}, mb.UsageError, "save_every must be a whole number"),
        ({"save_every": 2.0}, mb.UsageError, "save_every must be a whole number"),
        ({"q": np.zeros(3)}, mb.ShapeError, r"'q' must have shape \(5,\)"),
        ({"q": np.array([2.0, 0, 0, 0, 0])}, mb.ConfigurationError, "'ball'.*quaternion"),
        ({"v": np.array([0, 0, np.nan, 0])}, mb.NotFiniteError, r"initial v of 'ball\[2\]' is nan"),
        ({"tau": np.zeros(3)}, mb.ShapeError, r"'tau' must have shape \(4,\)"),
        ({"tau": [0, 0, 0, np.inf]}, mb.NotFiniteError, "force tau of 'hinge' is inf"),
    ],
)  # fmt: skip
def test_impossible_arguments_are_refused_before_anything_is_computed(
    system, arguments, error, message
):
    """Thing, rule, value, remedy."""
    with pytest.raises(error, match=message):
        mb.simulate(system, **{"t_span": (0.0, 1.0), "h": 0.1, **arguments})


def test_progress_waits_two_seconds(system, start, capsys, monkeypatch):
    """A short run prints nothing; a long one prints lines where there is no terminal."""
    mb.simulate(system, (0.0, 0.3), 1e-2, **start)
    assert capsys.readouterr().err == ""
    progress = importlib.import_module("mbkit.simulation.progress")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(module, "CHUNK", 0.0)
    mb.simulate(system, (0.0, 0.3), 1e-2, **start)
    line = capsys.readouterr().err
    assert line.startswith("simulate: t = 0.01 s of 0.3 s (3 %), about")
    mb.simulate(system, (0.0, 0.3), 1e-2, progress=False, **start)
    assert capsys.readouterr().err == ""


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning")  # universal joints fold
def test_a_representation_changes_no_trajectory():
    """The four integrate the same equations: one tree, one motion, but for rounding."""
    rng = np.random.default_rng(4)
    mechanism = random_mechanism(rng, 8, reach=3)
    systems = [
        mechanism.assemble(mb.RelativeCoordinates(representation=each)) for each in REPRESENTATIONS
    ]
    state = random_state(rng, systems[0], 0.5)
    runs = [mb.simulate(system, (0.0, 0.5), 1e-3, q=state.q, v=state.v) for system in systems]
    assert [run.options["representation"] for run in runs] == [*BY_NAME]
    for run in runs[1:]:
        np.testing.assert_allclose(run.q, runs[0].q, rtol=0.0, atol=1e-10)
        np.testing.assert_allclose(run.v, runs[0].v, rtol=0.0, atol=1e-9)
