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
        [forces.lift]
        type = "uniform_field"
        acceleration = [0, 0, 1]
        bodies = ["wheel"]
        [forces.mount]
        type = "bushing"
        body_a = "world"
        body_b = "wheel"
        stiffness = [1, 1, 1, 1, 1, 1]
        frame_b = {position = [0, 0, 1]}
    """
    mech = mb.parse_model(text)
    assert mech.forces["motor"] == mb.JointEffort("motor", "axle", 3.0)
    assert mech.forces["lift"] == mb.UniformField("lift", (0, 0, 1), ("wheel",))
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
        ("type = 'joint_effort'\njoint = 'axle'\neffort = [1, 2]", "f.times: .* must be 2 times"),
        (
            "type = 'uniform_field'\nacceleration = [0, 0, 1]\nbodies = ['c']",
            "no body 'c'",
        ),
        (
            "type = 'uniform_field'\nacceleration = [0, 0, 1]\nbodies = []",
            "must have a name",
        ),
        (
            "type = 'uniform_field'\nacceleration = [0, 0, 1]\nbodies = 'b'",
            "f.bodies: .*array of strings",
        ),
        (
            "type = 'uniform_field'\nacceleration = [0, 0, 1]\nbodies = [1]",
            "f.bodies: .*array of strings",
        ),
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


def test_a_run_has_its_further_forces_in_its_model(mechanism):
    """Those that a file can hold; the others are named in the options, as all are."""
    system = mechanism.assemble()
    further = [
        Breeze("breeze", 2.0),
        mb.JointDamper("more oil", "joint1", damping=0.3),
        Wind("trade wind", 1.0),
    ]
    run = mb.simulate(system, (0.0, 0.01), 1e-3, forces=further)
    again = mb.parse_model(run.model)
    assert list(again.forces) == [*mechanism.forces, "more oil", "trade wind"]
    assert again.forces["more oil"] == further[1]
    assert [text.partition("(")[0] for text in run.options["forces"]] == [
        "Breeze", "JointDamper", "Wind",
    ]  # fmt: skip
    other = mb.simulate(again.assemble(), (0.0, 0.01), 1e-3, forces=[Breeze("breeze", 2.0)])
    np.testing.assert_allclose(other.q, run.q, atol=1e-13)
    changed = system.with_forces(further).with_parameters({"forces.more oil.damping": 0.5})
    assert changed.forces[-2].damping == 0.5


def test_forces_are_taken_away_again(mechanism):
    system = mechanism.assemble()
    names = system.force_names
    further = system.with_forces([Breeze("breeze", 2.0)])
    assert further.force_names == (*names, "breeze")
    less = further.without_forces(["breeze", names[0]])
    assert less.force_names == names[1:]
    assert mb.parse_model(less.model_text).forces.keys() == set(names[1:])
    assert further.force_names == (*names, "breeze")
    with pytest.raises(mb.NameUnknownError, match=r"no force 'breze'; did you mean 'breeze'"):
        further.without_forces(["breze"])
    with pytest.raises(mb.ForceError, match="give a list"):
        further.without_forces("breeze")


def test_other_parameters_keep_the_forces(mechanism):
    """Those of the model, and those that were added to the system."""
    system = mechanism.assemble().with_forces([Breeze("breeze", 2.0)])
    other = system.with_parameters({"gravity": (0, 0, -1.0)})
    assert other.force_names == system.force_names
    q, v = system.reference_configuration(), np.ones(system.nv)
    np.testing.assert_array_equal(
        other.generalized_forces(q, v, 0.3), system.generalized_forces(q, v, 0.3)
    )
    assert "breeze" not in other.model_text


def test_numbers_of_forces_are_parameters(mechanism):
    """By name, checked as when the force was made; a mechanism made with them gives the same."""
    system = mechanism.assemble()
    values = {
        "forces.spring.stiffness": 9.0,
        "forces.linear.effort": [1.0, 2.0, 3.0, 4.0, 5.0],
        "forces.bushing.damping": np.full(6, 0.5),
    }
    assert system.parameters["forces.spring.stiffness"] == 7.0
    other = system.with_parameters(values)
    again = mb.parse_model(other.model_text).assemble()
    assert again.forces == other.forces != system.forces
    q, v = system.reference_configuration(), np.ones(system.nv)
    np.testing.assert_array_equal(
        other.generalized_forces(q, v, 0.3), again.generalized_forces(q, v, 0.3)
    )
    with pytest.raises(mb.ParameterError, match=r"forces.bushing.damping: .*no entry below 0"):
        system.with_parameters({"forces.bushing.damping": [-1.0] * 6})
    with pytest.raises(mb.NameUnknownError, match=r"did you mean 'forces.spring.stiffness'"):
        system.with_parameters({"forces.spring.stifness": 1.0})
