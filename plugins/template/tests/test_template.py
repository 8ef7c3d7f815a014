"""The joint keeps what a joint must keep, and does what it is for."""

import mbkit_template as plugin
import numpy as np

import mbkit as mb


def test_it_keeps_what_a_joint_must_keep(check_joint):
    """A report with what does not hold is what a failure shows."""
    check_joint(plugin.TemplateJoint("wire", steepness=2.0))


def test_the_energy_of_a_point_is_kept():
    """(1 + z'^2) v^2 / 2 + g z stays what it is, with z = c x^4, whatever the body's inertia."""
    mech = mb.Mechanism("chair on a wire")
    chair = mech.add_body(mb.Body("chair", mb.SpatialInertia.box(12.0, size=(0.4, 0.4, 0.9))))
    mech.add_joint(plugin.TemplateJoint("wire", steepness=2.0), mech.world, chair)
    run = mb.simulate(mech.assemble(), (0.0, 2.0), 1e-3, q=[0.9], progress=False)
    x, v = run.q[:, 0], run.v[:, 0]
    energy = 0.5 * (1.0 + (8.0 * x**3) ** 2) * v**2 + 9.81 * 2.0 * x**4
    np.testing.assert_allclose(energy, energy[0], rtol=1e-6)
    assert x.min() < -0.8  # it goes through
