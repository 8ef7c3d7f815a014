"""Joints of many freedoms are chains of simple ones, whatever their coordinates.

The chain has massless bodies between the joints. Coordinates of other kinds describe the same
motion: at the same pose and twist, the same forces give the bodies the same acceleration.
"""

import itertools

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.every_representation import REPRESENTATIONS, each_representation, representations_in_turn
from tests.joints.absolute_joints import LOCALS, SIDES
from tests.joints.absolute_joints import ORIENTATIONS as ABSOLUTE
from tests.trees import MAKERS, random_inertia, random_mechanism, random_pose, random_state

pytestmark = pytest.mark.slow

AXIS, POINT = np.array((0.5, -1.0, 0.7)), np.array((0.4, -0.3, 0.8))
K = mb.CylindricalJoint("k", AXIS, POINT).canonical_frame
X, Y, Z = K[:3, :3].T
E = np.eye(3)


def turn(axis, point=POINT):
    return lambda name: mb.RevoluteJoint(name, axis, point)


def slide(axis):
    return lambda name: mb.PrismaticJoint(name, axis)


def screw(pitch):
    return lambda name: mb.HelicalJoint(name, AXIS, POINT, pitch=pitch)


def second(make, order, **options):
    return make("j", axis=AXIS, point=POINT, coordinates="second kind", order=order, **options)


#: All orders of three axes whose neighbours differ.
ORDERS = [
    "".join(axes) for axes in itertools.product("xyz", repeat=3) if axes[0] != axes[1] != axes[2]
]

#: A joint, and the joints of the chain that it is.
CHAINS = {
    "cylindrical": (mb.CylindricalJoint("j", AXIS, POINT), [turn(AXIS), slide(AXIS)]),
    "universal": (
        mb.UniversalJoint("j", (1, 2, 0), (0, 1, 1), POINT),
        [turn((1, 2, 0)), turn((0, 1, 1))],
    ),
    "translational 2": (
        mb.TranslationalJoint("j", [(1, 2, 0), (0, 1, 1)]),
        [slide((1, 2, 0)), slide((0, 1, 1))],
    ),
    "translational 3": (
        mb.TranslationalJoint("j", [(1, 2, 0), (0, 1, 1), (1, 0, 0)]),
        [slide((1, 2, 0)), slide((0, 1, 1)), slide((1, 0, 0))],
    ),
    "planar": (second(mb.PlanarJoint, None), [turn(AXIS), slide(X), slide(Y)]),
    "planar, x first": (
        second(mb.PlanarJoint, ("x", "y", "angle")),
        [slide(X), slide(Y), turn(AXIS)],
    ),
    "planar, turn between": (
        second(mb.PlanarJoint, ("y", "angle", "x")),
        [slide(Y), turn(AXIS), slide(X)],
    ),
    "helical planar": (
        second(mb.HelicalPlanarJoint, ("x", "angle", "y"), pitch=-0.3),
        [slide(X), screw(-0.3), slide(Y)],
    ),
    "Schoenflies": (
        second(mb.SchoenfliesJoint, ("x", "y", "z", "angle")),
        [slide(X), slide(Y), slide(Z), turn(AXIS)],
    ),
    **{
        f"angles {order}": (
            mb.SphericalJoint("j", POINT, coordinates="second kind", order=order),
            [turn(E["xyz".index(letter)]) for letter in order],
        )
        for order in ORDERS
    },
    "composite": (
        mb.CompositeJoint("j", turn(X)("a"), slide(Y)("b"), screw(0.2)("c")),
        [turn(X), slide(Y), screw(0.2)],
    ),
    "nested composite": (
        mb.CompositeJoint(
            "j",
            mb.CompositeJoint("a", mb.UniversalJoint("b", X, Y, POINT), mb.FixedJoint("c")),
            mb.CylindricalJoint("d", AXIS, POINT),
        ),
        [turn(X), turn(Y), turn(AXIS), slide(AXIS)],
    ),
    "composite of groups": (
        mb.CompositeJoint(
            "j", mb.TranslationalJoint("a", (X, Y)), mb.SphericalJoint("b", -POINT)
        ),
        [
            lambda name: mb.TranslationalJoint(name, (X, Y)),
            lambda name: mb.SphericalJoint(name, -POINT),
        ],
    ),
    "composite of sums": (
        mb.CompositeJoint(
            "j",
            mb.SchoenfliesJoint("a", AXIS, POINT, coordinates="first kind"),
            mb.ConstantVelocityJoint("b", (1, 1, 0), -POINT),
        ),
        [
            lambda name: mb.SchoenfliesJoint(name, AXIS, POINT, coordinates="first kind"),
            lambda name: mb.ConstantVelocityJoint(name, (1, 1, 0), -POINT),
        ],
    ),
}  # fmt: skip


