"""The mechanism of Mueller 2018, sections 2.5 and 3.6, in three descriptions of its geometry."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from examples.remote_centre_of_motion import DESCRIPTIONS, Geometry, body_fixed, spatial
from tests.reference.balls import BALL, with_ball

DATA = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "remote_centre_of_motion.json").read_text()
)
GEOMETRY = Geometry(**DATA["parameters"])

# Five bodies of some kilograms and metres: round-off of a few hundred operations on numbers of
# order one.
TOLERANCE = 1e-12


def inertias():
    """The inertias of the data with a ball each."""
    return [with_ball(M) for M in np.array(DATA["inertia_at_body_frame"])]


@pytest.fixture(scope="module", params=DESCRIPTIONS)
def system(request):
    """The mechanism in one description."""
    return DESCRIPTIONS[request.param](GEOMETRY, inertias()).assemble()


@pytest.fixture(scope="module")
def balls():
    """The same mechanism with nothing but balls."""
    return spatial(GEOMETRY, [BALL] * 5).assemble()


def assert_close(found, expected):
    """Compare all entries to `TOLERANCE` of the largest, or of one."""
    expected = np.asarray(expected)
    assert np.abs(found - expected).max() <= TOLERANCE * max(1.0, np.abs(expected).max())


def angles():
    """Configurations: the one of the data, and some more."""
    return [np.array(DATA["q"]), *np.random.default_rng(3).uniform(-3.0, 3.0, size=(5, 5))]


def shorthand(q):
    """Sines and cosines as the paper writes them: s1, c1, s12, c12, ..."""
    sums = {"1": q[0], "3": q[2], "12": q[0] + q[1], "23": q[1] + q[2], "123": q[0] + q[1] + q[2]}
    return {f + k: g(x) for k, x in sums.items() for f, g in (("s", np.sin), ("c", np.cos))}


def test_spatial_screws():
    """The joints' screws are Y_1 to Y_5 of section 2.5."""
    g, half = GEOMETRY, np.sqrt(0.5)
    expected = [
        (0, 0, 1, 0, 0, 0),
        (0, 0, 1, 0, g.d2, 0),
        (0, 0, 1, 0, -g.d3, 0),
        (-half, 0, half, 0, -(g.d4 + g.h4) * half, 0),
        (0, 0, 1, 0, -g.d5, 0),
    ]
    found = [edge.joint.screw for edge in spatial(g, inertias()).joints.values()]
    assert_close(np.array(found), expected)
    assert_close(np.array(found), DATA["spatial_screws"])


def test_body_fixed_screws():
    """The screws of section 2.5 in the frames of the bodies are those of the data."""
    found = [edge.joint.screw for edge in body_fixed(GEOMETRY, inertias()).joints.values()]
    assert_close(np.array(found), DATA["body_fixed_screws"])


@pytest.mark.parametrize("q", angles())
def test_pose_of_body3(system, q):
    """C_3(q) is the closed form of section 2.5."""
    g, f = GEOMETRY, shorthand(q)
    x = -g.d2 * f["c1"] + (g.d2 + g.d3) * f["c12"] + (g.x3 - g.d3) * f["c123"]
    y = -g.d2 * f["s1"] + (g.d2 + g.d3) * f["s12"] + (g.x3 - g.d3) * f["s123"]
    expected = [
        [f["c123"], -f["s123"], 0, x],
        [f["s123"], f["c123"], 0, y],
        [0, 0, 1, g.z3],
        [0, 0, 0, 1],
    ]
    assert_close(system.poses(q)[3], expected)


