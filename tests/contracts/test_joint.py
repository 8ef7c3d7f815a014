"""Every joint keeps the contract of `mbkit.Joint`."""

import itertools

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.joints import JOINT_TYPES, Joint, check_joint_definition
from mbkit.spatial import inverse
from tests.at_each import at_each
from tests.joints.absolute_joints import SOME_ABSOLUTE_JOINTS

AXIS, POINT = (0.5, -1.0, 0.7), (0.4, -0.3, 0.8)

# Misaligned axes and points: a joint in its canonical frame would hide half of the formulas.
JOINTS = [
    mb.ScrewJoint("screw", screw=(0.3, -1.1, 0.6, 0.2, 0.5, -0.7)),
    mb.ScrewJoint("screw that shifts", screw=(0.0, 0.0, 0.0, 0.2, -2.5, 0.4)),
    mb.ScrewJoint("screw about -z", screw=(0.0, 0.0, -2.0, 0.3, 0.1, 0.2)),
    mb.RevoluteJoint("revolute", axis=(1.0, 2.0, -2.0), point=(0.3, -0.2, 0.9)),
    mb.RevoluteJoint("revolute about z"),
    mb.PrismaticJoint("prismatic", axis=(-1.0, 0.4, -3.0), point=(0.3, -0.2, 0.9)),
    mb.HelicalJoint("helical", axis=(0.5, -1.0, 0.7), point=(0.1, 0.8, -0.4), pitch=-0.3),
    mb.SphericalJoint("spherical", point=(0.4, -0.3, 0.8)),
    mb.FreeJoint("free"),
    mb.FixedJoint("fixed"),
    mb.CylindricalJoint("cylindrical", AXIS, POINT),
    mb.UniversalJoint("universal", axis1=(1, 2, -1), axis2=(0.3, -1, 0.5), point=POINT),
    mb.ConstantVelocityJoint("constant velocity", AXIS, POINT),
    mb.TranslationalJoint("translational 3", axes=[(1, 2, 3), (0, -1, 0.4), (0.5, 0, 1)]),
    mb.TranslationalJoint("translational 2", axes=[(1, 2, 3), (0, -1, 0.4)]),
    mb.SphericalJoint("rotation vector", POINT, coordinates="first kind"),
    mb.SphericalJoint("yaw pitch roll", POINT, coordinates="second kind"),
    mb.SphericalJoint("angles xyz", POINT, coordinates="second kind", order="xyz"),
    mb.FreeJoint("screw coordinates", coordinates="first kind"),
    *(
        make(f"{name} {kind}", AXIS, POINT, coordinates=kind, **options)
        for name, make, options in (
            ("planar", mb.PlanarJoint, {}),
            ("helical planar", mb.HelicalPlanarJoint, {"pitch": -0.3}),
            ("Schoenflies", mb.SchoenfliesJoint, {}),
        )
        for kind in ("group", "first kind", "second kind")
    ),
    mb.PlanarJoint("x, turn, y", coordinates="second kind", order=("x", "angle", "y")),
    mb.CompositeJoint(
        "composite of screws",
        mb.RevoluteJoint("a", AXIS, POINT),
        mb.HelicalJoint("b", (0, 1, 1), pitch=0.2),
        mb.UniversalJoint("c", point=(0.1, 0.2, 0.3)),
    ),
    mb.CompositeJoint(
        "composite of groups",
        mb.SphericalJoint("a", POINT),
        mb.PrismaticJoint("b", AXIS),
        mb.FixedJoint("c"),
        mb.ConstantVelocityJoint("d", (1, 1, 0), (0.5, 0, 0)),
    ),
]


@attrs.frozen
class ParabolaJoint(Joint):
    """A user's joint whose motion subspace depends on q: along a parabola, turning on the way."""

    name: str
    num_positions = 1
    num_velocities = 1

    def pose(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array(
            [[c, 0.0, s, q[0]], [0.0, 1.0, 0.0, 0.0], [-s, 0.0, c, q[0] ** 2], [0.0, 0.0, 0.0, 1.0]]
        )

    def motion_subspace(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[0.0, 1.0, 0.0, c - 2.0 * q[0] * s, 0.0, s + 2.0 * q[0] * c]]).T

    def bias(self, q, v):
        c, s = np.cos(q[0]), np.sin(q[0])
        x = -3.0 * s - 2.0 * q[0] * c
        z = 3.0 * c - 2.0 * q[0] * s
        return np.array([0.0, 0.0, 0.0, x, 0.0, z]) * v[0] ** 2


