"""Constraints that are no joints, which the adjoint takes along, each by its own bodies and joints.

Against forward derivatives, which move the whole tree instead; differences of runs know nothing of
either.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from mbkit.sensitivities.passes.loops import takes_one_pass
from tests.sensitivities.differences import assert_adjoint
from tests.sensitivities.test_closed_runs import Closed, rod_bar, space_loop
from tests.trees import random_inertia

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

ADAPTIVE = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-6)


def with_constraints():
    """Return a loop in space that a joint closes, with a constraint of each kind besides."""
    mech = space_loop()
    inertia = mb.SpatialInertia.from_com(0.7, (0.8, 0.4, 0.5), 0.03 * np.diag([1.0, 1.5, 2.0]))
    mech.add_body(mb.Body("puck", inertia))
    mech.add_joint(mb.FreeJoint("of puck"), mech.world, "puck")
    ends = {"point_a": (0.8, 0.4, 0.2), "point_b": (0.8, 0.4, 0.2)}
    mech.add_constraint(mb.PointOnLine("slot", "c", "puck", axis=(0.3, 1.0, -0.2), **ends))
    ends = {"point_a": (0.3, 0.4, 0.6), "point_b": (0.3, 0.4, 0.6)}
    mech.add_constraint(mb.PointOnPlane("table", "puck", "b", normal=(0.1, 0.3, 1.0), **ends))
    ends = {"point_a": (0.1, 0.2, 0.5), "point_b": (0.9, 0.3, 0.4)}
    mech.add_constraint(mb.Distance("rod", "a", "puck", length=np.sqrt(0.66), **ends))
    for k in range(4):
        sphere = mb.SpatialInertia.sphere(0.4, radius=0.2)
        mech.add_body(mb.Body(f"wheel{k}", sphere))
        hinge = mb.HelicalJoint(
            f"axle{k}", axis=(0.2 * k, 1.0, 0.3), point=(0.1 * k, 0.2, 0.0), pitch=0.05
        )
        mech.add_joint(hinge, "puck", f"wheel{k}")
    mech.add_constraint(mb.GearRatio("mesh", "axle0", "axle1", ratio=-0.7))
    mech.add_constraint(
        mb.PolynomialCoupling("groove", "axle0", "axle2", coefficients=(0.0, 0.3, 0.4))
    )
    angles = np.linspace(0.0, 2.0 * np.pi, 9)
    mech.add_constraint(
        mb.Cam("cam", "axle0", "axle3", positions=angles, lift=0.1 * np.cos(angles), periodic=True)
    )
    return mech


@pytest.mark.some(2)
@pytest.mark.parametrize("method", [None, ADAPTIVE])
@pytest.mark.parametrize("stabilisation", [mb.Projection(), None])
def test_constraints_of_each_kind(stabilisation, method):
    system = with_constraints().assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    assert takes_one_pass(system)
    q, v = system.close_loops(
        system.reference_configuration(), np.random.default_rng(4).normal(size=system.nv)
    )
    run = mb.simulate(
        system, (0.0, 0.02), 1e-2, q=q, v=v, tau=np.zeros(system.nv),
        stabilisation=stabilisation, integrator=method,
    )  # fmt: skip
    by = ["q", "v", "tau", "gravity", "bodies.puck.mass", "bodies.c.com", "forces.air.point"]
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=1e-11)


def test_differences_of_runs_of_a_four_bar_with_a_rod():
    closed = Closed(rod_bar(), [3.0, 0.0], h=5e-3)
    assert takes_one_pass(closed.system)
    closed.assert_same([("bodies.crank.mass", 0), ("bodies.rocker.mass", 0)])


def driven(constraint):
    """Return a free body with an arm, one of which follows a table over time."""
    rng = np.random.default_rng(12)
    mech = mb.Mechanism("driven", gravity=(0.3, -0.2, -9.81))
    base, arm = (mech.add_body(mb.Body(name, random_inertia(rng))) for name in ("base", "arm"))
    mech.add_joint(mb.FreeJoint("float"), mech.world, base)
    frames = tuple(SE3.exp(0.4 * rng.normal(size=(2, 6))))
    mech.add_joint(mb.RevoluteJoint("elbow", axis=(0.3, 1.0, 0.2)), base, arm, frames=frames)
    mech.add_force(mb.Drag("air", "base", linear=0.3, quadratic=0.2, point=(0.1, 0.2, 0.3)))
    times = np.linspace(-0.1, 0.4, 7)
    frame = SE3.exp(0.3 * rng.normal(size=6))
    poses = SE3.exp(np.sin(2.0 * times)[:, None] * rng.normal(size=6))
    point = {"point": frame[:3, 3], "positions": poses[:, :3, 3]}
    given = point if constraint is mb.PrescribedPoint else {"frame": frame, "poses": poses}
    mech.add_constraint(constraint("hand", "arm", times=times, **given))
    return mech.assemble()


@pytest.mark.some(2)
@pytest.mark.parametrize("method", [None, ADAPTIVE])
@pytest.mark.parametrize("stabilisation", [mb.Projection(), None])
@pytest.mark.parametrize("constraint", [mb.PrescribedPoint, mb.PrescribedPose])
def test_constraints_over_time(constraint, stabilisation, method):
    system = driven(constraint)
    assert takes_one_pass(system)
    q, v = system.close_loops(
        system.reference_configuration(), np.random.default_rng(4).normal(size=system.nv), t=0.1
    )
    run = mb.simulate(
        system, (0.1, 0.12), 1e-2, q=q, v=v, tau=np.ones(system.nv),
        stabilisation=stabilisation, integrator=method,
    )  # fmt: skip
    by = ["q", "v", "tau", "gravity", "bodies.base.mass", "bodies.base.com", "forces.air.point"]
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=1e-11)


@pytest.mark.some(2)
@pytest.mark.parametrize("method", [None, ADAPTIVE])
@pytest.mark.parametrize("stabilisation", [mb.Projection(), None])
@pytest.mark.parametrize("kind", [mb.RollingSphere, mb.RollingDisc])
def test_what_rolls(kind, stabilisation, method):
    """A ball or a disc on a tilted plane, on a body that moves itself, with a string to it."""
    rng = np.random.default_rng(7)
    mech = mb.Mechanism("rolling", gravity=(0.3, -0.2, -9.81))
    for name in ("table", "wheel"):
        mech.add_body(mb.Body(name, random_inertia(rng), pose=SE3.exp(rng.normal(size=6))))
        mech.add_joint(mb.FreeJoint(f"of {name}"), "world", name)
    normal = np.array([0.2, -0.1, 1.0])
    center = np.array([0.1, 0.2, 0.3]) + 0.5 * normal / np.linalg.norm(normal)
    given = {"point_a": (0.1, 0.2, 0.3), "normal": normal, "center": center, "radius": 0.5}
    if kind is mb.RollingDisc:
        given["axis"] = np.cross(normal, (0.2, 1.0, 0.3))
    mech.add_constraint(kind("contact", "table", "wheel", **given))
    ends = {"point_a": (0.9, 0.3, 1.2), "point_b": (0.2, 0.1, 0.8)}
    mech.add_constraint(
        mb.Distance("string", "world", "wheel", length=float(np.sqrt(0.69)), **ends)
    )
    system = mech.assemble()
    assert takes_one_pass(system)
    q, v = system.close_loops(system.reference_configuration(), rng.normal(size=system.nv))
    run = mb.simulate(
        system, (0.0, 0.02), 1e-2, q=q, v=v, tau=np.ones(system.nv),
        stabilisation=stabilisation, integrator=method,
    )  # fmt: skip
    names = [f"constraints.contact.{field}" for field in given]
    by = ["q", "v", "tau", "gravity", "bodies.wheel.mass", "bodies.table.com", *names]
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=1e-11)
