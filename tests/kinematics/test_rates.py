"""Rates of joints from twists of bodies: exact where they fit, and what is minimised elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import REPRESENTATIONS
from tests.kinematics.arms import planar_arm
from tests.trees import random_mechanism, random_state

TOLERANCE = 1e-11


@pytest.fixture(scope="module", params=range(4))
def case(request):
    """A tree with every kind of joint, some turned round, its system and a state."""
    rng = np.random.default_rng(3000 + request.param)
    mechanism = random_mechanism(rng, int(rng.integers(8, 16)))
    system = mechanism.assemble()
    return system, random_state(rng, system), rng


@pytest.fixture(params=REPRESENTATIONS, ids=lambda each: each.name)
def representation(request):
    return request.param


def converted(system, q, v, vdot, representation):
    """Twists and accelerations of the bodies in a representation, by the maps alone."""
    C = system.poses(q)
    V, A = system.twists(q, v), system.accelerations(q, v, vdot)
    assert system.representation == mb.BodyFixed()
    M = representation.twist_map(C)
    M_rate = representation.twist_map_rate(C, V)
    V, A = V[..., None], A[..., None]
    return (M @ V)[..., 0], (M @ A + M_rate @ V)[..., 0]


@pytest.mark.some(4)
def test_rates_of_twists_that_fit(case, representation):
    """Twists of v give v back."""
    system, state, _ = case
    V, _ = converted(system, state.q, state.v, state.vdot, representation)
    found = mb.rates_from_twists(system, state.q, V, representation)
    assert np.abs(found - state.v).max() < TOLERANCE
    fit = mb.fit_rates(system, state.q, V, representation=representation)
    assert np.abs(fit.rates - state.v).max() < TOLERANCE
    assert (fit.rank, fit.undetermined) == (system.nv, ())
    assert np.abs(fit.residuals).max() < TOLERANCE


@pytest.mark.some(2)
def test_accelerations_of_rates_that_fit(case, representation):
    """Accelerations for vdot give vdot back, with the terms of the velocities."""
    system, state, _ = case
    _, A = converted(system, state.q, state.v, state.vdot, representation)
    found = mb.accelerations_from_twist_rates(system, state.q, state.v, A, representation)
    assert np.abs(found - state.vdot).max() < 1e-10
    fit = mb.fit_accelerations(system, state.q, state.v, A, representation=representation)
    assert np.abs(fit.rates - state.vdot).max() < 1e-10
    # the terms of the velocities are not small here
    still = mb.accelerations_from_twist_rates(system, state.q, 0 * state.v, A, representation)
    assert np.abs(still - state.vdot).max() > 0.1


def test_jerks_of_rates_that_fit(case, representation):
    """Jerks for vddot give vddot back, with the terms of velocities and accelerations."""
    system, state, rng = case
    motion = state.q, state.v, state.vdot
    vddot = rng.normal(size=system.nv)
    D = system.jerks(*motion, vddot, representation=representation)
    fit = mb.fit_jerks(system, *motion, D, representation=representation)
    assert np.abs(fit.rates - vddot).max() < 1e-9
    assert (fit.rank, fit.undetermined) == (system.nv, ())


def test_published_formula_for_one_velocity():
    """vdot_i = X^T (A_i - Ad A_p + [V_i, Ad V_p]) / |X|^2 of the companion's (11)."""
    from mbkit.lie import SE3

    rng = np.random.default_rng(5)
    system = random_mechanism(rng, 8, ("revolute", "helical", "prismatic")).assemble()
    state = random_state(rng, system)
    V, A = system.twists(state.q, state.v), system.accelerations(state.q, state.v, state.vdot)
    C, X = system.poses(state.q), system.motion_subspaces(state.q)
    expected = np.empty(system.nv)
    for k, i in enumerate(system.tree.body_of_velocity):
        p = system.tree.parents[i]
        Ad = SE3.Ad(np.linalg.inv(C[i]) @ C[p])
        moved = A[i] - Ad @ A[p] + SE3.ad(V[i]) @ (Ad @ V[p])
        expected[k] = X[k] @ moved / (X[k] @ X[k])
    found = mb.accelerations_from_twist_rates(system, state.q, state.v, A)
    assert np.abs(found - expected).max() < TOLERANCE
    assert np.abs(found - state.vdot).max() < TOLERANCE


@pytest.mark.some(2)
def test_what_the_tree_formula_minimises(case, representation):
    """With errors it minimises |(I - T)(V - J v)|, body-fixed, and not |V - J v|."""
    system, state, rng = case
    V_b = system.twists(state.q, state.v) + 0.3 * rng.normal(size=(len(system.body_names), 6))
    V_b[0] = 0.0
    V = (representation.twist_map(system.poses(state.q)) @ V_b[..., None])[..., 0]
    found = mb.rates_from_twists(system, state.q, V, representation)
    J = system.system_jacobian(state.q, mb.BodyFixed())
    wanted = V_b[1:].ravel()
    relative = np.eye(len(wanted)) - J.T.toarray()
    expected = np.linalg.lstsq(relative @ J.J.toarray(), relative @ wanted, rcond=None)[0]
    assert np.abs(found - expected).max() < 1e-10
    plain = np.linalg.lstsq(J.J.toarray(), wanted, rcond=None)[0]
    assert np.abs(found - plain).max() > 1e-2


def test_row_of_the_world_is_ignored(case):
    system, state, _ = case
    V = system.twists(state.q, state.v)
    V[0] = 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
    assert np.abs(mb.rates_from_twists(system, state.q, V) - state.v).max() < TOLERANCE
    assert np.abs(mb.fit_rates(system, state.q, V).rates - state.v).max() < TOLERANCE


