"""Printed formulas of absolute coordinates that are wrong, each beside ours, against a third way.

The source is Mueller, Singularity-free Lie group integration and geometrically consistent
evaluation of multibody system models described in terms of standard absolute coordinates. Numbers
in parentheses are its equations; docs/absolute-coordinates.md has the list. The third way is the
exponential of matrices, the solution of linear equations, or the derivative of a curve. Ours are
both the methods of joints, in Python, and the kernels that systems run.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3, SO3, SO3xR3, UnitQuaternion
from tests.joints.absolute_joints import apart, cayley, hat

#: What ours may miss, and what the printed ones miss at least, at numbers of size one.
ROUNDING, WRONG = 1e-11, 0.05

# steps of joints are twice the Rodrigues parameters that are printed
X1, X2 = np.array([0.7, -1.1, 0.4]), np.array([-0.5, 0.3, 0.9])
C, D = np.array([0.6, -0.3, 0.5]), np.array([0.4, 1.1, -0.7])
SIGMA = 2.0 / (1.0 + C @ C)
Q = np.array([0.8, 0.2, -0.4, 0.4])
R_CAY = cayley(hat(C))


def sinc(x):
    """Sin x / x."""
    return np.sin(x) / x


def rotation(quaternion):
    """(46), which is right: I + 2 (p0 p~ + p~^2)."""
    p = hat(quaternion[1:])
    return np.eye(3) + 2.0 * (quaternion[0] * p + p @ p)


def off(found, expected):
    """Largest deviation."""
    return float(np.abs(np.asarray(found) - expected).max())


def vee(M):
    return np.array([M[2, 1], M[0, 2], M[1, 0], *M[:3, 3]])


class Compiled:
    """The methods of an absolute joint as a system computes them, by its kernels."""

    def __init__(self, joint):
        mech = mb.Mechanism("one")
        body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(joint, mech.world, body)
        self._system = mech.assemble()
        self.local, self.neutral, self.configuration_from_pose = (
            joint.local,
            joint.neutral,
            joint.configuration_from_pose,
        )
        self.retract, self.dexp_inv = self._system.retract, self._system.dexp_inv

    def pose(self, q):
        return self._system.poses(q)[1]

    def motion_subspace(self, q):
        return self._system.motion_subspaces(q).T


def in_python(joint):
    """The methods of the joint itself."""
    return joint


each_way = pytest.mark.parametrize("ours_of", [in_python, Compiled], ids=["python", "kernels"])


@each_way
def test_a1_rotation_by_axis_and_angle(ours_of):
    """(37): the factor of sin^2(phi/2) is 2, not 1/2."""
    phi = np.linalg.norm(X1)
    n = hat(X1 / phi)
    half = np.sin(phi / 2) ** 2 * n @ n
    printed = np.eye(3) + np.sin(phi) * n + half / 2
    joint = ours_of(mb.AbsoluteJoint("free"))
    ours = joint.pose(joint.retract(joint.neutral(), np.concatenate([X1, D])))
    assert off(ours[:3, :3], expm(hat(X1))) < ROUNDING
    assert off(SO3.exp(X1), expm(hat(X1))) < ROUNDING
    assert off(printed, expm(hat(X1))) > WRONG


@each_way
def test_a2_length_of_a_quaternion(ours_of):
    """After (44): the sum of squares is |Q|^2, and |p| in it is squared."""
    turn = UnitQuaternion.exp(X1)
    assert turn[0] ** 2 + turn[1:] @ turn[1:] == pytest.approx(1.0, abs=ROUNDING)
    assert abs(turn[0] ** 2 + np.linalg.norm(turn[1:]) - 1.0) > WRONG
    long = 1.2 * turn
    assert abs(long @ long - np.linalg.norm(long)) > WRONG
    with pytest.raises(mb.ConfigurationError, match=r"of length 1\.2"):
        ours_of(mb.AbsoluteJoint("free")).pose(np.concatenate([long, D]))


@each_way
def test_a3_quaternion_of_rodrigues_parameters(ours_of):
    """(47): p = sqrt(sigma/2) c, not sqrt(1 - sigma/2) c."""
    printed = np.array([np.sqrt(SIGMA / 2), *(np.sqrt(1 - SIGMA / 2) * C)])
    joint = ours_of(mb.AbsoluteJoint("free", local=mb.RodriguesPosition()))
    ours = joint.retract(joint.neutral(), np.concatenate([2 * C, D]))[:4]
    assert off(rotation(ours), R_CAY) < ROUNDING
    assert off(rotation(UnitQuaternion.cay(C)), R_CAY) < ROUNDING
    assert off(rotation(printed), R_CAY) > WRONG
    assert abs(np.linalg.norm(printed) - 1.0) > WRONG


@each_way
def test_a4_velocity_in_the_axes_of_the_body(ours_of):
    """Between (59) and (60): it is R^T rdot."""
    R, r_dot = rotation(Q), X2
    curve = lambda t: apart(R @ expm(t * hat(X1)), D + t * r_dot)  # noqa: E731
    twist = vee(np.linalg.solve(curve(0.0), derivative(curve)))
    joint = ours_of(mb.AbsoluteJoint("free", local=mb.RotationVectorPosition()))
    ours = joint.motion_subspace(np.concatenate([Q, D])) @ np.concatenate([X1, r_dot])
    assert off(ours, twist) < ROUNDING
    assert off(R @ r_dot, twist[3:]) > WRONG


def dcay_inv_by_curves():
    """Of the 4x4 map, right-trivialised, at (C, D): the inverse of how psi(X) moves."""
    at = np.concatenate([C, D])
    psi = cayley(hat(at))
    columns = [
        vee(derivative(lambda t, e=e: cayley(hat(at + t * e))) @ np.linalg.inv(psi))
        for e in np.eye(6)
    ]
    return np.linalg.inv(np.array(columns).T)


@each_way
def test_a5_differential_of_the_cayley_map(ours_of):
    """(63): its block (2, 1) has the matrix d~, not the vector d."""
    expected = dcay_inv_by_curves()
    joint = ours_of(mb.AbsoluteJoint("free", mb.UnitQuaternion(), mb.ExtendedRodrigues(), "right"))
    at = 2 * np.concatenate([C, D])
    ours = np.array([joint.dexp_inv(at, unit) for unit in np.eye(6)]).T / 2
    assert off(ours, expected) < ROUNDING
    assert off(SE3.dcay_spatial_inv(np.concatenate([C, D])), expected) < ROUNDING
    printed = (hat(C) - np.eye(3)) @ D / 2
    assert printed.shape == (3,)  # it does not fit, and repeated in each column it is wrong
    assert off(np.tile(printed[:, None], 3), expected[3:, :3]) > WRONG


@each_way
def test_a6_rates_of_extended_rodrigues_parameters(ours_of):
    """After (63): Xdot = dcay^-1_-X V of a body-fixed V, and not V = dcay^-1_X Xdot."""
    at, rate = np.concatenate([C, D]), np.concatenate([X1, X2])
    curve = lambda t: cayley(hat(at + t * rate))  # noqa: E731
    twist = vee(np.linalg.solve(curve(0.0), derivative(curve)))
    joint = ours_of(mb.AbsoluteJoint("free", local=mb.ExtendedRodrigues()))
    assert off(joint.dexp_inv(2 * at, twist), 2 * rate) < ROUNDING
    assert off(dcay_inv_by_curves() @ rate, twist) > WRONG


@each_way
def test_a7_quaternion_of_the_step(ours_of):
    """(76): its vector has p~ x, not p~^2 x."""
    half = np.linalg.norm(X1) / 2
    p = hat(Q[1:])
    printed = np.array(
        [
            Q[0] * np.cos(half) - sinc(half) * Q[1:] @ X1 / 2,
            *(np.cos(half) * Q[1:] + sinc(half) / 2 * (Q[0] * X1 + p @ p @ X1)),
        ]
    )
    joint = ours_of(mb.AbsoluteJoint("free"))
    ours = joint.retract(np.concatenate([Q, D]), np.concatenate([X1, X2]))[:4]
    assert off(rotation(ours), rotation(Q) @ expm(hat(X1))) < ROUNDING
    assert off(rotation(printed), rotation(Q) @ expm(hat(X1))) > WRONG


@each_way
@pytest.mark.parametrize("orientation", [mb.UnitQuaternion(), mb.RotationVector()])
@pytest.mark.parametrize("local", [mb.RotationVectorPosition(), mb.RodriguesPosition()])
def test_a8_a9_position_after_the_step(orientation, local, ours_of):
    """(80), and (84) of 2b and 2c: r' = r + dr on SO(3) x R^3, and not r + R dr."""
    joint = ours_of(mb.AbsoluteJoint("free", orientation, local))
    q = joint.configuration_from_pose(apart(rotation(Q), D))
    moved = joint.retract(q, np.concatenate([X1, X2]))
    law = SO3xR3.compose(joint.pose(q), apart(expm(hat(X1)), X2))
    assert off(joint.pose(moved)[:3, 3], law[:3, 3]) < ROUNDING
    assert off(D + rotation(Q) @ X2, law[:3, 3]) > WRONG


