"""Constraints in Python in the adjoint: asked once a stage, each by its own joints and bodies.

Against forward derivatives, which take differences of the rows.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from mbkit.sensitivities.passes.loops import takes_one_pass
from tests.sensitivities.differences import assert_adjoint
from tests.sensitivities.test_closed_runs import rod_bar_with_python
from tests.sensitivities.test_places_by_pass import METHODS, turned_loop
from tests.trees import random_inertia

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

#: What differences of the rows leave.
LEFT = 1e-10


#: Of the last body of a yoke.
BALL = mb.SphericalJoint("last", point=(0.2, 0.1, 0.4))


def yoke(function, last=BALL):
    """Return a crank and a slider in frames of their own, of which one drives the other."""
    rng = np.random.default_rng(8)
    mech = mb.Mechanism("yoke", gravity=(0.3, -2.0, -9.81))
    for name in ("crank", "slider", "pan"):
        mech.add_body(mb.Body(name, random_inertia(rng), pose=SE3.exp(rng.normal(size=6))))
    mech.add_joint(mb.RevoluteJoint("axle", axis=(0.2, 1.0, 0.1)), "world", "crank")
    mech.add_joint(mb.PrismaticJoint("slide", axis=(0.3, 0.1, 1.0)), "slider", "crank")
    mech.add_joint(last, "slider", "pan")
    mech.add_force(mb.JointSpring("spring", "axle", stiffness=8.0, rest=0.25))
    mech.add_constraint(mb.JointCoupling("cam", "axle", "slide", function))
    return mech.assemble()


def state_of(system, t=0.1):
    v = np.random.default_rng(4).normal(size=system.nv)
    return system.close_loops(system.reference_configuration(), v, t=t)


def compare(system, by, method="Munthe-Kaas", rtol=LEFT, end=0.12, **given):
    assert takes_one_pass(system)
    q, v = state_of(system)
    run = mb.simulate(system, (0.1, end), 1e-2, q=q, v=v, integrator=METHODS[method], **given)
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=rtol)


def methods(*kept):
    """Parametrize by the methods; those that are not kept, for others are here, are long."""
    return pytest.mark.parametrize(
        "method", [pytest.param(n, marks=() if n in kept else pytest.mark.long) for n in METHODS]
    )


@methods("Munthe-Kaas", "stabilised")
def test_a_coupling(method):
    system = yoke(lambda q: 0.1 * np.sin(q) + 0.3 * q**2)
    by = ["q", "v", "gravity", "bodies.pan.com", "joints.slide.S_succ", "forces.spring.stiffness"]
    compare(system, by, method)


class Link(mb.Constraint):
    """A length between two bodies that depends on time and on joints."""

    joints = "A", "C"
    bodies = "b", "c"
    num_rows = num_position_rows = 1

    def __init__(self, length):
        super().__init__("link")
        self.length = length

    def residual(self, t, q, poses):
        a, b = (
            C[:3, :3] @ np.array(point) + C[:3, 3]
            for C, point in zip(poses, ((0.1, 0.2, 0.3), (0.3, -0.2, 0.3)), strict=True)
        )
        turned = poses[1, 0, 1] * np.cos(q[2]) * q[1]
        return [np.sqrt((b - a) @ (b - a)) - self.length - 0.1 * np.sin(t) * q[0] + 0.2 * turned]


def linked(*, closed):
    """Return a loop in space with a link across it; open, where the link alone closes it."""
    mech = turned_loop(closed=closed)
    loops = mb.RelativeCoordinates(loop_joints=("D",) if closed else ())
    system = mech.assemble(loops)
    q = system.close_loops(system.reference_configuration())
    joints = np.concatenate([q[system.position_slice(name)] for name in Link.joints])
    poses = system.poses(q)[[system.body_index(name) for name in Link.bodies]]
    mech.add_constraint(Link(Link(0.0).residual(0.1, joints, poses)[0]))
    return mech.assemble(loops)


#: Of both mechanisms, and of the methods that are not those of the coupling alone.
SOME = {(False, "stabilised"), (True, "adaptive"), (True, "index 3")}


@pytest.mark.parametrize(
    ("closed", "method"),
    [
        pytest.param(*case, marks=() if case in SOME else pytest.mark.long)
        for case in itertools.product([False, True], METHODS)
    ],
)
def test_bodies_and_time(closed, method):
    """Beside a universal joint that closes a loop, too."""
    compare(linked(closed=closed), ["q", "v", "bodies.c.mass", "joints.A.S_pred"], method)


@methods("Munthe-Kaas")
def test_by_the_axis_of_a_joint_that_closes_a_loop(method):
    """Which the constraint in Python does not read; differences of rows by it take seconds."""
    compare(linked(closed=True), ["v", "bodies.c.mass", "joints.D.axis1"], method, end=0.11)


@pytest.mark.parametrize("stabilisation", [mb.Projection(), None])
def test_with_and_without_the_way_back_to_the_constraints(stabilisation):
    for system in (yoke(np.sin), linked(closed=True)):
        compare(system, ["q", "v"], stabilisation=stabilisation)


@methods("index 3, adaptive")
def test_beside_compiled_constraints(method):
    by = ["q", "v", "bodies.wheel.mass", "bodies.crank.mass", "constraints.rod.length"]
    compare(rod_bar_with_python().assemble(), by, method)


def test_functions_of_time_in_python():
    mech = rod_bar_with_python()
    mech.add_body(mb.Body("ball", random_inertia(np.random.default_rng(2))))
    mech.add_joint(mb.FreeJoint("of ball"), mech.world, "ball")
    place = {"point": (0.1, 0.2, 0.3), "function": lambda t: [0.1 * t, np.sin(t), 0.3]}
    mech.add_constraint(mb.PrescribedPoint("hand", "ball", **place))
    compare(mech.assemble(), ["q", "v", "bodies.ball.com", "gravity"])


@pytest.mark.filterwarnings("ignore::mbkit.ConstraintDerivativeWarning")
def test_functions_that_cannot_be_traced_have_differences_along_their_joints():
    calls = []

    def opaque(q):
        calls.append(q)
        return 0.1 * np.sin(math.fsum([q]))

    found, two_stages = [], mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN)
    for function in (opaque, lambda q: 0.1 * np.sin(q)):
        system = yoke(function)
        q, v = state_of(system)
        run = mb.simulate(system, (0.0, 0.01), 1e-2, q=q, v=v, integrator=two_stages)
        gradient = mb.gradient(run, lambda t, q, v: (0.5 * (v * v).sum(), None, v), ["q", "v"])
        found.append(np.concatenate([gradient["q"], gradient["v"]]))
    assert calls
    np.testing.assert_allclose(*found, rtol=0.0, atol=1e-7 * np.abs(found[0]).max())


@pytest.mark.filterwarnings("ignore::mbkit.ConstraintDerivativeWarning")
def test_what_a_constraint_raises_is_told():
    def breaks(q):
        x = math.fsum([q])
        if limits and not limits[0] <= x <= limits[1]:
            raise ZeroDivisionError("no more")
        return 0.1 * np.sin(x)

    limits = []
    system = yoke(breaks)
    q, v = state_of(system)
    run = mb.simulate(system, (0.0, 0.02), 1e-2, q=q, v=v)
    limits += [run.q[:, 0].min() - 1e-3, run.q[:, 0].max() + 1e-3]
    with pytest.raises(ZeroDivisionError, match="no more"):
        mb.gradient(run, lambda t, q, v: (0.5 * (v * v).sum(), None, v), ["q"])
