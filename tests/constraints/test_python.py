"""Constraints in Python: derived from a residual, given by rows, and what goes wrong with them."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.every_representation import each_representation

BOX = mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))


class Wire(mb.Constraint):
    """A bead on a moving curve, z = sin(x) + t y."""

    bodies = ("bead",)
    num_rows = 1

    def residual(self, t, q, poses):
        x, y, z = poses[0, :3, 3]
        return [z - np.sin(x) - t * y]


class Knife(mb.Constraint):
    """A body that does not slide along its y axis in the plane z = 0: one row, no residual."""

    bodies = ("skate",)
    num_rows = 1
    num_position_rows = 0

    def rows(self, t, q, poses):
        wrenches = np.zeros((1, 1, 6))
        wrenches[0, 0, 3:] = poses[0, :3, 1]
        return wrenches, np.zeros((1, 0))


class KnifeWithBias(Knife):
    """The same with all that could be derived."""

    def rate(self, t, q, poses):
        return np.zeros(1)

    def bias(self, t, q, v, poses, twists):
        w, u = twists[0, :3], twists[0, 3:]
        return [np.cross(w, poses[0, :3, 1]) @ u]


class Universal(mb.Constraint):
    """Positions of a joint with a quaternion: the turn of a ball joint follows a slide."""

    joints = ("ball", "slide")
    num_rows = 1

    def residual(self, t, q, poses):
        w, x, y, z = q[:4]
        return [2.0 * (x * y - w * z) - 0.3 * q[4] ** 2]

    def row_units(self, joints):
        assert isinstance(joints[0], mb.SphericalJoint)
        return ("rad",)


@attrs.frozen
class Along(mb.Constraint):
    """The square of a slide's position, times a number."""

    name: str
    factor: float

    joints = ("slide",)
    num_rows = 1

    def residual(self, t, q, poses):
        return [self.factor * q[0] ** 2]


class Counting(Wire):
    """Tells how often it is called."""

    def __init__(self):
        super().__init__("wire")
        self.calls = []

    def residual(self, t, q, poses):
        self.calls.append(t)
        return super().residual(t, q, poses)


class Branching(Wire):
    """A function with a branch: both sides are traced."""

    def residual(self, t, q, poses):
        x, _, z = poses[0, :3, 3]
        return [z - x * x] if x > 0.0 else [z + x**3]


class Untraceable(Wire):
    """np.interp has no derivative; a smooth table of two points is a line."""

    def residual(self, t, q, poses):
        x, _, z = poses[0, :3, 3]
        return [z * z - np.interp(x, [-100.0, 100.0], [-50.0, 50.0]) * x]


def chain(constraint):
    mech = mb.Mechanism("free")
    for body in ("bead", "skate"):
        mech.add_body(mb.Body(body, BOX))
        mech.add_joint(mb.FreeJoint(f"of {body}"), mech.world, body)
    for body, joint in (("c", mb.SphericalJoint("ball")), ("d", mb.PrismaticJoint("slide"))):
        mech.add_body(mb.Body(body, BOX))
        mech.add_joint(joint, "bead", body)
    mech.add_constraint(constraint)
    return mech


@pytest.mark.parametrize("kind", [Wire, Knife, KnifeWithBias, Branching])
def test_laws_hold(kind):
    report = mb.testing.check_constraint(kind("own"))
    assert report.holds, str(report)


def test_laws_hold_for_joints_with_quaternions():
    report = mb.testing.check_constraint(Universal("own"), chain(Universal("own")))
    assert report.holds, str(report)


def test_what_is_given_is_what_is_derived():
    """The bias of the knife edge by its method, and from its rows."""
    one, other = (chain(kind("edge")).assemble() for kind in (Knife, KnifeWithBias))
    rng = np.random.default_rng(1)
    q = one.retract(one.reference_configuration(), rng.normal(size=one.nv))
    v = rng.normal(size=one.nv)
    found = one.constraint_bias(q, v)
    np.testing.assert_allclose(found, other.constraint_bias(q, v), rtol=1e-13)
    assert one.num_position_constraints == 0
    assert one.constraint_residual(q).shape == (0,)


