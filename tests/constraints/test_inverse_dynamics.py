"""Inverse dynamics of closed mechanisms: the efforts that give a motion, and which of many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import mbkit as mb
from tests.constraints.closed_mechanisms import assembled, cycle, four_bar, hinge, stewart
from tests.constraints.loops import mobile_loops
from tests.every_representation import each_representation

FIVE = {
    "A": (0, 0, 0),
    "B": (-0.3, 0, 0.5),
    "C": (0.4, 0, 0.9),
    "D": (1.0, 0, 0.6),
    "E": (0.8, 0, 0),
}


def five_bar(representation=None):
    """A planar five-bar with two freedoms, cut at C."""
    y = (0, 1, 0)
    mech = cycle("five-bar", list(FIVE.values()), [hinge(name, p, y) for name, p in FIVE.items()])
    chosen = mb.BodyFixed() if representation is None else representation
    return assembled(mech, "C", representation=chosen)


def moving(system, names, seed):
    """A closed configuration near the reference, and a motion by some of its joints."""
    rng = np.random.default_rng(seed)
    q = system.close_loops(system.reference_configuration() + 0.1 * rng.normal(size=system.nq))
    v = system.dependent_velocity(q, dict(zip(names, rng.normal(size=len(names)), strict=True)))
    gains = dict(zip(names, rng.normal(size=len(names)), strict=True))
    return q, v, system.dependent_acceleration(q, v, gains)


@pytest.mark.some(4)
@each_representation
def test_exactly_actuated_random_mechanisms(representation):
    """The efforts are those of virtual power, and forward dynamics gives the motion back."""
    rng = np.random.default_rng(11)
    system, q = mobile_loops(rng, 9, ("revolute", "cylindrical"), representation)
    _, sizes, Vt = np.linalg.svd(system.constraint_jacobian(q))
    N = Vt[int((sizes > 1e-8).sum()) :].T
    chosen: list[int] = []
    for k in rng.permutation(system.nv):
        if np.linalg.matrix_rank(N[[*chosen, k]], tol=0.05) > len(chosen):
            chosen.append(int(k))
    names = [system.velocity_names[k] for k in chosen]
    v = system.dependent_velocity(q, dict.fromkeys(names, 0.4))
    vdot = system.dependent_acceleration(q, v, dict.fromkeys(names, -0.7))
    wrenches, tau = rng.normal(size=(len(system.body_names), 6)), rng.normal(size=system.nv)
    tau[chosen] = 0.0
    found = system.closed_inverse_dynamics(q, v, vdot, actuated=names, tau=tau, wrenches=wrenches)
    needed = system.inverse_dynamics(q, v, vdot, wrenches)
    A = system.constraint_jacobian(q)
    np.testing.assert_allclose(
        needed, tau + found.efforts + A.T @ found.multipliers, atol=1e-9 * np.abs(needed).max()
    )
    virtual = np.linalg.solve(N[chosen].T, N.T @ (needed - tau))
    np.testing.assert_allclose(found.efforts[chosen], virtual, rtol=1e-8, atol=1e-8)
    passive = np.delete(np.arange(system.nv), chosen)
    np.testing.assert_array_equal(found.efforts[passive], 0.0)
    assert found.unique
    back, multipliers = system.solve_dynamics(q, v, tau + found.efforts, wrenches)
    np.testing.assert_allclose(back, vdot, atol=1e-7)
    np.testing.assert_allclose(multipliers, found.multipliers, atol=1e-6)


ALL = ["A", "B", "D", "E"]


@pytest.mark.some(2)
@each_representation
@pytest.mark.parametrize("weights", [None, {"B": 9.0, "E": 0.25}], ids=["plain", "weighed"])
def test_redundantly_actuated_five_bar_has_least_efforts(representation, weights):
    """Against a general optimiser, under M vdot + b = tau + A^T lambda for all (tau, lambda)."""
    system = five_bar(representation)
    q, v, vdot = moving(system, ["A", "E"], 3)
    actuated = ["A", "B", "E"]
    found = system.closed_inverse_dynamics(
        q, v, vdot, actuated=actuated, minimise="effort" if weights is None else weights
    )
    assert found.redundancy == 1
    assert not found.unique
    A, needed = system.constraint_jacobian(q), system.inverse_dynamics(q, v, vdot)
    entries = [system.velocity_names.index(name) for name in actuated]
    w = np.array([(weights or {}).get(name, 1.0) for name in actuated])
    B = np.zeros((system.nv, len(entries)))
    B[entries, range(len(entries))] = 1.0
    plane = A[np.abs(A).max(axis=1) > 1e-9]  # rows that a plane mechanism does not feel are zero
    equations = np.c_[B, plane.T]
    best = minimize(
        lambda x: w @ x[: len(entries)] ** 2,
        np.zeros(equations.shape[1]),
        jac=lambda x: np.r_[2.0 * w * x[: len(entries)], np.zeros(len(plane))],
        constraints={
            "type": "eq", "fun": lambda x: equations @ x - needed, "jac": lambda _: equations
        },
        method="SLSQP", options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    assert best.success
    np.testing.assert_allclose(found.efforts[entries], best.x[: len(entries)], rtol=1e-5, atol=1e-6)
    # stationary: the gradient is a combination of the equations' rows that no multiplier feels
    H = system.constrained_jacobian(q, ["A", "E"])
    gradient = w * found.efforts[entries]
    rest = np.linalg.lstsq(H[entries], gradient, rcond=None)[0]
    np.testing.assert_allclose(H[entries] @ rest, gradient, atol=1e-9)


def test_least_multipliers_and_least_efforts():
    """Each is the least of its own kind, among efforts that all give the motion."""
    system = five_bar()
    q, v, vdot = moving(system, ["A", "E"], 4)
    choices = ("effort", "constraint", {"A": 100.0})
    found = [
        system.closed_inverse_dynamics(q, v, vdot, actuated=ALL, minimise=each) for each in choices
    ]
    for each in found:
        assert each.redundancy == 2
        back = system.forward_dynamics(q, v, each.efforts)
        np.testing.assert_allclose(back, vdot, atol=1e-9)
    efforts = [np.linalg.norm(each.efforts) for each in found]
    multipliers = [np.linalg.norm(each.multipliers) for each in found]
    assert efforts[0] < min(efforts[1:]) - 1e-3
    assert multipliers[1] < multipliers[0] - 1e-3
    assert multipliers[1] < multipliers[2] - 1e-3
    # all actuated: the constraints need do nothing; or the efforts are what no constraint can do
    A, needed = system.constraint_jacobian(q), system.inverse_dynamics(q, v, vdot)
    np.testing.assert_array_equal(found[1].multipliers, 0.0)
    np.testing.assert_allclose(found[0].multipliers, np.linalg.pinv(A.T, 1e-9) @ needed, atol=1e-10)


def test_stewart_platform_by_power():
    """The legs' forces times their speeds are the rate of the energy along the motion."""
    system = assembled(stewart(), *(f"top {k}" for k in range(1, 6)))
    legs = [f"leg {k}" for k in range(6)]
    rng = np.random.default_rng(8)
    amplitudes, phases = 0.05 * rng.normal(size=6), rng.normal(size=6)
    t = 0.3 + 1e-3 * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    motion = {
        leg: (a * np.sin(2 * t + p), 2 * a * np.cos(2 * t + p), -4 * a * np.sin(2 * t + p))
        for leg, a, p in zip(legs, amplitudes, phases, strict=True)
    }
    q, v, vdot = system.closed_motion(motion)
    found = system.closed_inverse_dynamics(q, v, vdot, actuated=legs)
    assert found.unique.all()
    energy = system.kinetic_energy(q, v) + system.potential_energy(q)
    rate = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) @ energy / 12e-3
    np.testing.assert_allclose(found.efforts[2] @ v[2], rate, rtol=1e-8)
    # and each leg by itself, by virtual power in its own direction
    H = system.constrained_jacobian(q[2], legs)
    entries = [system.velocity_names.index(leg) for leg in legs]
    needed = system.inverse_dynamics(q[2], v[2], vdot[2])
    np.testing.assert_allclose(found.efforts[2][entries], H.T @ needed, rtol=1e-9)


