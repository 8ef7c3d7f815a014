"""Second derivatives of inverse dynamics, and derivatives of the mass matrix and its inverse."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import mpmath
import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.systems import second_forty_digits
from tests.systems.complex_steps import ComplexEvaluation
from tests.systems.every_joint import CARDAN, SKATE, behind
from tests.systems.test_mass_factor import ancestors
from tests.trees import MAKERS, random_mechanism, random_state

ROOT = pathlib.Path(__file__).parents[2]

#: What differences of first derivatives leave, whose own joints are differentiated by differences.
NUMERIC = 2e-10
#: Of the largest entry, where everything is exact.
EXACT = 1e-12


def by_entries(function, count):
    """Return the derivatives of function(x) at 0 by the entries of x, on a last axis."""
    rates = [derivative(lambda e, unit=unit: function(e * unit)) for unit in np.eye(count)]
    return np.moveaxis(np.array(rates), 0, -1)


def in_chart(system, q, columns):
    """Return columns(q') by steps from q' for q' = retract(q, x), as columns by x."""

    def at_step(x):
        turn = system.dexp(x, np.eye(system.ndx)).T
        return columns(system.retract(q, x)) @ turn

    return at_step


def second_by_differences(system, q, v, vdot, wrenches=None):
    """Return d_qq, d_vv and d_qv by differences of first derivatives."""
    first = system.inverse_dynamics_derivatives
    by_q = in_chart(system, q, lambda q: first(q, v, vdot, wrenches)[0])
    mixed = by_entries(lambda x: first(system.retract(q, x), v, vdot, wrenches)[1], system.ndx)
    return (
        by_entries(by_q, system.ndx),
        by_entries(lambda y: first(q, v + y, vdot, wrenches)[1], system.nv),
        np.swapaxes(mixed, -1, -2),
    )


def assert_close(found, expected, tolerance=EXACT, size=0.0):
    assert found.shape == expected.shape
    size = max(size, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)


def check(system, q, v, vdot, wrenches=None):
    found = system.inverse_dynamics_second_derivatives(q, v, vdot, wrenches)
    expected = second_by_differences(system, q, v, vdot, wrenches)
    size = np.abs(system.inverse_dynamics(q, v, vdot, wrenches)).max()
    for each, other in zip(found, expected, strict=False):
        assert_close(each, other, NUMERIC, size)
    mass = by_entries(lambda x: system.mass_matrix(system.retract(q, x)), system.ndx)
    assert_close(found[3], mass, 1e-11, np.abs(system.mass_matrix(q)).max())


# ------------------------------------------------------------------------------------ all joints


@pytest.mark.some(8)
@pytest.mark.parametrize("kind", MAKERS)
def test_every_joint_either_way_round(kind):
    """The joint in the middle of a branched tree, and beyond itself."""
    rng = np.random.default_rng(60)
    mech = random_mechanism(rng, 5, (kind, "revolute", kind), turned_round=0.5)
    system = mech.assemble()
    s = random_state(rng, system)
    check(system, s.q, s.v, s.vdot)


@pytest.mark.some(4)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "joint",
    [
        CARDAN, SKATE,
        mb.AbsoluteJoint("mixed", mb.UnitQuaternion(), mb.RodriguesPosition()),
        mb.AbsoluteJoint("hybrid", mb.EulerAngles(), mb.RotationVectorPosition(), "right"),
        mb.AbsoluteJoint("body-fixed", mb.EulerAngles("zxz"), mb.ExtendedRodrigues()),
    ],
    ids=lambda joint: joint.name,
)  # fmt: skip
def test_joints_of_one_s_own_nonholonomic_and_absolute_ones(joint, turned):
    """Steps that are no exponentials, and more steps than velocities."""
    rng = np.random.default_rng(61)
    system = behind(joint, rng, turned)
    q = system.retract(system.reference_configuration(), 0.6 * rng.normal(size=system.ndx))
    check(system, q, rng.normal(size=system.nv), rng.normal(size=system.nv))


