"""Reactions of joints: free bodies, balance, cuts, and what is not unique."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

import mbkit as mb
from tests.constraints.closed_mechanisms import assembled, four_bar
from tests.constraints.driven import driven
from tests.constraints.loops import closed, closed_chain, consistent, mobile_loops
from tests.every_representation import each_representation

PINS = {"A": (0.0, 0.0), "B": (0.0, 0.3), "C": (0.8, 0.5), "D": (0.9, 0.0)}  # x, z
MASS, INERTIA, GRAVITY = 1.0, 0.015, 9.81  # of `closed_mechanisms.rod` about y


def turned(angle, x):
    """Rotate (x, z) about y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x[0] + s * x[1], -s * x[0] + c * x[1]])


def quarter(x):
    """The y axis times (x, z)."""
    return np.array([x[1], -x[0]])


def moment(arm, force):
    """About y."""
    return arm[1] * force[0] - arm[0] * force[1]


class PlanarFourBar:
    """Newton and Euler for three rods in a plane: twelve numbers of four pins, and a motor."""

    def __init__(self, crank, rate, gain):
        points = {name: np.array(p) for name, p in PINS.items()}
        # of each rod: its first pin, the way to its second, the way to its centre
        rods = [("A", "B"), ("B", "C"), ("D", "C")]
        ways = [points[b] - points[a] for a, b in rods]

        def closure(x):
            angles = (crank, *x)
            loop = turned(angles[0], ways[0]) + turned(angles[1], ways[1])
            return points["A"] + loop - turned(angles[2], ways[2]) - points["D"]

        angles = np.r_[crank, root(closure, [0.0, 0.0], tol=1e-14).x]
        ways = [turned(angle, way) for angle, way in zip(angles, ways, strict=True)]
        K = np.c_[quarter(ways[1]), -quarter(ways[2])]
        w = np.r_[rate, np.linalg.solve(K, -rate * quarter(ways[0]))]
        inward = w[0] ** 2 * ways[0] + w[1] ** 2 * ways[1] - w[2] ** 2 * ways[2]
        a = np.r_[gain, np.linalg.solve(K, inward - gain * quarter(ways[0]))]
        B = points["A"] + ways[0]
        starts = [points["A"], B, points["D"]]
        at_B = gain * quarter(ways[0]) - rate**2 * ways[0]
        bases = [np.zeros(2), at_B, np.zeros(2)]
        self.relative = np.array([angles[0], angles[1] - angles[0], angles[2] - angles[1]])
        self.centres = [s + 0.5 * way for s, way in zip(starts, ways, strict=True)]
        self.pins = {"A": points["A"], "B": B, "C": B + ways[1], "D": points["D"]}
        self.accelerations = [
            base + 0.5 * (ak * quarter(way) - wk**2 * way)
            for base, way, wk, ak in zip(bases, ways, w, a, strict=True)
        ]
        self.spins = a

    def solve(self):
        """Forces of the pins on the rods that follow them, and the motor's moment at A.

        A on the crank, B on the coupler, C on the rocker, D on the rocker.
        """
        K, right = np.zeros((9, 9)), np.zeros(9)
        acting = [[("A", 1), ("B", -1)], [("B", 1), ("C", -1)], [("C", 1), ("D", 1)]]
        for k, pins in enumerate(acting):
            for name, sign in pins:
                column = 2 * "ABCD".index(name)
                arm = self.pins[name] - self.centres[k]
                K[3 * k, column] = K[3 * k + 1, column + 1] = sign
                K[3 * k + 2, column] = sign * moment(arm, (1.0, 0.0))
                K[3 * k + 2, column + 1] = sign * moment(arm, (0.0, 1.0))
            right[3 * k : 3 * k + 2] = MASS * (self.accelerations[k] + [0.0, GRAVITY])
            right[3 * k + 2] = INERTIA * self.spins[k]
        K[2, 8] = 1.0
        x = np.linalg.solve(K, right)
        return {name: x[2 * i : 2 * i + 2] for i, name in enumerate("ABCD")}, x[8]


