"""Leading axes: the same numbers as one by one, on all cores, with failures by index."""

from __future__ import annotations

import _thread
import os
import threading
import time
import warnings

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.compile import address_kernel
from mbkit.kernels.evaluation_form import EVALUATION
from mbkit.kernels.status import NOT_SOLVED, failure
from mbkit.systems.calls import lanes
from mbkit.systems.calls.evaluations import MOMENTA_IN_WORLD
from mbkit.systems.calls.shared_batches import SharedBatch
from mbkit.systems.forms.momentum_form import velocities_in_world
from tests.constraints.examples import IN_LANES, constrained
from tests.constraints.loops import random_loops
from tests.every_representation import REPRESENTATIONS
from tests.trees import MAKERS, random_inertia, random_mechanism, random_state

#: Groups of four or eight, the last of which is not full. By themselves they are few chunks.
COUNT = 70

#: The first sample of a part, which is in the middle of a group.
FIRST = 3


@pytest.fixture(scope="module", params=REPRESENTATIONS, ids=lambda each: each.name)
def case(request):
    """A tree of every kind of joint, and many states of it."""
    rng = np.random.default_rng(11)
    coordinates = mb.RelativeCoordinates(representation=request.param)
    system = random_mechanism(rng, len(MAKERS), reach=4).assemble(coordinates)
    states = [random_state(rng, system) for _ in range(COUNT)]
    names = ("q", "v", "vdot", "tau", "wrenches")
    return system, {name: np.array([getattr(s, name) for s in states]) for name in names}


#: Each method as a call of a system and its arguments by name.
METHODS = {
    "poses": lambda s, a, **k: s.poses(a["q"], **k),
    "twists": lambda s, a, **k: s.twists(a["q"], a["v"], **k),
    "accelerations": lambda s, a, **k: s.accelerations(a["q"], a["v"], a["vdot"], **k),
    "jacobian": lambda s, a, **k: s.jacobian(s.body_names[-1], a["q"], **k),
    "retract": lambda s, a, **k: s.retract(a["q"], a["v"], **k),
    "difference": lambda s, a, **k: s.difference(a["q"], a["q"][..., ::1], **k),
    "inverse_dynamics": lambda s, a, **k: s.inverse_dynamics(a["q"], a["v"], a["vdot"], **k),
    "loaded inverse_dynamics": lambda s, a, **k: s.inverse_dynamics(
        a["q"], a["v"], a["vdot"], a["wrenches"], **k
    ),
    "forward_dynamics": lambda s, a, **k: s.forward_dynamics(a["q"], a["v"], a["tau"], **k),
    "loaded forward_dynamics": lambda s, a, **k: s.forward_dynamics(
        a["q"], a["v"], a["tau"], a["wrenches"], **k
    ),
    "bias_force": lambda s, a, **k: s.bias_force(a["q"], a["v"], **k),
    "mass_matrix": lambda s, a, **k: s.mass_matrix(a["q"], **k),
    "mass_action": lambda s, a, **k: s.mass_action(a["q"], a["v"], **k),
}

WITHOUT_OUT = {
    "kinetic_energy": lambda s, a: s.kinetic_energy(a["q"], a["v"]),
    "potential_energy": lambda s, a: s.potential_energy(a["q"]),
    "momentum": lambda s, a: s.momentum(a["q"], a["v"]),
    "centre_of_mass": lambda s, a: s.centre_of_mass(a["q"]),
    "hybrid_dynamics": lambda s, a: np.stack(
        s.hybrid_dynamics(
            a["q"], a["v"], tau=a["tau"], vdot=a["vdot"], prescribed=s.joint_names[::2],
            wrenches=a["wrenches"],
        ),
        axis=-1,
    ),
}  # fmt: skip

#: Others, which single precision does not have.
IN_DOUBLES = {"motion_subspaces": lambda s, a: s.motion_subspaces(a["q"])}


def one(arguments, k):
    """The arguments of sample k."""
    return {name: rows[k] for name, rows in arguments.items()}


def from_first(arguments):
    """The arguments of the samples from `FIRST` on, which are in other groups and chunks."""
    return {name: rows[FIRST:] for name, rows in arguments.items()}


