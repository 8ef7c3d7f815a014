"""Joints that close loops in the adjoint, by their functions on dual numbers, with their numbers.

Against forward derivatives, which have matrices of the derivatives of all rows at each state.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mbkit as mb
from mbkit.sensitivities.passes.forces import called_forces
from mbkit.sensitivities.passes.loops import takes_one_pass
from mbkit.sensitivities.passes.memory import PassSums
from tests.reference.user_joints import CardanJoint
from tests.sensitivities.differences import assert_adjoint
from tests.sensitivities.test_places_by_pass import METHODS, turned_loop

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

POINT = (1.0, 0.1, 0.1)
AXES = (1.0, 0.1, 0.2), (0.1, 1.0, 0.0)
NORMAL = (0.2, 1.0, 0.1)


def shifted(x, y, z):
    return tuple(np.add(POINT, (x, y, z)))


#: Joints that close a loop, and fields that are no places, on which something depends.
JOINTS = {
    "universal": (mb.UniversalJoint("D", *AXES, point=POINT), ("axis1", "axis2")),
    "constant velocity": (mb.ConstantVelocityJoint("D", point=POINT), ("axis",)),
    "helical": (mb.HelicalJoint("D", axis=NORMAL, point=POINT, pitch=0.1), ("axis", "pitch")),
    "screw": (mb.ScrewJoint("D", screw=(0.2, 1.0, 0.1, 0.3, 0.1, 0.2)), ("screw",)),
    "translational": (mb.TranslationalJoint("D", axes=AXES), ("axes",)),
    "helical planar": (
        mb.HelicalPlanarJoint("D", axis=NORMAL, point=POINT, pitch=0.1), ("axis", "pitch"),
    ),
    "composite of screws": (
        mb.CompositeJoint(
            "D",
            mb.RevoluteJoint("first", axis=AXES[0], point=POINT),
            mb.HelicalJoint("second", axis=AXES[1], point=shifted(0.2, 0.1, -0.1), pitch=0.1),
        ),
        ("first.axis", "first.point", "second.axis", "second.point", "second.pitch"),
    ),
    "composite of a ball and a rail": (
        mb.CompositeJoint(
            "D", mb.SphericalJoint("ball", point=POINT), mb.PrismaticJoint("rail", axis=AXES[1])
        ),
        ("ball.point", "rail.axis"),
    ),
    "composite of a composite": (
        mb.CompositeJoint(
            "D",
            mb.HelicalJoint("nut", axis=AXES[0], point=shifted(0.2, 0.1, -0.1), pitch=0.1),
            mb.CompositeJoint(
                "inner",
                mb.PrismaticJoint("rail", axis=AXES[1]),
                mb.SphericalJoint("ball", point=POINT),
            ),
        ),
        ("nut.axis", "nut.point", "nut.pitch", "inner.rail.axis", "inner.ball.point"),
    ),
}  # fmt: skip


#: Both angles of a composite joint within another are searched for, in ten times the time.
JOINTS_AND_LONG = [
    pytest.param(kind, marks=pytest.mark.long) if kind == "composite of a composite" else kind
    for kind in JOINTS
]


def closed_by(joint):
    """Return the system of a loop in space that a joint D closes, and a closed state."""
    mech = turned_loop(closed=False)
    mech.add_joint(joint, "world", "c")
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    v = np.random.default_rng(4).normal(size=system.nv)
    return system, *system.close_loops(system.reference_configuration(), v)


#: Of each method one joint; others are in the test of wide steps below.
SOME = {
    ("composite of screws", "Munthe-Kaas"), ("constant velocity", "adaptive"),
    ("universal", "stabilised"), ("helical planar", "index 3"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        pytest.param(*case, marks=() if case in SOME else pytest.mark.long)
        for case in itertools.product(JOINTS, ["Munthe-Kaas", "adaptive", "stabilised", "index 3"])
    ],
)
def test_numbers_of_loop_joints(kind, method):
    joint, fields = JOINTS[kind]
    system, q, v = closed_by(joint)
    names = [f"joints.D.{field}" for field in fields]
    assert takes_one_pass(system)
    assert system._exact_constraints is not None
    assert {*names} <= PassSums(system, names, called_forces(system)).known
    count = 1 if kind.startswith("composite") else 2  # differences of their rows take seconds
    run = mb.simulate(system, (0.0, count * 1e-2), 1e-2, q=q, v=v, integrator=METHODS[method])
    by = ["q", "v", "bodies.c.mass", "joints.D.S_pred", "joints.A.axis", *names]
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=1e-10)


@pytest.mark.some(4)
@pytest.mark.parametrize("stabilisation", [mb.Projection(), None])
@pytest.mark.parametrize("kind", JOINTS_AND_LONG)
def test_steps_so_wide_that_loops_open(kind, stabilisation):
    joint, fields = JOINTS[kind]
    system, q, v = closed_by(joint)
    count = 1 if kind.startswith("composite") else 2
    run = mb.simulate(system, (0.0, count * 4e-2), 4e-2, q=q, v=v, stabilisation=stabilisation)
    names = [f"joints.D.{field}" for field in fields]
    assert_adjoint(run, mb.sensitivities(run, by=["q", "v", "tau", *names]), rtol=1e-11)


@pytest.mark.parametrize("method", ["Munthe-Kaas", "stabilised", "index 3"])
def test_two_hinges_without_a_body_between_them_are_a_universal_joint(method):
    """The rows of both are other ones, and the universal joint's angles are not searched for.

    Steps are so small that loops open by rounding alone.
    """
    hinges = [mb.RevoluteJoint(n, axis=e, point=POINT) for n, e in zip("ab", AXES, strict=True)]
    found = []
    for joint in (mb.UniversalJoint("D", *AXES, point=POINT), mb.CompositeJoint("D", *hinges)):
        system, q, v = closed_by(joint)
        run = mb.simulate(system, (0.0, 1e-3), 1e-4, q=q, v=v, integrator=METHODS[method])
        by = ["q", "v", "bodies.a.com", "joints.D.S_succ", "forces.spring.stiffness"]
        gradient = mb.gradient(run, lambda t, q, v: (0.5 * (v * v).sum(), None, v), by)
        found.append(np.concatenate([np.atleast_1d(gradient[name]).ravel() for name in by]))
    size = np.abs(found[0]).max()
    np.testing.assert_allclose(found[1], found[0], rtol=0.0, atol=1e-10 * size)


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_a_plane_loop_whose_last_joint_has_more_freedom_than_it_needs():
    """Rows that depend on others are left out, as in the run."""
    mech = mb.Mechanism("four-bar", gravity=(0.0, 0.0, -9.81))
    points = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, 0.3), (0.8, 0.0, 0.5), (0.9, 0.0, 0.0)])
    before = mech.world
    for k, (a, b) in enumerate(itertools.pairwise(points)):
        inertia = mb.SpatialInertia.from_com(1.0, 0.5 * (a + b), 0.01 * np.diag([1.0, 1.5, 2.0]))
        body = mech.add_body(mb.Body(f"rod {k}", inertia))
        mech.add_joint(mb.RevoluteJoint(f"hinge {k}", axis=(0, 1, 0), point=a), before, body)
        before = body
    last = mb.RevoluteJoint("turn", axis=(0, 1, 0), point=points[-1])
    tilt = mb.RevoluteJoint("tilt", axis=(1, 0, 0.1), point=points[-1])
    mech.add_joint(mb.CompositeJoint("last", last, tilt), mech.world, before)
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=("last",)))
    q, v = system.close_loops(system.reference_configuration(), [3.0, 0.0, 0.0])
    run = mb.simulate(system, (0.0, 0.04), 2e-2, q=q, v=v)
    by = ["q", "v", "tau", "bodies.rod 1.com", "joints.last.turn.point"]
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=1e-11)


def test_joints_in_python_are_left_to_differences():
    system, q, v = closed_by(CardanJoint("D"))
    assert takes_one_pass(system)
    assert system._exact_constraints is None
    run = mb.simulate(system, (0.0, 0.01), 1e-2, q=q, v=v)
    assert_adjoint(run, mb.sensitivities(run, by=["q", "v", "bodies.c.mass"]), rtol=1e-11)
