"""Batches in lanes: the bits of single calls, for every width and cut."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.systems.calls import batches, lanes
from mbkit.systems.calls.evaluations import CONSTRAINT_JACOBIAN
from tests.constraints.closed_mechanisms import four_bar
from tests.constraints.loops import closed_chain
from tests.trees import random_mechanism, random_state

COUNT = 40

KINDS = (
    "revolute",
    "helical",
    "spherical",
    "planar",
    "universal",
    "constant velocity",
    "composite",
)


@pytest.fixture(scope="module")
def case():
    """A tree with joints that have lanes and one that has none, and what single calls return."""
    rng = np.random.default_rng(4)
    system = random_mechanism(rng, len(KINDS), KINDS, reach=3).assemble()
    states = [random_state(rng, system) for _ in range(COUNT)]
    q, v, x = (np.array([getattr(s, name) for s in states]) for name in ("q", "v", "tau"))
    given = {"inverse_dynamics": (q, v, x), "forward_dynamics": (q, v, x), "mass_matrix": (q,)}
    single = {
        name: np.array([getattr(system, name)(*each) for each in zip(*rows, strict=True)])
        for name, rows in given.items()
    }
    return system, given, single


def in_lanes(system, width, monkeypatch):
    """Let batches of any size take lanes, of that width, and count the groups that they are."""
    from mbkit.kernels.lanes import Lanes
    from mbkit.systems.memory.in_lanes.workspace import LanesModel

    monkeypatch.setattr(lanes, "LEAST_SAMPLES", 1)
    evaluator = system.evaluator
    monkeypatch.setitem(
        evaluator.__dict__, "lanes_model", LanesModel(evaluator.arrays, Lanes(width))
    )
    monkeypatch.delitem(evaluator.__dict__, "lanes_closure", raising=False)
    monkeypatch.setattr(evaluator, "lanes_pool", [])
    monkeypatch.setattr(evaluator, "in_lanes", {})
    taken = []
    original = lanes.BatchInLanes.take

    def take(self, *arguments):
        taken.append(self.width)
        return original(self, *arguments)

    monkeypatch.setattr(lanes.BatchInLanes, "take", take)
    return taken


@pytest.mark.some(2)
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_widths_and_cuts_have_the_bits_of_single_calls(case, name, width, monkeypatch):
    """Whole groups, one that is not full, parts that begin anywhere, samples that are shared."""
    system, given, single = case
    taken = in_lanes(system, width, monkeypatch)
    call, rows = getattr(system, name), given[name]
    for first, last in ((0, COUNT), (0, 1), (3, 3 + width), (5, 38)):
        found = call(*(each[first:last] for each in rows))
        np.testing.assert_array_equal(found, single[name][first:last])
    monkeypatch.setattr(batches, "cores", lambda: 2)
    monkeypatch.setattr(batches, "SMALLEST_CHUNK", 1)
    np.testing.assert_array_equal(call(*rows), single[name])
    assert set(taken) == {width}
    if len(rows) > 1:
        shared = call(rows[0][7], *(each[7:8] for each in rows[1:-1]), rows[-1])
        alone = [call(*(each[7] for each in rows[:-1]), x) for x in rows[-1]]
        np.testing.assert_array_equal(shared, np.array(alone))


@pytest.mark.parametrize("width", [pytest.param(4, marks=pytest.mark.long), 8])
def test_constraints_have_the_bits_of_single_calls(width, monkeypatch):
    """Whole groups and one that is not full; matrices that leave the cache are computed alone."""
    rng = np.random.default_rng(6)
    system = four_bar().assemble()
    states = system.retract(system.reference_configuration(), rng.normal(size=(19, system.ndx)))
    alone = np.array([system.constraint_jacobian(q) for q in states])
    taken = in_lanes(system, width, monkeypatch)
    np.testing.assert_array_equal(system.constraint_jacobian(states), alone)
    assert set(taken) == {width}
    monkeypatch.setitem(lanes.MOST_ENTRIES, CONSTRAINT_JACOBIAN, 5 * system.nv - 1)
    system = four_bar().assemble()  # another one: this decides once
    taken = in_lanes(system, width, monkeypatch)
    np.testing.assert_array_equal(system.constraint_jacobian(states), alone)
    assert not taken


def test_loops_that_a_composite_joint_closes_have_the_bits_of_single_calls(monkeypatch):
    """Its motion calls those of its members, for one lane after another."""
    members = [mb.PrismaticJoint("slide", axis=(1, 2, 0)), mb.SphericalJoint("ball")]
    mech, q = closed_chain(last=mb.CompositeJoint("last", *members))
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["last"]))
    rng = np.random.default_rng(9)
    states = system.retract(q, 1e-2 * rng.normal(size=(19, system.ndx)))
    v, tau = rng.normal(size=(2, 19, system.nv))
    monkeypatch.setattr(lanes, "LEAST_CLOSED", 1)
    taken = in_lanes(system, 8, monkeypatch)
    found = system.constraint_jacobian(states), system.forward_dynamics(states, v, tau)
    assert set(taken) == {8}
    for k, state in enumerate(states):
        np.testing.assert_array_equal(found[0][k], system.constraint_jacobian(state))
        np.testing.assert_array_equal(found[1][k], system.forward_dynamics(state, v[k], tau[k]))


def test_angles_beyond_all_turns_have_the_bits_of_single_calls(case, monkeypatch):
    """Where sine and cosine are the library's, in some of the lanes."""
    system, given, _ = case
    in_lanes(system, 8, monkeypatch)
    q, v, x = (rows[:16].copy() for rows in given["inverse_dynamics"])
    hinge = next(name for name in system.joint_names if system.position_slice(name) == slice(0, 1))
    q[::3, system.position_slice(hinge)] += 3e7
    found = system.inverse_dynamics(q, v, x)
    for k in range(16):
        np.testing.assert_array_equal(found[k], system.inverse_dynamics(q[k], v[k], x[k]))


def test_failures_in_lanes_are_those_of_single_calls(case, monkeypatch):
    """Two in one group, one in the last, which is not full; the others have their bits."""
    system, given, single = case
    in_lanes(system, 8, monkeypatch)
    q, v, tau = (rows[:35].copy() for rows in given["forward_dynamics"])
    tau[[9, 12, 34]] = np.inf
    with pytest.raises(mb.NotFiniteError, match=r"is inf.*At sample \(9,\)"):
        system.forward_dynamics(q, v, tau)
    found = system.forward_dynamics(q, v, tau, on_error="nan")
    bad = np.isin(np.arange(35), [9, 12, 34])
    assert np.isnan(found[bad]).all()
    np.testing.assert_array_equal(found[~bad], single["forward_dynamics"][:35][~bad])


def test_few_samples_and_python_take_the_way_of_single_samples(case, monkeypatch):
    """Nothing is compiled for them."""
    system, given, _ = case
    taken = in_lanes(system, 8, monkeypatch)
    monkeypatch.setattr(lanes, "LEAST_SAMPLES", COUNT + 1)
    system.mass_matrix(*given["mass_matrix"])
    assert not taken


def test_addresses_of_lanes_and_of_dual_numbers_are_types_of_their_own():
    """Both are eight doubles wide: in one process each kernel is compiled for both."""
    from mbkit.kernels.duals import DUAL
    from mbkit.kernels.lanes import Lanes, LanesAddress

    assert LanesAddress(DUAL) != LanesAddress(Lanes(DUAL.width))
