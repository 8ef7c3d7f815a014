"""Differentials of coordinates of steps, against inverse matrices and differences."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.bridges.replay import replay
from mbkit.kernels.configuration import dexp_inv, rates, retract
from mbkit.sensitivities.charts import Charts
from mbkit.tracing.trace import Trace
from tests.sensitivities.differences import STEPS, WEIGHTS
from tests.systems.complex_steps import OPERATIONS, STEP
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


def absolute(**options):
    return lambda name: mb.AbsoluteJoint(name, **options)


JOINTS = {
    "free": mb.FreeJoint,
    "planar": lambda name: mb.PlanarJoint(name, axis=(1, 2, 3)),
    "composite": lambda name: mb.CompositeJoint(
        name, mb.SphericalJoint("ball"), mb.PrismaticJoint("slide")
    ),
    "absolute": absolute(),
    "rotation vector": absolute(local=mb.RotationVectorPosition(), trivialised="right"),
    "Rodrigues": absolute(local=mb.RodriguesPosition()),
    "extended Rodrigues": absolute(local=mb.ExtendedRodrigues()),
    "dual Rodrigues": absolute(local=mb.DualRodrigues()),
    "Wiener-Milenkovic": absolute(local=mb.WienerMilenkovicPosition()),
}


def complex_steps(system, q, v, x):
    """Derivatives of dexp_inv(x, rates(q, v)) by x and along steps of q, on complex numbers."""
    n = system.ndx
    trace = Trace("rates of steps", system, (), smooth=True)
    traced, moved = (trace.tape.inputs(name, [0.0] * n) for name in ("x", "dx"))
    w = trace.call(rates, n, trace.v, q=trace.call(retract, system.nq, moved))
    result = trace.call(dexp_inv, n, w, q=traced)
    given = {**dict(zip(trace.q, q, strict=True)), **dict(zip(trace.v, v, strict=True))}
    for k, (one, other) in enumerate(zip(traced, moved, strict=True)):
        given[one] = x[k] + 1j * STEP * np.eye(2 * n)[k]
        given[other] = 1j * STEP * np.eye(2 * n)[n + k]
    found = replay("rates of steps", [*result], given, OPERATIONS, complex)
    expected = np.array([np.broadcast_to(np.imag(each), 2 * n) / STEP for each in found])
    return expected[:, :n], expected[:, n:]


def assert_exact(system, q, v, x, rounding):
    (own,) = Charts.of(system).differentials(x[None], q[None], v[None])
    expected = complex_steps(system, q, v, x)
    size = max(1.0, np.abs(expected).max())
    for part, exact in zip((own.by_x[0], own.by_q[0]), expected, strict=True):
        np.testing.assert_allclose(part, exact, rtol=0.0, atol=rounding * size)


def one_joint(joint):
    mech = mb.Mechanism("body")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.box(1.0, size=(1, 2, 3))))
    mech.add_joint(joint, mech.world, body)
    return mech.assemble()


@pytest.mark.some(2)
@pytest.mark.compiled
@pytest.mark.parametrize("length", [1e-9, 1.0, 2.5, 4.5, 6.2])
@pytest.mark.parametrize("joint", JOINTS)
def test_rates_against_complex_steps(joint, length):
    """They have no error but rounding, near the pole at 2 pi too."""
    system, rng = one_joint(JOINTS[joint]("joint")), np.random.default_rng(7)
    x, w = rng.normal(size=system.ndx), rng.normal(size=system.nv)
    x[:3] *= length / np.linalg.norm(x[:3])
    rounding = 1e-13 if length < 6.0 else 1e-10  # of the tape
    assert_exact(system, system.reference_configuration(), w, x, rounding)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["RollingSphere", "RollingDisc"])
def test_rates_of_nonholonomic_joints_against_complex_steps(kind):
    """They depend on the configuration besides."""
    rolling, rng = pytest.importorskip("mbkit_rolling"), np.random.default_rng(8)
    system = one_joint(getattr(rolling, kind)("rolls", 0.3))
    q = system.retract(system.reference_configuration(), 0.4 * rng.normal(size=system.ndx))
    x, v = 0.3 * rng.normal(size=system.ndx), rng.normal(size=system.nv)
    assert_exact(system, q, v, x, 1e-13)
