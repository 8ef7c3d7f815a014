"""Batches in single precision: errors by the size of results, cuts, failures, refusals."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import mbkit as mb
from mbkit.systems.calls import batches
from tests.constraints.closed_mechanisms import four_bar
from tests.every_representation import REPRESENTATIONS, representations_in_turn
from tests.forces import cases as forces
from tests.systems.test_batches import CHANGING, CONSTANT, DERIVATIVES, METHODS, WITHOUT_OUT
from tests.trees import MAKERS, random_mechanism, random_state

COUNT = 70

#: Kinds that turn, without those whose coordinates are singular somewhere.
TURNING = (
    "revolute", "helical", "spherical", "planar", "constant velocity", "rotation vector",
    "planar, first kind", "screw coordinates", "free",
)  # fmt: skip


def states_of(system, rng, count=COUNT):
    """Arguments of all methods, one state a row."""
    states = [random_state(rng, system) for _ in range(count)]
    names = ("q", "v", "vdot", "tau", "wrenches")
    return {name: np.array([getattr(s, name) for s in states]) for name in names}


def tree(representation, kinds=tuple(MAKERS), seed=11):
    """A tree of these joints in misaligned frames, and states of it."""
    rng = np.random.default_rng(seed)
    coordinates = mb.RelativeCoordinates(representation=representation)
    system = random_mechanism(rng, len(kinds), kinds, reach=4).assemble(coordinates)
    return system, states_of(system, rng)


def errors(found, expected):
    """Norms of the errors of all samples, by the norms of what is expected."""
    assert found.dtype == np.float32
    found, expected = (each.reshape(len(each), -1).astype(float) for each in (found, expected))
    return np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)


DIRECT = {
    name: call
    for name, call in {**METHODS, **WITHOUT_OUT}.items()
    if name not in ("retract", "difference", "mass_action", "hybrid_dynamics")
    and "forward" not in name
}


@pytest.mark.long
@representations_in_turn("call", DIRECT)
def test_errors_are_some_roundings(call, representation):
    """Of every joint; measured: 6e-7, and 3e-6 where energies nearly cancel."""
    system, arguments = tree(representation)
    found = call(Named(system), arguments)
    assert errors(found, call(system, arguments)).max() < 1e-5


class Named:
    """A system in single precision, with the names that the tests of batches ask a system for."""

    def __init__(self, system):
        self.body_names, self.joint_names = system.body_names, system.joint_names
        self.single = system.in_single_precision()

    def __getattr__(self, name):
        return getattr(self.single, name)


@pytest.mark.long
@representations_in_turn("name", {"plain": "forward_dynamics", "loaded": "loaded forward_dynamics"})
def test_errors_of_accelerations_are_roundings_times_the_condition_of_the_mass_matrix(
    name, representation
):
    """Of 5e7 at most here, so that few digits may be left: errors are up to 1e-2."""
    system, arguments = tree(representation)
    found = METHODS[name](Named(system), arguments)
    expected = METHODS[name](system, arguments)
    condition = np.linalg.cond(system.mass_matrix(arguments["q"]))
    assert (errors(found, expected) / condition).max() < np.finfo(np.float32).eps
    assert np.median(errors(found, expected)) < 1e-3


@pytest.mark.long
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_errors_of_derivatives_are_some_roundings(name):
    """Measured: 1e-6 and, by the condition of M, 7e-6."""
    system, arguments = tree(REPRESENTATIONS[0], CONSTANT, 12)
    found = DERIVATIVES[name](system.in_single_precision(), arguments)
    for single, double in zip(found, DERIVATIVES[name](system, arguments), strict=True):
        assert errors(single, double).max() < 5e-5


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", CHANGING)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_are_rounded_doubles_where_motion_subspaces_change(name, kind):
    """In single precision one of them had an error of its own size."""
    system, arguments = tree(REPRESENTATIONS[0], (*CONSTANT, kind), 12)
    found = DERIVATIVES[name](system.in_single_precision(), arguments)
    for single, double in zip(found, DERIVATIVES[name](system, arguments), strict=True):
        assert single.dtype == np.float32
        np.testing.assert_array_equal(single, double.astype(np.float32))


@pytest.mark.parametrize("angle", [0.0, 1e-5, 1e-3, 1e-2, np.pi - 1e-3, np.pi, np.pi + 1e-5])
def test_small_angles_and_half_turns_have_no_larger_errors(angle):
    """Of all coordinates of every joint at once."""
    system, arguments = tree(REPRESENTATIONS[0], TURNING, 13)
    rng = np.random.default_rng(14)
    steps = rng.normal(size=(20, system.ndx))
    for name in system.joint_names:
        joint = system.tangent_slice(name)
        steps[:, joint] /= np.linalg.norm(steps[:, joint], axis=1)[:, None]
    q = system.retract(system.reference_configuration(), angle * steps)
    v, vdot = arguments["v"][:20], arguments["vdot"][:20]
    single = system.in_single_precision()
    for name in ("poses", "twists", "inverse_dynamics"):
        rows = (q, v, vdot)[: {"poses": 1, "twists": 2}.get(name, 3)]
        assert errors(getattr(single, name)(*rows), getattr(system, name)(*rows)).max() < 2e-6


@pytest.mark.some(3)
@pytest.mark.compiled
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_results_do_not_depend_on_cuts_and_threads(name, monkeypatch):
    """Bit by bit; and arguments may be of single precision themselves."""
    system, arguments = tree(REPRESENTATIONS[0])
    call = getattr(system.in_single_precision(), name)
    rows = [arguments["q"], arguments["v"], arguments["tau"]][: 1 if name == "mass_matrix" else 3]
    rows = [each.astype(np.float32) for each in rows]
    whole = call(*rows)
    for first, last in ((0, 1), (3, 36), (17, 34), (5, 69)):
        np.testing.assert_array_equal(call(*(x[first:last] for x in rows)), whole[first:last])
    monkeypatch.setattr(batches, "cores", lambda: 2)
    monkeypatch.setattr(batches, "SMALLEST_CHUNK", 1)
    np.testing.assert_array_equal(call(*(x.astype(float) for x in rows)), whole)
    grid = [x.reshape(7, 10, -1) for x in rows]
    np.testing.assert_array_equal(call(*grid).reshape(whole.shape), whole)
    if len(rows) > 1:
        shared = call(rows[0][4], rows[1][4], rows[2])
        each = [call(*(x[None] for x in (rows[0][4], rows[1][4], last)))[0] for last in rows[2]]
        np.testing.assert_array_equal(shared, each)


@pytest.mark.parametrize(
    "kinds", [("friction", "spline", "bushing"), pytest.param((), marks=pytest.mark.long)]
)
def test_forces_have_errors_of_some_roundings(kinds):
    """Functions of the library, tables, and a bushing that has not turned, at the reference."""
    rng = np.random.default_rng(15)
    mech, names = forces.tree(rng, 8)
    every = forces.every_force(rng, mech, names)
    chosen = [each for each in every if each.name in (kinds or (each.name,))]
    system = mech.assemble().with_forces(chosen)
    arguments = states_of(system, rng)
    q, v, tau = (arguments[name] for name in ("q", "v", "tau"))
    q[::5] = system.reference_configuration()
    t = np.linspace(0.0, 2.0, COUNT)
    single = system.in_single_precision()
    found, expected = single.generalized_forces(q, v, t), system.generalized_forces(q, v, t)
    size = np.linalg.norm(expected, axis=1).max()
    assert np.linalg.norm(found - expected, axis=1).max() < 1e-6 * size
    found = single.inverse_dynamics(q, v, tau, t=t)
    assert errors(found, system.inverse_dynamics(q, v, tau, t=t)).max() < 1e-5


def wire(radius):
    """A wire of 1 kg and 1 m that turns about its own axis at the end of an arm."""
    mech = mb.Mechanism("wire")
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.box(1.0, size=(0.5, 0.1, 0.1))))
    moment = np.diag([0.5 * radius**2, 1 / 12, 1 / 12])
    own = mb.SpatialInertia.from_com(1.0, (0, 0, 0), moment)
    rod = mech.add_body(mb.Body("rod", own))
    mech.add_joint(mb.RevoluteJoint("shoulder", axis=(0, 0, 1)), mech.world, arm)
    mech.add_joint(mb.RevoluteJoint("roll", axis=(1, 0, 0), point=(0.5, 0, 0)), arm, rod)
    return mech.assemble()


def test_inertias_that_would_be_rounding_are_those_of_doubles():
    """The roll of a thin wire, of 3e-6 of the wire's inertia, has all digits of a float32."""
    system, rng = wire(radius=1e-3), np.random.default_rng(16)
    q, v, tau = rng.normal(size=(3, 40, 2))
    found = system.in_single_precision().forward_dynamics(q, v, tau)
    expected = system.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(("name", "factor"), [("v", 1e22), ("x", 1e42), ("q", 1e42)])
