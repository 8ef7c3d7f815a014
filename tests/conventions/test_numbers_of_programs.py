"""Drake and iDynTree: what they computed of the same two bodies, kept as numbers.

Neither is installed with mbkit. tests/data/drake_two_bodies.json and idyntree_two_bodies.json hold
what they gave, with their versions and the functions that were called, rounded to thirteen
decimals. The state stands in `two_bodies`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mbkit as mb
from mbkit.conventions import DRAKE, IDYNTREE
from tests.conventions.two_bodies import ARM, BASE, VDOT, WRENCH, Q, V, two_bodies

DATA = Path(__file__).parents[1] / "data"
HYBRID = mb.Hybrid()
NAMES = ["MIXED", "BODY_FIXED", "INERTIAL_FIXED"]
names = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def case():
    return two_bodies()


@pytest.fixture(scope="module")
def drake():
    return json.loads((DATA / "drake_two_bodies.json").read_text())


@pytest.fixture(scope="module")
def idyntree():
    return json.loads((DATA / "idyntree_two_bodies.json").read_text())


def close(found, expected):
    return np.abs(np.asarray(found) - np.asarray(expected)).max() <= 1e-12


def weightless(case):
    """Return generalized forces without gravity: with the weights as wrenches against it."""
    C = case.system.poses(Q)
    wrenches = np.zeros((3, 6))
    for k, inertia in ((1, BASE), (2, ARM)):
        lift = np.concatenate([np.zeros(3), -inertia.mass * case.system.gravity])
        at_com = mb.spatial.translation(inertia.com)
        wrenches[k] = mb.convert_wrench(
            lift, C[k] @ at_com, HYBRID, case.b, body_frame=np.linalg.inv(at_com)
        )
    return case.system.inverse_dynamics(Q, V, VDOT, wrenches)


# -------------------------------------------------------------------------------------- Drake


def test_drake_coordinates(case, drake):
    """Quaternion and position; angular velocity and velocity of the origin, in the world."""
    free = DRAKE.free_joint
    assert close(case.C, drake["arm_pose"])
    assert close(np.append(free.positions_to(Q[:7]), Q[7]), drake["positions"])
    assert close(np.append(free.velocities_to(Q[:7], V[:6]), V[6]), drake["velocities"])


@pytest.mark.parametrize(("name", "suffix"), [("W", ""), ("B", "_B")])
def test_drake_bodies(case, drake, name, suffix):
    twist, acceleration = drake["V_WB" + suffix], drake["A_WB" + suffix]
    assert close(DRAKE.twist_to(case.twist, case.C, case.b, name), twist)
    found = DRAKE.acceleration_to(case.acceleration, case.twist, case.C, case.b, name)
    assert close(found, acceleration)
    back = DRAKE.acceleration_from(acceleration, twist, case.C, case.b, name)
    assert close(back, case.acceleration)
    J = np.array(drake[f"J_v_{name}"]) @ case.velocity_map(DRAKE)
    assert close(DRAKE.jacobian_to(case.jacobian, case.C, case.b, name), J)


def test_drake_dynamics(case, drake):
    """The wrench was given in the world, moment first, at the body's origin."""
    G = case.velocity_map(DRAKE)
    W = DRAKE.wrench_to(WRENCH, case.C, HYBRID, "W")
    assert close(W, WRENCH)
    assert close(G.T @ drake["force_effect"], case.jacobian.T @ body_wrench(case))
    assert close(G.T @ drake["mass"] @ G, case.system.mass_matrix(Q))
    assert close(G.T @ drake["tau"], weightless(case))
    assert close(DRAKE.inertia_to(ARM), drake["I6"])


def body_wrench(case):
    return mb.convert_wrench(WRENCH, case.C, HYBRID, case.b)


# ----------------------------------------------------------------------------------- iDynTree


@names
def test_idyntree_base(case, idyntree, name):
    """What was given to it as base velocity and acceleration is what the conversions say."""
    given = idyntree[name]
    C = IDYNTREE.free_joint.positions_to(Q[:7])
    assert close(IDYNTREE.twist_to(V[:6], C, case.b, name), given["base_velocity"])
    found = IDYNTREE.acceleration_to(VDOT[:6], V[:6], C, case.b, name)
    assert close(found, given["base_acceleration"])
    if name == "MIXED":
        free = IDYNTREE.free_joint
        assert close(free.velocities_to(Q[:7], V[:6]), given["base_velocity"])
        found = free.accelerations_to(Q[:7], V[:6], VDOT[:6])
        assert close(found, given["base_acceleration"])


@names
def test_idyntree_bodies(case, idyntree, name):
    """Linear first; accelerations are rates of twists; columns of the base are in its words too."""
    given = idyntree[name]
    assert close(case.C, idyntree["arm_pose"])
    assert close(IDYNTREE.twist_to(case.twist, case.C, case.b, name), given["V"])
    found = IDYNTREE.acceleration_to(case.acceleration, case.twist, case.C, case.b, name)
    assert close(found, given["A"])
    representation = IDYNTREE.form(name).representation
    rate = mb.convert_acceleration(case.acceleration, case.twist, case.C, case.b, representation)
    assert close(np.roll(rate, 3), given["A"])
    G = base_map(name)
    J = np.array(given["J"]) @ G
    assert close(IDYNTREE.jacobian_to(case.jacobian, case.C, case.b, name), J)


@names
def test_idyntree_dynamics(case, idyntree, name):
    """The same six numbers were given as wrench in each representation, force first."""
    given, G = idyntree[name], base_map(name)
    W = IDYNTREE.wrench_from(np.roll(WRENCH, 3), case.C, case.b, name)
    assert close(G.T @ given["force_effect"], case.jacobian.T @ W)
    assert close(G.T @ given["M"] @ G, case.system.mass_matrix(Q))
    assert close(G.T @ given["tau"], weightless(case))
    assert close(IDYNTREE.inertia_to(ARM), idyntree["I6"])


def base_map(name):
    """Return G of all velocities, for a base velocity in one of iDynTree's representations."""
    C = IDYNTREE.free_joint.positions_to(Q[:7])
    G = np.eye(7)
    G[:6, :6] = IDYNTREE.jacobian_to(np.eye(6), C, mb.BodyFixed(), name)
    return G
