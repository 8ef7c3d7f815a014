"""Derivatives of dynamics beside joints whose motion subspace changes, by parametrisation.

Against complex steps, which have no error but rounding (`tests.systems.complex_steps`).
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.joints.absolute_joints import LOCALS
from tests.systems.complex_steps import ComplexEvaluation
from tests.systems.every_joint import moved_behind
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
