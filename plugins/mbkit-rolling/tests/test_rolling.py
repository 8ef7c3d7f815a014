"""Rolling without slip: the contact rests, energy stays, orders on the group."""

import numpy as np
import pytest
from mbkit_rolling import RollingDisc, RollingSphere

import mbkit as mb
from mbkit.lie import SE3, SO3, UnitQuaternion
from mbkit.testing import check_joint
from mbkit.testing.convergence import errors_of_steps, fitted_slope

REPRESENTATIONS = [mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed()]
JOINTS = [RollingSphere("rolls", 0.3), RollingDisc("rolls", 0.3)]
TABLEAUS = [mb.tableaus.EULER, mb.tableaus.HEUN, mb.tableaus.RK4, mb.tableaus.DORMAND_PRINCE5]

each_joint = pytest.mark.parametrize("joint", JOINTS, ids=lambda each: type(each).__name__)
each_representation = pytest.mark.parametrize(
    "representation", REPRESENTATIONS, ids=lambda each: each.name
)

LUMP = mb.SpatialInertia.from_com(2.0, (0.05, -0.08, 0.03), np.diag([0.06, 0.09, 0.11]))


def slope_above_rounding(counts, errors):
    """The order of the last four errors that are not rounding."""
    above = errors > 1e-12
    return fitted_slope(np.asarray(counts)[above][-4:], errors[above][-4:])


def tilted():
    """Return a pose that is aligned with nothing."""
    return SE3.exp(np.array([0.4, -0.3, 0.8, 0.2, 0.1, -0.5]))


def one_body(joint, inertia=LUMP, gravity=(0.0, 0.0, -9.81), frames=None):
    mech = mb.Mechanism("roller", gravity=gravity)
    body = mech.add_body(mb.Body("body", inertia))
    mech.add_joint(joint, mech.world, body, frames=frames or (np.eye(4), np.eye(4)))
    return mech


def as_root(joint):
    """Return a lump that rolls on a tilted plane, its centre of mass beside its centre."""
    return one_body(joint, frames=(tilted(), np.eye(4)), gravity=(1.0, 0.5, -9.0))


def as_inner(joint):
    """Return a cart on a rail, a lump that rolls on the cart, and a bob that hangs in the lump."""
    mech = mb.Mechanism("cart", gravity=(1.0, 0.5, -9.0))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.box(5.0, size=(1.0, 1.0, 0.1))))
    body = mech.add_body(mb.Body("body", LUMP))
    bob = mech.add_body(
        mb.Body(
            "bob", mb.SpatialInertia.from_com(0.5, (0.0, 0.1, -0.3), np.diag([0.1, 0.12, 0.05]))
        )
    )
    mech.add_joint(mb.PrismaticJoint("rail", axis=(1.0, 0.2, 0.0)), mech.world, cart)
    mech.add_joint(joint, cart, body, frames=(tilted(), tilted()))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0.3, 1.0, 0.2)), body, bob)
    return mech


def turned_round(joint):
    """Return a lump on a hinge, and a plate that rolls on it: the tree goes the other way."""
    mech = mb.Mechanism("plate", gravity=(1.0, 0.5, -9.0))
    body = mech.add_body(mb.Body("body", LUMP))
    plate = mech.add_body(mb.Body("plate", mb.SpatialInertia.box(5.0, size=(1.0, 1.0, 0.1))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(1.0, 0.2, 0.0)), mech.world, body)
    mech.add_joint(joint, plate, body, frames=(tilted(), tilted()))
    return mech


MECHANISMS = [as_root, as_inner, turned_round]
each_mechanism = pytest.mark.parametrize("make", MECHANISMS, ids=lambda each: each.__name__)


def random_state(system, seed, size=0.4):
    rng = np.random.default_rng(seed)
    step = size * rng.normal(size=system.ndx)
    q = system.retract(system.reference_configuration(), step)
    return q, rng.normal(size=system.nv)


def simulate(system, span, h, q, v, **options):
    return mb.simulate(system, span, h, q=q, v=v, progress=False, **options)


# ------------------------------------------------------------------------------------- the contract


@each_joint
def test_it_keeps_what_a_joint_must_keep(joint):
    """Motion subspace, bias, rates, wrenches against the pose; compiled forms against methods."""
    check_joint(joint).raise_if_failed()


@each_joint
def test_it_keeps_it_after_long_ways_and_next_to_half_a_turn(joint):
    rng = np.random.default_rng(3)
    turns = [np.pi - 1e-7, 2.0, 0.7, 1e-8]
    steps = [
        np.concatenate([size * SO3.exp(rng.normal(size=3))[:, 0], [50, -70]]) for size in turns
    ]
    places = [joint.retract(joint.neutral(), step) for step in steps]
    places = [q for q in places if joint.singularity(q) > 0.2]
    assert len(places) >= 2
    check_joint(joint, configurations=places).raise_if_failed()


