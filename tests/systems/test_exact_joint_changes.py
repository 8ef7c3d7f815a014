"""Derivatives of dynamics beside joints whose motion subspace changes, by parametrisation.

Against complex steps, which have no error but rounding (`tests.systems.complex_steps`).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbkit as mb
from mbkit.systems.memory.on_duals.python_joint import DualJointSlot
from tests.joints.absolute_joints import LOCALS
from tests.reference.test_nonholonomic_joints import Opaque, SkateByHand
from tests.reference.user_joints import CardanJoint
from tests.systems.complex_steps import ComplexEvaluation
from tests.systems.every_joint import (
    CARDAN,
    ELLIPSE,
    OWN_BALL,
    PRODUCT,
    SKATE,
    SKATE_BY_HAND,
    TWIN,
    moved_behind,
)
from tests.trees import MAKERS

pytestmark = [pytest.mark.slow, pytest.mark.compiled]

#: Of the largest entry. Differences leave 1e-13 at best, and 1e-8 where S changes fast.
ROUNDING = 2e-14

KINDS = (
    "constant velocity", "rotation vector", "planar, first kind", "screw coordinates", "composite",
)  # fmt: skip


def nested(rng):
    """Return a composite joint with one among its members, and one that holds still."""
    inner = mb.CompositeJoint("inner", *(MAKERS[k](rng, k) for k in ("rotation vector", "screw")))
    first, weld = MAKERS["helical"](rng, "first"), mb.FixedJoint("weld")
    return mb.CompositeJoint("nested", first, weld, inner)


JOINTS = {
    **{kind: (lambda rng, kind=kind: MAKERS[kind](rng, "joint")) for kind in KINDS},
    **{
        each.name: (lambda _, each=each: mb.AbsoluteJoint("joint", mb.UnitQuaternion(), each))
        for each in LOCALS
    },
    "angles and position": lambda _: mb.AbsoluteJoint(
        "joint", mb.EulerAngles("zxz"), mb.RotationVectorPosition(), "right"
    ),
    "nested": nested,
}


class Shortcut(CardanJoint):
    """One that says at one place alone what its motion subspace is."""

    def motion_subspace(self, q):
        return super().motion_subspace(q) if q.any() else np.eye(6)[:, :2]


class TiltedCardan(CardanJoint):
    """The same in another frame, in which its functions are written."""

    canonical_frame = mb.spatial.rotation((1, 2, 3), 0.7, point=(0.1, -0.2, 0.3))


class Swivel(mb.Joint):
    """A crank of a user, compiled: turns about z, and nods by a sine of the angle."""

    num_positions = num_velocities = 1

    def pose(self, q):
        c, s, y = np.cos(q[0]), np.sin(q[0]), 0.3 * np.tan(0.4 * np.sin(q[0]))
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, y], [0, 0, 0, 1.0]])

    def kernels(self):
        return mb.JointKernels(motion=swivel_motion)


@mb.joint_kernel("motion")
def swivel_motion(slot, parameters, q, v, R, p, S, bias):
    c, s = math.cos(q[0]), math.sin(q[0])
    rate, t = 0.4 * c, math.sin(0.4 * s) / math.cos(0.4 * s)
    slope = 0.3 * (1.0 + t * t)
    for j in range(9):
        R[j] = 1.0 if j == 8 else 0.0
    R[0] = R[4] = c
    R[1], R[3] = -s, s
    for j in range(6):
        S[j] = bias[j] = 0.0
    p[0] = p[1] = 0.0
    p[2] = 0.3 * t
    S[2], S[5] = 1.0, slope * rate
    bias[5] = (2.0 * slope * t * rate * rate - slope * 0.4 * s) * v[0] * v[0]
    return 0


OF_USERS = [
    CARDAN, TiltedCardan("tilted"), ELLIPSE, OWN_BALL, TWIN, PRODUCT, SKATE, SKATE_BY_HAND,
    Swivel("swivel"),
    mb.CompositeJoint("composed", CardanJoint("c"), mb.HelicalJoint("screw", pitch=0.1)),
]  # fmt: skip


def assert_exact(found, expected, tolerance=ROUNDING):
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.some(6)
@pytest.mark.parametrize("turned", [False, True], ids=["as set", "turned round"])
@pytest.mark.parametrize("kind", JOINTS)
def test_dynamics_by_state(kind, turned):
    rng = np.random.default_rng(31)
    system, q = moved_behind(JOINTS[kind](rng), rng, turned)
    v, vdot, tau = rng.normal(size=(3, system.nv))
    given = {"q": q, "v": v, "vdot": vdot, "tau": tau}
    inverse = ComplexEvaluation(system, "inverse_dynamics")
    for own, name in zip(system.inverse_dynamics_derivatives(q, v, vdot), "qv", strict=True):
        assert_exact(own, inverse.by(given, name))
    forward, condition = inverse.another("forward_dynamics"), np.linalg.cond(system.mass_matrix(q))
    for own, name in zip(system.forward_dynamics_derivatives(q, v, tau), "qv", strict=False):
        assert_exact(own, forward.by(given, name), 1e-15 * condition)
    mass = inverse.another("mass_matrix").by(given, "q")
    assert_exact(system.mass_matrix_derivatives(q), mass)
    assert_exact(system.mass_matrix_rate(q, v), mass @ system.rates(q, v))


#: Some whose functions are for one sample alone: of a joint, and of a member.
ALONE = {
    "crank": lambda _: Swivel("joint"),
    "crank and ball": lambda rng: mb.CompositeJoint(
        "joint", Swivel("crank"), MAKERS["spherical"](rng, "ball")
    ),
}

#: What asks for changes of joints and their series, and for the motion itself.
EVALUATIONS = {
    "derivatives": lambda s, q, v, a: np.concatenate(
        s.inverse_dynamics_derivatives(q, v, a), axis=-1
    ),
    "rate": lambda s, q, v, a: s.inverse_dynamics_rate(q, v, a, v),
    "subspace rates": lambda s, q, v, a: s.motion_subspace_rates(q, v, a),
    "Coriolis": lambda s, q, v, a: s.coriolis_matrix(q, v),
    "accelerations": lambda s, q, v, a: s.accelerations(q, v, a),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", [*JOINTS, *ALONE])
def test_batches_have_the_bits_of_single_calls(kind):
    """Also where some samples are turned by so much that series of another form begin."""
    rng = np.random.default_rng(39)
    system, q = moved_behind((JOINTS | ALONE)[kind](rng), rng, turned=kind == "composite")
    size = np.where(np.arange(67) % 3 == 0, 4.5, 1.0)[:, None]
    q = system.retract(q, size * rng.normal(size=(67, system.ndx)))
    v, vdot = rng.normal(size=(2, 67, system.nv))
    for name, call in EVALUATIONS.items():
        expected = [call(system, *each) for each in zip(q, v, vdot, strict=True)]
        np.testing.assert_array_equal(call(system, q, v, vdot), np.array(expected), name)


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", [*JOINTS, "cardan"])
def test_second_derivatives(kind):
    """By differences of exact first ones; differences of values leave 1e-13 to 2e-11."""
    rng = np.random.default_rng(38)
    joint = CardanJoint("joint") if kind == "cardan" else JOINTS[kind](rng)
    system, q = moved_behind(joint, rng, turned=kind in ("nested", "composite"))
    v, vdot = rng.normal(size=(2, system.nv))
    x, w = rng.normal(size=(2, 3, system.nv))
    by_qq, by_vv, by_qv, _ = system.inverse_dynamics_second_derivatives(q, v, vdot)
    found = np.einsum("ijk,aj,ak->ai", by_qq, x, x) + np.einsum("ijk,aj,ak->ai", by_vv, w, w)
    found += 2.0 * np.einsum("ijk,aj,ak->ai", by_qv, x, w)
    inverse = ComplexEvaluation(system, "inverse_dynamics")
    assert_exact(found, inverse.second({"q": q, "v": v, "vdot": vdot}, {"q": x, "v": w}), 5e-13)


def test_where_the_subspace_changes_fast():
    """Screw coordinates next to a whole turn, where S is singular."""
    rng = np.random.default_rng(32)
    system, q = moved_behind(mb.FreeJoint("joint", coordinates="first kind"), rng, False)
    place = system.position_slice("joint")
    q[place][:3] *= (2.0 * np.pi - 0.02) / np.linalg.norm(q[place][:3])
    v, vdot = rng.normal(size=(2, system.nv))
    inverse = ComplexEvaluation(system, "inverse_dynamics")
    for own, name in zip(system.inverse_dynamics_derivatives(q, v, vdot), "qv", strict=True):
        expected = inverse.by({"q": q, "v": v, "vdot": vdot}, name)
        assert np.abs(own - expected).max() <= 1e-12 * np.abs(expected).max()


def test_a_workspace_is_told_once_and_others_take_differences():
    """A run's workspaces take differences, whatever was asked of the system before."""
    rng = np.random.default_rng(33)
    system, q = moved_behind(MAKERS["screw coordinates"](rng, "joint"), rng, False)
    rest = np.zeros(system.nv)
    run = mb.simulate(system, q=q, t_span=(0.0, 0.02), h=0.01, integrator=mb.GeneralizedAlpha())
    batch = system.inverse_dynamics_derivatives([q, q], rest, rest)
    for one, many in zip(system.inverse_dynamics_derivatives(q, rest, rest), batch, strict=True):
        assert np.array_equal(many, [one, one])
    other = mb.simulate(system, q=q, t_span=(0.0, 0.02), h=0.01, integrator=mb.GeneralizedAlpha())
    assert np.array_equal(run.q, other.q)


