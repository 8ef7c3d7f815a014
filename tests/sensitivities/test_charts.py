"""Differentials of coordinates of steps, against inverse matrices and differences."""

from __future__ import annotations

import numpy as np
import pytest

from mbkit.sensitivities.charts import Charts
from tests.sensitivities.differences import STEPS, WEIGHTS
from tests.trees import random_mechanism

KINDS = ("spherical", "free", "planar")


@pytest.mark.parametrize("length", [0.0, 1e-9, 1e-3, 1.0, 3.0, 5.0])
def test_each_block_is_what_the_group_says(length):
    rng = np.random.default_rng(4)
    system = random_mechanism(rng, 3, KINDS).assemble()
    x, w = rng.normal(size=system.ndx), rng.normal(size=system.nv)
    for block in Charts.of(system).blocks:
        x[block.steps] *= length / np.linalg.norm(x[block.steps])
    unit, h = np.eye(system.ndx), 2e-2

    def A(x):
        return np.array([system.dexp_inv(x, each) for each in unit]).T

    by_x = sum(
        weight / h * np.array([system.dexp_inv(x + h * k * e, w) for e in unit]).T
        for k, weight in zip(STEPS, WEIGHTS, strict=True)
    )
    start, step = np.linalg.solve(A(x), A(-x)), np.linalg.inv(A(x))
    charts = Charts.of(system)
    q = system.reference_configuration()
    found = charts.differentials(x[None], q[None], w[None])
    assert len(found) == len(charts.blocks) > 0
    for block, each in zip(charts.blocks, found, strict=True):
        own = block.steps, block.steps
        expected = start[own], step[own], by_x[own], A(x)[block.steps, block.velocities]
        for a, b in zip((each.start, each.step, each.by_x, each.by_v), expected, strict=True):
            assert np.abs(a[0] - b).max() < 3e-10 * max(1.0, np.abs(b).max())
        assert not each.by_q.any()