def by_its_pose(joint):
    """Return the joint by its pose, its group and its rates: all else is derived."""

    class Twin(mb.Joint):
        num_positions, num_velocities, ndx = 6, 3, 5

        def neutral(self):
            return joint.neutral()

        def retract(self, q, dx):
            turned = UnitQuaternion.compose(q[:4], UnitQuaternion.exp(dx[:3]))
            return np.concatenate([turned, q[4:] + dx[3:]])

        def difference(self, q0, q1):
            return joint.difference(q0, q1)

        def pose(self, q):
            R = UnitQuaternion.Ad(q[:4])
            n = R[2]
            u = n if isinstance(joint, RollingSphere) else n * [1.0, 1.0, 0.0] / np.hypot(*n[:2])
            T = np.eye(4)
            T[:3, :3] = R
            T[:3, 3] = np.concatenate([q[4:], np.zeros(1)]) + joint.radius * (R @ u)
            return T

        def rates(self, q, v):
            R = UnitQuaternion.Ad(q[:4])
            if isinstance(joint, RollingSphere):
                w = R @ v
                return np.concatenate([v, joint.radius * np.array([w[1], -w[0]])])
            s = np.hypot(R[2, 0], R[2, 1])
            spin = v[2] - R[2, 2] * (v[0] * R[2, 0] + v[1] * R[2, 1]) / s**2
            # level and in the disc
            along = (R[:, 1] * R[2, 0] - R[:, 0] * R[2, 1]) / s
            return np.concatenate([v, joint.radius * spin * along[:2]])

    return Twin("rolls")


@each_joint
@pytest.mark.parametrize("make", [as_root, as_inner], ids=lambda each: each.__name__)
def test_its_pose_and_rates_alone_give_the_same_motion(joint, make):
    """Against derivatives of the pose, and slip conditions written down in another way."""
    twin = by_its_pose(joint)
    check_joint(twin).raise_if_failed()
    q, v = random_state(make(joint).assemble(), 4)
    runs = [simulate(make(each).assemble(), (0.0, 0.2), 1e-2, q, v) for each in (joint, twin)]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-12)
    np.testing.assert_allclose(runs[1].v, runs[0].v, atol=1e-11)


# ------------------------------------------------------------------------------------------ no slip


@each_joint
@each_representation
@each_mechanism
def test_the_contact_has_no_velocity(joint, representation, make):
    """The body's point at the contact moves as the plane's does, and it is at the lowest place."""
    system = make(joint).assemble(mb.RelativeCoordinates(representation))
    plane = {"as_root": "world", "as_inner": "cart", "turned_round": "plate"}[make.__name__]
    S_pred = tilted()
    for seed in range(5):
        q, v = random_state(system, seed)
        poses, twists = system.poses(q), system.twists(q, v, representation=mb.Spatial())
        a, b = system.body_index(plane), system.body_index("body")
        contact = (poses[a] @ S_pred @ [*q[system.position_slice("rolls")][4:], 0.0, 1.0])[:3]
        slip = twists[b] - twists[a]
        np.testing.assert_allclose(slip[3:] + np.cross(slip[:3], contact), 0.0, atol=1e-13)
        S_succ = np.eye(4) if make is as_root else tilted()
        centre = (poses[b] @ S_succ)[:3, 3]
        assert abs(np.linalg.norm(centre - contact) - joint.radius) < 1e-13


@each_joint
@each_mechanism
def test_rates_are_those_of_the_pose(joint, make):
    """Poses along retract(q, t rates(q, v)) move with the twists that v has."""
    system = make(joint).assemble()
    q, v = random_state(system, 7)
    w, h = system.rates(q, v), 1e-5
    ahead, behind = (system.poses(system.retract(q, t * w)) for t in (h, -h))
    found = (ahead - behind)[1:] / (2 * h)
    twists = system.twists(q, v)[1:]
    for C, dC, V in zip(system.poses(q)[1:], found, twists, strict=True):
        expected = C[:3, :3] @ np.cross(V[:3], np.eye(3)).T
        np.testing.assert_allclose(dC[:3, 3], C[:3, :3] @ V[3:], atol=1e-8)
        np.testing.assert_allclose(dC[:3, :3], expected, atol=1e-8)


