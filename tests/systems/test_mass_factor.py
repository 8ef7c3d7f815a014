"""M = L^T D L: its identities, its sparsity, what is solved with it, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.systems.mass_factor import mass_factor
from tests.reference.user_joints import CardanJoint, CylindricalJoint
from tests.trees import random_inertia, random_mechanism, random_pose, random_state


@pytest.fixture(scope="module", params=range(6))
def case(request):
    """A branched tree with joints of one to six velocities, its system, a state, the factor."""
    rng = np.random.default_rng(3000 + request.param)
    mech = random_mechanism(rng, int(rng.integers(8, 22)), reach=int(rng.integers(2, 9)))
    names = list(mech.bodies)
    for joint in (CardanJoint("cardan"), CylindricalJoint("cylinder")):
        body = mech.add_body(mb.Body(f"behind {joint.name}", inertia=random_inertia(rng)))
        near = mech.bodies[names[rng.integers(len(names))]]
        mech.add_joint(joint, near, body, frames=(random_pose(rng), random_pose(rng)))
    system = mech.assemble()
    state = random_state(rng, system)
    return mech, system, state, mass_factor(system, state.q)


def assert_close(found, expected, tolerance=1e-12):
    """Compare to a part of the largest entry."""
    assert np.abs(expected).max() > 0.0
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * np.abs(expected).max())


def conditioned(system, q, tolerance=1e-15):
    """The part of the largest entry that solutions may be off: rounding times the condition."""
    return tolerance * np.linalg.cond(system.mass_matrix(q)) * system.nv


@pytest.mark.some(2)
def test_factors_multiply_to_the_mass_matrix(case):
    """L^T D L = M in the factor's order, L unit lower triangular, D positive."""
    _, system, state, factor = case
    L, D, order = factor.L, factor.D, factor.order
    assert sorted(order) == list(range(system.nv))
    assert_close(L.T @ np.diag(D) @ L, system.mass_matrix(state.q)[np.ix_(order, order)])
    np.testing.assert_array_equal(np.diag(L), 1.0)
    np.testing.assert_array_equal(np.triu(L, 1), 0.0)
    assert (D > 0.0).all()


def ancestors(mech, system):
    """By velocity: those of the same joint before it, and of all joints inward of it."""
    topology = mech.topology()
    found = np.zeros((system.nv, system.nv), dtype=bool)
    for body in topology.bodies[1:]:
        joints = topology.path_to_world(body).joints
        own = range(system.nv)[system.velocity_slice(joints[0])]
        for place, k in enumerate(own):
            found[k, own[:place]] = True
            for joint in joints[1:]:
                found[k, system.velocity_slice(joint)] = True
    return found


def test_the_pattern_is_that_of_the_ancestors(case):
    """No fill-in: L has entries between a velocity and its ancestors alone; scipy stores those."""
    mech, system, _, factor = case
    order = factor.order
    expected = ancestors(mech, system)[np.ix_(order, order)]
    assert not factor.L[~expected & ~np.eye(system.nv, dtype=bool)].any()
    assert (~expected & np.tri(system.nv, k=-1, dtype=bool)).any()  # some are left out
    sparse = factor.sparse_L()
    assert sparse.nnz == expected.sum() + system.nv
    np.testing.assert_array_equal(sparse.toarray(), factor.L)
    # the nearest ancestor is the last of them
    nearest = [np.flatnonzero(row)[-1] if row.any() else -1 for row in expected]
    np.testing.assert_array_equal(factor.parent, nearest)


