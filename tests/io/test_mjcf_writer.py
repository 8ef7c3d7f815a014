"""MJCF files that are written: what cannot be said is named."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import mbkit as mb
from mbkit.io.mjcf.writer import mjcf_text

BALL = mb.SpatialInertia.sphere(1.0, radius=0.1)


def arm(joint, *, inertia=BALL, frames=None):
    mech = mb.Mechanism("arm")
    mech.add_body(mb.Body("base", BALL))
    mech.add_body(mb.Body("tip", inertia))
    mech.add_joint(mb.RevoluteJoint("hinge"), "world", "base")
    mech.add_joint(joint, "base", "tip", frames=frames)
    return mech


@pytest.mark.parametrize(
    ("joint", "inertia", "message"),
    [
        (mb.UniversalJoint("u"), BALL, "joint 'u' is a UniversalJoint, and an MJCF has hinges"),
        (mb.FreeJoint("f"), BALL, "free joint 'f' must begin at the world"),
        (mb.SphericalJoint("s", coordinates="first kind"), BALL, "'s' must lead away .*'group'"),
        (
            mb.RevoluteJoint("r"),
            mb.SpatialInertia.zero(),
            "body 'tip' moves, and MuJoCo wants mass",
        ),
        (
            mb.RevoluteJoint("r"),
            mb.SpatialInertia.from_com(1.0, (1, 0, 0)),
            "body 'tip' moves, and",
        ),
    ],
)
def test_what_is_refused(joint, inertia, message, tmp_path):
    with pytest.raises(mb.ModelFileError, match=message):
        mb.save_mjcf(arm(joint, inertia=inertia), tmp_path / "arm.xml")
    assert not list(tmp_path.iterdir())


def test_what_is_lost_is_named(tmp_path):
    """Forces, limits of one side, data that would act, motions: all in one warning."""
    mech = arm(mb.PrismaticJoint("slide").prescribe("0.1 * sin(t)"))
    pin = mb.RevoluteJoint("pin", axis=(0, 0, 1))
    mech.add_body(mb.Body("bob", BALL, shapes=[mb.MeshShape(np.eye(3), [(0, 1, 2)])]))
    limits = mb.JointLimits(lower=-1.0, velocity=2.0)
    friction = mb.JointFriction(damping=0.1, friction=0.2)
    mech.add_joint(pin, "tip", "bob", limits=limits, friction=friction)
    mech.add_force(mb.JointSpring("first", "pin", stiffness=2.0, rest=0.5))
    mech.add_force(mb.JointSpring("second", "pin", stiffness=2.0))
    mech.add_constraint(mb.PolynomialCoupling("odd", "hinge", "pin", coefficients=np.ones(6)))
    with pytest.warns(mb.ModelFileWarning) as caught:
        mb.save_model(mech, tmp_path / "arm.xml")
    for what in (
        "limits of velocities, and those of one side, of 'pin'", "the forces 'second'",
        "the constraints 'odd'", "damping that is data of 'pin'", "friction that is data of 'pin'",
        "the prescribed motion of joints 'slide'",
        "shapes whose meshes cannot be read or written, of 'bob'",
    ):  # fmt: skip
        assert what in str(caught[0].message)
    root = ET.parse(tmp_path / "arm.xml").getroot()  # noqa: S314 - a file of our own
    (joint,) = [each for each in root.iter("joint") if each.get("name") == "pin"]
    assert (joint.get("stiffness"), joint.get("springref"), joint.get("range")) == (
        "2.0",
        "0.5",
        None,
    )


def test_loops_and_gears():
    """A loop of hinges is two points of an axis; gears and polynomials are equalities."""
    mech = mb.Mechanism("loop")
    for name in "abc":
        mech.add_body(mb.Body(name, BALL))
    place = mb.spatial.translation((1.0, 0.0, 0.0))
    ends = [("world", "a"), ("a", "b"), ("b", "c"), ("c", "world")]
    for name, (first, second) in zip("wxyz", ends, strict=True):
        mech.add_joint(mb.RevoluteJoint(name), first, second, frames=(place, np.eye(4)))
    mech.add_constraint(mb.GearRatio("gear", "w", "x", ratio=-2.0, offset=0.5))
    text, notes = mjcf_text(mech)
    equality = ET.fromstring(text).find("equality")  # noqa: S314 - a text of our own
    assert [(each.tag, each.get("name")) for each in equality] == [
        ("connect", "z"), ("connect", "z axis"), ("joint", "gear"),
    ]  # fmt: skip
    assert equality[2].get("polycoef") == "0.5 -2.0 0.0 0.0 0.0"
    assert notes == []


def test_meshes_stand_in_the_file():
    """Equal ones once; a face without an area is left out."""
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0, 0)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3), (0, 4, 1)]
    shapes = [mb.MeshShape(corners, faces), mb.MeshShape(corners, faces, color="#ff0000")]
    mech = mb.Mechanism("wedge", world_shapes=shapes)
    text, notes = mjcf_text(mech)
    root = ET.fromstring(text)  # noqa: S314 - a text of our own
    (mesh,) = root.iter("mesh")
    assert mesh.get("vertex") == " ".join(f"{each:g}" for each in np.ravel(corners))
    assert mesh.get("face") == "0 2 1 0 1 3 0 3 2 1 2 3"
    assert [each.get("mesh") for each in root.iter("geom")] == [mesh.get("name")] * 2
    assert notes == []