@each_way
def test_a10_scalar_part_of_the_product(ours_of):
    """Before (88): sinc(phi1/2) sinc(phi2/2), as (90) has it, not sinc(phi1) sinc(phi2)."""
    a, b = np.linalg.norm(X1), np.linalg.norm(X2)
    expected = np.sqrt(1.0 + np.trace(expm(hat(X1)) @ expm(hat(X2)))) / 2  # cos(phi/2)
    joint = ours_of(mb.AbsoluteJoint("free"))
    first = np.concatenate([UnitQuaternion.exp(X1), D])
    ours = joint.retract(first, np.concatenate([X2, D]))[0]
    printed = np.cos(a / 2) * np.cos(b / 2) - sinc(a) * sinc(b) * (X1 @ X2) / 4
    assert off(ours, expected) < ROUNDING
    assert off(printed, expected) > WRONG / 5


@each_way
def test_a11_rotation_vector_after_a_step_of_rodrigues_parameters(ours_of):
    """Appendix B, (92), (93): sqrt(sigma/2) for sqrt(1 - sigma/2) in all four places."""
    s1, half = sinc(np.linalg.norm(X1) / 2), np.linalg.norm(X1) / 2

    def composed(k):
        phi = 2 * np.arccos(np.sqrt(SIGMA / 2) * np.cos(half) - k * s1 * (X1 @ C) / 2)
        parts = np.sqrt(SIGMA / 2) * s1 * X1 + 2 * k * np.cos(half) * C + k * s1 * np.cross(X1, C)
        return expm(hat(parts / sinc(phi / 2)))

    expected = expm(hat(X1)) @ R_CAY
    joint = ours_of(mb.AbsoluteJoint("free", mb.RotationVector(), mb.RodriguesPosition()))
    ours = joint.retract(np.concatenate([X1, D]), np.concatenate([2 * C, D]))[:3]
    assert off(expm(hat(ours)), expected) < ROUNDING
    assert off(composed(np.sqrt(SIGMA / 2)), expected) < ROUNDING  # put right, it is ours
    assert off(composed(np.sqrt(1 - SIGMA / 2)), expected) > WRONG


