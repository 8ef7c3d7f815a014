"""Springs between bodies, which time loops evaluate in place, against the function they are."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.forces import ForceKernels
from mbkit.systems.memory.workspace import Workspace
from tests.constraints.loops import closed, consistent, random_loops
from tests.every_representation import each_representation, representations_in_turn
from tests.forces.cases import tree
from tests.sensitivities.differences import STEPS, WEIGHTS
from tests.trees import random_pose, random_state


@pytest.fixture(scope="module")
def mechanism():
    """A tree that branches, with bodies welded to others, one of them in the same frame."""
    rng = np.random.default_rng(41)
    mech, _ = tree(rng, 12)
    for name, parent, at in (
        ("hook", mech.bodies["body6"], random_pose(rng)),
        ("wall", mech.world, random_pose(rng)),
        ("twin", mech.bodies["body5"], np.eye(4)),
    ):
        body = mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(mb.FixedJoint(f"{name} weld"), parent, body, frames=(at, np.eye(4)))
    return mech


def pairs(mechanism):
    """Return bodies by how far from each other they are."""
    edges = [(edge.predecessor, edge.successor) for edge in mechanism.joints.values()]
    moving = [(a, b) for a, b in edges if a.startswith("body") and b.startswith("body")]
    rng = np.random.default_rng(42)
    bodies = [f"body{k}" for k in range(12)]
    far = [tuple(rng.choice(bodies, 2, replace=False)) for _ in range(4)]
    return {
        "across a joint": [moving[-1]],
        "across joints apart": [moving[0], moving[-2], moving[-1][::-1]],
        "anywhere": far,
        "to the world": [("world", "body11"), ("body4", "world")],
        "to what is welded to the world": [("wall", "body9"), ("world", "wall")],
        "to what is welded to a body": [("hook", "body2"), ("body6", "hook")],
        "all": [*moving, *far, ("world", "body3"), ("hook", "wall")],
    }


def springs(between):
    """Return a spring for each pair, at points that nothing is aligned with."""
    rng = np.random.default_rng(43)
    return [
        mb.SpringDamper(
            f"spring {k}", str(a), str(b), stiffness=rng.uniform(5.0, 20.0),
            rest_length=rng.uniform(0.1, 1.0), damping=rng.uniform(0.1, 1.0),
            point_a=rng.normal(size=3), point_b=rng.normal(size=3),
        )
        for k, (a, b) in enumerate(between)
    ]  # fmt: skip


FRAMES = ("joint", "user", "com", "world")

CASES = (
    "across a joint",
    "across joints apart",
    "anywhere",
    "to the world",
    "to what is welded to the world",
    "to what is welded to a body",
    "all",
)


def memory(system):
    """Return the memory of a time loop."""
    workspace = Workspace(system.arrays, system.evaluator)
    workspace.record[0]["forward_dynamics"] = system.evaluator.function(system.equations)
    return workspace


def accelerations(workspace, s):
    """Return vdot under the forces, and their powers, as time loops ask for them."""
    from mbkit.kernels.calls.integration_problem import accelerate

    vdot, powers = np.zeros_like(s.v), np.zeros(2)
    assert accelerate(workspace.address, 0.0, s.q, s.v, vdot, powers) == 0
    return vdot, powers


def is_what_the_function_says(system, s, vdot, powers):
    """Whether it is vdot under J^T W, of another algorithm, and the powers force by force."""
    tau = system.generalized_forces(s.q, s.v)
    bare = system.without_forces()
    expected = bare.forward_dynamics(s.q, s.v, tau)
    free = bare.forward_dynamics(s.q, s.v)
    scale = np.abs([expected, free]).max()
    assert np.abs(expected - free).max() > 1e-6 * scale
    np.testing.assert_allclose(vdot, expected, rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(powers, system.force_powers(s.q, s.v).sum(axis=0), rtol=1e-11)


@pytest.mark.some(4)
@representations_in_turn(
    "choice", {f"{name}-{frames}": (name, frames) for frames in FRAMES for name in CASES}
)
def test_they_do_what_their_function_does(mechanism, representation, choice):
    """Whichever frame their ends have in common."""
    name, body_frames = choice
    system = mechanism.assemble(mb.RelativeCoordinates(representation, body_frames))
    system = system.with_forces(springs(pairs(mechanism)[name]))
    workspace = memory(system)
    rng = np.random.default_rng(44)
    for _ in range(3):
        s = random_state(rng, system, 0.7)
        is_what_the_function_says(system, s, *accelerations(workspace, s))


@pytest.mark.some(2)
@each_representation
def test_they_go_with_forces_that_are_called(mechanism, representation):
    """Which act on some of the same bodies, and on others."""
    single = next(n for n, edge in mechanism.joints.items() if edge.joint.num_velocities == 1)
    others = [
        mb.BodyWrench("wrench", "body9", wrench=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], axes="body"),
        mb.Drag("drag", "hook", linear=0.5, point=(0.1, 0.2, 0.3)),
        mb.JointSpring("joint spring", single, stiffness=3.0),
    ]
    between = springs(pairs(mechanism)["all"])
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    for forces in ([*between, *others], [*others, *between], [others[0], *between, *others[1:]]):
        forced = system.with_forces(forces)
        workspace = memory(forced)
        s = random_state(np.random.default_rng(45), system, 0.7)
        is_what_the_function_says(forced, s, *accelerations(workspace, s))


@each_representation
def test_their_derivatives_are_exact(mechanism, representation):
    """Against differences of eighth order."""
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    system = system.with_forces(springs(pairs(mechanism)["all"]))
    s, h = random_state(np.random.default_rng(46), system, 0.7), 2e-3
    along = [system.retract(s.q, h * STEPS[:, None] * x) for x in np.eye(system.ndx)]
    d_q = WEIGHTS @ system.generalized_forces(np.stack(along), s.v) / h
    faster = s.v + h * STEPS[:, None] * np.eye(system.nv)[:, None]
    d_v = WEIGHTS @ system.generalized_forces(s.q, faster) / h
    for found, expected in zip(system.force_derivatives(s.q, s.v), (d_q, d_v), strict=True):
        assert np.abs(found - expected.T).max() < 3e-11 * np.abs(found).max()


@pytest.mark.some(3)
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@each_representation
def test_they_go_with_loops(representation):
    """Whose constraints ask for poses in the world of other bodies."""
    rng = np.random.default_rng(49)
    mech, q, loops = random_loops(rng, 14, ["spherical", "revolute"])
    system = closed(mech, loops, representation)
    bodies = list(mech.bodies)
    between = [tuple(rng.choice(bodies, 2, replace=False)) for _ in range(4)]
    forced = system.with_forces(springs(between))
    s = random_state(rng, system)
    v = consistent(system, q, s.v)
    expected, _ = system.solve_dynamics(q, v, forced.generalized_forces(q, v))
    found, powers = accelerations(memory(forced), attrs.evolve(s, q=q, v=v))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(powers, forced.force_powers(q, v).sum(axis=0), rtol=1e-11)


@pytest.mark.some(4)
@each_representation
@pytest.mark.parametrize("name", CASES)
def test_what_the_memory_held_before_does_not_matter(mechanism, representation, name):
    """Such as poses in the world, which other algorithms leave: bit for bit."""
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    system = system.with_forces(springs(pairs(mechanism)[name]))
    s = random_state(np.random.default_rng(46), system, 0.7)
    fresh, used = memory(system), memory(system)
    for field in ("V", "F", "wrench", "world_R", "world_p"):
        used.scratch[field] = np.nan
    used.sites["W"] = np.nan
    used.powers[:] = np.nan
    expected = accelerations(fresh, s)
    for found, other in zip(accelerations(used, s), expected, strict=True):
        assert (found == other).all()


@each_representation
def test_points_that_meet_are_pulled_nowhere(mechanism, representation):
    """A spring without a direction, or one of rounding, leaves bodies welded together alone."""
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    met = mb.SpringDamper("met", "body5", "twin", stiffness=5.0, rest_length=1.0, damping=1.0)
    s = random_state(np.random.default_rng(48), system, 0.7)
    found = []
    for forces in ([met, *springs([("body2", "body9")])], springs([("body2", "body9")])):
        each = system.with_forces(forces)
        workspace = memory(each)
        found.append(accelerations(workspace, s))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())


def test_in_a_run_the_one_that_is_not_finite_is_named(mechanism):
    """Time loops see it in the accelerations alone."""
    good, bad = springs([("body2", "body9"), ("body3", "body8")])
    bad = attrs.evolve(bad, name="bad", stiffness=1e308, rest_length=1e3)
    with pytest.raises(mb.NotFiniteError, match="Force 'bad' is not finite"):
        mb.simulate(mechanism.assemble(), (0.0, 0.1), 1e-3, forces=[good, bad])


class AnotherSpring(mb.Force):
    """A force of a user that says that it is a spring between points."""

    acts_on = "bodies"
    bodies = ("body2", "body9")

    def kernels(self):
        from mbkit.kernels.forces.kinds import spring_damper

        return ForceKernels(spring_damper.evaluate, spring_damper.potential, spring=True)

    def parameters(self):
        return np.array([3.0, 0.2, 0.4, 0.1, 0.2, 0.3, -0.3, 0.5, 0.7])


def test_a_force_of_a_user_may_be_one(mechanism):
    """By the same door."""
    system = mechanism.assemble().with_forces([AnotherSpring("mine")])
    workspace = memory(system)
    s = random_state(np.random.default_rng(47), system, 0.7)
    is_what_the_function_says(system, s, *accelerations(workspace, s))


@pytest.mark.parametrize(
    "attributes", [{"bodies": ("body2",)}, {"parameters": lambda self: np.ones(8)}]
)
def test_but_must_have_what_springs_have(mechanism, attributes):
    """Two bodies, nine numbers."""
    Wrong = type("Wrong", (AnotherSpring,), attributes)
    with pytest.raises(mb.ForceError, match=r"'mine'.*two bodies.*nine parameters"):
        mechanism.assemble().with_forces([Wrong("mine")])
