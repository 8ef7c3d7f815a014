"""Every constraint that mbkit brings, against differentiation and against itself in Python."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.constraints import BUILT_IN_CONSTRAINTS
from mbkit.lie import SE3
from tests.constraints.examples import EXAMPLES
from tests.every_representation import each_representation

_NAMED = pytest.mark.parametrize("constraint", EXAMPLES, ids=[each.name for each in EXAMPLES])


def test_there_is_an_example_of_every_kind():
    assert {type(each) for each in EXAMPLES} == {*BUILT_IN_CONSTRAINTS}


@_NAMED
def test_rows_rate_and_bias_are_derivatives(constraint):
    """The laws of `check_constraint`, on bodies and joints that move in all ways."""
    report = mb.testing.check_constraint(constraint, seed=3)
    assert report.holds, str(report)


def residual_of(constraint, t, q, poses):
    """The residuals of some kinds, written down a second time, in numpy."""
    points = [C[:3, :3] @ r + C[:3, 3] for C, r in zip(poses, _points_of(constraint), strict=True)]
    match constraint:
        case mb.Distance():
            d = points[1] - points[0]
            return [(d @ d - constraint.length**2) / (2.0 * constraint.length)]
        case mb.PointOnPlane():
            n = poses[0][:3, :3] @ constraint.normal
            return [(points[1] - points[0]) @ n / np.sqrt(n @ n)]
        case mb.GearRatio():
            return [q[1] - constraint.ratio * q[0] - constraint.offset]
        case mb.PolynomialCoupling():
            return [q[1] - np.polyval(constraint.coefficients[::-1], q[0])]
        case mb.RollingSphere():
            n = poses[0][:3, :3] @ constraint.normal
            n = n / np.sqrt(n @ n)
            return [(points[1] - points[0]) @ n - constraint.radius]
    raise AssertionError(constraint)


def _points_of(constraint):
    match constraint:
        case mb.Distance() | mb.PointOnPlane():
            return constraint.point_a, constraint.point_b
        case mb.RollingSphere():
            return constraint.point_a, constraint.center
    return ()


class Written(mb.Constraint):
    """A constraint of mbkit by its residual in Python alone."""

    def __init__(self, constraint):
        super().__init__(constraint.name)
        self.constraint = constraint
        self.bodies, self.joints = constraint.bodies, constraint.joints

    num_rows = 1

    def residual(self, t, q, poses):
        return residual_of(self.constraint, t, q, poses)

    def row_units(self, joints):
        return self.constraint.row_units(joints)[:1]


def _mechanism(constraint):
    mech = mb.Mechanism("two")
    box = mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    for body in ("a", "b"):
        mech.add_body(mb.Body(body, box))
        mech.add_joint(mb.FreeJoint(f"of {body}"), mech.world, body)
    for body, joint in (("c", mb.RevoluteJoint("i")), ("d", mb.PrismaticJoint("j"))):
        mech.add_body(mb.Body(body, box))
        mech.add_joint(joint, "a", body)
    mech.add_constraint(constraint)
    return mech


@pytest.mark.parametrize(
    "constraint",
    [
        each
        for each in EXAMPLES
        if isinstance(
            each,
            mb.Distance | mb.PointOnPlane | mb.GearRatio | mb.PolynomialCoupling | mb.RollingSphere,
        )
    ],
    ids=lambda each: each.name,
)
def test_compiled_is_what_its_residual_in_python_gives(constraint):
    """Residual, Jacobian and bias of the compiled form are those traced from a residual."""
    compiled, written = (
        _mechanism(each).assemble(mb.RelativeCoordinates(length=0.7))
        for each in (constraint, Written(constraint))
    )
    rng = np.random.default_rng(5)
    for _ in range(5):
        q = compiled.retract(compiled.reference_configuration(), rng.normal(size=compiled.nv))
        v, vdot = rng.normal(size=(2, compiled.nv))
        first = slice(0, 1)
        for name, given in (
            ("residual", (q, 0.3)), ("jacobian", (q, 0.3)), ("velocity", (q, v, 0.3)),
            ("bias", (q, v, 0.3)), ("acceleration", (q, v, vdot, 0.3)),
        ):  # fmt: skip
            one, other = (
                getattr(each, f"constraint_{name}")(*given) for each in (compiled, written)
            )
            np.testing.assert_allclose(one[first], other, rtol=0, atol=2e-12, err_msg=name)


@each_representation
@_NAMED
def test_equations_of_motion_are_kept(constraint, representation):
    """M vdot + b = tau + A^T lambda and A vdot + bias = 0, in every representation."""
    mech = mb.Mechanism("two")
    box = mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    mech.add_body(mb.Body("a", box))
    mech.add_joint(mb.FreeJoint("of a"), mech.world, "a")
    for body, joint, on in (
        ("c", mb.RevoluteJoint("i", axis=(1, 2, 2)), "a"),
        ("d", mb.HelicalJoint("j", axis=(0, 1, 2), point=(0.3, 0, 0), pitch=0.2), "c"),
        ("b", mb.SphericalJoint("of b"), "d"),
    ):
        mech.add_body(mb.Body(body, box.transformed(SE3.exp(np.full(6, 0.2)))))
        mech.add_joint(joint, on, body)
    mech.add_constraint(constraint)
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    rng = np.random.default_rng(7)
    for _ in range(3):
        q = system.retract(system.reference_configuration(), 0.8 * rng.normal(size=system.nv))
        v, tau = rng.normal(size=(2, system.nv))
        vdot, multipliers = system.solve_dynamics(q, v, tau, t=0.4)
        A = system.constraint_jacobian(q, 0.4)
        left = system.mass_matrix(q) @ vdot + system.bias_force(q, v)
        scale = np.abs(left).max()
        np.testing.assert_allclose(left, tau + A.T @ multipliers, rtol=0, atol=1e-9 * scale)
        rest = system.constraint_acceleration(q, v, vdot, 0.4)
        np.testing.assert_allclose(rest, 0.0, atol=1e-9 * max(1.0, np.abs(vdot).max()))