@each_way
def test_a12_differential_of_the_product(ours_of):
    """After (40): dexp_-X of six entries, as (40) has it; dexp_-x is 3x3, and takes no Xdot."""
    X, rate = np.concatenate([X1, D]), np.concatenate([X2, C])
    spin = expm(hat(X1)).T @ derivative(lambda t: expm(hat(X1 + t * X2)))
    expected = np.concatenate([vee(apart(spin, C))[:3], C])
    joint = ours_of(mb.AbsoluteJoint("free", local=mb.RotationVectorPosition()))
    assert off(joint.dexp_inv(X, expected), rate) < ROUNDING
    with pytest.raises(ValueError, match="mismatch"):
        SO3.dexp_spatial(-X1) @ rate


@each_way
def test_a13_coordinates_within_a_step(ours_of):
    """After (72): q(t) is that of X(t), not of X at the end of the step."""
    joint = ours_of(mb.AbsoluteJoint("free", mb.RotationVector()))
    q, X = np.concatenate([X1, D]), np.concatenate([X2, C])
    expected = joint.pose(q) @ expm(0.5 * hat(X))  # half way along a screw
    assert off(joint.pose(joint.retract(q, 0.5 * X)), expected) < ROUNDING
    assert off(joint.pose(joint.retract(q, X)), expected) > WRONG


@each_way
def test_a14_rates_of_quaternions(ours_of):
    """(14): H is no square matrix there; Qdot = 1/4 H^T w, for w = H Qdot."""
    p0, p = Q[0], Q[1:]
    H = 2.0 * np.hstack([-p[:, None], p0 * np.eye(3) - hat(p)])
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        np.linalg.inv(H)
    joint = ours_of(mb.AbsoluteJoint("free"))
    q, v = np.concatenate([Q, D]), np.concatenate([X1, X2])
    rate = derivative(lambda t: joint.retract(q, t * v))[:4]
    assert off(rate, H.T @ X1 / 4) < ROUNDING
    assert off(H @ rate, X1) < ROUNDING


