"""The named joints are limits of the general screw joint, and their arguments are checked."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3

EVERY = [
    mb.RelativeCoordinates(representation=each())
    for each in (mb.BodyFixed, mb.Spatial, mb.Hybrid, mb.Mixed)
]
AXIS, POINT = np.array([1.0, -2.0, 2.0]) / 3.0, np.array([0.4, 0.1, -0.8])


@pytest.mark.parametrize("q", [0.0, 1e-8, 0.7, -np.pi, 9.0])
@pytest.mark.parametrize(
    ("joint", "screw"),
    [
        (mb.RevoluteJoint("j", 3 * AXIS, POINT), np.r_[AXIS, np.cross(POINT, AXIS)]),
        (mb.PrismaticJoint("j", 3 * AXIS, POINT), np.r_[0, 0, 0, AXIS]),
        (
            mb.HelicalJoint("j", 3 * AXIS, POINT, pitch=0.2),
            np.r_[AXIS, np.cross(POINT, AXIS) + 0.2 * AXIS],
        ),
    ],
)
def test_named_joints_are_exponentials_of_their_screws(joint, screw, q):
    """T(q) = exp(X q), which the group computes without any axis frame."""
    np.testing.assert_allclose(joint.screw, screw, atol=1e-15)
    np.testing.assert_allclose(joint.pose(np.array([q])), SE3.exp(q * screw), atol=2e-14)
    general = mb.ScrewJoint("j", screw)
    np.testing.assert_allclose(general.pose(np.array([q])), SE3.exp(q * screw), atol=2e-14)


def test_helical_is_rotation_and_translation_with_coupled_rates():
    """A helical joint is a revolute and a prismatic joint on one axis, moved together."""
    q = 0.9
    turned = mb.RevoluteJoint("r", AXIS, POINT).pose([q])
    shifted = mb.PrismaticJoint("p", AXIS).pose([-0.3 * q])
    helical = mb.HelicalJoint("h", AXIS, POINT, pitch=-0.3).pose([q])
    np.testing.assert_allclose(helical, turned @ shifted, atol=1e-15)


def test_rate_and_lead_are_exact_for_named_joints():
    """No rounding of the axis' length gets into them."""
    axis = (0.1, 0.2, 0.3)
    assert mb.RevoluteJoint("j", axis, (1, 2, 3)).screw_form() == (1.0, 0.0)
    assert mb.PrismaticJoint("j", axis, (1, 2, 3)).screw_form() == (0.0, 1.0)
    assert mb.HelicalJoint("j", axis, (1, 2, 3), pitch=-0.7).screw_form() == (1.0, -0.7)


def test_rate_and_lead_of_a_general_screw():
    """|w| and w.v / |w|; without rotation |v|."""
    rate, lead = mb.ScrewJoint("j", (0, 3, 4, 1, 2, 3)).screw_form()
    assert rate == 5.0
    assert lead == pytest.approx((6.0 + 12.0) / 5.0)
    assert mb.ScrewJoint("j", (0, 0, 0, 0, -3, 4)).screw_form() == (0.0, 5.0)


@pytest.mark.parametrize(
    "screw",
    [
        (0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, -1.0, 1.0, 2.0, 3.0),
        (1e-9, 0.0, -1.0, 0.0, 0.0, 1.0),
        (1.0, 1.0, 1e-17, 0.5, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, -2.0),
        (3.0, -1.0, 2.0, 0.3, 0.7, -0.2),
    ],
)
def test_canonical_frame_moves_the_screw_onto_z(screw):
    """X = Ad_K (0, 0, rate, 0, 0, lead), next to -z as well."""
    joint = mb.ScrewJoint("j", screw)
    rate, lead = joint.screw_form()
    K = joint.canonical_frame
    np.testing.assert_allclose(K[:3, :3].T @ K[:3, :3], np.eye(3), atol=1e-15)
    assert np.linalg.det(K) == pytest.approx(1.0)
    np.testing.assert_allclose(SE3.Ad(K) @ [0, 0, rate, 0, 0, lead], screw, atol=1e-14)


