"""The Coriolis matrix and the rate of the mass matrix: against differences and inverse dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.kernels.compile import UNCOMPILED
from tests.constraints.loops import closed, random_loops
from tests.every_representation import each_representation
from tests.systems.complex_steps import ComplexEvaluation
from tests.systems.every_joint import (
    at_hard_place,
    behind,
    each_hard_place,
    each_joint_of_one_s_own,
    each_kind_in_all_frames,
    moved_behind,
    with_kind_in_the_middle,
)
from tests.systems.test_derivatives import assert_close
from tests.systems.test_mass_factor import ancestors
from tests.trees import random_inertia, random_mechanism, random_pose, random_state

#: Rounding; joints whose S depends on q are differentiated, to as many digits.
EXACT = 1e-12

#: Kinds whose velocities are the rates of their coordinates.
HOLONOMIC = (
    "revolute", "prismatic", "helical", "screw", "cylindrical", "universal", "translational",
    "constant velocity", "rotation vector", "angles", "planar, first kind", "planar, second kind",
    "screw coordinates",
)  # fmt: skip


def mass_matrix_along(system, q, v):
    """Return M-dot from a complex step of M along the motion, and its tolerance.

    By differences where kernels run uncompiled, which takes no traced numbers, and of joints in
    Python that do not say how their positions change.
    """
    M = system.mass_matrix(q)
    try:
        moves = {"q": system.position_rates(q, v)[None]}
    except mb.JointError:
        moves = None
    if UNCOMPILED or moves is None:
        rates = system.rates(q, v)
        return derivative(lambda e: system.mass_matrix(system.retract(q, e * rates))), 1e-10
    rate = ComplexEvaluation(system, "mass_matrix")({"q": q}, moves)[1]
    return np.broadcast_to(rate, (1, *M.shape))[0], EXACT  # one zero where nothing depends on q


def check(system, q, v):
    """C v is what inverse dynamics has, C + C^T the rate of M, and M-dot - 2 C skew."""
    C = system.coriolis_matrix(q, v)
    M = np.abs(system.mass_matrix(q)).max()
    terms = system.bias_force(q, v) - system.bias_force(q, np.zeros(system.nv))
    assert_close(
        C @ v, terms, EXACT, np.abs(system.bias_force(q, v)).max() + M * np.abs(v).max() ** 2
    )
    rate, tolerance = mass_matrix_along(system, q, v)
    skew = rate - 2.0 * C
    assert_close(skew, -skew.T, tolerance, max(np.abs(C).max(), M))
    own = system.mass_matrix_rate(q, v)
    np.testing.assert_array_equal(own, own.T)
    assert_close(own, rate, tolerance, M)


@each_kind_in_all_frames
@pytest.mark.some(3)
def test_every_joint_either_way_round_in_all_frames(kind, frames, turned):
    system, state = with_kind_in_the_middle(np.random.default_rng(60), kind, frames, turned)
    check(system, state.q, state.v)


@pytest.mark.some(3)
@pytest.mark.parametrize("seed", range(3))
def test_trees_of_all_joints(seed):
    rng = np.random.default_rng(600 + seed)
    system = random_mechanism(rng, 26).assemble()
    state = random_state(rng, system)
    check(system, state.q, state.v)


@each_hard_place
@pytest.mark.some(5)
def test_hard_places(kind, angle):
    rng = np.random.default_rng(61)
    system, q = at_hard_place(rng, kind, angle)
    check(system, q, rng.normal(size=system.nv))


@each_joint_of_one_s_own
@pytest.mark.some(5)
def test_joints_of_one_s_own_nonholonomic_and_absolute_ones(joint, turned):
    rng = np.random.default_rng(62)
    system, q = moved_behind(joint, rng, turned)
    check(system, q, rng.normal(size=system.nv))


# ------------------------------------------------------------------------------ which matrix it is


def christoffel_by_differences(system, q):
    """Return (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2."""
    steps = np.eye(system.nv)
    dM = np.array([derivative(lambda e, s=s: system.mass_matrix(q + e * s)) for s in steps])
    dM = np.moveaxis(dM, 0, -1)  # i, j, k
    return 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", HOLONOMIC)
def test_christoffel_symbols_where_velocities_are_rates_of_coordinates(kind):
    rng = np.random.default_rng(63)
    system = random_mechanism(rng, 4, (kind, "revolute", kind)).assemble()
    state = random_state(rng, system)
    found = system.christoffel(state.q)
    assert_close(found, christoffel_by_differences(system, state.q))
    assert_close(found, found.transpose(0, 2, 1), EXACT)
    assert_close(found @ state.v, system.coriolis_matrix(state.q, state.v), EXACT)


def test_christoffel_symbols_in_binet_s_form():
    """Mueller 2018, (87), corrected, in centre-of-mass frames.

    The sum over bodies l of w_j . B (w_k x w_i) + m v_i . (w_j x v_k), with Binet's inertia B
    = tr(Theta) / 2 - Theta, and joint j not beyond joint k.
    """
    rng = np.random.default_rng(74)
    mech = random_mechanism(rng, 7, ("revolute", "helical", "prismatic"), turned_round=0.0)
    system = mech.assemble()
    q = random_state(rng, system).q
    expected = np.zeros((system.nv,) * 3)
    for name in system.body_names[1:]:
        J, inertia = system.jacobian(name, q), mech.bodies[name].inertia
        w, v = J[:3].T, J[3:].T + np.cross(J[:3].T, inertia.com)
        Theta = inertia.moment_about_com
        B = 0.5 * np.trace(Theta) * np.eye(3) - Theta
        for i, j, k in np.ndindex(expected.shape):
            if not J[:, [i, j, k]].any(axis=0).all():
                continue
            a, b = (j, k) if deeper(mech, system, k, j) else (k, j)
            expected[i, j, k] += w[a] @ B @ np.cross(w[b], w[i])
            expected[i, j, k] += inertia.mass * v[i] @ np.cross(w[a], v[b])
    assert_close(system.christoffel(q), expected, EXACT)


@pytest.mark.some(7)
@each_representation
@pytest.mark.parametrize("kind", HOLONOMIC)
def test_binet_s_form_of_joints_in_coordinates(kind, representation):
    """Those of the recursions, as a sum over bodies; a body has a share of the joints before it."""
    rng = np.random.default_rng(76)
    system = random_mechanism(rng, 4, (kind, "revolute", kind)).assemble(
        mb.RelativeCoordinates(representation=representation)
    )
    state = random_state(rng, system)
    q, v, vdot = state.q, state.v, state.vdot
    found, M = mb.binet_christoffel(system, q), np.abs(system.mass_matrix(q)).max()
    assert_close(found, system.christoffel(q), EXACT, M)
    needed = system.inverse_dynamics(q, v, vdot) - system.bias_force(q, np.zeros(system.nv))
    assert_close(system.mass_matrix(q) @ vdot + found @ v @ v, needed, EXACT)
    shares = [mb.binet_christoffel(system, q, name) for name in system.body_names[1:]]
    assert_close(sum(shares), found, EXACT, M)
    for name, share in zip(system.body_names[1:], shares, strict=True):
        idle = ~system.jacobian(name, q).any(axis=0)
        assert not share[idle].any()
        assert np.abs(share[:, idle]).max(initial=0.0) < EXACT * M


def test_binet_s_form_is_refused_for_quasi_velocities():
    system = random_mechanism(np.random.default_rng(77), 2, ("revolute", "spherical")).assemble()
    ball = next(n for n, j in system.arrays.tree_joints.items() if not j.positions_add)
    with pytest.raises(mb.UsageError, match=rf"'{ball}' are not the rates.*system\.christoffel"):
        mb.binet_christoffel(system, system.reference_configuration())


def deeper(mech, system, k, j):
    """Whether joint k is at least as far from the world as joint j."""
    topology = mech.topology()
    place = {n: topology.joint_of_body.index(n) for n in system.joint_names}
    names = system.velocity_names
    return place[names[k]] >= place[names[j]]


def test_christoffel_symbols_of_quasi_velocities():
    """G_ijk - G_ikj = M_il [e_k, e_j]_l, which is e_k x e_j for a ball joint."""
    rng = np.random.default_rng(75)
    mech = mb.Mechanism("ball")
    body = mech.add_body(mb.Body("body", random_inertia(rng)))
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
    system = mech.assemble()
    q = random_state(rng, system).q
    found = system.christoffel(q)
    brackets = np.cross(np.eye(3)[:, None], np.eye(3))  # k, j: e_k x e_j, body-fixed
    expected = np.einsum("il,kjl->ijk", system.mass_matrix(q), brackets)
    assert_close(found - found.transpose(0, 2, 1), expected, EXACT)
    samples = np.array([q, random_state(rng, system).q])
    several = system.christoffel(samples)
    assert several.shape == (2, 3, 3, 3)
    np.testing.assert_array_equal(several[0], found)


IN_COORDINATES = [
    mb.SphericalJoint("joint", coordinates="first kind"),
    mb.SphericalJoint("joint", coordinates="second kind", order="xzy"),
    mb.PlanarJoint("joint", coordinates="first kind"),
    mb.PlanarJoint("joint", coordinates="second kind", order=("x", "angle", "y")),
    mb.FreeJoint("joint", coordinates="first kind"),
]


@pytest.mark.some(2)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "joint", IN_COORDINATES, ids=lambda j: f"{type(j).__name__}, {j.coordinates}"
)
def test_quasi_velocities_give_the_same_connection(joint, turned):
    """v = G x-dot, x coordinates: C' = G^T (C G + M G-dot), as covariant derivatives change."""
    quasi = type(joint)("joint")
    system = behind(joint, np.random.default_rng(64), turned)
    other = behind(quasi, np.random.default_rng(64), turned)
    rng = np.random.default_rng(65)
    x = system.retract(system.reference_configuration(), 0.7 * rng.normal(size=system.ndx))
    rate = rng.normal(size=system.nv)
    mine, entries = system.position_slice("joint"), system.velocity_slice("joint")

    def configuration(x):
        there = quasi.configuration_from_pose(joint.pose(x[mine]))
        return np.concatenate([x[: mine.start], there, x[mine.stop :]])

    def G(x):
        found = np.eye(system.nv)
        S = quasi.motion_subspace(configuration(x)[other.position_slice("joint")])
        found[entries, entries] = np.linalg.lstsq(S, joint.motion_subspace(x[mine]))[0]
        return found

    q, v = configuration(x), G(x) @ rate
    Gdot = derivative(lambda e: G(system.retract(x, e * system.rates(x, rate))))
    expected = G(x).T @ (other.coriolis_matrix(q, v) @ G(x) + other.mass_matrix(q) @ Gdot)
    assert_close(system.coriolis_matrix(x, rate), expected)


def test_joints_of_different_branches_do_not_matter_to_each_other():
    rng = np.random.default_rng(66)
    mech = random_mechanism(rng, 24)
    system = mech.assemble()
    s = random_state(rng, system)
    inward = ancestors(mech, system)
    apart = ~(inward | inward.T | np.eye(system.nv, dtype=bool))
    assert apart.any()
    np.testing.assert_array_equal(system.coriolis_matrix(s.q, s.v)[apart], 0.0)


@pytest.mark.some(2)
@each_representation
def test_no_representation_changes_it(representation):
    rng = np.random.default_rng(67)
    mech = random_mechanism(rng, 8)
    state = random_state(rng, mech.assemble())
    found = mech.assemble(mb.RelativeCoordinates(representation)).coriolis_matrix(state.q, state.v)
    np.testing.assert_array_equal(found, mech.assemble().coriolis_matrix(state.q, state.v))


def test_absolute_coordinates_and_closed_mechanisms():
    """Both have the matrix of the tree."""
    mech, _, loops = random_loops(np.random.default_rng(68), 4, ("revolute", "spherical"))
    rng = np.random.default_rng(69)
    for system in (closed(mech, loops), mech.assemble(mb.AbsoluteCoordinates())):
        q = system.retract(system.reference_configuration(), 0.5 * rng.normal(size=system.ndx))
        check(system, q, rng.normal(size=system.nv))


def test_prescribed_joints():
    """As any joint, at the q and v given."""
    found = []
    for prescribed in (False, True):
        rng = np.random.default_rng(70)
        mech = mb.Mechanism("arm", gravity=rng.normal(size=3))
        inner = mech.world
        for i in range(3):
            body = mech.add_body(mb.Body(f"b{i}", random_inertia(rng)))
            joint = mb.RevoluteJoint(f"j{i}", axis=rng.normal(size=3))
            given = joint.prescribe(lambda t: np.sin(3.0 * t)) if i == 1 and prescribed else joint
            mech.add_joint(given, inner, body, reference=random_pose(rng))
            inner = body
        system = mech.assemble()
        q, v = rng.normal(size=(2, system.nv))
        found.append(system.coriolis_matrix(q, v))
    np.testing.assert_allclose(*found, rtol=0.0, atol=1e-14)


def test_distance_from_the_origin_costs_no_accuracy():
    found = []
    for place in ((0.0, 0.0, 0.0), (1e6, -1e6, 1e6)):
        rng = np.random.default_rng(71)
        mech = random_mechanism(rng, 12, turned_round=0.0, floating=True)
        system = mech.assemble()
        state = random_state(rng, system)
        q = state.q.copy()
        joint = next(n for n, e in mech.joints.items() if e.predecessor == "world")
        q[system.position_slice(joint)][4:] += place
        found.append(system.coriolis_matrix(q, state.v))
    assert_close(found[1], found[0], 1e-12)


# --------------------------------------------------------------------------- samples and failures


def test_it_is_linear_in_the_velocity():
    rng = np.random.default_rng(72)
    system = random_mechanism(rng, 10).assemble()
    state = random_state(rng, system)
    zero = np.zeros(system.nv)
    np.testing.assert_array_equal(system.coriolis_matrix(state.q, zero), np.diag(zero))
    columns = system.coriolis_matrix(state.q, np.eye(system.nv))
    whole = system.coriolis_matrix(state.q, state.v)
    assert_close(np.einsum("kab,k->ab", columns, state.v), whole, EXACT)


def test_many_samples_at_once():
    rng = np.random.default_rng(73)
    system = random_mechanism(rng, 8).assemble()
    states = [random_state(rng, system) for _ in range(6)]
    q = np.array([s.q for s in states]).reshape(2, 3, -1)
    v = np.array([s.v for s in states[:3]])
    for method in (system.coriolis_matrix, system.mass_matrix_rate):
        found = method(q, v)
        assert found.shape == (2, 3, system.nv, system.nv)
        for i, j in np.ndindex(2, 3):
            np.testing.assert_array_equal(found[i, j], method(q[i, j], v[j]))


def test_samples_that_fail():
    mech = mb.Mechanism("ball")
    body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
    system = mech.assemble()
    q, zero = np.array([[1.0, 0, 0, 0], [2.0, 0, 0, 0]]), np.zeros(3)
    with pytest.raises(mb.ShapeError, match="'v'"):
        system.coriolis_matrix(q[0], zero[:2])
    with pytest.raises(mb.ConfigurationError, match="ball"):
        system.coriolis_matrix(q, zero)
    found = system.coriolis_matrix(q, zero, on_error="nan")
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()
