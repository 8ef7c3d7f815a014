"""Closing loops: to rounding, with what is fixed held, on the branch, and in every assembly."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.constraints import closed_mechanisms as mechanisms
from tests.constraints.closed_mechanisms import assembled
from tests.constraints.loops import LOOP_KINDS, closed, random_loops

EVERY = {
    make.__name__: make
    for make in (
        mechanisms.four_bar,
        mechanisms.parallelogram,
        mechanisms.bricard,
        mechanisms.sarrus,
        mechanisms.bennett,
        mechanisms.slider_crank,
        mechanisms.stewart,
    )
}


def four_bar_in_line(crank, coupler, rocker, ground):
    """Return a planar four-bar, all along x in its reference configuration, which is open."""
    mech = mb.Mechanism("four-bar")
    along = mb.spatial.translation
    bars = [
        mech.add_body(mb.Body(name, mb.SpatialInertia.box(1.0, size=(length, 0.1, 0.1))))
        for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker))
    ]
    mech.add_joint(mb.RevoluteJoint("A"), mech.world, bars[0])
    mech.add_joint(mb.RevoluteJoint("B"), bars[0], bars[1], reference=along((crank, 0, 0)))
    mech.add_joint(mb.RevoluteJoint("C"), bars[1], bars[2], reference=along((coupler, 0, 0)))
    mech.add_joint(
        mb.RevoluteJoint("D"), mech.world, bars[2],
        frames=(along((ground, 0, 0)), along((rocker, 0, 0))),
    )  # fmt: skip
    return assembled(mech)


def cosine_rule(crank, coupler, rocker, ground, angle):
    """Return the angles (A, B, C) of both assemblies of a planar four-bar.

    By the triangle of B, C, D: the direction from B to D, and the angle beside it.
    """
    B = crank * np.array([np.cos(angle), np.sin(angle)])
    d = np.array([ground, 0.0]) - B
    size = np.linalg.norm(d)
    beside = np.arccos((size**2 + coupler**2 - rocker**2) / (2.0 * size * coupler))
    found = []
    for side in (1.0, -1.0):
        direction = np.arctan2(d[1], d[0]) + side * beside
        C = B + coupler * np.array([np.cos(direction), np.sin(direction)])
        last = np.arctan2(-C[1], ground - C[0])
        found.append([angle, direction - angle, last - direction])
    return np.array(found)


def random_closed(rng):
    """Return a system of random joints with two loops, closed at q, and q."""
    kinds = rng.choice(LOOP_KINDS, size=2).tolist()
    mech, q, names = random_loops(rng, 6, kinds)
    return closed(mech, names), q


def modulo_turns(a, b):
    return np.abs(np.remainder(np.asarray(a) - b + np.pi, 2.0 * np.pi) - np.pi).max()


@pytest.mark.some(7)
@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("seed", range(4))
def test_loops_close_to_rounding(make, seed):
    """From anywhere around a closed configuration, |g| comes below 1e-13 of the length."""
    system = make().assemble()
    rng = np.random.default_rng(seed)
    start = system.retract(system.reference_configuration(), 0.3 * rng.normal(size=system.nv))
    q = system.close_loops(start)
    assert np.abs(system.constraint_residual(q)).max() < 1e-13 * system.arrays.closure.length


@pytest.mark.some(2)
@pytest.mark.parametrize("seed", range(8))
def test_joints_of_every_kind_close(seed):
    """A disturbed random mechanism, closed by joints of many kinds, is closed again."""
    rng = np.random.default_rng(seed)
    system, q = random_closed(rng)
    start = system.retract(q, system.rates(q, 0.05 * rng.normal(size=system.nv)))
    assert np.abs(system.constraint_residual(start)).max() > 1e-4
    found = system.close_loops(start)
    assert np.abs(system.constraint_residual(found)).max() < 1e-12 * system.arrays.closure.length


def test_closed_configurations_stay():
    """What is closed is returned as it is, to rounding; steps have no part along a motion."""
    system = assembled(mechanisms.bricard())
    q = mechanisms.bricard_angles(0.3)
    assert np.abs(system.close_loops(q) - q).max() < 1e-14


def test_small_errors_are_closed_by_the_least_motion():
    """To first order the change is normal to the null space of A, angles by angles."""
    system = assembled(mechanisms.bricard())
    q = mechanisms.bricard_angles(0.3)
    e = 1e-5
    start = q + e * np.random.default_rng(0).normal(size=5)
    change = system.close_loops(start) - start
    null = np.linalg.svd(system.constraint_jacobian(q))[2][4]
    assert np.abs(change).max() > 0.1 * e
    assert abs(null @ change) < 10.0 * e**2


@pytest.mark.some(4)
@pytest.mark.parametrize("angle", [0.2, 1.0, 2.5, 4.0])
def test_both_assemblies_of_a_four_bar(angle):
    """They are the two of the cosine rule, nearest first."""
    sizes = (0.4, 1.1, 0.9, 1.0)
    system = four_bar_in_line(*sizes)
    known = cosine_rule(*sizes, angle)
    found = system.assembly_modes([angle, 0.0, 0.0], fixed=["A"])
    assert len(found) == 2
    for q in known:
        assert min(modulo_turns(q, each) for each in found) < 1e-9
    steps = [np.abs(each - [angle, 0.0, 0.0]).max() for each in found]
    assert steps[0] <= steps[1]
    assert np.array_equal(found, system.assembly_modes([angle, 0.0, 0.0], fixed=["A"]))


@pytest.mark.long
def test_assemblies_that_a_motion_connects_are_one():
    """A four-bar whose crank turns round has two sets of configurations, one on either side."""
    system = four_bar_in_line(0.4, 1.1, 0.9, 1.0)
    assert len(system.assembly_modes()) == 2
    # Grashof's rule: no bar of this one turns round, and its two assemblies are one set
    assert len(four_bar_in_line(0.8, 1.1, 0.9, 1.5).assembly_modes()) == 1


@pytest.mark.long
def test_no_assemblies_beyond_reach():
    system = four_bar_in_line(0.4, 0.5, 0.3, 1.9)
    assert system.assembly_modes([0.0, 0.0, 0.0]).shape == (0, 3)


def test_positions_of_a_platform_given_its_legs():
    """A Stewart platform with its legs fixed stands in one of several poses."""
    system = assembled(mechanisms.stewart(), *(f"top {k}" for k in range(1, 6)))
    legs = [f"leg {k}" for k in range(6)]
    start = system.reference_configuration()
    for leg in legs:
        start[system.position_slice(leg)] = 0.02
    q = system.close_loops(start, fixed=legs)
    for leg in legs:
        assert q[system.position_slice(leg)] == 0.02
    assert np.abs(system.constraint_residual(q)).max() < 1e-13 * system.arrays.closure.length


@pytest.mark.some(2)
@pytest.mark.parametrize("side", [0, 1])
def test_steps_stay_on_the_branch(side):
    """The crank is led round, and the coupler stays on its side all the way."""
    sizes = (0.4, 1.1, 0.9, 1.0)
    system = four_bar_in_line(*sizes)
    branch = cosine_rule(*sizes, 0.3)[side]
    for angle in (1.5, 3.0, -2.0, 0.3 + 2.0 * np.pi):
        q = system.close_loops([angle, 0.0, 0.0], fixed=["A"], branch=branch)
        assert q[0] == angle
        assert modulo_turns(q, cosine_rule(*sizes, angle)[side]) < 1e-9


def test_a_branch_that_ends_is_said():
    """The rocker of a four-bar swings between two dead centres and not beyond."""
    system = four_bar_in_line(0.4, 1.1, 0.9, 1.0)
    q = system.close_loops([0.3, 0.5, 0.5], fixed=["A"])
    with pytest.raises(mb.ConstraintError, match="% of the way, with the loops closed") as caught:
        system.close_loops([0.0, 0.0, q[2] + 3.0], fixed=["C"], branch=q)
    assert np.abs(system.constraint_residual(caught.value.q)).max() < 1e-9


def test_out_of_reach_is_said_with_the_loop_and_the_gap():
    """With the crank along -x, the ground pivot is farther away than coupler and rocker reach."""
    system = four_bar_in_line(0.5, 0.7, 0.6, 1.0)
    with pytest.raises(mb.ConstraintError) as caught:
        system.close_loops([np.pi, 0.0, 0.0], fixed=["A"])
    text = str(caught.value)
    assert "the loop of 'D' (by 0.2 m on its own) cannot be closed with 'A' fixed" in text
    q = caught.value.q
    assert q[0] == np.pi
    assert np.linalg.norm(system.constraint_residual(q)) == pytest.approx(0.2, abs=1e-6)


def test_of_two_loops_the_one_that_cannot_close_is_named():
    """One of two four-bars that share a crank is too short."""
    mech = mb.Mechanism("two loops")
    along = mb.spatial.translation
    box = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
    crank = mech.add_body(mb.Body("crank", box))
    mech.add_joint(mb.RevoluteJoint("A"), mech.world, crank)
    for k, (coupler, rocker) in enumerate([(1.1, 0.9), (0.2, 0.2)]):
        bars = [mech.add_body(mb.Body(f"{name} {k}", box)) for name in ("coupler", "rocker")]
        tip, far = along((0.4, 0, 0)), along((coupler, 0, 0))
        mech.add_joint(mb.RevoluteJoint(f"B{k}"), crank, bars[0], reference=tip)
        mech.add_joint(mb.RevoluteJoint(f"C{k}"), bars[0], bars[1], reference=far)
        mech.add_joint(
            mb.RevoluteJoint(f"D{k}"), mech.world, bars[1],
            frames=(along((1.0, 0, 0)), along((rocker, 0, 0))),
        )  # fmt: skip
    system = assembled(mech, "D0", "D1")
    with pytest.raises(mb.ConstraintError, match=r"the loop of 'D1' \(by 0.2 m on its own\)"):
        system.close_loops(np.zeros(5), fixed=["A"])


def test_single_positions_are_fixed():
    """The angles of a universal joint are, the parts of a quaternion cannot be."""
    system = assembled(mechanisms.stewart(), *(f"top {k}" for k in range(1, 6)))
    q = system.reference_configuration()
    place = system.position_slice("foot 0").start
    q[place] = 0.05
    found = system.close_loops(q, fixed=["foot 0[0]"])
    assert found[place] == 0.05
    assert found[place + 1] != q[place + 1]
    ball = assembled(mechanisms.stewart(), *(f"leg {k}" for k in range(1, 6)))
    with pytest.raises(mb.UsageError, match="name the whole joint: 'top 0'"):
        ball.close_loops(fixed=["top 0[0]"])


def test_what_closes_a_loop_has_no_position():
    system = assembled(mechanisms.four_bar())
    with pytest.raises(mb.UsageError, match="'D' closes a loop"):
        system.close_loops(fixed="D")
    with pytest.raises(mb.NameUnknownError, match="known are 'A', 'B', 'C'"):
        system.close_loops(fixed=["zzz"])
    with pytest.raises(mb.UsageError, match="tolerance"):
        system.close_loops(tolerance=-1.0)


def test_prescribed_joints_are_where_they_are_at_a_time():
    mech = mb.Mechanism("driven")
    along = mb.spatial.translation
    box = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
    bars = [mech.add_body(mb.Body(name, box)) for name in ("crank", "coupler", "rocker")]
    mech.add_joint(mb.RevoluteJoint("A").prescribe(lambda t: 2.0 * t), mech.world, bars[0])
    mech.add_joint(mb.RevoluteJoint("B"), bars[0], bars[1], reference=along((0.4, 0, 0)))
    mech.add_joint(mb.RevoluteJoint("C"), bars[1], bars[2], reference=along((1.1, 0, 0)))
    mech.add_joint(
        mb.RevoluteJoint("D"), mech.world, bars[2],
        frames=(along((1.0, 0, 0)), along((0.9, 0, 0))),
    )  # fmt: skip
    system = assembled(mech)
    q, v = system.close_loops([0.0, 0.5, 0.5], [0.0, 0.0, 0.0], t=0.3)
    assert q[0] == 0.6
    assert v[0] == 2.0
    assert np.abs(system.constraint_residual(q, 0.3)).max() < 1e-13
    assert np.abs(system.constraint_velocity(q, v, 0.3)).max() < 1e-13
    with pytest.raises(mb.UsageError, match="prescribed"):
        system.consistent_velocity({"A": 1.0}, q)


def test_trees_are_closed():
    system = mb.Mechanism("arm")
    body = system.add_body(mechanisms.rod("rod", (0, 0, 0), (1, 0, 0)))
    system.add_joint(mechanisms.hinge("A", (0, 0, 0), (0, 0, 1)), system.world, body)
    system = system.assemble()
    assert system.close_loops([0.4]) == [0.4]
    q, v = system.close_loops([0.4], [2.0])
    assert (q, v) == ([0.4], [2.0])
    assert system.consistent_velocity({"A": 3.0}, [0.4]) == [3.0]


# ------------------------------------------------------------------------------ velocities


def test_velocities_of_a_four_bar_are_those_of_the_closed_form():
    """Of the crank's rate, differences of the cosine rule give the others."""
    sizes, angle, e = (0.4, 1.1, 0.9, 1.0), 0.8, 1e-5
    system = four_bar_in_line(*sizes)
    ahead, behind = (cosine_rule(*sizes, angle + step)[0] for step in (e, -e))
    v = system.consistent_velocity({"A": 3.0}, cosine_rule(*sizes, angle)[0])
    assert np.abs(v - 3.0 * (ahead - behind) / (2.0 * e)).max() < 1e-8