def arm(joints, representation, turned=False):
    """A base on a hinge, the joints with massless bodies between them, a hand on a ball joint."""
    rng = np.random.default_rng(31)
    mech = mb.Mechanism("arm", gravity=(1.0, -2.0, -9.0))
    base = mech.add_body(mb.Body("base", random_inertia(rng)))
    mech.add_joint(mb.RevoluteJoint("hinge", (0, 1, 0.2)), mech.world, base)
    tool = mech.add_body(mb.Body("tool", random_inertia(rng)))
    ends = [random_pose(rng), random_pose(rng)]
    near, frame = base, ends[0]
    for i, joint in enumerate(joints):
        last = i == len(joints) - 1
        far = tool if last else mech.add_body(mb.Body(f"cross {i}"))
        frames = (frame, ends[1] if last else np.eye(4))
        mech.add_joint(joint, near, far, frames=frames)
        near, frame = far, np.eye(4)
    hand = mech.add_body(mb.Body("hand", random_inertia(rng)))
    mech.add_joint(
        mb.SphericalJoint("wrist"), tool, hand, frames=(random_pose(rng), random_pose(rng))
    )
    return mech.assemble(mb.RelativeCoordinates(representation=representation))


REAL = ("base", "tool", "hand")


def rows(system):
    return [system.body_index(name) for name in REAL]


@pytest.mark.some(2)
@representations_in_turn("case", CHAINS)
@pytest.mark.parametrize("as_composite", [False, True], ids=["chain", "composite joint"])
def test_a_joint_is_its_chain(case, as_composite, representation):
    """Kinematics and dynamics of all kinds, with the same coordinates; so is the macro joint."""
    joint, makers = case
    one = arm([joint], representation)
    links = [make(f"link {i}") for i, make in enumerate(makers)]
    chain = arm([mb.CompositeJoint("j", *links)] if as_composite else links, representation)
    assert (one.nq, one.nv) == (chain.nq, chain.nv)
    state = random_state(np.random.default_rng(32), one)
    q, v, vdot, tau = state.q, state.v, state.vdot, state.tau
    pairs = [
        (one.poses(q)[rows(one)], chain.poses(q)[rows(chain)]),
        (one.twists(q, v)[rows(one)], chain.twists(q, v)[rows(chain)]),
        (
            one.accelerations(q, v, vdot)[rows(one)],
            chain.accelerations(q, v, vdot)[rows(chain)],
        ),
        *((one.jacobian(name, q), chain.jacobian(name, q)) for name in REAL),
        (one.mass_matrix(q), chain.mass_matrix(q)),
        (one.bias_force(q, v), chain.bias_force(q, v)),
        (one.inverse_dynamics(q, v, vdot), chain.inverse_dynamics(q, v, vdot)),
        (one.forward_dynamics(q, v, tau), chain.forward_dynamics(q, v, tau)),
        (one.retract(q, 0.3 * v), chain.retract(q, 0.3 * v)),
        (one.difference(q, one.retract(q, 0.3 * v)), chain.difference(q, one.retract(q, 0.3 * v))),
    ]
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=2e-12 * np.abs(expected).max())


