"""A tree on a free base of six joints of many freedoms, against Pinocchio's numbers.

With the joints of mbkit, and with joints in Python in the place of three of them.
"""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import UnitQuaternion
from tests.every_representation import REPRESENTATIONS
from tests.reference.balls import BALL, with_ball
from tests.reference.user_joints import CardanJoint, CylindricalJoint, PlanarJoint

DATA = json.loads((pathlib.Path(__file__).parents[1] / "data" / "tree_of_six.json").read_text())

#: Of the largest number. Two programs differ by 1e-14; the balls take a digit or two.
TOLERANCE = 1e-12


KINDS = {
    "mbkit": (mb.PlanarJoint, mb.UniversalJoint, mb.CylindricalJoint),
    "Python": (PlanarJoint, CardanJoint, CylindricalJoint),
}


def build(inertias, representation, kinds):
    """The tree: bodies "0" to "5", each with its joint of the same name."""
    planar, universal, cylindrical = KINDS[kinds]
    axis, pitch = DATA["helical_axis"], DATA["helical_pitch"]
    joints = [
        mb.FreeJoint("0"),
        mb.SphericalJoint("1"),
        planar("2"),
        universal("3"),
        cylindrical("4"),
        mb.HelicalJoint("5", axis=axis, pitch=pitch),
    ]
    assert DATA["joint_kind"][2:5] == ["planar", "universal", "cylindrical"]
    mech = mb.Mechanism("tree of six", gravity=DATA["gravity"])
    for i, (joint, inertia) in enumerate(zip(joints, inertias, strict=True)):
        body = mech.add_body(mb.Body(f"{i}", inertia=inertia))
        parent = DATA["parent"][i]
        mech.add_joint(
            joint, mech.world if parent < 0 else f"{parent}", body, reference=DATA["B"][i]
        )
    return mech.assemble(mb.RelativeCoordinates(representation=representation))


@pytest.fixture(scope="module", params=REPRESENTATIONS, ids=lambda each: each.name)
def representation(request):
    """Each of the four."""
    return request.param


@pytest.fixture(scope="module", params=KINDS)
def kinds(request):
    """Whose joints."""
    return request.param


@pytest.fixture(scope="module")
def tree(representation, kinds):
    """The tree with a ball added to each body."""
    inertias = [with_ball(M) for M in np.array(DATA["inertia_at_body_frame"])]
    return build(inertias, representation, kinds)


@pytest.fixture(scope="module")
def balls(representation, kinds):
    """The same tree of nothing but balls."""
    return build([BALL] * 6, representation, kinds)


@pytest.fixture(scope="module")
def q():
    """The configuration of the data."""
    given = DATA["q"]
    return np.concatenate(
        [
            UnitQuaternion.from_rotation(given["free_R"]),
            given["free_p"],
            UnitQuaternion.from_rotation(given["spherical_R"]),
            given["planar_th_x_y"],
            given["universal"],
            given["cylindrical_th_d"],
            [given["helical"]],
        ]
    )


def assert_close(found, expected):
    """Compare to a part of the largest entry."""
    expected = np.asarray(expected)
    assert np.abs(found - expected).max() <= TOLERANCE * np.abs(expected).max()


@pytest.mark.some(2)
def test_kinematics(tree, q):
    """Poses, and twists and accelerations, which the data have body-fixed."""
    C = np.array(DATA["poses"])
    assert_close(tree.poses(q)[1:], C)
    forms = mb.BodyFixed(), tree.representation
    V = mb.convert_twist(DATA["twists"], C, *forms)
    assert_close(tree.twists(q, DATA["v"])[1:], V)
    A = mb.convert_acceleration(DATA["accelerations"], DATA["twists"], C, *forms)
    assert_close(tree.accelerations(q, DATA["v"], DATA["vdot"])[1:], A)


@pytest.mark.some(2)
def test_dynamics(tree, balls, q):
    """Mass matrix, bias, forces and gravity, without what the balls add."""
    v, vdot, rest = DATA["v"], DATA["vdot"], np.zeros(17)
    assert_close(tree.mass_matrix(q) - balls.mass_matrix(q), DATA["mass_matrix"])
    assert_close(tree.bias_force(q, v) - balls.bias_force(q, v), DATA["bias_force"])
    assert_close(tree.bias_force(q, rest) - balls.bias_force(q, rest), DATA["gravity_torque"])
    found = tree.inverse_dynamics(q, v, vdot) - balls.inverse_dynamics(q, v, vdot)
    assert_close(found, DATA["tau"])


@pytest.mark.some(8)
def test_simulation(tree, q):
    """The tree keeps its energy and, but for gravity's pull, its momentum."""
    run = mb.simulate(tree, (0.0, 0.5), 1e-3, q=q, v=DATA["v"])
    assert np.abs(run.energy_drift).max() < 1e-8 * run.kinetic_energy.max()
    start, end = (tree.momentum(run.q[i], run.v[i])[3:] for i in (0, -1))
    pull = tree.mass * 0.5 * np.array(DATA["gravity"])
    np.testing.assert_allclose(end - start, pull, rtol=0.0, atol=1e-7)