def between_hinges(joint):
    """A hinge, the joint, and another hinge, with a body on each: axes askew."""
    mech = mb.Mechanism("hinge, joint, hinge")
    box = mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))
    before = mech.world
    for each in (
        mb.RevoluteJoint("first", (0.0, 0.3, 1.0), (0.3, 0.0, 0.0)),
        joint,
        mb.RevoluteJoint("last", (1.0, 0.3, 1.0), (0.3, 0.5, 0.0)),
    ):
        body = mech.add_body(mb.Body(each.name, box))
        mech.add_joint(each, before, body)
        before = body
    return mech


@pytest.mark.some(2)
@pytest.mark.parametrize("size", [1e-6, 1e-8, 1e-12, 1e-15, 1e-20, 1e-160, 1e-310])
@pytest.mark.parametrize("along", [0.0, 1.0])
def test_a_screw_that_slides_but_for_rounding_slides(size, along):
    """Where w is rounding the axis is far away or anywhere; nothing is computed there."""
    v = np.array([0.6, 0.0, 0.8])
    w = size * np.array([0.48 * along, 1.0, 0.64 * along])
    joint = mb.ScrewJoint("j", np.r_[w, v])
    assert np.array_equal(joint.pose([0.0]), np.eye(4))
    for q in (-2.0, 0.3, 5.0):
        # to first order in w: a turn by w q, and a shift by v q + w x v q^2 / 2
        T = joint.pose([q])
        expected = v * q + np.cross(w, v) * q**2 / 2
        np.testing.assert_allclose(T[:3, 3], expected, rtol=0, atol=4e-15 + 30 * size**2)
        np.testing.assert_allclose(T[2, 1], w[0] * q, atol=1e-15 + 30 * size**2)
        np.testing.assert_allclose(joint.configuration_from_pose(T), [q], rtol=1e-9)
    W = joint.constraint_wrenches(np.zeros(1))
    np.testing.assert_allclose(W.T @ joint.screw, 0.0, atol=1e-14)
    sliding = between_hinges(mb.PrismaticJoint("j", v)).assemble()
    q, rates = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 0.3])
    expected = sliding.forward_dynamics(q, rates)
    for coordinates in EVERY:
        system = between_hinges(joint).assemble(coordinates)
        np.testing.assert_allclose(
            system.forward_dynamics(q, rates), expected, atol=1e-12 + 10 * size
        )
        np.testing.assert_allclose(system.poses(q), sliding.poses(q), atol=1e-14 + 10 * size)


@pytest.mark.parametrize("size", [1e-8, 1e-15, 1e-20])
def test_a_screw_that_slides_but_for_rounding_closes_a_loop(size):
    """In absolute coordinates it is a constraint, as the slider that it is."""
    q, rates = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 0.3])
    found = []
    for joint in (
        mb.PrismaticJoint("j", (0.6, 0.0, 0.8)),
        mb.ScrewJoint("j", (0.0, size, 0.0, 0.6, 0.0, 0.8)),
    ):
        mech = between_hinges(joint)
        relative, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates())
        states = absolute.state_of(relative, q, rates)
        found.append(absolute.forward_dynamics(*states))
    np.testing.assert_allclose(found[1], found[0], atol=1e-11 + 100 * size)


def test_a_screw_after_a_change_of_frames_is_what_it_was():
    """An inverse adjoint of a sliding screw leaves a turn that is rounding."""
    rng = np.random.default_rng(3)
    v = np.array([0.0, 0.0, 1.0])
    for _ in range(20):
        Ad = SE3.Ad(SE3.exp(rng.normal(size=6)))
        X = np.linalg.inv(Ad) @ (Ad @ np.r_[0.0, 0.0, 0.0, v])
        joint = mb.ScrewJoint("j", X)
        np.testing.assert_allclose(joint.pose([0.7])[:3, 3], 0.7 * v, atol=1e-14)
        assert joint.position_units == ("m",)


@pytest.mark.parametrize("size", [1e-9, 1e-4, 1.0, 1e4, 1e9])
def test_pitches_of_all_sizes(size):
    """The pose is where the pitch says, and is found again by both forms."""
    for joint in (
        mb.HelicalJoint("j", AXIS, POINT, pitch=size),
        mb.ScrewJoint("j", np.r_[AXIS, np.cross(POINT, AXIS) + size * AXIS]),
        mb.ScrewJoint("j", np.r_[AXIS / size, (np.cross(POINT, AXIS)) / size + AXIS]),
    ):
        unit = 1.0 / joint.rate
        q = np.array([0.4 * unit])
        np.testing.assert_allclose(
            AXIS @ joint.pose(q)[:3, 3],
            0.4 * size + AXIS @ (POINT - turned(0.4) @ POINT),
            rtol=1e-13, atol=1e-15,
        )  # fmt: skip
        np.testing.assert_allclose(joint.configuration_from_pose(joint.pose(q)), q, rtol=1e-12)


