"""Errors of numpy, numba and Python come out as mbkit's own errors."""

import contextlib

import numpy as np
import pytest

import mbkit as mb
from tests.robustness.subjects import Slide, subject

TREE, BAR, MOVED = "tree", "four-bar", "in python"
MASKED = np.ma.array([0.0, 0.0, 0.0], mask=[True, False, False])
ZERO = np.zeros(3)


@pytest.mark.parametrize("far", [1e155, 1e200, 1e308])
def test_quaternions_far_too_long_are_no_unit_quaternions(far):
    with pytest.raises(mb.GeometryError, match="unit quaternion"):
        mb.spatial.rotation_from_quaternion([far, far, 0.0, 0.0])
    system = subject(TREE)
    q = system.reference_configuration()
    q[:4] = far
    with pytest.raises((mb.ConfigurationError, mb.NotFiniteError)):
        system.mass_matrix(q)


@pytest.mark.parametrize("name", ["absolute", TREE])
@pytest.mark.parametrize("method", ["retract", "motion_subspaces", "poses"])
def test_positions_far_away_are_refused_in_all_coordinates(name, method):
    system = subject(name)
    q = np.full(system.nq, 1e200)
    rest = (np.zeros(system.ndx),) if method == "retract" else ()
    with pytest.raises(mb.MbkitError):
        getattr(system, method)(q, *rest)


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.mass_matrix(MASKED),
        lambda s: s.inverse_dynamics(ZERO, MASKED, ZERO),
        lambda s: s.constraint_jacobian(ZERO, np.ma.masked),
        lambda s: mb.spatial.translation(MASKED),
        lambda s: mb.RevoluteJoint("hinge", axis=np.ma.array([0, 0, 1.0], mask=[1, 0, 0])),
    ],
)
def test_masked_arrays_are_no_numbers(call):
    with pytest.raises(mb.MbkitError, match=r"masked|numbers"):
        call(subject(BAR))


TWO, THREE = np.zeros((2, 3)), np.zeros((3, 3))


@pytest.mark.parametrize("name", [BAR, "tree of three"])
@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.constraint_velocity(TWO, THREE),
        lambda s: s.constraint_residual(TWO, np.zeros(3)),
        lambda s: s.constraint_jacobian(TWO, np.zeros(3)),
        lambda s: s.constraint_acceleration(TWO, TWO, THREE),
        lambda s: s.constraint_bias(TWO, TWO, np.zeros(3)),
        lambda s: s.constraint_sizes(TWO, THREE),
        lambda s: s.constraint_jacobian_velocity_derivative(TWO, THREE),
        lambda s: s.constraint_force_derivative(TWO, np.zeros((3, s.num_velocity_constraints))),
        lambda s: s.dependent_velocity(TWO, {s.velocity_names[0]: np.zeros((3, 1))}),
        lambda s: s.force_derivatives(TWO, THREE),
        lambda s: s.inverse_dynamics_second_derivatives(TWO, TWO, TWO, t=np.zeros(3)),
        lambda s: s.inverse_dynamics_derivatives(
            TWO, TWO, TWO, np.zeros((3, len(s.body_names), 6))
        ),
    ],
)
def test_batch_axes_that_do_not_broadcast_are_listed(name, call):
    system = subject(BAR) if name == BAR else three()
    with pytest.raises(mb.ShapeError, match="do not broadcast"):
        call(system)


def three():
    """A tree with three positions."""
    mech = mb.Mechanism("three")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.TranslationalJoint("shift"), mech.world, body)
    return mech.assemble()


