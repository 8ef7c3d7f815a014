"""Pitches, screws and axes of joints of the tree in the adjoint, by one pass over the bodies.

Against forward derivatives, which impose the motion that a number causes on a free joint instead.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.sensitivities.passes.forces import called_forces
from mbkit.sensitivities.passes.memory import PassSums
from tests.constraints.loops import consistent, mobile_loops
from tests.sensitivities.differences import assert_adjoint
from tests.sensitivities.test_places_by_pass import METHODS
from tests.systems.test_joint_changes import RackJoint
from tests.trees import random_inertia, random_mechanism, random_state

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

#: Joints whose motion has numbers besides the joints' places.
KINDS = {
    "helical": ("pitch",), "helical planar": ("pitch",), "screw": ("screw",),
    "translation": ("screw",), "translational": ("axes",), "universal": ("axis1", "axis2"),
    "composite": ("prismatic.axis", "constant velocity.axis", "spherical.point"),
}  # fmt: skip


def names_in(system, *kinds):
    """Return the numbers of joints of these kinds in the tree."""
    fields = {f".{field}" for kind in kinds for field in KINDS[kind]}
    joints = [f"joints.{joint}" for joint in system.joint_names]
    return [j + field for j in joints for field in fields if j + field in system.parameters]


def assert_by_pass(system, names, state, method, rtol):
    """Compare a gradient with forward derivatives, where one pass finds it."""
    assert {*names} <= PassSums(system, names, called_forces(system)).known
    q, v = state
    run = mb.simulate(system, (0.0, 0.02), 1e-2, q=q, v=v, integrator=METHODS[method])
    by = ["q", "v", f"bodies.{system.body_names[1]}.mass", *names]
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=rtol)


@pytest.mark.some(2)
@pytest.mark.parametrize("frames", ["joint", "user"])
@pytest.mark.parametrize("turned", [0.0, 1.0], ids=["as set", "turned round"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_joint(kind, turned, frames):
    """Between two others, all of them skew in the frames of their bodies."""
    rng = np.random.default_rng(11)
    kinds = "revolute", kind, "spherical"
    mech = random_mechanism(rng, 3, kinds, turned_round=turned, reach=1)
    system = mech.assemble(mb.RelativeCoordinates(body_frames=frames))
    names, state = names_in(system, kind), random_state(rng, system)
    assert len(names) == len(KINDS[kind])
    assert_by_pass(system, names, (state.q, state.v), "Munthe-Kaas", 1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_trees(method):
    """By all numbers at once, and those of forces between the bodies."""
    rng = np.random.default_rng(13)
    kinds = "helical", "universal", "screw", "translational", "spherical"
    mech = random_mechanism(rng, 8, kinds)
    mech.add_force(mb.Bushing("pad", "body1", "body5", stiffness=(9.0,) * 6, damping=(0.2,) * 6))
    nut = next(n for n, edge in mech.joints.items() if isinstance(edge.joint, mb.HelicalJoint))
    mech.add_force(mb.JointSpring("spring", nut, stiffness=7.0, rest=0.2))
    system = mech.assemble()
    names, state = names_in(system, *kinds[:4]), random_state(rng, system, 0.5)
    by = [*names, "forces.pad.frame_a"]
    assert_by_pass(system, by, (state.q, state.v), method, 1e-10)


@pytest.mark.some(3)  # others in trees
@pytest.mark.parametrize("method", METHODS)
def test_closed_mechanisms(method):
    """Where a ball closes a loop between the world and a body that hangs on these joints."""
    rng = np.random.default_rng(4)
    tree = "helical", "universal", "screw"
    system, q = mobile_loops(rng, 6, ("spherical",), tree=tree)
    v = consistent(system, q, 0.3 * rng.normal(size=system.nv))
    assert_by_pass(system, names_in(system, *tree), (q, v), method, 1e-10)


def test_joints_in_python_are_left_to_matrices():
    mech = mb.Mechanism("rack", gravity=(1.0, 2.0, 3.0))
    body = mech.add_body(mb.Body("pinion", random_inertia(np.random.default_rng(2))))
    mech.add_joint(RackJoint("rack", 0.3), mech.world, body)
    system, names = mech.assemble(), ["joints.rack.radius"]
    assert not PassSums(system, names, []).known
    run = mb.simulate(system, (0.0, 0.03), 1e-2, q=[0.3], v=[2.0])
    assert_adjoint(run, mb.sensitivities(run, by=["q", *names]), rtol=1e-11)
