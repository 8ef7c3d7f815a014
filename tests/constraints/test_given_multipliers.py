"""Inverse dynamics less what multipliers do, in one sweep, against M vdot + b and A^T lambda."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.layout import CLOSED
from mbkit.kernels.status import OK
from mbkit.systems.calls.evaluations import INVERSE_DYNAMICS
from mbkit.systems.memory.workspace import Workspace
from tests.constraints.examples import EXAMPLES
from tests.constraints.loops import LOOP_KINDS, closed, random_loops
from tests.every_representation import each_representation
from tests.trees import random_state

T = 0.4


def with_constraints(representation):
    """Bodies that move in all ways, on hinges and slides too, with every kind of constraint."""
    mech = mb.Mechanism("all constraints", gravity=(1.0, 2.0, -9.81))
    box = mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    for body in ("a", "b"):
        mech.add_body(mb.Body(body, box))
        mech.add_joint(mb.FreeJoint(f"of {body}"), mech.world, body)
    for body, joint in (("c", mb.RevoluteJoint("i")), ("d", mb.PrismaticJoint("j"))):
        mech.add_body(mb.Body(body, box))
        mech.add_joint(joint, "a", body)
    for constraint in EXAMPLES:
        mech.add_constraint(constraint)
    return mech.assemble(mb.RelativeCoordinates(representation=representation))


def with_loop_joints(representation):
    """A random tree, and a joint of every kind that closes a loop."""
    mech, _, names = random_loops(np.random.default_rng(5), 6, LOOP_KINDS)
    return closed(mech, names, representation)


@pytest.mark.some(5)
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize("make", [with_constraints, with_loop_joints])
@each_representation
def test_one_sweep_does_what_the_parts_do(representation, make):
    """M vdot + b - A^T lambda, g and A v + g_t, also where loops are open."""
    system = make(representation)
    rng = np.random.default_rng(11)
    workspace = Workspace(system.arrays, system.evaluator)
    closure = workspace.closure
    workspace.time[0] = T
    evaluator = system.evaluator
    call = evaluator.direct(INVERSE_DYNAMICS, evaluator.function(INVERSE_DYNAMICS), CLOSED)
    for _ in range(3):
        state = random_state(rng, system)
        q, v, vdot = state.q, state.v, state.vdot
        closure.multipliers[:] = multipliers = rng.normal(size=closure.multipliers.size)
        found = np.zeros(system.nv)
        assert call(workspace.record, found, q, v, vdot) == OK
        wrenches = system.constraint_jacobian(q, T).T @ multipliers
        expected = system.inverse_dynamics(q, v, vdot) - wrenches
        size = np.abs(expected).max() + np.abs(wrenches).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * size)
        residual = system.constraint_residual(q, T)
        np.testing.assert_allclose(closure.residual[: residual.size], residual, rtol=0, atol=1e-12)
