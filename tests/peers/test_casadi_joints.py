"""Compiled joints of users, with branches, in functions of CasADi."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.peers.test_casadi import same
from tests.trees import random_inertia

casadi = pytest.importorskip("casadi")


@mb.joint_kernel("motion")
def motion(slot, parameters, q, v, R, p, S, bias):
    """Along x, and from zero on up a ramp that begins smoothly, z = c x^3."""
    if parameters[0] < 0.0:
        return 7
    c = parameters[0] if q[0] > 0.0 else 0.0
    for j in range(9):
        R[j] = 0.0
    for j in range(6):
        S[j] = 0.0
        bias[j] = 0.0
    R[0], R[4], R[8] = 1.0, 1.0, 1.0
    p[0], p[1], p[2] = q[0], 0.0, c * q[0] ** 3
    S[3], S[5] = 1.0, 3.0 * c * q[0] ** 2
    bias[5] = 6.0 * c * q[0] * v[0] * v[0]
    return 0


class Ramp(mb.Joint):
    num_positions = num_velocities = 1

    def __init__(self, name, slope):
        self.name, self.slope = name, slope

    def pose(self, q):
        T = np.eye(4, dtype=np.asarray(q).dtype)
        T[0, 3], T[2, 3] = q[0], self.slope * q[0] ** 3 if q[0] > 0.0 else 0.0
        return T

    def kernels(self):
        return mb.JointKernels(motion=motion)

    def parameters(self):
        return np.array([self.slope])


def test_compiled_joints_with_branches():
    mechanism = mb.Mechanism("ramp")
    rng = np.random.default_rng(61)
    slide, arm = (mechanism.add_body(mb.Body(name, random_inertia(rng))) for name in "ab")
    mechanism.add_joint(Ramp("ramp", 0.7), mechanism.world, slide)
    mechanism.add_joint(mb.RevoluteJoint("hinge", axis=(1, 2, 3)), slide, arm)
    system = mechanism.assemble()
    function = mb.casadi_function(system, "forward_dynamics")
    for first in (-0.4, 0.3, 1.1):
        q, v, tau = np.array([first, 0.2]), *rng.normal(size=(2, 2))
        assert same(function(q, v, tau), system.forward_dynamics(q, v, tau))
        parts = function.jacobian()(q, v, tau, np.zeros(2))
        for found, each in zip(parts, system.forward_dynamics_derivatives(q, v, tau), strict=True):
            assert same(found, each, 1e-10)
