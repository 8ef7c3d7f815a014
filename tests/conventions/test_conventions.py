"""Conventions of other programs: there and back, invariants, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mbkit as mb
from mbkit.conventions import DRAKE, IDYNTREE, MUJOCO, PINOCCHIO
from mbkit.lie import SE3, UnitQuaternion
from tests.at_each import at_each
from tests.conventions.two_bodies import ARM
from tests.representations.motions import ALL, NAMES, base_poses

PROGRAMS = (PINOCCHIO, MUJOCO, IDYNTREE, DRAKE)
POSES = base_poses()
FORMS = [(program, name) for program in PROGRAMS for name in program.names]
forms = pytest.mark.parametrize(
    ("program", "name"), FORMS, ids=[f"{p.program.split()[0]}-{name}" for p, name in FORMS]
)
programs = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.program.split()[0])
representations = pytest.mark.parametrize("representation", ALL, ids=NAMES)
seeds = st.integers(0, 2**32 - 1)


def options(program, name, rng):
    """Return what the form asks for besides: (for twists and wrenches, for accelerations)."""
    form = program.form(name)
    where = {"centre": rng.standard_normal(3)} if form.about else {}
    fall = {"gravity": rng.standard_normal(3)} if form.holds_gravity else {}
    return where, where | fall


def close(found, expected, size=1.0):
    return np.abs(np.asarray(found) - expected).max() <= 1e-12 * max(size, 1.0)


@pytest.mark.some(4)
@forms
@representations
@at_each("C", POSES)
def test_there_and_back(program, name, representation, C):
    rng = np.random.default_rng(51)
    V, W, A = rng.standard_normal((3, 6))
    J = rng.standard_normal((6, 4))
    size = np.abs(C).max() ** 2
    where, moving = options(program, name, rng)
    arguments = C, representation, name
    there = program.twist_to(V, *arguments, **where)
    assert close(program.twist_from(there, *arguments, **where), V, size)
    wrench = program.wrench_to(W, *arguments, **where)
    assert close(program.wrench_from(wrench, *arguments, **where), W, size)
    jacobian = program.jacobian_to(J, *arguments, **where)
    assert close(program.jacobian_from(jacobian, *arguments, **where), J, size)
    assert close(jacobian @ np.ones(4), program.twist_to(J.sum(axis=1), *arguments, **where), size)
    for kind in program.form(name).kinds:
        moved = program.acceleration_to(A, V, *arguments, kind=kind, **moving)
        back = program.acceleration_from(moved, there, *arguments, kind=kind, **moving)
        assert close(back, A, size**1.5)


@forms
@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_power(program, name, seed):
    """Wrenches and twists of one form multiply to power, whatever their order."""
    rng = np.random.default_rng(seed)
    C, V, W = SE3.random(rng), *rng.standard_normal((2, 6))
    where, _ = options(program, name, rng)
    power = program.wrench_to(W, C, name=name, **where) @ program.twist_to(V, C, name=name, **where)
    assert abs(power - W @ V) <= 1e-11


@forms
def test_leading_axes(program, name):
    rng = np.random.default_rng(52)
    C, V, A = SE3.random(rng, (3, 1)), *rng.standard_normal((2, 4, 6))
    where, moving = options(program, name, rng)
    twists = program.twist_to(V, C, name=name, **where)
    assert twists.shape == (3, 4, 6)
    one = C[2, 0]
    assert close(twists[2, 3], program.twist_to(V[3], one, name=name, **where))
    if not program.form(name).kinds:
        return
    accelerations = program.acceleration_to(A, V, C, name=name, **moving)
    assert accelerations.shape == (3, 4, 6)
    found = program.acceleration_to(A[3], V[3], one, name=name, **moving)
    assert close(accelerations[2, 3], found)
    back = program.acceleration_from(accelerations, twists, C, name=name, **moving)
    assert close(back, np.broadcast_to(A, (3, 4, 6)), 10.0)


@programs
@settings(max_examples=20, deadline=None)
@given(seed=seeds, angle=st.sampled_from([0.0, 1e-8, 1.0, np.pi - 1e-8, np.pi]))
def test_free_joint(program, seed, angle):
    """Positions, velocities, accelerations and forces there and back; tau . v is power."""
    rng = np.random.default_rng(seed)
    axis = rng.standard_normal(3)
    quaternion = UnitQuaternion.exp(angle * axis / np.linalg.norm(axis))
    q = np.concatenate([quaternion, rng.standard_normal(3)])
    v, vdot, tau = rng.standard_normal((3, 6))
    free = program.free_joint
    positions = free.positions_from(free.positions_to(q))
    assert close(positions[4:], q[4:])
    assert min(np.abs(positions[:4] - s * q[:4]).max() for s in (1, -1)) <= 1e-12
    velocities = free.velocities_to(q, v)
    assert close(free.velocities_from(q, velocities), v)
    assert close(free.velocity_map(q) @ v, velocities)
    accelerations = free.accelerations_to(q, v, vdot)
    assert close(free.accelerations_from(q, velocities, accelerations), vdot)
    forces = free.forces_to(q, tau)
    assert close(free.forces_from(q, forces), tau)
    assert forces @ velocities == pytest.approx(tau @ v, abs=1e-12)


@programs
def test_free_joint_accelerations_are_rates(program):
    """They are the difference quotient of the program's velocities along a motion."""
    rng = np.random.default_rng(53)
    v, vdot = rng.standard_normal((2, 6))
    C0, h = SE3.random(rng), 2.0**-14
    free = program.free_joint
    ends = []
    for t in (-h, h):
        C = C0 @ SE3.exp(v * t + 0.5 * vdot * t**2)
        q = np.concatenate([UnitQuaternion.from_rotation(C[:3, :3]), C[:3, 3]])
        ends.append(free.velocities_to(q, v + t * vdot))
    q = np.concatenate([UnitQuaternion.from_rotation(C0[:3, :3]), C0[:3, 3]])
    slope = (ends[1] - ends[0]) / (2.0 * h)
    assert np.abs(free.accelerations_to(q, v, vdot) - slope).max() <= 100.0 * h**2


