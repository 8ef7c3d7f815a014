"""Identification: what was put in comes out, and within the errors that are told."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import mbkit as mb
from mbkit.identification.force_numbers import exact_slopes
from mbkit.identification.measured import Motion, Unknown
from tests.constraints.loops import closed, random_loops
from tests.forces.cases import KINDS, tree
from tests.systems.complex_steps import ComplexEvaluation
from tests.systems.test_regressor import arm, with_inertias
from tests.trees import random_mechanism, random_state


def motion_of(rng, system, samples=60):
    """Return samples of random states, without efforts."""
    q = system.retract(system.reference_configuration(), rng.normal(size=(samples, system.ndx)))
    v, vdot = rng.normal(size=(2, samples, system.nv))
    return {"q": q, "v": v, "vdot": vdot}


def measured(system, data, noise=None, rng=None, t=0.0):
    """Return the data with the efforts that a system needs, and noise."""
    q, v, vdot = data["q"], data["v"], data["vdot"]
    efforts = system.inverse_dynamics(q, v, vdot, t=t)
    if noise is not None:
        efforts = efforts + noise * rng.normal(size=efforts.shape)
    return {**data, "efforts": efforts}


@pytest.mark.long
def test_a_tree_of_many_joints_without_noise():
    """Combinations of the true system; the system found needs its efforts anywhere."""
    rng = np.random.default_rng(120)
    mech = random_mechanism(rng, 9, KINDS)
    system, true = mech.assemble(), with_inertias(mech, rng).assemble()
    data = measured(true, motion_of(rng, system))
    found = mb.identify(system, data)
    expected = found.base.combinations @ true.inertial_parameters
    np.testing.assert_allclose(found.base_values, expected, rtol=0.0, atol=1e-9)
    assert len(found.base.names) == len(system.base_parameters().names)
    assert np.abs(found.residuals).max() < 1e-10
    own = motion_of(rng, system, 5)
    expected = measured(true, own)["efforts"]
    np.testing.assert_allclose(measured(found.system, own)["efforts"], expected, atol=1e-8)
    assert len(found.undetermined) + np.isfinite(found.standard_errors).sum() == 90


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::mbkit.PoorFitWarning")  # of much noise
def test_standard_errors_are_those_of_repeated_measurements():
    """Efforts in N m and N with other noise each, told or estimated; the whole covariance."""
    rng = np.random.default_rng(121)
    mech = random_mechanism(rng, 3, ("revolute", "prismatic", "revolute"), reach=1)
    system, true = mech.assemble(), with_inertias(mech, rng).assemble()
    data = motion_of(rng, system, 100)
    noise = np.array([0.01, 3.0, 0.2])
    for given in (noise, None):
        parts = []
        for _ in range(30):
            found = mb.identify(system, measured(true, data, noise, rng), noise=given)
            assert (np.abs(found.noise / noise - 1.0) < 0.3).all()
            assert (np.abs(found.residuals) / noise).max() < 6.0
            left = found.base_values - found.base.combinations @ true.inertial_parameters
            assert np.abs(left / found.base_standard_errors).max() < 5.0
            # independent, of unit variance
            parts.append(np.linalg.solve(np.linalg.cholesky(found.covariance), left))
        assert 0.88 < np.sqrt(np.square(parts).mean()) < 1.12


@pytest.mark.long
def test_forces_of_which_the_efforts_are_not_linear():
    """Smoothed friction and a stop beside inertias; parameters that must not be negative."""
    rng = np.random.default_rng(122)
    mech = random_mechanism(rng, 2, ("revolute",), reach=1)
    mech.add_force(mb.DryFriction("friction", "joint0", friction=0.5, smoothing=0.3))
    mech.add_force(mb.JointSpring("spring", "joint1", stiffness=4.0, rest=0.1))
    mech.add_force(mb.BodyWrench("push", "body1", wrench=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]))
    system = mech.assemble()
    names = [
        "body1", "forces.friction.friction", "forces.friction.smoothing", "forces.spring.stiffness",
        "forces.spring.rest", "forces.push.wrench",
    ]  # fmt: skip
    values = {
        "forces.friction.friction": 2.0, "forces.friction.smoothing": 0.6,
        "forces.spring.stiffness": 9.0, "forces.spring.rest": -0.2,
        "forces.push.wrench": [0.3, -0.2, 0.4, 0.0, 2.0, -1.0],
    }  # fmt: skip
    true = system.with_parameters(values)
    data = measured(true, motion_of(rng, system, 80))
    found = mb.identify(system, data, names)
    assert found.parameter_names[10:14] == tuple(names[1:5])
    assert found.parameter_names[-1] == "forces.push.wrench[0, 5]"
    np.testing.assert_allclose(found.parameters[10:14], [2.0, 0.6, 9.0, -0.2], rtol=1e-7)
    for name in names[1:5]:
        assert name not in found.undetermined
    assert np.abs(found.residuals).max() < 1e-8
    # at rest where it starts, with nothing of it measured
    still = mb.identify(system, measured(system, motion_of(rng, system)), names[1:4])
    np.testing.assert_allclose(still.parameters, [0.5, 0.3, 4.0], rtol=1e-9)


@pytest.mark.filterwarnings("ignore::mbkit.PoorFitWarning")  # of noise as large as efforts
def test_possible_bodies():
    """Noise leads linear least squares to masses that no body has, and log-Cholesky not."""
    rng = np.random.default_rng(123)
    mech = random_mechanism(rng, 3, ("revolute",), reach=1)
    system, true = mech.assemble(), with_inertias(mech, rng).assemble()
    data = motion_of(rng, system, 40)
    exact = mb.identify(system, measured(true, data), consistent=True)
    free = mb.identify(system, measured(true, data))
    np.testing.assert_allclose(exact.base_values, free.base_values, atol=1e-6)
    noisy = measured(true, data, 8.0, rng)
    free, bound = (mb.identify(system, noisy, consistent=each) for each in (False, True))
    with pytest.raises(mb.InertiaError, match="consistent=True"):
        _ = free.system
    assert bound.system.mass > 0.0
    for row in bound.parameters.reshape(-1, 10):
        assert not mb.SpatialInertia.from_parameters(row).unphysical
    assert (bound.residuals**2).sum() >= (free.residuals**2).sum()
    with pytest.raises(mb.UsageError, match="whole bodies"):
        mb.identify(system, noisy, ["body0.mass"], consistent=True)


@pytest.mark.filterwarnings("ignore::mbkit.PoorFitWarning")  # first moments differ as well
def test_some_parameters_and_what_is_not_told():
    """A plane arm of two links; what is not asked for is taken from the system."""
    system = arm([(0, 1, 0)] * 2)
    rng = np.random.default_rng(124)
    data = motion_of(rng, system)
    true = system.with_parameters({"bodies.link2.mass": 9.0})
    found = mb.identify(system, measured(true, data), ["link2.mass", "link1.mass"])
    assert found.base.names == ("link2.mass",)
    assert found.base.without_effect == ("link1.mass",)
    assert found.undetermined == ("link1.mass",)
    both = mb.identify(system, measured(true, data), ["link1", "link2"])
    assert len(both.base.names) == 6
    assert "link1.first_moment[x] + link2.mass" in repr(both)
    assert "14 not told" in repr(both) or "not told" in repr(both)
    own = motion_of(rng, system, 3)
    expected = measured(true, own)["efforts"]
    np.testing.assert_allclose(measured(both.system, own)["efforts"], expected, atol=1e-9)
    assert both.condition < 100.0


def pendulum(*forces):
    """Return a rod with a damper, and 200 samples of its motion."""
    mech = mb.Mechanism("pendulum")
    rod = mb.SpatialInertia.from_com(2.0, (0, 0, -0.5), 0.1 * np.eye(3))
    rod = mech.add_body(mb.Body("rod", rod))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    for force in (mb.JointDamper("damper", "hinge", damping=0.0), *forces):
        mech.add_force(force)
    t = np.linspace(0.0, 10.0, 200)
    s, c = np.sin(3 * t)[:, None], np.cos(3 * t)[:, None]
    return mech.assemble(), {"q": s, "v": 3 * c, "vdot": -9 * s}


def test_an_estimate_beyond_the_bound_of_a_number():
    """Without friction noise makes the damping negative half the time: it is told, unbiased."""
    system, data = pendulum()
    rng = np.random.default_rng(126)
    parts = []
    for _ in range(12):
        noisy = measured(system, data, 0.2, rng)
        found = mb.identify(system, noisy, ["rod", "forces.damper.damping"])
        parts.append(found.parameters[-1] / found.standard_errors[-1])
        if found.parameters[-1] < 0.0:
            with pytest.raises(mb.InertiaError, match=r"forces\.damper\.damping"):
                _ = found.system
    assert min(parts) < 0.0 < max(parts)
    assert np.abs(parts).max() < 4.0


def test_forces_that_depend_on_time_need_the_times():
    t = np.linspace(0.0, 10.0, 200)
    names = ["rod", "forces.damper.damping"]
    table = mb.JointEffort("drive", "hinge", effort=0.6 * np.cos(3 * t), times=t)
    function = mb.ForceFunction("push", lambda t, q, v: [0.6 * np.cos(3 * t)], joints="hinge")
    for force in (table, function):
        system, data = pendulum(force)
        true = system.with_parameters({"forces.damper.damping": 0.4})
        data = measured(true, data, t=t)
        with pytest.raises(mb.UsageError, match=rf"'{force.name}' depends on time.*data\['t'\]"):
            mb.identify(system, data, names)
        found = mb.identify(system, {**data, "t": t}, names)
        assert abs(found.parameters[-1] - 0.4) < 1e-9
    constant = mb.ForceFunction("push", lambda t, q, v: [0.6 * q[0]], joints="hinge")
    system, data = pendulum(constant)
    assert abs(mb.identify(system, measured(system, data), names).parameters[-1]) < 1e-9


@pytest.mark.parametrize(
    ("given", "wrong", "warned"),
    [
        (0.2, lambda efforts: efforts, ""),
        (None, lambda efforts: efforts, ""),
        (0.01, lambda efforts: efforts, "'hinge' [12][0-9.]+ times the noise that was given"),
        (
            None,
            lambda efforts: efforts[np.argsort(np.sin(1e3 * np.arange(200)))],
            r"'hinge' [0-9.]+, of efforts of",
        ),
    ],
    ids=["given", "estimated", "far above what was given", "rows of no order"],
)
def test_residuals_are_shown_and_large_ones_warned_of(given, wrong, warned):
    """Noise of 0.2 N m in the efforts of a pendulum."""
    system, data = pendulum()
    data = measured(system, data, 0.2, np.random.default_rng(127))
    data["efforts"] = wrong(data["efforts"])
    noise = None if given is None else [given]
    with pytest.warns(mb.PoorFitWarning, match=warned) if warned else contextlib.nullcontext():
        found = mb.identify(system, data, ["rod", "forces.damper.damping"], noise=noise)
    left = np.sqrt((found.residuals**2).mean())
    last = repr(found).splitlines()[-1]
    assert last.endswith(f"square): hinge {found.noise[0]:.2g} ({left:.2g})>")


def test_what_is_refused():
    system = arm([(0, 1, 0)])
    rng = np.random.default_rng(125)
    data = measured(system, motion_of(rng, system))
    still = {key: np.zeros_like(each) for key, each in data.items()}
    with_nan = np.where(np.isin(np.arange(60), (7, 9))[:, None], np.nan, data["v"])
    cases = [
        ((system, still, ["link1.moment_about_origin[yy]"]), {}, mb.UsageError, "tell nothing"),
        ((system, {"q": data["q"]}), {}, mb.UsageError, "lacks 'v', 'vdot', 'efforts'"),
        ((system, {**data, "tau": 1}), {}, mb.NameUnknownError, "'tau'"),
        ((system, {**data, "v": data["v"][1:]}), {}, mb.ShapeError, "one length"),
        ((system, {**data, "t": data["v"]}), {}, mb.ShapeError, "one length"),
        (
            (system, {**data, "v": with_nan}),
            {},
            mb.NotFiniteError,
            r"'v'.* sample 7 has nan, and",
        ),
        ((system, {key: each[:0] for key, each in data.items()}), {}, mb.UsageError, "no samples"),
        ((system, data["q"]), {}, mb.UsageError, r"\{'q': q, .*got ndarray\.$"),
        ((system, {**data, "efforts": data["q"][:, 0]}), {}, mb.ShapeError, r"data\['efforts'\]"),
        ((system, data, ["link"]), {}, mb.NameUnknownError, "did you mean 'link1'"),
        ((system, data, "link1"), {}, mb.UsageError, "list of names"),
        ((system, data, []), {}, mb.UsageError, "list of names"),
        ((system, data), {"noise": [0.0]}, mb.UsageError, "positive"),
        ((system, data), {"noise": [1.0, 1.0]}, mb.UsageError, r"shape \(1,\)"),
        ((system, {key: each[:2] for key, each in data.items()}), {}, mb.UsageError, "too few"),
        ((system, data), {"consistent": 1}, mb.UsageError, "True or False"),
        ((None, data), {}, mb.UsageError, "System"),
    ]
    for given, named, error, words in cases:
        with pytest.raises(error, match=words):
            mb.identify(*given, **named)
    mech, _, loops = random_loops(rng, 4, ("revolute", "spherical"))
    with pytest.raises(mb.UsageError, match="loops"):
        mb.identify(closed(mech, loops), data)
    point = mb.Mechanism("point")
    bob = point.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    point.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), point.world, bob)
    with pytest.raises(mb.InertiaError, match="body 'bob'"):
        mb.identify(point.assemble(), data, consistent=True)


@pytest.mark.slow
@pytest.mark.compiled
def test_slopes_by_numbers_of_forces_are_exact():
    """Numbers and entries of numbers, of forces in which they are not linear, by complex steps."""
    rng = np.random.default_rng(31)
    mech, single = tree(rng)
    bodies = list(mech.bodies)
    mech.add_force(mb.DryFriction("rub", single[0], friction=0.5, smoothing=0.3))
    mech.add_force(mb.Drag("air", bodies[4], quadratic=0.3, wind=(0.1, 0.2, 0.3)))
    system = mech.assemble()
    states = [random_state(rng, system) for _ in range(3)]
    rows = {name: np.array([getattr(x, name) for x in states]) for name in ("q", "v", "vdot")}
    motion = Motion.of(system, rows | {"efforts": rows["v"]})
    unknown = Unknown.of(system, ["forces.rub.smoothing", "forces.rub.friction", "forces.air.wind"])
    found = exact_slopes(system, motion, unknown)
    expected = []
    for name in dict.fromkeys(each.path for each in unknown.forces):
        exact = ComplexEvaluation(system, "generalized_forces", [name])
        by = [exact.by({"q": x.q, "v": x.v}, name) for x in states]
        expected.append(np.reshape(by, (found.shape[0], -1)))
    expected = np.concatenate(expected, axis=1)
    assert found.shape == expected.shape == (3 * system.nv, 5)
    assert np.abs(found - expected).max() < 1e-13 * np.abs(expected).max()