@pytest.mark.some(2)
@pytest.mark.parametrize("seed", range(6))
def test_the_change_of_velocities_has_the_least_energy(seed):
    """M (v - v0) is in the range of A^T, but for what is fixed; A v = 0."""
    rng = np.random.default_rng(seed)
    system, q = random_closed(rng)
    wished = rng.normal(size=system.nv)
    v = system.consistent_velocity({}, q, wished)
    A = system.constraint_jacobian(q)
    assert np.abs(A @ v).max() < 1e-12 * np.abs(A).max() * np.abs(v).max()
    force = system.mass_matrix(q) @ (v - wished)
    left = force - A.T @ np.linalg.lstsq(A.T, force, rcond=1e-10)[0]
    assert np.abs(left).max() < 1e-9 * np.abs(force).max()


def test_velocities_that_contradict_each_other():
    system = assembled(mechanisms.four_bar())
    with pytest.raises(mb.ConstraintError, match="the velocities of 'A', 'B' do not go together"):
        system.consistent_velocity({"A": 1.0, "B": 5.0}, np.zeros(3))
    v = system.consistent_velocity({"A": 1.0}, np.zeros(3))
    again = system.consistent_velocity({"A": v[0], "B": v[1]}, np.zeros(3))
    assert np.abs(again - v).max() < 1e-12


