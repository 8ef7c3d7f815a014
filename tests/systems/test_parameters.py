"""Other numbers in the same system: masses, screws, places of joints, gravity."""

from __future__ import annotations

import pathlib

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.compiling.caching import compilation_listener
from tests.every_representation import each_representation
from tests.trees import MAKERS, random_inertia, random_mechanism, random_pose, random_state

MODELS = pathlib.Path(__file__).parents[2] / "docs" / "studies" / "models"


def new_values(rng, system):
    """A new value for about half of all parameters."""
    values = {"gravity": rng.normal(size=3)}
    for name in system.body_names[1:]:
        if rng.random() < 0.5:
            inertia = random_inertia(rng)
            values[f"bodies.{name}.mass"] = inertia.mass
            values[f"bodies.{name}.com"] = inertia.com
            values[f"bodies.{name}.moment_about_com"] = inertia.moment_about_com
    for path in system.parameters:
        if path.startswith("joints.") and rng.random() < 0.5:
            if path.endswith(("S_pred", "S_succ")):
                values[path] = random_pose(rng)
            elif path.endswith((".axis", ".point")):
                values[path] = rng.normal(size=3)
            elif path.endswith(".pitch"):
                values[path] = rng.normal()
    return values


def composed(joint, path, values):
    """A composite joint built again."""
    members = []
    for member in joint.members:
        start = f"{path}.{member.name}."
        own = {key.removeprefix(start): values[key] for key in values if key.startswith(start)}
        members.append(attrs.evolve(member, **own))
    return mb.CompositeJoint(joint.name, *members)


def rebuilt(mechanism, values):
    """The mechanism built again, with these numbers from the start."""
    mech = mb.Mechanism(mechanism.name, gravity=values.get("gravity", mechanism.gravity))
    for name, body in mechanism.bodies.items():
        fields = {
            field: values[f"bodies.{name}.{field}"]
            for field in ("mass", "com", "moment_about_com")
            if f"bodies.{name}.{field}" in values
        }
        mech.add_body(attrs.evolve(body, inertia=attrs.evolve(body.inertia, **fields)))
    for name, edge in mechanism.joints.items():
        own = {
            path.rpartition(".")[2]: value
            for path, value in values.items()
            if path.startswith(f"joints.{name}.") and not path.endswith(("S_pred", "S_succ"))
        }
        frames = [
            values.get(f"joints.{name}.{place}", getattr(edge, place))
            for place in ("S_pred", "S_succ")
        ]
        if isinstance(edge.joint, mb.CompositeJoint):
            joint = composed(edge.joint, f"joints.{name}", values)
        else:
            joint = attrs.evolve(edge.joint, **own) if own else edge.joint
        frames.append(edge.T_reference)
        mech.add_joint(joint, edge.predecessor, edge.successor, frames=frames)
    return mech


@pytest.mark.some(4)
@each_representation
@pytest.mark.parametrize("body_frames", ["joint", "com"])
def test_it_is_the_system_of_the_changed_mechanism(representation, body_frames):
    """Bit by bit, whatever was changed, with bodies that fixed joints hold together."""
    rng = np.random.default_rng(6)
    coordinates = mb.RelativeCoordinates(representation, body_frames)
    mechanism = random_mechanism(rng, 2 * len(MAKERS), reach=4)
    system = mechanism.assemble(coordinates)
    state = random_state(rng, system)
    before = system.forward_dynamics(state.q, state.v, state.tau)
    values = new_values(rng, system)
    found = system.with_parameters(values)
    changed = rebuilt(mechanism, values)
    expected = changed.assemble(coordinates)
    assert len({path.split(".")[-1] for path in values}) > 6
    for method, arguments in (
        ("forward_dynamics", (state.q, state.v, state.tau)),
        ("inverse_dynamics", (state.q, state.v, state.vdot, state.wrenches)),
        ("poses", (state.q,)),
        ("twists", (state.q, state.v)),
        ("centre_of_mass", (state.q,)),
    ):
        results = [getattr(each, method)(*arguments) for each in (found, expected)]
        np.testing.assert_array_equal(*results)
    assert found.mass == expected.mass
    assert found.model_text == changed.to_toml()
    np.testing.assert_array_equal(found.gravity, values["gravity"])
    for path, value in values.items():
        np.testing.assert_array_equal(found.parameters[path], value)
    # the system it came from is what it was
    np.testing.assert_array_equal(system.forward_dynamics(state.q, state.v, state.tau), before)
    assert np.abs(before - found.forward_dynamics(state.q, state.v, state.tau)).max() > 1e-3