def turned(angle):
    return SE3.exp(np.r_[angle * AXIS, 0.0, 0.0, 0.0])[:3, :3]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_the_length_of_an_axis_does_not_matter(scale):
    """Not even where its square is no number any more."""
    joint = mb.RevoluteJoint("j", axis=(3 * scale, 0.0, 4 * scale))
    np.testing.assert_allclose(joint.screw, [0.6, 0, 0.8, 0, 0, 0], atol=1e-15)


def test_joints_are_values():
    """Equal if all they were given is equal; usable in sets; not to be changed."""
    joint = mb.RevoluteJoint("j", axis=[0, 0, 1])
    assert joint == mb.RevoluteJoint("j")
    assert joint != mb.RevoluteJoint("k")
    assert joint != mb.RevoluteJoint("j", axis=[0, 0, 2])
    assert joint != mb.PrismaticJoint("j")
    assert len({joint, mb.RevoluteJoint("j")}) == 1
    assert repr(joint) == "RevoluteJoint(name='j', axis=[0.0, 0.0, 1.0], point=[0.0, 0.0, 0.0])"
    with pytest.raises(AttributeError):
        joint.axis = (1, 0, 0)
    with pytest.raises(ValueError, match="read-only"):
        joint.screw[0] = 1.0


@pytest.mark.parametrize(
    ("make", "error", "message", "key"),
    [
        (
            lambda: mb.RevoluteJoint("elbow", axis=(0, 0, 0)),
            mb.GeometryError,
            r"Joint 'elbow': axis must have a direction, got \[0.0, 0.0, 0.0\]; give a vector",
            "axis",
        ),
        (
            lambda: mb.PrismaticJoint("elbow", axis=(0, np.nan, 1)),
            mb.GeometryError,
            r"Joint 'elbow': axis must be finite, got nan at \[1\]; give an ordinary number",
            "axis",
        ),
        (
            lambda: mb.RevoluteJoint("elbow", point=(0, 1)),
            mb.ShapeError,
            r"Joint 'elbow': point must be an array of shape \(3,\), got shape \(2,\)",
            "point",
        ),
        (
            lambda: mb.SphericalJoint("elbow", point="origin"),
            mb.ShapeError,
            r"Joint 'elbow': point must be real numbers in an array of shape \(3,\), got 'origin'",
            "point",
        ),
        (
            lambda: mb.HelicalJoint("elbow", pitch=np.inf),
            mb.GeometryError,
            "Joint 'elbow': pitch must be finite, got inf; give an ordinary number",
            "pitch",
        ),
        (
            lambda: mb.ScrewJoint("elbow", np.zeros(6)),
            mb.GeometryError,
            "Joint 'elbow': screw must not be zero, got .*; give",
            "screw",
        ),
        (
            lambda: mb.ScrewJoint("elbow", (0, 0, 1)),
            mb.ShapeError,
            r"Joint 'elbow': screw must be an array of shape \(6,\), got shape \(3,\)",
            "screw",
        ),
    ],
)
def test_bad_geometry_is_refused(make, error, message, key):
    """The message names the joint, the argument, the rule and the value."""
    with pytest.raises(error, match=message) as caught:
        make()
    assert caught.value.key == key


@pytest.mark.parametrize("joint", [mb.SphericalJoint("ball"), mb.FreeJoint("ball")])
def test_quaternions_must_be_of_length_one(joint):
    """In positions too; a little rounding is taken out."""
    q = joint.neutral()
    q[0] = 1.1
    with pytest.raises(mb.ConfigurationError, match=r"Joint 'ball': .* unit quaternion, got .*1.1"):
        joint.pose(q)
    q[0] = 1.0 + 1e-7
    np.testing.assert_allclose(joint.pose(q), np.eye(4), atol=1e-15)


def test_long_motions_stay_on_the_group():
    """Ten thousand steps leave the quaternion of length one."""
    joint = mb.SphericalJoint("ball")
    q, x = joint.neutral(), np.array([0.1, -0.2, 0.3])
    for _ in range(10_000):
        q = joint.retract(q, x)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=4e-16)
