"""Packed inertias against dense 6x6 matrices."""

import numpy as np
import pytest

from mbkit.kernels.compile import array_address, float64, floats, int64, kernel, matrix
from mbkit.kernels.layout import BODY, SCRATCH, SPACE
from mbkit.kernels.recursions import inertias
from mbkit.kernels.workspace import bodies, scratch_of

_INDEX = [[0, 1, 2], [1, 3, 4], [2, 4, 5]]


def hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rigid_matrix(row):
    """[[Theta, h~], [-h~, m I]]."""
    h = hat(row["first_moment"])
    return np.block([[row["moment"][_INDEX], h], [-h, row["mass"] * np.eye(3)]])


def articulated_matrix(row):
    """[[Theta, H], [H^T, M]]."""
    H = row["coupling"].reshape(3, 3)
    return np.block([[row["rotational"][_INDEX], H], [H.T, row["translational"][_INDEX]]])


def inverse_adjoint(R, p):
    """Ad of the inverse of (R, p): twists of the parent's frame into the child's."""
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ hat(p), R.T]])


@kernel(int64(int64))
def _compose_rigid(space):
    model = bodies(space)
    work = scratch_of(space)
    inertias.copy_rigid(work[0], model[0])
    inertias.copy_rigid(work[1], model[1])
    inertias.add_rigid_to_parent(work[1], work[1].R, work[1].p, work[0])
    return 0


@kernel(int64(int64))
def _compose_articulated(space):
    work = scratch_of(space)
    inertias.add_articulated_to_parent(work[1], work[0])
    return 0


@kernel(int64(int64, float64, floats))
def _subtract(space, D, U):
    inertias.subtract_outer(scratch_of(space)[1], D, U)
    return 0


@kernel(int64(int64, floats, matrix))
def _products(space, V, out):
    row = bodies(space)[0]
    body = scratch_of(space)[1]
    w = (V[0], V[1], V[2])
    u = (V[3], V[4], V[5])
    for i, (t, f) in enumerate(
        (
            inertias.rigid_times(row, w, u),
            inertias.gyroscopic(row, w, u),
            inertias.articulated_times(body, w, u),
        )
    ):
        for j in range(3):
            out[i, j] = t[j]
            out[i, 3 + j] = f[j]
    return 0


@pytest.fixture
def memory():
    """Two rows of random inertias, the second placed on the first by a random pose."""
    rng = np.random.default_rng(3)
    model, work = np.zeros(2, BODY), np.zeros(2, SCRATCH)
    for row in model:
        row["mass"] = rng.uniform(0.5, 2.0)
        row["first_moment"] = rng.normal(size=3)
        row["moment"] = rng.normal(size=6)
    for row in work:
        for field in ("rotational", "coupling", "translational"):
            row[field] = rng.normal(size=row[field].shape)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    work[1]["R"] = Q * np.sign(np.linalg.det(Q))
    work[1]["p"] = rng.normal(size=3)
    record = np.zeros(1, SPACE)
    record["bodies"], record["num_bodies"] = array_address(model), 2
    record["scratch"], record["num_rows"] = array_address(work), 2
    return model, work, record, array_address(record), rng


def test_a_rigid_inertia_moves_to_the_parent(memory):
    """M_p + Ad^-T M Ad^-1, in ten numbers."""
    model, work, _record, space, _rng = memory
    X = inverse_adjoint(work[1]["R"], work[1]["p"])
    expected = rigid_matrix(model[0]) + X.T @ rigid_matrix(model[1]) @ X
    _compose_rigid(space)
    np.testing.assert_allclose(rigid_matrix(work[0]), expected, rtol=0, atol=1e-14 * 10)


def test_an_articulated_inertia_moves_to_the_parent(memory):
    """I_p + Ad^-T I Ad^-1, in three packed blocks."""
    _model, work, _record, space, _rng = memory
    X = inverse_adjoint(work[1]["R"], work[1]["p"])
    expected = articulated_matrix(work[0]) + X.T @ articulated_matrix(work[1]) @ X
    _compose_articulated(space)
    np.testing.assert_allclose(articulated_matrix(work[0]), expected, rtol=0, atol=1e-13)


def test_a_column_is_eliminated(memory):
    """I - D U U^T."""
    _model, work, _record, space, rng = memory
    U = rng.normal(size=6)
    expected = articulated_matrix(work[1]) - 0.7 * np.outer(U, U)
    _subtract(space, 0.7, U)
    np.testing.assert_allclose(articulated_matrix(work[1]), expected, rtol=0, atol=1e-14)


def test_products_with_twists(memory):
    """M V, -ad_V^T M V and I V."""
    model, work, _record, space, rng = memory
    V = rng.normal(size=6)
    ad = np.block([[hat(V[:3]), np.zeros((3, 3))], [hat(V[3:]), hat(V[:3])]])
    M = rigid_matrix(model[0])
    out = np.zeros((3, 6))
    _products(space, V, out)
    expected = [M @ V, -ad.T @ M @ V, articulated_matrix(work[1]) @ V]
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-13)