@pytest.mark.parametrize("width", [None, 1, 4])
def test_solutions_and_products_are_those_of_dense_algebra(case, width):
    """With M, L and L^T; vectors, and several as columns; what is given is left as it was."""
    _, system, state, factor = case
    M = system.mass_matrix(state.q)
    shape = system.nv if width is None else (system.nv, width)
    b = np.random.default_rng(4).normal(size=shape)
    given = b.copy()
    tolerance = conditioned(system, state.q)
    assert_close(factor.solve(b), np.linalg.solve(M, b), tolerance)
    assert_close(factor.multiply(b), M @ b)
    assert_close(factor.solve_L(b), np.linalg.solve(factor.L, b), tolerance)
    assert_close(factor.solve_LT(b), np.linalg.solve(factor.L.T, b), tolerance)
    np.testing.assert_array_equal(b, given)


def test_lists_integers_and_transposed_matrices_are_vectors_too(case):
    """They are converted, and give the same."""
    _, system, _, factor = case
    b = np.arange(3 * system.nv).reshape(3, system.nv)
    expected = factor.solve(np.ascontiguousarray(b.T, dtype=float))
    np.testing.assert_array_equal(factor.solve(b.T), expected)
    np.testing.assert_array_equal(factor.solve(b[1].tolist()), expected[:, 1])


def test_forward_dynamics_is_a_solution(case):
    """The articulated-body algorithm solves M vdot = tau - b, by another way."""
    _, system, state, factor = case
    rest = state.tau - system.bias_force(state.q, state.v)
    expected = system.forward_dynamics(state.q, state.v, state.tau)
    assert_close(factor.solve(rest), expected, conditioned(system, state.q))


def test_determinant_and_inverse(case):
    """Against numpy; 1 / D is what the articulated inertia leaves of each velocity."""
    _, system, state, factor = case
    M = system.mass_matrix(state.q)
    sign, logdet = np.linalg.slogdet(M)
    assert sign == 1.0
    assert factor.logdet == pytest.approx(logdet, abs=1e-11 * system.nv)
    assert_close(factor.inverse(), np.linalg.inv(M), conditioned(system, state.q))
    assert_close(factor.inverse() @ M, np.eye(system.nv), conditioned(system, state.q))


def test_inverse_inertia_of_a_constraint(case):
    """A M^-1 A^T = Y^T Y with Y = D^-1/2 L^-T A^T, as the docstring says."""
    _, system, state, factor = case
    A = system.jacobian(system.body_names[-1], state.q)
    Y = factor.solve_LT(A.T[factor.order]) / np.sqrt(factor.D)[:, None]
    expected = A @ np.linalg.solve(system.mass_matrix(state.q), A.T)
    assert_close(Y.T @ Y, expected, conditioned(system, state.q))


@pytest.mark.some(3)
@pytest.mark.parametrize("body_frames", ["user", "com", "world"])
def test_any_frames_inside(case, body_frames):
    """The factor is that of M, which knows of no frames."""
    mech, _, state, factor = case
    other = mass_factor(mech.assemble(mb.RelativeCoordinates(body_frames=body_frames)), state.q)
    assert_close(other.L, factor.L, 1e-11)
    assert_close(other.D, factor.D, 1e-11)


def star(rng, arms, length):
    """Joints of several chains on one floating body: (name, joint, parent, inertia, frames)."""
    parts = [("trunk", mb.FreeJoint("float"), "world")]
    for arm in range(arms):
        inner = "trunk"
        for k in range(length):
            name = f"{arm}.{k}"
            kind = mb.SphericalJoint if k == 0 else mb.RevoluteJoint
            parts.append((name, kind(f"joint {name}"), inner))
            inner = name
    return [(*part, random_inertia(rng), (random_pose(rng), random_pose(rng))) for part in parts]


