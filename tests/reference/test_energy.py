"""Energy of conservative trees of 20 bodies in the compiled loop."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.reference.orders import measured_order
from tests.trees import random_mechanism, random_state

# Joints that turn. On a joint that only slides a body would fall for ten seconds, and its kinetic
# energy would make any drift look small.
KINDS = ("spherical", "revolute", "helical", "screw")


@pytest.fixture(
    scope="module", params=[20, *(pytest.param(each, marks=pytest.mark.long) for each in (21, 22))]
)
def runs(request):
    """Ten seconds of a tree under gravity at steps of 1 and 1/2 ms."""
    rng = np.random.default_rng(request.param)
    system = random_mechanism(rng, 20, KINDS, gravity=(0, 0, -9.81), reach=20).assemble()
    state = random_state(rng, system, 0.3)
    return [mb.simulate(system, (0.0, 10.0), h, q=state.q, v=state.v) for h in (1e-3, 5e-4)]


def drift(run, until=10.0):
    """Largest change of the energy, as a part of the peak kinetic energy, both until then."""
    taken = run.t <= until
    return np.abs(run.energy_drift[taken]).max() / run.kinetic_energy[taken].max()


def test_drift(runs):
    """At h = 1e-3 the energy changes by less than 1e-6 of the peak kinetic energy."""
    assert drift(runs[0]) < 1e-6


def test_drift_falls_with_order_four(runs):
    """Halving the step divides the drift by 2^4, over the three seconds in which it can be said.

    These trees are chaotic: later the two runs are different motions, and the order in which a sum
    is rounded decides which. Until then the drift is far above round-off.
    """
    orders = measured_order([1e-3, 5e-4], [drift(run, until=3.0) for run in runs])
    assert orders == pytest.approx(4.0, abs=0.1)
    assert drift(runs[1]) > 1e-12


def test_energy_moves_between_its_kinds(runs):
    """The trees do move: kinetic energy rises to many times the energy at the start."""
    run = runs[0]
    assert run.kinetic_energy.max() > 10.0 * run.kinetic_energy[0]
    assert np.ptp(run.potential_energy) > 0.5 * run.kinetic_energy.max()
