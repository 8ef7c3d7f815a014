"""Failures in a user's joint come out as they are, or as an error; never as a number."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.derivatives import derivatives_of
from tests.reference.user_joints import EllipseJoint
from tests.trees import random_inertia, random_pose


class Rail(EllipseJoint):
    """Fails as it is told to beyond q = 1."""

    def __init__(self, name, **fault):
        super().__init__(name, 1.0, 0.5)
        self.fault = fault

    def _spoilt(self, method, q, right):
        made = self.fault.get(method)
        return right if made is None or not q[0] > 1.0 else made(right)

    def pose(self, q):
        return self._spoilt("pose", q, super().pose(q))

    def motion_subspace(self, q):
        return self._spoilt("motion_subspace", q, super().motion_subspace(q))

    def bias(self, q, v):
        return self._spoilt("bias", q, super().bias(q, v))


class Derived(mb.Joint):
    """The same by its pose alone."""

    num_positions = num_velocities = 1
    _spoilt = Rail._spoilt

    def __init__(self, name, **fault):
        super().__init__(name)
        self.fault = fault

    def pose(self, q):
        T = np.eye(4)
        T[:3, 3] = np.sin(q[0]), 0.0, -0.5 * np.cos(q[0])
        return self._spoilt("pose", q, T)


def tree(joint, others=1):
    rng = np.random.default_rng(3)
    mech = mb.Mechanism("tree")
    body = mech.world
    for each in [*(mb.RevoluteJoint(f"hinge{i}") for i in range(others)), joint]:
        child = mech.add_body(mb.Body(f"body of {each.name}", random_inertia(rng)))
        mech.add_joint(each, body, child, frames=(random_pose(rng), random_pose(rng)))
        body = child
    return mech.assemble()


def raises(right):
    raise ZeroDivisionError("beyond the rail")


FAULTS = {
    "an exception": ("pose", raises, ZeroDivisionError, "beyond the rail"),
    "a stretched pose": (
        "pose", lambda T: T * 1.001, mb.JointError,
        r"'rail': pose must return a rotation .* got \|R R\^T - I\| = 0.002",
    ),
    "a reflection": (
        "pose", lambda T: T @ np.diag([1.0, 1.0, -1.0, 1.0]), mb.JointError, "det R = -1",
    ),
    "a pose of the wrong shape": (
        "pose", lambda T: T[:3], mb.JointError,
        r"'rail': pose must return .* \(4, 4\), got \(3, 4\)",
    ),
    "a complex pose": (
        "pose", lambda T: T + 0j, mb.JointError, "pose must return real numbers, got .* complex128",
    ),
}  # fmt: skip

LATER = {
    "a row for a column": (
        "motion_subspace", lambda S: S.T, mb.JointError, r"must return .* \(6, 1\), got \(1, 6\)",
    ),
    "a scalar": ("bias", lambda b: 1.0, mb.JointError, r"must return .* \(6,\), got \(\)"),
    "complex numbers": (
        "bias", lambda b: b + 1j, mb.JointError, "bias must return real numbers, got .* complex128",
    ),
    "text": ("bias", lambda b: ["a"] * 6, mb.JointError, "bias must return real numbers"),
    "a KeyError": ("bias", lambda b: {}["x"], KeyError, "x"),
}  # fmt: skip

CASES = [(Rail, name, *case) for name, case in {**FAULTS, **LATER}.items()] + [
    (Derived, name, *case) for name, case in FAULTS.items()
]


@pytest.mark.parametrize(
    ("kind", "name", "method", "fault", "error", "message"),
    CASES,
    ids=[f"{case[0].__name__}: {case[1]}" for case in CASES],
)
def test_faults_within_compiled_algorithms(kind, name, method, fault, error, message):
    """The joint's name and its q are with it, and where all joints were."""
    system = tree(kind("rail", **{method: fault}))
    q, v = np.array([0.1, 1.5]), np.zeros(2)
    with pytest.raises(error, match=message) as caught:
        system.forward_dynamics(q, v)
    told = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "rail" in told
    assert "Its own q is [1.5]" in told
    assert "q = [0.1 1.5]" in told


@pytest.mark.parametrize("kind", [Rail, Derived])
def test_a_sample_of_a_batch_is_named(kind):
    """By its index; the others are computed where that is asked for."""
    system = tree(kind("rail", pose=raises))
    q = np.zeros((2, 3, 2))
    q[1, 2, 1] = 1.5
    with pytest.raises(ZeroDivisionError) as caught:
        system.mass_matrix(q)
    assert "sample (1, 2)" in "\n".join(caught.value.__notes__)
    found = system.mass_matrix(q, on_error="nan")
    assert np.isnan(found[1, 2]).all()
    assert np.isfinite(np.delete(found.reshape(6, -1), 5, axis=0)).all()


@pytest.mark.parametrize("kind", [Rail, Derived])
def test_the_time_of_a_simulation_is_named(kind):
    """With what was computed until then."""
    system = tree(kind("rail", pose=raises))
    with pytest.raises(ZeroDivisionError, match="beyond the rail") as caught:
        mb.simulate(system, (0.0, 2.0), 1e-2, q=[0.0, 0.9], v=[0.0, 2.0])
    notes = "\n".join(caught.value.__notes__)
    assert "Raised in joint 'rail'. Its own q is [1.0" in notes
    assert "At t = 0." in notes
    assert caught.value.result.t[-1] > 0.0