def test_too_few_actuators_are_said_so_by_joint():
    system = five_bar()
    q, v, vdot = moving(system, ["A", "E"], 5)
    with pytest.raises(mb.ConstraintError, match="no efforts of 'A' give this motion") as caught:
        system.closed_inverse_dynamics(q, v, vdot, actuated=["A"])
    assert "missing at passive joints" in str(caught.value)
    # but a motion that a motor at A does make needs only it
    tau = np.zeros(system.nv)
    tau[system.velocity_slice("A")] = 2.5
    free = system.forward_dynamics(q, v, tau)
    found = system.closed_inverse_dynamics(q, v, free, actuated=["A"])
    np.testing.assert_allclose(found.efforts, tau, atol=1e-8)
    assert found.redundancy == 0


def test_efforts_of_passive_joints_by_name():
    """A spring in a passive joint takes its part."""
    system = assembled(four_bar())
    q, v, vdot = moving(system, ["A"], 6)
    bare = system.closed_inverse_dynamics(q, v, vdot, actuated=["A"]).efforts
    held = system.closed_inverse_dynamics(q, v, vdot, actuated=["A"], tau={"B": 3.0}).efforts
    H = system.constrained_jacobian(q, ["A"])[:, 0]
    np.testing.assert_allclose(bare[0] - held[0], 3.0 * H[system.velocity_slice("B")], rtol=1e-9)


