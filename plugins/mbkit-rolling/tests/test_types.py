"""Types of the plugin: in files, among its examples, with a radius that is one."""

import numpy as np
import pytest
from mbkit_rolling import RollingDisc, RollingJoint, RollingSphere, plugin

import mbkit as mb
from mbkit.testing import check_joint

MODEL = """
mbkit_model = 1
name = "marble"
[bodies.marble]
mass = 2.0
shape = {type = "sphere", radius = 0.25}
[joints.rolls]
type = "rolling_sphere"
predecessor = "world"
successor = "marble"
radius = 0.25
"""


def test_files_have_them_once_the_plugin_is_there():
    """By type and radius, which is a parameter of the system."""
    assert set(plugin.mbkit_joint_types()) == {"rolling_sphere", "rolling_disc"}
    for name, kind in plugin.mbkit_joint_types().items():
        mech = mb.parse_model(MODEL.replace("rolling_sphere", name))
        assert isinstance(mech.joints["rolls"].joint, kind)
        system = mech.assemble()
        assert system.parameters["joints.rolls.radius"] == 0.25
        larger = system.with_parameters({"joints.rolls.radius": 0.5})
        q = system.reference_configuration()
        moment = 0.4 * 2.0 * 0.25**2
        np.testing.assert_allclose(system.mass_matrix(q)[0, 0], moment + 2.0 * 0.25**2)
        np.testing.assert_allclose(larger.mass_matrix(q)[0, 0], moment + 2.0 * 0.5**2)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf, "0.3"])
@pytest.mark.parametrize("kind", [RollingSphere, RollingDisc])
def test_a_radius_must_be_one(kind, radius):
    with pytest.raises(mb.JointError, match="'r': radius must be a positive, finite number"):
        kind("r", radius)


def test_the_base_class_is_for_other_round_bodies():
    """Every class of it has the group of rotations and contacts."""
    for kind in (RollingSphere, RollingDisc):
        assert issubclass(kind, RollingJoint)
        assert kind("r", 1.0).ndx == 5


def test_its_examples_pass_the_checks_of_plugins():
    for example in plugin.mbkit_examples():
        check_joint(example).raise_if_failed()
    kinds = {type(each) for each in plugin.mbkit_examples()}
    assert kinds == set(plugin.mbkit_joint_types().values())


def test_a_flat_disc_and_a_quaternion_that_is_none_are_refused():
    mech = mb.Mechanism("disc")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(RollingDisc("rolls", 0.3), mech.world, body)
    system = mech.assemble()
    with pytest.raises(mb.ConfigurationError, match=r"'rolls': the disc lies flat on its plane"):
        system.mass_matrix([1.0, 0, 0, 0, 0, 0])
    with pytest.raises(mb.ConfigurationError, match=r"'rolls': rotation must be a unit quaternion"):
        system.mass_matrix([1.0, 1.0, 0, 0, 0, 0])
    (near,) = mb.near_singularity(system, [np.cos(0.02), np.sin(0.02), 0, 0, 0, 0])
    assert near.joint == "rolls"


def test_a_subclass_is_obeyed():
    """With another pose, or another place of the centre, the compiled form is not asked."""

    class Lifted(RollingSphere):
        def pose(self, q):
            T = super().pose(q)
            T[2, 3] += 0.5
            return T

    class Sliding(RollingSphere):
        def centre(self, n, w):
            u, rate = super().centre(n, w)
            return 3.0 * u, 3.0 * rate

    systems = []
    for kind in (RollingSphere, Lifted, Sliding):
        mech = mb.Mechanism("marble")
        body = mech.add_body(mb.Body("marble", mb.SpatialInertia.sphere(2.0, radius=0.25)))
        mech.add_joint(kind("rolls", radius=0.25), mech.world, body)
        systems.append(mech.assemble())
        check_joint(kind("rolls", radius=0.25)).raise_if_failed()
    plain, lifted, sliding = systems
    q = plain.retract(plain.reference_configuration(), np.linspace(0.1, 0.5, plain.ndx))
    np.testing.assert_allclose(lifted.poses(q)[1, 2, 3], 0.75, atol=1e-12)
    np.testing.assert_allclose(sliding.poses(q)[1, 2, 3], 0.75, atol=1e-12)
    v = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(lifted.twists(q, v), plain.twists(q, v), atol=1e-12)
    np.testing.assert_allclose(sliding.twists(q, v)[1, 3:], 3.0 * plain.twists(q, v)[1, 3:])
