"""The system Jacobian and its factors, on random trees of all joints either way round."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.at_each import at_each
from tests.every_representation import REPRESENTATIONS
from tests.trees import random_mechanism, random_state

SCREWS = ("body_fixed", "spatial", "hybrid", "mixed", "reference")

# Round-off through at most 20 frames with entries of order 10.
TOLERANCE = 1e-12


@pytest.fixture(scope="module", params=range(4))
def case(request):
    """A tree of 8 to 20 bodies with every kind of joint, its system and a state."""
    rng = np.random.default_rng(2000 + request.param)
    mechanism = random_mechanism(rng, int(rng.integers(8, 21)), reach=int(rng.integers(1, 8)))
    system = mechanism.assemble()
    return mechanism, system, random_state(rng, system), rng


@pytest.fixture(params=REPRESENTATIONS, ids=lambda each: each.name)
def representation(request):
    return request.param


def ends(mechanism):
    """The parent of each body by the joints, with the joint: what the tree must say."""
    parents = {}
    known = {"world"}
    while len(known) <= len(mechanism.bodies):
        for name, edge in mechanism.joints.items():
            pair = (edge.predecessor, edge.successor)
            if (pair[0] in known) != (pair[1] in known):
                parent, child = pair if pair[0] in known else pair[::-1]
                parents[child] = (parent, name)
                known.add(child)
    return parents


def path(mechanism, body):
    """The bodies from a body to the world, the world left out."""
    parents = ends(mechanism)
    found = []
    while body != "world":
        found.append(body)
        body = parents[body][0]
    return found


@pytest.mark.some(2)
def test_tree_of_the_bodies(case):
    """Parents, joints and velocities of the tree are those of the mechanism."""
    mechanism, system, _, _ = case
    tree, names = system.tree, system.body_names
    for body, (parent, joint) in ends(mechanism).items():
        row = names.index(body)
        assert names[tree.parents[row]] == parent
        assert tree.joints[row] == joint
        entries = system.velocity_slice(joint)
        assert tree.first_velocity[row] == entries.start
        assert tree.num_velocities[row] == entries.stop - entries.start
        assert (tree.body_of_velocity[entries] == row).all()
    depths = [len(path(mechanism, body)) for body in names[1:]]
    assert [list(level) for level in tree.levels[1:]] == [
        [row for row, depth in enumerate([0, *depths]) if depth == wanted]
        for wanted in range(1, max(depths) + 1)
    ]


def test_motion_subspaces_are_relative_twists(case):
    """V_i - Ad V_p = X_i v_i for every body, at the user's frame."""
    mechanism, system, state, _ = case
    X, C = system.motion_subspaces(state.q), system.poses(state.q)
    V = system.twists(state.q, state.v)
    for body, (parent, joint) in ends(mechanism).items():
        i, p = system.body_index(body), system.body_index(parent)
        entries = system.velocity_slice(joint)
        relative = V[i] - SE3.Ad(np.linalg.inv(C[i]) @ C[p]) @ V[p]
        assert np.abs(relative - state.v[entries] @ X[entries]).max() <= TOLERANCE * (
            1.0 + np.abs(V).max()
        )


def stacked(system, q, representation):
    """The Jacobians of all bodies, one below the other, from the recursions of the system."""
    C = system.poses(q)
    own = system.representation
    return np.vstack(
        [
            representation.twist_map(C[k]) @ own.inverse_twist_map(C[k]) @ system.jacobian(body, q)
            for k, body in enumerate(system.body_names)
        ][1:]
    )


@pytest.mark.some(4)
@at_each("screws", {screws: screws for screws in (None, *SCREWS)})
def test_factors(case, representation, screws):
    """J is the Jacobians of all bodies; J = A X; A^-1 is the inverse of A."""
    _, system, state, _ = case
    found = system.system_jacobian(state.q, representation, screws)
    expected = stacked(system, state.q, representation)
    scale = np.abs(expected).max() * np.abs(found.A).max()
    assert np.abs(found.J - expected).max() <= TOLERANCE * scale
    assert np.abs(found.A @ found.X - expected).max() <= TOLERANCE * scale
    identity = np.eye(found.shape[0])
    assert np.abs(found.A @ found.A_inverse - identity).max() <= TOLERANCE * scale**2
    if screws is None:
        corner = found.A.toarray()[:6, :6]
        assert np.array_equal(corner, np.eye(6))


