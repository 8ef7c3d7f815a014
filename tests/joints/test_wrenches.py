"""The wrenches that joints bear: reciprocal, complete, and next to each other at neighbours."""

import itertools

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.reciprocal_wrenches import complement
from mbkit.kernels.joints.reciprocal_wrenches import BACK
from mbkit.lie import SE3
from mbkit.parts.placed_joints import placed_beside
from mbkit.spatial import inverse
from tests.contracts.test_joint import JOINTS, every_place, step
from tests.joints.loop_forms import LoopRow
from tests.joints.pose_only import TWINS


class ByMotion(mb.Joint):
    """A compiled joint that gives its motion alone."""

    num_positions = num_velocities = 2

    def __init__(self, name):
        super().__init__(name)
        self._screws = mb.UniversalJoint("cross", (1, 0.2, 0), (0, 1, 0.3))

    def pose(self, q):
        return self._screws.pose(q)

    def motion_subspace(self, q):
        return self._screws.motion_subspace(q)

    def bias(self, q, v):
        return self._screws.bias(q, v)

    def kernels(self):
        return mb.JointKernels(motion=self._screws.kernels().motion)

    def parameters(self):
        return self._screws.parameters()


def screws(count, seed):
    rng = np.random.default_rng(seed)
    members = [mb.ScrewJoint(f"{i}", rng.normal(size=6)) for i in range(count)]
    return mb.CompositeJoint(f"{count} screws", *members)


def turns(count, seed):
    rng = np.random.default_rng(seed)
    axes = rng.integers(0, 3, size=count)
    members = [
        mb.RevoluteJoint(f"{i}", np.eye(3)[axis], rng.integers(-1, 2, size=3))
        for i, axis in enumerate(axes)
    ]
    return mb.CompositeJoint(f"{count} turns", *members)


COMPOSITES = [screws(count, seed=count) for count in range(1, 7)]
COMPOSITES += [turns(count, seed) for count, seed in ((2, 2), (3, 3), (4, 7), (5, 5))]
ALL = [*JOINTS, *COMPOSITES, ByMotion("by motion")]
ALL += [make(name) for name, (_, make) in TWINS.items()]
every_joint = pytest.mark.parametrize("joint", ALL, ids=lambda joint: joint.name)


@pytest.mark.some(6)
@every_joint
@every_place
def test_compiled_wrenches_do_no_work_and_are_all_there_are(joint, size):
    """W^T S = 0 to rounding, and no combination of unit length is short."""
    q = joint.retract(joint.neutral(), step(joint, size))
    S = SE3.Ad(inverse(joint.canonical_frame)) @ joint.motion_subspace(q)
    state, W = LoopRow(joint).wrenches(q)
    assert state == 0
    assert W.shape == (6, 6 - joint.num_velocities)
    np.testing.assert_allclose(W.T @ S, 0.0, atol=1e-14 * max(1.0, np.abs(S).max(initial=0.0)))
    if W.size and np.linalg.matrix_rank(S, tol=1e-7) == joint.num_velocities:
        assert np.linalg.svd(W / np.linalg.norm(W, axis=0))[1][-1] > 0.3


@pytest.mark.every_case
@every_joint
def test_compiled_wrenches_are_those_of_the_method(joint):
    """Carried over to the canonical frame; column by column where neither is given."""
    q = joint.retract(joint.neutral(), step(joint, 0.8))
    _, W = LoopRow(joint).wrenches(q)
    # a wrench is carried by Ad_K^T
    expected = SE3.Ad(joint.canonical_frame).T @ joint.constraint_wrenches(q)
    np.testing.assert_allclose(W, expected, atol=2e-14)


@pytest.mark.some(12)
@every_joint
def test_wrenches_change_smoothly(joint):
    """Along a path through the neutral configuration, halving the steps halves the changes."""
    if joint.num_velocities in (0, 6):
        return
    x = step(joint, 1.4, seed=12)
    changes = []
    for count in (200, 400):
        path = [
            joint.constraint_wrenches(np.asarray(joint.retract(joint.neutral(), s * x)))
            for s in np.linspace(-1.0, 1.0, count)
        ]
        changes.append(np.abs(np.diff(path, axis=0)).max())
    assert changes[1] < 0.6 * changes[0] + 1e-13


@pytest.mark.some(4)
@pytest.mark.parametrize("count", range(1, 6))
def test_the_basis_is_continuous_along_random_paths(count):
    """A jump would stay as large in ever shorter steps about it.

    Random paths miss the places where a column points along -e_k, which have 6 - k conditions.
    """
    rng = np.random.default_rng(count)
    for _ in range(10):
        first, second = rng.normal(size=(2, 6, count))
        low, high, change = 0.0, np.pi, 1.0
        for number in (400, 200, 200, 200):
            angles = np.linspace(low, high, number)
            path = [complement(np.cos(a) * first + np.sin(a) * second) for a in angles]
            changes = np.abs(np.diff(path, axis=0)).max(axis=(1, 2))
            k = int(np.argmax(changes))
            low, high, change = angles[k], angles[k + 1], changes[k]
        assert change < 1e-4