def test_order_of_adding_does_not_matter():
    """The same tree with its joints added in any order: solutions and determinant are the same."""
    parts = star(np.random.default_rng(5), 4, 3)
    rng = np.random.default_rng(6)
    reference, results = None, []
    for trial in range(5):
        shuffled = parts if trial == 0 else [parts[i] for i in rng.permutation(len(parts))]
        mech = mb.Mechanism("star")
        for name, _, _, inertia, _ in shuffled:
            mech.add_body(mb.Body(name, inertia=inertia))
        for name, joint, inner, _, frames in shuffled:
            mech.add_joint(joint, inner, name, frames=frames)
        system = mech.assemble()
        if reference is None:
            reference = system, random_state(rng, system)
        first, state = reference
        q, b = np.empty(system.nq), np.empty(system.nv)
        for joint in first.joint_names:
            q[system.position_slice(joint)] = state.q[first.position_slice(joint)]
            b[system.velocity_slice(joint)] = state.tau[first.velocity_slice(joint)]
        factor = mass_factor(system, q)
        x = factor.solve(b)
        again = np.empty_like(x)
        for joint in first.joint_names:
            again[first.velocity_slice(joint)] = x[system.velocity_slice(joint)]
        results.append((again, factor.logdet, factor.sparse_L().nnz))
    assert len({entries for *_, entries in results}) == 1
    first, state = reference
    for x, logdet, _ in results[1:]:
        assert_close(x, results[0][0], conditioned(first, state.q))
        assert logdet == pytest.approx(results[0][1], abs=1e-11)


@pytest.mark.slow
def test_two_hundred_bodies():
    """A large tree: M x = b to rounding, with a small part of the entries of L."""
    rng = np.random.default_rng(7)
    mech = random_mechanism(rng, 200, ("revolute", "prismatic", "spherical"), reach=30)
    system = mech.assemble()
    q = random_state(rng, system).q
    factor = mass_factor(system, q)
    M, b = system.mass_matrix(q), rng.normal(size=system.nv)
    x = factor.solve(b)
    # a backward stable solution: the residual is rounding of |M| |x|
    assert np.abs(M @ x - b).max() < 1e-13 * (np.abs(M) @ np.abs(x)).max()
    assert factor.logdet == pytest.approx(np.linalg.slogdet(M)[1], rel=1e-12)
    assert factor.sparse_L().nnz < 0.1 * system.nv**2


def wrist(twist):
    """A body on three intersecting axes with two massless links, and a slider beyond."""
    mech = mb.Mechanism("wrist")
    rng = np.random.default_rng(8)
    inner, near = mech.world, np.eye(4)
    for name, axis in (("yaw", (0, 0, 1)), ("pitch", (0, 1, 0)), ("roll", (0, 0, 1))):
        inertia = random_inertia(rng) if name == "roll" else mb.SpatialInertia.zero()
        body = mech.add_body(mb.Body(f"{name} link", inertia=inertia))
        # the link's frame is any; the next joint's frame is this one's, so that all axes meet
        far = random_pose(rng)
        mech.add_joint(mb.RevoluteJoint(name, axis=axis), inner, body, frames=(near, far))
        inner, near = body, far
    tip = mech.add_body(mb.Body("tip", inertia=random_inertia(rng)))
    mech.add_joint(mb.PrismaticJoint("slide"), inner, tip, frames=(random_pose(rng), np.eye(4)))
    return mech.assemble(), np.array([0.4, twist, 0.7, 0.1])


def test_massless_links_are_no_fault_as_long_as_something_moves():
    """Away from gimbal lock M is regular, and its factor solves."""
    system, q = wrist(0.9)
    b = np.array([1.0, -2.0, 0.5, 3.0])
    expected = np.linalg.solve(system.mass_matrix(q), b)
    assert_close(mass_factor(system, q).solve(b), expected, conditioned(system, q))


def test_a_joint_that_moves_no_inertia_is_named():
    """In gimbal lock yaw does nothing that roll cannot undo; as in forward dynamics."""
    system, q = wrist(0.0)
    message = r"'yaw' can move without moving any inertia at this configuration.*At q = \[0.4 0. "
    with pytest.raises(mb.SingularMassMatrixError, match=message):
        mass_factor(system, q)
    with pytest.raises(mb.SingularMassMatrixError, match=r"'yaw' can move"):
        system.forward_dynamics(q, np.zeros(4))