@pytest.mark.parametrize(
    "method",
    [
        "constraint_residual", "constraint_velocity", "constraint_jacobian", "constraint_sizes",
        "constraint_jacobian_velocity_derivative", "force_derivatives", "force_powers",
        "generalized_forces", "solve_dynamics", "close_loops", "diagnose", "assembly_modes",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", [BAR, "tree of three"])
@pytest.mark.parametrize("t", ["x", None, {}, [[1.0], [1.0, 2.0]]])
def test_times_are_numbers(method, name, t):
    system = subject(BAR) if name == BAR else three()
    without_v = ("constraint_residual", "constraint_jacobian", "close_loops", "diagnose")
    given = (ZERO,) if method in (*without_v, "assembly_modes") else (ZERO, ZERO)
    with pytest.raises(mb.ShapeError, match="'t'"):
        getattr(system, method)(*given, t=t)


@pytest.mark.parametrize("value", [None, "x", [], [1.0, 2.0], {}])
def test_events_must_be_numbers(value):
    event = mb.Event("odd", lambda t, q, v: t - 0.5 if t < 0.05 else value)
    with pytest.raises(mb.ShapeError, match="Event 'odd' must be a number"):
        mb.simulate(three(), (0.0, 0.1), 0.01, events=[event], progress=False)


@pytest.mark.parametrize("pose", [None, "x", np.eye(3), np.zeros((2, 4, 4)), [[1.0], [1.0, 2.0]]])
def test_inverse_is_of_poses(pose):
    with pytest.raises((mb.GeometryError, mb.ShapeError), match="C must"):
        mb.spatial.inverse(pose)


@pytest.mark.parametrize("value", ["x", None, [], [1.0], ["a", "b", "c"], {}])
def test_forces_of_a_run_are_numbers_of_the_right_shape(value):
    with pytest.raises(mb.ShapeError):
        mb.simulate(three(), (0.0, 0.1), 0.01, tau=lambda t, q, v: value, progress=False)


@pytest.mark.parametrize("q", [np.zeros(2), np.zeros((2, 3)), "x", None])
def test_time_to_lock_is_of_one_state(q):
    with pytest.raises(mb.ShapeError, match="'q'"):
        three().time_to_lock(q, ZERO)


@pytest.mark.parametrize(
    "independent",
    ["x", None, 1.0, {"hinge 0": 1.0}, {"hinge 0": ("x", 0.0, 0.0)}, {"hinge 0": ([[0, 1]], 0, 0)}],
)
def test_closed_motion_says_what_it_takes(independent):
    with pytest.raises((mb.UsageError, mb.ShapeError)):
        subject(BAR).closed_motion(independent)


def test_driving_efforts_look_at_tau():
    system = subject(MOVED)
    for tau in ("x", np.zeros(3), np.zeros((2, 2))):
        with pytest.raises(mb.ShapeError, match="tau"):
            system.driving_efforts(np.zeros((3, 2)), np.zeros((3, 2)), tau)


@pytest.mark.parametrize("on_error", [None, "x", np.zeros(0), np.zeros(2), [], {}])
@pytest.mark.parametrize("method", ["mass_matrix", "poses", "constraint_jacobian"])
def test_on_error_is_one_of_two_words(method, on_error):
    with pytest.raises(mb.UsageError, match="on_error must be"):
        getattr(subject(BAR), method)(ZERO, on_error=on_error)


@pytest.mark.parametrize("name", [None, [], {}, np.zeros(2), 1.0])
def test_names_of_joints_are_texts(name):
    for function in ("position_slice", "velocity_slice", "tangent_slice"):
        with pytest.raises(mb.NameUnknownError, match="by its name"):
            getattr(subject(BAR), function)(name)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_loops_are_not_closed_from_positions_that_are_not_finite(bad):
    q = np.array([0.0, bad, 0.0])
    for call in (
        lambda s: s.close_loops(q),
        lambda s: s.consistent_velocity({"hinge 0": 1.0}, q),
        lambda s: s.diagnose(q),
        lambda s: s.assembly_modes(q),
    ):
        with pytest.raises(mb.NotFiniteError, match="'q'"):
            call(subject(BAR))


HUGE = 10**400  # more than any float
EMPTY, PAIR = np.zeros((0, 3)), np.zeros(2)
BODIES = np.zeros((4, 6))


class Unwilling:
    """Cannot become an array."""

    def __array__(self, *_, **__):
        raise ValueError("no array")


@pytest.mark.parametrize(
    "call",
    [
        lambda s: mb.JointDamper("damper", "hinge", damping=HUGE),
        lambda s: mb.RungeKuttaMuntheKaas(rtol=1e-3, atol=HUGE),
        lambda s: mb.Tableau("one", order=1, A=HUGE, b=[1.0]),
        lambda s: mb.Composition("far", order=1, stages=np.broadcast_to(0.0, (10**13, 1))),
        lambda s: mb.GeneralizedAlpha(formulation=PAIR),
        lambda s: mb.SphericalJoint("ball", coordinates=PAIR),
        lambda s: mb.JointEffort("motor", "hinge", effort=1.0, interpolation=EMPTY),
        lambda s: mb.ForceFunction("push", np.sin, power=PAIR),
        lambda s: s.with_forces([mb.ForceFunction("push", np.sin, joints=np.array(None))]),
        lambda s: mb.BodyCut(np.ma.masked),
        lambda s: mb.AbsoluteCoordinates(joints=np.array("x")),
        lambda s: mb.Mechanism.from_denavit_hartenberg("arm", [], convention=PAIR),
        lambda s: mb.PoseTarget(np.eye(4), rows=PAIR),
        lambda s: mb.parse_model("", source=1.0),
        lambda s: mb.parse_urdf("", source=1.0),
        lambda s: mb.spatial.typed_wrenches([[1.0], [1.0, 2.0]], mb.Spatial(), "ab", []),
        lambda s: s.twists(ZERO, ZERO, typed=EMPTY),
        lambda s: s.accelerations(ZERO, ZERO, ZERO, typed=PAIR),
        lambda s: s.twists(ZERO, Unwilling(), typed=True),
        lambda s: s.checked("q", ZERO, finite=PAIR),
        lambda s: s.checked(PAIR, {"hinge": 1.0}),
        lambda s: s.constrained_jacobian([0.0, np.nan, 0.0], {"hinge 0": 0.1}),
        lambda s: s.closed_inverse_dynamics([0, np.nan, 0], ZERO, ZERO, actuated="hinge 0"),
        lambda s: mb.SpatialInertia.cylinder(1.0, radius=0.1, length=1e308),
        lambda s: s.close_loops(ZERO, fixed=np.array("x")),
        lambda s: s.close_loops(ZERO, fixed=np.zeros(2, [("a", float)])),
        lambda s: s.closed_inverse_dynamics(ZERO, ZERO, ZERO, actuated=np.array("x")),
        lambda s: s.closed_inverse_dynamics(ZERO, ZERO, ZERO, actuated=["hinge 0"], minimise=PAIR),
        lambda s: s.closed_inverse_dynamics(
            ZERO, ZERO, ZERO, actuated=[], minimise={"hinge 0": "x"}
        ),
        lambda s: s.hybrid_dynamics(ZERO, ZERO, prescribed=np.array("x")),
        lambda s: s.reaction("hinge 0", ZERO, ZERO, expressed_in=EMPTY),
        lambda s: s.reaction("hinge 0", ZERO, ZERO, at=[[1.0], [1.0, 2.0]]),
        lambda s: s.reaction("hinge 0", ZERO, ZERO, with_effort=EMPTY),
        lambda s: s.reaction("hinge 0", EMPTY, EMPTY, wrenches=(k for k in range(2))),
        lambda s: s.inverse_dynamics(ZERO, ZERO, ZERO, {"bar 0": Unwilling()}),
        lambda s: s.inverse_dynamics(
            ZERO, ZERO, ZERO, {"bar 0": np.zeros((2, 6)), "bar 1": np.zeros((3, 6))}
        ),
        lambda s: s.state_of(s, TWO, THREE),
        lambda s: mb.rates_from_twists(s, TWO, BODIES),
        lambda s: mb.accelerations_from_twist_rates(s, ZERO, TWO, BODIES),
        lambda s: mb.fit_rates(three(), ZERO, np.zeros((2, 6)), tolerance={}),
        lambda s: mb.manipulability(three(), "body", TWO, "linear"),
        lambda s: mb.manipulability(three(), "body", ZERO, "linear", tolerance="x"),
        lambda s: mb.manipulability(three(), "body", ZERO, "linear", locked=np.array("x")),
        lambda s: mb.simulate(s, (0.0, 0.02), 0.01, tau=int, progress=False),
        lambda s: mb.simulate(three(), (0.0, 0.02), 0.01, progress=PAIR),
    ],
)
def test_what_is_no_such_thing_is_told_in_the_words_of_mbkit(call):
    with pytest.raises(mb.MbkitError):
        call(subject(BAR))


def test_spans_may_be_gone_through_once():
    run = mb.simulate(three(), (t for t in (0.0, 0.02)), 0.01, save_at=[0.02], progress=False)
    assert run.t.tolist() == [0.02]


def test_systems_without_positions_have_rates_for_many_samples():
    assert subject("nothing").position_rates(np.zeros(0), np.zeros((2, 0))).shape == (2, 0)


def test_reactions_may_be_of_no_sample():
    none = np.zeros((0, 2))
    assert subject(MOVED).reaction("rail", none, none).shape == (0, 6)


def test_bodies_at_the_end_of_the_world_are_refused():
    mech = mb.Mechanism("far")
    inertia = mb.SpatialInertia.from_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    body = mb.Body("lower", inertia, pose=mb.spatial.translation((0.0, 0.0, -1e308)))
    mech.add_joint(mb.SphericalJoint("ball", point=(0, 0, -1)), mech.world, mech.add_body(body))
    with np.errstate(all="ignore"), pytest.raises(mb.InertiaError, match="no number any more"):
        mech.assemble()


def after(count, right, wrong):
    """Return a function that goes wrong after some calls."""
    calls = iter(range(10**9))
    return lambda *given: right(*given) if next(calls) < count else wrong


@pytest.mark.some(6)
@pytest.mark.parametrize("count", range(12))
@pytest.mark.parametrize("wrong", [b"x", HUGE, None, np.zeros(5), np.zeros((4, 4)), Unwilling()])
def test_functions_of_users_that_go_wrong_raise_what_is_of_mbkit(count, wrong):
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)

    def mechanism(joint):
        mech = mb.Mechanism("one")
        mech.add_joint(joint, mech.world, mech.add_body(mb.Body("ball", ball)))
        return mech

    def pose(q):
        return mb.spatial.translation((q[0], 0.0, 0.0))

    def coupled():
        mech = mechanism(mb.PrismaticJoint("a"))
        mech.add_joint(mb.PrismaticJoint("b"), mech.world, mech.add_body(mb.Body("other", ball)))
        doubled = after(count, lambda x: 2.0 * x, wrong)
        return mech.add_constraint(mb.JointCoupling("pair", "a", "b", doubled)) and mech

    def pushed():
        mech = mechanism(mb.FreeJoint("a"))
        place = after(count, lambda t: (0.0, 0.0, t), wrong)
        return mech.add_constraint(mb.PrescribedPoint("lift", "ball", place)) and mech

    for make in (
        lambda: mechanism(Slide("slide", after(count, pose, wrong))),
        lambda: mechanism(mb.PrismaticJoint("slide").prescribe(after(count, np.sin, wrong))),
        coupled,
        pushed,
    ):
        with contextlib.suppress(mb.MbkitError):  # or it is no more called
            mb.simulate(make().assemble(), (0.0, 0.05), 0.005, progress=False)
