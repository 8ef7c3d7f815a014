"""The configuration nearest to a pose, which joints that close loops are asked for."""

import itertools

import numpy as np
import pytest
import scipy.optimize

import mbkit as mb
from mbkit.lie import SE3, SO3
from mbkit.spatial import inverse
from tests.contracts.test_joint import JOINTS, every_place, step
from tests.joints.loop_forms import LoopRow
from tests.joints.pose_only import TWINS
from tests.reference.user_joints import BallJoint, CardanJoint, PlanarJoint

ORDERS = [
    "".join(axes)
    for axes in itertools.product("xyz", repeat=3)
    if axes[0] != axes[1] and axes[1] != axes[2]
]


class Rack(mb.Joint):
    """A wheel on a rack: the way tells its turns."""

    num_positions = num_velocities = 1

    def pose(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, 0, s, 0.1 * q[0]], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]])


class SayingRack(Rack):
    """It says itself where it is."""

    asked = 0

    def configuration_from_pose(self, T):
        SayingRack.asked += 1
        return T[:1, 3] / 0.1


ANGLES = [mb.SphericalJoint(o, (0.1, 0.2, 0.3), coordinates="second kind", order=o) for o in ORDERS]
SKEW = [
    mb.UniversalJoint("skew cross", axis1=(1, 0.2, 0), axis2=(0.9, 0.5, 0.1), point=(0.1, 0, 1)),
    mb.PlanarJoint("y, x, turn", coordinates="second kind", order=("y", "x", "angle")),
    mb.SchoenfliesJoint("z, x, turn, y", coordinates="second kind", order=("z", "x", "angle", "y")),
]
OWN = [Rack("rack"), SayingRack("saying"), CardanJoint("cardan"), BallJoint("ball")]
OWN += [PlanarJoint("plane"), *(make(name) for name, (_, make) in TWINS.items())]
MOVING = [joint for joint in [*JOINTS, *ANGLES, *SKEW, *OWN] if joint.num_velocities]

# the place alone tells it where it is, which is not nearest
NEAREST = [joint for joint in MOVING if not isinstance(joint, SayingRack)]
every_nearest = pytest.mark.parametrize("joint", NEAREST, ids=lambda joint: joint.name)
every_joint = pytest.mark.parametrize("joint", MOVING, ids=lambda joint: joint.name)


def away(joint, x):
    """The configuration a step from the neutral one."""
    return np.asarray(joint.retract(joint.neutral(), x))


def off(T, size, seed=3):
    x = np.random.default_rng(seed).normal(size=6)
    return T @ SE3.exp(size * x / np.linalg.norm(x))


def left(joint, q, T):
    """What is left of T, (w, d), and S, both in the canonical frame."""
    K = joint.canonical_frame
    E = inverse(K) @ inverse(joint.pose(q)) @ T @ K
    S = SE3.Ad(inverse(K)) @ joint.motion_subspace(q)
    return np.concatenate([SO3.log(E[:3, :3]), E[:3, 3]]), S


@pytest.mark.some(8)
@every_joint
@every_place
def test_a_pose_of_the_joint_is_found_again(joint, size):
    """To rounding; at a half turn, of angles of different signs."""
    T = joint.pose(away(joint, step(joint, size)))
    np.testing.assert_allclose(joint.pose(joint.configuration_from_pose(T)), T, atol=1e-14)


