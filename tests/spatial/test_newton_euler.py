"""Newton-Euler equations of a body against the motion of its point masses.

A cloud of point masses moves rigidly along a motion that is a Taylor polynomial. Newton's law of
each, summed, gives the wrench; nothing of screw theory enters the expectation.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.representations.motions import (
    ALL,
    NAMES,
    base_poses,
    derivatives,
    motion,
    product,
    rate,
    twist_series,
    vee,
)

POSES = base_poses()
representations = pytest.mark.parametrize("representation", ALL, ids=NAMES)
at_poses = pytest.mark.parametrize("C0", POSES.values(), ids=POSES)


class Cloud:
    """Point masses, and what their motion asks for."""

    def __init__(self, rng):
        self.masses = rng.uniform(0.5, 2.0, 5)
        self.points = rng.standard_normal((5, 3))
        parts = [
            mb.SpatialInertia.from_com(m, p) for m, p in zip(self.masses, self.points, strict=True)
        ]
        self.inertia = sum(parts[1:], start=parts[0])

    def paths(self, C):
        """Return the series (masses, order + 1, 3) of the points in the world."""
        rows = np.hstack([self.points, np.ones((len(self.points), 1))])
        return np.array([(C @ row)[:, :3] for row in rows])

    def moment_and_force(self, C, about, axes):
        """Return sum (x - about) x m xdd and sum m xdd at t = 0, in the axes R."""
        moment, force = np.zeros((2, 3))
        for m, x in zip(self.masses, self.paths(C), strict=True):
            moment += np.cross(x[0] - about, m * 2.0 * x[2])
            force += m * 2.0 * x[2]
        return np.concatenate([axes.T @ moment, axes.T @ force])

    def wrench(self, name, C):
        """Return the wrench in a representation."""
        R, r = C[0, :3, :3], C[0, :3, 3]
        about = np.zeros(3) if name == "spatial" else r
        W = self.moment_and_force(C, about, np.eye(3))
        if name in ("body_fixed", "mixed"):
            W[:3] = R.T @ W[:3]
        if name == "body_fixed":
            W[3:] = R.T @ W[3:]
        return W

    def power(self, C):
        """Return the rate of the kinetic energy, sum m xd . xdd."""
        paths = self.paths(C)
        return sum(m * x[1] @ (2.0 * x[2]) for m, x in zip(self.masses, paths, strict=True))


def close(found, expected, C, factor=1.0):
    """Say whether wrenches agree to rounding, in units of the largest product that is summed."""
    size = factor * max(1.0, np.abs(C).max()) ** 2
    return np.abs(np.asarray(found) - expected).max() <= 1e-12 * size


@pytest.mark.some(2)
@representations
@at_poses
def test_wrench_is_that_of_the_point_masses(representation, C0):
    rng = np.random.default_rng(41)
    cloud, C = Cloud(rng), motion(rng, C0)
    V, A, _ = derivatives(representation.name, C)
    expected = cloud.wrench(representation.name, C)
    found = mb.newton_euler(cloud.inertia, C0, V, A, representation)
    assert close(found, expected, C)
    M = mb.inertia_matrix(cloud.inertia, C0, representation)
    p = mb.newton_euler_bias(cloud.inertia, C0, V, representation)
    assert close(M @ A + p, expected, C)


@representations
def test_at_another_frame_of_the_body(representation):
    """The twist of a frame at C S, the moment about its origin, in its axes."""
    rng = np.random.default_rng(42)
    cloud, C, S = Cloud(rng), motion(rng, SE3.random(rng)), SE3.random(rng)
    V, A, _ = derivatives(representation.name, C @ S)
    found = mb.newton_euler(cloud.inertia, C[0], V, A, representation, body_frame=S)
    # the same points, seen from the other frame, on the motion of that frame
    seen = Cloud(np.random.default_rng(42))
    seen.points = (seen.points - S[:3, 3]) @ S[:3, :3]
    assert close(found, seen.wrench(representation.name, C @ S), C)
    M = mb.inertia_matrix(cloud.inertia, C[0], representation, body_frame=S)
    p = mb.newton_euler_bias(cloud.inertia, C[0], V, representation, body_frame=S)
    assert close(M @ A + p, found, C)


@representations
@at_poses
def test_power_is_the_rate_of_kinetic_energy(representation, C0):
    """W . V = d/dt sum m |xd|^2 / 2, and V . M V / 2 is that energy."""
    rng = np.random.default_rng(43)
    cloud, C = Cloud(rng), motion(rng, C0)
    V, A, _ = derivatives(representation.name, C)
    W = mb.newton_euler(cloud.inertia, C0, V, A, representation)
    size = np.abs(C).max()
    assert close(W @ V, cloud.power(C), C, size)
    energy = sum(0.5 * m * x[1] @ x[1] for m, x in zip(cloud.masses, cloud.paths(C), strict=True))
    M = mb.inertia_matrix(cloud.inertia, C0, representation)
    assert close(0.5 * V @ M @ V, energy, C, size)


def test_forms_of_the_bias():
    """What the docstring says of each representation, at a pose that is not the identity."""
    rng = np.random.default_rng(44)
    inertia, C, V = Cloud(rng).inertia, SE3.random(rng), rng.standard_normal(6)
    R, w, d, m = C[:3, :3], V[:3], inertia.com, inertia.mass
    M = {each.name: mb.inertia_matrix(inertia, C, each) for each in ALL}
    p = {each.name: mb.newton_euler_bias(inertia, C, V, each) for each in ALL}
    for name in ("body_fixed", "spatial"):
        assert close(p[name], -SE3.ad(V).T @ M[name] @ V, C, 10.0)
    spin = np.concatenate([w, np.zeros(3)])
    assert close(p["hybrid"], SE3.ad(spin) @ M["hybrid"] @ spin, C, 10.0)
    moment = np.cross(w, inertia.moment_about_origin @ w)
    force = m * R @ np.cross(w, np.cross(w, d))
    assert close(p["mixed"], np.concatenate([moment, force]), C, 10.0)


def measured(C, C_j, C_k):
    """Return twist and acceleration measured in F_j and resolved in F_k, by differentiation."""
    R, r, r_j = C[:, :3, :3], C[:, :3, 3:], C_j[:, :3, 3:]
    to_axes = np.swapaxes(C_k[:, :3, :3], 1, 2)
    spin = product(rate(R), np.swapaxes(R, 1, 2))
    velocity = product(to_axes, rate(r) + product(spin, r_j - r))[:, :, 0]
    angular = product(to_axes, vee(spin)[:, :, None])[:, :, 0]
    V = np.hstack([angular, velocity])
    return V[0], V[1]


def frame_twist(C, name):
    return mb.Twist(twist_series("hybrid", C)[0], mb.Hybrid(), pose=C[0], body=name)


@pytest.mark.parametrize("seed", range(4))
def test_measured_in_one_frame_and_resolved_in_another(seed):
    """Two frames that move on their own, neither of them in the body or the world."""
    rng = np.random.default_rng(seed)
    cloud = Cloud(rng)
    C, C_j, C_k = (motion(rng, SE3.random(rng)) for _ in range(3))
    V, A = measured(C, C_j, C_k)
    found = mb.newton_euler_in_frames(
        cloud.inertia, C[0], V, A,
        measured_in=frame_twist(C_j, "j").to(mb.Mixed()),
        resolved_in=frame_twist(C_k, "k").to(mb.Spatial()),
    )  # fmt: skip
    expected = cloud.moment_and_force(C, C_j[0, :3, 3], C_k[0, :3, :3])
    assert close(found, expected, C_j, 10.0)


@pytest.mark.parametrize(
    ("name", "measured_in_body", "resolved_in_body"),
    [("spatial", False, False), ("hybrid", True, False), ("body_fixed", True, True)],
)
def test_frames_that_are_representations(name, measured_in_body, resolved_in_body):
    """The body's own frame and the world's give three of the representations."""
    rng = np.random.default_rng(45)
    cloud, C = Cloud(rng), motion(rng, SE3.random(rng))
    V, A, _ = derivatives(name, C)
    body = frame_twist(C, "body")
    found = mb.newton_euler_in_frames(
        cloud.inertia, C[0], V, A,
        measured_in=body if measured_in_body else None,
        resolved_in=body if resolved_in_body else None,
    )  # fmt: skip
    assert close(found, cloud.wrench(name, C), C)


def test_equation_63_as_printed_fails():
    """With ad of the whole twist of F_j, the hybrid case (F_j of the body, F_k world) fails."""
    rng = np.random.default_rng(46)
    cloud, C = Cloud(rng), motion(rng, SE3.random(rng))
    V, A, _ = derivatives("hybrid", C)
    M = mb.inertia_matrix(cloud.inertia, C[0], mb.Hybrid())
    printed = M @ (A + SE3.ad(V) @ V) - SE3.ad(V).T @ M @ V
    linear = np.concatenate([np.zeros(3), V[3:]])
    corrected = M @ (A + SE3.ad(linear) @ V) - SE3.ad(V).T @ M @ V
    expected = cloud.wrench("hybrid", C)
    assert close(corrected, expected, C)
    assert np.abs(printed - expected).max() > 0.1 * np.abs(expected).max()


@representations
def test_leading_axes_broadcast(representation):
    rng = np.random.default_rng(47)
    inertia, C, S = Cloud(rng).inertia, SE3.random(rng, (3, 1)), SE3.random(rng)
    V, A = rng.standard_normal((2, 4, 6))
    found = mb.newton_euler(inertia, C, V, A, representation, body_frame=S)
    assert found.shape == (3, 4, 6)
    one = mb.newton_euler(inertia, C[2, 0], V[1], A[1], representation, body_frame=S)
    assert close(found[2, 1], one, C, 10.0)
    assert mb.inertia_matrix(inertia, C, representation).shape == (3, 1, 6, 6)


def test_refusals():
    ball, V, h = mb.SpatialInertia.sphere(1.0, radius=1.0), np.ones(6), mb.Hybrid()
    with pytest.raises(mb.QuantityError, match=r"newton_euler: inertia .*SpatialInertia, got nd"):
        mb.newton_euler(np.eye(6), np.eye(4), V, V, h)
    with pytest.raises(mb.UsageError, match="newton_euler_bias: representation must be"):
        mb.newton_euler_bias(ball, np.eye(4), V, "hybrid")
    with pytest.raises(mb.GeometryError, match="inertia_matrix: pose takes poses"):
        mb.inertia_matrix(ball, 2.0 * np.eye(4), h)
    with pytest.raises(mb.ShapeError, match="newton_euler takes arrays whose leading axes"):
        mb.newton_euler(ball, np.eye(4), np.ones((2, 6)), np.ones((3, 6)), h)
    with pytest.raises(mb.QuantityError, match=r"measured_in must be the mb\.Twist .* got ndarray"):
        mb.newton_euler_in_frames(ball, np.eye(4), V, V, measured_in=np.ones(6))
    with pytest.raises(mb.ShapeError, match="newton_euler_in_frames takes one body"):
        mb.newton_euler_in_frames(ball, np.eye(4), np.ones((2, 6)), V)
    twist = mb.Twist(V, mb.Spatial(), pose=np.eye(4), body="ball")
    with pytest.raises(mb.UsageError, match="the Twist is spatial, where hybrid was said"):
        mb.newton_euler(ball, np.eye(4), twist, V, h)
    with pytest.raises(mb.UsageError, match="convert_twist: the Twist is spatial"):
        mb.convert_twist(twist, np.eye(4), mb.Mixed(), h)
