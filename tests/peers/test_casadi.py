"""Functions of CasADi against mbkit's compiled code, and their C code against both."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import mbkit as mb
from examples import swing_up
from examples.closed_loops import bricard, four_bar, spatial_slider_crank, stewart_platform
from tests.closed_loops.mechanisms import BY_NAME
from tests.constraints.examples import EXAMPLES
from tests.joints.pose_only import AxisJoint, FreeTwin, ScrewCoordinates
from tests.reference.user_joints import BallJoint, EllipseJoint
from tests.trees import MAKERS, random_inertia, random_mechanism, random_state

casadi = pytest.importorskip("casadi")

REPRESENTATIONS = (mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed())


def state_of(rng, system):
    """Return q, v, vdot and tau."""
    state = random_state(rng, system)
    return state.q, state.v, state.vdot, state.tau


def same(found, expected, tolerance=1e-12):
    expected = np.asarray(expected, dtype=float)
    found = np.array(found.full()).reshape(expected.shape)
    return np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("representation", REPRESENTATIONS, ids=lambda each: type(each).__name__)
def test_all_joints(representation):
    """Every joint of mbkit, quaternions and rotation vectors included, turned round or not."""
    rng = np.random.default_rng(1)
    mechanism = random_mechanism(rng, len(MAKERS))
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    q, v, vdot, tau = state_of(rng, system)
    dynamics = mb.casadi_function(system, "forward_dynamics")
    assert same(dynamics(q, v, tau), system.forward_dynamics(q, v, tau), 1e-11)
    for name, given, expected in (
        ("inverse_dynamics", (q, v, vdot), system.inverse_dynamics(q, v, vdot)),
        ("bias_force", (q, v), system.bias_force(q, v)),
        ("accelerations", (q, v, vdot), system.accelerations(q, v, vdot)),
        ("jerks", (q, v, vdot, tau), system.jerks(q, v, vdot, tau)),
        ("momentum", (q, v), system.momentum(q, v)),
        ("mass_matrix", (q,), system.mass_matrix(q)),
        ("twists", (q, v), system.twists(q, v)),
        ("poses", (q,), np.hstack(system.poses(q))),
        ("kinetic_energy", (q, v), system.kinetic_energy(q, v)),
        ("potential_energy", (q,), system.potential_energy(q)),
    ):
        assert same(mb.casadi_function(system, name)(*given), expected), name
    for name, given in (
        ("pose", (q,)), ("twist", (q, v)), ("jacobian", (q,)), ("jacobian_rate", (q, v)),
        ("acceleration", (q, v, vdot)),
    ):  # fmt: skip
        function = mb.casadi_function(system, name, body="body7")
        assert same(function(*given), getattr(system, name)("body7", *given)), name
    rest = np.zeros(system.nv)
    parts = dynamics.jacobian()(system.reference_configuration(), rest, rest, rest)
    assert all(np.isfinite(part.full()).all() for part in parts)


@pytest.mark.parametrize("representation", REPRESENTATIONS, ids=lambda each: type(each).__name__)
def test_coriolis_matrices(representation):
    """Of all joints, whether their motion subspaces change or not: dM/dt - 2 C is skew."""
    rng = np.random.default_rng(15)
    mechanism = random_mechanism(rng, len(MAKERS))
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    q, v, *_ = state_of(rng, system)
    function = mb.casadi_function(system, "coriolis_matrix")
    C = function(q, v).full()
    assert same(function(q, v), system.coriolis_matrix(q, v), 1e-11)
    mass = mb.casadi_function(system, "mass_matrix")
    along = system.position_rates(q, v)
    rate = mass.jacobian()(q, np.zeros((system.nv, system.nv))).full() @ along
    rate = rate.reshape(C.shape)  # symmetric: by columns or by rows
    assert np.abs(rate - C - C.T).max() < 1e-12 * np.abs(C).max()
    force = mb.casadi_function(system.with_parameters({"gravity": np.zeros(3)}), "bias_force")
    assert same(force(q, v), C @ v)


def test_motions_of_any_order():
    rng = np.random.default_rng(13)
    system = random_mechanism(rng, 5, ("revolute", "universal", "free", "angles")).assemble()
    q = state_of(rng, system)[0]
    rates = rng.normal(size=(5, system.nv))
    function = mb.casadi_function(system, "body_derivatives", order=4)
    assert function.name_in() == ["q", "v", "vdot", "vddot", "v3", "v4"]
    assert same(function(q, *rates), system.body_derivatives(q, rates))


def test_hybrid_dynamics():
    """Of trees with forces, and of closed mechanisms, redundant rows included."""
    rng = np.random.default_rng(14)
    system, first, _ = forced(rng)
    q, v, vdot, tau = state_of(rng, system)
    function = mb.casadi_function(system, "hybrid_dynamics", prescribed=[first])
    expected = system.hybrid_dynamics(q, v, tau=tau, vdot=vdot, prescribed=[first], t=0.4)
    for found, each in zip(function(q, v, tau, vdot, 0.4), expected, strict=True):
        assert same(found, each, 1e-11)
    for name in ("four-bar", "Bricard", "Stewart platform"):
        system = BY_NAME[name].system()
        start = system.close_loops(system.reference_configuration())
        q = system.close_loops(system.retract(start, 0.1 * rng.normal(size=system.ndx)))
        v, vdot, tau = rng.normal(size=(3, system.nv))
        A = system.constraint_jacobian(q)
        v -= np.linalg.pinv(A, rcond=1e-9) @ (A @ v)
        held = [system.joint_names[0]]
        function = mb.casadi_function(system, "hybrid_dynamics", prescribed=held)
        expected = system.hybrid_dynamics(q, v, tau=tau, vdot=vdot, prescribed=held)
        for found, each in zip(function(q, v, tau, vdot), expected, strict=True):
            assert same(found, each, 1e-10)
        with pytest.raises(mb.UsageError, match="more joints"):
            mb.casadi_function(system, "hybrid_dynamics", prescribed=system.joint_names)


def test_derivatives_are_those_of_mbkit():
    rng = np.random.default_rng(2)
    mechanism = random_mechanism(rng, 6, ("revolute", "spherical", "planar", "free"))
    system = mechanism.assemble()
    q, v, _, tau = state_of(rng, system)
    function = mb.casadi_function(system, "forward_dynamics")
    by_q, by_v, by_tau = function.jacobian()(q, v, tau, np.zeros(system.nv))
    d_q, d_v, d_tau = system.forward_dynamics_derivatives(q, v, tau)
    E = np.array([system.position_rates(q, e) for e in np.eye(system.nv)]).T
    assert same(by_q @ E, d_q, 1e-10)
    assert same(by_v, d_v, 1e-10)
    assert same(by_tau, d_tau, 1e-10)
    # along a quaternion nothing changes
    for first in system.quaternions:
        quaternion = slice(first, first + 4)
        assert np.abs(by_q.full()[:, quaternion] @ q[quaternion]).max() < 1e-9


def forced(rng):
    """Return a mechanism of five bodies with forces of most kinds."""
    mechanism = random_mechanism(rng, 5, ("revolute", "prismatic", "helical", "spherical"))
    joints = mechanism.assemble().arrays.tree_joints
    first, second = [name for name, joint in joints.items() if joint.num_velocities == 1][:2]
    for force in (
        mb.JointSpring("spring", first, stiffness=3.0),
        mb.JointDamper("damper", first, damping=0.3),
        mb.DryFriction("friction", first, friction=0.3, smoothing=0.01),
        mb.LimitStop("stop", second, lower=-0.1, upper=0.2, stiffness=100.0, damping=2.0),
        mb.SpringDamper("rope", "body0", "body3", stiffness=10.0, rest_length=0.1, damping=1.0),
        mb.Drag("drag", "body2", linear=0.1, quadratic=0.3),
        mb.Bushing("bushing", "body1", "body2", (3, 2, 1, 10, 20, 30), (0.1, 0.2, 0.3, 1, 2, 3)),
        mb.UniformField("wind", (1.0, 2.0, 3.0), bodies=["body3"]),
        mb.BodyWrench("pull", "body4", rng.normal(size=(5, 6)), times=np.arange(5) * 0.2),
        mb.JointEffort("motor", first, rng.normal(size=9), times=np.arange(9) * 0.1),
        mb.ForceFunction("push", push, joints=first),
        mb.ForceFunction("lift", lambda t, T, V: np.vstack([V[0] * np.cos(t)]), bodies="body1"),
    ):
        mechanism.add_force(force)
    return mechanism.assemble(), first, second


def push(t, q, v):
    return [np.sin(t) * v[0] if q[0] > 0.1 else 0.3 * q[0]]


def test_forces_are_included_with_all_their_branches():
    rng = np.random.default_rng(3)
    system, first, second = forced(rng)
    bare = system.without_forces()
    function = mb.casadi_function(system, "forward_dynamics")
    inverse = mb.casadi_function(system, "inverse_dynamics")
    potential = mb.casadi_function(system, "potential_energy")
    for one, other in ((0.3, 0.5), (-0.3, -0.5), (0.3, 0.1), (-0.3, 0.1)):
        q, v, vdot, tau = state_of(rng, system)
        q[system.position_slice(first)] = one
        q[system.position_slice(second)] = other
        f = system.generalized_forces(q, v, 0.4)
        assert same(function(q, v, tau, 0.4), bare.forward_dynamics(q, v, tau + f), 1e-11)
        assert same(inverse(q, v, vdot, 0.4), bare.inverse_dynamics(q, v, vdot) - f, 1e-11)
        energy = system.potential_energy(q) + system.force_potentials(q).sum()
        assert same(potential(q), energy)
    rest = np.zeros(system.nv)
    parts = function.jacobian()(system.reference_configuration(), rest, rest, 0.0, rest)
    assert all(np.isfinite(part.full()).all() for part in parts)


def test_parameters_stay_free():
    rng = np.random.default_rng(4)
    system, first, _ = forced(rng)
    place = f"joints.{first}.S_pred"
    names = (
        "gravity", "bodies.body0.mass", "bodies.body0.com", "bodies.body0.moment_about_com",
        "forces.spring.stiffness", f"{place}[1,3]", "forces.rope.rest_length",
        "bodies.body2.com[1]",
    )  # fmt: skip
    function = mb.casadi_function(system, "forward_dynamics", parameters=names)
    assert function.name_in(4) == "bodies_body0_mass"
    known = system.parameters
    moment = 1.4 * known["bodies.body0.moment_about_com"]
    com, pose = np.array(known["bodies.body2.com"]), np.array(known[place])
    com[1], pose[1, 3] = -0.3, 0.7
    given = ([1.0, 2.0, 3.0], 2.5, [0.1, 0.2, -0.3], moment, 7.0, 0.7, 0.3, -0.3)
    values = dict(zip(names, given, strict=True))
    values |= {"bodies.body2.com": com, place: pose}
    changed = system.with_parameters({name: values[name] for name in values if name in known})
    q, v, _, tau = state_of(rng, system)
    total = tau + changed.generalized_forces(q, v, 0.4)
    expected = changed.without_forces().forward_dynamics(q, v, total)
    assert same(function(q, v, tau, *given, 0.4), expected, 1e-10)


def test_joints_in_python_are_traced():
    rng = np.random.default_rng(5)
    mechanism = mb.Mechanism("own")
    parent = mechanism.world
    joints = (
        FreeTwin("free"), AxisJoint("axis", (1, 2, 3), (0.1, 0.2, 0.3), shift=0.1),
        EllipseJoint("ellipse", 0.3, 0.5), ScrewCoordinates("screw"), BallJoint("ball"),
    )  # fmt: skip
    for joint in joints:
        body = mechanism.add_body(mb.Body(f"of {joint.name}", random_inertia(rng)))
        mechanism.add_joint(joint, parent, body)
        parent = body
    system = mechanism.assemble()
    q, v, vdot, tau = state_of(rng, system)
    function = mb.casadi_function(system, "forward_dynamics")
    assert same(function(q, v, tau), system.forward_dynamics(q, v, tau), 1e-10)
    function = mb.casadi_function(system, "jerks")
    assert same(function(q, v, vdot, tau), system.jerks(q, v, vdot, tau))
    function = mb.casadi_function(system, "jacobian_rate", body="of ball")
    assert same(function(q, v), system.jacobian_rate("of ball", q, v))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a compiler of C")
def test_c_code(tmp_path):
    rng = np.random.default_rng(6)
    system = random_mechanism(rng, 4, ("revolute", "spherical")).assemble()
    function = mb.casadi_function(system, "mass_matrix", parameters=["bodies.body1.mass"])
    generator = casadi.CodeGenerator("mass.c")
    generator.add(function)
    generator.generate(f"{tmp_path}/")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "mass.c", "-o", "mass.so"],
                   cwd=tmp_path, check=True)  # fmt: skip
    q, *_ = state_of(rng, system)
    compiled = casadi.external("mass_matrix", str(tmp_path / "mass.so"))
    changed = system.with_parameters({"bodies.body1.mass": 3.0})
    assert same(compiled(q, 3.0), changed.mass_matrix(q))
    assert ctypes.CDLL(str(tmp_path / "mass.so")).mass_matrix_n_in() == 2


def test_the_swing_up_reaches_the_top(capsys):
    swing_up.main()
    assert "standing at rest" in capsys.readouterr().out


@pytest.mark.parametrize("example", [four_bar, spatial_slider_crank, bricard, stewart_platform])
def test_loops(example):
    """Residual, Jacobian and bias; A is the derivative of the residual where loops are closed."""
    rng = np.random.default_rng(9)
    built = example.build()
    system = (built[0] if isinstance(built, tuple) else built).assemble()
    closed = system.close_loops(system.reference_configuration())
    functions = constraint_functions(system)
    for size in (0.0, 1e-5, 0.1):
        q = system.retract(closed, size * rng.normal(size=system.ndx))
        check_constraints(system, functions, q, rng.normal(size=system.nv), 0.0)
    residual = functions["constraint_residual"]
    slopes = residual.jacobian()(closed, np.zeros(system.num_position_constraints))
    E = np.array([system.position_rates(closed, e) for e in np.eye(system.nv)]).T
    assert same(slopes @ E, system.constraint_jacobian(closed))


@pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")
@pytest.mark.parametrize(
    "name", ["four-bar", "Bricard", "spatial slider-crank", "parallelogram", "Stewart platform"]
)
def test_forward_dynamics_of_closed_mechanisms(name):
    """Redundant rows, and a reference that is singular, included; derivatives by the masses."""
    rng = np.random.default_rng(4)
    system = BY_NAME[name].system()
    body = system.body_names[1]
    mass = f"bodies.{body}.mass"
    function = mb.casadi_function(system, "forward_dynamics", parameters={mass: "m"})
    m = system.parameters[mass]
    start = system.close_loops(system.reference_configuration())
    for _ in range(2):
        q = system.close_loops(system.retract(start, 0.1 * rng.normal(size=system.ndx)))
        v, tau = rng.normal(size=(2, system.nv))
        A = system.constraint_jacobian(q)
        v -= np.linalg.pinv(A, rcond=1e-9) @ (A @ v)
        for factor in (1.0, 1.5):
            heavier = system.with_parameters({mass: factor * m})
            assert same(
                function(q, v, tau, factor * m), heavier.solve_dynamics(q, v, tau)[0], 1e-10
            )
        by_mass = function.jacobian()(q, v, tau, m, np.zeros(system.nv))[3]
        expected = system.derivatives("forward_dynamics", q, v, tau, by=[mass])[mass]
        assert same(by_mass, expected, 1e-8)


NAMES = ("constraint_residual", "constraint_jacobian", "constraint_bias")


def constraint_functions(system):
    return {name: mb.casadi_function(system, name) for name in NAMES}


def check_constraints(system, functions, q, v, t):
    for name, function in functions.items():
        given = [{"q": q, "v": v, "t": t}[each] for each in function.name_in()]
        state = (q, v) if name == "constraint_bias" else (q,)
        assert same(function(*given), getattr(system, name)(*state, t=t)), name


@pytest.mark.parametrize("constraint", EXAMPLES, ids=[each.name for each in EXAMPLES])
def test_constraints(constraint):
    rng = np.random.default_rng(10)
    mech = mb.Mechanism("two")
    bodies = [mech.add_body(mb.Body(name, random_inertia(rng))) for name in "ab"]
    if set(constraint.joints) & {"i", "j"}:
        mech.add_joint(mb.RevoluteJoint("i", axis=(1, 2, 3)), mech.world, bodies[0])
        mech.add_joint(mb.RevoluteJoint("j", axis=(0, 2, 3)), *bodies)
    else:
        for body in bodies:
            mech.add_joint(mb.FreeJoint(f"of {body.name}"), mech.world, body)
    mech.add_constraint(constraint)
    system = mech.assemble()
    q = system.retract(system.reference_configuration(), rng.normal(size=system.ndx))
    check_constraints(system, constraint_functions(system), q, rng.normal(size=system.nv), 0.7)


SHAPES = ("bodies.body.mass", "gravity")


def test_parameters_of_one_label_are_one_input():
    system = random_mechanism(np.random.default_rng(8), 2, ("revolute",)).assemble()
    names = dict.fromkeys(("bodies.body0.mass", "bodies.body1.mass"), "m")
    function = mb.casadi_function(system, "mass_matrix", parameters=names)
    assert function.name_in() == ["q", "m"]
    changed = system.with_parameters(dict.fromkeys(names, 2.5))
    assert same(function([0.1, 0.2], 2.5), changed.mass_matrix([0.1, 0.2]))


class Bisected(mb.Joint):
    """A joint whose pose numpy alone can compute."""

    num_positions = num_velocities = 1

    def pose(self, q):
        T = np.eye(4)
        T[0, 3] = np.interp(q[0], [-9.0, 9.0], [-9.0, 9.0])
        return T

    def motion_subspace(self, q):
        return np.eye(6)[:, [3]]

    def bias(self, q, v):
        return np.zeros(6)


def test_what_cannot_be_handed_on_is_named():
    mechanism = mb.Mechanism("odd")
    body = mechanism.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mechanism.add_joint(mb.HelicalJoint("nut", axis=(1, 2, 3), pitch=0.1), mechanism.world, body)
    system = mechanism.assemble()
    with pytest.raises(mb.NameUnknownError, match=r"bodies\.body.mass"):
        mb.casadi_function(system, "mass_matrix", parameters=["bodies.body.mas"])
    with pytest.raises(mb.UsageError, match="did you mean 'forward_dynamics'"):
        mb.casadi_function(system, "forward_dynamic")
    with pytest.raises(mb.UsageError, match="label 'q'"):
        mb.casadi_function(system, "mass_matrix", parameters={"bodies.body.mass": "q"})
    with pytest.raises(mb.UsageError, match="different shapes"):
        mb.casadi_function(system, "mass_matrix", parameters=dict.fromkeys(SHAPES, "p"))
    with pytest.raises(mb.UsageError, match="needs a body"):
        mb.casadi_function(system, "pose")
    with pytest.raises(mb.UsageError, match=r"prescribed=\['nut'\]"):
        mb.casadi_function(system, "hybrid_dynamics")
    with pytest.raises(mb.UsageError, match="order must be"):
        mb.casadi_function(system, "body_derivatives", order=-1)
    with pytest.raises(mb.UsageError, match="takes no order"):
        mb.casadi_function(system, "jerks", order=3)
    with pytest.raises(mb.UsageError, match=r"S_pred.*or the whole"):
        mb.casadi_function(system, "mass_matrix", parameters=["joints.nut.S_pred[0, 0]"])
    table = mb.ForceFunction("table", lambda t, q, v: np.interp(q, [0.0, 1.0], [0.0, 1.0]))
    with pytest.raises(mb.UsageError, match=r"'table'.*without_forces"):
        mb.casadi_function(system.with_forces([table]), "forward_dynamics")
    loop = mb.Mechanism("loop")
    body = loop.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    loop.add_joint(Bisected("slide"), loop.world, body)
    with pytest.raises(mb.UsageError, match=r"Joint 'slide'.*np\.interp"):
        mb.casadi_function(loop.assemble(), "poses")
