"""Absolute coordinates of every mechanism of the project: one model, one argument changed."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import flyball_governor
from tests.closed_loops.mechanisms import CASES
from tests.constraints import closed_mechanisms
from tests.constraints.driven import driven
from tests.constraints.examples import EXAMPLES
from tests.constraints.loops import LOOP_KINDS, consistent, mobile_loops
from tests.coordinates.same_mechanism import COORDINATES, IDS, check_same
from tests.every_representation import in_turn
from tests.forces import twins
from tests.forces.cases import every_force, tree
from tests.reference.test_nonholonomic_joints import SkateByHand, sleigh
from tests.reference.user_joints import BallJoint, CardanJoint, EllipseJoint
from tests.trees import MAKERS, random_inertia, random_mechanism, random_pose, random_state

pytestmark = [
    pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning"),
]

each_coordinates = pytest.mark.parametrize("coordinates", COORDINATES, ids=IDS)


@pytest.mark.some(5)
@pytest.mark.parametrize(
    ("case", "coordinates"),
    in_turn({case.name: case for case in CASES}, dict(zip(IDS, COORDINATES, strict=True))),
)
def test_closed_mechanisms_move_the_same(case, coordinates):
    """Accelerations, reactions and energies, some steps after the start."""
    mech, relative = case.build(), case.system()
    run = case.run(relative, 20 * case.h, save_every=20)
    check_same(relative, mech.assemble(coordinates), run.q[-1], run.v[-1])


@pytest.mark.long
@pytest.mark.parametrize("name", ["four_bar", "bricard", "bennett", "sarrus", "stewart"])
def test_closed_mechanisms_of_the_literature_move_the_same(name):
    """Somewhere along their motion, with any velocity they can have."""
    rng = np.random.default_rng(3)
    mech = getattr(closed_mechanisms, name)()
    relative = mech.assemble()
    q = relative.reference_configuration()
    v = consistent(relative, q, rng.normal(size=relative.nv))
    for _ in range(10):  # away from symmetry
        q = relative.close_loops(relative.retract(q, 0.03 * v / np.linalg.norm(v)))
        v = consistent(relative, q, v)
    for coordinates in COORDINATES:
        check_same(relative, mech.assemble(coordinates), q, v)


@pytest.mark.some(2)
@each_coordinates
def test_the_governor_moves_the_same(coordinates):
    """It is a tree, with stiff springs between its bodies."""
    mech = flyball_governor.build()
    relative = mech.assemble()
    q = relative.reference_configuration() + 0.1
    v = flyball_governor.initial_velocity(relative) + 0.2
    check_same(relative, mech.assemble(coordinates), q, v)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("seed", "coordinates"),
    in_turn({"1": 1, "2": 2}, dict(zip(IDS, COORDINATES, strict=True))),
)
def test_trees_of_all_joints_move_the_same(seed, coordinates):
    """In all descriptions of places, either way round, with fixed and free joints among them."""
    rng = np.random.default_rng(seed)
    mech = random_mechanism(rng, len(MAKERS) + 4)
    relative = mech.assemble()
    state = random_state(rng, relative, 0.7)
    check_same(relative, mech.assemble(coordinates), state.q, state.v)


@pytest.mark.some(5)
@each_coordinates
@pytest.mark.parametrize("seed", range(4))
def test_loops_of_all_joints_move_the_same(seed, coordinates):
    """The reference configuration does not close them: bodies stand as in the tree."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(LOOP_KINDS, size=2)
    relative, q = mobile_loops(rng, 8, kinds)
    mech = mb.parse_model(relative.model_text)
    v = consistent(relative, q, rng.normal(size=relative.nv))
    absolute = mech.assemble(attrs.evolve(coordinates, length=relative.arrays.closure.length))
    check_same(relative, absolute, q, v)


