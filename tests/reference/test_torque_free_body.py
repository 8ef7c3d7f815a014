"""A rigid body without torques on a spherical joint: the orders of the integrators.

I = diag(2, 1.5, 1), omega(0) = (0.3, 2, 0.1): near the unstable middle axis, so that the body
turns over. The reference is a Taylor series solution with 20 digits of the equations for the
quaternion, itself checked against Jacobi's elliptic functions.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.special import ellipj, ellipkinc

import mbkit as mb
from mbkit.lie import SO3
from tests.reference.orders import measured_order

MOMENTS = np.array([2.0, 1.5, 1.0])
OMEGA = np.array([0.3, 2.0, 0.1])
T_END = 4.0


def omega_dot(omega):
    """Euler's equations: I omega' = (I omega) x omega."""
    return np.cross(MOMENTS * omega, omega) / MOMENTS


@pytest.fixture(scope="module")
def body():
    """The body on a spherical joint at its centre of mass."""
    mech = mb.Mechanism("torque-free body", gravity=(0, 0, 0))
    inertia = mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.diag(MOMENTS))
    mech.add_joint(mb.SphericalJoint("centre"), mech.world, mech.add_body(mb.Body("body", inertia)))
    return mech.assemble()


@pytest.fixture(scope="module")
def reference():
    """R and omega at the end."""
    I1, I2, I3 = MOMENTS

    def rates(_, y):
        w, x, y, z, o1, o2, o3 = y
        return [
            -(x * o1 + y * o2 + z * o3) / 2,  # 2 q' = q (0, omega)
            (w * o1 + y * o3 - z * o2) / 2,
            (w * o2 + z * o1 - x * o3) / 2,
            (w * o3 + x * o2 - y * o1) / 2,
            (I2 - I3) * o2 * o3 / I1,
            (I3 - I1) * o3 * o1 / I2,
            (I1 - I2) * o1 * o2 / I3,
        ]

    with mpmath.workdps(20):
        start = [mpmath.mpf(str(x)) for x in (1, 0, 0, 0, *OMEGA)]
        end = np.array(mpmath.odefun(rates, 0, start)(T_END), dtype=float)
    return rotation(end[:4]), end[4:]


def rotation(quaternion_wxyz):
    """R of a quaternion, by its definition."""
    w, *u = quaternion_wxyz / np.linalg.norm(quaternion_wxyz)
    cross = np.cross(u, np.eye(3)).T  # columns u x e_i
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def errors(body, reference, tableau, h):
    """Angle of the rotation error, and error of the angular velocity, at the end."""
    integrator = mb.RungeKuttaMuntheKaas(tableau=tableau)
    run = mb.simulate(body, (0.0, T_END), h, integrator=integrator, v=OMEGA)
    R, omega = reference
    angle = np.linalg.norm(SO3.log(R.T @ body.poses(run.q[-1])[1, :3, :3]))
    return float(angle), float(np.linalg.norm(run.v[-1] - omega))


@pytest.mark.long
def test_reference_agrees_with_elliptic_functions(reference):
    """The angular velocity is the closed form in Jacobi's functions.

    With A < B < C for the moments about the axes 3, 2, 1, and L^2 > 2 T B,

        omega = (c dn, -b sn, a cn) of p t + u0

    (Landau and Lifshitz, Mechanics, section 37, where the axes are counted the other way, hence
    the sign).
    """
    C, B, A = MOMENTS
    twice_T = MOMENTS @ OMEGA**2
    L2 = (MOMENTS * OMEGA) @ (MOMENTS * OMEGA)
    assert twice_T * B < L2
    a = np.sqrt((twice_T * C - L2) / (A * (C - A)))
    b = np.sqrt((twice_T * C - L2) / (B * (C - B)))
    c = np.sqrt((L2 - twice_T * A) / (C * (C - A)))
    p = np.sqrt((C - B) * (L2 - twice_T * A) / (A * B * C))
    m = (B - A) * (twice_T * C - L2) / ((C - B) * (L2 - twice_T * A))
    start = ellipkinc(np.arctan2(-OMEGA[1] / b, OMEGA[2] / a), m)
    sn, cn, dn, _ = ellipj(p * T_END + start, m)
    np.testing.assert_allclose(reference[1], [c * dn, -b * sn, a * cn], rtol=0.0, atol=1e-14)


def test_error_of_rk4(body, reference):
    """At h = 1/16 the error is below 1e-6 in R and omega."""
    assert max(errors(body, reference, mb.tableaus.RK4, 1 / 16)) < 1e-6


# Steps by second at which the leading term of the error rules, and which are above round-off.
@pytest.mark.parametrize(
    ("tableau", "rates"),
    [
        (mb.tableaus.EULER, (512, 1024, 2048, 4096)),
        (mb.tableaus.HEUN, (64, 128, 256, 512)),
        (mb.tableaus.RK4, (16, 32, 64, 128)),
        (mb.tableaus.MIDPOINT, (64, 128, 256, 512)),
        (mb.tableaus.KUTTA3, (64, 128, 256, 512)),
        (mb.tableaus.BOGACKI_SHAMPINE3, (64, 128, 256, 512)),
        (mb.tableaus.DORMAND_PRINCE5, (24, 32, 48, 64)),
        (mb.tableaus.VERNER6, (12, 16, 24, 32)),
        (mb.tableaus.DORMAND_PRINCE8, (3, 4, 5, 6)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_orders(body, reference, tableau, rates):
    """Rotation and angular velocity converge with the order of the tableau."""
    steps = [1 / rate for rate in rates]
    found = np.array([errors(body, reference, tableau, h) for h in steps])
    for column in found.T:
        assert measured_order(steps, column) == pytest.approx(tableau.order, abs=0.1)


def averaged_step(R, omega, h):
    """The classical step with one exponential of averaged velocities: dexp^-1 is left out."""
    k1 = omega_dot(omega)
    w2 = omega + h / 2 * k1
    k2 = omega_dot(w2)
    w3 = omega + h / 2 * k2
    k3 = omega_dot(w3)
    w4 = omega + h * k3
    mean = (omega + 2 * w2 + 2 * w3 + w4) / 6
    return R @ SO3.exp(h * mean), omega + h / 6 * (k1 + 2 * k2 + 2 * k3 + omega_dot(w4))


def test_averaged_velocities_have_order_two(reference):
    """Negative control: the order of RK4 on the group is owed to the inverse differential.

    The velocities, whose equations do not contain R, still converge with order 4.
    """
    steps = [1 / 16, 1 / 32, 1 / 64, 1 / 128]
    found = []
    for h in steps:
        R, omega = np.eye(3), OMEGA
        for _ in range(round(T_END / h)):
            R, omega = averaged_step(R, omega, h)
        angle = np.linalg.norm(SO3.log(reference[0].T @ R))
        found.append([angle, np.linalg.norm(omega - reference[1])])
    rotations, velocities = np.transpose(found)
    assert measured_order(steps, rotations) == pytest.approx(2.0, abs=0.1)
    assert measured_order(steps, velocities) == pytest.approx(4.0, abs=0.1)
    assert rotations[0] > 1e-4  # a hundred times what test_error_of_rk4 allows