def test_rates_of_many_samples_and_their_mistakes():
    system = as_inner(JOINTS[0]).assemble()
    assert (system.nq, system.nv, system.ndx) == (8, 5, 7)
    states = [random_state(system, seed) for seed in range(6)]
    q, v = (np.array(part) for part in zip(*states, strict=True))
    found = system.rates(q, v)
    assert found.shape == (6, 7)
    one_by_one = [system.rates(*state) for state in states]
    np.testing.assert_array_equal(found, one_by_one)
    steps = system.difference(q[:-1], q[1:])
    assert steps.shape == (5, 7)
    np.testing.assert_allclose(
        system.poses(system.retract(q[:-1], steps)), system.poses(q[1:]), atol=1e-13
    )
    with pytest.raises(mb.ShapeError, match=r"'dx' must have shape \(7,\)"):
        system.retract(q[0], v[0])
    with pytest.raises(mb.ShapeError, match=r"'v' must have shape \(5,\)"):
        system.rates(q[0], steps[0])


# ------------------------------------------------------------------------------------------- energy


@each_joint
@each_representation
@each_mechanism
def test_energy_is_kept(joint, representation, make):
    system = make(joint).assemble(mb.RelativeCoordinates(representation))
    q, v = random_state(system, 1, size=0.2)
    drifts = []
    for steps in (400, 800):
        run = simulate(system, (0.0, 0.4), 0.4 / steps, q, v)
        drifts.append(abs(run.energy_drift).max() / run.kinetic_energy.max())
    assert drifts[0] < 1e-7
    assert drifts[1] < max(drifts[0] / 10.0, 1e-12)  # it is the method's error, of order 4 or more


@each_joint
@each_mechanism
def test_all_algorithms_agree_in_all_representations(joint, make):
    systems = [make(joint).assemble(mb.RelativeCoordinates(each)) for each in REPRESENTATIONS]
    q, v = random_state(systems[0], 2)
    rng = np.random.default_rng(8)
    tau = rng.normal(size=systems[0].nv)
    results = []
    for system in systems:
        vdot = system.forward_dynamics(q, v, tau)
        np.testing.assert_allclose(system.inverse_dynamics(q, v, vdot), tau, atol=1e-11)
        M = system.mass_matrix(q)
        np.testing.assert_allclose(M @ vdot + system.bias_force(q, v), tau, atol=1e-11)
        np.testing.assert_allclose(0.5 * v @ M @ v, system.kinetic_energy(q, v), rtol=1e-13)
        results.append(vdot)
    for found in results[1:]:
        np.testing.assert_allclose(found, results[0], rtol=1e-11, atol=1e-11)


# ------------------------------------------------------------------------------------------- orders


@each_representation
@pytest.mark.parametrize("make", [as_root, as_inner], ids=lambda each: each.__name__)
@pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda each: each.name)
def test_the_order_is_that_of_the_tableau(representation, make, tableau):
    """On a lump that rolls unevenly: steps are those of the group of positions, in five dimensions.

    Three coordinates about the start of a step would not do: the contact leaves every such chart.
    """
    system = make(RollingSphere("rolls", 0.3)).assemble(mb.RelativeCoordinates(representation))
    q, v = random_state(system, 6, size=0.3)
    end = 1.0

    def run(steps, method):
        options = {"integrator": mb.RungeKuttaMuntheKaas(method), "save_every": steps}
        return simulate(system, (0.0, end), end / steps, q, v, **options)

    exact = run(8000, mb.tableaus.DORMAND_PRINCE5)

    def measure(steps):
        found = run(steps, tableau)
        return (
            np.linalg.norm(system.difference(exact.q[-1], found.q[-1])),
            np.linalg.norm(found.v[-1] - exact.v[-1]),
        )

    first, most = {1: (8000, 64000), 2: (800, 6400), 4: (400, 3200), 5: (100, 800)}[tableau.order]
    counts, errors = errors_of_steps(
        measure, first, ratio=2.0, floors=lambda _: (1e-11, 1e-11), most=most
    )
    for column in errors.T:
        slope = slope_above_rounding(counts, column)
        assert abs(slope.value - tableau.order) < 0.15, (slope, column)


@pytest.mark.parametrize("tableau", TABLEAUS, ids=lambda each: each.name)
def test_the_order_of_a_disc(tableau):
    system = as_root(RollingDisc("rolls", 0.3)).assemble()
    q, v = random_state(system, 5, size=0.2)
    end = 0.2

    def run(steps, method):
        options = {"integrator": mb.RungeKuttaMuntheKaas(method), "save_every": steps}
        return simulate(system, (0.0, end), end / steps, q, v, **options)

    exact = run(4000, mb.tableaus.DORMAND_PRINCE5).q[-1]

    def measure(steps):
        return (np.linalg.norm(system.difference(exact, run(steps, tableau).q[-1])),)

    first, most = {1: (4000, 64000), 2: (400, 6400), 4: (25, 400), 5: (12, 200)}[tableau.order]
    counts, errors = errors_of_steps(
        measure, first, ratio=2.0, floors=lambda _: (1e-11, 1e-11), most=most
    )
    slope = slope_above_rounding(counts, errors[:, 0])
    assert abs(slope.value - tableau.order) < 0.15, (slope, errors)