@pytest.mark.long
@pytest.mark.slow
def test_six_bodies_whose_subspaces_depend_on_q_against_40_digits():
    """Along any change of q and v together; differences with 40 digits leave 1e-18."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.systems.second_forty_digits"],
        cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    system, s, steps = second_forty_digits.tree()
    d_qq, d_vv, d_qv, _ = system.inverse_dynamics_second_derivatives(s.q, s.v, s.vdot)
    for exact, (x, w) in zip(json.loads(done.stdout), steps, strict=True):
        parts = np.array([d_qq @ x @ x, d_vv @ w @ w, 2.0 * d_qv @ w @ x])
        found, expected = parts.sum(axis=0), np.array(exact, dtype=float)
        assert np.abs(found - expected).max() < 1e-11 * np.abs(parts).max()


@pytest.mark.some(2)
@each_representation
def test_six_bodies_with_wrenches_in_each_representation(representation):
    """Wrenches go with the bodies: their components in the bodies' axes are constant."""
    rng = np.random.default_rng(62)
    kinds = ("spherical", "cylindrical", "universal", "planar", "revolute", "helical")
    mech = random_mechanism(rng, 6, kinds)
    fixed = mech.assemble(mb.RelativeCoordinates(mb.BodyFixed()))
    s = random_state(rng, fixed)
    system = mech.assemble(mb.RelativeCoordinates(representation))
    maps = representation.twist_map(system.poses(s.q))
    wrenches = np.linalg.solve(np.swapaxes(maps, -1, -2), s.wrenches[..., None])[..., 0]
    found = system.inverse_dynamics_second_derivatives(s.q, s.v, s.vdot, wrenches)
    if isinstance(representation, mb.BodyFixed):
        check(system, s.q, s.v, s.vdot, wrenches)
    expected = fixed.inverse_dynamics_second_derivatives(s.q, s.v, s.vdot, s.wrenches)
    for each, other in zip(found, expected, strict=True):
        assert_close(each, other, 1e-11)


# ------------------------------------------------------------------------------------ identities


@pytest.fixture(scope="module")
def mech():
    return random_mechanism(np.random.default_rng(63), 24)


@pytest.fixture(scope="module")
def case(mech):
    """A tree of all joints, a state, and its second derivatives."""
    system = mech.assemble()
    s = random_state(np.random.default_rng(64), system)
    return system, s, system.inverse_dynamics_second_derivatives(s.q, s.v, s.vdot)


def test_what_is_quadratic_in_velocities(case):
    """Euler's theorem, against the first derivatives: d_vv v = d_v, d_qv v = 2 (d_q - at rest)."""
    system, s, (d_qq, d_vv, d_qv, _) = case
    d_q, d_v = system.inverse_dynamics_derivatives(s.q, s.v, s.vdot)
    at_rest, _ = system.inverse_dynamics_derivatives(s.q, np.zeros(system.nv), s.vdot)
    assert_close(d_vv @ s.v, d_v, 1e-11)
    assert_close(d_qv @ s.v, 2.0 * (d_q - at_rest), 1e-11)
    np.testing.assert_array_equal(d_qq, np.swapaxes(d_qq, -1, -2))
    np.testing.assert_array_equal(d_vv, np.swapaxes(d_vv, -1, -2))


def test_derivatives_of_the_mass_matrix_and_its_rate(case):
    """M-dot and the coefficients of Levi-Civita's connection come from the Coriolis matrix."""
    system, s, (_, d_vv, _, d_mass) = case
    assert_close(d_mass @ system.rates(s.q, s.v), system.mass_matrix_rate(s.q, s.v), 1e-11)
    steps = system.rates(s.q, np.eye(system.nv)).T
    G = system.christoffel(s.q)
    assert_close(d_mass @ steps, G + np.swapaxes(G, 0, 1), 1e-11)
    assert_close(d_vv, G + np.swapaxes(G, 1, 2), 1e-11)
    np.testing.assert_array_equal(d_mass, np.swapaxes(d_mass, 0, 1))


def test_only_joints_on_one_path_matter_to_each_other(case, mech):
    system, _, found = case
    inward = ancestors(mech, system)
    apart = ~(inward | inward.T | np.eye(system.nv, dtype=bool))
    for tensor in found:  # of each two of the three indices
        np.testing.assert_array_equal(tensor[apart], 0.0)
        np.testing.assert_array_equal(np.moveaxis(tensor, 0, -1)[apart], 0.0)


def test_second_derivatives_of_the_mass_matrix_and_its_inverse():
    rng = np.random.default_rng(65)
    kinds = ("spherical", "universal", "revolute", "prismatic")
    system = random_mechanism(rng, 5, kinds, reach=2).assemble()
    s = random_state(rng, system)
    rows = np.reshape
    nv, ndx = system.nv, system.ndx

    def check(found, first):
        columns = in_chart(system, s.q, lambda q: rows(first(q), (nv * nv, ndx)))
        assert_close(found, rows(by_entries(columns, ndx), (nv, nv, ndx, ndx)), NUMERIC)

    check(system.mass_matrix_derivatives(s.q, 2), system.mass_matrix_derivatives)
    inverse = system.inverse_mass_matrix_derivatives(s.q)
    expected = by_entries(lambda x: np.linalg.inv(system.mass_matrix(system.retract(s.q, x))), ndx)
    assert_close(inverse, expected, 1e-10)
    check(system.inverse_mass_matrix_derivatives(s.q, 2), system.inverse_mass_matrix_derivatives)