JOINTS += SOME_ABSOLUTE_JOINTS
JOINTS.append(ParabolaJoint("parabola"))
JOINTS.append(
    mb.CompositeJoint(
        "composite with Python",
        mb.PlanarJoint("a", AXIS, POINT),
        ParabolaJoint("b"),
        mb.RevoluteJoint("c", POINT, AXIS),
    )
)

every_joint = pytest.mark.parametrize("joint", JOINTS, ids=lambda joint: joint.name)

# Steps from the neutral configuration, by their length in the group's coordinates.
SIZES = {"identity": 0.0, "near it": 1e-8, "random": 1.3, "near pi": np.pi - 1e-5}
every_place = at_each("size", SIZES)


def step(joint, size, seed=7):
    """A random step whose rotational part, or all of it, has the given length."""
    x = np.random.default_rng(seed).normal(size=joint.num_velocities)
    rotational = x[:3] if joint.num_velocities > 1 else x
    return x * (size / np.linalg.norm(rotational)) if x.size else x


def configuration(joint, size):
    return joint.retract(joint.neutral(), step(joint, size))


def derivative(function, h=2e-2):
    """Return d/de of a function at 0 by central differences, extrapolated three times.

    The error is of order h^8 times the ninth derivative, about 1e-14 here, and rounding.
    """
    table = [(function(h / 2**k) - function(-h / 2**k)) / (2.0 * h / 2**k) for k in range(4)]
    for order in range(1, 4):
        factor = 4.0**order
        table = [
            (factor * fine - coarse) / (factor - 1.0) for coarse, fine in itertools.pairwise(table)
        ]
    return table[0]


def vee(M):
    return np.array([M[2, 1], M[0, 2], M[1, 0], M[0, 3], M[1, 3], M[2, 3]])


def unit(joint, k):
    return np.eye(joint.num_velocities)[k]


def velocity(joint):
    return np.random.default_rng(3).normal(size=joint.num_velocities)


def test_all_joints_of_mbkit_are_here():
    """A joint added to the library is tested by being listed there."""
    assert {type(joint) for joint in JOINTS} >= set(JOINT_TYPES.values())


@every_joint
def test_definition_is_accepted(joint):
    """The structure is right."""
    check_joint_definition(joint)


@every_joint
@every_place
def test_pose_is_in_se3(joint, size):
    """T holds a rotation and the last row (0, 0, 0, 1)."""
    T = joint.pose(configuration(joint, size))
    R = T[:3, :3]
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=5e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert T[3].tolist() == [0.0, 0.0, 0.0, 1.0]


@every_joint
def test_nan_comes_out_where_it_comes_in(joint):
    """A run that has blown up is found by its numbers, not by an exception inside a step."""
    if joint.num_positions:
        assert np.isnan(joint.pose(np.full(joint.num_positions, np.nan))).any()


@every_joint
def test_neutral_is_the_identity(joint):
    """All joints of mbkit declare a zero reference."""
    np.testing.assert_allclose(joint.pose(joint.neutral()), np.eye(4), atol=1e-15)


@pytest.mark.some(4)
@every_joint
@every_place
def test_motion_subspace_is_the_derivative_of_the_pose(joint, size):
    """Column k is vee(T^-1 dT/de) for T = pose(retract(q, e e_k))."""
    q = configuration(joint, size)
    S = joint.motion_subspace(q)
    assert S.shape == (6, joint.num_velocities)
    for k in range(joint.num_velocities):
        dT = derivative(lambda e, k=k: joint.pose(joint.retract(q, e * unit(joint, k))))
        twist = vee(inverse(joint.pose(q)) @ dT)
        np.testing.assert_allclose(S[:, k], twist, atol=1e-11, err_msg=f"column {k}")