@pytest.mark.parametrize("what", ["inverse_dynamics", "forward_dynamics"])
def test_what_leaves_the_range_of_a_float32_is_rounded_doubles(what, name, factor):
    """Where the square of a velocity does, or an argument, in some samples; others keep theirs."""
    system, rng = wire(radius=0.2), np.random.default_rng(17)
    arguments = dict(zip("qvx", rng.normal(size=(3, 40, 2)), strict=True))
    single = getattr(system.in_single_precision(), what)
    before = single(*arguments.values())
    large = [3, 17, 18, 39]
    arguments[name][large, 0] *= factor
    found, expected = single(*arguments.values()), getattr(system, what)(*arguments.values())
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found[large], expected[large].astype(np.float32))
    np.testing.assert_array_equal(np.delete(found, large, 0), np.delete(before, large, 0))


def test_failures_are_named_by_sample():
    """What is not finite, and what has no inertia; the others keep their bits."""
    system, arguments = tree(REPRESENTATIONS[0])
    single = system.in_single_precision()
    q, v, tau = (arguments[name].copy() for name in ("q", "v", "tau"))
    expected = single.forward_dynamics(q, v, tau)
    tau[[33, 60], 2] = np.nan
    with pytest.raises(mb.NotFiniteError, match=r"tau\[2\] of joint .* is nan.*At sample \(33,\)"):
        single.forward_dynamics(q, v, tau)
    found = single.forward_dynamics(q, v, tau, on_error="nan")
    assert np.isnan(found[[33, 60]]).all()
    np.testing.assert_array_equal(
        np.delete(found, [33, 60], axis=0), np.delete(expected, [33, 60], axis=0)
    )
    axis, point = np.array([0.3, -0.5, 0.8]), np.array([0.2, 0.1, 0.4])
    mech = mb.Mechanism("point on axis")
    arm = mech.add_body(mb.Body("arm"))
    tip = mb.SpatialInertia.from_com(mass=1.0, com=point + 0.3 * axis)
    mass = mech.add_body(mb.Body("mass", tip))
    mech.add_joint(mb.RevoluteJoint("turn", axis=axis, point=point), mech.world, arm)
    mech.add_joint(mb.PrismaticJoint("slide", axis=axis), arm, mass)
    single = mech.assemble().in_single_precision()
    with pytest.raises(mb.SingularMassMatrixError, match=r"'turn' can move .*At sample \(0,\)"):
        single.forward_dynamics(q[:, :2], v[:, :2])