@pytest.mark.some(4)
@at_each("screws", {screws: screws for screws in SCREWS})
def test_operators_are_the_matrices(case, representation, screws):
    """Recursions along the tree give what the matrices do, transposed too, for one or several."""
    _, system, state, rng = case
    found = system.system_jacobian(state.q, representation, screws)
    for which in ("J", "A", "A_inverse"):
        matrix, operator = getattr(found, which), found.operator(which)
        tolerance = TOLERANCE * (1.0 + np.abs(found.A).max() * np.abs(matrix).max()) * 10
        right, left = rng.normal(size=(matrix.shape[1], 3)), rng.normal(size=(matrix.shape[0], 3))
        assert np.abs(operator @ right - matrix @ right).max() <= tolerance
        assert np.abs(operator.T @ left - matrix.T @ left).max() <= tolerance
        assert np.abs(operator @ right[:, 0] - matrix @ right[:, 0]).max() <= tolerance
        assert np.abs(operator.T @ left[:, 0] - matrix.T @ left[:, 0]).max() <= tolerance
    V = found.apply(state.v)
    relative = found.X @ state.v
    assert np.abs(found.solve(V) - relative).max() <= TOLERANCE * 1e2 * (1.0 + np.abs(V).max())


@pytest.mark.some(4)
def test_nilpotency(case, representation):
    """T to the power of the depth is zero, and to one less it is not."""
    mechanism, system, state, _ = case
    T = system.system_jacobian(state.q, representation).T.toarray()
    depth = max(len(path(mechanism, body)) for body in mechanism.bodies)
    assert np.array_equal(np.linalg.matrix_power(T, depth), np.zeros_like(T))
    assert np.abs(np.linalg.matrix_power(T, depth - 1)).max() > 0.1


@pytest.mark.some(2)
def test_pattern_is_the_tree(case, representation):
    """Block (i, j) of A is there if j is on the path of i; A^-1 has the diagonal and parents."""
    mechanism, system, state, _ = case
    found = system.system_jacobian(state.q, representation, "reference")
    names = found.body_names

    def blocks(matrix):
        blocked = np.abs(matrix.toarray()).reshape(len(names), 6, len(names), 6).max(axis=(1, 3))
        return blocked > 1e-9

    on_path = np.array([[b in path(mechanism, a) for b in names] for a in names])
    nearest = np.array([[b in path(mechanism, a)[:2] for b in names] for a in names])
    assert np.array_equal(blocks(found.A), on_path)
    assert np.array_equal(blocks(found.A_inverse), nearest)
    for k, name in enumerate(found.velocity_names):
        joint = name.split("[")[0]
        body = next(each for each, (_, edge) in ends(mechanism).items() if edge == joint)
        rows = np.flatnonzero(np.abs(found.J.toarray()[:, k].reshape(-1, 6)).max(axis=1) > 1e-9)
        assert set(rows) <= {i for i, each in enumerate(names) if body in path(mechanism, each)}


def test_forms_of_the_screws(case):
    """X_i body-fixed is Ad_A_i^-1 of Y_i; Y_i is constant where X_i is."""
    _, system, state, rng = case
    other = random_state(rng, system).q
    X = [system.system_jacobian(q, screws="body_fixed").X for q in (state.q, other)]
    Y = [system.system_jacobian(q, screws="reference").X for q in (state.q, other)]
    # all but joints of several velocities that are turned round
    constant = np.flatnonzero(np.abs((X[0] - X[1]).toarray()).max(axis=0) < 1e-12)
    assert len(constant) >= len(system.tree.joints) - 6
    assert np.abs((Y[0] - Y[1]).toarray()[:, constant]).max() < 1e-11
    A = system.poses(system.reference_configuration())
    for k, body in enumerate(system.tree.body_of_velocity):
        rows = slice(6 * body - 6, 6 * body)
        expected = SE3.Ad(A[body]) @ X[0].toarray()[rows, k]
        assert np.abs(Y[0].toarray()[rows, k] - expected).max() < 1e-11