@pytest.mark.some(4)
@each_representation
@pytest.mark.parametrize("cut", "ABCD")
def test_four_bar_against_free_bodies(representation, cut):
    """In-plane forces of all pins, and the motor's moment, however the loop is cut."""
    plane = PlanarFourBar(0.3, 2.0, -1.5)
    forces, motor = plane.solve()
    system = assembled(four_bar(), cut, representation=representation)
    drive = "A" if cut != "A" else "B"
    angles = dict(zip("ABC", plane.relative, strict=True))
    q = system.reference_configuration()
    for name in set(system.joint_names) & set(angles):
        q[system.position_slice(name)] = angles[name]
    q = system.close_loops(q, fixed=[drive])
    crank = system.body_index("rod 1")
    unit = system.dependent_velocity(q, {drive: 1.0})
    v = unit * 2.0 / system.twists(q, unit, representation=mb.Hybrid())[crank, 1]
    still = system.dependent_acceleration(q, v, {drive: 0.0})
    spin = system.accelerations(q, v, still, representation=mb.Hybrid())[crank, 1]
    ratio = 2.0 / v[system.velocity_slice(drive)]
    vdot = system.dependent_acceleration(q, v, {drive: (-1.5 - spin) / ratio})
    if cut == "A":  # no motor in a loop joint: a moment on the crank
        wrenches = {"rod 1": mb.Wrench(
            [0, motor, 0, 0, 0, 0], mb.Hybrid(), pose=system.poses(q)[crank], body="rod 1"
        )}  # fmt: skip
        tau = np.zeros(3)
    else:
        wrenches = None
        tau = system.closed_inverse_dynamics(q, v, vdot, actuated=["A"]).efforts
        np.testing.assert_allclose(tau[system.velocity_slice("A")], motor, rtol=1e-9)
    for name, force in forces.items():
        for given in (
            {"tau": tau},
            {"vdot": vdot, "multipliers": system.solved(q, v, tau, wrenches)[1]},
        ):
            found = system.reaction(name, q, v, wrenches=wrenches, minimum_norm=True, **given)
            np.testing.assert_allclose(found[[3, 5]], force, rtol=1e-8, atol=1e-9)
            expected = motor if name == "A" and cut != "A" else 0.0
            np.testing.assert_allclose(found[1], expected, atol=1e-8)


def loaded_system(seed, representation, kinds=("spherical", "cylindrical", "universal")):
    """A random closed mechanism whose constraints are independent, with forces of all kinds."""
    rng = np.random.default_rng(seed)
    bare, q = mobile_loops(rng, 10, kinds, representation)
    bodies, joints = bare.body_names, bare.arrays.tree_joints
    one = next(name for name, joint in joints.items() if joint.num_velocities == 1)
    system = bare.with_forces([
        mb.SpringDamper("strut", bodies[1], bodies[6], stiffness=30.0, rest_length=0.2),
        mb.SpringDamper("post", "world", bodies[8], stiffness=20.0, damping=2.0),
        mb.JointDamper("oil", one, damping=1.5),
        mb.UniformField("wind", (0.3, -0.2, 0.1)),
        mb.Drag("air", bodies[3], linear=0.7),
    ])  # fmt: skip
    v = consistent(system, q, rng.normal(size=system.nv))
    tau = rng.normal(size=system.nv)
    wrenches = rng.normal(size=(len(system.body_names), 6))
    return system, q, v, tau, wrenches


@pytest.mark.some(5)
@each_representation
@pytest.mark.parametrize("seed", [1, 2])
def test_every_body_is_in_balance_and_every_joint_bears_its_effort(representation, seed):
    """Sum of reactions, loads and gravity = rate of momentum;  S . W = effort."""
    system, q, v, tau, wrenches = loaded_system(seed, representation)
    A = system.constraint_jacobian(q)
    assert np.linalg.matrix_rank(A, tol=1e-6) == len(A)
    efforts = tau + system.generalized_forces(q, v)
    vdot, _ = system.without_forces().solve_dynamics(q, v, efforts, wrenches)
    poses = system.poses(q)
    hybrid = mb.Hybrid()
    V = system.twists(q, v, representation=hybrid)
    rates = system.accelerations(q, v, vdot, representation=hybrid)
    alone = system.without_forces(["oil", "wind"])
    scale = 0.0
    totals = np.zeros((len(system.body_names), 6))
    for name, edge in system.joint_places.items():
        for body in (edge.successor, edge.predecessor):
            W = system.reaction(name, q, v, tau, wrenches, on=body, at=body)
            totals[system.body_index(body)] += W
            scale = max(scale, np.abs(W).max())
    by_body = body_forces(alone, q, v)
    fall = system.gravity + np.array([0.3, -0.2, 0.1])
    for k in range(1, len(system.body_names)):
        inertia = inertia_of(system, k)
        falling = rates[k] - np.r_[np.zeros(3), fall]  # gravity and wind as acceleration
        needed = mb.newton_euler(inertia, poses[k], V[k], falling, hybrid)
        applied = mb.convert_wrench(wrenches[k], poses[k], system.representation, hybrid)
        np.testing.assert_allclose(totals[k] + applied + by_body[k], needed, atol=1e-9 * scale)
    S = system.motion_subspaces(q)
    damper = np.zeros(system.nv)
    place = system.velocity_slice(system.forces[2].joints[0])
    damper[place] = -1.5 * v[place]
    for name in system.joint_names:
        child = system.tree.joints.index(name)
        W = system.reaction(
            name, q, v, tau, wrenches, on=system.body_names[child], at=system.body_names[child],
            expressed_in=system.body_names[child],
        )  # fmt: skip
        place = system.velocity_slice(name)
        np.testing.assert_allclose(S[place] @ W, (tau + damper)[place], atol=1e-9 * scale)


