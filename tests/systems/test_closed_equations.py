"""The equations of closed mechanisms, solved for many changes: against pseudoinverses of all."""

from __future__ import annotations

import numpy as np
import pytest

from examples.closed_loops import bricard, n_four_bar, spatial_slider_crank
from mbkit.systems.derivatives.evaluation_states import Change, Point

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

#: Mechanisms with many redundant rows, one of a loop, and none; joints that are prescribed.
CASES = {
    "six windows": (lambda: n_four_bar.build(6).assemble(), ()),
    "six windows, driven": (lambda: n_four_bar.build(6).assemble(), ("ground3", "left5")),
    "bricard": (lambda: bricard.build().assemble(), ()),
    "slider-crank": (lambda: spatial_slider_crank.build().assemble(), ()),
}


def closed_states(system, rng, count):
    """Return velocities and configurations that keep the loops closed."""
    q = np.repeat(system.reference_configuration()[None], count, axis=0)
    A = system.constraint_jacobian(q)
    free = [np.linalg.svd(each)[2][np.linalg.matrix_rank(each, tol=1e-9) :] for each in A]
    return q, np.stack([N.T @ rng.normal(size=len(N)) for N in free])


@pytest.mark.some(2)
@pytest.mark.parametrize("name", CASES)
def test_changes_of_all_right_sides(name):
    """Least squares of rows, multipliers of least norm in the directions of the rows."""
    build, driven = CASES[name]
    system = build()
    rng, k = np.random.default_rng(3), 4
    q, v = closed_states(system, rng, 2)
    given = system.known(None, None, driven)[2 * system.nv :] != 0.0
    A, M, free = system.constraint_jacobian(q), system.mass_matrix(q), ~given
    rank = np.array([np.linalg.matrix_rank(each[:, free], tol=1e-9) for each in A])
    zero, m = np.zeros(v.shape), A.shape[1]
    point = Point(
        system, q, v, zero, zero, np.zeros(2), np.ones((2, m)), rank, given, by_motion=False
    )
    efforts, held = rng.normal(size=(2, 2, system.nv, k))
    rows, turned = rng.normal(size=(2, 2, m, k))
    held *= given[:, None]
    found = point.solution.solve(Change(efforts, rows, turned, held, tau=0.5 * free[:, None]))
    for n in range(2):
        B, F = A[n][:, free], M[n][free][:, free]
        inverse = np.linalg.inv(F)
        response = np.linalg.pinv(B @ inverse @ B.T, rcond=1e-10)
        along = np.linalg.pinv(B, rcond=1e-10)
        e = efforts[n, free] - 0.5
        # the part of the rows that accelerations can satisfy, and the forces that do it
        multipliers = response @ (B @ inverse @ e - B @ (along @ rows[n]))
        accelerations = inverse @ (B.T @ multipliers - e)
        multipliers += turned[n] - B @ (along @ turned[n])
        tau = efforts[n] + M[n][:, free] @ accelerations - A[n].T @ multipliers
        for what, expected in (
            ("vdot", np.where(free[:, None], 0.0, held[n])), ("multipliers", multipliers),
            ("tau", np.where(free[:, None], 0.5, tau)),
        ):  # fmt: skip
            if what == "vdot":
                expected[free] = accelerations
            size = np.abs(expected).max()
            np.testing.assert_allclose(found[what][n], expected, rtol=0.0, atol=1e-10 * size)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_batches_have_the_bits_of_single_states(name):
    build, _ = CASES[name]
    system, rng = build(), np.random.default_rng(4)
    q, v = closed_states(system, rng, 3)
    tau, by = rng.normal(size=v.shape), ("q", "v", "tau")
    together = system.derivatives("forward_dynamics", q, v, tau, by=by)
    none = system.derivatives("forward_dynamics", q[:0], v[:0], by=by)
    assert none.multipliers["q"].shape == (0, *together.multipliers["q"].shape[1:])
    for n in range(3):
        alone = system.derivatives("forward_dynamics", q[n], v[n], tau[n], by=by)
        for what in ("vdot", "multipliers"):
            np.testing.assert_array_equal(together.values[what][n], alone.values[what])
            for each in by:
                parts = getattr(together, what)[each][n], getattr(alone, what)[each]
                np.testing.assert_array_equal(*parts)
