"""A system is immutable, and holds addresses: in another process it is assembled again."""

import copy
import pathlib
import pickle

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.simulation.long_runs.identity import system_digest
from tests.constraints.examples import EXAMPLES as CONSTRAINTS
from tests.forces.cases import every_force, tree
from tests.joints.pose_only import TWINS

MODELS = pathlib.Path(__file__).parents[2] / "docs" / "studies" / "models"
COORDINATES = {
    "hybrid": mb.RelativeCoordinates(mb.Hybrid(), "com"),
    "absolute": mb.AbsoluteCoordinates(),
}


def slider_crank():
    model = MODELS / "slider-crank.toml"
    return mb.load_model(model)


@pytest.mark.parametrize("name", COORDINATES)
def test_copies_are_the_system_itself_and_pickles_the_same_to_the_last_bit(name):
    """Also with a closed loop, other numbers than the mechanism's, further forces, a solver."""
    plain = slider_crank().assemble(COORDINATES[name])
    body = plain.body_names[1]
    changed = plain.with_parameters({f"bodies.{body}.mass": 0.7})
    field = mb.UniformField("wind", acceleration=np.array([0.1, 0.2, 0.3]))
    system = changed.with_forces([field]).with_constraint_solver(mb.NullSpace())
    assert copy.copy(system) is system
    assert copy.deepcopy(system) is system
    again = pickle.loads(pickle.dumps(system))  # noqa: S301 - our own
    assert system_digest(again) == system_digest(system) != system_digest(plain)
    assert again.model_text == system.model_text
    assert again.loop_joints == system.loop_joints
    q, v = system.close_loops(system.reference_configuration(), np.zeros(system.nv))
    for found, expected in zip(
        again.solve_dynamics(q, v), system.solve_dynamics(q, v), strict=True
    ):
        assert np.array_equal(found, expected)


def test_a_system_does_not_follow_its_mechanism():
    """What is added to a mechanism later, or set there, is for its next system."""
    mech = slider_crank()
    system = mech.assemble()
    q, v = system.close_loops(system.reference_configuration(), np.ones(system.nv))
    arguments = q, v, np.ones(system.nv)
    before, text = system.forward_dynamics(*arguments), system.model_text
    mech.gravity = (1.0, 2.0, 3.0)
    mech.add_force(mb.JointDamper("damper", system.joint_names[0], damping=3.0))
    mech.add_body(mb.Body("late", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    assert system.forward_dynamics(*arguments).tobytes() == before.tobytes()
    assert system.model_text == text


def parts():
    """Return a body, and joints, forces and constraints of all kinds."""
    rng = np.random.default_rng(3)
    mech, single = tree(rng)
    joints = [make("joint") for make, _ in TWINS.values()]
    bodies = [*mech.bodies.values()][:1]
    found = [*bodies, *joints, *every_force(rng, mech, single), *CONSTRAINTS]
    return {f"{type(each).__name__}, {k}": each for k, each in enumerate(found)}


PARTS = parts()


@pytest.mark.parametrize("name", PARTS)
def test_what_a_system_keeps_of_a_model_cannot_change(name):
    """Bodies, joints, forces and constraints are values: fields are frozen, and so are arrays."""
    part = PARTS[name]
    for field in attrs.fields(type(part)):
        value = getattr(part, field.name)
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(part, field.name, value)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, field.name
            assert value.base is None or not value.base.flags.writeable, field.name
        assert not isinstance(value, (list, dict, set)), field.name


class Rail(mb.Joint):
    """A joint in a class whose attributes can be set."""

    num_positions = num_velocities = 1

    def __init__(self, name, gain):
        super().__init__(name)
        self.gain = np.array([gain])

    def pose(self, q):
        T = np.eye(4)
        T[0, 3] = self.gain[0] * np.sin(q[0])
        return T


class Pull(mb.Force):
    def __init__(self, name):
        super().__init__(name)
        self.size, self.times = 1.0, []

    def evaluate(self, t, q, v, poses, twists, out):
        self.times.append(t)
        out[0] = -self.size


class Wire(mb.Constraint):
    bodies = ("cart",)
    num_rows = 1

    def __init__(self, name):
        super().__init__(name)
        self.height = 0.5

    def residual(self, t, q, poses):
        return [poses[0, 2, 3] - self.height]


def changeable():
    """Return a mechanism with changeable parts, also within others, and these parts."""
    mech = mb.Mechanism("cart and rods", gravity=(-1.0, 0.0, -9.81))
    inertia = mb.SpatialInertia.from_com(1.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
    names = ("cart", "slide", "driven", "hung")
    cart, slide, driven, hung = (mech.add_body(mb.Body(name, inertia)) for name in names)
    rails = [Rail(name, 2.0) for name in ("rail", "member", "drive")]
    lift = mb.PrismaticJoint("lift")
    mech.add_joint(mb.CompositeJoint("free", lift, rails[0]), mech.world, cart)
    mech.add_joint(mb.CompositeJoint("both", rails[1], mb.RevoluteJoint("turn")), cart, slide)
    mech.add_joint(rails[2].prescribe(lambda t: 0.3 + 0.1 * t), slide, driven)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), driven, hung)
    pull, wire = Pull("pull"), Wire("wire")
    mech.add_force(pull)
    mech.add_constraint(wire)
    return mech, rails, pull, wire


@pytest.mark.some(2)
@pytest.mark.parametrize("coordinates", [mb.RelativeCoordinates(), mb.AbsoluteCoordinates()])
def test_a_system_does_not_follow_parts_whose_attributes_are_set(coordinates):
    """Its numbers stay to the last bit; the next system has the new ones."""
    mech, rails, pull, wire = changeable()
    system = mech.assemble(coordinates)

    def numbers(system):
        dx = 0.3 * np.random.default_rng(1).normal(size=system.ndx)
        q = system.retract(system.reference_configuration(), dx)
        v, tau = np.ones(system.nv), np.ones(system.nv)
        constraints = system.constraint_residual(q), system.constraint_jacobian(q)
        dynamics = system.forward_dynamics(q, v, tau, t=0.2)
        return np.concatenate([np.ravel(each) for each in (*constraints, dynamics)]).tobytes()

    before, found = numbers(system), {numbers(system)}
    for change in (
        lambda: rails[0].gain.fill(3.0),
        lambda: setattr(rails[1], "gain", np.array([4.0])),
        lambda: setattr(rails[2], "gain", np.array([5.0])),
        lambda: setattr(pull, "size", 10.0),
        lambda: setattr(wire, "height", 0.7),
    ):
        change()
        assert numbers(system) == before
        found.add(numbers(mech.assemble(coordinates)))
    assert len(found) == 6  # each was heard by the next
    assert pull.times  # a list that it holds is the user's
