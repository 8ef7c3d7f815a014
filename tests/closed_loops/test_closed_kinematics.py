"""Kinematics of closed mechanisms from independent coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.closed_mechanisms import assembled, four_bar, parallelogram, stewart
from tests.constraints.driven import driven
from tests.constraints.loops import closed, closed_chain, consistent, random_loops
from tests.every_representation import each_representation


def posed(mech, seed, *cut):
    """A system, and a closed configuration away from the reference."""
    system = assembled(mech, *cut)
    rng = np.random.default_rng(seed)
    away = system.retract(system.reference_configuration(), 0.1 * rng.normal(size=system.nv))
    q = system.close_loops(away)
    return system, q


@pytest.mark.some(2)
@each_representation
def test_jacobian_gives_all_motions_that_the_constraints_allow(representation):
    """A H = 0, the independent rows are the identity, and there are no other motions."""
    rng = np.random.default_rng(5)
    mech, q, loops = random_loops(rng, 9, ("revolute", "cylindrical"))
    system = closed(mech, loops, representation)
    A = system.constraint_jacobian(q)
    freedoms = system.nv - np.linalg.matrix_rank(A, tol=1e-8)
    _, _, Vt = np.linalg.svd(A)
    N = Vt[-freedoms:].T
    # velocities that determine the motion: pivots of the null space
    chosen: list[int] = []
    for k in rng.permutation(system.nv):
        if np.linalg.matrix_rank(N[[*chosen, k]], tol=0.05) > len(chosen):
            chosen.append(int(k))
    names = [system.velocity_names[k] for k in chosen]
    assert len(names) == freedoms
    H = system.constrained_jacobian(q, names)
    np.testing.assert_allclose(H[chosen], np.eye(freedoms), atol=1e-12)
    np.testing.assert_allclose(H, N @ np.linalg.inv(N[chosen]), atol=1e-9)
    v = system.dependent_velocity(q, dict(zip(names, rng.normal(size=freedoms), strict=True)))
    np.testing.assert_allclose(system.constraint_velocity(q, v), 0.0, atol=1e-12)


@pytest.mark.parametrize("make", [four_bar, lambda: closed_chain()[0]], ids=["plane", "space"])
def test_accelerations_are_the_rates_of_velocities_along_the_motion(make):
    """By fourth-order differences of the closed configurations themselves."""
    mech = make()
    if "last" in mech.joints:
        q = closed_chain()[1]
        system = closed(mech, ("last",))
        A = system.constraint_jacobian(q)
        freedoms = system.nv - np.linalg.matrix_rank(A, tol=1e-8)
        names = _determining(system, q, freedoms)
    else:
        system, q = posed(mech, 1)
        names = ["A"]
    rng = np.random.default_rng(2)
    rates = dict(zip(names, rng.normal(size=len(names)), strict=True))
    gains = dict(zip(names, rng.normal(size=len(names)), strict=True))
    places = {name: q[system.position_names.index(name)] for name in names}
    t = 1e-3 * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    motion = {
        name: (
            places[name] + rates[name] * t + 0.5 * gains[name] * t**2,
            rates[name] + gains[name] * t,
            np.full(5, gains[name]),
        )
        for name in names
    }
    qs, vs, vdots = system.closed_motion(motion, q)
    assert np.abs(system.constraint_residual(qs)).max() < 1e-12
    steps = np.array([system.difference(qs[2], each) for each in qs])
    weights = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12e-3
    for name in names:
        k = system.velocity_names.index(name)
        np.testing.assert_allclose(vs[:, k], motion[name][1], atol=1e-12)
        np.testing.assert_allclose(vdots[:, k], gains[name], atol=1e-12)
    np.testing.assert_allclose(weights @ steps, system.rates(qs[2], vs[2]), atol=1e-8)
    np.testing.assert_allclose(weights @ vs, vdots[2], atol=1e-7)


def _determining(system, q, freedoms):
    """Names of single-velocity joints whose velocities determine the motion well."""
    _, _, Vt = np.linalg.svd(system.constraint_jacobian(q))
    N = Vt[-freedoms:].T
    chosen: list[int] = []
    for name in system.joint_names:
        place = system.velocity_slice(name)
        one = place.stop - place.start == 1
        if one and np.linalg.matrix_rank(N[[*chosen, place.start]], tol=0.05) > len(chosen):
            chosen.append(place.start)
    assert len(chosen) == freedoms
    return [system.velocity_names[k] for k in chosen]


def test_four_bar_in_the_plane():
    """Angular velocities by instant centres: w2/w1 = P12 P14 / P12 P24 and so on, in the plane."""
    system = assembled(four_bar())
    H = system.constrained_jacobian(np.zeros(3), ["A"])
    A, B, C, D = (np.array(p) for p in ((0, 0), (0, 0.3), (0.8, 0.5), (0.9, 0)))

    def turned(x):
        return np.array([x[1], -x[0]])  # about y: z to x

    # w1 turned(B - A) + w2 turned(C - B) = w3 turned(C - D), w1 = 1
    w2, w3 = np.linalg.solve(np.c_[turned(C - B), -turned(C - D)], -turned(B - A))
    np.testing.assert_allclose(H[:, 0], [1.0, w2 - 1.0, w3 - w2], rtol=1e-12)


def test_mass_matrix_of_independent_coordinates():
    """H^T M H is twice the kinetic energy of the bodies, by their twists."""
    system, q = posed(stewart(), 3, *(f"top {k}" for k in range(1, 6)))
    independent = [f"leg {k}" for k in range(6)]
    H = system.constrained_jacobian(q, independent)
    rates = np.random.default_rng(0).normal(size=len(independent))
    v = H @ rates
    np.testing.assert_allclose(
        0.5 * rates @ (H.T @ system.mass_matrix(q) @ H) @ rates,
        system.kinetic_energy(q, v), rtol=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose(system.constraint_velocity(q, v), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], ["do not determine", "'A', 'B', 'C'", "1 more"]),
        (["A", "C"], ["depend on each other", "'A', 'C'", "leave out 1"]),
    ],
    ids=["too few", "too many"],
)
def test_wrong_choices_are_refused_by_name(names, words):
    system = assembled(four_bar())
    with pytest.raises(mb.ConstraintError) as caught:
        system.constrained_jacobian(np.zeros(3), names)
    for word in (*words, "'four-bar'", "1 freedoms"):
        assert word in str(caught.value)


def test_a_dead_point_is_refused_and_other_coordinates_fit():
    """Where crank and coupler are in line the rocker's hinge does not determine the crank."""
    mech = four_bar((0, 0, 0), (1, 0, 0), (3, 0, 0), (3, 0, 1.5))
    system = assembled(mech, "A")
    with pytest.raises(mb.ConstraintError, match="do not determine it: with them held, 'B', 'C'"):
        system.constrained_jacobian(np.zeros(3), ["D"])
    H = system.constrained_jacobian(np.zeros(3), ["B"])
    np.testing.assert_allclose(H[system.velocity_slice("D"), 0], 0.0, atol=1e-12)