@pytest.mark.some(5)
@each_coordinates
@pytest.mark.parametrize("in_python", [False, True], ids=["compiled", "python"])
def test_all_forces_act_the_same(in_python, coordinates):
    """Those along joints act on what keeps their coordinates; fields on the parts of bodies too."""
    rng = np.random.default_rng(4)
    mech, single = tree(rng)
    for force in every_force(rng, mech, single):
        twin = getattr(twins, type(force).__name__, None) if in_python else None
        is_table = isinstance(force, mb.LimitStop)  # its twin knows generalized forces alone
        mech.add_force(force if twin is None or is_table else twin(force))
    relative = mech.assemble()
    state = random_state(rng, relative, 0.6)
    absolute = mech.assemble(coordinates)
    assert {force.joints[0] for force in mech.forces.values() if force.joints} <= {
        *absolute.joint_names
    }
    for t in (0.0, 0.45):
        check_same(relative, absolute, state.q, state.v, t)


def test_a_force_on_all_joints_acts_on_those_of_the_mechanism():
    """It names none: all of them keep their coordinates, in their order."""
    rng = np.random.default_rng(5)
    mech = random_mechanism(rng, 6, ("revolute", "spherical", "prismatic"))
    relative = mech.assemble()
    gains = rng.uniform(0.5, 2.0, relative.nv)
    mech.add_force(mb.ForceFunction("brake", lambda t, q, v: -gains * v, power="dissipated"))
    relative = mech.assemble()
    state = random_state(rng, relative)
    absolute = mech.assemble(mb.AbsoluteCoordinates())
    assert set(relative.joint_names) <= set(absolute.joint_names)
    check_same(relative, absolute, state.q, state.v)


@pytest.mark.some(6)
@pytest.mark.parametrize("coordinates", COORDINATES[::2], ids=IDS[::2])
@pytest.mark.parametrize("constraint", EXAMPLES, ids=[each.name for each in EXAMPLES])
def test_all_constraints_hold_the_same(constraint, coordinates):
    """Gears, cams, rods, rolling, prescribed points and poses."""
    mech = mb.Mechanism("two")
    box = mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    for body in ("a", "b"):
        mech.add_body(mb.Body(body, box))
        mech.add_joint(mb.FreeJoint(f"of {body}"), mech.world, body)
    for body, joint in (("c", mb.RevoluteJoint("i")), ("d", mb.PrismaticJoint("j"))):
        mech.add_body(mb.Body(body, box))
        mech.add_joint(joint, "a", body)
    mech.add_constraint(constraint)
    rng = np.random.default_rng(6)
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    start = relative.retract(relative.reference_configuration(), 0.3 * rng.normal(size=14))
    q, v = relative.close_loops(start, rng.normal(size=14), t=0.4)
    check_same(relative, absolute, q, v, 0.4)


@pytest.mark.some(2)
@each_coordinates
@pytest.mark.parametrize(("build", "joint"), [("four_bar", "A"), ("stewart", "leg 2")])
def test_driven_joints_drive_the_same(build, joint, coordinates):
    """In a loop, with the efforts that it takes."""
    mech = driven(getattr(closed_mechanisms, build)(), joint, lambda t: 0.1 * np.sin(t) + 0.2 * t)
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    q, v = relative.close_loops(t=0.3), np.zeros(relative.nv)
    q, v = relative.close_loops(q, v, t=0.3)
    check_same(relative, absolute, q, v, 0.3)
    efforts = [
        system.driving_efforts(*state, t=0.3)[system.velocity_slice(joint)]
        for system, state in (
            (relative, (q, v)),
            (absolute, absolute.state_of(relative, q, v)),
        )
    ]
    np.testing.assert_allclose(efforts[1], efforts[0], rtol=1e-9)


@pytest.mark.some(4)
@each_coordinates
def test_joints_of_users_move_the_same(coordinates):
    """In Python, open and closing a loop."""
    rng = np.random.default_rng(7)
    mech = mb.Mechanism("user's")
    for name in "abc":
        mech.add_body(mb.Body(name, random_inertia(rng)))
    ends = {"ellipse": ("world", "a"), "ball": ("b", "a"), "cardan": ("b", "c")}
    made = (EllipseJoint("ellipse", 0.5, 0.3), BallJoint("ball"), CardanJoint("cardan"))
    for joint in made:
        frames = (random_pose(rng), random_pose(rng))
        mech.add_joint(joint, *ends[joint.name], frames=frames)
    state = random_state(rng, mech.assemble(), 0.5)
    check_same(mech.assemble(), mech.assemble(coordinates), state.q, state.v)
    C = mech.assemble().poses(state.q)[3]
    near = random_pose(rng)
    frames = (near, np.linalg.inv(C) @ near)
    mech.add_joint(mb.SphericalJoint("last"), mech.world, "c", frames=frames)
    relative = mech.assemble(mb.RelativeCoordinates(loop_joints=["last"]))
    v = consistent(relative, state.q, state.v)
    check_same(relative, mech.assemble(coordinates), state.q, v)