def test_poses_that_are_not_finite_are_not_computed_with():
    """Forward dynamics refuses them; kinematics returns what it gets."""
    for kind in (Rail, Derived):
        system = tree(kind("rail", pose=lambda T: T * np.nan))
        with pytest.raises(mb.NotFiniteError, match="joint 'rail' is not finite"):
            system.forward_dynamics([0.1, 1.5], [0.0, 0.0])
        assert np.isnan(system.poses([0.1, 1.5])[-1]).any()


class Interpolated(mb.Joint):
    """A cam by a function of numpy that has no derivative here."""

    num_positions = num_velocities = 1
    angles = np.linspace(-4.0, 4.0, 9)
    lifts = 0.3 * angles

    def pose(self, q):
        T = np.eye(4)
        c, s = np.cos(q[0]), np.sin(q[0])
        T[:2, :2] = [[c, -s], [s, c]]
        T[2, 3] = np.interp(q[0], self.angles, self.lifts)
        return T


def test_what_cannot_be_differentiated_is_named_once():
    """Differences take its place, with the digits that the warning says."""
    joint = Interpolated("cam")
    with pytest.warns(mb.JointDerivativeWarning) as caught:
        system = tree(joint)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "Joint 'cam': pose cannot be differentiated exactly: np.interp has no derivative" in text
    assert 'in "T[2, 3] = np.interp(q[0], self.angles, self.lifts)"' in text
    helix = tree(mb.HelicalJoint("cam", pitch=0.3))
    q, v = [0.3, 0.77], [0.5, -0.8]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = system.forward_dynamics(q, v)
    np.testing.assert_allclose(joint.motion_subspace(np.array([0.77])).T, [[0, 0, 1, 0, 0, 0.3]],
                               atol=1e-12)  # fmt: skip
    np.testing.assert_allclose(joint.bias(np.array([0.77]), np.array([2.0])), 0.0, atol=1e-9)
    np.testing.assert_allclose(found, helix.forward_dynamics(q, v), rtol=1e-9)


def test_a_joint_that_is_changed_is_derived_anew():
    """A number that was written into the derivatives is not used when it is another one."""
    joint = Derived("rail")
    q, v = np.array([0.7]), np.array([2.0])
    before = joint.motion_subspace(q)
    joint.fault = {"pose": lambda T: np.diag([1.0, 1.0, 1.0, 1.0]) @ T + 0.0}
    joint._spoilt = lambda method, q, right: _doubled(right)
    after, bias = joint.motion_subspace(q), joint.bias(q, v)
    np.testing.assert_allclose(after, 2.0 * before)
    assert bias[3] == pytest.approx(-8.0 * np.sin(0.7), rel=1e-14)


def _doubled(T):
    T = T.copy()
    T[:3, 3] = 2.0 * T[:3, 3]
    return T


def test_a_pose_that_is_not_a_function_is_refused():
    """Its derivative would be that of another one."""

    class Wandering(Derived):
        calls = 0

        def pose(self, q):
            Wandering.calls += 1
            return super().pose(q + 1e-3 * Wandering.calls)

    with pytest.raises(mb.JointError, match="does not give the same for the same q"):
        Wandering("w").motion_subspace(np.zeros(1))


def test_where_there_is_no_derivative_there_is_no_number():
    """A root at zero: the motion subspace is infinite there, and said to be not finite."""

    class Root(mb.Joint):
        num_positions = num_velocities = 1

        def pose(self, q):
            T = np.eye(4)
            T[0, 3] = np.sqrt(q[0])
            return T

        def neutral(self):
            return np.ones(1)

    joint = Root("root")
    assert np.isnan(joint.motion_subspace(np.zeros(1))).all()
    assert joint.motion_subspace(np.array([4.0]))[3, 0] == 0.25
    with pytest.raises(mb.NotFiniteError, match="joint 'root' is not finite"):
        tree(joint, 0).forward_dynamics([0.0], [0.0])


def test_derivatives_go_with_their_joint():
    """They are kept no longer than it."""
    import gc

    from mbkit.joints.defaults import derivatives

    joint = Derived("rail")
    joint.motion_subspace(np.zeros(1))
    key = id(joint)
    assert derivatives_of(joint) is derivatives._derivatives._known[key][1]
    del joint
    gc.collect()
    assert key not in derivatives._derivatives._known


def test_every_branch_has_its_own_derivatives():
    """The pose changes its formula at q = 0; both sides are differentiated, again and again."""

    class Bent(mb.Joint):
        num_positions = num_velocities = 1

        def pose(self, q):
            T = np.eye(4)
            T[0, 3] = np.sin(q[0]) if q[0] < 0.0 else q[0] + q[0] ** 3
            return T

    joint = Bent("bent")
    for _ in range(3):
        for x in (-0.5, 0.5):
            slope, curve = (np.cos(x), -np.sin(x)) if x < 0 else (1 + 3 * x**2, 6 * x)
            assert joint.motion_subspace(np.array([x]))[3, 0] == pytest.approx(slope, rel=1e-15)
            assert joint.bias(np.array([x]), np.array([2.0]))[3] == pytest.approx(4 * curve)