def inertia_of(system, k):
    """The inertia of a body by its row."""
    found = system.inertias
    return mb.SpatialInertia.from_com(found.masses[k], found.coms[k], found.moments_about_com[k])


def body_forces(system, q, v):
    """Wrenches of struts and drag on the bodies, from what their laws say, by virtual power.

    The generalized forces of a mechanism in which every body is free are the wrenches.
    """
    free = mb.Mechanism("free")
    for k, name in enumerate(system.body_names[1:], start=1):
        body = free.add_body(mb.Body(name, inertia_of(system, k)))
        free.add_joint(mb.FreeJoint(f"to {body.name}"), free.world, body, frames=[np.eye(4)] * 2)
    for force in system.forces:
        free.add_force(force)
    floating = free.assemble()
    poses = system.poses(q)
    V = system.twists(q, v, representation=mb.BodyFixed())
    at = np.concatenate([mb.FreeJoint("x").configuration_from_pose(C) for C in poses[1:]])
    forces = floating.generalized_forces(at, V[1:].ravel()).reshape(-1, 6)
    wrenches = mb.convert_wrench(forces, poses[1:], mb.BodyFixed(), mb.Hybrid())
    return np.vstack([np.zeros(6), wrenches])


CUTS = {
    **{name: {"loop_joints": (name,)} for name in closed_chain()[0].joints if name != "last"},
    "a body": {"cut_bodies": {"b2": "revolute 3"}},
}


@pytest.mark.some(2)
@pytest.mark.parametrize("cut", CUTS)
def test_another_cut_has_the_same_reactions(cut):
    """In a ring of four bodies that nothing makes redundant; at the same motion."""
    mech, q = closed_chain()
    first = closed(mech, ("last",))
    rng = np.random.default_rng(6)
    v = consistent(first, q, rng.normal(size=first.nv))
    wrenches = {name: rng.normal(size=6) for name in mech.bodies}
    second = mech.assemble(mb.RelativeCoordinates(**CUTS[cut]))
    edge = mech.joints["last"]
    poses = dict(zip(first.body_names, first.poses(q), strict=True))
    near = poses[edge.predecessor] @ edge.S_pred
    q2, v2 = second.reference_configuration(), np.zeros(second.nv)
    T = np.linalg.inv(near) @ poses[edge.successor] @ edge.S_succ
    q2[second.position_slice("last")] = edge.joint.configuration_from_pose(T)
    for name in set(first.joint_names) & set(second.joint_names):
        q2[second.position_slice(name)] = q[first.position_slice(name)]
        v2[second.velocity_slice(name)] = v[first.velocity_slice(name)]
    place = second.velocity_slice("last")
    A = second.constraint_jacobian(q2)
    v2[place] = -np.linalg.lstsq(A[:, place], A @ v2, rcond=None)[0]
    np.testing.assert_allclose(second.constraint_velocity(q2, v2), 0.0, atol=1e-10)
    for name in mech.joints:
        expected = first.reaction(name, q, v, wrenches=wrenches)
        found = second.reaction(name, q2, v2, wrenches=wrenches)
        np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.some(4)
@each_representation
def test_action_is_reaction_and_places_are_what_they_say(representation):
    """On the other body the opposite; about another point m + (x - y) x f; in other axes R^T."""
    system, q, v, tau, wrenches = loaded_system(3, representation)
    poses = system.poses(q)
    for name, edge in system.joint_places.items():

        def find(name=name, **options):
            return system.reaction(name, q, v, tau, wrenches, **options)

        k = system.body_index(edge.successor)
        frame = poses[k] @ edge.far @ edge.canonical_frame
        W = find()
        np.testing.assert_allclose(find(at=frame[:3, 3]), W, atol=1e-12 * np.abs(W).max())
        opposite = find(on=edge.predecessor, at=frame[:3, 3])
        np.testing.assert_allclose(opposite, -W, atol=1e-12 * np.abs(W).max())
        shifted = np.r_[W[:3] + np.cross(frame[:3, 3] - poses[k, :3, 3], W[3:]), W[3:]]
        np.testing.assert_allclose(find(at=edge.successor), shifted, atol=1e-11 * np.abs(W).max())
        for axes, R in ((edge.successor, poses[k, :3, :3]), ("joint", frame[:3, :3])):
            expected = np.r_[R.T @ W[:3], R.T @ W[3:]]
            found = find(expressed_in=axes)
            np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(W).max())