def test_change_point_of_a_parallelogram():
    """Two freedoms at the stretched posture, of which one name is not enough."""
    system = assembled(parallelogram())
    with pytest.raises(mb.ConstraintError, match="2 freedoms"):
        system.constrained_jacobian(np.zeros(3), ["A"])
    assert system.constrained_jacobian(np.zeros(3), ["A", "B"]).shape == (3, 2)


def test_names_that_do_not_fit():
    system = assembled(four_bar())
    with pytest.raises(mb.NameUnknownError, match="'D' closes a loop"):
        system.dependent_velocity(np.zeros(3), {"D": 1.0})
    with pytest.raises(mb.NameUnknownError, match="no joint 'E'"):
        system.constrained_jacobian(np.zeros(3), ["E"])
    with pytest.raises(mb.UsageError, match="named twice"):
        system.constrained_jacobian(np.zeros(3), ["A", "A"])
    with pytest.raises(mb.ShapeError, match="broadcast"):
        system.dependent_velocity(np.zeros(3), {"A": np.zeros((2, 3, 2)), "B": np.zeros((5, 1))})
    with pytest.raises(mb.UsageError, match=r"\(position, rate, acceleration\)"):
        system.closed_motion({"A": 1.0})


def test_a_velocity_that_opens_loops_has_no_acceleration():
    system = assembled(four_bar())
    with pytest.raises(mb.ConstraintError, match="velocity level 'D"):
        system.dependent_acceleration(np.zeros(3), [1.0, 0.0, 0.0], {"A": 0.0})
    found = system.dependent_acceleration(
        np.zeros(3), [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], {"A": 1.0}, on_error="nan"
    )
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1], system.constrained_jacobian(np.zeros(3), ["A"])[:, 0])