@pytest.mark.parametrize("q", angles())
def test_body_fixed_jacobian_of_body3(system, q):
    """J_3^b is the closed form of section 3.6, whose first two columns are misprinted.

    The paper transforms with C_{1,3} and C_{2,3} instead of their inverses. Right are
    Ad_{C_{3,1}} 1X1 and Ad_{C_{3,2}} 2X2, for which

        v_y of column 1 = (d2 + d3) c3 - d2 c23 - d3 + x3, and so on.
    """
    g, f = GEOMETRY, shorthand(q)
    d23 = g.d2 + g.d3
    expected = np.zeros((6, 5))
    expected[2, :3] = 1.0
    expected[3, :2] = d23 * f["s3"] - g.d2 * f["s23"], d23 * f["s3"]
    expected[4, 0] = d23 * f["c3"] - g.d2 * f["c23"] - g.d3 + g.x3
    expected[4, 1] = d23 * f["c3"] - g.d3 + g.x3
    expected[4, 2] = g.x3 - g.d3
    assert_close(system.jacobian("body3", q), expected)


@pytest.mark.parametrize("q", angles())
def test_spatial_jacobian(system, q):
    """Columns 1 to 4 of J^s = Ad_C J^b are the closed forms of section 3.6.

    Misprinted there: s23 for s12 in the fourth entry of the third column.
    """
    g, f = GEOMETRY, shorthand(q)
    d23, reach = g.d2 + g.d3, g.d4 + g.h4 - g.d3
    half = np.sqrt(0.5)
    expected = [
        (0, 0, 1, 0, 0, 0),
        (0, 0, 1, -g.d2 * f["s1"], g.d2 * f["c1"], 0),
        (0, 0, 1, d23 * f["s12"] - g.d2 * f["s1"], g.d2 * f["c1"] - d23 * f["c12"], 0),
        (
            -f["c123"] * half,
            -f["s123"] * half,
            half,
            (d23 * f["s12"] - g.d2 * f["s1"] + reach * f["s123"]) * half,
            (g.d2 * f["c1"] - d23 * f["c12"] - reach * f["c123"]) * half,
            (g.d2 * f["s23"] - d23 * f["s3"]) * half,
        ),
    ]
    C = system.poses(q)[5]
    R, p = C[:3, :3], C[:3, 3]
    J = system.jacobian("body5", q)
    rotational = R @ J[:3]
    found = np.vstack([rotational, R @ J[3:] + np.cross(p, rotational, axis=0)])
    assert_close(found[:, :4], np.transpose(expected))


def test_poses(system):
    """All poses are those of the data, at q = 0 and elsewhere."""
    assert_close(system.poses(np.zeros(5))[1:], DATA["reference_poses"])
    assert_close(system.poses(DATA["q"])[1:], DATA["poses"])


def test_jacobians(system):
    """The body-fixed Jacobians of all bodies are those of the data."""
    found = [system.jacobian(body, DATA["q"]) for body in system.body_names[1:]]
    assert_close(np.array(found), DATA["jacobians"])


def test_twists_and_accelerations(system):
    """Body-fixed twists and their rates are those of the data."""
    q, v, vdot = DATA["q"], DATA["v"], DATA["vdot"]
    assert_close(system.twists(q, v)[1:], DATA["twists"])
    assert_close(system.accelerations(q, v, vdot)[1:], DATA["accelerations"])


def test_dynamics(system, balls):
    """Mass matrix, bias force and forces are those of the data."""
    q, v, vdot = DATA["q"], DATA["v"], DATA["vdot"]
    assert_close(system.mass_matrix(q) - balls.mass_matrix(q), DATA["mass_matrix"])
    assert_close(system.bias_force(q, v) - balls.bias_force(q, v), DATA["bias_force"])
    found = system.inverse_dynamics(q, v, vdot) - balls.inverse_dynamics(q, v, vdot)
    assert_close(found, DATA["tau"])


def test_forward_dynamics(system):
    """The acceleration solves M vdot + b = tau."""
    q, v, vdot = DATA["q"], DATA["v"], DATA["vdot"]
    tau = system.mass_matrix(q) @ vdot + system.bias_force(q, v)
    assert_close(system.forward_dynamics(q, v, tau), vdot)