@address_kernel(EVALUATION)
def nothing_alone(_space, _option, _q, _v, _x, _out):
    """Stands for the function of one sample, where none is to be computed alone."""
    return failure(NOT_SOLVED, 0)


def in_lanes_alone(monkeypatch, call):
    """Return what a call returns where the function of one sample fails in batches in lanes.

    There is one batch at least that is in lanes.
    """
    alone, begin, widths = nothing_alone.address, SharedBatch.begin, []

    def begin_with(self, numbers, vectors, out):
        function = 5  # after limit, stops, count, chunks and width
        widths.append(numbers[function - 1])
        if widths[-1] > 1:
            numbers = *numbers[:function], alone, *numbers[function + 1 :]
        begin(self, numbers, vectors, out)

    with monkeypatch.context() as patch:
        patch.setattr(SharedBatch, "begin", begin_with)
        found = call()
    assert max(widths) > 1
    return found


#: What is computed one by one.
ONE_BY_ONE = ("poses", "retract", "difference")


@pytest.mark.usefixtures("two_threads")
@pytest.mark.some(8)
@pytest.mark.parametrize("method", [*METHODS, *WITHOUT_OUT, *IN_DOUBLES])
def test_a_batch_is_its_samples(case, method, monkeypatch):
    """Bit by bit, for one axis and for two, for a part and a batch of one; energies in lanes."""
    monkeypatch.setattr(lanes, "LEAST_STATES", COUNT - FIRST)
    system, arguments = case
    call = (METHODS | WITHOUT_OUT | IN_DOUBLES)[method]
    expected = np.array([call(system, one(arguments, k)) for k in range(COUNT)])
    if method in ONE_BY_ONE:
        found = call(system, arguments)
    else:
        found = in_lanes_alone(monkeypatch, lambda: call(system, arguments))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(call(system, from_first(arguments)), expected[FIRST:])
    alone = {name: rows[:1] for name, rows in arguments.items()}
    np.testing.assert_array_equal(call(system, alone), expected[:1])
    folded = {name: rows.reshape((7, 10, *rows.shape[1:])) for name, rows in arguments.items()}
    np.testing.assert_array_equal(
        call(system, folded), expected.reshape((7, 10, *expected.shape[1:]))
    )


#: Joints whose motion subspace is constant.
CONSTANT = ("revolute", "prismatic", "helical", "spherical", "free", "fixed", "translational")

#: Joints of which it has derivatives in closed form, or moves for each sample.
CHANGING = ("universal", "constant velocity", "rotation vector", "composite")

DERIVATIVES = {
    "inverse_dynamics": lambda s, a, **k: s.inverse_dynamics_derivatives(
        a["q"], a["v"], a["vdot"], **k
    ),
    "forward_dynamics": lambda s, a, **k: s.forward_dynamics_derivatives(
        a["q"], a["v"], a["tau"], **k
    ),
    "loaded inverse_dynamics": lambda s, a, **k: s.inverse_dynamics_derivatives(
        a["q"], a["v"], a["vdot"], a["wrenches"], **k
    ),
    "loaded forward_dynamics": lambda s, a, **k: s.forward_dynamics_derivatives(
        a["q"], a["v"], a["tau"], a["wrenches"], **k
    ),
}


@pytest.fixture(
    scope="module", params=[CONSTANT, CONSTANT + CHANGING], ids=["constant", "changing"]
)
def derivatives_case(request):
    """A tree of joints, some turned round, and many states of it."""
    rng = np.random.default_rng(12)
    system = random_mechanism(rng, 11, request.param, reach=4).assemble()
    assert system.arrays.has_constant_subspaces == (request.param == CONSTANT)
    states = [random_state(rng, system) for _ in range(COUNT)]
    names = ("q", "v", "vdot", "tau", "wrenches")
    return system, {name: np.array([getattr(s, name) for s in states]) for name in names}