def test_a_motion_without_inertia_is_found_in_any_frames():
    """A point mass on the axis of a joint that carries a slider: rounding does not hide it."""
    rng = np.random.default_rng(9)
    for _ in range(10):
        axis, point = rng.normal(size=3), rng.normal(size=3)
        mech = mb.Mechanism("point on axis")
        arm = mech.add_body(mb.Body("arm"))
        tip = mb.SpatialInertia.from_com(mass=1.0, com=point + 0.3 * axis)
        mass = mech.add_body(mb.Body("mass", tip))
        mech.add_joint(mb.RevoluteJoint("turn", axis=axis, point=point), mech.world, arm)
        mech.add_joint(mb.PrismaticJoint("slide", axis=axis), arm, mass)
        for frames in ("joint", "user", "com", "world"):
            system = mech.assemble(mb.RelativeCoordinates(body_frames=frames))
            with pytest.raises(mb.SingularMassMatrixError, match=r"'turn' can move without"):
                mass_factor(system, rng.normal(size=2))
            with pytest.raises(mb.SingularMassMatrixError, match=r"'turn' can move without"):
                system.forward_dynamics(rng.normal(size=2), np.zeros(2))


def chain(scale):
    """Four boxes of any mass on hinges."""
    rng = np.random.default_rng(10)
    mech = mb.Mechanism("chain")
    inner = mech.world
    for k in range(4):
        inertia = mb.SpatialInertia.box(scale, size=(0.1, 0.2, 0.3))
        body = mech.add_body(mb.Body(f"body{k}", inertia=inertia))
        frames = random_pose(rng), random_pose(rng)
        mech.add_joint(mb.RevoluteJoint(f"joint{k}"), inner, body, frames=frames)
        inner = body
    return mech.assemble()


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_units_of_mass_do_not_matter(scale):
    """What counts as none is a part of the other inertias, not a number of kilograms."""
    q = [0.1, 0.2, 0.3, 0.4]
    expected = np.linalg.slogdet(chain(1.0).mass_matrix(q))[1] + 4.0 * np.log(scale)
    assert mass_factor(chain(scale), q).logdet == pytest.approx(expected, abs=1e-10)


def test_wrong_arguments_are_refused(case):
    """Shapes, types, and configurations that are none."""
    _, system, state, factor = case
    nv = system.nv
    for b in (np.zeros(nv + 1), np.zeros((1, nv)), 3.0, np.zeros((nv, 1, 1)), ["a"] * nv):
        with pytest.raises(mb.ShapeError, match=rf"shape \({nv},\), or \({nv}, k\) for k columns"):
            factor.solve(b)
    with pytest.raises(mb.ShapeError, match="'q' must have shape"):
        mass_factor(system, state.q[:-1])
    q = state.q.copy()
    q[system.position_slice("cardan")] = np.nan
    with pytest.raises(mb.NotFiniteError, match=r"of joint 'cardan' is nan; it must be finite"):
        mass_factor(system, q)
    np.testing.assert_array_equal(mass_factor(system, state.q.tolist()).L, factor.L)


def test_a_mechanism_that_cannot_move_has_a_factor():
    """It has no entries, and the determinant 1."""
    mech = mb.Mechanism("still")
    block = mech.add_body(mb.Body("block", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FixedJoint("weld"), mech.world, block)
    factor = mass_factor(mech.assemble(), [])
    assert factor.L.shape == (0, 0)
    assert factor.solve(np.zeros(0)).shape == (0,)
    assert factor.logdet == 0.0
    assert repr(factor) == "<MassFactor: nv=0, 0 entries of L off the diagonal>"


def test_what_is_read_is_the_callers_own(case):
    """Writing into L, D or order changes nothing of the factor."""
    _, _, state, factor = case
    before = factor.solve(state.tau)
    for array in (factor.L, factor.D, factor.order, factor.parent):
        array[...] = 0
    np.testing.assert_array_equal(factor.solve(state.tau), before)