def kinds(make, *orders, **options):
    """A joint in all its coordinates."""
    return [
        make("j", coordinates="group", **options),
        make("j", coordinates="first kind", **options),
        *(make("j", coordinates="second kind", order=order, **options) for order in orders),
    ]


PLACE = {"axis": AXIS, "point": POINT}

#: The same motion in several coordinates.
SAME = {
    "spherical": kinds(mb.SphericalJoint, "zyx", "xzx", point=POINT),
    "planar": kinds(mb.PlanarJoint, None, ("x", "angle", "y"), **PLACE),
    "helical planar": kinds(mb.HelicalPlanarJoint, None, ("y", "x", "angle"), pitch=0.3, **PLACE),
    "Schoenflies": kinds(mb.SchoenfliesJoint, None, ("z", "x", "angle", "y"), **PLACE),
    "free": [
        mb.FreeJoint("j"),
        mb.FreeJoint("j", coordinates="first kind"),
        mb.CompositeJoint("j", mb.TranslationalJoint("a"), mb.SphericalJoint("b")),
        mb.CompositeJoint(
            "j", mb.SphericalJoint("a", coordinates="second kind"), mb.TranslationalJoint("b")
        ),
        *(
            mb.AbsoluteJoint("j", orientation, local, side)
            for orientation, local, side in zip(
                itertools.cycle((*ABSOLUTE, mb.EulerAngles("xzx"))), LOCALS * 2, SIDES * 7
            )
        ),
    ],
}


def configuration(joint, T):
    """The configuration of a joint at a pose that it can reach, by Newton's method."""
    q = joint.retract(joint.neutral(), np.full(joint.num_velocities, 0.2))
    for _ in range(50):
        error = SE3.log(np.linalg.inv(joint.pose(q)) @ T)
        q = joint.retract(q, np.linalg.lstsq(joint.motion_subspace(q), error)[0])
    np.testing.assert_allclose(joint.pose(q), T, atol=1e-12)
    return q


def states(joints, systems, seed):
    """The same state in the coordinates of each; the joint's entries stand second."""
    rng = np.random.default_rng(seed)
    reference = joints[0]
    step = rng.uniform(-0.6, 0.6, size=reference.num_velocities)
    q0 = reference.retract(reference.neutral(), step)
    T = reference.pose(q0)
    twist = reference.motion_subspace(q0) @ rng.normal(size=reference.num_velocities)
    hinge, wrist = rng.normal(size=2), rng.normal(size=(2, 3))
    for joint, system in zip(joints, systems, strict=True):
        own = configuration(joint, T)
        rates = np.linalg.lstsq(joint.motion_subspace(own), twist)[0]
        q = system.reference_configuration()
        q[system.position_slice("j")] = own
        q[system.position_slice("hinge")] = hinge[0]
        q[system.position_slice("wrist")] = mb.SphericalJoint("w").retract([1, 0, 0, 0], wrist[0])
        v = np.concatenate([hinge[1:], rates, wrist[1]])
        yield system, q, v


@representations_in_turn("joints", SAME)
def test_coordinates_change_no_acceleration(joints, representation):
    """Of any body, under the same forces, nor energy nor momentum."""
    systems = [arm([joint], representation) for joint in joints]
    found = []
    for system, q, v in states(joints, systems, 33):
        wrenches = {"tool": np.array([1.0, -2.0, 0.5, 3.0, 1.0, -4.0])}
        vdot = system.forward_dynamics(q, v, wrenches=wrenches)
        found.append(
            np.concatenate(
                [
                    system.accelerations(q, v, vdot).ravel(),
                    system.momentum(q, v),
                    [system.kinetic_energy(q, v), system.potential_energy(q)],
                ]
            )
        )
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0.0, atol=1e-10 * np.abs(found[0]).max())