def check_parts(call, system, arguments, monkeypatch):
    """Each part of the result of a batch is that of its samples; return the parts."""
    found = call(system, arguments)
    for k in range(COUNT):
        for all_of_them, alone in zip(found, call(system, one(arguments, k)), strict=True):
            np.testing.assert_array_equal(all_of_them[k], alone)
    again = in_lanes_alone(monkeypatch, lambda: call(system, arguments))
    part = call(system, from_first(arguments))
    for before, now, after_first in zip(found, again, part, strict=True):
        np.testing.assert_array_equal(now, before)
        np.testing.assert_array_equal(after_first, before[FIRST:])
    return found


@pytest.mark.usefixtures("two_threads")
@pytest.mark.some(2)
@pytest.mark.parametrize("method", DERIVATIVES)
def test_derivatives_of_a_batch_are_those_of_its_samples(derivatives_case, method, monkeypatch):
    """Bit by bit; one that is not finite spoils no other."""
    system, arguments = derivatives_case
    call = DERIVATIVES[method]
    found = check_parts(call, system, arguments, monkeypatch)
    broken = {**arguments, "v": arguments["v"].copy()}
    broken["v"][41, 2] = np.nan
    after = call(system, broken, on_error="nan")
    alone = call(system, one(broken, 41), on_error="nan")
    for before, now, spoilt in zip(found, after, alone, strict=True):
        np.testing.assert_array_equal(np.delete(now, 41, axis=0), np.delete(before, 41, axis=0))
        np.testing.assert_array_equal(now[41], spoilt)
        assert np.isnan(spoilt).any()


@pytest.mark.compiled  # dual numbers need it
@pytest.mark.parametrize("method", [name for name in DERIVATIVES if name.startswith("loaded")])
def test_derivatives_with_wrenches_are_exact_in_the_first_call_of_a_system(method):
    """Joints move on dual numbers there too, as in batches, and not by differences."""
    rng = np.random.default_rng(11)
    system = random_mechanism(rng, len(MAKERS), reach=4).assemble()
    states = [random_state(rng, system) for _ in range(8)]
    names = ("q", "v", "vdot", "tau", "wrenches")
    arguments = {name: np.array([getattr(each, name) for each in states]) for name in names}
    first = [DERIVATIVES[method](system, one(arguments, k)) for k in range(len(states))]
    found = DERIVATIVES[method](system, arguments)
    for of_all, each in zip(found, zip(*first, strict=True), strict=True):
        np.testing.assert_array_equal(of_all, np.array(each))


MORE_DERIVATIVES = {
    "mass matrix": lambda s, a: (s.mass_matrix_derivatives(a["q"]),),
    "second": lambda s, a: s.inverse_dynamics_second_derivatives(
        a["q"], a["v"], a["vdot"], a["wrenches"]
    ),
}


@pytest.mark.usefixtures("two_threads")
@pytest.mark.long  # a minute of compiling; by Python: test_uncompiled_lanes.py
@pytest.mark.compiled
@pytest.mark.parametrize("method", MORE_DERIVATIVES)
def test_more_derivatives_of_a_batch_are_those_of_its_samples(
    derivatives_case, method, monkeypatch
):
    """Bit by bit; second ones are compiled for larger batches alone."""
    monkeypatch.setattr(lanes, "LEAST_CLOSED", 1)
    check_parts(MORE_DERIVATIVES[method], *derivatives_case, monkeypatch)


#: What asks for rates of motion subspaces.
OF_RATES = {
    "coriolis_matrix": lambda s, a, **k: s.coriolis_matrix(a["q"], a["v"], **k),
    "mass_matrix_rate": lambda s, a, **k: s.mass_matrix_rate(a["q"], a["v"], **k),
    "inertial_regressor": lambda s, a, **k: s.inertial_regressor(a["q"], a["v"], a["vdot"], **k),
    "christoffel": lambda s, a, **k: s.christoffel(a["q"], **k),
    "canonical_forward_dynamics": lambda s, a, **k: np.stack(
        mb.MomentumForm(s).canonical_forward_dynamics(a["q"], a["v"], a["tau"], **k), axis=-1
    ),
    "velocities of momenta in the world": lambda s, a, **k: velocities_in_world(
        s.evaluator, a["q"], a["v"]
    ),
}