@every_joint
@every_place
def test_motion_subspace_has_full_rank(joint, size):
    """No two velocities move the successor alike."""
    S = joint.motion_subspace(configuration(joint, size))
    assert np.linalg.matrix_rank(S) == joint.num_velocities


@pytest.mark.some(4)
@every_joint
@every_place
def test_bias_is_the_rate_of_the_motion_subspace(joint, size):
    """The bias is dS/dt v, component by component, while q moves with velocity v."""
    q, v = configuration(joint, size), velocity(joint)
    rate = derivative(lambda t: joint.motion_subspace(joint.retract(q, t * v)))
    np.testing.assert_allclose(joint.bias(q, v), rate @ v, atol=1e-10)


@every_joint
@every_place
def test_constraint_wrenches_are_all_that_do_no_work(joint, size):
    """They are reciprocal to S, independent, and as many as S leaves room for."""
    q = configuration(joint, size)
    W, S = joint.constraint_wrenches(q), joint.motion_subspace(q)
    assert W.shape == (6, 6 - joint.num_velocities)
    np.testing.assert_allclose(W.T @ S, 0.0, atol=2e-15 * np.abs(S).max(initial=1.0) * 4)
    assert np.linalg.matrix_rank(W) == 6 - joint.num_velocities


@every_joint
@every_place
def test_difference_undoes_retract(joint, size):
    """difference(q, retract(q, x)) = x, from any configuration."""
    q = configuration(joint, 0.9)
    x = step(joint, size, seed=11)
    found = joint.difference(q, joint.retract(q, x))
    np.testing.assert_allclose(found, x, rtol=1e-9, atol=4e-15)


@every_joint
def test_retract_undoes_difference(joint):
    """retract(q0, difference(q0, q1)) is the configuration q1, seen by its pose."""
    q0, q1 = (
        configuration(joint, 0.9),
        joint.retract(configuration(joint, 0.4), step(joint, 1.1, 5)),
    )
    again = joint.retract(q0, joint.difference(q0, q1))
    np.testing.assert_allclose(joint.pose(again), joint.pose(q1), atol=1e-14)


@every_joint
def test_retract_leaves_its_arguments(joint):
    """Methods change nothing that they are given."""
    q, x = configuration(joint, 0.9), step(joint, 0.5)
    q.flags.writeable = x.flags.writeable = False
    joint.retract(q, x)
    joint.difference(q, q)
    joint.dexp_inv(x, x)
    joint.pose(q), joint.motion_subspace(q), joint.bias(q, x), joint.constraint_wrenches(q)


@pytest.mark.some(3)
@every_joint
@at_each("size", SIZES | {"small": 1e-3, "beyond pi": 5.0})
def test_dexp_inv_is_the_rate_of_the_step(joint, size):
    """While q = retract(q0, x) moves with velocity v, x changes at the rate dexp_inv(x, v)."""
    q0, x, v = configuration(joint, 0.7), step(joint, size), velocity(joint)
    rate = joint.dexp_inv(x, v)
    dT = derivative(lambda t: joint.pose(joint.retract(q0, x + t * rate)), h=5e-3)
    q = joint.retract(q0, x)
    twist = vee(inverse(joint.pose(q)) @ dT)
    np.testing.assert_allclose(twist, joint.motion_subspace(q) @ v, rtol=1e-9, atol=2e-10)