@pytest.mark.some(2)
@each_coordinates
def test_nonholonomic_joints_keep_their_coordinates(coordinates):
    """A sleigh on ice, with a pendulum on it."""
    rng = np.random.default_rng(8)
    mech = sleigh(SkateByHand("skate"), 0.1)
    mech.add_body(mb.Body("bob", random_inertia(rng)))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(1, 0, 0), point=(0, 0, 0.5)), "sleigh", "bob")
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    assert absolute.joint_names == ("sleigh (free)", "bob (free)", "skate")
    state = random_state_of_sleigh(rng, relative)
    check_same(relative, absolute, *state)


def random_state_of_sleigh(rng, system):
    return rng.normal(size=system.nq), rng.normal(size=system.nv)


@pytest.mark.some(4)
@each_coordinates
def test_bodies_that_are_fixed_to_each_other_move_as_one(coordinates):
    """Without mass among them, with a force and a driven joint on these."""
    rng = np.random.default_rng(9)
    mech = mb.Mechanism("arm")
    for name in ("base", "link", "hand"):
        mech.add_body(mb.Body(name, random_inertia(rng), random_pose(rng)))
    for name in ("flange", "foot", "tool"):
        mech.add_body(mb.Body(name, pose=random_pose(rng)))
    mech.add_joint(mb.FixedJoint("bolt"), "world", "foot")
    mech.add_joint(mb.RevoluteJoint("turn"), "foot", "base")
    mech.add_joint(mb.RevoluteJoint("elbow", axis=(1, 0, 0)), "base", "flange")
    mech.add_joint(mb.FixedJoint("weld"), "flange", "link")
    mech.add_joint(mb.FixedJoint("clamp"), "tool", "hand")
    mech.add_joint(mb.SphericalJoint("wrist"), "tool", "flange")
    mech.add_force(mb.JointDamper("oil", "elbow", damping=0.4))
    mech.add_force(mb.JointDamper("grease", "wrist", damping=0.3))
    mech.add_force(mb.BodyWrench("push", "tool", wrench=rng.normal(size=6)))
    mech.add_force(mb.UniformField("wind", (1.0, 2.0, 3.0), bodies=["link"]))
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    assert absolute.joint_names[:3] == ("base (free)", "link (free)", "hand (free)")
    state = random_state(rng, relative)
    check_same(relative, absolute, state.q, state.v)
    for joint, on in (("elbow", "flange"), ("elbow", "base"), ("wrist", "flange")):
        W = [
            each.reaction(joint, *state_, on=on)
            for each, state_ in (
                (relative, (state.q, state.v)),
                (absolute, absolute.state_of(relative, state.q, state.v)),
            )
        ]
        np.testing.assert_allclose(W[1], W[0], rtol=0, atol=1e-10 * np.abs(W[0]).max())


@pytest.mark.parametrize(
    "joint",
    [
        mb.AbsoluteJoint("free", mb.RotationVector()),
        mb.AbsoluteJoint("free", mb.EulerAngles("zyx"), mb.RodriguesPosition()),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "force", [mb.JointSpring("k", "free", 3.0), mb.LimitStop("k", "free", -1.0, 1.0, 10.0)]
)
def test_springs_along_rotation_vectors_and_angles_are_refused(joint, force):
    """Velocities are twists and no rates of them: energy was not conserved, and nothing said so."""
    mech = mb.Mechanism("stone")
    stone = mech.add_body(mb.Body("stone", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(joint, mech.world, stone)
    mech.add_force(force)
    with pytest.raises(
        mb.ForceError, match=r"velocities of joint 'free'.*are not the rates.*Bushing"
    ):
        mech.assemble()