@pytest.fixture(scope="module", params=REPRESENTATIONS, ids=lambda each: each.name)
def changing_case(request):
    """A tree of all joints, and states, some of them at rest."""
    rng = np.random.default_rng(13)
    coordinates = mb.RelativeCoordinates(representation=request.param)
    system = random_mechanism(rng, len(MAKERS), reach=4).assemble(coordinates)
    states = [random_state(rng, system) for _ in range(COUNT)]
    names = ("q", "v", "vdot", "tau", "wrenches")
    arguments = {name: np.array([getattr(s, name) for s in states]) for name in names}
    arguments["v"][5:9] = 0.0
    arguments["v"][20:30, rng.integers(0, system.nv, 10)] = 0.0
    return system, arguments


def check_samples(call, system, arguments, monkeypatch):
    """Results of a batch are those of its samples, also beside one that is not finite."""
    count = len(arguments["q"])
    expected = np.array([call(system, one(arguments, k)) for k in range(count)])
    np.testing.assert_array_equal(call(system, arguments), expected)
    np.testing.assert_array_equal(call(system, from_first(arguments)), expected[FIRST:])
    broken, bad = {**arguments, "v": arguments["v"].copy()}, min(41, count - 8)
    broken["v"][bad] = np.nan
    found = call(system, broken, on_error="nan")
    np.testing.assert_array_equal(np.delete(found, bad, axis=0), np.delete(expected, bad, axis=0))
    again = in_lanes_alone(monkeypatch, lambda: call(system, arguments))
    np.testing.assert_array_equal(again, expected)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.some(5)
@pytest.mark.compiled  # in Python that takes minutes: see test_uncompiled_lanes.py
@pytest.mark.parametrize("method", OF_RATES)
def test_what_asks_for_rates_of_subspaces_is_in_a_batch_what_it_is_of_samples(
    changing_case, method, monkeypatch
):
    """Bit by bit; one that is not finite spoils no other. Christoffel symbols are many numbers."""
    monkeypatch.setattr(lanes, "MOST_ENTRIES", {})
    system, arguments = changing_case
    if method == "christoffel":
        arguments = {name: rows[:27] for name, rows in arguments.items()}
    check_samples(OF_RATES[method], system, arguments, monkeypatch)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.compiled  # see there
@pytest.mark.parametrize("rates", [True, False], ids=["velocities", "momenta"])
def test_momenta_in_the_world_are_in_a_batch_what_they_are_of_samples(rates, monkeypatch):
    """Of joints on the world which have momenta of their own there, and of one that has none."""
    rng = np.random.default_rng(15)
    mech = mb.Mechanism("forest")
    for kind in ("free", "spherical", "Schoenflies", "planar, second kind", "universal"):
        for parent, name, own in (("world", kind, kind), (kind, f"{kind} child", "revolute")):
            mech.add_body(mb.Body(name, random_inertia(rng)))
            mech.add_joint(MAKERS[own](rng, f"of {name}"), parent, name)
    system = mech.assemble()
    states = [random_state(rng, system) for _ in range(COUNT)]
    arguments = {name: np.array([getattr(each, name) for each in states]) for name in "qv"}

    def call(system, a, **k):
        if rates:
            return velocities_in_world(system.evaluator, a["q"], a["v"])
        roots = system.evaluator.root_motions.address
        return system.evaluator.compute(MOMENTA_IN_WORLD, a["q"], a["v"], option=roots, **k)

    check_samples(call, system, arguments, monkeypatch)


#: Series of higher order.
OF_SERIES = {
    "jerks": lambda s, a, **k: s.jerks(a["q"], a["v"], a["vdot"], a["tau"], **k),
    "body_derivatives": lambda s, a, **k: s.body_derivatives(
        a["q"], np.stack([a["v"], a["vdot"], a["tau"], a["v"]], axis=-2), **k
    ),
    "jacobian_rate": lambda s, a, **k: s.jacobian_rate(
        s.body_names[-1], a["q"], a["v"], a["vdot"], **k
    ),
    "inverse_dynamics_rate": lambda s, a, **k: s.inverse_dynamics_rate(
        a["q"], a["v"], a["vdot"], a["tau"], **k
    ),
    "motion_subspace_rates": lambda s, a, **k: s.motion_subspace_rates(
        a["q"], a["v"], a["vdot"], **k
    ),
}


