"""Batches in lanes of the width of other processors: the bits of single calls.

The comparisons are those of the native width, over the same joints, representations, forces and
constraints.
"""

from __future__ import annotations

import pytest

from mbkit.kernels.lanes import Lanes, native_width
from mbkit.systems.calls import evaluator, lanes
from tests.systems import test_batches as of_trees
from tests.systems import test_batches_of_forces as of_forces
from tests.systems import test_hybrid_derivatives as of_hybrid

#: Four where this processor has eight numbers in a register, and eight where it has four.
OTHER = 12 - native_width()

#: What is compiled for another width: nobody calls it.
pytestmark = [pytest.mark.long, pytest.mark.compiled]


@pytest.fixture(autouse=True)
def registers_have_the_other_width(monkeypatch):
    """For systems whose first batch comes meanwhile; all their batches in lanes are as wide."""
    found = set()
    take = lanes.BatchInLanes.take

    def noted(batch, *arguments):
        found.add(batch.width)
        return take(batch, *arguments)

    monkeypatch.setattr(lanes.BatchInLanes, "take", noted)
    monkeypatch.setattr(evaluator, "native_lanes", lambda: Lanes(OTHER))
    yield
    assert found <= {OTHER}


# The comparisons, and the fixtures that they ask for.

case = of_trees.case
derivatives_case = of_trees.derivatives_case
changing_case = of_trees.changing_case
series_case = of_trees.series_case
closed_case = of_trees.closed_case

test_a_batch = of_trees.test_a_batch_is_its_samples
test_derivatives = of_trees.test_derivatives_of_a_batch_are_those_of_its_samples
test_more_derivatives = of_trees.test_more_derivatives_of_a_batch_are_those_of_its_samples
test_rates_of_subspaces = (
    of_trees.test_what_asks_for_rates_of_subspaces_is_in_a_batch_what_it_is_of_samples
)
test_momenta_in_the_world = (
    of_trees.test_momenta_in_the_world_are_in_a_batch_what_they_are_of_samples
)
test_series = of_trees.test_series_of_a_batch_are_those_of_its_samples
test_constraints = of_trees.test_constraints_of_a_batch_are_those_of_its_samples
test_hybrid_derivatives = of_hybrid.test_batches_are_what_their_samples_are

taken = of_forces.taken

test_forces = of_forces.test_a_force_on_many_samples_is_the_force_on_each
test_powers = of_forces.test_powers_and_potentials_on_many_samples_are_those_on_each
test_wrenches_of_forces = of_forces.test_wrenches_of_forces_on_many_samples_are_those_on_each
test_derivatives_of_springs = (
    of_forces.test_derivatives_of_springs_on_many_samples_are_those_on_each
)
test_dynamics_under_forces = of_forces.test_dynamics_of_many_samples_under_all_forces
test_turned_bushings = of_forces.test_frames_of_a_bushing_turned_by_any_angle_in_each_sample
