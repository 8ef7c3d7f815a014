"""States that are looked at beside the rows are the same by whatever way a run takes its steps."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.simulation import in_memory
from mbkit.simulation.watched_states import sampled_steps
from tests.simulation.test_energy_balance import Euler, double_pendulum

pytestmark = pytest.mark.compiled  # hundreds of steps

STEPS = 200
H = 1e-3


@pytest.mark.parametrize(
    "integrator",
    [
        mb.RungeKuttaMuntheKaas(), mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-8),
        mb.GeneralizedAlpha(), mb.RATTLie(), Euler(works=True),
    ],
    ids=["RKMK4", "adaptive", "generalized-alpha", "RATTLie", "in Python"],
)  # fmt: skip
@pytest.mark.parametrize("every", [70, STEPS])
def test_samples_are_states_of_the_run(integrator, every, monkeypatch):
    """Bit by bit those that the same run saves when it saves all; loops of kernels keep them."""
    found = []

    def finding(run, rows, further, options):
        found.append(further)
        return ""

    monkeypatch.setattr(in_memory, "balance_finding", finding)
    system = double_pendulum()
    span = (0.0, STEPS * H)
    start = {"q": [1.2, -0.4], "v": [0.3, 2.0], "integrator": integrator}
    everything = mb.simulate(system, span, H, **start)
    few = mb.simulate(system, span, H, save_every=every, **start)
    t, kinetic, potential, dissipated, supplied = found[1]
    steps = np.rint(t / H).astype(int)
    assert steps.tolist() == [0, *sampled_steps(STEPS)]
    assert few.t.size == 2 + (STEPS - 1) // every
    np.testing.assert_array_equal(kinetic, everything.kinetic_energy[steps])
    np.testing.assert_array_equal(potential, everything.potential_energy[steps])
    np.testing.assert_array_equal(dissipated, everything.dissipated_energy[steps])
    np.testing.assert_array_equal(supplied, everything.supplied_energy[steps])