@every_joint
def test_random_configurations_are_configurations(joint):
    """All over the place, the same for the same generator, with poses in SE(3)."""
    one, other = (joint.random(np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    rng = np.random.default_rng(2)
    drawn = [joint.random(rng) for _ in range(20)]
    assert {q.shape for q in drawn} == {(joint.num_positions,)}
    poses = np.array([joint.pose(q) for q in drawn])
    np.testing.assert_allclose(
        np.swapaxes(poses[:, :3, :3], 1, 2) @ poses[:, :3, :3], np.tile(np.eye(3), (20, 1, 1)),
        atol=1e-14,
    )  # fmt: skip
    if joint.num_velocities:
        assert np.ptp(poses, axis=0).max() > 0.5


@every_joint
def test_far_from_singular_configurations_the_measure_is_not_small(joint):
    """It is zero where S loses rank, nowhere near the neutral configuration of these."""
    q = joint.neutral()
    assert joint.singularity(q) > 0.5
    assert (joint.singularity(q) < np.inf) == bool(joint.singularity_remedy)


@every_joint
def test_screw_form_is_the_motion_in_the_canonical_frame(joint):
    """K^-1 T K turns by rate q about z, and shifts by lead q along it."""
    form = joint.screw_form()
    if form is None:
        assert joint.num_velocities != 1 or joint.name == "parabola"
        return
    K = joint.canonical_frame
    for q in (0.0, 0.4, -2.9):
        T = inverse(K) @ joint.pose(np.array([q])) @ K
        angle, shift = form[0] * q, form[1] * q
        expected = np.eye(4)
        expected[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        expected[2, 3] = shift
        np.testing.assert_allclose(T, expected, atol=2e-15 * 8)


def call(function, *arrays):
    """Call a function of the table by its address, as kernels do."""
    import ctypes

    from mbkit.kernels.compile import UNCOMPILED

    if UNCOMPILED:
        assert function.function(0, *arrays) == 0
        return
    pointers = [ctypes.POINTER(ctypes.c_double)] * len(arrays)
    compiled = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, *pointers)(function.address)
    views = (a.ctypes.data_as(kind) for a, kind in zip(arrays, pointers, strict=True))
    assert compiled(0, *views) == 0


@every_place
@pytest.mark.parametrize(
    "joint", [j for j in JOINTS if j.kernels() is not None], ids=lambda joint: joint.name
)
def test_compiled_forms_are_the_methods_in_the_canonical_frame(joint, size):
    """The functions of the table give K^-1 T K, Ad_K^-1 S, and the same steps."""
    from mbkit.lie import SE3

    kernels, parameters = joint.kernels(), np.array(joint.parameters(), dtype=float)
    nq, nv = joint.num_positions, joint.num_velocities
    q, v, x = configuration(joint, size), velocity(joint), step(joint, size, seed=11)

    R, p, S, bias = np.empty(9), np.empty(3), np.empty(6 * nv), np.empty(6)
    call(kernels.motion, parameters, q, v, R, p, S, bias)
    K = joint.canonical_frame
    T = inverse(K) @ joint.pose(q) @ K
    np.testing.assert_allclose(R.reshape(3, 3), T[:3, :3], atol=1e-14)
    np.testing.assert_allclose(p, T[:3, 3], atol=2e-14)
    inverse_Ad = SE3.Ad(inverse(K))
    np.testing.assert_allclose(
        S.reshape(nv, 6).T, inverse_Ad @ joint.motion_subspace(q), atol=2e-14
    )
    # the series of first kind coordinates loses two digits near pi in its Python form
    np.testing.assert_allclose(bias, inverse_Ad @ joint.bias(q, v), rtol=1e-13, atol=2e-13)
    moved, rate, found = joint.retract(q, x), joint.dexp_inv(x, v), joint.difference(q, q)
    if kernels.retract is not None:
        call(kernels.retract, parameters, q, x, moved)
    np.testing.assert_allclose(moved, joint.retract(q, x), atol=1e-14)
    if kernels.dexp_inv is not None:
        call(kernels.dexp_inv, parameters, x, v, rate)
    np.testing.assert_allclose(rate, joint.dexp_inv(x, v), rtol=1e-12, atol=1e-14)
    if kernels.difference is not None:
        call(kernels.difference, parameters, q, moved, found)
        np.testing.assert_allclose(found, joint.difference(q, moved), rtol=1e-9, atol=1e-14)
    W = np.empty(6 * (6 - nv))
    call(kernels.constraint_wrenches, parameters, q, W)
    # the same space of wrenches: reciprocal to the same motion subspace
    np.testing.assert_allclose(W.reshape(6 - nv, 6) @ S.reshape(nv, 6).T, 0.0, atol=3e-14)
    assert np.linalg.matrix_rank(W.reshape(6 - nv, 6)) == 6 - nv
    assert nq == len(moved)