@pytest.fixture(scope="module", params=REPRESENTATIONS, ids=lambda each: each.name)
def series_case(request):
    """A tree of joints, some turned round, and many states of it."""
    rng = np.random.default_rng(14)
    coordinates = mb.RelativeCoordinates(representation=request.param)
    system = random_mechanism(rng, 11, CONSTANT + CHANGING, reach=4).assemble(coordinates)
    states = [random_state(rng, system) for _ in range(COUNT)]
    names = ("q", "v", "vdot", "tau")
    return system, {name: np.array([getattr(s, name) for s in states]) for name in names}


@pytest.mark.usefixtures("two_threads")
@pytest.mark.some(4)
@pytest.mark.compiled  # in Python that takes minutes: see test_uncompiled_lanes.py
@pytest.mark.parametrize("method", OF_SERIES)
def test_series_of_a_batch_are_those_of_its_samples(series_case, method, monkeypatch):
    """Bit by bit; one that is not finite spoils no other."""
    check_samples(OF_SERIES[method], *series_case, monkeypatch)


#: What looks at constraints, in the same way.
OF_CONSTRAINTS = {
    "residual": lambda s, a, **k: s.constraint_residual(a["q"], a["t"], **k),
    "velocity": lambda s, a, **k: s.constraint_velocity(a["q"], a["v"], a["t"], **k),
    "acceleration": lambda s, a, **k: s.constraint_acceleration(
        a["q"], a["v"], a["vdot"], a["t"], **k
    ),
    "jacobian": lambda s, a, **k: s.constraint_jacobian(a["q"], a["t"], **k),
    "sizes": lambda s, a: s.constraint_sizes(a["q"], a["v"], a["t"]),
}

#: Joints that close loops: one screw, motions with lanes and without, and no motion.
LOOPS = ("revolute", "helical", "prismatic", "spherical", "universal", "planar", "angles", "fixed")


def _loops(rng, coordinates):
    """Return loops that are closed at a configuration, and that."""
    mech, q, names = random_loops(rng, 6, LOOPS, CONSTANT)
    if coordinates == "absolute":
        system = mech.assemble(mb.AbsoluteCoordinates())
        return system, system.reference_configuration()
    return mech.assemble(mb.RelativeCoordinates(loop_joints=names)), q