@pytest.mark.some(4)
@each_representation
def test_without_effort_nothing_works_in_the_joint(representation):
    """What is taken out is the effort: of a hinge a moment about its axis and nothing else."""
    system, q, v, tau, wrenches = loaded_system(4, representation)
    S = system.motion_subspaces(q)
    for name in system.joint_names:
        body = system.body_names[system.tree.joints.index(name)]
        options = {"on": body, "at": body, "expressed_in": body}
        whole = system.reaction(name, q, v, tau, wrenches, **options)
        found = system.reaction(name, q, v, tau, wrenches, with_effort=False, **options)
        place = system.velocity_slice(name)
        np.testing.assert_allclose(S[place] @ found, 0.0, atol=1e-9 * np.abs(whole).max())
        joint = system.arrays.tree_joints.get(name)
        if isinstance(joint, mb.RevoluteJoint | mb.SphericalJoint):
            np.testing.assert_allclose(found[3:], whole[3:], atol=1e-10 * np.abs(whole).max())


def test_a_welded_beam():
    """A cantilever's clamp bears m g and m g L; a weld is a joint like others."""
    mech = mb.Mechanism("beam")
    foot = mech.add_body(mb.Body("foot", mb.SpatialInertia.sphere(5.0, radius=0.1)))
    beam = mech.add_body(mb.Body("beam", mb.SpatialInertia.from_com(2.0, (0.5, 0, 0))))
    tip = mech.add_body(mb.Body("tip", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("table", axis=(0, 0, 1)), mech.world, foot)
    mech.add_joint(mb.FixedJoint("clamp"), foot, beam)
    ends = mb.spatial.translation((1, 0, 0)), np.eye(4)
    mech.add_joint(mb.FixedJoint("glue"), beam, tip, frames=ends)
    system = mech.assemble()
    found = system.reaction("clamp", [0.0], [0.0], on="foot")
    np.testing.assert_allclose(found, [0, 9.81 * 2.0, 0, 0, 0, -9.81 * 3.0], atol=1e-12)
    turning = system.reaction("clamp", [0.0], [3.0], expressed_in="beam")
    np.testing.assert_allclose(turning[3], -9.0 * (2.0 * 0.5 + 1.0 * 1.0), atol=1e-12)
    with pytest.raises(mb.UsageError, match="between 'foot' and 'beam'"):
        system.reaction("clamp", [0.0], [0.0], on="tip")


def test_constraints_that_are_no_joints_load_joints():
    """A beam held level by a rod: its tension by moments about the hinge, the hinge by forces."""
    mech = mb.Mechanism("crane")
    beam = mech.add_body(mb.Body("beam", mb.SpatialInertia.from_com(2.0, (0.5, 0, 0))))
    mech.add_joint(mb.RevoluteJoint("foot", axis=(0, 1, 0)), mech.world, beam)
    ends = {"point_a": (0, 0, 1), "point_b": (1, 0, 0)}
    mech.add_constraint(mb.Distance("rod", "world", "beam", length=np.sqrt(2.0), **ends))
    system = mech.assemble()
    pull = 0.5 * 2.0 * 9.81  # upwards at the tip, and as much to the left
    found = system.reaction("foot", [0.0], [0.0])
    np.testing.assert_allclose(found, [0, 0, 0, pull, 0, 2.0 * 9.81 - pull], atol=1e-12)


def test_gears_load_the_joints_that_they_couple():
    """The moment that turns the driven wheel is what its hinge bears about its axis."""
    mech = mb.Mechanism("gears", gravity=(0, 0, 0))
    for k in (1, 2):
        wheel = mech.add_body(mb.Body(f"wheel {k}", mb.SpatialInertia.sphere(1.0, radius=0.1 * k)))
        mech.add_joint(mb.RevoluteJoint(f"axle {k}"), mech.world, wheel)
    mech.add_constraint(mb.GearRatio("teeth", "axle 1", "axle 2", ratio=-2.0))
    system = mech.assemble()
    vdot, _ = system.solve_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 0.0])
    inertia = system.mass_matrix([0.0, 0.0])[1, 1]
    found = system.reaction("axle 2", [0.0, 0.0], [0.0, 0.0], [1.0, 0.0])
    np.testing.assert_allclose(found, [0, 0, inertia * vdot[1], 0, 0, 0], atol=1e-12)