def dynamics_by_state(system, q, rng):
    """Compare derivatives by state with complex steps."""
    v, vdot = rng.normal(size=(2, system.nv))
    given = {"q": q, "v": v, "vdot": vdot}
    inverse = ComplexEvaluation(system, "inverse_dynamics")
    for own, name in zip(system.inverse_dynamics_derivatives(q, v, vdot), "qv", strict=True):
        assert_exact(own, inverse.by(given, name))
    mass = inverse.another("mass_matrix").by(given, "q")
    assert_exact(system.mass_matrix_derivatives(q), mass)
    assert_exact(system.mass_matrix_rate(q, v), mass @ system.rates(q, v))


@pytest.mark.some(5)
@pytest.mark.parametrize("turned", [False, True], ids=["as set", "turned round"])
@pytest.mark.parametrize("joint", OF_USERS, ids=lambda each: each.name)
def test_joints_of_users(joint, turned):
    rng = np.random.default_rng(34)
    system, q = moved_behind(joint, rng, turned)
    dynamics_by_state(system, q, rng)


@pytest.mark.some(5)
@pytest.mark.parametrize("joint", OF_USERS, ids=lambda each: each.name)
def test_forces_beside_joints_of_users(joint):
    rng = np.random.default_rng(35)
    system, q = moved_behind(joint, rng, turned=False)
    pull = mb.Drag("drag", "b2", linear=0.4, quadratic=0.3, point=(0.1, 0.2, 0.3))
    spring = mb.Bushing("bush", "world", "b1", stiffness=range(1, 7), damping=range(1, 7))
    system = system.with_forces([pull, spring])
    v = rng.normal(size=system.nv)
    exact = ComplexEvaluation(system, "generalized_forces")
    for own, name in zip(system.force_derivatives(q, v), "qv", strict=True):
        assert_exact(own, exact.by({"q": q, "v": v}, name), 1e-13)