def test_samples_are_named():
    system = assembled(four_bar())
    v = system.dependent_velocity(np.zeros(3), {"A": [1.0, 2.0]})
    np.testing.assert_allclose(v[1], 2.0 * v[0])
    v[1, 0] += 0.1
    with pytest.raises(mb.ConstraintError) as caught:
        system.dependent_acceleration(np.zeros(3), v, {"A": 0.0})
    assert "sample [1]" in "".join(caught.value.__notes__)


def test_a_tree_needs_all_its_joints():
    mech = mb.Mechanism("tree")
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, arm)
    system = mech.assemble()
    q = system.reference_configuration()
    np.testing.assert_array_equal(system.constrained_jacobian(q, ["ball"]), np.eye(3))
    with pytest.raises(mb.ConstraintError, match=r"'ball\[1\]', 'ball\[2\]'"):
        system.dependent_velocity(q, {"ball[0]": 1.0})


def test_prescribed_joints_are_known():
    """Their velocities follow from the time, and the others from theirs."""
    system = assembled(driven(four_bar(), "A", np.sin), "D")
    q, v, vdot = system.closed_motion({}, t=np.array([0.0, 0.3]))
    np.testing.assert_allclose(q[:, 0], np.sin([0.0, 0.3]), atol=1e-12)
    np.testing.assert_allclose(v[:, 0], np.cos([0.0, 0.3]), atol=1e-12)
    np.testing.assert_allclose(vdot[:, 0], -np.sin([0.0, 0.3]), atol=1e-12)
    t = np.array([0.0, 0.3])
    np.testing.assert_allclose(system.constraint_acceleration(q, v, vdot, t), 0.0, atol=1e-12)
    assert system.constrained_jacobian(q[0], []).shape == (3, 0)


def test_consistent_velocities_agree():
    """Where the named joints determine the motion, least motion has no choice."""
    mech, q = closed_chain()
    system = closed(mech, ("last",))
    v = consistent(system, q, np.random.default_rng(4).normal(size=system.nv))
    freedoms = system.nv - np.linalg.matrix_rank(system.constraint_jacobian(q), tol=1e-8)
    names = _determining(system, q, freedoms)
    rates = {name: v[system.velocity_names.index(name)] for name in names}
    np.testing.assert_allclose(system.dependent_velocity(q, rates), v, atol=1e-9)
    np.testing.assert_allclose(system.consistent_velocity(rates, q), v, atol=1e-9)


@pytest.mark.some(2)
@pytest.mark.parametrize("count", [None, 0, 1, 2])
def test_numbers_of_samples(count):
    """Arrays of (k,) and of (k, 1) are k samples of a joint of one velocity, for k = 1 as well."""
    system = assembled(four_bar(), "D")
    leading = () if count is None else (count,)
    motion = [np.full(leading, value) for value in (0.2, 1.5, -0.7)]
    one = system.closed_motion({"A": (0.2, 1.5, -0.7)})
    ways = [motion] if count is None else [motion, [each[:, None] for each in motion]]
    for way in ways:
        for found, expected in zip(system.closed_motion({"A": way}), one, strict=True):
            assert found.shape == (*leading, 3)
            for sample in found.reshape(-1, 3):
                np.testing.assert_allclose(sample, expected, atol=1e-12)
        # of velocities at one configuration, (1,) is the joint's own vector, as a slice of v is
        expected = () if np.shape(way[1]) == (1,) else leading
        assert system.dependent_velocity(one[0], {"A": way[1]}).shape == (*expected, 3)
