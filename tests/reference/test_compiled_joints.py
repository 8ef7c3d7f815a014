"""A joint of a user's with a compiled function in the table, against its own Python form."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints import JointKernels
from mbkit.kernels.compile import address_kernel
from tests.reference.user_joints import EllipseJoint
from tests.trees import random_inertia, random_pose, random_state


@address_kernel("ippppppp")
def ellipse_motion(slot, parameters, q, v, R, p, S, bias):
    """Position (a sin q, 0, -b cos q), rotation none."""
    if parameters[0] <= 0.0:
        return 1
    c, s = math.cos(q[0]), math.sin(q[0])
    for j in range(9):
        R[j] = 1.0 if j % 4 == 0 else 0.0
    for j in range(6):
        S[j] = 0.0
        bias[j] = 0.0
    p[0], p[1], p[2] = parameters[0] * s, 0.0, -parameters[1] * c
    S[3], S[5] = parameters[0] * c, parameters[1] * s
    bias[3] = -parameters[0] * s * v[0] * v[0]
    bias[5] = parameters[1] * c * v[0] * v[0]
    return 0


class CompiledEllipse(EllipseJoint):
    """The same joint with its row of the table; it adds coordinates, so that one entry suffices."""

    def kernels(self):
        return JointKernels(motion=ellipse_motion)

    def parameters(self):
        return np.array([self.a, self.b])


def tree(kind):
    """Two bodies on ellipses, the second joint turned round, and a ball joint between them."""
    rng = np.random.default_rng(21)
    mech = mb.Mechanism("ellipses")
    bodies = [mech.add_body(mb.Body(name, random_inertia(rng))) for name in ("a", "b", "c")]
    joints = (kind("first", 0.7, 0.4), mb.SphericalJoint("ball"), kind("last", 0.3, 0.5))
    ends = ((mech.world, bodies[0]), (bodies[0], bodies[1]), (bodies[2], bodies[1]))
    for joint, (predecessor, successor) in zip(joints, ends, strict=True):
        frames = random_pose(rng), random_pose(rng)
        mech.add_joint(joint, predecessor, successor, frames=frames)
    return mech.assemble()


@pytest.fixture(scope="module")
def pair():
    """The tree with Python joints, and with compiled ones."""
    return tree(EllipseJoint), tree(CompiledEllipse)


def test_a_compiled_joint_equals_its_python_form(pair):
    """All algorithms, to round-off: they see the same rows."""
    python, compiled = pair
    state = random_state(np.random.default_rng(22), python)
    q, v, tau = state.q, state.v, state.tau
    for method, arguments in (
        ("poses", (q,)),
        ("twists", (q, v)),
        ("accelerations", (q, v, tau)),
        ("mass_matrix", (q,)),
        ("inverse_dynamics", (q, v, tau)),
        ("forward_dynamics", (q, v, tau)),
        ("retract", (q, v)),
        ("difference", (q, python.retract(q, v))),
    ):
        expected = getattr(python, method)(*arguments)
        found = getattr(compiled, method)(*arguments)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13, err_msg=method)


@pytest.mark.compiled
def test_the_compiled_loop_runs_it(pair):
    """Half a second of motion is the same."""
    runs = [
        mb.simulate(system, (0.0, 0.5), 1e-3, v=[1.0, 0.3, -0.2, 0.5, 2.0], save_every=100)
        for system in pair
    ]
    np.testing.assert_allclose(runs[1].q, runs[0].q, rtol=1e-10, atol=1e-12)
    assert np.abs(runs[0].q[-1] - runs[0].q[0]).max() > 0.1


def test_a_status_that_is_not_zero_names_the_joint():
    """The joint says that it cannot be evaluated: its name, and where."""
    mech = mb.Mechanism("flat")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(CompiledEllipse("rail", -1.0, 1.0), mech.world, body)
    with pytest.raises(mb.JointError, match=r"'rail': its compiled function .* q = \[0\.5\]"):
        mech.assemble().mass_matrix([0.5])
