"""Batches in lanes of the width of other processors: the bits of single calls."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import delta_robot
from mbkit.systems.calls import lanes
from mbkit.systems.memory.in_lanes.workspace import native_lanes
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.systems.test_batches import DERIVATIVES, METHODS, WITHOUT_OUT, in_lanes_alone, one
from tests.systems.test_lanes import in_lanes
from tests.trees import MAKERS, random_mechanism, random_state

#: Four where this processor has eight numbers in a register, and eight where it has four.
OTHER = 12 - native_lanes().width

#: Groups that are full, and one that is not.
COUNT = 2 * OTHER + 3

#: What is compiled for another width: nobody calls it.
pytestmark = [pytest.mark.long, pytest.mark.compiled]


def states(system, size=1.0):
    """Random states, as a dictionary of arrays."""
    rng = np.random.default_rng(31)
    found = [random_state(rng, system, size) for _ in range(COUNT)]
    names = ("q", "v", "vdot", "tau", "wrenches")
    return {name: np.array([getattr(each, name) for each in found]) for name in names}


def check(call, system, arguments, monkeypatch):
    """Compare a batch, of which no sample is computed alone, with its samples."""
    expected = [call(system, one(arguments, k)) for k in range(COUNT)]
    taken = in_lanes(system, OTHER, monkeypatch)
    for name in ("LEAST_STATES", "LEAST_CLOSED"):
        monkeypatch.setattr(lanes, name, 1)
    found = in_lanes_alone(monkeypatch, lambda: call(system, arguments))
    assert set(taken) == {OTHER}
    if not isinstance(found, tuple):
        found, expected = (found,), [(each,) for each in expected]
    for of_all, each in zip(found, zip(*expected, strict=True), strict=True):
        np.testing.assert_array_equal(of_all, np.array(each))


def tree_of_all_joints(representation):
    """A tree of every kind of joint, and states of it."""
    mech = random_mechanism(np.random.default_rng(11), len(MAKERS), reach=4)
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    return system, states(system)


@each_representation
@pytest.mark.parametrize(
    "method",
    [
        "twists", "accelerations", "jacobian", "loaded inverse_dynamics",
        "loaded forward_dynamics", "hybrid_dynamics", "mass_matrix", "kinetic_energy", "momentum",
    ],
)  # fmt: skip
def test_trees_of_all_joints(method, representation, monkeypatch):
    """With wrenches, and with some joints prescribed."""
    call = (METHODS | WITHOUT_OUT)[method]
    check(call, *tree_of_all_joints(representation), monkeypatch)


@pytest.mark.parametrize("method", ["inverse_dynamics", "loaded forward_dynamics"])
def test_derivatives(method, monkeypatch):
    """Whose functions are the same in each representation."""
    check(DERIVATIVES[method], *tree_of_all_joints(mb.BodyFixed()), monkeypatch)


@pytest.mark.parametrize(
    "call",
    [
        lambda s, a: s.forward_dynamics(a["q"], a["v"], t=0.4),
        lambda s, a: s.force_powers(a["q"], a["v"], t=0.4),
    ],
    ids=["forward_dynamics", "powers"],
)
def test_forces_of_every_kind(call, monkeypatch):
    """All at once."""
    rng = np.random.default_rng(21)
    mech, single = tree(rng)
    system = mech.assemble().with_forces(every_force(rng, mech, single))
    check(call, system, states(system, 0.7), monkeypatch)


@pytest.mark.parametrize("solver", [mb.SchurComplement(), mb.MinimumNorm()], ids=repr)
def test_accelerations_and_multipliers_of_a_closed_mechanism(solver, monkeypatch):
    """Of a delta robot, near to where its loops are closed."""
    system = delta_robot.build().assemble().with_constraint_solver(solver)
    rng = np.random.default_rng(8)
    v, tau = rng.normal(size=(2, COUNT, system.nv))
    steps = 1e-3 * rng.normal(size=(COUNT, system.ndx))
    q = system.retract(system.reference_configuration(), steps)

    def call(system, a):
        return np.concatenate(system.solved(a["q"], a["v"], a["tau"], pull=(9.0, 6.0)), axis=-1)

    check(call, system, {"q": q, "v": v, "tau": tau}, monkeypatch)
