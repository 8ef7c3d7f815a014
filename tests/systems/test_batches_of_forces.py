"""Batches and ensembles with forces: single calls and runs bit by bit, most of them in lanes."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.compile import UNCOMPILED
from mbkit.systems.calls import lanes
from mbkit.systems.calls.evaluations import FORCE_WRENCHES, HYBRID_DYNAMICS
from mbkit.systems.memory.in_lanes import forces as lanes_forces
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.systems.test_batches import FIRST
from tests.trees import random_mechanism, random_state

#: Groups of eight, and one that is not full; and a sample that is spoilt.
COUNT, SPOILT = (11, 9) if UNCOMPILED else (70, 41)


@pytest.fixture
def taken(monkeypatch, two_threads):
    """The names of the functions that batches compute in lanes, on two threads."""
    found = set()
    take = lanes.BatchInLanes.take

    def noted(batch, samples, *others):
        found.add(samples.what.function)
        return take(batch, samples, *others)

    monkeypatch.setattr(lanes.BatchInLanes, "take", noted)
    monkeypatch.setattr(lanes, "LEAST_SAMPLES", min(COUNT - FIRST, lanes.LEAST_SAMPLES))
    monkeypatch.setattr(lanes, "LEAST_CLOSED", COUNT - FIRST)
    return found


def mechanism(seed=21):
    """A tree, and a force of every kind for it."""
    rng = np.random.default_rng(seed)
    mech, single = tree(rng)
    return mech, every_force(rng, mech, single)


def states(system, size=0.7):
    """Random states, as a dictionary of arrays."""
    rng = np.random.default_rng(22)
    found = [random_state(rng, system, size) for _ in range(COUNT)]
    names = ("q", "v", "vdot", "tau", "wrenches")
    return {name: np.array([getattr(each, name) for each in found]) for name in names}


def check(call, *rows):
    """Compare a batch, and a part of it, with its samples; return it."""
    found = call(*rows)
    expected = np.array([call(*each) for each in zip(*rows, strict=True)])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(call(*(each[FIRST:] for each in rows)), expected[FIRST:])
    return found


@pytest.mark.some(4)
@pytest.mark.parametrize("k", range(len(mechanism()[1])))
def test_a_force_on_many_samples_is_the_force_on_each(k, taken):
    """Of every kind, at one time and at many; a number that is none fails in its sample alone."""
    mech, forces = mechanism()
    system = mech.assemble().with_forces([forces[k]])
    a = states(system)
    found = check(lambda q, v: system.generalized_forces(q, v, 0.4), a["q"], a["v"])
    assert np.abs(found).max() > 0.0
    assert taken == {"generalized_forces"}
    check(system.generalized_forces, a["q"], a["v"], np.linspace(-0.5, 2.5, COUNT))
    a["v"][SPOILT] = np.nan
    after = system.generalized_forces(a["q"], a["v"], 0.4, on_error="nan")
    np.testing.assert_array_equal(
        np.delete(after, SPOILT, axis=0), np.delete(found, SPOILT, axis=0)
    )
    alone = system.generalized_forces(a["q"][SPOILT], a["v"][SPOILT], 0.4, on_error="nan")
    np.testing.assert_array_equal(after[SPOILT], alone)


@pytest.mark.some(4)
@pytest.mark.parametrize("k", range(len(mechanism()[1])))
def test_powers_and_potentials_on_many_samples_are_those_on_each(k, taken):
    """Of every kind, at times of their own; a number that is none fails in its sample alone."""
    mech, forces = mechanism()
    system = mech.assemble().with_forces([forces[k]])
    a, t = states(system), np.linspace(-0.5, 2.5, COUNT)
    powers = check(system.force_powers, a["q"], a["v"], t)
    check(system.force_potentials, a["q"], t)
    assert taken == {"force_powers", "force_potentials"}
    a["v"][SPOILT] = np.nan
    after = system.force_powers(a["q"], a["v"], t, on_error="nan")
    np.testing.assert_array_equal(
        np.delete(after, SPOILT, axis=0), np.delete(powers, SPOILT, axis=0)
    )


@pytest.mark.some(4)
@pytest.mark.parametrize("k", range(len(mechanism()[1])))
def test_wrenches_of_forces_on_many_samples_are_those_on_each(k, taken):
    """Of every kind, on bodies or along joints, at times of their own."""
    mech, forces = mechanism()
    system = mech.assemble().with_forces([forces[k]])
    a, t = states(system), np.linspace(-0.5, 2.5, COUNT)[:, None]
    found = check(
        lambda *x: system.evaluator.compute(FORCE_WRENCHES, *x, on_error="nan"), a["q"], a["v"], t
    )
    assert np.abs(found).max() > 0.0
    assert taken == {"force_wrenches"}
    a["v"][SPOILT] = np.nan
    check(
        lambda *x: system.evaluator.compute(FORCE_WRENCHES, *x, on_error="nan"), a["q"], a["v"], t
    )


@pytest.mark.some(2)
@each_representation
def test_derivatives_of_springs_on_many_samples_are_those_on_each(
    representation, taken, monkeypatch
):
    """With springs and dampers in joints; a sample that is spoilt, and one at rest."""
    monkeypatch.setattr(lanes_forces, "ENTRIES_OF_A_SPRING", 2048)
    mech, forces = mechanism()
    named = ("spring", "damper", "ball damper", "pair", "anchor")
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    system = system.with_forces([each for each in forces if each.name in named])
    a = states(system)
    a["v"][2] = 0.0
    for index in range(2):
        found = check(lambda q, v, i=index: system.force_derivatives(q, v)[i], a["q"], a["v"])
        assert np.abs(found).max() > 0.0
    assert taken == {"force_derivatives"}
    a["q"][SPOILT, 0] = a["v"][SPOILT, 1] = np.nan
    check(lambda q, v: system.force_derivatives(q, v, on_error="nan")[0], a["q"], a["v"])


def test_derivatives_of_springs_beside_all_joints_on_many_samples(taken):
    """Of which some have motion subspaces that change."""
    kinds = ("revolute", "universal", "constant velocity", "composite")
    mech = random_mechanism(np.random.default_rng(23), len(kinds), kinds, reach=2)
    ends = mech.assemble().body_names
    for a, b in ((0, -1), (1, -2)):
        mech.add_force(
            mb.SpringDamper(
                f"spring {b}", ends[a], ends[b], stiffness=30.0, rest_length=0.2, damping=0.4,
                point_a=(0.1, 0.2, 0.3),
            )
        )  # fmt: skip
    system = mech.assemble()
    given = states(system)
    for index in range(2):
        check(lambda q, v, i=index: system.force_derivatives(q, v)[i], given["q"], given["v"])
    assert taken == {"force_derivatives"}


def test_derivatives_of_other_forces_are_computed_one_by_one(taken, monkeypatch):
    """Of those that are called, with or without springs, and of a few springs in large systems."""
    monkeypatch.setattr(lanes_forces, "ENTRIES_OF_A_SPRING", 64)
    mech, forces = mechanism()
    system = mech.assemble()
    a = states(system)
    chosen = {each.name: each for each in forces}
    for names in (("drag",), ("drag", "pair"), ("spring",), ("pair",)):
        some = system.with_forces([chosen[name] for name in names])
        check(lambda q, v, some=some: some.force_derivatives(q, v)[0], a["q"][:3], a["v"][:3])
        some.force_derivatives(a["q"], a["v"])
    assert not taken


@pytest.mark.some(4)
@each_representation
def test_dynamics_of_many_samples_under_all_forces(representation, taken):
    """With wrenches, prescribed joints, and times of their own."""
    mech, forces = mechanism()
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    system = system.with_forces(forces)
    q, v, vdot, tau, W = states(system).values()
    check(lambda *x: system.inverse_dynamics(*x, t=0.4), q, v, vdot, W)
    check(lambda *x: system.forward_dynamics(*x, t=0.4), q, v, tau, W)
    names = system.joint_names[::2]

    def hybrid(q, v, tau, vdot, W):
        found = system.hybrid_dynamics(
            q, v, tau=tau, vdot=vdot, prescribed=names, wrenches=W, t=0.4
        )
        return np.stack(found, axis=-1)

    check(hybrid, q, v, tau, vdot, W)
    names = {"inverse_dynamics", "forward_dynamics", "hybrid_dynamics", "generalized_forces"}
    assert taken == names
    taken.clear()
    t = np.linspace(0.0, 2.0, COUNT)
    check(lambda q, v, t: system.forward_dynamics(q, v, t=t), q, v, t)
    assert taken == {"forward_dynamics", "generalized_forces"}


def test_other_joints_prescribed_in_each_sample(taken):
    """There is no method for it, and a group of samples would not know what to find."""
    system = mechanism()[0].assemble()
    q, v, vdot, tau, _ = states(system).values()
    mask = np.random.default_rng(3).integers(0, 2, tau.shape).astype(float)
    known = np.concatenate([tau, vdot, mask], axis=-1)
    check(lambda *x: system.evaluator.compute(HYBRID_DYNAMICS, *x), q, v, known)
    assert not taken


def test_frames_of_a_bushing_turned_by_any_angle_in_each_sample(taken):
    """By none, by little, by half a turn about each axis, and the other way round."""
    mech = mb.Mechanism("mount")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
    mech.add_force(mb.Bushing("bushing", "world", "body", stiffness=[1.0, 2.0, 3.0, 0, 0, 0]))
    system = mech.assemble()
    angles = np.array([0.0, 1e-120, 1e-9, 1e-5, 0.3, 2.0, 3.0, np.pi - 1e-9, np.pi + 1e-9, 4.0])
    axes = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.3, -0.5, 0.8], [-1, 0, 0], [0, 0, -1.0]])
    steps = (angles[:, None, None] * axes).reshape(-1, 3)
    q = system.retract(system.reference_configuration(), np.concatenate([steps, steps[::-1]]))
    found = check(system.generalized_forces, q, np.zeros((len(q), 3)))
    assert taken == {"generalized_forces"}
    small = slice(0, 18)  # there the moment is -K x
    expected = -np.array([1.0, 2.0, 3.0]) * steps[small]
    np.testing.assert_allclose(found[small], expected, rtol=1e-8, atol=0.0)


@pytest.mark.long
def test_points_that_meet_in_some_samples(taken):
    """A spring between them has no direction there, and its length elsewhere."""
    mech = mb.Mechanism("slider")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    mech.add_force(mb.SpringDamper("spring", "world", "body", 10.0, rest_length=0.5, damping=1.0))
    system = mech.assemble()
    q = np.where(np.arange(COUNT) % 3 == 0, 0.0, 2.0)[:, None]
    found = check(system.generalized_forces, q, np.ones((COUNT, 1)))
    assert taken == {"generalized_forces"}
    np.testing.assert_array_equal(found, np.where(q == 0.0, 0.0, -16.0))
    taken.clear()
    by_q = check(lambda q, v: system.force_derivatives(q, v)[0], q, np.ones((COUNT, 1)))
    assert taken == {"force_derivatives"}
    np.testing.assert_array_equal(by_q[:, 0], np.where(q == 0.0, 0.0, -10.0))