def test_a_piston_cannot_be_driven_through_its_dead_centre():
    """There its velocity is zero whatever the crank does."""
    system = assembled(mechanisms.slider_crank())
    driven = assembled(mechanisms.slider_crank(), "A")
    assert system.consistent_velocity({"A": 1.0}, np.zeros(3))[0] == 1.0
    with pytest.raises(mb.ConstraintError, match="dead centre"):
        driven.consistent_velocity({"slider": 1.0}, driven.reference_configuration())


def test_start_is_ready_for_simulation():
    """What close_loops returns satisfies the check of `simulate`."""
    system = four_bar_in_line(0.4, 1.1, 0.9, 1.0)
    with pytest.raises(mb.ConstraintError, match="close_loops"):
        mb.simulate(system, t_span=(0.0, 0.01), h=1e-3, q=system.reference_configuration())
    q, v = system.close_loops([0.3, 0.5, 0.5], [1.0, 0.0, 0.0], fixed=["A"])
    assert (q[0], v[0]) == (0.3, 1.0)
    with pytest.warns(mb.RedundantConstraintsWarning):  # as each planar loop of hinges
        run = mb.simulate(system, t_span=(0.0, 0.01), h=1e-3, q=q, v=v)
    assert np.abs(system.constraint_residual(run.q)).max() < 1e-10