def test_a15_numbers_of_coordinates():
    """After (65) and (68): of N bodies 7 N positions, or 6 N, and 6 N local coordinates."""
    for orientation, each in ((mb.UnitQuaternion(), 7), (mb.RotationVector(), 6)):
        mech = mb.Mechanism("three")
        for name in "abc":
            ball = mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
            mech.add_joint(mb.AbsoluteJoint(f"{name} free", orientation), mech.world, ball)
        system = mech.assemble()
        assert (system.nq, system.nv) == (3 * each, 3 * 6)


# ----------------------------------------------------------------- steps of Runge and Kutta

TURN, ROLL = 2.0, 1.3


def true_pose(t):
    """A turn about z, of a body that rolls about its x, and a way through space."""
    z, x = np.eye(3)[2], np.eye(3)[0]
    R = expm(TURN * t * hat(z)) @ expm(ROLL * t * hat(x))
    return apart(R, np.array([np.sin(2 * t), np.cos(t), t * t]))


def velocity(t, group):
    """Its body-fixed or mixed twist."""
    w = np.array([ROLL, TURN * np.sin(ROLL * t), TURN * np.cos(ROLL * t)])
    r_dot = np.array([2 * np.cos(2 * t), -np.sin(t), 2 * t])
    return np.concatenate([w, true_pose(t)[:3, :3].T @ r_dot if group is SE3 else r_dot])


def error_at_the_end(joint, steps, retract):
    """Of a second, in steps of RK4 in local coordinates; `retract` is the map that is tried."""
    h, q, group = 1.0 / steps, joint.configuration_from_pose(true_pose(0.0)), joint.local.group
    for k in range(steps):
        k1 = joint.dexp_inv(np.zeros(6), velocity(k * h, group))
        k2 = joint.dexp_inv(0.5 * h * k1, velocity((k + 0.5) * h, group))
        k3 = joint.dexp_inv(0.5 * h * k2, velocity((k + 0.5) * h, group))
        k4 = joint.dexp_inv(h * k3, velocity((k + 1) * h, group))
        q = retract(q, h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    pose = apart(rotation(q[:4]), q[4:])
    return off(pose, true_pose(1.0))


def quaternion_step(turn_of, place_of):
    """A map of quaternions and positions."""

    def retract(q, X):
        turned = UnitQuaternion.compose(q[:4], turn_of(X[:3]))
        return np.concatenate([turned, place_of(q, X)])

    return retract


def printed_47(x):
    c = x / 2
    sigma = 2 / (1 + c @ c)
    return np.array([np.sqrt(sigma / 2), *(np.sqrt(1 - sigma / 2) * c)])


def printed_76(q, X):
    half, p = np.linalg.norm(X[:3]) / 2, hat(q[1:4])
    vector = np.cos(half) * q[1:4] + sinc(half) / 2 * (q[0] * X[:3] + p @ p @ X[:3])
    scalar = q[0] * np.cos(half) - sinc(half) * q[1:4] @ X[:3] / 2
    return np.concatenate([[scalar], vector, q[4:] + rotation(q[:4]) @ SE3.exp(X)[:3, 3]])


def printed_80(q, X):
    return q[4:] + rotation(q[:4]) @ X[3:]


RUNS = {
    "A3, (47)": (
        mb.RodriguesPosition(),
        quaternion_step(printed_47, lambda q, X: q[4:] + X[3:]),
    ),
    "A7, (76)": (mb.ScrewCoordinates(), printed_76),
    "A8, (80)": (mb.RotationVectorPosition(), quaternion_step(UnitQuaternion.exp, printed_80)),
}


@pytest.mark.long
@each_way
@pytest.mark.parametrize("case", RUNS)
def test_printed_maps_do_not_converge(case, ours_of):
    """In steps of RK4 ours is of fourth order; the printed one stays wrong at every step size."""
    local, printed = RUNS[case]
    joint = ours_of(mb.AbsoluteJoint("free", local=local))
    coarse, fine = (error_at_the_end(joint, steps, joint.retract) for steps in (20, 40))
    assert np.log2(coarse / fine) == pytest.approx(4.0, abs=0.15)
    with np.errstate(all="ignore"):
        errors = [error_at_the_end(joint, steps, printed) for steps in (10, 20, 40)]
    assert not min(errors) < WRONG
