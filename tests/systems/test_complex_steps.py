"""Every derivative of the dynamics of a tree of six bodies against complex steps.

A complex step has no error but rounding (`tests.systems.complex_steps`).
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.forces.cases import every_force, tree
from tests.joints.absolute_joints import LOCALS, SIDES
from tests.systems.complex_steps import ComplexEvaluation, along_changes
from tests.systems.every_joint import behind
from tests.trees import random_mechanism, random_state

KINDS = ("universal", "composite", "constant velocity", "spherical", "planar, first kind", "angles")

#: What is asked of derivatives, of the largest entry.
ASKED = 1e-10


def assert_close(found, expected, tolerance=ASKED):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * np.abs(expected).max())


def forces(mech):
    """Add smooth forces of most kinds; `push` is in Python."""
    rng = np.random.default_rng(71)
    joint = next(n for n, edge in mech.joints.items() if edge.joint.num_velocities == 3)
    for force in (
        mb.JointDamper("damper", joint, damping=0.3),
        mb.SpringDamper(
            "pair", "body1", "body4", stiffness=12.0, rest_length=0.4, damping=0.6,
            point_a=rng.normal(size=3), point_b=rng.normal(size=3),
        ),
        mb.Drag("drag", "body5", linear=0.4, quadratic=0.3, point=rng.normal(size=3)),
        mb.BodyWrench("thrust", "body2", wrench=rng.normal(size=6), axes="body"),
        mb.UniformField("field", acceleration=rng.normal(size=3)),
        mb.ForceFunction("push", lambda t, q, v: np.sin(3.0 * t + q[:3]) * v, joints=joint),
    ):  # fmt: skip
        mech.add_force(force)
    return mech


@pytest.fixture(
    scope="module", params=[pytest.param("without forces", marks=pytest.mark.long), "with forces"]
)
def case(request):
    """A tree of six joints with several velocities, its state as a dict, and the time."""
    rng = np.random.default_rng(70)
    mech = random_mechanism(rng, 6, KINDS, turned_round=0.5)
    system = (forces(mech) if request.param == "with forces" else mech).assemble()
    s = random_state(rng, system)
    return system, {"q": s.q, "v": s.v, "vdot": s.vdot, "tau": s.tau}, 0.45


#: Of the tree; those of forces where it has some.
PARAMETERS = (
    "gravity", "bodies.body2.mass", "bodies.body5.com", "bodies.body4.moment_about_com",
    "joints.joint3.S_pred", "joints.joint4.S_succ", "joints.joint1.point", "joints.joint2.axis",
    "joints.joint3.axis1", "joints.joint4.prismatic.axis", "forces.pair.stiffness",
    "forces.pair.damping", "forces.drag.quadratic", "forces.thrust.wrench",
)  # fmt: skip

#: Evaluations, and what they are given besides q and v.
EVALUATIONS = {
    "inverse_dynamics": ("vdot",), "forward_dynamics": ("tau",), "hybrid_dynamics": ("tau", "vdot"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["forward_dynamics",
     *(pytest.param(n, marks=pytest.mark.long) for n in ("inverse_dynamics", "hybrid_dynamics"))],
)  # fmt: skip
def test_dynamics_by_state_time_and_parameters(case, name):
    """Of hybrid dynamics two joints are prescribed, and both accelerations and efforts follow."""
    system, given, t = case
    free = [p for p in PARAMETERS if system.forces or not p.startswith("forces.")]
    inputs = ("q", "v", *EVALUATIONS[name])
    held = {"prescribed": ["joint1", "joint4"]} if name == "hybrid_dynamics" else {}
    by = (*inputs, "t", *free)
    found = system.derivatives(name, **{n: given[n] for n in inputs}, **held, by=by, t=t)
    exact = ComplexEvaluation(system, name, free, **held)
    for each in by:
        own = np.concatenate([found.vdot[each], found.tau[each]]) if held else found[each]
        size = np.abs(own).max() or 1.0  # without forces nothing depends on time
        if each in free:
            own = along_changes(system, own, each)
        expected = exact.by(given, each, t)
        assert np.abs(own.reshape(expected.shape) - expected).max() <= ASKED * size, each
    q, v = given["q"], given["v"]
    compiled = {
        "inverse_dynamics": system.inverse_dynamics_derivatives,
        "forward_dynamics": system.forward_dynamics_derivatives,
    }.get(name)
    if compiled is not None:
        for own, each in zip(compiled(q, v, given[inputs[2]], t=t), inputs, strict=False):
            assert_close(own, exact.by(given, each, t))


@pytest.mark.slow
def test_forces_on_dual_numbers():
    """Each force of mbkit, between bodies with each kind of joint that dual numbers know."""
    rng = np.random.default_rng(73)
    mech, single = tree(rng)
    forces = every_force(rng, mech, single)
    kinds = "revolute", "planar", "universal", "translational", "constant velocity", "angles"
    other = random_mechanism(rng, 9, (*kinds, "composite"))
    a, b, c = list(other.bodies)[2:8:2]
    between = [
        mb.Bushing("bushing", a, c, stiffness=range(1, 7), damping=range(1, 7)),
        mb.Drag("drag", b, linear=0.3, quadratic=0.4, wind=(0.1, 0.2, 0.3)),
    ]
    for mechanism, acting in ((mech, forces), (other, between)):
        system = mechanism.assemble().with_forces(acting)
        state = random_state(rng, system)
        given, t = {"q": state.q, "v": state.v}, 0.4
        exact = ComplexEvaluation(system, "generalized_forces")
        for own, name in zip(system.force_derivatives(state.q, state.v, t), "qv", strict=True):
            expected = exact.by(given, name, t)
            assert np.abs(own - expected).max() < 1e-13 * np.abs(expected).max(), name


@pytest.mark.some(6)
@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("local", LOCALS, ids=lambda local: local.name)
def test_forces_beside_absolute_joints(local, side):
    """Of a joint in absolute coordinates, in each of its maps, between others."""
    rng = np.random.default_rng(78)
    orientation = (mb.UnitQuaternion(), mb.RotationVector(), mb.EulerAngles("zxz"))[
        LOCALS.index(local) % 3
    ]
    plain = behind(mb.AbsoluteJoint("absolute", orientation, local, side), rng, side == "left")
    last = plain.body_names[-1]
    acting = [
        mb.Drag("drag", last, linear=0.3, quadratic=0.4, point=(0.1, 0.2, 0.3)),
        mb.SpringDamper("pull", "world", last, stiffness=9.0, rest_length=0.2, damping=0.4),
    ]
    system = plain.with_forces(acting)
    state = random_state(rng, system, 0.6)
    exact = ComplexEvaluation(system, "generalized_forces")
    for own, name in zip(system.force_derivatives(state.q, state.v), "qv", strict=True):
        assert_close(own, exact.by({"q": state.q, "v": state.v}, name), 1e-12)
