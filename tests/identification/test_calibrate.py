"""Calibration: joints that were moved are found where poses tell them, within the errors told."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.identification.calibrate import _Problem, _views
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3, SO3
from tests.constraints.loops import closed, random_loops
from tests.forces.cases import KINDS
from tests.systems.test_geometric_regressor import varied
from tests.systems.test_regressor import arm
from tests.trees import random_mechanism, random_pose


def configurations(rng, system, samples):
    return system.retract(system.reference_configuration(), rng.normal(size=(samples, system.ndx)))


def moved(rng, system, size):
    """Return the system with all joints moved at random."""
    return varied(system, {joint: size * rng.normal(size=(2, 6)) for joint in system.joint_places})


def noisy(rng, C, turned, shifted):
    """Return poses with noise in the axes of the world."""
    C = np.array(C)
    C[..., :3, :3] = SO3.exp(turned * rng.normal(size=(*C.shape[:-2], 3))) @ C[..., :3, :3]
    C[..., :3, 3] += shifted * rng.normal(size=(*C.shape[:-2], 3))
    return C


@pytest.mark.parametrize("floating", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_tree_of_many_joints_by_poses_of_two_hands(floating):
    """Errors of geometry of degrees and centimetres; then the poses elsewhere are right."""
    rng = np.random.default_rng(130)
    system = random_mechanism(rng, 7, KINDS, floating=floating).assemble()
    true = moved(rng, system, 0.02)
    S = random_pose(rng)
    bodies = {"body6": S, "body4": np.eye(4)}
    q = configurations(rng, system, 40)
    poses = {body: true.pose(body, q, frame=frame) for body, frame in bodies.items()}
    found = mb.calibrate(system, poses, q=q, frames={"body6": S})
    assert max(np.abs(each).max() for each in found.residuals.values()) < 1e-9
    other = configurations(rng, system, 5)
    for body, frame in bodies.items():
        expected = true.pose(body, other, frame=frame)
        np.testing.assert_allclose(found.system.pose(body, other, frame=frame), expected, atol=1e-8)


def test_the_derivative_far_from_the_start():
    """Exact also where variations and errors are large, by differences."""
    rng = np.random.default_rng(131)
    system = random_mechanism(rng, 3, ("revolute", "cylindrical", "prismatic")).assemble()
    q = configurations(rng, system, 2)
    C = system.pose("body2", q) @ SE3.exp([0.4, 0.2, -0.5, 0.1, 0.2, 0.3])
    views, q = _views(system, {"body2": C, "body1": C[:, :3, 3]}, q, None)
    names = system.geometric_parameter_names
    problem = _Problem(system, q, views, names, np.arange(len(names)))
    x, step = 0.4 * rng.normal(size=(2, len(names)))
    expected = derivative(lambda e: problem.residuals(problem.moved(x + e * step)))
    found = problem.slopes(problem.moved(x), x) @ step
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("rows", ["all", "linear"])
def test_standard_errors_are_those_of_repeated_measurements(rows):
    """Of the parameters that are told, all others at rest; noise is estimated."""
    rng = np.random.default_rng(132)
    system = random_mechanism(rng, 3, ("revolute", "prismatic", "revolute"), reach=1).assemble()
    body, S = system.body_names[-1], random_pose(rng)
    base = system.geometric_base_parameters(body, rows=rows, frame=S)
    names = [system.geometric_parameter_names[k] for k in base.independent]
    exact = 0.01 * rng.normal(size=len(names))
    variations = np.zeros(len(system.geometric_parameter_names))
    variations[base.independent] = exact
    true = varied(system, dict(zip(system.joint_places, variations.reshape(-1, 2, 6), strict=True)))
    q = configurations(rng, system, 60)
    C, noise, parts = true.pose(body, q, frame=S), np.array([2e-3, 5e-4]), []
    for _ in range(9):
        seen = noisy(rng, C, *noise)
        seen = seen if rows == "all" else seen[:, :3, 3]
        found = mb.calibrate(system, {body: seen}, names, q=q, frames={body: S})
        assert found.undetermined == ()
        used = slice(0 if rows == "all" else 1, 2)
        assert (np.abs(found.noise / noise - 1.0)[used] < 0.3).all()
        left = found.parameters - exact
        assert np.abs(left / found.standard_errors).max() < 5.0
        # independent, of unit variance
        parts.append(np.linalg.solve(np.linalg.cholesky(found.covariance), left))
    assert 0.85 < np.sqrt(np.square(parts).mean()) < 1.15


def test_what_is_not_told_is_named():
    system = arm([(0, 1, 0)] * 2)
    rng = np.random.default_rng(133)
    q = configurations(rng, system, 12)
    true = varied(system, {"joint2": ([0, 0.1, 0, 0.02, 0, 0.03], np.zeros(6))})
    found = mb.calibrate(system, {"link2": true.pose("link2", q)}, q=q)
    assert len(found.parameters) == 24
    assert len(found.base.names) == 14
    assert "joint1.screw[wz]" in found.base.without_effect
    assert set(found.base.without_effect) < set(found.undetermined)
    seen = true.pose("link2", q)
    some = mb.calibrate(system, {"link2": seen}, ["joint2.placement", "joint1.screw[x]"], q=q)
    assert some.parameter_names[0] == "joint1.screw[x]"
    assert len(some.parameter_names) == 7
    np.testing.assert_allclose(some.system.pose("link2", q), seen, atol=1e-9)


def test_what_is_refused():
    system = arm([(0, 1, 0)])
    q = np.linspace(-1.0, 1.0, 8)[:, None]
    C = system.pose("link1", q)
    scaled = np.array(C)
    scaled[:, :3, :3] *= 2.0
    cases = [
        (({"link1": C[1:]},), {}, mb.ShapeError, r"\(8, 4, 4\)"),
        (({"link1": np.nan * C},), {}, mb.NotFiniteError, "link1"),
        (({"link1": scaled},), {}, mb.GeometryError, "link1"),
        (({"hand": C},), {}, mb.NameUnknownError, "hand"),
        (({},), {}, mb.UsageError, "no body"),
        ((C,), {}, mb.UsageError, "mapping"),
        (({"link1": C}, ["joint1.screw[q]"]), {}, mb.NameUnknownError, "did you mean"),
        (({"link1": C}, ["joint1.screw[z]"]), {}, mb.UsageError, "tell nothing"),
        (({"link1": C},), {"frames": {"world": np.eye(4)}}, mb.UsageError, "'world'"),
        (({"link1": C},), {"frames": {"link1": np.ones((4, 4))}}, mb.GeometryError, "link1"),
        (({"link1": C},), {"noise": 1.0}, mb.UsageError, "two standard deviations"),
        (({"link1": C},), {"q": q[0]}, mb.ShapeError, "samples"),
        (({"link1": C[:1]},), {"q": q[:1]}, mb.UsageError, "too few"),
    ]
    for given, named, error, words in cases:
        with pytest.raises(error, match=words):
            mb.calibrate(system, *given, **{"q": q, **named})
    mech, _, loops = random_loops(np.random.default_rng(134), 4, ("revolute", "spherical"))
    with pytest.raises(mb.UsageError, match="loops"):
        mb.calibrate(closed(mech, loops), {"body1": C}, q=q)
