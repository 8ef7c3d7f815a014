"""The joint along a curve: circles are hinges, energies stay, pose and compiled form agree."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.testing import check_joint
from mbkit_cam_joint import CamJoint, plugin

RNG = np.random.default_rng(2)
WAVE = np.array([[0.0, 0.0], [0.7, 0.4], [1.5, -0.1], [2.4, 0.3], [3.0, 0.9]])
REPRESENTATIONS = [mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed()]


def circle(count, radius=1.0):
    angles = 2.0 * np.pi * np.arange(count) / count
    return radius * np.array([np.cos(angles), np.sin(angles)]).T


def frame():
    """Return a pose that is aligned with nothing."""
    from mbkit.lie import SE3

    return SE3.exp(np.array([0.4, -0.8, 0.3, 0.2, 0.1, -0.5]))


def mechanism(joint):
    """Return a cart on the curve with a ball that hangs from it."""
    mech = mb.Mechanism("coaster", gravity=(1.0, -9.0, 3.0))
    cart = mech.add_body(
        mb.Body(
            "cart", mb.SpatialInertia.from_com(2.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.2, 0.25]))
        )
    )
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -0.5))))
    mech.add_joint(joint, mech.world, cart, frames=(frame(), np.eye(4)))
    mech.add_joint(mb.UniversalJoint("cardan"), cart, bob)
    return mech


@pytest.mark.parametrize("follow", [True, False])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
def test_it_keeps_what_a_joint_must_keep(follow, closed, compiled):
    joint = CamJoint("track", WAVE, closed=closed, follow=follow, compiled=compiled)
    check_joint(joint).raise_if_failed()


@pytest.mark.parametrize("representation", REPRESENTATIONS, ids=lambda each: each.name)
@pytest.mark.parametrize("follow", [True, False])
def test_the_compiled_form_and_the_pose_give_the_same_motion(representation, follow):
    coordinates = mb.RelativeCoordinates(representation)
    runs = [
        mb.simulate(
            mechanism(CamJoint("track", WAVE, follow=follow, compiled=compiled)).assemble(coordinates),
            (0.0, 0.3), 1e-2, q=[1.1, 0.2, -0.3], v=[0.5, 1.0, -2.0],
        )
        for compiled in (True, False)
    ]  # fmt: skip
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-10)
    np.testing.assert_allclose(runs[0].v, runs[1].v, atol=1e-9)


def test_a_circle_is_a_hinge():
    """As the points get denser the spline does, with the fourth power of their distance."""
    hinge = mb.RevoluteJoint("hinge")
    errors = []
    for count in (16, 32, 64):
        cam = CamJoint("cam", circle(count), closed=True)
        rate = 2.0 * np.pi / cam.length
        q = np.array([1.234])
        T = hinge.pose(rate * q)
        expected = T @ np.array([[0, -1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
        errors.append(abs(cam.pose(q) - expected).max())
    assert np.log2(errors[0] / errors[1]) > 2.8  # the tangent has an order less
    assert np.log2(errors[1] / errors[2]) > 2.8


def test_a_cart_rolls_round_and_round_and_keeps_its_energy():
    """Over many turns of a closed curve, through the point where it begins anew."""
    ellipse = circle(24) * [2.0, 1.0]
    mech = mb.Mechanism("coaster", gravity=(0, -9.81, 0))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.box(10.0, size=(0.4, 0.2, 0.2))))
    joint = CamJoint("track", ellipse, closed=True)
    mech.add_joint(joint, mech.world, cart)
    run = mb.simulate(mech.assemble(), (0.0, 10.0), 1e-3, v=[8.0])
    assert run.q[-1, 0] > 5.0 * joint.length
    assert abs(run.energy_drift).max() < 1e-4 * run.kinetic_energy.max()


def test_files_have_it_once_the_plugin_is_there(tmp_path):
    """By its type and with its fields; its faults name the plugin."""
    assert plugin.mbkit_joint_types() == {"cam": CamJoint}
    text = """
    mbkit_model = 1
    name = "coaster"
    [bodies.cart]
    mass = 1.0
    com = [0.0, 0.0, 0.0]
    moment_about_com = [0.1, 0.1, 0.1]
    [joints.track]
    type = "cam"
    predecessor = "world"
    successor = "cart"
    points = [[0.0, 0.0], [1.0, 0.3], [2.0, 0.0], [3.0, 0.5]]
    """
    mech = mb.parse_model(text)
    joint = next(iter(mech.joints))
    assert isinstance(joint, CamJoint)
    assert joint.points.shape == (4, 2)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0.0, 1.0]], r"must have shape \(k, 2\)"),
        ([0.0, 1.0, 2.0], r"must have shape \(k, 2\)"),
        ([[0.0, 0.0], [np.nan, 1.0], [2.0, 2.0]], "must be finite"),
        ([[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]], "same point twice"),
    ],
)
def test_points_that_make_no_curve_are_refused(points, message):
    with pytest.raises(mb.JointError, match=message):
        CamJoint("track", points)