@pytest.mark.some(3)
@pytest.mark.parametrize("joints", SAME.values(), ids=SAME.keys())
def test_coordinates_change_no_motion(joints):
    """Half a second: the same poses, to the error of the method, and the energy is kept."""
    systems = [arm([joint], mb.BodyFixed()) for joint in joints]
    ends = []
    for system, q, v in states(joints, systems, 34):
        run = mb.simulate(system, (0.0, 0.5), 1e-3, q=q, v=v, save_every=10)
        assert np.abs(run.energy_drift).max() < 1e-7 * run.kinetic_energy.max()
        ends.append(system.poses(run.q[-1]))
    for other in ends[1:]:
        np.testing.assert_allclose(other, ends[0], atol=1e-7)


def test_members_in_python_and_compiled_ones_are_alike():
    """A composite joint called back in Python moves as the one that is compiled."""

    class Copy(mb.Joint):
        """A cylindrical joint in Python."""

        num_positions = num_velocities = 2
        inner = mb.CylindricalJoint("inner", AXIS, POINT)

        def pose(self, q):
            return self.inner.pose(q)

        def motion_subspace(self, q):
            return self.inner.motion_subspace(q)

        def bias(self, q, v):
            return self.inner.bias(q, v)

    systems = [
        arm([mb.CompositeJoint("j", mb.SphericalJoint("a"), member)], mb.BodyFixed())
        for member in (mb.CylindricalJoint("b", AXIS, POINT), Copy("b"))
    ]
    assert [bool(s.arrays.joints[2].kernels()) for s in systems] == [True, False]
    state = random_state(np.random.default_rng(35), systems[0])
    runs = [mb.simulate(s, (0.0, 0.03), 1e-3, q=state.q, v=state.v) for s in systems]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-10)


def test_a_quaternion_within_a_composite_joint_is_named():
    """Which member, and what is wrong with it."""
    system = arm([mb.CompositeJoint("j", mb.SphericalJoint("a", POINT))], mb.BodyFixed())
    q = system.reference_configuration()
    q[system.position_slice("j")] *= 2.0
    with pytest.raises(mb.ConfigurationError, match=r"Joint 'j': Joint 'a': position must be a un"):
        system.mass_matrix(q)


# --------------------------------------------------------------------- trees of such joints

SIX = ("universal", "planar", "Schoenflies", "constant velocity", "composite", "helical planar")


@pytest.mark.parametrize("seed", range(5))
def test_six_joints_agree_in_all_representations(seed):
    """A tree of six bodies, each on another joint of several freedoms, either way round."""
    mechanism = random_mechanism(np.random.default_rng(40 + seed), 6, SIX)
    systems = [
        mechanism.assemble(mb.RelativeCoordinates(representation=each)) for each in REPRESENTATIONS
    ]
    state = random_state(np.random.default_rng(50 + seed), systems[0])
    q, v = state.q, state.v
    for method, arguments in (
        ("mass_matrix", (q,)),
        ("bias_force", (q, v)),
        ("inverse_dynamics", (q, v, state.vdot)),
        ("forward_dynamics", (q, v, state.tau)),
    ):
        expected, *others = (getattr(system, method)(*arguments) for system in systems)
        for found in others:
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-11 * scale)


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning")  # universal joints fold
@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind != "fixed"])
@each_representation
def test_energy_is_kept_on_every_joint(kind, representation):
    """A body on the joint and a pendulum on the body: half a second under gravity."""
    rng = np.random.default_rng(60)
    mech = random_mechanism(rng, 1, (kind,), turned_round=1.0)
    tip = mech.add_body(mb.Body("tip", random_inertia(rng)))
    mech.add_joint(
        mb.RevoluteJoint("hinge", (1, 2, 0)), "body0", tip, frames=(np.eye(4), random_pose(rng))
    )
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    state = random_state(rng, system, 0.5)
    run = mb.simulate(system, (0.0, 0.5), 2.5e-4, q=state.q, v=state.v, save_every=40)
    assert np.abs(run.energy_drift).max() < 1e-9 * run.kinetic_energy.max()
    assert np.ptp(run.kinetic_energy) > 1e-3 * run.kinetic_energy.max()