@pytest.mark.some(4)
@each_representation
@pytest.mark.parametrize("name", ["tree", "slider-crank"])
def test_masses_forces_and_gravity_are_those_of_the_changed_mechanism(representation, name):
    """Bit by bit where only these change and the rest of the system is kept."""
    rng = np.random.default_rng(8)
    if name == "tree":
        mechanism = random_mechanism(rng, len(MAKERS), reach=3)
    else:
        mechanism = mb.load_model(MODELS / f"{name}.toml")
    first = next(iter(mechanism.bodies))
    mechanism.add_force(mb.Drag("drag", first, linear=0.3))
    mechanism.add_force(mb.UniformField("wind", acceleration=(0.1, 0.2, 0.3)))
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    values = {"gravity": rng.normal(size=3), "forces.drag.linear": 0.7}
    for body, each in mechanism.bodies.items():
        values[f"bodies.{body}.mass"] = 1.5 * each.inertia.mass + 0.1
        if body != first:
            values[f"bodies.{body}.moment_about_com"] = 1.3 * each.inertia.moment_about_com
    changed = rebuilt(mechanism, values)
    for force in mechanism.forces.values():
        own = {"linear": values["forces.drag.linear"]} if force.name == "drag" else {}
        changed.add_force(attrs.evolve(force, **own))
    expected = changed.assemble(mb.RelativeCoordinates(representation))
    found = system.with_parameters(values)
    q, v = expected.close_loops(expected.reference_configuration(), rng.normal(size=system.nv))
    for each in zip(found.solve_dynamics(q, v), expected.solve_dynamics(q, v), strict=True):
        np.testing.assert_array_equal(*each)
    np.testing.assert_array_equal(found.energies(q, v), expected.energies(q, v))
    assert found.model_text == changed.to_toml()
    assert (found.mass, found.joint_names) == (expected.mass, expected.joint_names)
    plain = system.with_parameters({"gravity": values["gravity"]})
    assert plain.arrays.forces is system.arrays.forces
    assert plain.evaluator.arguments.by_name is not system.evaluator.arguments.by_name


def test_nothing_is_compiled_and_the_way_back_is_exact():
    """Old values give the old system, bit by bit."""
    rng = np.random.default_rng(7)
    system = random_mechanism(rng, 6).assemble()
    state = random_state(rng, system)
    expected = system.forward_dynamics(state.q, state.v, state.tau)
    values = new_values(rng, system)
    heard = []
    with compilation_listener(heard.append):
        other = system.with_parameters(values)
        other.forward_dynamics(state.q, state.v, state.tau)
    assert not heard
    back = other.with_parameters({path: system.parameters[path] for path in values})
    found = back.forward_dynamics(state.q, state.v, state.tau)
    np.testing.assert_array_equal(found, expected)


@pytest.fixture(scope="module")
def arm():
    """Two bodies on hinges."""
    mech = mb.Mechanism("arm")
    rod = mb.SpatialInertia.cylinder(1.0, radius=0.02, length=1.0)
    upper, lower = mech.add_body(mb.Body("upper", rod)), mech.add_body(mb.Body("lower", rod))
    mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper)
    mech.add_joint(mb.HelicalJoint("elbow", point=(1, 0, 0), pitch=0.1), upper, lower)
    return mech


