"""Runs in momenta conserve what joints on the world let be conserved, in whatever coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints import JOINT_TYPES
from mbkit.systems.forms.momentum_form import momenta_in_world, velocities_in_world
from tests.reference.test_nonholonomic_joints import Skate
from tests.reference.user_joints import BallJoint, CardanJoint, EllipseJoint
from tests.systems.test_derivatives import assert_close
from tests.trees import MAKERS, random_inertia, random_pose


class Polar(mb.Joint):
    """Translation in the plane of x and z, by a distance and a direction."""

    num_positions = num_velocities = 2

    def pose(self, q):
        T = np.eye(4)
        T[0, 3], T[2, 3] = (2.0 + q[0]) * np.cos(q[1]), (2.0 + q[0]) * np.sin(q[1])
        return T


class Eccentric(mb.Joint):
    """A turn about z through an angle that is a function of q."""

    num_positions = num_velocities = 1

    def pose(self, q):
        angle = q[0] + 0.3 * np.sin(q[0])
        T = np.eye(4)
        T[0, 0] = T[1, 1] = np.cos(angle)
        T[1, 0] = np.sin(angle)
        T[0, 1] = -T[1, 0]
        return T


class Limited(BallJoint):
    """A ball that knows no turns by more than nine tenths."""

    def retract(self, q, dx):
        if np.linalg.norm(dx) > 0.9:
            raise ValueError("the step is too large")
        return super().retract(q, dx)


AXIS = {"axis": (0.3, -0.8, 0.5), "point": (0.2, 0.1, -0.3)}
FIRST, SECOND = ({"coordinates": f"{which} kind"} for which in ("first", "second"))
ACROSS = {"order": ("x", "angle", "y"), **SECOND, **AXIS}

#: Joints whose motions are a subgroup. Under gravity their momenta are about the centre of mass, or
#: about an axis or a point at rest.
ABOUT_CENTRE = {
    "free": mb.FreeJoint("root"),
    "free, first kind": mb.FreeJoint("root", **FIRST),
    "absolute": mb.AbsoluteJoint("root"),
    "absolute, Euler angles": mb.AbsoluteJoint("root", mb.EulerAngles("zxz")),
    "absolute, rotation vector": mb.AbsoluteJoint("root", mb.RotationVector()),
    "planar": mb.PlanarJoint("root", **AXIS),
    "planar, first kind": mb.PlanarJoint("root", **AXIS, **FIRST),
    "planar, second kind": mb.PlanarJoint("root", **ACROSS),
    "helical planar": mb.HelicalPlanarJoint("root", pitch=0.2, **AXIS),
    "helical planar, first kind": mb.HelicalPlanarJoint("root", pitch=0.2, **AXIS, **FIRST),
    "helical planar, second kind": mb.HelicalPlanarJoint("root", pitch=0.2, **ACROSS),
    "Schoenflies": mb.SchoenfliesJoint("root", **AXIS),
    "Schoenflies, first kind": mb.SchoenfliesJoint("root", **AXIS, **FIRST),
    "Schoenflies, second kind": mb.SchoenfliesJoint("root", **AXIS, **SECOND),
    "translations, then a ball": mb.CompositeJoint(
        "root", mb.TranslationalJoint("x"), mb.SphericalJoint("ball", point=(0.1, 0.3, 0.0))
    ),
    "three parallel hinges": mb.CompositeJoint(
        "root",
        *(
            mb.RevoluteJoint(f"{x}", axis=(1, 2, 0), point=x)
            for x in ((0, 0, 0), (0, 0, 0.8), (0.7, -0.35, 0.8))
        ),
    ),
    "shifts, then a parallel screw": mb.CompositeJoint(
        "root", mb.TranslationalJoint("x"), mb.HelicalJoint("turn", axis=(1, 2, 0), pitch=0.1)
    ),
}
AT_REST = {
    "revolute": mb.RevoluteJoint("root", **AXIS),
    "prismatic": mb.PrismaticJoint("root", axis=AXIS["axis"]),
    "helical": mb.HelicalJoint("root", pitch=0.2, **AXIS),
    "screw": mb.ScrewJoint("root", screw=(0.3, 0.2, 0.1, 0.5, 0.4, -0.2)),
    "cylindrical": mb.CylindricalJoint("root", **AXIS),
    "translational": mb.TranslationalJoint("root", axes=((1, 0, 0), (0.5, 1, 0.2))),
    "ball": mb.SphericalJoint("root", point=(0.2, 0.1, -0.3)),
    "ball, first kind": mb.SphericalJoint("root", point=(0.2, 0.1, -0.3), **FIRST),
    "ball, second kind": mb.SphericalJoint("root", order="xzy", **SECOND),
    "three hinges through a point": mb.CompositeJoint(
        "root",
        *(
            mb.RevoluteJoint(f"{e}", axis=e, point=(1, 2, 3))
            for e in ((1, 0, 0), (0.3, 1, 0), (0, 0.3, 1))
        ),
    ),
    "own ball": BallJoint("root"),
    "polar": Polar("root"),
    "eccentric": Eccentric("root"),
}
GROUPS = {**ABOUT_CENTRE, **AT_REST}

#: Joints whose motions are no subgroup.
OTHERS = {
    "universal": mb.UniversalJoint("root", (1, 0, 0), (0, 1, 0)),
    "constant velocity": mb.ConstantVelocityJoint("root"),
    "ellipse": EllipseJoint("root", 1.0, 2.0),
    "two turns": CardanJoint("root"),
    "skate": Skate("root"),
    "shift, then a ball": mb.CompositeJoint(
        "root", mb.PrismaticJoint("x", axis=(1, 0, 0)), mb.SphericalJoint("ball")
    ),
}


def with_root(joint, *, away, gravity=0.0, seed=5):
    """Arms in space on a root with misaligned frames, a state, and a force between two bodies.

    Where `away` is false the world is the joint's successor.
    """
    rng = np.random.default_rng(seed)
    mech = mb.Mechanism("rooted", gravity=gravity * np.array([0.6, 0.0, -0.8]))
    inner = mech.world
    kinds = ("root", "spherical", "revolute", "cylindrical")
    for k, kind in enumerate(kinds):
        body = mech.add_body(mb.Body(f"b{k}", random_inertia(rng), pose=random_pose(rng)))
        made = MAKERS[kind](rng, kind) if k else joint
        ends = (inner, body) if k or away else (body, inner)
        mech.add_joint(made, *ends, reference=random_pose(rng))
        inner = body
    mech.add_force(mb.SpringDamper("tie", "b0", "b3", stiffness=9.0, damping=0.4))
    system = mech.assemble(mb.RelativeCoordinates(body_frames="user" if away else "joint"))
    q = system.retract(system.reference_configuration(), rng.normal(0.0, 0.3, system.ndx))
    return system, {"q": q, "v": rng.normal(0.0, 0.6, system.nv), "progress": False}


def allowed(system, q):
    """Twists (n, 6) in the world that span what the root lets its body have: turns, then shifts."""
    n = len([name for name in system.velocity_names if name.startswith("root")])
    X = system.jacobian("b0", q, representation=mb.Spatial())[:, :n].T
    axes, sizes, _ = np.linalg.svd(X[:, :3])
    return axes.T @ X, int((sizes > 1e-9).sum())


def change(system, run, wrenches, X):
    """The largest change of momenta (k, 6) along twists, by the size of the total momentum."""
    along = wrenches @ X.T / np.linalg.norm(X, axis=1)
    size = np.abs(system.momentum(run.q[0], run.v[0])).max()
    return np.abs(along - along[0]).max() / size


def changes(system, start, integrator, by):
    """The changes in a run in momenta, and in one in velocities."""
    runs = [
        mb.simulate(form, (0.0, 0.4), 0.01, integrator=integrator, **start)
        for form in (mb.MomentumForm(system), system)
    ]
    return [by(system, run) for run in runs]


def without_gravity(system, run):
    """Of the total momentum along all twists that the root allows."""
    X, _ = allowed(system, run.q[0])
    return change(system, run, system.momentum(run.q, run.v), X)


@pytest.mark.some(5)
@pytest.mark.slow
@pytest.mark.parametrize("away", [True, False], ids=["as set", "turned round"])
@pytest.mark.parametrize("name", GROUPS)
def test_roots_conserve_what_their_subgroup_has(name, away):
    """To rounding, with a step that is long; in velocities the method errs."""
    system, start = with_root(GROUPS[name], away=away)
    ours, theirs = changes(system, start, mb.RungeKuttaMuntheKaas(), without_gravity)
    assert ours < 1e-13
    assert theirs > 1e-8


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator",
    [
        mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-6),
        mb.CommutatorFree(), mb.CrouchGrossman(mb.tableaus.CROUCH_GROSSMAN4),
        mb.MultistepMuntheKaas(4), mb.LocalVectorSpace("DOP853"),
    ],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
@pytest.mark.parametrize("name", ["free, first kind", "planar, second kind", "Schoenflies"])
def test_every_explicit_method_conserves_it(name, integrator):
    system, start = with_root(GROUPS[name], away=True)
    ours, theirs = changes(system, start, integrator, without_gravity)
    assert ours < 1e-13
    assert theirs > 10.0 * ours


def about_the_centre_of_mass(system, run):
    """Of what the weight does not change: moments about the centre of mass, and shifts less it."""
    X, num_turns = allowed(system, run.q[0])
    W, c = system.momentum(run.q, run.v), system.centre_of_mass(run.q)
    mass = system.inertial_parameters.reshape(-1, 10)[:, 0].sum()
    moment = W[:, :3] - np.cross(c, W[:, 3:])
    force = W[:, 3:] - mass * np.outer(run.t, system.gravity)
    turns, shifts = X[:num_turns], X[num_turns:]
    for X in turns:  # an axis may have a pitch, and stand anywhere
        X[3:] = X[:3] * (X[:3] @ X[3:]) / (X[:3] @ X[:3])
    return change(system, run, np.hstack([moment, force]), np.vstack([turns, shifts]))


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("away", [True, False], ids=["as set", "turned round"])
@pytest.mark.parametrize("name", ABOUT_CENTRE)
def test_gravity_leaves_moments_about_the_centre_of_mass(name, away):
    system, start = with_root(GROUPS[name], away=away, gravity=9.81)
    integrator = mb.RungeKuttaMuntheKaas()
    ours, theirs = changes(system, start, integrator, about_the_centre_of_mass)
    assert ours < 1e-13
    assert theirs > 1e-8


def what_gravity_leaves(system, run):
    """Of the total momentum along turns about the vertical and level shifts, as far as allowed."""
    X, _ = allowed(system, run.q[0])
    g = system.gravity / np.linalg.norm(system.gravity)
    lost = np.hstack([np.cross(X[:, :3], g), X[:, 3:] @ g[:, None]])
    _, sizes, axes = np.linalg.svd(lost.T)
    left = axes[int((sizes > 1e-9).sum()) :]
    assert len(left) > 0
    return change(system, run, system.momentum(run.q, run.v), left @ X)


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize("away", [True, False], ids=["as set", "turned round"])
@pytest.mark.parametrize(
    "name", [n for n in AT_REST if "ball" in n or "point" in n or "transl" in n]
)
def test_gravity_leaves_moments_about_the_vertical(name, away):
    system, start = with_root(GROUPS[name], away=away, gravity=9.81)
    integrator = mb.RungeKuttaMuntheKaas()
    ours, theirs = changes(system, start, integrator, what_gravity_leaves)
    assert ours < 1e-13
    assert theirs > 1e-8


@pytest.mark.some(7)
@pytest.mark.slow
@pytest.mark.parametrize("away", [True, False], ids=["as set", "turned round"])
@pytest.mark.parametrize("name", GROUPS)
def test_runs_agree_with_those_in_velocities(name, away):
    """To the error of the method, under gravity and efforts at all joints."""
    system, start = with_root(GROUPS[name], away=away, gravity=9.81)

    def tau(t, q, v):
        return np.sin(t + np.arange(system.nv)) - 0.2 * v

    ours, theirs = (
        mb.simulate(form, (0.0, 0.05), 5e-4, tau=tau, **start)
        for form in (mb.MomentumForm(system), system)
    )
    for key in ("q", "v", "kinetic_energy", "supplied_energy"):
        assert_close(getattr(ours, key), getattr(theirs, key), 1e-7)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", GROUPS)
def test_momenta_belong_to_one_velocity(name):
    for away in (True, False):
        system, start = with_root(GROUPS[name], away=away, gravity=9.81)
        p = system.mass_action(start["q"], start["v"])
        z = momenta_in_world(system.evaluator, start["q"], p)
        assert_close(velocities_in_world(system.evaluator, start["q"], z), start["v"])


@pytest.mark.some(2)
@pytest.mark.parametrize("name", OTHERS)
def test_other_joints_have_the_momenta_of_their_velocities(name):
    system, start = with_root(OTHERS[name], away=True)
    p = system.mass_action(start["q"], start["v"])
    np.testing.assert_array_equal(momenta_in_world(system.evaluator, start["q"], p), p)


def test_a_joint_that_fails_somewhere_has_the_momenta_of_its_velocities():
    """A run that does not get there is as any other."""
    mech = mb.Mechanism("limited", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("b", mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))))
    mech.add_joint(Limited("root"), mech.world, body)
    system = mech.assemble()
    start = {"v": [0.3, 0.2, 0.1], "progress": False}
    run, other = (
        mb.simulate(form, (0.0, 0.1), 0.01, **start) for form in (mb.MomentumForm(system), system)
    )
    assert_close(run.v, other.v, 1e-9)
    p = system.mass_action(run.q, run.v)
    np.testing.assert_array_equal(momenta_in_world(system.evaluator, run.q, p), p)


def test_a_singular_configuration_is_named():
    joint = mb.SphericalJoint("root", coordinates="second kind", order="zyx")
    system, start = with_root(joint, away=True)
    start["q"][:3] = 0.1, np.pi / 2, 0.2
    with pytest.raises(mb.SingularMassMatrixError, match="'root'"):
        mb.simulate(mb.MomentumForm(system), (0.0, 0.1), 0.02, **start)


def test_every_built_in_joint_is_here():
    """Those without motion apart."""
    classes = {type(joint) for joint in (*GROUPS.values(), *OTHERS.values())}
    assert classes >= {*JOINT_TYPES.values()} - {mb.FixedJoint}
