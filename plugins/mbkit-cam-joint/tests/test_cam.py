"""The joint along a curve: circles are hinges, energies stay, pose and compiled form agree."""

import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from mbkit_cam_joint import CamJoint, plugin

import mbkit as mb
from mbkit.cli.main import main
from mbkit.plugins import Plugin, registry
from mbkit.testing import check_joint

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
            mechanism(CamJoint("track", WAVE, follow=follow, compiled=each)).assemble(coordinates),
            (0.0, 0.3), 1e-2, q=[1.1, 0.2, -0.3], v=[0.5, 1.0, -2.0],
        )
        for each in (True, False)
    ]  # fmt: skip
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-10)
    np.testing.assert_allclose(runs[0].v, runs[1].v, atol=1e-9)


def test_a_circle_is_a_hinge():
    """As the points get denser the spline does: its tangent is of order 5 at least."""
    hinge = mb.RevoluteJoint("hinge")
    errors = []
    for count in (16, 32, 64):
        cam = CamJoint("cam", circle(count), closed=True)
        rate = 2.0 * np.pi / cam.length
        q = np.array([1.234])
        T = hinge.pose(rate * q)
        expected = T @ np.array([[0, -1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
        errors.append(abs(cam.pose(q) - expected).max())
    assert np.log2(errors[0] / errors[1]) > 4.8
    assert np.log2(errors[1] / errors[2]) > 4.8


@pytest.mark.parametrize("closed", [True, False])
def test_four_derivatives_go_through_every_point(closed):
    """Also where a closed curve begins anew; the fifth jumps."""
    points = np.vstack([WAVE, [[3.5, 0.2], [4.0, 1.5], [2.0, 3.0]]])
    joint = CamJoint("track", points, closed=closed)
    knots = joint.curve.x[: None if closed else -1][0 if closed else 1 :]
    assert len(knots) >= 2
    for order in range(6):
        before, after = joint.curve(knots - 1e-9, order), joint.curve(knots + 1e-9, order)
        jumps = abs(after - before).max() / max(1.0, abs(after).max())
        assert jumps < 1e-7 if order < 5 else jumps > 0.1
    if not closed:
        np.testing.assert_allclose(
            CamJoint("few", points[:4]).curve(np.linspace(-1.0, 4.0, 6), 3).std(axis=0),
            0,
            atol=1e-12,
        )  # one polynomial, of degree 3


def test_a_cart_rolls_round_and_round_and_keeps_its_energy():
    """Over many turns of a closed curve, through the point where it begins anew."""
    ellipse = circle(24) * [2.0, 1.0]
    mech = mb.Mechanism("coaster", gravity=(0, -9.81, 0))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.box(10.0, size=(0.4, 0.2, 0.2))))
    joint = CamJoint("track", ellipse, closed=True)
    mech.add_joint(joint, mech.world, cart)
    run = mb.simulate(mech.assemble(), (0.0, 10.0), 1e-3, v=[8.0])
    assert run.q[-1, 0] > 5.0 * joint.length
    assert abs(run.energy_drift).max() < 1e-7 * run.kinetic_energy.max()


@pytest.fixture
def known():
    """The plugin, where it is not installed; where it is, it is found by its entry point."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.PluginWarning)  # other plugins are not looked at here
        registry().load()
    return registry().add(Plugin("cam", "0.1.0", "mbkit-cam-joint"), lambda: plugin)


MODEL = """
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
closed = false
"""


def test_files_have_it_by_its_type(known):
    """With its fields; what it simulates is what the class does."""
    mech = mb.parse_model(MODEL)
    joint = mech.joints["track"].joint
    assert isinstance(joint, CamJoint)
    expected = CamJoint("track", [[0.0, 0.0], [1.0, 0.3], [2.0, 0.0], [3.0, 0.5]])
    assert joint == expected
    run = mb.simulate(mech.assemble(), (0.0, 0.2), 1e-2, q=[1.0])
    again = mb.parse_model(run.model)  # which names the class
    assert again.joints["track"].joint == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("closed =", "close =", "joints.track.close: unknown key; did you mean 'closed'?"),
        ("false", "'no'", "joints.track.closed: must be true or false, got 'no'"),
        ("false", "true", "Joint 'track': points must have shape (k, 2), with k at least 5 for a"),
        ("[1.0, 0.3]", "[0.0, 0.0]", "Joint 'track': points has the same point twice in a row"),
        ("[1.0, 0.3]", "1.0", "joints.track.points: points must be rows (x, y) of numbers"),
    ],
)
def test_faults_in_files_name_the_plugin(known, old, new, message):
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_model(MODEL.replace(old, new), source="coaster.toml")
    (line,) = (line for line in str(caught.value).splitlines() if message in line)
    assert line.endswith("('type' is of the plugin 'cam 0.1.0'.)")


def test_the_list_of_plugins_names_it(known):
    shown = CliRunner().invoke(main, ["plugins"]).output
    (row,) = (line for line in shown.splitlines() if "mbkit-cam-joint" in line)
    cells = [cell.strip() for cell in row.split("\u2502")[1:-1]]
    assert cells == ["cam", "0.1.0", "mbkit-cam-joint", "joint type: cam"]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0.0, 1.0]], r"must have shape \(k, 2\)"),
        ([0.0, 1.0, 2.0], r"must have shape \(k, 2\)"),
        ([[0.0, 0.0], [np.nan, 1.0], [2.0, 2.0]], "must be finite"),
        ([[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]], "same point twice in a row; leave one out"),
    ],
)
def test_points_that_make_no_curve_are_refused(points, message):
    with pytest.raises(mb.JointError, match=message):
        CamJoint("track", points)


def test_closed_curves_want_five_points_of_which_the_first_is_not_repeated():
    with pytest.raises(mb.JointError, match="at least 5 for a closed curve"):
        CamJoint("track", circle(4), closed=True)
    with pytest.raises(mb.JointError, match="also of the last and the first"):
        CamJoint("track", np.vstack([WAVE, WAVE[:1]]), closed=True)
