"""Fields of forces and constraints that stay free where no polynomial says what kernels read."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.peers.test_casadi import same, state_of
from tests.peers.test_casadi_parameters import check, moved
from tests.trees import random_inertia

casadi = pytest.importorskip("casadi")


def two_bodies(*, joint=mb.FreeJoint):
    """A body on a joint to the world, and another one beside it."""
    rng = np.random.default_rng(31)
    mechanism = mb.Mechanism("two")
    for name in ("a", "b"):
        mechanism.add_body(mb.Body(name, random_inertia(rng)))
        frames = [SE3.exp(0.4 * rng.normal(size=6)) for _ in range(2)]
        mechanism.add_joint(joint(f"of {name}"), mechanism.world, name, frames=frames)
    return mechanism, rng


def test_whole_poses_of_a_bushing():
    mechanism, rng = two_bodies()
    frames = [SE3.exp(0.3 * rng.normal(size=6)) for _ in range(2)]
    stiff = (3.0, 2.0, 1.0, 10.0, 20.0, 30.0)
    mechanism.add_force(mb.Bushing("bushing", "a", "b", stiff, stiff, *frames))
    system = mechanism.assemble()
    q, v, _, tau = state_of(rng, system)
    names = [f"forces.bushing.{field}" for field in ("stiffness", "frame_a", "frame_b")]
    values = {name: moved(rng, system.parameters[name]) for name in names}
    check(system, "forward_dynamics", (q, v, tau), values, 1e-11)
    slopes = mb.casadi_function(
        system, "derivatives", of="forward_dynamics", by=names[1:], parameters=names[1:]
    )
    found = slopes(q, v, tau, *(system.parameters[name] for name in names[1:]))
    expected = system.derivatives("forward_dynamics", q, v, tau, by=names[1:])
    for part, name in zip(found, names[1:], strict=True):
        assert same(part, expected[name], 1e-10), name


CONSTRAINTS = {
    "line": mb.PointOnLine("c", "a", "b", axis=(1, 2, -3), point_a=(0.1, 0.2, 0.3)),
    "plane": mb.PointOnPlane("c", "a", "b", normal=(0, 0, -2), point_b=(0.1, 0.2, 0.3)),
    "ball": mb.RollingSphere("c", "a", "b", radius=0.1, normal=(0.1, -0.3, 2)),
    "disc": mb.RollingDisc("c", "a", "b", radius=0.1, normal=(0.1, -0.3, 2), axis=(3, 0.1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_directions_of_constraints(kind):
    """Along which rows are measured is chosen by case, as by the system that has them."""
    mechanism, rng = two_bodies()
    mechanism.add_constraint(CONSTRAINTS[kind])
    system = mechanism.assemble()
    q, v, _, _ = state_of(rng, system)
    names = [n for n in system.parameters if n.startswith("constraints.c.")]
    assert any(n.endswith(("axis", "normal")) for n in names)
    function = mb.casadi_function(system, "constraint_jacobian", parameters=names)
    bias = mb.casadi_function(system, "constraint_bias", parameters=names)
    for direction in [*np.eye(3), *rng.normal(size=(3, 3))]:
        values = {n: moved(rng, system.parameters[n]) for n in names}
        values |= {n: direction for n in names if n.endswith("normal")}
        values |= {n: direction[::-1] for n in names if n.endswith("axis")}
        values |= {n: 0.12 for n in names if n.endswith("radius")}
        if kind == "disc" and abs(direction[1]) == 1.0:
            continue  # it lies flat
        other = system.with_parameters(values)
        assert same(function(q, *values.values()), other.constraint_jacobian(q), 1e-11)
        assert same(bias(q, v, *values.values()), other.constraint_bias(q, v), 1e-10)


def test_times_of_a_table_of_a_force():
    for kind in ("linear", "cubic"):
        for count in (2, 3, 6):
            mechanism, rng = two_bodies(joint=mb.RevoluteJoint)
            times, values = np.cumsum(rng.uniform(0.1, 0.3, count)), rng.normal(size=count)
            force = mb.JointEffort("motor", "of a", values, times=times, interpolation=kind)
            mechanism.add_force(force)
            system = mechanism.assemble()
            q, v, _, _ = state_of(rng, system)
            names = ["forces.motor.times", "forces.motor.effort"]
            function = mb.casadi_function(system, "generalized_forces", parameters=names)
            moved_times = times + 0.02 * np.arange(count)
            other = system.with_parameters({names[0]: moved_times, names[1]: 1.2 * values})
            for t in np.linspace(0.0, times[-1] + 0.1, 9):
                expected = other.generalized_forces(q, v, t=t)
                assert same(function(q, v, moved_times, 1.2 * values, t), expected, 1e-11)


@pytest.mark.parametrize("periodic", [False, True])
def test_positions_of_a_cam(periodic):
    mechanism, rng = two_bodies(joint=mb.RevoluteJoint)
    positions = np.linspace(0.0, 2.0 * np.pi, 8)
    lift = 0.2 * (1.0 - np.cos(positions))
    cam = mb.Cam("cam", "of a", "of b", positions=positions, lift=lift, periodic=periodic)
    mechanism.add_constraint(cam)
    system = mechanism.assemble()
    q, v, _, _ = state_of(rng, system)
    q[0] = 1.3
    names = ["constraints.cam.positions", "constraints.cam.lift"]
    values = {names[0]: positions + 0.1 * np.sin(positions) + 0.05, names[1]: 1.3 * lift}
    for name, given in (
        ("constraint_residual", (q,)), ("constraint_jacobian", (q,)), ("constraint_bias", (q, v)),
    ):  # fmt: skip
        check(system, name, given, values, 1e-11)


def test_the_frame_and_the_times_of_a_prescribed_pose():
    mechanism, rng = two_bodies()
    times = np.array([-0.4, 0.1, 0.5, 0.8, 1.3])
    poses = SE3.exp(times[:, None] * rng.normal(size=6))
    frame = SE3.exp(0.3 * rng.normal(size=6))
    path = mb.PrescribedPose("path", "a", frame=frame, times=times, poses=poses)
    mechanism.add_constraint(path)
    system = mechanism.assemble()
    q, v, _, _ = state_of(rng, system)
    values = {
        "constraints.path.frame": moved(rng, frame),
        "constraints.path.times": times + 0.1 * times**2,
    }
    names = list(values)
    other = system.with_parameters(values)
    for name, given in (("constraint_residual", (q,)), ("constraint_bias", (q, v))):
        function = mb.casadi_function(system, name, parameters=names)
        expected = getattr(other, name)(*given, t=0.6)
        assert same(function(*given, *values.values(), 0.6), expected, 1e-10), name