def test_the_basis_turns_as_screws_along_the_axes_do():
    """Hinges and rails along the axes of a frame are common; none may be where the basis jumps."""
    rng = np.random.default_rng(0)
    for count in range(1, 5):
        choices = [*itertools.permutations(range(6), count)]
        for chosen in rng.permutation(choices)[:120]:
            signs = rng.choice([-1.0, 1.0], size=count)
            S = signs * np.eye(6)[:, chosen]
            change = 1e-6 * rng.normal(size=S.shape)
            turned = complement(S + change) - complement(S)
            assert np.abs(turned).max() < 100.0 * np.abs(change).max(), (chosen, signs)


@pytest.mark.parametrize("count", range(4))
def test_rotations_about_one_point_leave_moments_and_forces(count):
    """Each alone: a vector of both would have another direction in another unit of length."""
    rng = np.random.default_rng(count)
    S = np.zeros((6, count))
    S[:3] = rng.normal(size=(3, count))
    W = complement(S)
    moments, forces = np.abs(W[:3]).max(axis=0) > 1e-14, np.abs(W[3:]).max(axis=0) > 1e-14
    assert (moments != forces).all()
    assert moments.sum() == 3 - count


@pytest.mark.parametrize(
    "hinge",
    [
        mb.RevoluteJoint("far", axis=(1, 2, -2), point=(300.0, -200.0, 500.0)),
        mb.HelicalJoint("far", axis=(0, 0, -1), point=(0.0, 1e4, 0.0), pitch=0.3),
    ],
    ids=("hinge", "screw"),
)
def test_a_joint_far_from_its_body_bears_moments_and_forces(hinge):
    """An orthonormal basis, reciprocal to its screw, with one vector of both along its axis."""
    joint, K = placed_beside(hinge, np.array([0.3, -0.1, 0.2]))
    W = joint.motion.constraint_wrenches(np.zeros(1))
    S = SE3.Ad(inverse(K)) @ hinge.motion_subspace(np.zeros(1))
    np.testing.assert_allclose(W.T @ W, np.eye(5), atol=1e-14)
    np.testing.assert_allclose(W.T @ S, 0.0, atol=1e-12 * np.abs(S).max())
    assert not W[3:, :2].any()
    assert not W[:3, 2:4].any()


def test_one_wrench_of_five_columns_turns_as_they_do():
    """It is their generalized cross product, by its length: there is no place where it jumps."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        S = rng.normal(size=(6, 5))
        minors = [(-1) ** k * np.linalg.det(np.delete(S, k, axis=0)) for k in range(6)]
        expected = minors / np.linalg.norm(minors)
        sign = 1.0 if np.linalg.det(complement(np.eye(6)[:, :5])[5:]) < 0.0 else -1.0
        np.testing.assert_allclose(complement(S)[:, 0], sign * expected, atol=1e-12)


@pytest.mark.parametrize("count", range(6))
@pytest.mark.parametrize("kind", ["random", "opposite", "zero", "repeated", "tiny"])
def test_any_columns_have_an_orthonormal_complement(count, kind):
    """Also where a reflection has no direction, and where columns depend on each other."""
    rng = np.random.default_rng(count)
    S = {
        "random": rng.normal(size=(6, count)),
        "opposite": -BACK[:, :count],
        "zero": np.zeros((6, count)),
        "repeated": np.outer(rng.normal(size=6), np.ones(count)),
        "tiny": 1e-120 * rng.normal(size=(6, count)),
    }[kind]
    W = complement(S)
    assert W.shape == (6, 6 - count)
    np.testing.assert_allclose(W.T @ W, np.eye(6 - count), atol=3e-15)
    np.testing.assert_allclose(W.T @ S, 0.0, atol=1e-14 * np.abs(S).max(initial=0.0))


@pytest.mark.parametrize("columns", [(0.0, 0.0), (np.pi / 2, 0.4)])
def test_a_singular_joint_has_as_many_wrenches_as_elsewhere(columns):
    """Finite, normal to S and to each other; one more does no work there, and is not given."""
    joint = mb.CompositeJoint(
        "folded",
        mb.RevoluteJoint("a", (0, 0, 1)),
        mb.RevoluteJoint("b", (1, 0, 0)),
        mb.RevoluteJoint("c", (0, 0, 1)),
    )
    q = np.array([columns[0], 0.0, columns[1]])
    S = joint.motion_subspace(q)
    assert np.linalg.matrix_rank(S) == 2
    for W in (joint.constraint_wrenches(q), LoopRow(joint).wrenches(q)[1]):
        np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(W.T @ S, 0.0, atol=1e-14)