def test_a_system_with_other_numbers_traces_no_constraint_again():
    constraint = Counting()
    system = chain(constraint).assemble()
    q = system.reference_configuration()
    expected = system.constraint_jacobian(q)
    traced = len(constraint.calls)
    assert traced
    moved = {f"joints.{system.joint_names[0]}.S_pred": SE3.exp([0.3, 0.2, 0.1, 0.2, 0.0, 0.4])}
    for values, same in (
        ({"bodies.bead.mass": 3.0}, True),
        ({"gravity": (0.0, 1.0, 0.0)}, True),
        (moved, False),
    ):
        found = system.with_parameters(values).constraint_jacobian(q)
        assert (found == expected).all() == same
        assert len(constraint.calls) == traced


def test_a_constraint_with_other_joints_or_numbers_is_traced_anew():
    system = chain(Along(name="along", factor=0.3)).assemble()
    q = system.reference_configuration()
    q[system.position_slice("slide")] = 0.4
    A = [
        system.constraint_jacobian(q)[0, system.velocity_slice("slide")]
        for system in (
            system,
            system.with_parameters({"constraints.along.factor": 0.5}),
            system.with_parameters({"joints.slide.axis": (1.0, 0.0, 0.0)}),
        )
    ]
    np.testing.assert_allclose(np.ravel(A), [0.24, 0.4, 0.24], atol=1e-14)


def test_a_function_that_cannot_be_traced_is_differenced():
    """With a warning that says where, once; rows to 1e-9, bias to 1e-6."""
    system = chain(Untraceable("own")).assemble()
    rng = np.random.default_rng(3)
    q = system.retract(system.reference_configuration(), rng.normal(size=system.nv))
    v = rng.normal(size=system.nv)
    with pytest.warns(mb.ConstraintDerivativeWarning, match=r"'own' cannot .* np\.interp"):
        A = system.constraint_jacobian(q)
    x, _, z = system.poses(q)[1, :3, 3]
    u = system.twists(q, v)[1]
    R = system.poses(q)[1, :3, :3]
    rate = R @ u[3:]
    np.testing.assert_allclose(A @ v, [2.0 * z * rate[2] - x * rate[0]], rtol=1e-9)


@pytest.mark.some(4)
@each_representation
def test_a_skate_moves_on_a_circle(representation):
    """A knife edge that turns evenly under no load: constant speed along its own direction."""
    mech = mb.Mechanism("ice", gravity=(0, 0, 0))
    mech.add_body(mb.Body("skate", BOX))
    mech.add_joint(mb.PlanarJoint("plane"), mech.world, "skate")
    mech.add_constraint(Knife("edge"))
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    q = system.reference_configuration()
    speed, turn = 1.5, 0.8
    twists = np.array([system.twists(q, unit)[1] for unit in np.eye(3)]).T
    wanted = np.array([0, 0, turn, speed, 0, 0])
    v = np.linalg.lstsq(twists, wanted, rcond=None)[0]  # where all representations are the same
    run = mb.simulate(system, t_span=(0.0, 2.0), h=1e-3, q=q, v=v)
    p = system.poses(run.q)[:, 1, :3, 3]
    radius = speed / turn
    expected = radius * np.stack([np.sin(turn * run.t), 1.0 - np.cos(turn * run.t)], axis=1)
    np.testing.assert_allclose(p[:, :2], expected, rtol=0, atol=1e-9)


class Broken(Wire):
    def residual(self, t, q, poses):
        raise ZeroDivisionError("no wire")


class WrongShape(Wire):
    def residual(self, t, q, poses):
        return poses[0, :3, 3]


class NotFinite(Wire):
    def residual(self, t, q, poses):
        return [poses[0, 2, 3] + float("nan")]


@pytest.mark.filterwarnings("ignore::mbkit.ConstraintDerivativeWarning")
@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (Broken, ZeroDivisionError, "no wire"),
        (WrongShape, mb.ConstraintError, r"'own': residual must return an array of shape \(1,\)"),
        (NotFinite, mb.NotFiniteError, "Constraint 'own' is not finite"),
    ],
)
def test_what_goes_wrong_is_told(kind, error, message):
    system = chain(kind("own")).assemble()
    q = system.reference_configuration()
    with pytest.raises(error, match=message) as caught:
        system.constraint_residual(q)
    if error is not mb.NotFiniteError:
        assert any("Raised by constraint 'own'" in note for note in caught.value.__notes__)


