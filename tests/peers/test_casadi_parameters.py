"""Parameters that stay free in functions of CasADi: any number of them, axes and places too."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import spatial_slider_crank, stewart_platform
from mbkit.lie import SE3
from tests.peers.test_casadi import same, state_of
from tests.trees import random_inertia, random_mechanism

casadi = pytest.importorskip("casadi")

#: Joints whose axes are known to the function, turned round or not.
KINDS = (
    "revolute", "prismatic", "helical", "cylindrical", "planar", "Schoenflies", "universal",
    "constant velocity", "translational", "screw", "free", "spherical",
)  # fmt: skip

DIRECTIONS = ("axis", "axis1", "axis2", "axes", "screw")


def moved(rng, value):
    """Return another value of a parameter."""
    value = np.array(value)
    if value.shape == (4, 4):
        return value @ SE3.exp(0.4 * rng.normal(size=6))
    if value.shape == (3, 3):
        return 1.2 * value if (value == value.T).all() else value + 0.2 * rng.normal(size=(3, 3))
    return 1.1 * value + 0.3 * rng.normal(size=value.shape)


def check(system, name, given, values, tolerance):
    """The function for the values of parameters is that of the system that has them."""
    function = mb.casadi_function(system, name, parameters=list(values))
    other = system.with_parameters(values)
    expected = getattr(other, name)(*given)
    assert same(function(*given, *values.values()), expected, tolerance), name


@pytest.mark.parametrize("representation", [mb.BodyFixed(), mb.Mixed()])
def test_axes_and_places_of_all_joints_at_once(representation):
    rng = np.random.default_rng(21)
    mechanism = random_mechanism(rng, len(KINDS), KINDS)
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    q, v, vdot, tau = state_of(rng, system)
    known = system.parameters
    names = [n for n in known if n.rpartition(".")[2] in (*DIRECTIONS, "S_pred", "S_succ")]
    values = {name: moved(rng, known[name]) for name in names}
    assert sum(value.size for value in values.values()) > 300
    check(system, "forward_dynamics", (q, v, tau), values, 1e-9)
    check(system, "jerks", (q, v, vdot, tau), values, 1e-11)


@pytest.mark.parametrize("z", [1.0, -1.0])
def test_derivatives_by_an_axis_are_those_of_mbkit(z):
    """Along z and against it as well, where frames along axes are not unique."""
    mechanism = mb.Mechanism("arm")
    rng = np.random.default_rng(22)
    arm, hand = (mechanism.add_body(mb.Body(n, random_inertia(rng))) for n in ("arm", "hand"))
    joint = mb.RevoluteJoint("shoulder", axis=(0, 0, z), point=(0.1, 0.2, 0.3))
    mechanism.add_joint(joint, mechanism.world, arm)
    mechanism.add_joint(mb.PlanarJoint("plane", axis=(0, 0, z)), arm, hand)
    system = mechanism.assemble()
    q, v, _, tau = state_of(rng, system)
    for name in ("joints.shoulder.axis", "joints.plane.axis"):
        function = mb.casadi_function(system, "forward_dynamics", parameters=[name])
        axis = system.parameters[name]
        found = function.jacobian()(q, v, tau, axis, np.zeros(system.nv))[3]
        by_axis = system.derivatives("forward_dynamics", q, v, tau, by=[name])[name]
        assert same(found, by_axis, 1e-11)


def test_inertias_and_places_of_a_whole_robot_are_free():
    """Beyond two hundred numbers: all that calibration and identification look for."""
    rng = np.random.default_rng(23)
    system = random_mechanism(rng, 8, ("revolute", "prismatic")).assemble()
    q, v, _, tau = state_of(rng, system)
    names = [n for n in system.parameters if n.startswith(("bodies.", "gravity"))]
    names += [n for n in system.parameters if n.endswith((".S_pred", ".S_succ", ".axis"))]
    values = {name: moved(rng, system.parameters[name]) for name in names}
    for name in names:
        if name.endswith(".mass"):
            values[name] = abs(values[name])
    check(system, "forward_dynamics", (q, v, tau), values, 1e-9)


@pytest.mark.parametrize("example", [spatial_slider_crank, stewart_platform])
def test_closed_mechanisms(example):
    """Joints of the tree and those that close loops; by positions alone and as a whole."""
    rng = np.random.default_rng(24)
    built = example.build()
    system = (built[0] if isinstance(built, tuple) else built).assemble()
    q = system.close_loops(system.reference_configuration())
    v, tau = rng.normal(size=(2, system.nv))
    loop, tree = system.loop_joints[0], system.joint_names[0]
    wanted = {"mass", "S_pred", "axis"}
    values = {}
    for name, value in system.parameters.items():
        kind, owner, field = (*name.split("."), "", "")[:3]
        if field in wanted and (kind == "bodies" or owner in (loop, tree)):
            step = SE3.exp(0.05 * rng.normal(size=6))
            values[name] = value @ step if np.ndim(value) == 2 else value + 0.05
    place = f"joints.{loop}.S_succ"
    far = np.array(system.parameters[place])
    far[1, 3] += 0.05
    other = system.with_parameters({**values, place: far})
    names = [*values, f"{place}[1, 3]"]
    function = mb.casadi_function(system, "forward_dynamics", parameters=names)
    expected = other.solve_dynamics(q, v, tau)[0]
    assert same(function(q, v, tau, *values.values(), far[1, 3]), expected, 1e-9)
    residual = mb.casadi_function(system, "constraint_residual", parameters=names)
    found = np.array(residual(q, *values.values(), far[1, 3])).ravel()
    rows = np.linalg.norm(other.constraint_jacobian(q), axis=1)
    own = mb.casadi_function(system, "constraint_jacobian", parameters=names)
    scales = np.linalg.norm(own(q, *values.values(), far[1, 3]).full(), axis=1)
    expected = other.constraint_residual(q)  # whose rows are scaled by another length
    n = len(expected)
    assert np.allclose(found / scales[:n], expected / rows[:n], rtol=1e-9, atol=1e-12)


_A, _B = {"axis": (1, 2, 3), "point": (0.1, 0.5, 0.3)}, {"axis": (0, 2, -3), "point": (0.4, 0.1, 0)}

#: Members of composite joints: one product of screws, and members that are called.
COMPOSITES = {
    "screws": (mb.RevoluteJoint("r", **_A), mb.PrismaticJoint("p", axis=(0, 2, 3)),
               mb.CylindricalJoint("c", **_B)),
    "pitch": (mb.HelicalJoint("h", pitch=0.1, **_A), mb.RevoluteJoint("r", **_B)),
    "called": (mb.SphericalJoint("s", point=(0.1, 0.1, 0)), mb.PrismaticJoint("p", axis=(0, 2, 3)),
               mb.ConstantVelocityJoint("v", **_A)),
    "in a plane": (mb.PlanarJoint("p", **_A), mb.RevoluteJoint("r", **_B)),
    "within another": (mb.SphericalJoint("s"), mb.CompositeJoint(
        "two", mb.RevoluteJoint("r", **_A), mb.RevoluteJoint("t", **_B))),
    "screws within": (mb.RevoluteJoint("r", **_B), mb.CompositeJoint(
        "two", mb.RevoluteJoint("t"), mb.RevoluteJoint("u", **_A))),
    "called within": (mb.RevoluteJoint("r", **_B), mb.CompositeJoint(
        "two", mb.SphericalJoint("s"), mb.RevoluteJoint("q", **_A))),
}  # fmt: skip


def composite(members, *, turned_round):
    rng = np.random.default_rng(25)
    mechanism = mb.Mechanism("composite")
    near, far = (mechanism.add_body(mb.Body(name, random_inertia(rng))) for name in "ab")
    mechanism.add_joint(mb.RevoluteJoint("first", axis=(1, 0, 2)), mechanism.world, near)
    ends = (far, near) if turned_round else (near, far)
    frames = [SE3.exp(rng.normal(size=6)) for _ in range(2)]
    mechanism.add_joint(mb.CompositeJoint("j", *members), *ends, frames=frames)
    return mechanism.assemble()


@pytest.mark.parametrize("turned_round", [False, True])
@pytest.mark.parametrize("name", COMPOSITES)
def test_axes_within_composite_joints(name, turned_round):
    """With points and places, of members in each of the forms that a composite joint has."""
    rng = np.random.default_rng(26)
    system = composite(COMPOSITES[name], turned_round=turned_round)
    q, v, vdot, tau = state_of(rng, system)
    ends = ("axis", "point", "pitch", "S_pred")
    names = [n for n in system.parameters if n.startswith("joints.j") and n.endswith(ends)]
    values = {each: moved(rng, system.parameters[each]) for each in names}
    check(system, "inverse_dynamics", (q, v, vdot), values, 1e-12)
    check(system, "jerks", (q, v, vdot, tau), values, 1e-12)
    axes = [each for each in names if each.endswith("axis")]
    function = mb.casadi_function(system, "inverse_dynamics", parameters=axes)
    given = [system.parameters[each] for each in axes]
    parts = function.jacobian()(q, v, vdot, *given, np.zeros(system.nv))[3:]
    expected = system.derivatives("inverse_dynamics", q, v, vdot=vdot, by=axes)
    for each, found in zip(axes, parts, strict=True):
        assert same(found, expected[each], 1e-10), each


def test_axes_along_each_other_within_a_composite_joint_are_turned_apart():
    """Its motion subspace is constant as long as they are along each other."""
    members = mb.RevoluteJoint("turn", axis=(0, 0, 1)), mb.PrismaticJoint("slide", axis=(0, 0, 1))
    system = composite(members, turned_round=False)
    q, v, vdot, tau = state_of(np.random.default_rng(27), system)
    values = {"joints.j.turn.axis": np.array([1.0, 0.0, 2.0])}
    check(system, "inverse_dynamics", (q, v, vdot), values, 1e-12)
    check(system, "jerks", (q, v, vdot, tau), values, 1e-12)


class Sliding(mb.Joint):
    """A joint in Python."""

    num_positions = num_velocities = 1

    def __init__(self, name):
        self.name = name

    def pose(self, q):
        T = np.eye(4, dtype=np.asarray(q).dtype)
        T[0, 3] = q[0]
        return T


def test_axes_beside_a_member_in_python_are_named():
    system = composite((mb.RevoluteJoint("turn"), Sliding("slide")), turned_round=False)
    with pytest.raises(mb.UsageError, match=r"joints\.j\.turn\.axis.*member in Python.*a body"):
        mb.casadi_function(system, "mass_matrix", parameters=["joints.j.turn.axis"])


def test_coefficients_that_are_zero_and_cannot_be_less():
    """Of a drag without a moment, whose moment stays free all the same."""
    mechanism = mb.Mechanism("in oil")
    body = mechanism.add_body(mb.Body("body", random_inertia(np.random.default_rng(28))))
    mechanism.add_joint(mb.FreeJoint("free"), mechanism.world, body)
    mechanism.add_force(mb.Drag("drag", "body", linear=0.3))
    system = mechanism.assemble()
    q, v, _, tau = state_of(np.random.default_rng(29), system)
    values = {"forces.drag.angular": 0.2, "forces.drag.angular_quadratic": 0.1}
    check(system, "forward_dynamics", (q, v, tau), values, 1e-12)


def test_what_cannot_stay_free_is_named_with_a_remedy():
    mechanism = mb.Mechanism("odd")
    body = mechanism.add_body(mb.Body("body", random_inertia(np.random.default_rng(30))))
    flange = mechanism.add_body(mb.Body("flange", random_inertia(np.random.default_rng(31))))
    mechanism.add_joint(mb.FreeJoint("free"), mechanism.world, body)
    mechanism.add_joint(mb.FixedJoint("mount"), body, flange)
    times = np.arange(5) * 0.1
    poses = SE3.exp(times[:, None] * np.ones(6))
    mechanism.add_constraint(mb.PrescribedPose("path", "body", times=times, poses=poses))
    system = mechanism.assemble()
    for name, reason in (
        ("constraints.path.poses", r"of a pose its position, such as '\[0, 3\]'"),
        ("joints.mount.S_pred", "does not move.*its position can"),
    ):
        with pytest.raises(mb.UsageError, match=reason):
            mb.casadi_function(system, "constraint_residual", parameters=[name])
    entry = "constraints.path.poses[1, 0, 3]"
    mb.casadi_function(system, "constraint_residual", parameters=[entry])