@pytest.fixture(scope="module", params=["relative", "absolute", "constraints"])
def closed_case(request):
    """A system with constraints, and states: the first near to where some hold, others anywhere."""
    rng = np.random.default_rng(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        system, q = (
            constrained(IN_LANES) if request.param == "constraints" else _loops(rng, request.param)
        )
    size = np.where(np.arange(COUNT) < COUNT // 2, 1e-3, 1.0)[:, None]
    states = system.retract(q, size * rng.normal(size=(COUNT, system.ndx)))
    motions = rng.normal(size=(2, COUNT, system.nv))
    arguments = {"q": states, "v": motions[0], "vdot": motions[1]}
    return system, {**arguments, "t": rng.uniform(-0.5, 2.0, COUNT)}


@pytest.mark.usefixtures("two_threads")
@pytest.mark.some(3)
@pytest.mark.parametrize("method", OF_CONSTRAINTS)
def test_constraints_of_a_batch_are_those_of_its_samples(closed_case, method, monkeypatch):
    """Bit by bit, where all are nearly closed, where none is, and where some are; in lanes."""
    monkeypatch.setattr(lanes, "MOST_ENTRIES", {})
    system, arguments = closed_case
    call = OF_CONSTRAINTS[method]
    expected = np.array([call(system, one(arguments, k)) for k in range(COUNT)])
    found = in_lanes_alone(monkeypatch, lambda: call(system, arguments))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(call(system, from_first(arguments)), expected[FIRST:])


def test_the_sample_at_which_a_constraint_fails_is_named(closed_case):
    """The others keep their bits."""
    system, arguments = closed_case
    expected = system.constraint_jacobian(arguments["q"])
    q = arguments["q"].copy()
    q[41] = np.nan
    found = system.constraint_jacobian(q, on_error="nan")
    np.testing.assert_array_equal(np.delete(found, 41, 0), np.delete(expected, 41, 0))
    assert np.isnan(found[41]).any()


@pytest.mark.some(4)
@pytest.mark.parametrize("method", METHODS)
def test_a_batch_is_written_to_out(case, method):
    """Which must fit, with its leading axes."""
    system, arguments = case
    expected = METHODS[method](system, arguments)
    out = np.empty_like(expected)
    assert METHODS[method](system, arguments, out=out) is out
    np.testing.assert_array_equal(out, expected)
    with pytest.raises(mb.ShapeError, match=rf"'out' must be .* shape \({COUNT}, "):
        METHODS[method](system, arguments, out=expected[0].copy())


def test_leading_axes_broadcast(case):
    """One configuration, many velocities; a grid of both."""
    system, arguments = case
    q, v, vdot = (arguments[name] for name in ("q", "v", "vdot"))
    found = system.inverse_dynamics(q[0], v, vdot)
    for k in (0, 1, COUNT - 1):
        np.testing.assert_array_equal(found[k], system.inverse_dynamics(q[0], v[k], vdot[k]))
    grid = system.inverse_dynamics(q[:3, None], v[:4], vdot[0])
    assert grid.shape == (3, 4, system.nv)
    np.testing.assert_array_equal(grid[2, 1], system.inverse_dynamics(q[2], v[1], vdot[0]))
    with pytest.raises(mb.ShapeError, match=r"do not broadcast: q \(3,\), v \(4,\)"):
        system.twists(q[:3], v[:4])


def test_an_empty_batch_has_an_empty_result(case):
    """No samples, no results, no error."""
    system, arguments = case
    none = {name: rows[:0] for name, rows in arguments.items()}
    assert system.mass_matrix(none["q"]).shape == (0, system.nv, system.nv)
    assert system.forward_dynamics(none["q"], none["v"]).shape == (0, system.nv)


def test_a_failing_sample_is_named_and_the_others_are_returned_on_request(case):
    """By its index in the batch axes; the first of several."""
    system, arguments = case
    q, v, tau = (arguments[name].copy() for name in ("q", "v", "tau"))
    tau[[33, 60]] = np.nan
    with pytest.raises(mb.NotFiniteError, match=r"tau\[0\] of joint .* is nan.*At sample \(33,\)"):
        system.forward_dynamics(q, v, tau)
    shaped = [rows.reshape((7, 10, -1)) for rows in (q, v, tau)]
    with pytest.raises(mb.NotFiniteError, match=r"At sample \(3, 3\)"):
        system.forward_dynamics(*shaped)
    found = system.forward_dynamics(q, v, tau, on_error="nan")
    good = np.delete(np.arange(COUNT), [33, 60])
    assert np.isnan(found[[33, 60]]).all()
    np.testing.assert_array_equal(found[good], system.forward_dynamics(q[good], v[good], tau[good]))
    assert np.isnan(system.forward_dynamics(q[33], v[33], tau[33], on_error="nan")).all()
    with pytest.raises(mb.UsageError, match="on_error must be 'raise' or 'nan', got 'skip'"):
        system.forward_dynamics(q, v, tau, on_error="skip")


def test_typed_values_are_of_one_sample(case):
    """A tuple of twists has no batch axes."""
    system, arguments = case
    with pytest.raises(mb.UsageError, match=r"one sample, and .* shapes \(70, "):
        system.twists(arguments["q"], arguments["v"], typed=True)


@attrs.frozen
class Fragile(mb.Joint):
    """A slide along x that breaks where it is told, in Python."""

    name: str
    breaks_at: float
    error: type[BaseException] = ValueError

    num_positions = 1
    num_velocities = 1

    def pose(self, q):
        """Shift along x."""
        if q[0] == self.breaks_at:
            raise self.error(f"broken at {q[0]}")
        return mb.spatial.translation((q[0], 0.0, 0.0))

    def motion_subspace(self, q):
        """Along x."""
        return np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]).T

    def bias(self, q, v):
        """None."""
        return np.zeros(6)


