"""Functions of JAX: values, first derivatives against complex steps, batches, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import four_bar, spatial_slider_crank
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3, SO3
from tests.systems.complex_steps import ComplexEvaluation
from tests.trees import random_inertia, random_mechanism, random_pose, random_state

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def doubles():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.fixture(scope="module")
def system():
    rng = np.random.default_rng(1)
    mechanism = random_mechanism(rng, 5, ("revolute", "prismatic", "spherical", "planar"))
    joints = mechanism.assemble().arrays.tree_joints
    first = next(name for name, joint in joints.items() if joint.num_velocities == 1)
    mechanism.add_force(mb.JointSpring("spring", first, stiffness=3.0))
    mechanism.add_force(mb.ForceFunction("push", lambda t, q, v: [np.sin(t) * v[0]], joints=first))
    return mechanism.assemble()


#: What is asked of derivatives, of the largest entry.
ASKED = 1e-10


def complex_rate(system, name, given, tangents, t=0.0, **options):
    """Return the rate of an evaluation while its inputs, and the time, move along tangents."""
    evaluation = ComplexEvaluation(system, name, **options)
    moves = dict(zip((*given, "t"), tangents, strict=False))
    return evaluation(given, moves, t)[1]


def state_of(rng, system):
    """Return q, v and a third vector."""
    state = random_state(rng, system)
    return state.q, state.v, state.tau


def expected(system, name, q, v, x, t):
    bare, f = system.without_forces(), system.generalized_forces(q, v, t)
    if name == "forward_dynamics":
        return bare.forward_dynamics(q, v, x + f)
    return bare.inverse_dynamics(q, v, x) - f


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics"])
def test_values_and_derivatives(system, name):
    rng = np.random.default_rng(2)
    q, v, x = state_of(rng, system)
    function = mb.jax_function(system, name)
    value = expected(system, name, q, v, x, 0.3)
    assert np.array_equal(function(q, v, x, 0.3), value)
    assert np.array_equal(jax.jit(function)(q, v, x, t=0.3), value)
    forward = jax.jit(jax.jacfwd(function, argnums=(0, 1, 2, 3)))(q, v, x, 0.3)
    reverse = jax.jacrev(function, argnums=(0, 1, 2, 3))(q, v, x, 0.3)
    for a, b in zip(forward, reverse, strict=True):
        assert np.allclose(a, b, rtol=1e-13, atol=1e-13)
    # along a motion of everything at once
    dx, dv, du = rng.normal(size=(3, system.nv))
    third = {"forward_dynamics": "tau", "inverse_dynamics": "vdot"}[name]
    tangents = system.position_rates(q, dx), dv, du, 1.0
    exact = complex_rate(system, name, {"q": q, "v": v, third: x}, tangents, 0.3)
    found = jax.jvp(function, (q, v, x, 0.3), tangents)[1]
    assert np.abs(found - exact).max() < ASKED * np.abs(exact).max()


OTHERS = {
    "hybrid_dynamics": ("q", "v", "tau", "vdot"), "mass_matrix": ("q",), "pose": ("q",),
    "twist": ("q", "v"), "jacobian": ("q",),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_evaluations(system, name):
    """Values, derivatives along a motion of everything, batches."""
    rng = np.random.default_rng(6)
    q, v, tau = state_of(rng, system)
    held = {"prescribed": [system.joint_names[1]]}
    given = {"hybrid_dynamics": held, "mass_matrix": {}}.get(name, {"body": "body4"})
    function = mb.jax_function(system, name, **given)
    x = {"q": q, "v": v, "tau": tau, "vdot": rng.normal(size=system.nv)}
    dx = {key: rng.normal(size=system.nv) for key in x}

    def expected(x):
        if name == "hybrid_dynamics":
            rest = {key: x[key] for key in ("tau", "vdot")}
            return np.hstack(system.hybrid_dynamics(x["q"], x["v"], **rest, **held))
        at = [x[key] for key in OTHERS[name]]
        return getattr(system, name)(*given.values(), *at)

    def whole(*at):
        found = function(*at)
        return jax.numpy.hstack(found) if name == "hybrid_dynamics" else found

    at = [x[key] for key in OTHERS[name]]
    assert np.array_equal(jax.jit(whole)(*at), expected(x))
    tangents = [system.position_rates(q, dx["q"]), *(dx[key] for key in OTHERS[name][1:])]
    exact = complex_rate(system, name, dict(zip(OTHERS[name], at, strict=True)), tangents, **given)
    found = jax.jvp(whole, tuple(at), tuple(tangents))[1]
    assert np.abs(found - exact).max() < ASKED * np.abs(exact).max()
    slopes = jax.jacrev(whole)
    many = np.array([q, system.retract(q, 0.1 * dx["q"])])
    rows = jax.jit(jax.vmap(slopes, in_axes=(0, *[None] * (len(at) - 1))))(many, *at[1:])
    for row, each in zip(rows, many, strict=True):
        assert np.allclose(row, slopes(each, *at[1:]), rtol=1e-12, atol=1e-12)


def test_batches_are_one_call_each(system):
    rng = np.random.default_rng(3)
    q, v, x = map(np.array, zip(*(state_of(rng, system) for _ in range(4)), strict=True))
    function = mb.jax_function(system, "forward_dynamics")
    rows = jax.jit(jax.vmap(function))(q, v, x)
    assert np.allclose(rows, [function(*each) for each in zip(q, v, x, strict=True)], rtol=1e-14)
    gradient = jax.grad(lambda q, v, x: (function(q, v, x) ** 2).sum())
    found = jax.jit(jax.vmap(gradient, in_axes=(0, None, None)))(q, v[0], x[0])
    assert np.allclose(found[2], gradient(q[2], v[0], x[0]), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize("example", [four_bar, spatial_slider_crank])
def test_closed_mechanisms(example):
    """Along motions that keep loops closed, with and without redundant rows; batches."""
    rng = np.random.default_rng(5)
    mechanism = example.build()
    first = next(iter(mechanism.joints))
    mechanism.add_force(mb.ForceFunction("push", lambda t, q, v: np.sin(t) * v, joints=first))
    closed = mechanism.assemble()
    function = mb.jax_function(closed, "forward_dynamics")
    q = closed.close_loops(closed.reference_configuration())
    tau, du = rng.normal(size=(2, closed.nv))

    def allowed(q):
        A = closed.constraint_jacobian(q)
        return np.eye(closed.nv) - np.linalg.pinv(A, rcond=1e-9) @ A

    w, y = rng.normal(size=(2, closed.nv))
    dx = allowed(q) @ w

    def state(e):
        near = closed.close_loops(closed.retract(q, e * dx))
        return near, allowed(near) @ y

    def moved(e):
        near, v = state(e)
        vdot = closed.forward_dynamics(near, v, tau + e * du, t=0.3 + e)
        return np.array([vdot, v, closed.difference(q, near)])

    rate, speeds, places = derivative(moved)
    v = state(0.0)[1]
    assert np.array_equal(function(q, v, tau, 0.3), closed.forward_dynamics(q, v, tau, t=0.3))
    tangents = closed.position_rates(q, places), speeds, du, 1.0
    found = jax.jit(lambda *x: jax.jvp(function, x, tangents)[1])(q, v, tau, 0.3)
    assert np.abs(found - rate).max() < ASKED * np.abs(rate).max()
    many = jax.vmap(jax.jacrev(function, argnums=2), in_axes=(None, 0, None))
    rows = many(q, np.array([v, 2.0 * v]), tau)
    own = closed.derivatives("forward_dynamics", q, v, tau, by="tau")["tau"]
    assert np.allclose(rows, own, rtol=1e-10)  # whatever the velocity is
    for name in ("inverse_dynamics", "bias_force"):
        with pytest.raises(mb.UsageError, match="is of trees"):
            mb.jax_function(closed, name)


def arm():
    """Return an arm with a ball joint, in any frames, with a spring and a free place."""
    rng = np.random.default_rng(11)
    mechanism = mb.Mechanism("arm", gravity=(1.0, -2.0, -9.0))
    upper, lower = (mechanism.add_body(mb.Body(n, random_inertia(rng))) for n in ("upper", "lower"))
    mechanism.add_joint(
        mb.SphericalJoint("shoulder"), mechanism.world, upper,
        frames=(random_pose(rng), random_pose(rng)),
    )  # fmt: skip
    mechanism.add_joint(
        mb.RevoluteJoint("elbow", axis=(1, 2, 2)), upper, lower,
        frames=(random_pose(rng), random_pose(rng)),
    )  # fmt: skip
    mechanism.add_force(mb.JointSpring("spring", "elbow", stiffness=30.0))
    return mechanism.assemble()


#: Numbers, entries, arrays, a symmetric matrix and a pose.
FREE = (
    "bodies.lower.mass", "bodies.lower.com[1]", "gravity", "bodies.upper.moment_about_com",
    "joints.elbow.S_pred", "forces.spring.stiffness",
)  # fmt: skip


def moved(value, rate, e):
    """Return a parameter after a move: a pose along a twist, others along a straight line."""
    return value @ SE3.exp(e * rate) if value.shape == (4, 4) else value + e * rate


@pytest.mark.parametrize(
    "name", ["forward_dynamics", "inverse_dynamics", "hybrid_dynamics", "bias_force", "mass_matrix"]
)
def test_parameters_are_arguments(name):
    """Values and derivatives are those of a system that has them; a batch mixes two sets."""
    rng = np.random.default_rng(12)
    system = arm()
    q, v, x = state_of(rng, system)
    held = {"prescribed": ["elbow"]} if name == "hybrid_dynamics" else {}
    function = mb.jax_function(system, name, parameters=FREE, **held)
    whole = system.parameters
    start = [np.asarray(whole[path.partition("[")[0]])[()] for path in FREE]
    start[1] = start[1][1]
    twist, inertia = rng.normal(size=6), 0.01 * rng.normal(size=(3, 3))
    rates = [0.3, 0.2, rng.normal(size=3), inertia + inertia.T, twist, 2.0]
    vectors = {
        "forward_dynamics": (q, v, x), "inverse_dynamics": (q, v, x),
        "hybrid_dynamics": (q, v, x, rng.normal(size=system.nv)), "bias_force": (q, v),
        "mass_matrix": (q,),
    }[name]  # fmt: skip

    def put(numbers):
        com = whole["bodies.lower.com"].copy()
        com[1] = numbers[1]
        named = dict(zip((path.partition("[")[0] for path in FREE), numbers, strict=True))
        return system.with_parameters(named | {"bodies.lower.com": com})

    def of(numbers):
        other = put(numbers)
        if name == "hybrid_dynamics":
            return np.hstack(other.hybrid_dynamics(q, v, tau=x, vdot=vectors[3], **held))
        return getattr(other, name)(*vectors)

    def called(*at):
        found = function(*at)
        return jax.numpy.hstack(found) if held else found

    def after(e):
        return [moved(value, rate, e) for value, rate in zip(start, rates, strict=True)]

    assert np.array_equal(jax.jit(called)(*vectors, *start), of(start))
    assert np.array_equal(called(*vectors, *after(0.5)), of(after(0.5)))
    exact = derivative(lambda e: of(after(e)))
    tangents = [np.zeros(each.shape) for each in vectors]
    screw = np.zeros((4, 4))
    screw[:3, :3], screw[:3, 3] = SO3.ad(twist[:3]), twist[3:]
    along = [np.asarray(rate, dtype=float) for rate in rates]
    along[4] = start[4] @ screw
    found = jax.jvp(called, (*vectors, *start), (*tangents, *along))[1]
    assert np.abs(found - exact).max() < ASKED * np.abs(exact).max()
    weights = rng.normal(size=exact.shape)
    numbers = tuple(range(len(vectors), len(vectors) + len(FREE)))
    gradient = jax.grad(lambda *at: (weights * called(*at)).sum(), argnums=numbers)
    back = gradient(*vectors, *start)
    power = sum((a * np.asarray(b)).sum() for a, b in zip(back, along, strict=True))
    assert abs(power - (weights * exact).sum()) < ASKED * np.abs(weights * exact).sum()
    # samples of two sets, in turn, with q of their own
    sets = [after(0.0), after(0.2), after(0.0)]
    rows = [np.array(column) for column in zip(*sets, strict=True)]
    axes = (None,) * len(vectors) + (0,) * len(FREE)
    many = jax.jit(jax.vmap(called, in_axes=axes))(*vectors, *rows)
    for row, each in zip(many, sets, strict=True):
        assert np.array_equal(row, of(each))
    slopes = jax.vmap(gradient, in_axes=axes)(*vectors, *rows)
    for column, own in zip(slopes, back, strict=True):
        assert np.allclose(column[2], own, rtol=1e-12, atol=1e-12)


def test_parameters_of_a_closed_mechanism_and_time():
    """The mass of a rocker of a linkage, and a place in it, with the time after them."""
    mechanism = spatial_slider_crank.build()
    first = next(iter(mechanism.joints))
    mechanism.add_force(mb.ForceFunction("push", lambda t, q, v: np.sin(t) * v, joints=first))
    closed = mechanism.assemble()
    body = closed.body_names[-1]
    function = mb.jax_function(
        closed, "forward_dynamics", parameters={f"bodies.{body}.mass": "m", "gravity": "g"}
    )
    rng = np.random.default_rng(13)
    q = closed.close_loops(closed.reference_configuration())
    v = closed.consistent_velocity({}, q, rng.normal(size=closed.nv))
    tau, g = rng.normal(size=closed.nv), np.array(closed.gravity)
    m = closed.parameters[f"bodies.{body}.mass"]

    def of(mass):
        other = closed.with_parameters({f"bodies.{body}.mass": mass})
        return other.forward_dynamics(q, v, tau, t=0.3)

    assert np.array_equal(function(q, v, tau, m, g, 0.3), of(m))
    assert np.array_equal(function(q, v, tau, 1.5 * m, g, t=0.3), of(1.5 * m))
    found = jax.jacrev(function, argnums=3)(q, v, tau, m, g, 0.3)
    exact = derivative(lambda e: of(m + e))
    assert np.abs(found - exact).max() < ASKED * np.abs(exact).max()


def test_parameters_that_cannot_be_arguments_are_named(system):
    with pytest.raises(mb.NameUnknownError, match=r"bodies\.body4\.mass"):
        mb.jax_function(system, "mass_matrix", parameters=["bodies.body4.mas"])
    with pytest.raises(mb.UsageError, match="casadi_function"):
        mb.jax_function(system, "pose", body="body4", parameters=["bodies.body4.mass"])
    two = ("bodies.body3.mass", "bodies.body4.mass")
    with pytest.raises(mb.UsageError, match="different labels"):
        mb.jax_function(system, "mass_matrix", parameters=dict.fromkeys(two, "m"))
    with pytest.raises(mb.UsageError, match="cannot have the label 'tau'"):
        mb.jax_function(system, "mass_matrix", parameters={two[0]: "tau"})
    function = mb.jax_function(system, "mass_matrix", parameters=two[:1])
    with pytest.raises(mb.UsageError, match=r"takes \(q, bodies\.body3\.mass\), got 1"):
        function(np.zeros(system.nq))


def test_refusals(system):
    q, v, x = state_of(np.random.default_rng(4), system)
    function = mb.jax_function(system, "bias_force")
    assert np.array_equal(function(q, v), system.bias_force(q, v))
    with pytest.raises(mb.UsageError, match="casadi_function"):
        jax.hessian(lambda q: function(q, v).sum())(q)
    with pytest.raises(mb.UsageError, match="must have shape"):
        function(q, v[:2])
    with pytest.raises(mb.UsageError, match="3 arguments"):
        function(q, v, x)
    with pytest.raises(mb.UsageError, match="forward_dynamics"):
        mb.jax_function(system, "mass")
    with pytest.raises(mb.UsageError, match="needs body; give body='body4'"):
        mb.jax_function(system, "pose")
    with pytest.raises(mb.UsageError, match="takes no body"):
        mb.jax_function(system, "mass_matrix", body="body4")
    with pytest.raises(mb.NameUnknownError, match="body4"):
        mb.jax_function(system, "pose", body="body44")
    with pytest.raises(mb.NameUnknownError, match="joint"):
        mb.jax_function(system, "hybrid_dynamics", prescribed=["joint44"])
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(mb.UsageError, match="jax_enable_x64"):
        function(q, v)
    with pytest.raises(mb.UsageError, match="jax_enable_x64"):
        mb.jax_function(system, "bias_force")
