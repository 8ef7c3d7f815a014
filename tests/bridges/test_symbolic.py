"""Expressions of sympy: textbook forms, numbers at random states, what cannot be handed on."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import cos, sin

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME
from tests.every_representation import each_representation
from tests.joints.pose_only import AxisJoint
from tests.reference.user_joints import EllipseJoint
from tests.trees import MAKERS, random_inertia, random_state


def numbers(symbolic, expression, state):
    """Return an expression at a state."""
    symbols = [*symbolic.q, *symbolic.v, *symbolic.vdot, symbolic.t]
    values = [*state.q, *state.v, *state.vdot, 0.3]
    return np.array(sympy.lambdify(symbols, expression, cse=True)(*values), dtype=float)


def assert_same(found, expected):
    expected = np.asarray(expected)
    found = found.reshape(expected.shape)
    assert np.abs(found - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


def double_pendulum(**options):
    """Return two rods about y, each with its centre of mass below its hinge."""
    mech = mb.Mechanism("double pendulum", gravity=(0, 0, -9.81))
    first = mech.add_body(mb.Body("first", mb.SpatialInertia.from_com(0.1 + 0.2, (0, 0, -0.5))))
    second = mech.add_body(mb.Body("second", mb.SpatialInertia.from_com(0.7, (0, 0, -0.3))))
    mech.add_joint(mb.RevoluteJoint("hip", axis=(0, 1, 0)), mech.world, first)
    knee = mb.RevoluteJoint("knee", axis=(0, 1, 0))
    mech.add_joint(knee, first, second, frames=(mb.spatial.translation((0, 0, -1.2)), np.eye(4)))
    return mech.assemble(mb.RelativeCoordinates(**options))


@pytest.mark.long
@each_representation
def test_the_double_pendulum_of_textbooks(representation):
    system = double_pendulum(representation=representation)
    names = {
        "bodies.first.mass": "m1", "bodies.second.mass": "m2", "bodies.first.com[2]": "a1",
        "bodies.second.com[2]": "a2", "joints.knee.S_pred[2,3]": "l", "gravity[2]": "g",
    }  # fmt: skip
    found = mb.symbolic(system, parameters=names)
    m1, m2, a1, a2, l, g = found.parameters.values()  # noqa: E741 - a length
    (q1, q2), (v1, v2) = found.q, found.v
    c = m2 * l * a2 * cos(q2)
    M12 = m2 * a2**2 + c
    M = sympy.Matrix([[m1 * a1**2 + m2 * (l**2 + a2**2) + 2 * c, M12], [M12, m2 * a2**2]])
    assert sympy.simplify(found.mass_matrix() - M).is_zero_matrix
    h = m2 * l * a2 * sin(q2)
    C = sympy.Matrix([[-h * v2, -h * (v1 + v2)], [h * v1, 0]])
    assert sympy.simplify(found.coriolis_matrix() - C).is_zero_matrix
    last = m2 * a2 * g * sin(q1 + q2)
    gravity = sympy.Matrix([(m1 * a1 + m2 * l) * g * sin(q1) + last, last])
    b = C * found.v + gravity
    assert sympy.simplify(found.bias_force() - b).is_zero_matrix
    for equation, left, tau in zip(found.equations(), M * found.vdot + b, found.tau, strict=True):
        assert sympy.simplify(equation.lhs - left) == 0
        assert equation.rhs == tau
    U = -g * (m1 * a1 * cos(q1) + m2 * (l * cos(q1) + a2 * cos(q1 + q2)))
    assert sympy.simplify(found.potential_energy() - U) == 0
    assert sympy.simplify(found.kinetic_energy() - (found.v.T * M * found.v)[0] / 2) == 0


def test_expressions_read_as_somebody_would_write_them():
    found = mb.symbolic(double_pendulum())
    assert str(found.mass_matrix()[0, 1]) == "0.252*cos(q2) + 0.063"
    assert str(found.coriolis_matrix()) == (
        "Matrix([[-0.252*v2*sin(q2), -0.252*(v1 + v2)*sin(q2)], [0.252*v1*sin(q2), 0]])"
    )
    c, s = cos(found.q[0]), sin(found.q[0])
    turned = [[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]]
    assert found.pose("first") == sympy.Matrix(turned)
    text = found.latex(found.equations()).splitlines()
    assert len(text) == 2
    assert r"0.252 \dot{q}_{1}^{2} \sin{\left(q_{2} \right)}" in text[1]
    assert text[1].endswith(r"= \tau_{2}")


def test_a_screw_about_a_diagonal_axis():
    """Numbers of its frames are sqrt(3)/3 and the like, and come out as such."""
    mech = mb.Mechanism("screw", gravity=(0, 0, 0))
    nut = mech.add_body(mb.Body("nut", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    joint = mb.HelicalJoint("thread", axis=(1, 1, 1), point=(1, 0, 0), pitch=0.25)
    mech.add_joint(joint, mech.world, nut)
    found = mb.symbolic(mech.assemble())
    (q,) = found.q
    e, point = sympy.Matrix([1, 1, 1]) / sympy.sqrt(3), sympy.Matrix([1, 0, 0])
    K = sympy.Matrix([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    R = sympy.eye(3) + sin(q) * K + (1 - cos(q)) * K * K
    p = point - R * point + e * q / 4
    expected = R.row_join(p).col_join(sympy.Matrix([[0, 0, 0, 1]]))
    assert sympy.simplify(found.pose("nut") - expected).is_zero_matrix
    assert not found.pose("nut").atoms(sympy.Float)


PLAIN = (
    "revolute", "prismatic", "helical", "screw", "spherical", "free", "cylindrical", "universal",
    "translational", "planar", "Schoenflies", "planar, second kind", "planar, first kind",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    "kind",
    [kind if kind in PLAIN[:6] else pytest.param(kind, marks=pytest.mark.long) for kind in PLAIN],
)
def test_joints_in_any_direction(kind):
    """Pose, M and b of a body on a joint, which hangs on a hinge."""
    rng = np.random.default_rng(3)
    mech = mb.Mechanism("chain")
    arm = mech.add_body(mb.Body("arm", random_inertia(rng)))
    body = mech.add_body(mb.Body("body", random_inertia(rng)))
    mech.add_joint(mb.PrismaticJoint("base", axis=(1, 2, 2)), mech.world, arm)
    mech.add_joint(MAKERS[kind](rng, "joint"), arm, body)
    system = mech.assemble()
    check(system, random_state(rng, system), body="body", simplify=kind in PLAIN[:6])


def check(system, state, *, body, simplify):
    found = mb.symbolic(system, simplify=simplify)
    assert_same(numbers(found, found.pose(body), state), system.pose(body, state.q))
    assert_same(numbers(found, found.jacobian(body), state), system.jacobian(body, state.q))
    assert_same(numbers(found, found.mass_matrix(), state), system.mass_matrix(state.q))
    bias = system.bias_force(state.q, state.v)
    assert_same(numbers(found, found.bias_force(), state), bias)


@each_representation
def test_twists_and_energies(representation):
    """Of the outer of two rods, at a state; potential energy with that of a spring."""
    system = double_pendulum(representation=representation)
    system = system.with_forces([mb.JointSpring("spring", "knee", stiffness=3.0)])
    found = mb.symbolic(system, simplify=False)
    assert repr(found) == "SymbolicSystem('double pendulum', nq=2, nv=2)"
    state = random_state(np.random.default_rng(4), system)
    q, v = state.q, state.v
    assert_same(numbers(found, found.twist("second"), state), system.twist("second", q, v))
    assert_same(numbers(found, found.kinetic_energy(), state), v @ system.mass_matrix(q) @ v / 2)
    hanging = [0.3 * 0.5 + 0.7 * 1.2, 0.7 * 0.3] @ np.cos([q[0], q[0] + q[1]])
    expected = 3.0 * q[1] ** 2 / 2 - 9.81 * hanging
    assert_same(numbers(found, found.potential_energy(), state), expected)


@pytest.mark.long
def test_exponential_coordinates_and_joints_in_python():
    rng = np.random.default_rng(5)
    for joints in (
        (AxisJoint("axis", (1, 2, 3), (0, 1, 2), shift=0.1), EllipseJoint("ellipse", 0.3, 0.5)),
        (MAKERS["rotation vector"](rng, "ball"),),
    ):
        mech = mb.Mechanism("chain")
        parent = mech.world
        for joint in joints:
            body = mech.add_body(mb.Body(f"of {joint.name}", random_inertia(rng)))
            mech.add_joint(joint, parent, body)
            parent = body
        system = mech.assemble()
        check(system, random_state(rng, system), body=body.name, simplify=False)


def test_forces_with_branches_are_piecewise():
    system = double_pendulum().with_forces([
        mb.LimitStop("stop", "knee", lower=-0.1, upper=0.2, stiffness=100.0, damping=2.0),
        mb.JointSpring("spring", "hip", stiffness=3.0),
        mb.ForceFunction("push", lambda t, q, v: [np.sin(t) * v[0]], joints="hip"),
    ])  # fmt: skip
    found = mb.symbolic(system)
    forces = found.generalized_forces()
    assert forces.has(sympy.Piecewise)
    rng = np.random.default_rng(7)
    for angle in (0.5, 0.1, -0.4):
        state = random_state(rng, system)
        state.q[1] = angle
        expected = system.generalized_forces(state.q, state.v, 0.3)
        assert_same(numbers(found, forces, state), expected)
        left = [equation.lhs for equation in found.equations()]
        bare = system.without_forces()
        total = bare.inverse_dynamics(state.q, state.v, state.vdot) - expected
        assert_same(numbers(found, left, state), total)


def linkage():
    """Return a planar four-bar with its bars along z, and the loop joint D."""
    mech = mb.Mechanism("four-bar", gravity=(0, 0, -9.81))
    bodies = [mb.Body(n, mb.SpatialInertia.from_com(0.5, (0, 0, 0.2))) for n in ("a", "b", "c")]
    crank, coupler, rocker = map(mech.add_body, bodies)
    places = ((0, 0, 0), (0, 0, 0)), ((0, 0, 0.3), (0, 0, 0)), ((0, 0, 0.8), (0, 0, 0.5)), (
        (0.9, 0, 0), (0, 0, 0)
    )  # fmt: skip
    pairs = (mech.world, crank), (crank, coupler), (coupler, rocker), (mech.world, rocker)
    for name, pair, place in zip("ABCD", pairs, places, strict=True):
        frames = tuple(map(mb.spatial.translation, place))
        mech.add_joint(mb.RevoluteJoint(name, axis=(0, 1, 0)), *pair, frames=frames)
    return mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))


def test_a_planar_linkage_on_paper():
    """Three of the five rows of its loop joint hold by themselves; two are the closure."""
    found = mb.symbolic(linkage())
    closure = found.evaluation("constraint_residual")
    assert [str(each) for each in closure] == [
        "0",
        "0",
        "-0.8*sin(q3) - 0.3*sin(q2 + q3) - 0.9*cos(q1 + q2 + q3)",
        "0.9*sin(q1 + q2 + q3) - 0.8*cos(q3) - 0.3*cos(q2 + q3) + 0.5",
        "0",
    ]  # from D on the rocker to D on the ground, in the axes of the rocker
    equations = found.equations()
    assert len(equations) == 5
    used = set().union(*(each.free_symbols for each in equations)).intersection(found.multipliers)
    assert used == {found.multipliers[2], found.multipliers[3]}
    assert str(equations[2].rhs) == "-lambda3/2 + tau3"  # the couple of lambda3 at the arm 0.5
    assert [each.rhs for each in equations[3:]] == [0, 0]
    assert found.latex(equations[2]).endswith(r"= - \frac{\lambda_{3}}{2} + \tau_{3}")


def pushed_ball():
    """Return a ball joint with a rod in any direction to a slider, and a spring on it."""
    rng = np.random.default_rng(8)
    mech = mb.Mechanism("pushed ball")
    ball, slider = (mech.add_body(mb.Body(n, random_inertia(rng))) for n in ("ball", "slider"))
    mech.add_joint(MAKERS["spherical"](rng, "centre"), mech.world, ball)
    mech.add_joint(MAKERS["prismatic"](rng, "rail"), mech.world, slider)
    ends = {"point_a": (0.1, 0.4, 0.2), "point_b": (0.7, -0.3, 0.5)}
    mech.add_constraint(mb.Distance("rod", "ball", "slider", length=1.0, **ends))
    mech.add_force(mb.JointSpring("spring", "rail", stiffness=20.0))
    return mech.assemble()


CLOSED = {"four-bar": BY_NAME["four-bar"].system, "pushed ball": pushed_ball}


@pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")
@pytest.mark.parametrize("build", CLOSED.values(), ids=CLOSED)
def test_motions_and_multipliers_of_closed_mechanisms_satisfy_the_equations(build):
    """At a state with closed loops, with efforts; other accelerations and multipliers do not."""
    rng = np.random.default_rng(9)
    system = build()
    found = mb.symbolic(system, simplify=False)
    start = system.close_loops(system.reference_configuration())
    q = system.close_loops(system.retract(start, 0.3 * rng.normal(size=system.ndx)))
    v = system.consistent_velocity({}, q, rng.normal(size=system.nv))
    tau = rng.normal(size=system.nv)
    vdot, multipliers = system.solve_dynamics(q, v, tau)
    symbols = [*found.q, *found.v, *found.vdot, *found.tau, *found.multipliers]
    sides = [each.lhs - each.rhs for each in found.equations()]
    residual = sympy.lambdify(symbols, sides, cse=True)
    scale = np.abs(system.mass_matrix(q)).max() * np.abs(vdot).max()
    assert np.abs(residual(*q, *v, *vdot, *tau, *multipliers)).max() < 1e-12 * scale
    assert np.abs(residual(*q, *v, *vdot, *tau, *(1.01 * multipliers))).max() > 1e-4 * scale
    A, c = system.constraint_jacobian(q), system.constraint_bias(q, v)
    off = vdot + np.abs(vdot).max() * A.T @ rng.normal(size=len(A))
    rows = np.array(residual(*q, *v, *off, *tau, *multipliers))[system.nv :]
    expected = A @ off + c
    assert np.abs(expected).max() > 1e-2
    assert np.abs(np.sort(rows) - np.sort(expected[np.abs(expected) > 1e-12])).max() < 1e-12 * scale


def test_places_and_axes_stay_symbols():
    system = double_pendulum()
    found = mb.symbolic(system, parameters={"joints.knee.S_pred": "S"})
    S = found.parameters["S"]
    assert found.pose("second").has(S[1, 2])
    assert S[3, 3] == 1
    system = mb.Mechanism("one")
    body = system.add_body(mb.Body("body", mb.SpatialInertia.from_com(2.0, (0.3, 0.4, 0.5))))
    system.add_joint(mb.PrismaticJoint("rail", axis=(1, 2, 2)), system.world, body)
    found = mb.symbolic(system.assemble(), parameters={"joints.rail.axis": "a"})
    at = dict(zip(found.parameters["a"], (2, 3, 6), strict=True)) | {found.q[0]: 7}
    assert [*found.pose("body")[:3, 3].subs(at)] == [2, 3, 6]


def test_dimensions_of_bodies_stay_symbols():
    """A rod that swings about its end: m L^2 / 3 + m r^2 / 4, and m g L / 2."""
    mechanism = mb.Mechanism("rod", gravity=(0, 0, -10.0))
    rod = mb.Rod("rod", length=0.4, radius=0.01, axis=(0, 0, -1), mass=2.0)
    body = mechanism.add_body(rod)
    mechanism.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mechanism.world, body)
    names = {"bodies.rod.mass": "m", "bodies.rod.length": "L", "bodies.rod.radius": "r"}
    (equation,) = mb.symbolic(mechanism.assemble(), parameters=names).equations()
    m, L, r, q1, vdot1 = sympy.symbols("m L r q1 vdot1", real=True)
    expected = vdot1 * (m * L**2 / 3 + m * r**2 / 4) + 5 * m * L * sympy.sin(q1)
    symbols = {x.name: x for x in equation.free_symbols}
    plain = equation.lhs.subs({symbols[x.name]: x for x in (m, L, r, q1, vdot1)})
    assert sympy.simplify(plain - expected) == 0


def test_what_cannot_be_handed_on_is_named():
    system = double_pendulum()
    with pytest.raises(mb.NameUnknownError, match=r"bodies\.first\.mass"):
        mb.symbolic(system, parameters=["bodies.first.mas"])
    with pytest.raises(mb.UsageError, match="symbol of the state"):
        mb.symbolic(system, parameters={"bodies.first.mass": "q1"})
    for odd in ("1+", "m 1", "2m"):
        with pytest.raises(mb.UsageError, match=r"'bodies.first.mass'.*no name"):
            mb.symbolic(system, parameters={"bodies.first.mass": odd})
    for odd in ([["gravity"]], {"gravity": 3}, [None]):
        with pytest.raises(mb.UsageError, match="must be text"):
            mb.symbolic(system, parameters=odd)
    for odd in ("gravity[3]", "gravity[0, 0]", "joints.knee.S_pred[0, 0]"):
        with pytest.raises(mb.UsageError, match="no entry"):
            mb.symbolic(system, parameters=[odd])
    for one, other in (("gravity", "gravity[2]"), ("gravity[1]", "gravity[01]")):
        with pytest.raises(mb.UsageError, match=r"'gravity.*' and 'gravity.*' overlap"):
            mb.symbolic(system, parameters=[other, one])
    with pytest.raises(mb.UsageError, match="labels"):
        mb.symbolic(system, parameters=3)
    with pytest.raises(mb.NameUnknownError, match="'first'"):
        mb.symbolic(system).pose("firs")
    with pytest.raises(mb.UsageError, match=r"mbkit\.System"):
        mb.symbolic("pendulum")