def test_names_are_listed(arm):
    """Of all that can be changed, with what they are now; the list cannot be written to."""
    system = arm.assemble()
    assert [*system.parameters] == [
        "gravity",
        *(f"bodies.upper.{f}" for f in ("mass", "com", "moment_about_com")),
        *(f"bodies.lower.{f}" for f in ("mass", "com", "moment_about_com")),
        *(f"joints.shoulder.{f}" for f in ("axis", "point", "S_pred", "S_succ")),
        *(f"joints.elbow.{f}" for f in ("axis", "point", "pitch", "S_pred", "S_succ")),
    ]  # fmt: skip
    assert system.parameters["joints.elbow.pitch"] == 0.1
    with pytest.raises(TypeError):
        system.parameters["gravity"] = 0.0


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"bodies.uper.mass": 1}, mb.NameUnknownError, r"uper\.mass'.*'bodies\.upper\.mass'"),
        ({"mass": 1}, mb.NameUnknownError, r"no parameter 'mass'.*, parameters=\{'mass'"),
        ({"bodies.upper.mass": -1}, mb.ParameterError, r"bodies\.upper\.mass: .*mass"),
        ({"bodies.lower.mass": 0}, mb.MbkitError, "lower"),
        ({"joints.elbow.axis": (0, 0, 0)}, mb.ParameterError, r"joints\.elbow\.axis: .*axis"),
        ({"joints.elbow.S_pred": np.ones((4, 4))}, mb.ParameterError, r"joints\.elbow\.S_pred"),
        ({"gravity": (1, 2)}, mb.ParameterError, r"gravity: .*\(3,\)"),
        ({"gravity": "down"}, mb.ParameterError, "gravity: "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(arm, values, error, message):
    """With the parameter's name and the reason of the object that has it."""
    with pytest.raises(error, match=message):
        arm.assemble().with_parameters(values)


def test_a_mechanism_that_grows_changes_no_system(arm):
    """Nor the systems made from it by other numbers."""
    mech = mb.parse_model(arm.to_toml())
    system = mech.assemble()
    text = mech.to_toml()
    tip = mech.add_body(mb.Body("tip", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FixedJoint("weld"), "lower", tip)
    assert system.model_text == text
    assert system.with_parameters({"bodies.upper.mass": 2.0}).mass == 3.0


@pytest.mark.slow
def test_switches_and_tables_that_are_not_there_are_no_parameters(arm):
    arm.add_force(mb.UniformField("field", (0.0, 0.0, 1.0), bodies=["upper"]))
    lift = mb.Cam(
        "cam", "shoulder", "elbow", positions=[0.0, 1.0, 2.0, 3.0], lift=[0.0, 0.1, 0.1, 0.0]
    )
    arm.add_constraint(lift)
    own = [name for name in arm.assemble().parameters if name.startswith(("forces", "constr"))]
    assert own == ["forces.field.acceleration", "constraints.cam.positions", "constraints.cam.lift"]


def test_forces_have_parameters():
    """A stiffer spring, in equations and in a run."""
    mech = mb.Mechanism("oscillator", gravity=(0, 0, 0))
    mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), mech.world, mass)
    mech.add_force(mb.JointSpring("spring", "slide", stiffness=4.0))
    system = mech.assemble()
    assert system.parameters["forces.spring.stiffness"] == 4.0
    stiff = system.with_parameters({"forces.spring.stiffness": 9.0, "bodies.mass.mass": 2.0})
    assert stiff.generalized_forces([0.1], [0.0])[0] == pytest.approx(-0.9)
    assert system.generalized_forces([0.1], [0.0])[0] == pytest.approx(-0.4)
    run = mb.simulate(stiff, (0.0, 1.0), 1e-3, q=[0.1])
    np.testing.assert_allclose(run.q[:, 0], 0.1 * np.cos(np.sqrt(4.5) * run.t), atol=1e-12)
    with pytest.raises(mb.ParameterError, match=r"forces\.spring\.stiffness: "):
        system.with_parameters({"forces.spring.stiffness": np.nan})


def test_derivatives_by_moments_of_split_bodies():
    """In absolute coordinates, where a spring cuts a body, as in relative ones."""
    mech = mb.Mechanism("arm", gravity=(0, 0, -9.81))
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.box(2.0, size=(0.1, 0.2, 1.0))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(1, 2, 3), point=(0, 0, 0.5)), mech.world, arm)
    mech.add_force(mb.JointSpring("spring", "hinge", stiffness=3.0, rest=0.2))
    name, relative = "bodies.arm.moment_about_com", mech.assemble()
    system = mech.assemble(mb.AbsoluteCoordinates())
    assert system.split_bodies
    q, v = system.state_of(relative, [0.3], [0.5])
    found = system.derivatives("forward_dynamics", q, v, by=[name])[name]
    by_hinge = relative.derivatives("forward_dynamics", [0.3], [0.5], by=[name])[name]
    row = system.velocity_slice("hinge")
    assert np.abs(by_hinge).max() > 1e-3
    assert np.allclose(found[row], by_hinge, rtol=1e-10, atol=1e-10)


@pytest.mark.some(2)
@pytest.mark.compiled  # dual numbers are: differences refuse directions that are chosen by case
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 0.0)])
def test_derivatives_by_directions_of_rails(axis):
    """A bead of 2 kg: vdot = e e.f / m, at directions where the others change by case."""
    mech = mb.Mechanism("wire", gravity=(0, 0, 0))
    bead = mech.add_body(mb.Body("bead", mb.SpatialInertia.sphere(2.0, radius=0.01)))
    mech.add_joint(mb.TranslationalJoint("anywhere"), mech.world, bead)
    mech.add_constraint(mb.PointOnLine("wire", "world", "bead", axis=axis))
    system, f = mech.assemble(), np.array([1.0, 2.0, -3.0])
    name = "constraints.wire.axis"
    found = system.derivatives("forward_dynamics", np.zeros(3), np.zeros(3), f, by=[name])[name]
    size = np.linalg.norm(axis)
    e = np.array(axis) / size
    across = (np.eye(3) - np.outer(e, e)) / size
    expected = (np.outer(e, f) + e @ f * np.eye(3)) @ across / 2.0
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)