@programs
def test_inertias(program):
    found = program.inertia_from(program.inertia_to(ARM))
    assert close(found.com, ARM.com)
    assert close(found.moment_about_com, ARM.moment_about_com)
    assert found.mass == ARM.mass
    other = ARM.matrix() if program.linear_first_inertia else np.roll(ARM.matrix(), (3, 3), (0, 1))
    with pytest.raises(mb.InertiaError):
        program.inertia_from(other)
    with pytest.raises(mb.InertiaError, match=r"inertia_to takes an mb\.SpatialInertia, got float"):
        program.inertia_to(1.0)


def test_refusals():
    V, C = np.ones(6), np.eye(4)
    with pytest.raises(mb.UsageError, match=r"Pinocchio 4\.1: .*'LOCALE'; did you mean 'LOCAL'"):
        PINOCCHIO.twist_to(V, C, name="LOCALE")
    with pytest.raises(mb.UsageError, match="centre must be subtree_com"):
        MUJOCO.twist_to(V, C, name="com")
    with pytest.raises(mb.UsageError, match="does not depend on a centre"):
        DRAKE.wrench_to(V, C, centre=np.zeros(3))
    with pytest.raises(mb.UsageError, match="gravity is not in these accelerations"):
        IDYNTREE.acceleration_to(V, V, C, gravity=np.zeros(3))
    with pytest.raises(mb.UsageError, match=r"kind must be 'classical', got 'spatial'"):
        DRAKE.acceleration_from(V, V, C, kind="spatial")
    with pytest.raises(mb.UsageError, match="form has no accelerations, wrenches alone"):
        MUJOCO.acceleration_to(V, V, C, name="xfrc_applied", centre=np.zeros(3))
    with pytest.raises(mb.UsageError, match="target must be a representation"):
        PINOCCHIO.twist_from(V, C, "hybrid")
    with pytest.raises(mb.GeometryError, match=r"MuJoCo 4\.0: twist_to: C takes poses"):
        MUJOCO.twist_to(V, 2.0 * C)
    with pytest.raises(mb.ConfigurationError, match=r"length one, got \[2\.0\]; divide"):
        PINOCCHIO.free_joint.positions_to([2.0, 0, 0, 0, 0, 0, 0])
    with pytest.raises(mb.ShapeError, match=r"velocities_to takes an array of shape \(\.\.\., 6\)"):
        PINOCCHIO.free_joint.velocities_to([1.0, 0, 0, 0, 0, 0, 0], np.ones(7))