def fragile_system(error=ValueError):
    """A ball on a fragile slide."""
    mech = mb.Mechanism("fragile")
    ball = mech.add_body(mb.Body("ball", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(Fragile("slide", 5.0, error), mech.world, ball)
    return mech.assemble()


def test_an_exception_of_a_joint_in_python_comes_out_as_itself():
    """With the joint's name and the sample's index; the others are there on request."""
    system = fragile_system()
    q = np.arange(40.0)[:, None]
    v, tau = np.zeros((40, 1)), np.ones((40, 1))
    with pytest.raises(ValueError, match=r"broken at 5\.0") as caught:
        system.forward_dynamics(q, v, tau)
    notes = "".join(caught.value.__notes__)
    assert "joint 'slide'" in notes
    assert "sample (5,)" in notes
    found = system.forward_dynamics(q, v, tau, on_error="nan")
    assert np.flatnonzero(np.isnan(found[:, 0])).tolist() == [5]


def test_ctrl_c_in_a_joint_is_never_a_number():
    """Whatever was asked to happen to samples that fail."""
    system = fragile_system(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        system.forward_dynamics(np.arange(9.0)[:, None], np.zeros(1), on_error="nan")
    with pytest.raises(KeyboardInterrupt):
        system.forward_dynamics(np.array([5.0]), np.zeros(1), on_error="nan")


@attrs.frozen
class Watched(Fragile):
    """Notes the threads in which it is evaluated."""

    threads: set[int] = attrs.field(factory=set, eq=False)

    def bias(self, q, v):
        """None."""
        self.threads.add(threading.get_ident())
        return np.zeros(6)


def test_joints_in_python_run_in_the_thread_that_calls():
    """Others would only wait for the interpreter."""
    mech = mb.Mechanism("watched")
    ball = mech.add_body(mb.Body("ball", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    joint = Watched("slide", -1.0)
    mech.add_joint(joint, mech.world, ball)
    mech.assemble().forward_dynamics(np.arange(2000.0)[:, None], np.zeros(1))
    assert joint.threads == {threading.get_ident()}


@pytest.mark.some(4)
@pytest.mark.compiled  # uncompiled, a batch is computed by one thread
def test_batches_of_several_threads_have_the_bits_of_one(case):
    """They share the threads that wait for batches; who finds them busy computes alone."""
    system, arguments = case
    q, v, tau = (np.tile(arguments[name], (40, 1)) for name in ("q", "v", "tau"))
    expected = system.forward_dynamics(q, v, tau)
    wrong = []

    def work(last):
        for _ in range(30):
            found = system.forward_dynamics(q[:last], v[:last], tau[:last])
            wrong.extend([last] * (not np.array_equal(found, expected[:last])))

    threads = [threading.Thread(target=work, args=(len(q) - k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_thread_that_comes_late_computes_nothing(case):
    """It was called for a batch that has ended; the memory is that of the next one."""
    from mbkit.kernels.calls.chunks import batch_one_by_one, take_part
    from mbkit.systems.calls.evaluations import MASS_MATRIX
    from mbkit.systems.calls.shared_batches import SharedBatch
    from mbkit.systems.calls.waiting_threads import end

    system, arguments = case
    evaluator, q, none = system.evaluator, arguments["q"], np.zeros((1, 0))
    function, draw = evaluator.function(MASS_MATRIX), batch_one_by_one.address
    out, workspace = np.zeros((len(q), system.nv**2)), evaluator.take()
    called = len(q), 1, len(q), 5, 1, function, 0, 0, 0, 0, 0
    seats = []
    for _ in range(2):
        shared = SharedBatch.take()
        shared.begin(called, (q, none, none, none), out)
        seats.append((shared.sit(0, workspace.address, ()), shared.number))
        end(shared)
        assert take_part(draw, *seats[-1]) == 0
        shared.give_back()
    assert SharedBatch.take() is shared
    shared.begin(called, (q, none, none, none), out)
    assert take_part(draw, *seats[0]) == take_part(draw, *seats[1]) == 0
    assert not out.any()
    own = shared.sit(0, workspace.address, ())
    assert [take_part(draw, own, shared.number) for _ in range(6)] == [1] * 5 + [0]
    end(shared)
    shared.give_back()
    np.testing.assert_array_equal(out.reshape(-1, system.nv, system.nv), system.mass_matrix(q))


def heavy_batch():
    """A batch that takes a good part of a second, and room for its result."""
    rng = np.random.default_rng(3)
    system = random_mechanism(rng, 20, ("revolute", "spherical"), reach=2).assemble()
    q = np.tile(system.reference_configuration(), (200_000, 1))
    return system, q, np.full((len(q), system.nv), np.nan)


def test_ctrl_c_stops_all_threads():
    """Nothing is written any more once the caller has the array back."""
    system, q, out = heavy_batch()

    def press():
        while np.isnan(out[0, 0]):
            time.sleep(1e-4)
        _thread.interrupt_main()

    def batch():
        threading.Thread(target=press).start()
        system.bias_force(q, np.zeros(system.nv), out=out)
        time.sleep(1.0)  # should the batch have been faster

    with pytest.raises(KeyboardInterrupt):
        batch()
    there = out.copy()
    time.sleep(0.2)
    np.testing.assert_array_equal(out, there)
    assert np.isnan(there[:, 0]).any()


def test_the_first_failure_stops_all_threads():
    """What comes after it is not computed by whoever is behind."""
    system, q, out = heavy_batch()
    q[3] = np.nan
    with pytest.raises(mb.NotFiniteError, match=r"sample \(3,\)"):
        system.forward_dynamics(q, np.zeros(system.nv), out=out)
    assert np.isnan(out[:, 0]).sum() > 0.5 * len(out)


def test_workspaces_come_back_after_failures(case):
    """A batch that fails costs no memory."""
    system, arguments = case
    tau = arguments["tau"].copy()
    tau[5] = np.nan
    pool = system.evaluator._pool
    system.forward_dynamics(arguments["q"], arguments["v"], arguments["tau"])
    count = len(pool)
    for _ in range(5):
        with pytest.raises(mb.NotFiniteError):
            system.forward_dynamics(arguments["q"], arguments["v"], tau)
    assert len(pool) <= count + 2


@pytest.mark.long
@pytest.mark.compiled  # in Python 7000 states take longer than it waits for the child
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_batch_runs_in_a_forked_process(case):
    """Threads do not survive a fork; the child makes its own."""
    system, arguments = case
    q = np.repeat(arguments["q"], 100, axis=0)
    expected = system.mass_matrix(q)
    child = os.fork()
    if child == 0:
        good = np.array_equal(system.mass_matrix(q), expected)
        os._exit(0 if good else 1)
    for _ in range(300):
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child waits for threads that it does not have")
    assert os.waitstatus_to_exitcode(code) == 0


@pytest.mark.parametrize(
    "method",
    [
        lambda s, q, a: s.energies(q, a["v"], on_error="nan")[0],
        lambda s, q, a: s.momentum(q, a["v"], on_error="nan"),
        lambda s, q, a: s.centre_of_mass(q, on_error="nan"),
        lambda s, q, a: s.hybrid_dynamics(q, a["v"], on_error="nan")[0],
        lambda s, q, a: s.motion_subspaces(q, on_error="nan"),
        lambda s, q, a: s.retract(q, a["v"], on_error="nan"),
    ],
    ids=["energies", "momentum", "centre_of_mass", "hybrid_dynamics", "subspaces", "retract"],
)
def test_every_method_returns_the_others(case, method):
    """A quaternion that is none fails in its sample alone."""
    system, arguments = case
    sizes = ((j.name, j.num_positions, j.num_velocities) for j in system.arrays.joints[1:])
    spherical = next(name for name, nq, nv in sizes if (nq, nv) == (4, 3))
    q = arguments["q"].copy()
    q[7, system.position_slice(spherical)] *= 2.0
    found = method(system, q, arguments).reshape(COUNT, -1)
    assert np.flatnonzero(np.isnan(found).all(axis=1)).tolist() == [7]
    alone = method(system, q[7], one(arguments, 7))
    assert np.isnan(alone).all()