def test_what_is_not_unique_is_refused_by_component():
    """Four parallel hinges leave open what is across their plane, and nothing in it."""
    system = assembled(four_bar())
    q, v = np.zeros(3), system.dependent_velocity(np.zeros(3), {"A": 1.0})
    for name in "ABCD":
        with pytest.raises(mb.ConstraintError) as caught:
            system.reaction(name, q, v)
        words = str(caught.value)
        assert f"Joint '{name}'" in words
        assert "leave open moment about x, moment about z, force along y (axes" in words
        assert "moment about y, force along x, force along z are unique" in words
        assert np.isnan(system.reaction(name, q, v, on_error="nan")).all()


def test_a_joint_that_feels_no_redundancy_is_unique():
    """An arm on the rocker of a four-bar: its hinge bears the arm, whatever the loop does."""
    mech = four_bar()
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.from_com(2.0, (0.8, 0.1, 0.7))))
    mech.add_joint(mb.RevoluteJoint("elbow", axis=(0, 1, 0), point=(0.8, 0, 0.5)), "rod 3", arm)
    system = assembled(mech, "A")
    q = system.reference_configuration()
    v = system.dependent_velocity(q, {"B": 0.0, "elbow": 0.0})
    found = system.reaction("elbow", q, v)
    exact = system.reaction("elbow", q, v, minimum_norm=True)
    np.testing.assert_allclose(found, exact, atol=1e-12)


def test_least_norm_is_asked_of_any_multipliers():
    """Multipliers that move nothing make no difference then."""
    system = assembled(four_bar())
    q, v = np.zeros(3), system.dependent_velocity(np.zeros(3), {"A": 1.0})
    vdot, multipliers, _ = system.solved(q, v)
    A = system.constraint_jacobian(q)
    null = np.linalg.svd(A.T)[2][np.linalg.matrix_rank(A) :]
    other = multipliers + 3.0 * null.sum(axis=0)
    found = [
        system.reaction("B", q, v, vdot=vdot, multipliers=each, minimum_norm=True)
        for each in (multipliers, other)
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_a_run_at_once():
    """All samples of a run, the motor prescribed: the same as one by one."""
    system = assembled(driven(four_bar(), "A", lambda t: 0.3 * np.sin(2.0 * t)), "D")
    q, v, _ = system.closed_motion({}, t=0.0)
    run = mb.simulate(system, (0.0, 0.2), 1e-2, q=q, v=v)
    found = system.reaction("C", run.q, run.v, t=run.t, minimum_norm=True)
    assert found.shape == (len(run.t), 6)
    one = system.reaction("C", run.q[7], run.v[7], t=run.t[7], minimum_norm=True)
    np.testing.assert_allclose(found[7], one, rtol=1e-12, atol=1e-12)
    plain = assembled(four_bar(), "D")
    effort = system.driving_efforts(run.q[7], run.v[7], t=run.t[7])
    again = plain.reaction("C", run.q[7], run.v[7], effort, minimum_norm=True)
    np.testing.assert_allclose(one, again, atol=1e-9)
    at_motor = system.reaction("A", run.q[7], run.v[7], t=run.t[7], minimum_norm=True)
    np.testing.assert_allclose(at_motor[1], effort[0], atol=1e-9)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"joint": "E"}, mb.NameUnknownError, "no joint 'E'"),
        ({"on": "rod 3"}, mb.UsageError, "between 'world' and 'rod 1'"),
        ({"at": "rod 9"}, mb.NameUnknownError, "no body 'rod 9'"),
        ({"at": [1.0, 2.0]}, mb.ShapeError, "point in the world"),
        ({"expressed_in": "moon"}, mb.NameUnknownError, "no body 'moon'"),
        ({"multipliers": np.zeros(5)}, mb.UsageError, "go with vdot"),
        ({"vdot": np.zeros(3)}, mb.UsageError, "give the multipliers"),
        ({"vdot": np.zeros(3), "tau": np.zeros(3)}, mb.UsageError, "give tau"),
        ({"vdot": np.zeros(3), "multipliers": np.zeros(4)}, mb.ShapeError, "multipliers"),
    ],
)
def test_wrong_options(options, kind, words):
    system = assembled(four_bar())
    given = {"joint": "A", "q": np.zeros(3), "v": np.zeros(3), **options}
    with pytest.raises(kind, match=words):
        system.reaction(**given)