class Ending(Wire):
    """A method that has no value after t = 1 s."""

    def __init__(self, name, method):
        super().__init__(name)
        self.method = method

    def at(self, t, method):
        if method == self.method and t > 1.0:
            raise ValueError("no value after 1 s")

    def residual(self, t, q, poses):
        self.at(t, "residual")
        return super().residual(t, q, poses)

    def rate(self, t, q, poses):
        self.at(t, "rate")
        return [-poses[0, 1, 3]]


@pytest.mark.filterwarnings("error::mbkit.ConstraintDerivativeWarning")
@pytest.mark.parametrize("method", ["residual", "rate"])
def test_an_exception_at_one_state_changes_nothing_at_others(method):
    """It is raised there each time, or is NaN; elsewhere tracing gives exact results as before."""
    wire, fresh = chain(Wire("own")).assemble(), chain(Ending("own", method)).assemble()
    rng = np.random.default_rng(8)
    q = wire.retract(wire.reference_configuration(), rng.normal(size=wire.nv))
    v = rng.normal(size=wire.nv)
    times = np.array([1.5, 0.98, 1.5, 0.3])
    for t in times:
        if t > 1.0:
            with pytest.raises(ValueError, match="no value after 1 s") as caught:
                fresh.constraint_bias(q, v, t)
            assert any("Raised by constraint 'own'" in note for note in caught.value.__notes__)
            continue
        expected = wire.constraint_bias(q, v, t)
        np.testing.assert_allclose(fresh.constraint_bias(q, v, t), expected, rtol=1e-13)
    batch = chain(Ending("own", method)).assemble()
    found = batch.constraint_bias(q, v, times, on_error="nan")[:, 0]
    expected = np.where(times > 1.0, np.nan, wire.constraint_bias(q, v, times)[:, 0])
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ("rod", "must be an instance of mbkit.Constraint"),
        (mb.Constraint("c"), "num_rows must be an integer of 1 or more, got 0"),
        (type("C", (mb.Constraint,), {"num_rows": 1})("c"), "must name what it acts on"),
        (type("C", (Wire,), {"residual": mb.Constraint.residual})("c"), "must define residual"),
        (type("C", (Wire,), {"num_rows": 2, "num_position_rows": 1})("c"), "must define rows"),
        (type("C", (Wire,), {"num_position_rows": 3})("c"), "between 0 and num_rows = 1"),
        (type("C", (Wire,), {"bodies": "bead"})("c"), "bodies must be a tuple of names"),
        (type("C", (Wire,), {"bodies": ("bead", "bead")})("c"), "each name once"),
        (type("C", (Wire,), {"bodies": ("bed",)})("c"), "no body 'bed'; .*'bead'"),
        (type("C", (Wire,), {"rate": 0.5})("c"), "rate must be a method, .*, got 0.5; give the"),
        (mb.GearRatio("c", "ball", "slide", ratio=1.0), "'ball' must have one position"),
        (mb.GearRatio("c", "bal", "slide", ratio=1.0), "no joint 'bal'; .*'ball'"),
    ],
)
def test_a_wrong_constraint_is_refused_when_it_is_added(constraint, message):
    mech = chain(Wire("wire"))
    with pytest.raises(mb.MbkitError, match=message):
        mech.add_constraint(constraint)


@pytest.mark.parametrize("name", ["wire", "ball"])
def test_names_are_those_of_neither_constraints_nor_joints(name):
    mech = chain(Wire("wire"))
    with pytest.raises(mb.DuplicateNameError, match=f"'{name}' in mechanism 'free' already"):
        mech.add_constraint(mb.PointOnPlane(name, "world", "bead"))


