"""Assembly in absolute coordinates: names, parts of bodies, refusals."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME
from tests.constraints import closed_mechanisms
from tests.coordinates.same_mechanism import check_same
from tests.trees import random_mechanism, random_pose

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

BALL = mb.SpatialInertia.sphere(1.0, radius=0.1)


def pendulum(*bodies, inertia=BALL):
    """Return a chain of hinges about y, one below the other."""
    mech = mb.Mechanism("pendulum")
    before = mech.world
    for k, name in enumerate(bodies):
        body = mech.add_body(mb.Body(name, inertia, mb.spatial.translation((0, 0, -k - 1))))
        mech.add_joint(mb.RevoluteJoint(f"hinge {name}", (0, 1, 0), (0, 0, -k)), before, body)
        before = body
    return mech


def test_every_body_has_a_free_joint_and_every_joint_is_a_constraint():
    """By their names, in their order; the representation is that of the velocities."""
    mech = closed_mechanisms.four_bar()
    for local, side, expected in (
        (mb.ScrewCoordinates(), "left", mb.BodyFixed()),
        (mb.DualRodrigues(), "right", mb.Spatial()),
        (mb.WienerMilenkovicPosition(), "left", mb.Mixed()),
        (mb.RodriguesPosition(), "right", mb.Hybrid()),
    ):
        coordinates = mb.AbsoluteCoordinates(mb.RotationVector(), local, side)
        system = mech.assemble(coordinates)
        assert system.joint_names == ("rod 1 (free)", "rod 2 (free)", "rod 3 (free)")
        assert system.free_joints == system.joint_names
        assert system.loop_joints == ("A", "B", "C", "D")
        assert system.representation == expected
        assert system.coordinates is coordinates
        assert (system.nq, system.nv, system.num_velocity_constraints) == (18, 18, 20)
        # the velocities are the twists
        v = np.arange(18.0)
        q = system.reference_configuration()
        assert np.allclose(system.twists(q, v)[1:], v.reshape(3, 6), atol=1e-15)


def test_positions_are_poses_in_the_world():
    """At the reference those of the bodies."""
    mech = random_mechanism(np.random.default_rng(1), 5, ("revolute", "spherical"))
    system = mech.assemble(mb.AbsoluteCoordinates())
    poses = mech.assemble().poses(mech.assemble().reference_configuration())
    q = system.reference_configuration().reshape(5, 7)
    for k in range(5):
        R = mb.lie.UnitQuaternion.Ad(q[k, :4])
        np.testing.assert_allclose(R, poses[k + 1, :3, :3], atol=1e-12)
        np.testing.assert_allclose(q[k, 4:], poses[k + 1, :3, 3], atol=1e-12)


def test_joints_that_something_acts_along_keep_their_coordinates():
    """On a part of the successor, or of the predecessor where that is fixed to the world."""
    mech = pendulum("upper", "lower")
    mech.add_joint(mb.CylindricalJoint("rail", point=(0, 0, -2)), "lower", "world")
    mech.add_force(mb.JointDamper("oil", "hinge lower", damping=0.1))
    mech.add_force(mb.JointDamper("grease", "rail", damping=0.1))
    system = mech.assemble(mb.AbsoluteCoordinates(joints=["hinge upper"]))
    assert system.joint_names == (
        "upper (free)", "lower (free)", "hinge upper", "hinge lower", "rail",
    )  # fmt: skip
    assert system.body_names == (
        "world", "upper", "lower",
        "upper (cut at hinge upper)", "lower (cut at hinge lower)", "lower (cut at rail)",
    )  # fmt: skip
    assert system.loop_joints == (
        "upper (weld at hinge upper)", "lower (weld at hinge lower)", "lower (weld at rail)",
    )  # fmt: skip
    np.testing.assert_allclose(system.inertias.masses[1:], [1 / 2, 1 / 3, 1 / 2, 1 / 3, 1 / 3])
    assert system.mass == pytest.approx(2.0)
    assert {part.whole for part in system.split_bodies.values()} == {"upper", "lower"}
    assert np.abs(system.constraint_residual(system.reference_configuration())).max() < 1e-15


def test_the_reference_has_joints_that_keep_their_coordinates_where_bodies_are():
    """Neutral joints do not close this loop: those of the tree are, and the last one is not."""
    mech = mb.Mechanism("held")
    rng = np.random.default_rng(7)
    for name in "ab":
        mech.add_body(mb.Body(name, BALL))
        mech.add_joint(mb.RevoluteJoint(f"hinge {name}", point=rng.normal(size=3)), "world", name)
    frames = random_pose(rng), random_pose(rng)
    mech.add_joint(mb.FreeJoint("bush"), "a", "b", frames=frames)
    system = mech.assemble(mb.AbsoluteCoordinates(joints=["bush"]))
    q = system.reference_configuration()
    assert system.num_velocity_constraints == 5 + 5 + 6
    np.testing.assert_allclose(system.constraint_residual(q), 0.0, atol=1e-14)


def test_angles_count_turns():
    """Of a joint that keeps its coordinates, while a pendulum goes round."""
    mech = pendulum("bob")
    system = mech.assemble(mb.AbsoluteCoordinates(joints=["hinge bob"]))
    relative = mech.assemble()
    q, v = system.state_of(relative, [0.0], [20.0])
    run = mb.simulate(system, (0.0, 1.0), 1e-3, q=q, v=v, save_every=1000, progress=False)
    exact = mb.simulate(relative, (0.0, 1.0), 1e-3, v=[20.0], save_every=1000, progress=False)
    angle = run.q[-1, system.position_slice("hinge bob")]
    assert angle > 4.0 * np.pi
    np.testing.assert_allclose(angle, exact.q[-1], atol=1e-8)


def test_efforts_act_along_joints_that_keep_their_coordinates():
    """By tau, in the names of these."""
    mech = pendulum("upper", "lower")
    relative, absolute = (
        mech.assemble(),
        mech.assemble(mb.AbsoluteCoordinates(joints="hinge lower")),
    )
    q, v = np.array([0.3, -0.5]), np.array([1.0, 2.0])
    tau = np.zeros(absolute.nv)
    tau[absolute.velocity_slice("hinge lower")] = 2.0
    expected, _ = relative.solve_dynamics(q, v, [0.0, 2.0])
    state = absolute.state_of(relative, q, v)
    found, _ = absolute.solve_dynamics(*state, tau)
    place = absolute.velocity_slice("hinge lower")
    np.testing.assert_allclose(found[place], expected[1], rtol=1e-11)


def test_loops_are_closed_with_bodies_and_kept_joints_held():
    """What has coordinates can stay where it is; a joint without is refused, with what to do."""
    mech = closed_mechanisms.four_bar()
    system = mech.assemble(mb.AbsoluteCoordinates(joints=["A"]))
    q = system.reference_configuration()
    q[system.position_slice("A")] = 0.2
    closed = system.close_loops(q, fixed=["A"])
    assert closed[system.position_slice("A")] == 0.2
    relative = mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    expected = relative.close_loops([0.2, 0.0, 0.0], fixed=["A"])
    found, _ = relative.state_of(system, closed)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    v = system.consistent_velocity({"A": 2.0}, closed)
    _, rates = relative.state_of(system, closed, v)
    np.testing.assert_allclose(rates, relative.consistent_velocity({"A": 2.0}, found), rtol=1e-9)
    held = system.close_loops(system.state_of(relative, expected)[0] + 0.0, fixed=["rod 1 (free)"])
    assert np.array_equal(held[:7], system.state_of(relative, expected)[0][:7])
    with pytest.raises(mb.UsageError, match=r"'B' closes a loop and.*AbsoluteCoordinates\(joints="):
        system.close_loops(q, fixed=["B"])
    with pytest.raises(mb.NameUnknownError, match=r"AbsoluteCoordinates\(joints=\[...\]\)"):
        system.velocity_slice("B")


def test_forces_that_come_later_need_coordinates_that_are_there():
    """The places of entries stay what they are."""
    mech = pendulum("upper", "lower")
    system = mech.assemble(mb.AbsoluteCoordinates(joints=["hinge upper"]))
    oiled = system.with_forces([mb.JointDamper("oil", "hinge upper", damping=0.1)])
    assert oiled.position_names == system.position_names
    with pytest.raises(mb.ForceError, match=r"closes a loop.*AbsoluteCoordinates\(joints=\[...\]"):
        system.with_forces([mb.JointDamper("oil", "hinge lower", damping=0.1)])


def test_model_and_parameters_are_those_of_the_mechanism():
    """No part, weld or free joint is in them; numbers are changed in the parts."""
    mech = pendulum("upper", "lower")
    mech.add_force(mb.JointDamper("oil", "hinge lower", damping=0.1))
    relative, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates())
    assert absolute.model_text == relative.model_text
    assert absolute.parameters.keys() == relative.parameters.keys()
    values = {
        "bodies.lower.mass": 3.0, "bodies.upper.com": (0.1, 0.0, 0.2), "gravity": (1.0, 0.0, -5.0),
        "joints.hinge lower.S_pred": mb.spatial.translation((0.0, 0.0, -0.5)),
        "forces.oil.damping": 0.7,
    }  # fmt: skip
    changed = relative.with_parameters(values), absolute.with_parameters(values)
    check_same(*changed, np.array([0.3, -0.4]), np.array([1.0, -2.0]))
    assert changed[1].mass == pytest.approx(4.0)
    # the reference moves with the places of joints
    assert changed[1].reference_configuration()[13] == pytest.approx(-3.5)


def ball_pendulum():
    """Return a point mass on a ball joint."""
    mech = mb.Mechanism("pendulum")
    mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    mech.add_joint(mb.SphericalJoint("ball"), "world", "bob")
    return mech


@pytest.mark.parametrize(
    ("mech", "error", "message"),
    [
        (
            pendulum("a", "b", inertia=mb.SpatialInertia.from_com(1.0, (0, 0, 0.1))),
            mb.InertiaError,
            "Body 'a' can turn about its.*'hinge a' can transfer moments to it.*got 0, 0, 0 kg",
        ),
        (
            ball_pendulum(),
            mb.InertiaError, "Body 'bob' can turn about.*no joints of one axis lead to the world",
        ),
        (
            pendulum("a", inertia=mb.SpatialInertia.zero()),
            mb.InertiaError, "Body 'a' has no mass: in absolute.*FixedJoint.*RelativeCoordinates",
        ),
        (pendulum("a", "hinge b (free)"), None, ""),
    ],
)  # fmt: skip
def test_bodies_that_cannot_move_by_themselves_are_refused(mech, error, message):
    """With what lacks, and what to do."""
    if error is None:
        mech.assemble(mb.AbsoluteCoordinates())
        return
    with pytest.raises(error, match=message):
        mech.assemble(mb.AbsoluteCoordinates())


def test_what_does_not_fit_is_refused():
    """Names that are taken or unknown, joints that do not move, bodies that nothing holds."""
    mech = pendulum("a", "b")
    with pytest.raises(mb.NameUnknownError, match="joint 'hinge c' is not in mechanism 'pendulum'"):
        mech.assemble(mb.AbsoluteCoordinates(joints=["hinge c"]))
    mech.add_body(mb.Body("lid", BALL))
    with pytest.raises(mb.TopologyError, match="'lid' must be connected to the world"):
        mech.assemble(mb.AbsoluteCoordinates())
    mech.add_joint(mb.FixedJoint("a (free)"), "a", "lid")
    with pytest.raises(mb.UsageError, match=r"'a \(free\)' does not move"):
        mech.assemble(mb.AbsoluteCoordinates(joints=["a (free)"]))
    system = mech.assemble(mb.AbsoluteCoordinates())
    assert system.free_joints == ("a (absolute)", "b (free)")
    mech.add_joint(mb.SphericalJoint("a (absolute)"), "lid", "b")
    with pytest.raises(mb.DuplicateNameError, match=r"has a joint 'a \(absolute\)'.*rename"):
        mech.assemble(mb.AbsoluteCoordinates())
    for wrong, message in (
        ({"orientation": "quaternion"}, "orientation must be one of mbkit.UnitQuaternion"),
        ({"local": mb.ScrewCoordinates}, "local must be one of.*call it"),
        ({"trivialised": "both"}, "trivialised must be 'left'"),
        ({"trivialised": np.array([1, 2])}, "trivialised must be 'left'"),
        ({"orientation": np.array([1, 2])}, "orientation must be one of mbkit.UnitQuaternion"),
        ({"length": -1.0}, "length must be a positive number of metres"),
        ({"joints": [3]}, "joints must be names of joints"),
    ):
        with pytest.raises(mb.UsageError, match=message):
            mb.AbsoluteCoordinates(**wrong)


def test_strategies_are_plain_values():
    """Equal, hashable, and pickled."""
    one = mb.AbsoluteCoordinates(mb.EulerAngles("xyz"), mb.RodriguesPosition(), joints=["A"])
    other = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.long
def test_diagnosis_tells_of_the_loops_of_joints():
    """Mobility, redundant rows and unique reactions are those of relative coordinates."""
    for name in ("four_bar", "bricard", "stewart", "parallelogram"):
        mech = getattr(closed_mechanisms, name)()
        one, other = (mech.assemble(each).diagnose() for each in (None, mb.AbsoluteCoordinates()))
        assert one.mobility == other.mobility
        assert one.generic_mobility == other.generic_mobility
        assert one.gruebler_count == other.gruebler_count
        assert len(one.redundant) == len(other.redundant)
        assert set(one.unique_reactions) == set(other.unique_reactions)
        spans = [sorted((loop.span, loop.dimension) for loop in d.loops) for d in (one, other)]
        assert spans[0] == spans[1]
        assert all("(free)" not in joint for loop in other.loops for joint in loop.joints)


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", list(BY_NAME))
def test_motions_are_the_same_to_the_order_of_the_integrator(name):
    """Runge-Kutta-Munthe-Kaas of order 4, with projection: 16 times nearer with half the step.

    With dependent rows too, such as those of Bricard's linkage.
    """
    case = BY_NAME[name]
    mech, relative = case.build(), case.system()
    v = case.velocity(relative)
    q = relative.reference_configuration()
    absolute = mech.assemble(mb.AbsoluteCoordinates(mb.RotationVector(), mb.RodriguesPosition()))
    starts = ((relative, q, v), (absolute, *absolute.state_of(relative, q, v)))
    gaps = []
    for h in (4.0 * case.h, 2.0 * case.h, case.h):
        steps = round(100 * case.h / h)
        ends = []
        for system, *state in starts:
            run = mb.simulate(
                system, (0.0, steps * h), h, q=state[0], v=state[1], save_every=steps,
                progress=False,
            )  # fmt: skip
            assert np.abs(system.constraint_residual(run.q[-1])).max() < 1e-12
            rows = [system.body_index(name) for name in mech.bodies]
            ends.append(system.poses(run.q[-1])[rows])
        gaps.append(np.abs(ends[1] - ends[0]).max())
    assert gaps[0] < 1e-6
    rounding = 1e-14
    assert all(b < a / 12.0 or b < rounding for a, b in itertools.pairwise(gaps)), gaps


@pytest.mark.parametrize(
    ("coordinates", "remedy"),
    [
        (mb.AbsoluteCoordinates(), r"by AbsoluteCoordinates\(joints=\[...\]\)"),
        (mb.RelativeCoordinates(loop_joints=["A"]), r"by RelativeCoordinates\(loop_joints=...\)"),
    ],
)
@pytest.mark.parametrize("kind", [mb.JointPosition, mb.JointVelocity])
def test_events_say_how_a_joint_gets_coordinates(kind, coordinates, remedy):
    """The joint is there, and without entries in q and v."""
    system = BY_NAME["four-bar"].build().assemble(coordinates)
    event = mb.Event("turn", kind("A"))
    with pytest.raises(mb.NameUnknownError, match=f"joint 'A' closes a loop.*{remedy}"):
        mb.simulate(system, (0.0, 0.01), 1e-3, events=[event], progress=False)