def test_what_comes_back_and_what_is_written_to_is_float32():
    """Of batches; a single sample is computed in double precision."""
    system, arguments = tree(REPRESENTATIONS[0])
    single, q, v = system.in_single_precision(), arguments["q"], arguments["v"]
    out = np.empty((COUNT, system.nv), np.float32)
    assert single.bias_force(q, v, out=out) is out
    np.testing.assert_array_equal(out, single.bias_force(q, v))
    with pytest.raises(mb.ShapeError, match=r"float32 array .*numpy.empty\(\(70, 57\), numpy"):
        single.bias_force(q, v, out=np.empty(out.shape))
    np.testing.assert_array_equal(single.bias_force(q[0], v[0]), system.bias_force(q[0], v[0]))
    np.testing.assert_array_equal(
        single.bias_force(q[0].astype(np.float32), v[0]),
        system.bias_force(q[0].astype(np.float32), v[0]),
    )


def test_it_says_what_it_is_and_survives_a_pickle():
    """With the methods of a system that compute batches, and no others."""
    system, arguments = tree(REPRESENTATIONS[0], ("revolute", "helical"))
    single = system.in_single_precision()
    assert repr(single) == f"{system!r}.in_single_precision()"
    assert copy.deepcopy(single) is single
    again = pickle.loads(pickle.dumps(single))  # noqa: S301
    np.testing.assert_array_equal(again.poses(arguments["q"]), single.poses(arguments["q"]))
    assert "poses" in dir(single)
    with pytest.raises(AttributeError, match=r"no 'linearize'.*'poses'.*'system'"):
        single.linearize()


def test_what_needs_more_digits_is_refused_by_name():
    """Constraints, and joints whose motion is prescribed."""
    with pytest.raises(mb.ConstraintError, match=r"multipliers of constraint '.*astype"):
        four_bar().assemble().in_single_precision()
    mech = random_mechanism(np.random.default_rng(1), 2, ("revolute",))
    crank = mech.add_body(mb.Body("crank", mb.SpatialInertia.box(1.0, size=(0.3, 0.5, 0.7))))
    mech.add_joint(mb.RevoluteJoint("motor").prescribe("sin(t)"), mech.world, crank)
    with pytest.raises(mb.ConstraintError, match="joint 'motor' is prescribed"):
        mech.assemble().in_single_precision()