def test_arguments_of_constraints_are_checked():
    for make, message in (
        (lambda: mb.Distance("c", "a", "b", length=0.0), "length must be above 0"),
        (lambda: mb.Distance("c", "a", "a", length=1.0), "body_b must be another body"),
        (lambda: mb.PointOnLine("c", "a", "b", axis=(0, 0, 0)), "axis must have a direction"),
        (lambda: mb.GearRatio("c", "i", "i", ratio=1.0), "driven must be another joint"),
        (lambda: mb.Cam("c", "i", "j", positions=[0, 1, 2], lift=[0, 1, 0]), "list of 4 or more"),
        (lambda: mb.Cam("c", "i", "j", positions=[0, 1, 1, 2], lift=np.ones(4)), "must increase"),
        (lambda: mb.PrescribedPoint("c", "a"), "function must be given"),
        (lambda: mb.PrescribedPose("c", "a"), "function must be given"),
        (lambda: mb.PrescribedPose("c", "a", 3.0), "must be a function of the time"),
        (lambda: mb.PrescribedPose("c", "a", int), "must be a function of the time"),
        (lambda: mb.PrescribedPose("c", "a", times=range(4), poses=[np.eye(4)] * 3), "poses"),
        (lambda: mb.PrescribedPose("c", "a", times=range(4), poses=np.ones((4, 4, 4))), "poses"),
        (
            lambda: mb.PrescribedPose(
                "c", "a", times=range(4), poses=SE3.exp(2.2 * np.arange(4)[:, None] * np.eye(6)[1])
            ),
            "poses must turn by less than 120 degrees from one to the next, got 126 from",
        ),
        (lambda: mb.RollingDisc("c", "a", "b", radius=-1.0), "radius must be above 0"),
        (lambda: mb.JointCoupling("c", "i", "j", 3.0), "must be a function"),
    ):
        with pytest.raises(mb.MbkitError, match=f"'c': {message}|{message}"):
            make()


def test_what_has_no_value_says_why():
    """A cam beyond its table, and a disc that lies flat."""
    mech = mb.Mechanism("cam")
    for name, joint in (("a", mb.RevoluteJoint("i")), ("b", mb.PrismaticJoint("j"))):
        mech.add_body(mb.Body(name, BOX))
        mech.add_joint(joint, "world", name)
    table = {"positions": [0.0, 1.0, 2.0, 3.0], "lift": [0.0, 0.1, 0.1, 0.0]}
    mech.add_constraint(mb.Cam("cam", "i", "j", **table))
    system = mech.assemble()
    with pytest.raises(mb.ConstraintError, match=r"'cam' has no value\. The driver is outside"):
        system.constraint_residual([3.5, 0.0])
    flat = mb.Mechanism("flat")
    flat.add_body(mb.Body("disc", BOX))
    flat.add_joint(mb.FreeJoint("free"), "world", "disc")
    flat.add_constraint(mb.RollingDisc("disc on it", "world", "disc", radius=0.3, axis=(0, 0, 1)))
    system = flat.assemble()
    with pytest.raises(mb.ConstraintError, match="The disc lies flat on the plane"):
        system.constraint_residual(system.reference_configuration())


def test_a_joint_that_a_constraint_names_stays_in_the_tree():
    mech = mb.Mechanism("loop")
    for k, on in enumerate(("world", "b0", "b1")):
        mech.add_body(mb.Body(f"b{k}", BOX))
        mech.add_joint(mb.RevoluteJoint(f"j{k}", point=(k, 0, 0)), on, f"b{k}")
    mech.add_joint(mb.RevoluteJoint("j3", point=(3, 0, 0)), "b2", "world")
    mech.add_constraint(mb.GearRatio("gears", "j0", "j3", ratio=1.0))
    with pytest.raises(mb.TopologyError, match="the constraint 'gears' acts along it"):
        mech.assemble(mb.RelativeCoordinates(loop_joints=["j3"]))
    system = mech.assemble()
    assert system.loop_joints[0] in ("j1", "j2")
    assert system.constraint_names[-1] == "gears"
    assert system.constraint_names[0] == f"{system.loop_joints[0]}[0]"


@attrs.frozen
class Sheet(mb.Constraint):
    """A constraint of a user with numbers, for files."""

    name: str
    body: str
    height: float = 0.0

    num_rows = 1

    @property
    def bodies(self):
        return (self.body,)

    def residual(self, t, q, poses):
        return [poses[0, 2, 3] - self.height]