@pytest.mark.some(8)
@every_joint
def test_random_poses_of_the_joint_are_found_again(joint):
    """Composites, and joints that do not say where they are, search for it from several places."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        T = joint.pose(np.asarray(joint.random(rng)))
        np.testing.assert_allclose(joint.pose(joint.configuration_from_pose(T)), T, atol=3e-14)


@pytest.mark.some(3)
@every_nearest
def test_what_is_left_of_a_pose_that_is_off_has_no_part_along_the_joint(joint):
    """But for terms of second order: a tenth of the way off leaves a hundredth of them."""
    T = joint.pose(away(joint, step(joint, 0.8)))
    parts = []
    for size in (1e-2, 1e-3):
        x, S = left(joint, joint.configuration_from_pose(off(T, size)), off(T, size))
        parts.append(np.linalg.norm(np.linalg.pinv(S) @ x))
    assert parts[0] < 5e-3
    assert parts[1] < 0.02 * parts[0] + 1e-13


@pytest.mark.some(3)
@every_nearest
def test_wrenches_see_all_that_is_left(joint):
    """W^T log(pose^-1 T) is zero for poses of the joint alone: it is as long as what is left."""
    T = joint.pose(away(joint, step(joint, 0.8)))
    for seed in range(5):
        target = off(T, 1e-3, seed)
        q = joint.configuration_from_pose(target)
        x = SE3.log(inverse(joint.pose(q)) @ target)
        # of unit length and normal to each other, in the canonical frame
        K = joint.canonical_frame
        W = np.linalg.qr(SE3.Ad(K).T @ joint.constraint_wrenches(q))[0]
        inside = SE3.Ad(inverse(K)) @ x
        assert np.linalg.norm(W.T @ inside) > (1.0 - 1e-4) * np.linalg.norm(inside) - 1e-14


@pytest.mark.some(6)
@every_joint
def test_it_changes_smoothly_off_the_poses_of_the_joint(joint):
    """Second differences of the found pose along a path are those of a curve."""
    T = off(joint.pose(away(joint, step(joint, 0.8))), 1e-3)
    x = np.random.default_rng(8).normal(size=6)
    path = [T @ SE3.exp(1e-4 * k * x / np.linalg.norm(x)) for k in range(-8, 9)]
    found = np.array([joint.pose(joint.configuration_from_pose(each)) for each in path])
    assert np.abs(np.diff(found, axis=0)).max() < 1e-3
    assert np.abs(np.diff(found, n=2, axis=0)).max() < 1e-6


@pytest.mark.some(8)
@pytest.mark.parametrize(
    "joint",
    [j for j in NEAREST if j.num_velocities < 6 and not isinstance(j, mb.UniversalJoint)],
    ids=lambda joint: joint.name,
)
def test_no_configuration_nearby_is_nearer(joint):
    """Against a search by another method, for a pose that is far off."""
    T = off(joint.pose(away(joint, step(joint, 0.5))), 0.05)
    q = joint.configuration_from_pose(T)

    def rest(dx):
        return left(joint, np.asarray(joint.retract(q, dx)), T)[0]

    found = scipy.optimize.least_squares(rest, np.zeros(joint.num_velocities), xtol=1e-12)
    assert np.sum(rest(found.x * 0.0) ** 2) <= 2.0 * found.cost * (1.0 + 1e-3)


@pytest.mark.parametrize("q", [37.3, -58.1, 0.2])
@pytest.mark.parametrize(
    "joint",
    [
        mb.HelicalJoint("fine thread", (1, 2, 3), (0.1, 0, 0.2), pitch=1e-3),
        mb.ScrewJoint("left-handed", screw=(0, 0, -0.3, 0.1, 0, 0.05)),
        mb.HelicalPlanarJoint("sliding nut", (0, 1, 1), pitch=-0.02),
        mb.HelicalPlanarJoint("first", (0, 1, 1), pitch=0.02, coordinates="first kind"),
        mb.HelicalPlanarJoint("second", (0, 1, 1), pitch=0.02, coordinates="second kind"),
        Rack("rack"),
    ],
    ids=lambda joint: joint.name,
)
def test_turns_are_told_by_the_way(joint, q):
    """Of a screw that advances, and of a joint in Python that does."""
    x = np.zeros(joint.num_positions)
    x[0] = q
    T = joint.pose(x)
    np.testing.assert_allclose(joint.configuration_from_pose(T), x, atol=2e-12)
    found = LoopRow(joint).configuration_from_pose(T)
    assert found[0] == 0
    np.testing.assert_allclose(found[1], x, atol=2e-12)


def test_a_screw_that_hardly_advances_counts_no_turns():
    """Rounding of the way would be a million of them."""
    nut = mb.HelicalJoint("nut", pitch=1e-17)
    T = np.eye(4)
    T[2, 3] = 1e-3
    assert abs(nut.configuration_from_pose(T)[0]) < 1e-12
    assert abs(LoopRow(nut).configuration_from_pose(T)[1][0]) < 1e-12


@pytest.mark.some(3)
@every_joint
def test_compiled_forms_find_the_same(joint):
    """Closed forms, the general search, and joints in Python that are called back."""
    row = LoopRow(joint)
    T = joint.pose(away(joint, step(joint, 0.8)))
    for size in (0.0, 1e-3):
        target = off(T, size)
        state, q = row.configuration_from_pose(target)
        assert state == 0
        np.testing.assert_allclose(
            joint.pose(q), joint.pose(joint.configuration_from_pose(target)), atol=1e-13
        )


def test_a_joint_that_says_where_it_is_is_asked():
    """By the compiled side too."""
    row = LoopRow(SayingRack("rack"))
    before = SayingRack.asked
    assert row.configuration_from_pose(row.joint.pose(np.array([0.3])))[1][0] == pytest.approx(0.3)
    assert SayingRack.asked == before + 1


def test_an_exception_ends_the_search():
    """It is kept in the slot, and the status is not zero."""

    class Stuck(Rack):
        def pose(self, q):
            if abs(q[0]) > 0.1:
                raise ValueError("beyond the rail")
            return super().pose(q)

    row = LoopRow(Stuck("rack"))
    assert row.configuration_from_pose(Rack("rack").pose(np.array([0.3])))[0] != 0
    assert isinstance(row.slot.error, ValueError)


@every_nearest
def test_not_a_number_comes_out_where_it_comes_in(joint):
    """A run that has blown up is found by its numbers."""
    T = np.full((4, 4), np.nan)
    assert np.isnan(joint.configuration_from_pose(T)).all()
    state, q = LoopRow(joint).configuration_from_pose(T)
    assert state == 0
    assert np.isnan(q).any()


def test_fixed_joints_have_nothing_to_find():
    """And a row that was filled for a tree says so."""
    assert mb.FixedJoint("weld").configuration_from_pose(np.eye(4)).shape == (0,)
    assert LoopRow(mb.FixedJoint("weld")).configuration_from_pose(np.eye(4))[0] == 0
    row = LoopRow(mb.SphericalJoint("ball"))
    row.rows[0]["configuration_from_pose"] = 0
    assert row.configuration_from_pose(np.eye(4))[0] != 0


def test_nonholonomic_joints_are_not_found():
    """Their poses have more dimensions than their wrenches leave."""

    class Skate(mb.Joint):
        num_positions, num_velocities, ndx = 3, 2, 3

        def pose(self, q):
            c, s = np.cos(q[0]), np.sin(q[0])
            return np.array([[c, -s, 0, q[1]], [s, c, 0, q[2]], [0, 0, 1, 0], [0, 0, 0, 1]])

        def rates(self, q, v):
            return np.array([v[0], v[1] * np.cos(q[0]), v[1] * np.sin(q[0])])

    with pytest.raises(mb.JointError, match="'skate' is nonholonomic, with 3 directions"):
        Skate("skate").configuration_from_pose(np.eye(4))


def test_gimbals_are_found_where_they_lock():
    """Only the sum or the difference of two angles is told there; the pose is the same."""
    for joint in ANGLES:
        proper = joint.order[0] == joint.order[2]
        for middle in (0.0, np.pi) if proper else (0.5 * np.pi, -0.5 * np.pi):
            T = joint.pose(np.array([0.4, middle, -1.1]))
            np.testing.assert_allclose(
                joint.pose(joint.configuration_from_pose(T)), T, atol=1e-15 * 5
            )
