"""Forces between the passes of the forward dynamics, where time loops evaluate them."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.systems.calls.evaluations import FORWARD_DYNAMICS, HYBRID_DYNAMICS
from mbkit.systems.memory.workspace import Workspace
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.forces.test_python_forces import call
from tests.trees import random_state


@pytest.fixture(scope="module")
def mechanism():
    """A tree with a force of every kind; one of its bodies is welded to the world."""
    rng = np.random.default_rng(31)
    mech, single = tree(rng, 12)
    wall = mb.Body("wall", mb.SpatialInertia.sphere(1.0, radius=0.1))
    mech.add_joint(mb.FixedJoint("weld"), mech.world, mech.add_body(wall))
    for force in every_force(rng, mech, single):
        mech.add_force(force)
    mech.add_force(mb.UniformField("some", acceleration=rng.normal(size=3), bodies=["body4"]))
    mech.add_force(mb.SpringDamper("tether", "wall", "body9", stiffness=4.0, damping=0.3))
    return mech


def forced(system, what, t, q, v, x):
    """Return what a function of the system computes with the option FORCED, and the powers."""
    from mbkit.kernels.layout import FORCED

    evaluator = system.evaluator
    call = evaluator.direct(what, evaluator.function(what), FORCED)
    workspace = Workspace(system.arrays, system.evaluator)
    workspace.time[0] = t
    out = np.zeros(evaluator.arguments.shape(what.result))
    args = [np.array(each, dtype=float) for each in (q, v, x)]
    assert call(workspace.record, out, *args) == 0
    x[:] = args[2]  # to which the forces along the joints were added
    return out, workspace.powers.copy()


@pytest.mark.some(4)
@each_representation
@pytest.mark.parametrize("body_frames", ["joint", "user", "com", "world"])
def test_they_do_what_generalized_forces_say(mechanism, representation, body_frames):
    """vdot under tau + J^T W of another algorithm, the one behind `generalized_forces`."""
    system = mechanism.assemble(mb.RelativeCoordinates(representation, body_frames))
    rng = np.random.default_rng(32)
    for t in (-1.0, 0.2, 0.9):
        s = random_state(rng, system, 0.7)
        tau = s.tau + system.generalized_forces(s.q, s.v, t)
        expected = system.without_forces().forward_dynamics(s.q, s.v, tau)
        vdot, powers = forced(system, FORWARD_DYNAMICS, t, s.q, s.v, s.tau)
        np.testing.assert_allclose(vdot, expected, atol=1e-11 * np.abs(expected).max())
        np.testing.assert_allclose(powers, system.force_powers(s.q, s.v, t).sum(axis=0))


@each_representation
def test_hybrid_dynamics_has_them_too(mechanism, representation):
    """Where accelerations of some joints are given."""
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    s = random_state(np.random.default_rng(33), system, 0.7)
    held = [name for name in system.joint_names if name in ("joint1", "joint4")]
    prescribed = np.zeros(system.nv)
    for name in held:
        prescribed[system.velocity_slice(name)] = 1.0
    tau, bare = s.tau + system.generalized_forces(s.q, s.v, 0.5), system.without_forces()
    expected, efforts = bare.hybrid_dynamics(s.q, s.v, tau=tau, vdot=s.vdot, prescribed=held)
    known = np.concatenate([s.tau, s.vdot, prescribed])
    found, _ = forced(system, HYBRID_DYNAMICS, 0.5, s.q, s.v, known)
    # what holds the prescribed joints beside all forces: those along them are added to the known
    at = prescribed == 1.0
    held_by = (found[: system.nv] - known[: system.nv])[at]
    np.testing.assert_allclose(held_by, (efforts - tau)[at], atol=1e-9 * np.abs(efforts).max())
    vdot = found[system.nv :]
    np.testing.assert_allclose(vdot, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.compiled
@pytest.mark.parametrize("order", [1, -1])
def test_springs_and_dampers_of_a_joint_add_up(order):
    """Several of each on one joint, with and without stiffness, in any order."""
    mech = mb.Mechanism("slider", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    forces = [
        mb.JointDamper("d1", "slide", damping=0.5),
        mb.JointSpring("k1", "slide", stiffness=30.0, rest=0.1),
        mb.JointSpring("none", "slide", stiffness=0.0, rest=9.0),
        mb.JointSpring("k2", "slide", stiffness=20.0, rest=-0.15),
        mb.JointDamper("d2", "slide", damping=1.5),
    ][::order]  # fmt: skip
    system = mech.assemble().with_forces(forces)
    # 50 q of both springs, whose rests cancel
    np.testing.assert_allclose(system.generalized_forces([0.3], [0.7]), [-15.0 - 1.4])
    run = mb.simulate(system, (0.0, 2.0), 1e-3, q=[0.3])
    a, w = 0.5, np.sqrt(25.0 - 0.25)
    q = 0.3 * np.exp(-a * run.t) * (np.cos(w * run.t) + a / w * np.sin(w * run.t))
    np.testing.assert_allclose(run.q[:, 0], q, rtol=0, atol=1e-10)
    assert np.abs(run.energy_balance).max() < 1e-9


def _spoil_effort(t, q, v, poses, twists, out):
    out[:] = np.nan if t > 0.0107 else 0.0


@pytest.mark.parametrize("attributes", [{}, {"acts_on": "bodies", "bodies": ("body3", "body5")}])
def test_in_a_run_what_is_not_finite_is_named(mechanism, attributes):
    """Also where it is a wrench, which tau never sees."""
    force = call(_spoil_effort, **attributes)
    with pytest.raises(mb.NotFiniteError, match=r"t = 0.01 s.*Force 'mine' is not finite"):
        mb.simulate(mechanism.assemble(), (0.0, 0.1), 1e-3, forces=[force])


def test_a_run_that_blows_up_for_other_reasons_blames_no_force(mechanism):
    """The acceleration is not finite, and every force is."""
    system = mechanism.assemble()
    tau = np.zeros(system.nv)
    tau[0] = 1e308
    with pytest.raises(mb.NotFiniteError) as caught:
        mb.simulate(system, (0.0, 1.0), 0.1, tau=tau)
    assert "Force" not in str(caught.value)


def test_a_field_on_all_bodies_is_gravity_in_a_run():
    """Bit for bit what the mechanism's own gravity gives, but for the order of two sums."""
    rng = np.random.default_rng(34)
    mech, _ = tree(rng, 8, gravity=(0.0, 0.0, 0.0))
    state = random_state(rng, mech.assemble(), 0.3)
    g = rng.normal(size=3)
    heavy = mech.assemble().with_parameters({"gravity": g})
    runs = [
        mb.simulate(system, (0.0, 0.2), 1e-2, q=state.q, v=state.v, forces=forces)
        for system, forces in (
            (heavy, []),
            (mech.assemble(), [mb.UniformField("g", acceleration=g)]),
            (mech.assemble(), [mb.UniformField("g", acceleration=g, bodies=list(mech.bodies))]),
        )
    ]
    for run in runs[1:]:
        np.testing.assert_allclose(run.q, runs[0].q, atol=1e-12)
        np.testing.assert_allclose(run.potential_energy, runs[0].potential_energy, atol=1e-10)
