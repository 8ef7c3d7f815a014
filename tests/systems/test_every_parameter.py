"""Accelerations and reactions by every parameter of a system, against complex steps.

Each kind of joint in a tree and across a loop, each constraint, each kind of body. A complex step
has no error but rounding (`tests.systems.complex_steps`).
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3
from tests.constraints.examples import EXAMPLES
from tests.constraints.loops import LOOP_KINDS
from tests.constraints.test_built_in import _mechanism
from tests.reference.user_joints import CardanJoint
from tests.systems.complex_steps import ComplexEvaluation, along_changes, changes_of
from tests.systems.every_joint import behind, moved_behind
from tests.systems.test_complex_steps import ASKED
from tests.systems.test_complex_steps_of_closed import allowed
from tests.trees import MAKERS, random_inertia, random_mechanism, random_pose, random_state

pytestmark = [pytest.mark.slow, pytest.mark.compiled]

TIME = 0.4

#: Of entries that belong together, which have no derivatives one by one, and what leaves no tape.
UNKNOWN = {
    "constraints.cam.lift", "constraints.frame in a table.poses",
    "constraints.ball on the ground.normal", "constraints.disc on the ground.normal",
}  # fmt: skip


def check(system, q, v, names, twin=None):
    """Compare accelerations, and reactions A^T multipliers, by parameters.

    With those of the system itself, or of a twin.
    What is left counts by the largest entry, and by 1e-3 of that of all and of accelerations.
    """
    rng, nv = np.random.default_rng(95), system.nv
    given = {"q": q, "v": v, "tau": rng.normal(size=nv)}
    found = system.derivatives("forward_dynamics", **given, by=names, t=TIME)
    exact = ComplexEvaluation(twin or system, "forward_dynamics", names)
    expected = {name: exact.by(given, name, TIME) for name in names}
    every = found.values["vdot"], *expected.values()
    least = 1e-3 * max(np.abs(each).max(initial=0.0) for each in every)
    for name, each in expected.items():
        size = max(least, np.abs(each).max(initial=0.0))
        own = along_changes(system, found.vdot[name], name).reshape((nv, -1))
        assert np.abs(own - each).max(initial=0.0) <= ASKED * size, name
        if system.num_velocity_constraints:
            M = system.mass_matrix(q)
            left = reactions(system, q, found, name) - M @ each
            assert np.abs(left).max(initial=0.0) <= ASKED * np.abs(M).max() * size, name


def reactions(system, q, found, name):
    """Return the change of A^T multipliers.

    Which rows a constraint has, and so which multipliers, is its choice, and changes with a place:
    the rows by differences.
    """
    lambdas = found.values["multipliers"]
    change = along_changes(system, found.multipliers[name], name).reshape((len(lambdas), -1))
    turned = [
        derivative(lambda e, k=k: moved(system, name, k, e).constraint_jacobian(q, TIME))
        for k in range(change.shape[1])
    ]
    return system.constraint_jacobian(q, TIME).T @ change + (lambdas @ np.array(turned)).T


def moved(system, name, k, e):
    """Return the system with a parameter moved along one of its changes."""
    value = np.asarray(system.parameters[name], dtype=float)
    if value.shape == (4, 4):
        return system.with_parameters({name: value @ SE3.exp(e * np.eye(6)[k])})
    other = value + e * changes_of(system, name)[k]
    return system.with_parameters({name: other if other.ndim else float(other)})


def parameters_of(system, owner):
    return [n for n in system.parameters if n.startswith(f"{owner}.")]


#: How the pose of a joint moves with its places.
PLACES = {"joints.joint.S_pred": 1.0, "joints.joint.S_succ": -1.0}

#: Of a joint that slides a screw is none that turns a little, and bodies that are welded are one.
JOINTS = {
    **{k: make for k, make in MAKERS.items() if k not in ("fixed", "translation")},
    "absolute": lambda _, name: mb.AbsoluteJoint(name),
    "of a user": lambda _, name: CardanJoint(name),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("turned", [False, True], ids=["as set", "turned round"])
@pytest.mark.parametrize("kind", JOINTS)
def test_joints_of_trees(kind, turned):
    """Between a hinge and a ball."""
    rng = np.random.default_rng(96)
    system, q = moved_behind(JOINTS[kind](rng, "joint"), rng, turned)
    check(system, q, rng.normal(size=system.nv), parameters_of(system, "joints.joint"))


@pytest.mark.parametrize("turned", [False, True], ids=["as set", "turned round"])
def test_places_of_welded_bodies(turned):
    """As the configuration of a free joint in the place of the weld, which is held still."""
    weld, free = (
        behind(joint("joint"), np.random.default_rng(96), turned)
        for joint in (mb.FixedJoint, mb.FreeJoint)
    )
    rng = np.random.default_rng(102)
    q, (v, tau) = random_state(rng, weld).q, rng.normal(size=(2, weld.nv))
    found = weld.derivatives("forward_dynamics", q, v, tau, by=[*PLACES], t=TIME)
    own, moving = free.position_slice("joint"), free.velocity_slice("joint")
    still = free.reference_configuration()[own]
    given = {"q": np.insert(q, own.start, still), "vdot": np.zeros(free.nv)}
    given |= {n: np.insert(x, moving.start, np.zeros(6)) for n, x in (("v", v), ("tau", tau))}
    exact = ComplexEvaluation(free, "hybrid_dynamics", prescribed=["joint"]).by(given, "q")
    expected = np.delete(exact[: free.nv], moving, axis=0)[:, free.tangent_slice("joint")]
    for name, sign in PLACES.items():
        left = np.abs(found[name] - sign * expected).max()
        assert left <= ASKED * np.abs(expected).max(), name


def across_a_chain(joint, T):
    """Return a chain of four bodies with a joint of that pose from its end to the world, and q."""
    rng = np.random.default_rng(97)
    mech = random_mechanism(rng, 4, ("spherical", "universal"), turned_round=0.5, reach=1)
    tree = mech.assemble()
    q, near = random_state(rng, tree).q, random_pose(rng)
    far = np.linalg.inv(tree.pose("body3", q)) @ near @ T
    mech.add_joint(joint, "world", "body3", frames=(near, far))
    return mech.assemble(mb.RelativeCoordinates(loop_joints=["loop"], length=0.7)), q


@pytest.mark.some(8)
@pytest.mark.parametrize("kind", [kind for kind in LOOP_KINDS if kind != "translation"])
def test_joints_of_loops(kind):
    """A ball whose angles are chosen by case leaves no tape: it moves as one without angles."""
    rng, twin = np.random.default_rng(103), None
    joint = MAKERS[kind](rng, "loop")
    T = joint.pose(joint.random(rng))
    system, q = across_a_chain(joint, T)
    if kind == "angles":
        twin, _ = across_a_chain(mb.SphericalJoint("loop", point=joint.point), T)
    v = allowed(system.constraint_jacobian(q)).sum(axis=1)
    check(system, q, v, parameters_of(system, "joints.loop"), twin)


@pytest.mark.some(6)
@pytest.mark.parametrize(
    "constraint",
    [each for each in EXAMPLES if each.name not in ("function", "frame")],  # without numbers
    ids=lambda each: each.name,
)
def test_constraints(constraint):
    """At a state that need not satisfy them."""
    rng = np.random.default_rng(98)
    system = _mechanism(constraint).assemble(mb.RelativeCoordinates(length=0.7))
    state = random_state(rng, system)
    names = parameters_of(system, f"constraints.{constraint.name}")
    check(system, state.q, state.v, [n for n in names if n not in UNKNOWN])


BODIES = [
    mb.Body("part", mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))),
    mb.Rod("part", 0.4, 0.05, density=2700.0, axis=(1, 0.5, -2)),
    mb.Box("part", (0.3, 0.2, 0.1), density=700.0),
    mb.Cylinder("part", 0.1, 0.5, density=2700.0),
    mb.Sphere("part", 0.2, mass=3.0, shape_pose=random_pose(np.random.default_rng(100))),
    mb.PointMass("part", 0.2, position=(0.1, 0.2, 0.3)),
]


@pytest.mark.some(3)
@pytest.mark.parametrize("body", BODIES, ids=lambda each: type(each).__name__)
def test_bodies(body):
    """At the end of a free body."""
    rng = np.random.default_rng(99)
    mech = mb.Mechanism("two", gravity=(1.0, 2.0, -9.81))
    base = mech.add_body(mb.Body("base", random_inertia(rng)))
    mech.add_joint(mb.FreeJoint("free"), mech.world, base)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), base, mech.add_body(body))
    system = mech.assemble()
    state = random_state(rng, system)
    check(system, state.q, state.v, parameters_of(system, "bodies.part"))


def test_gravity():
    rng = np.random.default_rng(101)
    system, q = moved_behind(mb.UniversalJoint("joint", (1, 0, 0), (0, 1, 0)), rng, turned=True)
    check(system, q, rng.normal(size=system.nv), ["gravity"])