@pytest.mark.filterwarnings("ignore::mbkit.JointDerivativeWarning")
@pytest.mark.parametrize(
    ("joint", "same"),
    [(Opaque("joint"), SkateByHand("joint")), (Shortcut("joint"), CardanJoint("joint"))],
)
def test_what_cannot_be_traced_takes_differences(joint, same):
    """Code of other libraries, and a branch for one place alone, which a program would follow."""
    systems = [
        moved_behind(each, np.random.default_rng(36), turned=False) for each in (joint, same)
    ]
    (system, q), (other, _) = systems
    q[system.position_slice("joint")] = 0.0
    v = np.random.default_rng(37).normal(size=system.nv)
    found, expected = (each.inverse_dynamics_derivatives(q, v, v)[0] for each in (system, other))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())


class Interrupted(CardanJoint):
    """One in which something happens once."""

    def __init__(self, name):
        super().__init__(name)
        self.happens = []

    def pose(self, q):
        if self.happens:
            raise self.happens.pop()
        return super().pose(q)


@pytest.mark.parametrize("happens", [KeyboardInterrupt(), ValueError("of the joint")])
def test_what_happens_in_a_call_on_dual_numbers_reaches_the_caller(happens, monkeypatch):
    rng = np.random.default_rng(39)
    joint = Interrupted("joint")
    system, q = moved_behind(joint, rng, turned=False)
    rest = np.zeros(system.nv)
    expected = system.inverse_dynamics_derivatives(q, rest, rest)[0]
    motion = DualJointSlot.motion

    def interrupted(slot):
        joint.happens.append(happens)
        motion(slot)

    with monkeypatch.context() as patch:
        patch.setattr(DualJointSlot, "motion", interrupted)
        with pytest.raises(type(happens)):
            system.inverse_dynamics_derivatives(q, rest, rest)
    assert np.array_equal(system.inverse_dynamics_derivatives(q, rest, rest)[0], expected)
