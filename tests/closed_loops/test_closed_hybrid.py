"""Hybrid dynamics of closed mechanisms, and joints in loops whose motion is prescribed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.closed_mechanisms import assembled, cycle, four_bar, hinge
from tests.constraints.driven import driven
from tests.constraints.loops import consistent, mobile_loops
from tests.constraints.test_inverse_dynamics import five_bar, moving
from tests.every_representation import each_representation, representations_in_turn
from tests.reference.test_nonholonomic_joints import Skate, sleigh


def kkt(system, q, v, tau, vdot, mask, wrenches=None):
    """Solve for free accelerations, forces where prescribed and minimum-norm multipliers."""
    M, A = system.mass_matrix(q), system.constraint_jacobian(q)
    b = system.inverse_dynamics(q, v, np.zeros(system.nv), wrenches)
    c = system.constraint_bias(q, v)
    n, m = system.nv, len(c)
    free, held = np.flatnonzero(~mask), np.flatnonzero(mask)
    # unknowns: vdot of the free, tau of the held, multipliers
    K = np.zeros((n + m, n + m))
    K[:n, : len(free)] = M[:, free]
    K[held, len(free) + np.arange(len(held))] = -1.0
    K[:n, n:] = -A.T
    K[n:, : len(free)] = A[:, free]
    given = np.where(mask, 0.0, tau)
    right = np.r_[given - b - M[:, held] @ vdot[held], -c - A[:, held] @ vdot[held]]
    x = np.linalg.lstsq(K, right, rcond=1e-11)[0]
    np.testing.assert_allclose(K @ x, right, atol=1e-8 * np.abs(right).max())
    found_vdot, found_tau = vdot.copy(), given
    found_vdot[free], found_tau[held] = x[: len(free)], x[len(free) : n]
    return found_vdot, found_tau, x[n:]


@pytest.mark.some(4)
@representations_in_turn("seed", {str(seed): seed for seed in range(4)})
@pytest.mark.parametrize("loaded", [False, True])
def test_it_solves_the_equations_of_motion(representation, loaded, seed):
    """Against a dense solution, on random mechanisms with some joints held to a motion."""
    rng = np.random.default_rng(40 + seed)
    system, q = mobile_loops(rng, 9, ("spherical", "cylindrical"), representation)
    v = consistent(system, q, rng.normal(size=system.nv))
    A = system.constraint_jacobian(q)
    names: list[str] = []
    mask = np.zeros(system.nv, dtype=bool)
    for name in rng.permutation(system.joint_names):
        trial = mask.copy()
        trial[system.velocity_slice(name)] = True
        left = np.linalg.svd(A[:, ~trial], compute_uv=False)
        if len(left) == len(A) and left.min() > 0.02 and len(names) < 3:
            names.append(str(name))
            mask = trial
    assert mask.any()
    tau, vdot = rng.normal(size=system.nv), rng.normal(size=system.nv)
    wrenches = rng.normal(size=(len(system.body_names), 6)) if loaded else None
    found_vdot, found_tau = system.hybrid_dynamics(
        q, v, tau=tau, vdot=vdot, prescribed=names, wrenches=wrenches
    )
    expected_vdot, expected_tau, multipliers = kkt(system, q, v, tau, vdot, mask, wrenches)
    scale = np.abs(expected_vdot).max()
    np.testing.assert_allclose(found_vdot, expected_vdot, atol=1e-9 * scale)
    np.testing.assert_array_equal(found_vdot[mask], vdot[mask])
    np.testing.assert_array_equal(found_tau[~mask], tau[~mask])
    np.testing.assert_allclose(found_tau, expected_tau, atol=1e-8 * np.abs(expected_tau).max())
    needed = system.inverse_dynamics(q, v, found_vdot, wrenches)
    np.testing.assert_allclose(
        needed, found_tau + A.T @ multipliers, atol=1e-8 * np.abs(needed).max()
    )


def test_nothing_prescribed_is_forward_dynamics():
    system = five_bar()
    q, v, _ = moving(system, ["A", "E"], 1)
    tau = np.random.default_rng(0).normal(size=system.nv)
    vdot, same = system.hybrid_dynamics(q, v, tau=tau)
    np.testing.assert_allclose(vdot, system.forward_dynamics(q, v, tau), rtol=1e-9)
    np.testing.assert_array_equal(same, tau)


@pytest.mark.some(2)
@each_representation
def test_prescribed_cranks_are_inverse_dynamics(representation):
    """As many joints as freedoms: the forces are those of exactly so many actuators."""
    system = five_bar(representation)
    q, v, vdot = moving(system, ["A", "E"], 2)
    found, tau = system.hybrid_dynamics(q, v, vdot=vdot, prescribed=["A", "E"])
    expected = system.closed_inverse_dynamics(q, v, vdot, actuated=["A", "E"])
    np.testing.assert_allclose(found, vdot, atol=1e-9)
    np.testing.assert_allclose(tau, expected.efforts, atol=1e-9)


def test_accelerations_that_contradict_loops_are_refused():
    system = five_bar()
    q, v, vdot = moving(system, ["A", "E"], 3)
    off = vdot + np.eye(4)[1]
    assert system.joint_names[1] == "B"
    with pytest.raises(mb.ConstraintError, match="'A', 'B', 'E' contradict the constraints: 'C"):
        system.hybrid_dynamics(q, v, vdot=off, prescribed=["A", "B", "E"])
    found, _ = system.hybrid_dynamics(
        q, v, vdot=np.array([off, off]), prescribed=["A", "B", "E"], on_error="nan"
    )
    assert np.isnan(found).all()


def slider_crank(position):
    """A crank of 0.1 m, whose angle is given, a rod of 0.3 m and a slider, each of 1 kg."""
    points = [(0, 0, 0), (0.1, 0, 0), (0.4, 0, 0), (0.4, 0, 0)]
    axis = (0, 1, 0)
    joints = [hinge(name, p, axis) for name, p in zip(("main", "B", "C"), points, strict=False)]
    joints[0] = joints[0].prescribe(position)
    return cycle("slider-crank", points, [*joints, mb.PrismaticJoint("slide", axis=(1, 0, 0))])


IN_REST = {
    "B": mb.RelativeCoordinates(loop_joints=["B"]),
    "slide": mb.RelativeCoordinates(loop_joints=["slide"], representation=mb.Spatial()),
    "C": mb.RelativeCoordinates(loop_joints=["C"], representation=mb.Mixed()),
    "absolute": mb.AbsoluteCoordinates(),
}


@pytest.mark.some(2)
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize("coordinates", IN_REST.values(), ids=IN_REST)
@pytest.mark.parametrize("start", [0.0, 0.3])
def test_a_drive_may_hold_a_loop_in_rest(coordinates, start):
    """Nothing accelerates, and what is left of the rows is rounding of the weights.

    Rod and crank have their centres half as high as the pin between them: the drive's torque is
    the derivative of their potential energy, 2 m g r / 2 cos(a) about +y.
    """
    system = slider_crank(lambda t: start + 0.2 * t**3).assemble(coordinates)
    run = mb.simulate(system, (0.0, 2e-3), 1e-3, progress=False)
    q, v = run.q[0], run.v[0]
    assert not v.any()
    assert np.abs(system.forward_dynamics(q, v)).max() < 1e-12
    torque = -2.0 * 9.81 * 0.05 * np.cos(start)
    main = system.velocity_slice("main")
    assert system.driving_efforts(q, v)[main] == pytest.approx(torque, abs=1e-10)
    vdot, tau = system.hybrid_dynamics(
        np.array([q, q]), v, vdot=v, prescribed=["main"],
        wrenches=np.zeros((len(system.body_names), 6)),
    )  # fmt: skip
    assert np.abs(vdot).max() < 1e-12
    np.testing.assert_allclose(tau[:, main], torque, atol=1e-10)


def test_accelerations_that_contradict_loops_in_rest_are_refused():
    system = five_bar()
    q, still = moving(system, ["A", "E"], 3)[0], np.zeros(4)
    with pytest.raises(mb.ConstraintError, match="'A', 'B', 'E' contradict the constraints"):
        system.hybrid_dynamics(q, still, vdot=1e-3 * np.eye(4)[1], prescribed=["A", "B", "E"])


def test_more_joints_than_freedoms_leave_forces_open():
    """Accelerations that fit are no reason to choose forces in silence."""
    system = five_bar()
    q, v, vdot = moving(system, ["A", "E"], 3)
    with pytest.raises(mb.ConstraintError, match="more joints than the mechanism has freedoms"):
        system.hybrid_dynamics(q, v, vdot=vdot, prescribed=["A", "B", "E"])


def motion(t):
    return 0.4 * np.sin(3.0 * t)


@pytest.mark.some(4)
@each_representation
def test_a_prescribed_crank(representation):
    """Forward dynamics, multipliers and driving efforts are those of hybrid dynamics."""
    system = assembled(driven(four_bar(), "A", motion), "D", representation=representation)
    plain = assembled(four_bar(), "D", representation=representation)
    t = 0.7
    q, v, vdot = system.closed_motion({}, t=t)
    expected = plain.closed_inverse_dynamics(q, v, vdot, actuated=["A"])
    garbage = q + 5.0 * np.eye(3)[0], v + 7.0 * np.eye(3)[0]
    for given in ((q, v), garbage):
        np.testing.assert_allclose(system.forward_dynamics(*given, t=t), vdot, atol=1e-10)
        np.testing.assert_allclose(system.driving_efforts(*given, t=t), expected.efforts, atol=1e-9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
            found, multipliers = system.solve_dynamics(*given, t=t)
        np.testing.assert_allclose(found, vdot, atol=1e-10)
        np.testing.assert_allclose(multipliers, expected.multipliers, atol=1e-9)
    times = np.array([0.1, 0.7])
    states = system.closed_motion({}, t=times)
    found = system.driving_efforts(states[0], states[1], t=times)
    np.testing.assert_allclose(found[1], expected.efforts, atol=1e-9)


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize(
    "ask",
    [
        lambda system, q, v, **t: system.driving_efforts(q, v, **t),
        lambda system, q, v, **t: system.forward_dynamics(q, v, **t),
        lambda system, q, v, **t: system.solve_dynamics(q, v, **t)[0],
        lambda system, q, v, **t: system.reaction("A", q, v, minimum_norm=True, **t),
    ],
)
def test_states_without_their_times_are_told_of_once(ask):
    """Those of t = 0, and single precision, are not."""
    system = assembled(driven(four_bar(), "A", motion), "D")
    times = np.array([0.0, 0.1, 0.7])
    q, v, _ = system.closed_motion({}, t=times)
    ask(system, q, v, t=times)
    ask(system, q[:1].astype(np.float32), v[:1])
    said = r"q has 0.118208 for the prescribed joint 'A', whose motion is at 0 at t = 0.*by t="
    with pytest.warns(mb.MissingTimeWarning, match=said) as caught:
        ask(system, q, v)
    assert [each.filename for each in caught] == [__file__]
    ask(system, q, v)


def test_states_beside_a_nonholonomic_joint_are_told_of_by_their_joint():
    """Steps have more entries than velocities there: those of other joints lie elsewhere."""
    mech = sleigh(Skate("skate"))
    rider = mech.add_body(mb.Body("rider", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    rail = mb.PrismaticJoint("rail").prescribe(lambda t: 0.1 + t)
    mech.add_joint(rail, mech.bodies["sleigh"], rider)
    system = mech.assemble()
    with pytest.warns(mb.MissingTimeWarning, match="q has 0.5 for the prescribed joint 'rail'"):
        system.forward_dynamics([0.0, 0.0, 0.0, 0.5], np.zeros(3))


@pytest.mark.long
@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@each_representation
def test_a_prescribed_crank_in_a_run(representation):
    """It is where the function says, loops stay closed, and the drive supplies the energy."""
    system = assembled(driven(four_bar(), "A", motion), "D", representation=representation)
    q, v, _ = system.closed_motion({}, t=0.0)
    run = mb.simulate(system, (0.0, 0.3), 1e-3, q=q, v=v)
    np.testing.assert_array_equal(run.q[:, 0], [float(motion(t)) for t in run.t])
    exact, rates, _ = system.closed_motion({}, q, run.t)
    np.testing.assert_allclose(run.q, exact, atol=1e-9)
    np.testing.assert_allclose(run.v, rates, atol=1e-8)
    efforts = system.driving_efforts(run.q, run.v, t=run.t)
    power = (efforts * run.v).sum(axis=1)
    energy = system.kinetic_energy(run.q, run.v) + system.potential_energy(run.q)
    supplied = np.trapezoid(power, run.t)
    np.testing.assert_allclose(energy[-1] - energy[0], supplied, atol=1e-5)
    np.testing.assert_allclose(run.energy_balance, run.energy_balance[0], atol=1e-8)


@pytest.mark.some(4)
@each_representation
def test_a_prescribed_ball_in_a_loop(representation):
    """A joint of three velocities that are all prescribed, against a dense solution."""
    rng = np.random.default_rng(5)
    kinds = ("spherical", "universal", "cylindrical")
    system, q = mobile_loops(rng, 8, ("cylindrical",), representation, kinds)
    v = consistent(system, q, rng.normal(size=system.nv))
    balls = [n for n, j in system.arrays.tree_joints.items() if j.num_velocities == 3]
    A = system.constraint_jacobian(q)
    in_loops = 0
    for ball in balls:
        mask = np.zeros(system.nv, dtype=bool)
        mask[system.velocity_slice(ball)] = True
        if np.linalg.svd(A[:, ~mask], compute_uv=False).min() < 0.02:
            continue  # the loops do not let it be chosen
        in_loops += bool(np.abs(A[:, mask]).max() > 0.1)
        tau, vdot = rng.normal(size=system.nv), rng.normal(size=system.nv)
        found, efforts = system.hybrid_dynamics(q, v, tau=tau, vdot=vdot, prescribed=[ball])
        expected = kkt(system, q, v, tau, vdot, mask)
        np.testing.assert_allclose(found, expected[0], atol=1e-9 * np.abs(expected[0]).max())
        np.testing.assert_allclose(efforts, expected[1], atol=1e-8 * np.abs(expected[1]).max())
    assert in_loops


def test_a_prescribed_joint_stays_in_the_tree():
    mech = driven(four_bar(), "D", motion)
    with pytest.raises(mb.TopologyError, match="'D'"):
        mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    assert "D" in mech.assemble().joint_names


@pytest.mark.parametrize("names", [(), ("A",)])
def test_empty_batches(names):
    system = assembled(four_bar(), "D")
    for found in system.hybrid_dynamics(np.zeros((0, 3)), np.zeros((0, 3)), prescribed=names):
        assert found.shape == (0, 3)