def test_motions_that_cannot_be_are_refused():
    system = assembled(four_bar())
    q, v, vdot = moving(system, ["A"], 7)
    for place, level in ((1, "velocity"), (2, "acceleration")):
        state = [q, v, vdot]
        state[place] = state[place] + np.array([0.1, 0.0, 0.0])
        with pytest.raises(mb.ConstraintError, match=f"at {level} level 'D"):
            system.closed_inverse_dynamics(*state, actuated=["A"])
    with pytest.raises(mb.ConstraintError, match="at position level 'D"):
        system.closed_inverse_dynamics(q + 0.1 * np.eye(3)[0], v, vdot, actuated=["A"])


def test_samples():
    """Many at once are the same as one by one; one that fails is NaN or named."""
    system = five_bar()
    states = [moving(system, ["A", "E"], seed) for seed in range(3)]
    q, v, vdot = (np.array(part) for part in zip(*states, strict=True))
    found = system.closed_inverse_dynamics(q, v, vdot, actuated=["A", "E"])
    for k, state in enumerate(states):
        one = system.closed_inverse_dynamics(*state, actuated=["A", "E"])
        np.testing.assert_allclose(found.efforts[k], one.efforts, rtol=1e-12)
    v[1, 0] += 0.1
    with pytest.raises(mb.ConstraintError) as caught:
        system.closed_inverse_dynamics(q, v, vdot, actuated=["A", "E"])
    assert "sample [1]" in caught.value.__notes__[0]
    found = system.closed_inverse_dynamics(q, v, vdot, actuated=["A", "E"], on_error="nan")
    assert np.isnan(found.efforts[1]).all()
    np.testing.assert_array_equal(found.redundancy, [0, -1, 0])


def test_a_tree_is_inverse_dynamics():
    mech = mb.Mechanism("pendulum")
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.box(1.0, size=(0.3, 0.2, 0.1))))
    mech.add_joint(mb.SphericalJoint("ball", point=(0.2, 0, 0)), mech.world, bob)
    system = mech.assemble()
    q, v, vdot = system.reference_configuration(), [1.0, 2.0, 3.0], [0.3, 0.2, 0.1]
    found = system.closed_inverse_dynamics(q, v, vdot, actuated=["ball"])
    np.testing.assert_allclose(found.efforts, system.inverse_dynamics(q, v, vdot), rtol=1e-12)
    assert found.multipliers.shape == (0,)
    with pytest.raises(mb.ConstraintError, match="no efforts of no joint"):
        system.closed_inverse_dynamics(q, v, vdot, actuated=[])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"minimise": "torque"}, "minimise must be"),
        ({"minimise": {"A": -1.0}}, "positive"),
        ({"minimise": {"B": 1.0}}, "no actuator"),
        ({"actuated": "AA"}, "no joint 'AA'"),
        ({"actuated": ["D"]}, "closes a loop"),
        ({"actuated": [1]}, "names of joints"),
    ],
)
def test_wrong_options(options, words):
    system = assembled(four_bar())
    given = {"actuated": ["A"], **options}
    with pytest.raises(mb.MbkitError, match=words):
        system.closed_inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), **given)
