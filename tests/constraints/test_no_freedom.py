"""Mechanisms without any velocity: all that can be asked of them has an answer of size zero."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb


@pytest.fixture
def ring():
    """Two bodies, welded to the world and to each other."""
    mech = mb.Mechanism("ring")
    for name in "ab":
        mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
    for name, ends in {"f1": (mech.world, "a"), "f2": ("a", "b"), "f3": ("b", mech.world)}.items():
        mech.add_joint(mb.FixedJoint(name), *ends)
    system = mech.assemble()
    assert (system.nq, system.nv, system.num_velocity_constraints) == (0, 0, 6)
    return system


@pytest.mark.some(2)
@pytest.mark.parametrize("leading", [(), (1,), (3,), (0,)])
def test_everything_has_size_zero(ring, leading):
    nothing = np.zeros((*leading, 0))
    good = ring.check_motion(nothing, nothing, nothing)
    assert good.shape == leading
    assert good.all()
    assert ring.dependent_velocity(nothing, {}).shape == nothing.shape
    assert ring.dependent_acceleration(nothing, nothing, {}).shape == nothing.shape
    efforts = ring.closed_inverse_dynamics(nothing, nothing, nothing, actuated=[])
    assert efforts.efforts.shape == nothing.shape
    np.testing.assert_array_equal(efforts.multipliers, np.zeros((*leading, 6)))
    changes = ring.derivatives(
        "closed_inverse_dynamics",
        nothing,
        nothing,
        vdot=nothing,
        actuated=[],
        by=("q", "t", "gravity"),
    )
    assert changes.tau["q"].shape == (*leading, 0, 0)
    assert changes.tau["gravity"].shape == (*leading, 0, 3)
    np.testing.assert_array_equal(changes.multipliers["gravity"], np.zeros((*leading, 6, 3)))
    for prescribed in ((), ring.joint_names):
        for found in ring.hybrid_dynamics(nothing, nothing, prescribed=prescribed):
            assert found.shape == nothing.shape


def test_it_closes_in_one_way(ring):
    assert ring.assembly_modes(starts=3).shape == (1, 0)
    diagnosis = ring.diagnose()
    assert (diagnosis.rank, diagnosis.mobility, diagnosis.generic_mobility) == (0, 0, 0)
    assert len(diagnosis.redundant) == 6
