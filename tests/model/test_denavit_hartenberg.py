"""Serial arms by Denavit-Hartenberg parameters: their frames, in both conventions."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.spatial import inverse, rotation, translation
from tests.trees import random_inertia, random_pose

Row = mb.DenavitHartenbergRow
X, Z = np.eye(3)[[0, 2]]


def random_rows(rng, count=6):
    """Rows of both kinds of joints, none of their parameters zero."""
    rows = []
    for _ in range(count):
        a, d = rng.normal(size=2)
        alpha, theta = rng.uniform(-np.pi, np.pi, size=2)
        kind = str(rng.choice(["revolute", "prismatic"]))
        inertia = random_inertia(rng)
        rows.append(Row(a=a, alpha=alpha, d=d, theta=theta, kind=kind, inertia=inertia))
    return rows


def along_z(row, q):
    turn, shift = (q, 0.0) if row.kind == "revolute" else (0.0, q)
    return rotation(Z, row.theta + turn) @ translation((row.d + shift) * Z)


def along_x(row):
    return translation(row.a * X) @ rotation(X, row.alpha)


PRODUCTS = {
    "standard": lambda row, q: along_z(row, q) @ along_x(row),
    "modified": lambda row, q: along_x(row) @ along_z(row, q),
}


@pytest.mark.parametrize("convention", PRODUCTS)
@pytest.mark.parametrize("seed", range(4))
def test_poses_are_products_of_elementary_motions(convention, seed):
    """At zero, near it, and anywhere."""
    rng = np.random.default_rng(seed)
    rows, base = random_rows(rng), random_pose(rng)
    system = mb.Mechanism.from_denavit_hartenberg(
        "arm", rows, convention=convention, base=base
    ).assemble()
    for q in (np.zeros(6), np.full(6, 1e-8), rng.uniform(-3, 3, size=6)):
        C = base
        for i, (row, x) in enumerate(zip(rows, q, strict=True), start=1):
            C = C @ PRODUCTS[convention](row, x)
            assert np.abs(system.poses(q)[i] - C).max() < 1e-14 * (1 + np.abs(C).max())


@pytest.mark.parametrize("seed", range(4))
def test_both_conventions_describe_the_same_arm(seed):
    """The z axis of joint i is that of frame i - 1 in one and of frame i in the other.

    So the standard rows (a_i, alpha_i, d_i, theta_i) are the modified ones with a and alpha of the
    row before; standard frame i stands at Tx(a_i) Rx(alpha_i) in modified frame i.
    """
    rng = np.random.default_rng(seed)
    rows = random_rows(rng)
    before = [Row(), *rows[:-1]]
    other_rows = [
        attrs.evolve(row, a=last.a, alpha=last.alpha, inertia=row.inertia.transformed(along_x(row)))
        for row, last in zip(rows, before, strict=True)
    ]
    system, other = (
        mb.Mechanism.from_denavit_hartenberg("arm", each, convention=convention).assemble()
        for each, convention in ((rows, "standard"), (other_rows, "modified"))
    )
    q, v, vdot = rng.normal(size=(3, 6))
    for i, row in enumerate(rows, start=1):
        expected = other.poses(q)[i] @ along_x(row)
        assert np.abs(system.poses(q)[i] - expected).max() < 1e-14 * (1 + np.abs(expected).max())
    M = system.mass_matrix(q)
    assert np.abs(other.mass_matrix(q) - M).max() < 1e-13 * np.abs(M).max()
    tau = system.inverse_dynamics(q, v, vdot)
    assert np.abs(other.inverse_dynamics(q, v, vdot) - tau).max() < 1e-12 * np.abs(tau).max()


BALL = mb.SpatialInertia.sphere(1.0, radius=0.1)


def test_puma_560_is_where_the_textbook_says():
    """Craig (2005), figure 3.21 and equation 3.14: position of the wrist of a PUMA 560.

    px = c1 (a2 c2 + a3 c23 - d4 s23) - d3 s1, py likewise, pz = -a3 s23 - a2 s2 - d4 c23.
    """
    a2, a3, d3, d4 = 0.4318, 0.0203, 0.1244, 0.4318
    table = [
        (0.0, 0.0, 0.0), (0.0, -np.pi / 2, 0.0), (a2, 0.0, d3), (a3, -np.pi / 2, d4),
        (0.0, np.pi / 2, 0.0), (0.0, -np.pi / 2, 0.0),
    ]  # fmt: skip
    rows = [Row(a=a, alpha=alpha, d=d, inertia=BALL) for a, alpha, d in table]
    system = mb.Mechanism.from_denavit_hartenberg("puma", rows, convention="modified").assemble()
    q = np.array([0.3, -0.7, 1.1, 0.4, -0.2, 0.9])
    (c1, c2), (s1, s2) = np.cos(q[:2]), np.sin(q[:2])
    c23, s23 = np.cos(q[1] + q[2]), np.sin(q[1] + q[2])
    reach = a2 * c2 + a3 * c23 - d4 * s23
    expected = [c1 * reach - d3 * s1, s1 * reach + d3 * c1, -a3 * s23 - a2 * s2 - d4 * c23]
    assert np.abs(system.poses(q)[6][:3, 3] - expected).max() < 1e-15


def test_stanford_arm_is_where_the_textbook_says():
    """Siciliano et al. (2009), section 2.9.6: position of the wrist of a Stanford manipulator.

    p = (c1 s2 d3 - s1 d2, s1 s2 d3 + c1 d2, c2 d3), d3 being the position of the prismatic joint.
    """
    d2 = 0.1524
    rows = [
        Row(alpha=-np.pi / 2, inertia=BALL),
        Row(alpha=np.pi / 2, d=d2, inertia=BALL),
        Row(kind="prismatic", inertia=BALL),
        Row(alpha=-np.pi / 2, inertia=BALL),
        Row(alpha=np.pi / 2, inertia=BALL),
        Row(inertia=BALL),
    ]
    arm = mb.Mechanism.from_denavit_hartenberg("stanford", rows, convention="standard")
    q = np.array([0.3, -0.7, 0.8, 0.4, -0.2, 0.9])
    (c1, c2), (s1, s2), d3 = np.cos(q[:2]), np.sin(q[:2]), q[2]
    expected = [c1 * s2 * d3 - s1 * d2, s1 * s2 * d3 + c1 * d2, c2 * d3]
    assert np.abs(arm.assemble().poses(q)[3][:3, 3] - expected).max() < 1e-15


def test_names_inertias_limits_and_gravity_are_those_given():
    limits = mb.JointLimits(-1, 1)
    rows = [Row(inertia=BALL, limits=limits, joint="shoulder", link="arm"), Row(inertia=BALL)]
    arm = mb.Mechanism.from_denavit_hartenberg(
        "arm", rows, convention="standard", gravity=(0, 0, 0), base=translation((0, 0, 1))
    )
    assert list(arm.bodies) == ["arm", "link2"]
    assert list(arm.joints) == ["shoulder", "joint2"]
    assert arm.bodies["arm"].inertia == BALL
    assert arm.joints["shoulder"].limits == limits
    assert not arm.gravity.any()
    assert np.array_equal(inverse(arm.joints["shoulder"].S_pred), translation((0, 0, -1)))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Row(a="1"), mb.GeometryError, "a must be a finite number, got '1'"),
        (lambda: Row(theta=np.nan), mb.GeometryError, "theta must be a finite number, got nan"),
        (lambda: Row(kind="fixed"), mb.UsageError, "kind must be 'revolute' or 'prismatic'"),
        (lambda: Row(limits=3), mb.UsageError, "limits must be an mbkit.JointLimits, got 3"),
        (lambda: Row(inertia=5), mb.UsageError, "inertia must be an mbkit.SpatialInertia, got 5"),
        (
            lambda: mb.Mechanism.from_denavit_hartenberg(
                "m", [], convention="standard", base=np.zeros((4, 4))
            ),
            mb.GeometryError,
            "Mechanism 'm': base must",
        ),
        (
            lambda: mb.Mechanism.from_denavit_hartenberg("m", [], convention="craig"),
            mb.UsageError,
            "convention must be 'standard'.*or 'modified'.*got 'craig'",
        ),
        (
            lambda: mb.Mechanism.from_denavit_hartenberg("m", [(1, 2)], convention="standard"),
            mb.UsageError,
            r"Row 1 must be an mbkit.DenavitHartenbergRow, got \(1, 2\)",
        ),
    ],
)
def test_what_is_no_table_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