# ---------------------------------------------------------------------------------------- forces


def test_spring_and_drag_against_mpmath():
    """The third derivative of the potential of a spring to a point, and of c v^3 cos q."""
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -10.0))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    anchor, end = (1.3, 0.0, -1.4), (0, 0, -1.0)
    spring = mb.SpringDamper(
        "spring", "world", "bob", stiffness=30.0, rest_length=0.4, point_a=anchor, point_b=end
    )
    drag = mb.ForceFunction("drag", lambda t, q, v: -0.7 * v**3 * np.cos(q), joints="hinge")
    for force in (spring, drag):
        mech.add_force(force)
    system = mech.assemble()
    q, v = 0.4, 1.2

    def potential(x):
        length = mpmath.hypot(anchor[0] + mpmath.sin(x), anchor[2] + mpmath.cos(x))
        return 15.0 * (length - 0.4) ** 2 - 10.0 * mpmath.cos(x)

    d_qq, d_vv, d_qv, _ = system.inverse_dynamics_second_derivatives([q], [v], [0.3])
    exact = float(mpmath.diff(potential, q, 3)) - 0.7 * v**3 * np.cos(q)
    assert_close(d_qq.ravel(), np.array([exact]), 1e-10)
    assert_close(d_vv.ravel(), np.array([0.7 * 6 * v * np.cos(q)]), 1e-10)
    assert_close(d_qv.ravel(), np.array([-0.7 * 3 * v**2 * np.sin(q)]), 1e-10)


@pytest.mark.slow
@pytest.mark.compiled
def test_all_forces_against_complex_steps():
    """Along random moves of q and v together; alone and in a batch they have the same bits."""
    rng = np.random.default_rng(66)
    mech, single = tree(rng, 5)
    plain = mech.assemble()
    system = plain.with_forces(every_force(rng, mech, single))
    states = [random_state(rng, system) for _ in range(2)]
    q, v, vdot = (np.array([getattr(s, name) for s in states]) for name in ("q", "v", "vdot"))
    found = system.inverse_dynamics_second_derivatives(q, v, vdot, t=0.4)
    one = system.inverse_dynamics_second_derivatives(q[1], v[1], vdot[1], t=0.4)
    without = plain.inverse_dynamics_second_derivatives(q, v, vdot)
    x, w = rng.normal(size=(2, 6, system.nv))
    forces = ComplexEvaluation(system, "generalized_forces")
    exact = forces.second({"q": q[1], "v": v[1]}, {"q": x, "v": w}, 0.4)
    d_qq, d_vv, d_qv = (own[1] - each[1] for own, each in zip(without[:3], found, strict=False))
    parts = [
        np.einsum("ijk,aj,ak->ai", d, a, b)
        for d, a, b in ((d_qq, x, x), (d_vv, w, w), (2.0 * d_qv, x, w))
    ]
    assert_close(sum(parts), exact, 1e-11)
    for several, single in zip(found, one, strict=True):
        np.testing.assert_array_equal(several[1], single)


# -------------------------------------------------------------------------------- batches, errors


def test_batches_and_failed_samples():
    rng = np.random.default_rng(67)
    system = random_mechanism(rng, 4, ("revolute", "universal", "spherical")).assemble()
    states = [random_state(rng, system) for _ in range(3)]
    q, v, vdot = (np.array([getattr(s, name) for s in states]) for name in ("q", "v", "vdot"))
    every = system.inverse_dynamics_second_derivatives(q, v[:, None], vdot, t=np.zeros(3))
    one = system.inverse_dynamics_second_derivatives(q[1], v[2], vdot[1])
    for several, single in zip(every, one, strict=True):
        assert several.shape == (3, 3, *single.shape)
        np.testing.assert_array_equal(several[2, 1], single)
    q[1] = 0.0  # a quaternion of no length
    for order in (1, 2):
        found = system.inverse_mass_matrix_derivatives(q, order, on_error="nan")
        assert np.isnan(found[1]).all()
        assert np.isfinite(found[::2]).all()
    for bad in (0, 3, True, 1.0, None):
        with pytest.raises(mb.UsageError, match="order must be 1 or 2"):
            system.mass_matrix_derivatives(q[0], bad)
    with pytest.raises(mb.MbkitError, match="sample"):
        system.inverse_dynamics_second_derivatives(q, v, vdot)
