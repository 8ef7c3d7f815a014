"""Constraints in model files and parameters."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.examples import EXAMPLES
from tests.constraints.test_python import Sheet

BOX = mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))

WRITTEN = [each for each in EXAMPLES if getattr(each, "function", None) is None]


def mechanism(*constraints):
    mech = mb.Mechanism("two")
    for body in ("a", "b"):
        mech.add_body(mb.Body(body, BOX))
        mech.add_joint(mb.FreeJoint(f"of {body}"), mech.world, body)
    for body, joint in (("c", mb.RevoluteJoint("i")), ("d", mb.PrismaticJoint("j"))):
        mech.add_body(mb.Body(body, BOX))
        mech.add_joint(joint, "a", body)
    for constraint in constraints:
        mech.add_constraint(constraint)
    return mech


def test_what_is_written_is_read(tmp_path):
    """All constraints that hold numbers, of mbkit and of a user."""
    mech = mechanism(*WRITTEN, Sheet("sheet", "a", height=0.5))
    path = tmp_path / "m.toml"
    mb.save_model(mech, path)
    read = mb.load_model(path, constraint_types={"sheet": Sheet})
    assert read == mech
    assert list(read.constraints) == [*(each.name for each in WRITTEN), "sheet"]


def test_a_constraint_in_a_file_by_its_name():
    text = """
        mbkit_model = 1
        name = "bob"
        [bodies.bob]
        mass = 1.0
        com = [0, 0, 0]
        moment_about_com = [1, 1, 1]
        [joints.free]
        type = "translational"
        predecessor = "world"
        successor = "bob"
        [constraints.rod]
        type = "distance"
        body_a = "world"
        body_b = "bob"
        length = 0.5
    """
    system = mb.parse_model(text).assemble()
    np.testing.assert_allclose(system.constraint_residual([0.0, 0.0, 0.5]), 0.0)
    assert system.constraint_names == ("rod",)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('type = "distanc"\nbody_a = "a"', "distance"),
        ('type = "distance"\nbody_a = "a"\nbody_b = "b"\nlength = -1.0', "length must be above 0"),
        ('type = "distance"\nbody_a = "a"\nbody_b = "x"\nlength = 1.0', "no body 'x'"),
        ('type = "distance"\nbody_a = "a"\nbody_b = "b"\nlong = 1.0', "unknown key"),
    ],
)
def test_faults_are_told_with_their_place(lines, message):
    text = mechanism()
    from mbkit.model import to_toml

    with pytest.raises(mb.ModelFileError, match=rf"constraints\.rod[\s\S]*{message}"):
        mb.parse_model(to_toml(text) + f"\n[constraints.rod]\n{lines}\n")


def test_a_function_cannot_be_written(tmp_path):
    mech = mechanism(mb.JointCoupling("cam", "i", "j", np.sin))
    with pytest.raises(mb.ModelFileError, match=r"Constraint 'cam' cannot be written .* function"):
        mb.save_model(mech, tmp_path / "m.toml")


def test_numbers_of_constraints_are_parameters():
    """They are listed, and can be changed."""
    system = mechanism(
        mb.Distance("rod", "a", "b", length=0.5), mb.GearRatio("gear", "i", "j", ratio=2.0)
    ).assemble()
    assert system.parameters["constraints.rod.length"] == 0.5
    assert system.parameters["constraints.gear.ratio"] == 2.0
    other = system.with_parameters({"constraints.gear.ratio": 3.0, "constraints.rod.length": 1.0})
    q = system.reference_configuration()
    assert other.constraint_jacobian(q)[1, system.velocity_slice("i")] == [-3.0]
    np.testing.assert_allclose(other.constraint_residual(q)[0], -0.5)
    with pytest.raises(mb.ParameterError, match="length must be above 0"):
        system.with_parameters({"constraints.rod.length": 0.0})


def test_gears_become_mimic_joints_of_a_urdf(tmp_path):
    """And come back as gears."""
    mech = mb.Mechanism("two")
    for body, joint, on in (("a", "i", "world"), ("b", "j", "a")):
        mech.add_body(mb.Body(body, BOX))
        mech.add_joint(mb.RevoluteJoint(joint), on, body)
    mech.add_constraint(mb.GearRatio("j mimics i", "i", "j", ratio=-0.5, offset=0.25))
    mb.save_urdf(mech, tmp_path / "m.urdf")
    read = mb.load_urdf(tmp_path / "m.urdf")
    assert read.constraints == mech.constraints
