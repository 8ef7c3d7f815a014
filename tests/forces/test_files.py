"""Forces in model files and pickles, and faults in files."""

from __future__ import annotations

import pickle

import attrs
import numpy as np
import pytest

import mbkit as mb
from tests.forces.cases import every_force, tree


@attrs.frozen
class Wind(mb.Force):
    """A force of a user that a file can hold."""

    name: str
    speed: float

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = self.speed


class Breeze(mb.Force):
    """One that it cannot."""

    def __init__(self, name, speed):
        super().__init__(name)
        self.speed = speed

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = self.speed


@pytest.fixture
def mechanism():
    rng = np.random.default_rng(4)
    mech, single = tree(rng)
    for force in every_force(rng, mech, single):
        mech.add_force(force)
    return mech


def test_a_file_gives_the_same_forces(mechanism, tmp_path):
    """Every number, to the last bit."""
    mechanism.add_force(Wind("breeze", 2.0))
    mb.save_model(mechanism, tmp_path / "model.toml")
    again = mb.load_model(tmp_path / "model.toml")
    assert list(again.forces.values()) == list(mechanism.forces.values())
    assert again == mechanism
    assert again.to_toml() == mechanism.to_toml()
    other = mb.parse_model(mechanism.to_toml().replace(f"{Wind.__module__}:Wind", "wind"),
                           force_types={"wind": Wind})  # fmt: skip
    assert other.forces["breeze"] == Wind("breeze", 2.0)


def test_a_mechanism_with_forces_is_pickled(mechanism):
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism  # noqa: S301 - our own


def test_what_a_file_cannot_hold_is_refused(mechanism, tmp_path):
    mechanism.add_force(Breeze("breeze", 2.0))
    with pytest.raises(mb.ModelFileError, match="Force 'breeze' cannot be written"):
        mb.save_model(mechanism, tmp_path / "model.toml")
    with pytest.raises(mb.ModelFileError, match=r"not complete in the file: .*speed"):
        mb.parse_model(mechanism.to_toml())


def test_a_file_may_say_it_shorter():
    text = """
        mbkit_model = 1
        name = "wheel"
        [bodies.wheel]
        mass = 1
        moment_about_com = [1, 1, 1]
        [joints.axle]
        type = "revolute"
        predecessor = "world"
        successor = "wheel"
        [forces.motor]
        type = "joint_effort"
        joint = "axle"
        effort = 3
        [forces.mount]
        type = "bushing"
        body_a = "world"
        body_b = "wheel"
        stiffness = [1, 1, 1, 1, 1, 1]
        frame_b = {position = [0, 0, 1]}
    """
    mech = mb.parse_model(text)
    assert mech.forces["motor"] == mb.JointEffort("motor", "axle", 3.0)
    assert mech.forces["mount"].frame_b[2, 3] == 1.0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("type = 'joint_sprin'", "forces.f.type: 'joint_sprin' is no known type of force; did you"),
        ("joint = 'axle'", "forces.f: must have a 'type'"),
        ("type = 'joint_damper'\njoint = 'axel'\ndamping = 1.0", "no joint 'axel'; did you mean"),
        (
            "type = 'joint_damper'\njoint = 'axle'\ndampin = 1.0",
            "dampin: unknown key; did you mean",
        ),
        ("type = 'joint_damper'\njoint = 'axle'\ndamping = -1", "f.damping: .*must be at least 0"),
        ("type = 'joint_damper'\njoint = 'axle'\ndamping = 'x'", "damping: must be a number"),
        ("type = 'joint_effort'\njoint = 'axle'\neffort = [1, 2]", "f.effort: .*shape"),
        ("type = 'bushing'\nframe_a = {positio = [1, 2, 3]}", "frame_a.*positio"),
        (
            "type = 'os:Force'",
            "is no known type of force; import its module first, or pass force_t",
        ),
    ],
)
def test_faults_have_a_place(lines, message):
    head = "mbkit_model = 1\nname = 'w'\n[bodies.b]\nmass = 1\nmoment_about_com = [1, 1, 1]\n"
    joint = "[joints.axle]\ntype = 'revolute'\npredecessor = 'world'\nsuccessor = 'b'\n"
    with pytest.raises(mb.ModelFileError, match=message):
        mb.parse_model(f"{head}{joint}[forces.f]\n{lines}")