# -------------------------------------------------------------------------- in composites, messages


@each_joint
def test_runs_have_derivatives_of_fewer_velocities_than_steps(joint):
    """Against differences of eighth order; the adjoint against forward derivatives."""
    system = as_inner(joint).assemble()
    q, v = random_state(system, 7)
    mass, names = "bodies.body.mass", ["q", "v", "bodies.body.mass"]

    def run(q=q, v=v, system=system):
        return simulate(system, (0.0, 0.1), 0.01, q, v)

    base = run()
    found, rng = mb.sensitivities(base, by=names), np.random.default_rng(0)
    unit, dv, value = np.eye(system.ndx), rng.normal(size=system.nv), system.parameters[mass]
    changes = {
        "q": (lambda e: run(system.retract(q, e * unit[3])), unit[3]),
        "v": (lambda e: run(v=v + e * dv), dv),
        mass: (lambda e: run(system=system.with_parameters({mass: value + e})), 1.0),
    }
    weights = np.array([672.0, -168.0, 32.0, -3.0]) / 840.0
    for name, (moved, along) in changes.items():
        ends = [(moved(k * 2e-3), moved(-k * 2e-3)) for k in range(1, 5)]
        expected = sum(w * (a.v - b.v) for w, (a, b) in zip(weights, ends, strict=True)) / 2e-3
        own = found.v[name] @ along if name != mass else found.v[name]
        assert np.abs(own - expected).max() < 1e-9 * max(1.0, np.abs(expected).max()), name
    by_q = rng.normal(size=(base.t.size, system.ndx))
    gradient = mb.gradient(base, lambda t, q, v: (0.0, by_q, None), by=names)
    for name in names:
        expected = np.tensordot(by_q, found.q[name], 2)
        assert np.abs(gradient[name] - expected).max() < 1e-12 * np.abs(expected).max(), name


def test_it_may_be_a_part_of_a_composite_joint():
    """A ball that rolls on a cart without mass: as one joint, and as two with a body between."""
    rail = mb.PrismaticJoint("rail", axis=(1.0, 0.2, 0.0))
    ball = RollingSphere("ball", 0.3)
    macro = mb.CompositeJoint("macro", rail, ball, mb.RevoluteJoint("axle", axis=(0, 1, 0)))
    assert (macro.num_positions, macro.num_velocities, macro.ndx) == (8, 5, 7)
    check_joint(macro).raise_if_failed()
    mech = mb.Mechanism("chain", gravity=(1.0, 0.5, -9.0))
    nothing = mb.SpatialInertia.zero()
    before = mech.world
    for joint, inertia in zip(macro.members, (nothing, nothing, LUMP), strict=True):
        body = mech.add_body(mb.Body(joint.name, inertia))
        mech.add_joint(joint, before, body, frames=(np.eye(4), np.eye(4)))
        before = body
    chain = mech.assemble()
    one = one_body(macro, gravity=(1.0, 0.5, -9.0)).assemble()
    q, v = random_state(one, 3)
    np.testing.assert_allclose(one.forward_dynamics(q, v), chain.forward_dynamics(q, v), rtol=1e-9)
    np.testing.assert_array_equal(one.rates(q, v), chain.rates(q, v))
    x = np.random.default_rng(5).normal(size=7)
    np.testing.assert_array_equal(one.retract(q, x), chain.retract(q, x))


def test_what_cannot_be_done_with_it_says_so():
    """Inverse kinematics, prescribed motion and variational integrators need all directions."""
    joint = RollingSphere("rolls", 0.3)
    with pytest.raises(mb.JointError, match="'rolls' is nonholonomic"):
        joint.prescribe(lambda t: np.array([1.0, 0, 0, 0, t, 0]))
    system = as_inner(joint).assemble()
    target = {"bob": system.poses(system.reference_configuration())[3]}
    with pytest.raises(mb.UsageError, match=r"'rolls' is nonholonomic.*locked=\['rolls'\]"):
        mb.inverse_kinematics(system, target)
    q, _ = random_state(system, 2, size=0.3)
    goal = q.copy()
    goal[system.position_slice("rail")] += 0.1
    goal[system.position_slice("hinge")] += 0.2
    found = mb.inverse_kinematics(system, {"bob": system.poses(goal)[3]}, q=q, locked=["rolls"])
    np.testing.assert_allclose(system.poses(found.q)[3], system.poses(goal)[3], atol=1e-8)


def test_variational_integrators_refuse_it():
    symplectic = pytest.importorskip("mbkit_symplectic")
    system = as_root(JOINTS[0]).assemble()
    with pytest.raises(mb.UsageError, match="does not take nonholonomic joints"):
        mb.simulate(system, (0.0, 0.1), 1e-2, integrator=symplectic.VariationalIntegrator())
