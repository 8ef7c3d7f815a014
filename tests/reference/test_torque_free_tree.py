"""A free body with two arms and no forces: states, momentum and energy of an independent program.

The numbers are from two independent computations, Pinocchio's articulated-body algorithm and
absolute coordinates with multipliers, which agree to 1e-13.
"""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import mbkit as mb

DATA = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "torque_free_tree.json").read_text()
)
BODIES = ("base", "arm", "hand")


@pytest.fixture(scope="module")
def system():
    """The tree: a free base, and two bodies on skew revolute joints."""
    mech = mb.Mechanism("torque-free tree", gravity=(0, 0, 0))
    for name, body in zip(BODIES, DATA["bodies"], strict=True):
        inertia = mb.SpatialInertia.from_com(
            body["mass"], body["com_in_joint_frame"], np.diag(body["J_com"])
        )
        mech.add_body(mb.Body(name, inertia=inertia))
    mech.add_joint(mb.FreeJoint("free"), mech.world, "base")
    for name, pred, succ in (("joint1", "base", "arm"), ("joint2", "arm", "hand")):
        B = np.eye(4)
        B[:3, 3] = DATA[name]["point"]
        joint = mb.RevoluteJoint(name, axis=DATA[name]["axis"])
        mech.add_joint(joint, pred, succ, reference=B)
    return mech.assemble()


@pytest.fixture(scope="module")
def start(system):
    """The state at t = 0; the base's pose is the identity."""
    q = [*system.reference_configuration()[:7], *DATA["q0"]]
    v = [*DATA["base_omega_body"], *DATA["base_v"], *DATA["qd0"]]
    return q, v


@pytest.fixture(scope="module")
def run(system, start):
    """Half a second; at this step the error is round-off."""
    return mb.simulate(system, (0.0, 0.5), 1 / 2048, q=start[0], v=start[1])


def numbers(values):
    """Arrays of the numbers, which the file keeps as text with all digits."""
    return np.array(values, dtype=float)


def test_invariants_at_the_start(system, start):
    """Momentum about the origin and kinetic energy are those of the data."""
    found = system.momentum(*start)
    invariants = DATA["invariants"]
    np.testing.assert_allclose(
        found[:3], numbers(invariants["angular_momentum_about_origin"]), atol=1e-14
    )
    np.testing.assert_allclose(found[3:], numbers(invariants["linear_momentum"]), atol=1e-14)
    assert system.kinetic_energy(*start) == pytest.approx(
        float(invariants["kinetic_energy"]), rel=1e-14
    )


@pytest.mark.parametrize(("sample", "index"), [(0, 0), (1, -1)])
def test_states(system, run, sample, index):
    """Poses, centres of mass and angular velocities are those of the data."""
    expected = DATA["samples"][sample]
    q, v = run.q[index], run.v[index]
    poses = system.poses(q)
    np.testing.assert_allclose(poses[1, :3, :3], numbers(expected["base_R_rows"]), atol=1e-12)
    np.testing.assert_allclose(poses[1, :3, 3], numbers(expected["base_position"]), atol=1e-12)
    np.testing.assert_allclose(q[7:], numbers(expected["joint_angles"]), atol=1e-12)
    np.testing.assert_allclose(v[6:], numbers(expected["joint_rates"]), atol=1e-12)
    omegas = system.twists(q, v)[1:, :3]
    np.testing.assert_allclose(omegas, numbers(expected["body_omegas"]), atol=1e-12)
    local = [[*body["com_in_joint_frame"], 1.0] for body in DATA["bodies"]]
    centres = np.einsum("bij,bj->bi", poses[1:], local)[:, :3]
    np.testing.assert_allclose(centres, numbers(expected["com_positions"]), atol=1e-12)


def test_momentum_and_energy_are_conserved(system, run):
    """Both stay what they are through the run, to the error of the method and round-off."""
    momenta = np.array([system.momentum(q, v) for q, v in zip(run.q, run.v, strict=True)])
    assert np.abs(momenta - momenta[0]).max() < 1e-12
    assert np.abs(run.energy_drift).max() < 1e-12 * run.kinetic_energy[0]