@pytest.mark.some(4)
def test_weighted_fit(case, representation):
    """The fit is the least-squares solution of the weighted Jacobian of all bodies."""
    system, state, rng = case
    V, _ = converted(system, state.q, state.v, state.vdot, representation)
    V = V + 0.1 * rng.normal(size=V.shape)
    weights = rng.uniform(0.5, 2.0, size=V.shape)
    fit = mb.fit_rates(system, state.q, V, weights=weights, representation=representation)
    J = system.system_jacobian(state.q, representation).J.toarray()
    root = np.sqrt(weights[1:]).ravel()
    left, right = root[:, None] * J, root * V[1:].ravel()
    expected = np.linalg.lstsq(left, right, rcond=None)[0]
    assert np.abs(fit.rates - expected).max() < 1e-9
    assert fit.misfit == pytest.approx(np.sum((right - left @ expected) ** 2), rel=1e-10)
    # one weight a body is that weight for its components
    by_body = rng.uniform(0.5, 2.0, size=len(V))
    one = mb.fit_rates(system, state.q, V, weights=by_body)
    six = mb.fit_rates(system, state.q, V, weights=np.repeat(by_body[:, None], 6, axis=1))
    assert np.array_equal(one.rates, six.rates)


def test_bodies_that_were_not_measured():
    """Velocities that no measured body sees are named, and the others are found."""
    system = planar_arm(1.0, 1.0, 1.0)
    q, v = [0.3, 0.4, 0.5], np.array([1.0, -2.0, 3.0])
    V = system.twists(q, v)
    fit = mb.fit_rates(system, q, {"link1": V[2]})
    assert fit.rank == 2
    assert fit.undetermined == ("joint2",)
    assert np.abs(fit.rates - [1.0, -2.0, 0.0]).max() < TOLERANCE
    assert np.isnan(fit.residuals[[1, 3]]).all()
    gaps = V.copy()
    gaps[1] = gaps[3] = np.nan
    assert np.array_equal(mb.fit_rates(system, q, gaps, weights=[0, 0, 1, 0]).rates, fit.rates)
    # one component of the last body: the sum of all three
    turning = mb.fit_rates(system, q, {"link2": V[3]}, weights={"link2": [0, 0, 1, 0, 0, 0]})
    assert turning.undetermined == ("joint0", "joint1", "joint2")
    assert turning.rates == pytest.approx([2.0 / 3.0] * 3, rel=1e-12)


class Flattening(mb.Joint):
    """Two velocities that make the same motion where q[1] is -1."""

    num_positions = num_velocities = 2

    def pose(self, q):
        T = np.eye(4)
        T[:2, 3] = q[0] + q[1], 0.5 * (1.0 + q[1]) ** 2
        return T

    def motion_subspace(self, q):
        S = np.zeros((6, 2))
        S[3], S[4] = (1.0, 1.0), (0.0, 1.0 + q[1])
        return S

    def bias(self, q, v):
        return np.array([0.0, 0.0, 0.0, 0.0, v[1] ** 2, 0.0])


def test_joint_that_has_lost_rank():
    """Rates do not follow there, and the joint is named; the fit says what is left open."""
    mech = mb.Mechanism("flat")
    body = mech.add_body(mb.Body("body", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(Flattening("flat"), mech.world, body, reference=np.eye(4))
    system = mech.assemble()
    V = system.twists([0.0, -1.0], [1.0, 2.0])
    with pytest.raises(mb.JointError, match=r"Joint 'flat'.*rank 1 of 2.*fit_rates"):
        mb.rates_from_twists(system, [0.0, -1.0], V)
    assert mb.fit_rates(system, [0.0, -1.0], V).undetermined == ("flat[0]", "flat[1]")
    V = system.twists([0.0, 0.5], [1.0, 2.0])
    assert mb.rates_from_twists(system, [0.0, 0.5], V) == pytest.approx([1.0, 2.0])
    A = system.accelerations([0.0, 0.5], [1.0, 2.0], [3.0, 4.0])
    found = mb.accelerations_from_twist_rates(system, [0.0, 0.5], [1.0, 2.0], A)
    assert found == pytest.approx([3.0, 4.0])


def test_refusals():
    """What does not fit is named with its value and the remedy."""
    system = planar_arm(1.0, 1.0)
    q, V = [0.1, 0.2], np.zeros((3, 6))
    with pytest.raises(mb.ShapeError, match=r"twists must be an array of shape \(3, 6\)"):
        mb.rates_from_twists(system, q, V[1:])
    with pytest.raises(mb.NotFiniteError, match=r"twists must be finite, got nan at \[1, 2\]"):
        mb.rates_from_twists(system, q, np.where(np.arange(18).reshape(3, 6) == 8, np.nan, V))
    with pytest.raises(mb.UsageError, match="representation must be"):
        mb.rates_from_twists(system, q, V, "hybrid")
    with pytest.raises(mb.NameUnknownError, match="did you mean 'link1'"):
        mb.fit_rates(system, q, {"lnk1": np.zeros(6)})
    with pytest.raises(mb.NotFiniteError, match=r"component 2 of body 'link0' is nan.*weight zero"):
        mb.fit_rates(system, q, {"link0": [0, 0, np.nan, 0, 0, 0]})
    with pytest.raises(mb.UsageError, match=r"must not be negative, got -1\.0.*body 'link1'"):
        mb.fit_rates(system, q, V, weights=[0, 1, -1])
    with pytest.raises(mb.UsageError, match="nothing was measured"):
        mb.fit_rates(system, q, V, weights=[1, 0, 0])
    with pytest.raises(mb.ShapeError, match=r"weights must be an array of shape \(3,\)"):
        mb.fit_rates(system, q, V, weights=[1, 0])
