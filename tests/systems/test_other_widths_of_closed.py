"""Batches of closed mechanisms in lanes of the width of other processors.

The comparisons are those of the native width, over the same mechanisms, solvers and constraints.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.systems.calls import lanes
from tests.systems import test_batches_of_closed as of_closed
from tests.systems import test_other_widths as of_trees
from tests.systems.test_batches import in_lanes_alone, one

#: What is compiled for another width: nobody calls it.
pytestmark = [pytest.mark.long, pytest.mark.compiled]

registers_have_the_other_width = of_trees.registers_have_the_other_width
case = of_closed.case

test_a_batch = of_closed.test_a_batch_of_a_closed_mechanism_is_its_samples
test_derivatives_and_wrenches = (
    of_closed.test_derivatives_and_wrenches_of_constraints_are_in_a_batch_those_of_its_samples
)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("solver", [mb.SchurComplement(), mb.MinimumNorm()], ids=repr)
def test_a_delta_robot(solver, monkeypatch):
    """With universal joints, near to where its loops are closed."""
    monkeypatch.setattr(lanes, "LEAST_CLOSED", 1)
    system, arguments = of_closed.delta()
    system = system.with_constraint_solver(solver)
    call = of_closed.METHODS["multipliers"]
    expected = np.array([call(system, one(arguments, k)) for k in range(of_closed.COUNT)])
    found = in_lanes_alone(monkeypatch, lambda: call(system, arguments))
    np.testing.assert_array_equal(found, expected)
