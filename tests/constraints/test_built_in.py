"""Every constraint that mbkit brings, against differentiation and against itself in Python."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import mbkit as mb
from mbkit.constraints import CONSTRAINT_TYPES
from mbkit.lie import SE3, UnitQuaternion
from tests.constraints.examples import EXAMPLES
from tests.every_representation import representations_in_turn

_NAMED = pytest.mark.parametrize("constraint", EXAMPLES, ids=[each.name for each in EXAMPLES])


def test_there_is_an_example_of_every_kind():
    assert {type(each) for each in EXAMPLES} == set(CONSTRAINT_TYPES.values())


@pytest.mark.some(4)
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


@pytest.mark.some(3)
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


def test_a_table_of_poses_is_a_curve_of_normalised_quaternions():
    """Residual, Jacobian and bias are those of that curve as a function in Python."""
    table = next(each for each in EXAMPLES if each.name == "frame in a table")
    turns = UnitQuaternion.from_rotation(table.poses[:, :3, :3])  # none turns by half a turn
    turn = CubicSpline(table.times, turns)
    place = CubicSpline(table.times, table.poses[:, :3, 3])

    def pose(t):
        w, x, y, z = turn(t)
        square = w * w + x * x + y * y + z * z
        T = np.eye(4)
        T[:3, :3] = np.eye(3) + 2.0 / square * np.array(
            [
                [-y * y - z * z, x * y - w * z, x * z + w * y],
                [x * y + w * z, -x * x - z * z, y * z - w * x],
                [x * z - w * y, y * z + w * x, -x * x - y * y],
            ]
        )
        T[:3, 3] = place(t)
        return T

    written = mb.PrescribedPose("frame in a table", "a", pose, frame=table.frame)
    one, other = (_mechanism(each).assemble() for each in (table, written))
    rng = np.random.default_rng(11)
    for t in rng.uniform(table.times[0], table.times[-1], size=5):
        q = one.retract(one.reference_configuration(), rng.normal(size=one.nv))
        v = rng.normal(size=one.nv)
        for name, given in (("residual", (q,)), ("jacobian", (q,)), ("bias", (q, v))):
            found, expected = (
                getattr(each, f"constraint_{name}")(*given, t) for each in (one, other)
            )
            size = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * size, err_msg=name)


@pytest.mark.some(2)
@pytest.mark.parametrize("by", ["function", "table"])
def test_a_prescribed_pose_is_regular_where_it_is_kept(by):
    """Its rotation vector turns over at half a turn, where the residual is pi, far from zero."""
    times = np.linspace(0.0, 1.0, 4)
    axis = np.array([2.0, 3.0, 6.0]) / 7.0
    given = {
        "function": {"function": lambda t: np.eye(4)},
        "table": {"times": times, "poses": np.stack([np.eye(4)] * 4)},
    }[by]
    mech = mb.Mechanism("turned")
    mech.add_body(mb.Body("head", mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))))
    mech.add_joint(mb.FreeJoint("free"), mech.world, "head")
    mech.add_constraint(mb.PrescribedPose("held", "head", **given))
    system = mech.assemble(mb.RelativeCoordinates(length=1.0))
    q0 = system.reference_configuration()
    for angle in (0.0, 1e-9, 1.0, 3.1, np.pi - 1e-6, np.pi):
        q = system.retract(q0, np.append(angle * axis, np.zeros(3)))
        g = system.constraint_residual(q, 0.4)
        assert np.linalg.norm(g) == pytest.approx(angle, rel=1e-12, abs=1e-15)
        # the least singular value of its Jacobian is one at every angle
        singular = np.linalg.svd(system.constraint_jacobian(q, 0.4))[1]
        assert singular[-1] == pytest.approx(1.0, rel=1e-12)
        assert singular[0] <= np.pi / 2 + 1e-12
        closed = system.close_loops(q)
        np.testing.assert_allclose(system.constraint_residual(closed), 0.0, atol=1e-12)


@pytest.mark.some(4)
@representations_in_turn("constraint", {each.name: each for each in EXAMPLES})
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
