"""A body that tumbles in absolute coordinates, with every integrator: orders, one trajectory."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from mbkit.testing.convergence import fitted_slope
from tests.joints.absolute_joints import LOCALS, SIDES

each_local = pytest.mark.parametrize("local", LOCALS, ids=lambda local: local.name)
each_side = pytest.mark.parametrize("side", SIDES)

#: Of every map and lift one, on both sides.
SOME = [
    (mb.ScrewCoordinates(), "right"),
    (mb.RotationVectorPosition(), "left"),
    (mb.RodriguesPosition(), "right"),
    (mb.ExtendedRodrigues(), "left"),
    (mb.ExtendedWienerMilenkovic(), "right"),
    (mb.DualRodrigues(), "left"),
]
some_maps = pytest.mark.parametrize(
    ("local", "side"), SOME, ids=[f"{local.name} {side}" for local, side in SOME]
)

#: Integrators, their order, and steps a second at which it is measured.
INTEGRATORS = {
    "Munthe-Kaas": (mb.RungeKuttaMuntheKaas(), 4, (40, 80, 160)),
    "truncated": (mb.RungeKuttaMuntheKaas(truncation=2), 4, (40, 80, 160)),
    "Crouch-Grossman": (mb.CrouchGrossman(), 3, (80, 160, 320)),
    "commutator-free": (mb.CommutatorFree(), 4, (40, 80, 160)),
    "multistep": (mb.MultistepMuntheKaas(), 3, (200, 400, 800)),
    "generalized alpha": (mb.GeneralizedAlpha(), 2, (100, 200, 400)),
    "BLieDF 2": (mb.BLieDF(steps=2), 2, (200, 400, 800)),
    "BLieDF 4": (mb.BLieDF(steps=4), 4, (100, 200, 400)),
    "RATTLie": (mb.RATTLie(), 2, (100, 200, 400)),
}

#: Pose, and body-fixed twist, at the start.
START = SE3.exp([0.4, -0.3, 0.8, 0.2, 0.5, -0.1])
TWIST = np.array([1.0, -1.5, 0.8, 0.5, -0.2, 0.3])


def tumbling(joint: mb.Joint, start=START, twist=TWIST):
    """A body with its centre of mass off its origin, on a spring, and its first state."""
    mech = mb.Mechanism("tumbling", gravity=(0.3, -0.4, -9.81))
    inertia = mb.SpatialInertia.from_com(
        2.0, (0.2, -0.1, 0.3), moment_about_com=np.diag([0.3, 0.5, 0.7])
    )
    body = mech.add_body(mb.Body("body", inertia))
    mech.add_joint(joint, mech.world, body)
    mech.add_force(
        mb.SpringDamper(
            "spring", "world", "body", stiffness=8.0, rest_length=0.5, point_a=(0, 0, 1),
            point_b=(0.3, 0.2, -0.1),
        )
    )  # fmt: skip
    q = joint.configuration_from_pose(start)
    return mech.assemble(), q, np.linalg.solve(joint.motion_subspace(q), twist)


def end_of(joint, integrator, steps, end=1.0):
    """Pose and body-fixed twist at the end."""
    system, q, v = tumbling(joint)
    run = mb.simulate(
        system, (0.0, end), end / steps, q=q, v=v, integrator=integrator, save_every=steps,
        progress=False,
    )  # fmt: skip
    last = run.q[-1]
    twist = system.twists(last, run.v[-1], representation=mb.BodyFixed())[1]
    return np.concatenate([system.poses(last)[1, :3].ravel(), twist])


@functools.cache
def reference():
    """Of order 8, on the free joint; its error is below 1e-12."""
    return end_of(mb.FreeJoint("free"), mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8), 1000)


def errors(joint, integrator, all_steps):
    return [np.abs(end_of(joint, integrator, n) - reference()).max() for n in all_steps]


def check_order(joint, name):
    integrator, order, steps = INTEGRATORS[name]
    found = errors(joint, integrator, steps)
    assert fitted_slope(steps, np.array(found)).value == pytest.approx(order, abs=0.1)


@pytest.mark.some(2)
@each_local
@each_side
def test_all_maps_are_of_order_four_and_agree(local, side):
    """With the method of Runge, Kutta and Munthe-Kaas, and to 1e-6 at the smallest step."""
    joint = mb.AbsoluteJoint("free", local=local, trivialised=side)
    check_order(joint, "Munthe-Kaas")
    assert errors(joint, mb.RungeKuttaMuntheKaas(), [160])[0] < 3e-7


@pytest.mark.some(6)
@some_maps
@pytest.mark.parametrize("name", [name for name in INTEGRATORS if name != "Munthe-Kaas"])
def test_all_integrators_keep_their_order(local, side, name):
    """Whether they ask for exponentials, for brackets, or for the differential of the map."""
    check_order(mb.AbsoluteJoint("free", local=local, trivialised=side), name)


@pytest.mark.some(2)
@each_local
@each_side
def test_orientations_make_no_difference(local, side):
    """The same steps in quaternions, rotation vectors and angles, through all singular places.

    The body turns round three times; rotation vectors jump at half turns, and angles at their
    gimbal lock, where the pitch is a right angle. The start passes through it exactly.
    """
    start, twist = np.eye(4), np.array([0.0, 6.0, 0.0, 0.5, -0.2, 0.3])
    runs = []
    for orientation in (mb.UnitQuaternion(), mb.RotationVector(), mb.EulerAngles("zyx")):
        joint = mb.AbsoluteJoint("free", orientation, local, side)
        system, q, v = tumbling(joint, start, twist)
        run = mb.simulate(system, (0.0, 4.0), 0.01, q=q, v=v, progress=False)
        runs.append((run, system.poses(run.q)[:, 1]))
    quaternions, vectors, _ = (run for run, _ in runs)
    jumps = np.linalg.norm(np.diff(vectors.q[:, :3], axis=0), axis=1)
    assert (jumps > 6.0).sum() >= 3
    assert np.abs(np.linalg.norm(quaternions.q[:, :4], axis=1) - 1.0).max() < 5e-16
    for run, poses in runs[1:]:
        np.testing.assert_allclose(poses, runs[0][1], atol=1e-10)
        np.testing.assert_allclose(run.v, quaternions.v, atol=1e-10)


@pytest.mark.parametrize("name", ["generalized alpha", "BLieDF 4"])
@pytest.mark.parametrize("orientation", [mb.RotationVector(), mb.EulerAngles("zxz")])
def test_implicit_integrators_pass_singular_orientations(name, orientation):
    """No history lives in positions: the run is that in quaternions."""
    integrator = INTEGRATORS[name][0]
    found = []
    for each in (mb.UnitQuaternion(), orientation):
        joint = mb.AbsoluteJoint("free", each, mb.RodriguesPosition())
        system, q, v = tumbling(joint, np.eye(4), np.array([0.0, 6.0, 0.0, 0.5, -0.2, 0.3]))
        run = mb.simulate(
            system, (0.0, 2.0), 0.01, q=q, v=v, integrator=integrator, progress=False
        )  # fmt: skip
        found.append(system.poses(run.q)[:, 1])
    np.testing.assert_allclose(found[1], found[0], atol=1e-8)


@pytest.mark.parametrize("sequence", ["zyx", "zxz"])
def test_a_body_turns_in_gimbal_lock(sequence):
    """About the axis that angles lose, from the lock itself: its rotation is that of the time."""
    proper = sequence[0] == sequence[2]
    joint = mb.AbsoluteJoint("free", mb.EulerAngles(sequence))
    mech = mb.Mechanism("spin", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(joint, mech.world, body)
    system = mech.assemble()
    q = np.array([0.3, 0.0 if proper else np.pi / 2, 0.1, 0.0, 0.0, 0.0])
    for axis, size in itertools.product(range(3), (1e-9, 2.0)):
        v = size * np.eye(6)[axis]
        run = mb.simulate(system, (0.0, 3.0), 0.01, q=q, v=v, progress=False)
        expected = joint.pose(q) @ SE3.exp(3.0 * v)
        np.testing.assert_allclose(system.poses(run.q[-1])[1], expected, atol=2e-13)


@some_maps
def test_steps_of_their_own_size(local, side):
    """To the tolerance that is asked for, and between the steps, where it is interpolated."""
    integrator = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-9)
    times, found = np.linspace(0.03, 0.97, 7), []
    for joint in (
        mb.FreeJoint("free"),
        mb.AbsoluteJoint("free", mb.RotationVector(), local, side),
        mb.AbsoluteJoint("free", mb.EulerAngles(), local, side),
    ):
        np.testing.assert_allclose(end_of(joint, integrator, 1), reference(), atol=1e-7)
        system, q, v = tumbling(joint)
        run = mb.simulate(
            system, (0.0, 1.0), 0.1, q=q, v=v, integrator=integrator, save_at=times,
            progress=False,
        )  # fmt: skip
        found.append(system.poses(run.q)[:, 1])
    for poses in found[1:]:
        np.testing.assert_allclose(poses, found[0], atol=1e-7)


# ------------------------------------------------------------------ held by a constraint

SPIN, COM = np.array([1.0, 3.0, -2.0]), np.array([0.2, 0.6, -0.1])


def top(joint=None):
    """A top on a ball joint: of the tree, or of a loop with an absolute joint at the com."""
    mech = mb.Mechanism("top", gravity=(0, 0, -9.81))
    inertia = mb.SpatialInertia.from_com(2.0, COM, moment_about_com=np.diag([0.3, 0.5, 0.75]))
    body = mech.add_body(mb.Body("top", inertia))
    if joint is None:
        mech.add_joint(mb.SphericalJoint("tip"), mech.world, body)
        system = mech.assemble()
        return system, system.reference_configuration(), SPIN
    at = mb.spatial.translation(COM)
    mech.add_joint(joint, mech.world, body, frames=(np.eye(4), at))
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, body)
    q = joint.configuration_from_pose(at)
    twist = np.concatenate([SPIN, np.cross(SPIN, COM)])
    v = np.linalg.solve(joint.motion_subspace(q), twist)
    return mech.assemble(mb.RelativeCoordinates(loop_joints=["tip"])), q, v


def top_at_the_end(joint, integrator, steps):
    """Pose and body-fixed twist, and the run."""
    system, q, v = top(joint)
    run = mb.simulate(
        system, (0.0, 0.5), 0.5 / steps, q=q, v=v, integrator=integrator, progress=False
    )  # fmt: skip
    twist = system.twists(run.q[-1], run.v[-1], representation=mb.BodyFixed())[1]
    return np.concatenate([system.poses(run.q[-1])[1, :3].ravel(), twist]), run


@functools.cache
def top_reference():
    return top_at_the_end(None, mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8), 500)[0]


CONSTRAINED = {
    "index 3": (mb.GeneralizedAlpha(formulation="index3"), 2),
    "index 2": (mb.GeneralizedAlpha(), 2),
    "BLieDF": (mb.BLieDF(steps=2), 2),
    "RATTLie": (mb.RATTLie(), 2),
    "projected": (mb.RungeKuttaMuntheKaas(), 4),
}


@pytest.mark.some(5)
@some_maps
@pytest.mark.parametrize("name", CONSTRAINED)
def test_a_top_held_by_a_constraint(local, side, name):
    """Orders in q and v are those of unconstrained motion, and the loop stays closed."""
    integrator, order = CONSTRAINED[name]
    joint = mb.AbsoluteJoint("free", mb.RotationVector(), local, side)
    found, steps = [], (100, 200, 400)
    for count in steps:
        end, run = top_at_the_end(joint, integrator, count)
        found.append(np.abs(end - top_reference()).max())
    assert fitted_slope(steps, np.array(found)).value == pytest.approx(order, abs=0.1)
    q, v = run.q[-1], run.v[-1]
    system = top(joint)[0]
    assert np.abs(system.constraint_residual(q)).max() < 1e-10
    if name != "index 3":
        assert np.abs(system.constraint_jacobian(q) @ v).max() < 1e-10