def test_printed_inverse_of_spatial_factor_is_wrong(case):
    """Mueller 2018, (34): (I - D) diag(Ad_C) is printed; the inverse is (I - D) diag(Ad_C^-1)."""
    _, system, state, _ = case
    body = system.system_jacobian(state.q, mb.BodyFixed())
    spatial = system.system_jacobian(state.q, mb.Spatial(), "body_fixed")
    C = system.poses(state.q)[1:]
    identity = np.eye(body.shape[0])
    difference = identity - body.T.toarray()

    def diagonal(blocks):
        matrix = np.zeros_like(identity)
        for k, block in enumerate(blocks):
            matrix[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = block
        return matrix

    right = difference @ diagonal(SE3.Ad(np.linalg.inv(C)))
    printed = difference @ diagonal(SE3.Ad(C))
    assert np.abs(spatial.A @ right - identity).max() < 1e-10
    assert np.abs(spatial.A @ printed - identity).max() > 0.1
    assert np.abs(spatial.A_inverse - right).max() < 1e-12 * np.abs(right).max()


def test_printed_diagonal_of_mixed_factor_is_wrong(case):
    """Mueller 2018, (53): with hybrid screws the diagonal of A is diag(R^T, I), not I."""
    _, system, state, _ = case
    found = system.system_jacobian(state.q, mb.Mixed(), "hybrid")
    A = found.A.toarray()
    R = system.poses(state.q)[1:, :3, :3]
    for k in range(len(R)):
        block = A[6 * k : 6 * k + 6, 6 * k : 6 * k + 6]
        expected = np.eye(6)
        expected[:3, :3] = R[k].T
        assert np.abs(block - expected).max() < 1e-13
    assert np.abs(A[:6, :6] - np.eye(6)).max() > 1e-3


def test_blocks_of_section_two():
    """On a chain: Ad_{C_ij} body-fixed, Ad_{r_ij} hybrid, [[R_ij, 0], [r~_ij R_j, I]] mixed."""
    rng = np.random.default_rng(7)
    system = random_mechanism(rng, 4, ("revolute", "helical"), reach=1).assemble()
    q = random_state(rng, system).q
    C = system.poses(q)
    last, first = C[-1], C[1]
    r = first[:3, 3] - last[:3, 3]
    hat = np.cross(np.eye(3), r)
    shift = np.block([[np.eye(3), np.zeros((3, 3))], [hat, np.eye(3)]])
    mixed = np.block(
        [
            [last[:3, :3].T @ first[:3, :3], np.zeros((3, 3))],
            [hat @ first[:3, :3], np.eye(3)],
        ]
    )
    expected = {
        "body_fixed": SE3.Ad(np.linalg.inv(last) @ first),
        "spatial": np.eye(6),
        "hybrid": shift,
        "mixed": mixed,
    }
    for representation in REPRESENTATIONS:
        A = system.system_jacobian(q, representation).A.toarray()
        assert np.abs(A[-6:, :6] - expected[representation.name]).max() < 1e-12


def test_refusals():
    """What cannot be is named."""
    system = random_mechanism(np.random.default_rng(0), 3).assemble()
    q = system.reference_configuration()
    with pytest.raises(mb.UsageError, match=r"must be a representation, got 'hybrid'"):
        system.system_jacobian(q, "hybrid")
    with pytest.raises(mb.UsageError, match="did you mean 'hybrid'"):
        system.system_jacobian(q, screws="hybird")
    with pytest.raises(mb.ShapeError, match="Argument 'q'"):
        system.system_jacobian(q[:-1])
    found = system.system_jacobian(q)
    with pytest.raises(mb.ShapeError, match="takes 18 numbers"):
        found.apply_transpose(np.zeros(5))
    with pytest.raises(mb.UsageError, match="no factor 'B'"):
        found.operator("B")
