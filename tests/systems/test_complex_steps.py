"""Every derivative of the dynamics against complex steps: a tree of six bodies, closed mechanisms.

A complex step has no error but rounding (`tests.systems.complex_steps`).
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import bricard, four_bar, spatial_slider_crank, stewart_platform
from tests.forces.cases import every_force, tree
from tests.systems.complex_steps import ComplexEvaluation
from tests.trees import random_mechanism, random_state

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

KINDS = ("universal", "composite", "constant velocity", "spherical", "planar, first kind", "angles")

#: What is asked of derivatives, of the largest entry.
ASKED = 1e-10


def assert_close(found, expected, tolerance=ASKED):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * np.abs(expected).max())


def forces(mech):
    """Add smooth forces of most kinds; `push` is in Python."""
    rng = np.random.default_rng(71)
    joint = next(n for n, edge in mech.joints.items() if edge.joint.num_velocities == 3)
    for force in (
        mb.JointDamper("damper", joint, damping=0.3),
        mb.SpringDamper(
            "pair", "body1", "body4", stiffness=12.0, rest_length=0.4, damping=0.6,
            point_a=rng.normal(size=3), point_b=rng.normal(size=3),
        ),
        mb.Drag("drag", "body5", linear=0.4, quadratic=0.3, point=rng.normal(size=3)),
        mb.BodyWrench("thrust", "body2", wrench=rng.normal(size=6), axes="body"),
        mb.UniformField("field", acceleration=rng.normal(size=3)),
        mb.ForceFunction("push", lambda t, q, v: np.sin(3.0 * t + q[:3]) * v, joints=joint),
    ):  # fmt: skip
        mech.add_force(force)
    return mech


@pytest.fixture(
    scope="module", params=[pytest.param("without forces", marks=pytest.mark.long), "with forces"]
)
def case(request):
    """A tree of six joints with several velocities, its state as a dict, and the time."""
    rng = np.random.default_rng(70)
    mech = random_mechanism(rng, 6, KINDS, turned_round=0.5)
    system = (forces(mech) if request.param == "with forces" else mech).assemble()
    s = random_state(rng, system)
    return system, {"q": s.q, "v": s.v, "vdot": s.vdot, "tau": s.tau}, 0.45


#: Of the tree; those of forces where it has some.
PARAMETERS = (
    "gravity", "bodies.body2.mass", "bodies.body5.com", "joints.joint3.S_pred[0,3]",
    "joints.joint3.S_pred[1,3]", "joints.joint3.S_pred[2,3]", "forces.pair.stiffness",
    "forces.pair.damping", "forces.drag.quadratic", "forces.thrust.wrench[0,4]",
)  # fmt: skip


def entries(system, found, name):
    """Return the derivatives by one input, or by the entry of one; positions of places move alone.

    By a place there are derivatives along the axes of the joint.
    """
    path, _, index = name.partition("[")
    if not index:
        return found[name]
    row, column = map(int, index.rstrip("]").split(","))
    if path.endswith("S_pred"):
        return found[path][:, 3:] @ np.asarray(system.parameters[path])[row, :3]
    return found[path][:, row, column]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param("inverse_dynamics", marks=pytest.mark.long), "forward_dynamics"]
)
def test_dynamics_by_state_time_and_parameters(case, name):
    system, given, t = case
    free = [p for p in PARAMETERS if system.forces or not p.startswith("forces.")]
    third = {"inverse_dynamics": "vdot", "forward_dynamics": "tau"}[name]
    inputs, paths = ("q", "v", third), dict.fromkeys(p.partition("[")[0] for p in free)
    found = system.derivatives(
        name,
        *(given[n] for n in inputs[:2]),
        **{third: given[third]},
        by=(*inputs, "t", *paths),
        t=t,
    )
    exact = ComplexEvaluation(system, name, free)
    for each in (*inputs, "t", *free):
        own, expected = entries(system, found, each), exact.by(given, each, t)
        # of the largest entry by the whole parameter; without forces nothing depends on time
        size = np.abs(found[each.partition("[")[0]]).max() or 1.0
        assert np.abs(own.reshape(expected.shape) - expected).max() <= ASKED * size, each
    q, v = given["q"], given["v"]
    compiled = (
        system.inverse_dynamics_derivatives(q, v, given["vdot"], t=t)
        if third == "vdot"
        else system.forward_dynamics_derivatives(q, v, given["tau"], t=t)
    )
    for own, each in zip(compiled, inputs, strict=False):
        assert_close(own, exact.by(given, each, t))


@pytest.mark.slow
def test_matrices_and_forces(case):
    system, given, t = case
    q, v = given["q"], given["v"]
    mass = ComplexEvaluation(system, "mass_matrix").by(given, "q")
    M = np.linalg.inv(system.mass_matrix(q))
    assert_close(system.mass_matrix_derivatives(q), mass)
    expected = -np.einsum("ij,jkl,km->iml", M, mass, M)
    assert_close(system.inverse_mass_matrix_derivatives(q), expected)
    assert_close(system.mass_matrix_rate(q, v), mass @ v)
    if system.forces:
        exact = ComplexEvaluation(system, "generalized_forces")
        for own, name in zip(system.force_derivatives(q, v, t), "qv", strict=True):
            assert_close(own, exact.by(given, name, t))


@pytest.mark.slow
def test_forces_on_dual_numbers():
    """Each force of mbkit, between bodies with each kind of joint that dual numbers know."""
    rng = np.random.default_rng(73)
    mech, single = tree(rng)
    forces = every_force(rng, mech, single)
    joints = ("revolute", "planar", "universal", "translational", "constant velocity", "angles")
    other = random_mechanism(rng, 8, joints)
    a, b, c = list(other.bodies)[2:8:2]
    between = [
        mb.Bushing("bushing", a, c, stiffness=range(1, 7), damping=range(1, 7)),
        mb.Drag("drag", b, linear=0.3, quadratic=0.4, wind=(0.1, 0.2, 0.3)),
    ]
    for mechanism, acting in ((mech, forces), (other, between)):
        system = mechanism.assemble().with_forces(acting)
        state = random_state(rng, system)
        given, t = {"q": state.q, "v": state.v}, 0.4
        exact = ComplexEvaluation(system, "generalized_forces")
        for own, name in zip(system.force_derivatives(state.q, state.v, t), "qv", strict=True):
            expected = exact.by(given, name, t)
            assert np.abs(own - expected).max() < 1e-13 * np.abs(expected).max(), name


@pytest.mark.slow
def test_second_derivatives_of_inverse_dynamics(case):
    """Along random moves of q and v together."""
    system, given, _ = case
    moves = dict(zip("qv", np.random.default_rng(72).normal(size=(2, 6, system.nv)), strict=True))
    exact = ComplexEvaluation(system, "inverse_dynamics").second(given, moves)
    d_qq, d_vv, d_qv, _ = system.inverse_dynamics_second_derivatives(
        given["q"], given["v"], given["vdot"], t=0.0
    )
    x, w = moves["q"], moves["v"]
    parts = [
        np.einsum("ijk,aj,ak->ai", d, a, b)
        for d, a, b in ((d_qq, x, x), (d_vv, w, w), (2.0 * d_qv, x, w))
    ]
    assert_close(sum(parts), exact)


# -------------------------------------------------------------------------- closed mechanisms

CLOSED = {
    "four-bar": (four_bar, "bodies.coupler"),
    "slider-crank": (spatial_slider_crank, "bodies.rod"),
    "Bricard": (bricard, None),
    "Stewart platform": (stewart_platform, "bodies.platform"),
}


def closed(name):
    """Return a closed mechanism with a spring and a damper, and a state that is closed.

    The length that scales its rows is given; else it would depend on centres of mass.
    """
    example, body = CLOSED[name]
    mech = example.build()
    joints = [n for n, edge in mech.joints.items() if edge.joint.num_velocities == 1]
    mech.add_force(mb.JointSpring("spring", joints[0], stiffness=7.0, rest=0.2))
    mech.add_force(mb.JointDamper("damper", joints[0], damping=0.4))
    system = mech.assemble(mb.RelativeCoordinates(length=1.0))
    rng = np.random.default_rng(73)
    q = system.close_loops(
        system.retract(system.reference_configuration(), 0.1 * rng.normal(size=system.ndx))
    )
    N = allowed(system.constraint_jacobian(q))
    state = {"q": q, "v": N @ rng.normal(size=N.shape[1]), "tau": rng.normal(size=system.nv)}
    return system, state, body or f"bodies.{system.body_names[2]}"


def allowed(A):
    """Return a basis of the velocities with A v = 0."""
    _, sizes, right = np.linalg.svd(A)
    return right[np.count_nonzero(sizes > 1e-9 * sizes[0]) :].T


def moves_of(system, given):
    """Return moves of q and v on which loops stay closed, one column of both for each freedom."""
    A = ComplexEvaluation(system, "constraint_jacobian")
    value, _ = A(given, {})
    x = allowed(value).T
    steps = system.position_rates(given["q"], x)
    turned = A(given, {"q": steps})[1]
    w = -(turned @ given["v"]) @ np.linalg.pinv(value, rcond=1e-9).T
    still = np.zeros_like(x)
    return {"q": np.vstack([x, still]), "v": np.vstack([w, x])}, A


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["four-bar", *(pytest.param(n, marks=pytest.mark.long) for n in list(CLOSED)[1:])]
)
def test_closed_mechanisms(name):
    """Accelerations, and the reactions A^T multipliers, which redundant rows leave unique too."""
    system, given, body = closed(name)
    free = ("gravity", f"{body}.mass", f"{body}.com", "forces.spring.stiffness",
            "forces.damper.damping")  # fmt: skip
    exact = ComplexEvaluation(system, "forward_dynamics", free)
    closing, jacobian = moves_of(system, given)
    by = ("q", "v", "tau", *free)
    found = system.derivatives("forward_dynamics", *(given[n] for n in ("q", "v", "tau")), by=by)
    vdot, lambdas = found.values["vdot"], found.values["multipliers"]
    A = jacobian(given, {})[0]

    def check(own, multipliers, moves):
        """Compare what both say along moves, arrays (moves, ...)."""
        _, expected = exact(given, moves)
        assert_close(own, expected)
        terms = {n: ComplexEvaluation(system, n, [p for p in free if p in moves])
                 for n in ("mass_matrix", "bias_force", "generalized_forces")}  # fmt: skip
        M = terms["mass_matrix"](given, moves)
        sum_of_rates = M[1] @ vdot + expected @ M[0] + terms["bias_force"](given, moves)[1]
        sum_of_rates = sum_of_rates - terms["generalized_forces"](given, moves)[1]
        sum_of_rates = sum_of_rates - moves.get("tau", 0.0)
        turned = jacobian(given, {n: moves[n] for n in "q" if n in moves})[1]
        reactions = lambdas @ turned + multipliers @ A
        size = max(np.abs(sum_of_rates).max(), np.abs(M[0]).max() * np.abs(expected).max())
        assert np.abs(reactions - sum_of_rates).max() <= ASKED * size

    x, w = closing["q"], closing["v"]
    steps = system.position_rates(given["q"], x)
    along = [each["q"] @ x.T + each["v"] @ w.T for each in (found.vdot, found.multipliers)]
    check(along[0].T, along[1].T, {"q": steps, "v": w})
    check(found.vdot["tau"].T, found.multipliers["tau"].T, {"tau": np.eye(system.nv)})
    for each in free:
        own = [part[each].reshape((part[each].shape[0], -1)).T
               for part in (found.vdot, found.multipliers)]  # fmt: skip
        check(*own, {each: np.eye(len(own[0]))})
