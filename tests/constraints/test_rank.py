"""One rule of rank: what moves, moves by all methods alike; what cannot move is told by all."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.planar_four_bar import PlanarFourBar, Rod
from tests.constraints.closed_mechanisms import (
    bennett,
    cycle,
    hinge,
    parallelogram,
    slider_crank,
)
from tests.constraints.driven import driven

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

#: In the plane of x and z, with hinges along -y: turns are counter-clockwise as seen along y.
BARS = {"ground": 0.9, "crank": 0.3, "coupler": 0.9, "rocker": 0.6}
START, RATE, TIMES = 1.0, 3.0, np.linspace(0.0, 0.2, 5)
PLANE = PlanarFourBar(
    BARS["ground"], *(Rod(BARS[name], 1.0, 0.01) for name in ("crank", "coupler", "rocker"))
)
SOLVERS = [mb.MinimumNorm(), mb.NullSpace(), mb.SchurComplement()]


def four_bar(tilt=0.0, unit=1.0, joint=1):
    """Return the linkage at its start, one of its axes tilted; lengths in `unit` metres."""
    b = PLANE.rocker_angle(START)
    points = np.array([
        (0.0, 0.0, 0.0),
        (BARS["crank"] * np.cos(START), 0.0, BARS["crank"] * np.sin(START)),
        (BARS["ground"] + BARS["rocker"] * np.cos(b), 0.0, BARS["rocker"] * np.sin(b)),
        (BARS["ground"], 0.0, 0.0),
    ])  # fmt: skip
    mech = mb.Mechanism("four-bar", gravity=(0, 0, -9.81 * unit))
    bodies = [mech.world]
    for name, one, other in zip(("crank", "coupler", "rocker"), points, points[1:], strict=False):
        inertia = mb.SpatialInertia.from_com(
            1.0, unit * (one + other) / 2, 0.01 * unit**2 * np.eye(3)
        )
        bodies.append(mech.add_body(mb.Body(name, inertia)))
    bodies.append(mech.world)
    for k, name in enumerate("ABCD"):
        axis = (tilt if k == joint else 0.0, -1.0, 0.0)
        ends = (bodies[k], bodies[k + 1]) if k < 3 else (mech.world, bodies[3])
        mech.add_joint(mb.RevoluteJoint(name, axis=axis, point=unit * points[k]), *ends)
    return mech


def in_coordinates(mech, coordinates):
    if coordinates == "relative":
        return mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    return mech.assemble(mb.AbsoluteCoordinates())


def planar_velocity(system, mech):
    """Return the velocity of the linkage with parallel axes, as the plane has it."""
    coupler, rocker = PLANE.ratios(START)
    v = RATE * np.array([1.0, coupler - 1.0, rocker - coupler])
    relative = mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    q = relative.reference_configuration()
    if not system.free_joints:
        return q, v
    return system.state_of(relative, q, v, tolerance=1.0)


def crank_angles(system, run):
    """Return how far the crank has turned, from its pose."""
    crank = system.body_names.index("crank")
    R = np.stack([system.poses(q)[crank, :3, :3] for q in run.q])
    return START + np.arctan2(R[:, 2, 0], R[:, 0, 0])


@pytest.mark.some(7)
@pytest.mark.parametrize("coordinates", ["relative", "absolute"])
@pytest.mark.parametrize("tilt", [0.0, *np.logspace(-15, -3, 13)])
def test_a_tilted_axis_moves_by_all_methods_or_by_none(tilt, coordinates):
    mech = four_bar(tilt)
    system = in_coordinates(mech, coordinates)
    q, v = planar_velocity(system, mech)
    moves = tilt < 2e-6
    assert system.diagnose(q).mobility == moves
    angles = PLANE.crank_motion(START, RATE, TIMES)[0]
    for solver in SOLVERS:
        own = system.with_constraint_solver(solver)
        kept = own.solved(q, 0.0 * v)[2]
        assert system.nv - kept.sum() == moves
        if moves:
            run = mb.simulate(own, (0.0, 0.2), 1e-3, q=q, v=v, save_every=50, progress=False)
            np.testing.assert_allclose(crank_angles(own, run), angles, atol=1e-9 + 5.0 * tilt)
        else:
            with pytest.raises(mb.ConstraintError, match="The initial v"):
                mb.simulate(own, (0.0, 0.2), 1e-3, q=q, v=v, progress=False)
            with pytest.warns(mb.LockedMechanismWarning, match="cannot move"):
                mb.simulate(own, (0.0, 0.002), 1e-3, q=q, progress=False)
    if coordinates == "relative":
        if moves:
            found = system.consistent_velocity({"A": RATE}, q)
            np.testing.assert_allclose(found, v, atol=1e-9 + 10.0 * tilt)
            H = system.constrained_jacobian(q, ["A"])[:, 0]
            np.testing.assert_allclose(RATE * H, v, atol=1e-9 + 10.0 * tilt)
        else:
            with pytest.raises(mb.ConstraintError, match="do not go together"):
                system.consistent_velocity({"A": RATE}, q)
            with pytest.raises(mb.ConstraintError, match="cannot be chosen freely"):
                system.constrained_jacobian(q, ["A"])


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("tilt", "moves"), [(1e-11, True), (1e-7, True), (1e-4, False)])
def test_rank_depends_on_no_unit(unit, tilt, moves):
    for coordinates in ("relative", "absolute"):
        system = in_coordinates(four_bar(tilt, unit), coordinates)
        q = system.reference_configuration()
        assert system.diagnose(q).mobility == moves
        for solver in SOLVERS:
            kept = system.with_constraint_solver(solver).solved(q, np.zeros(system.nv))[2]
            assert system.nv - kept.sum() == moves


@pytest.mark.some(2)
@pytest.mark.parametrize("masses", [1e-10, 1e-5, 1e5, 1e10])
def test_rank_depends_on_no_mass(masses):
    """The coupler may be lighter or heavier than its neighbours by any factor."""
    mech = four_bar(1e-11)
    light = mb.Mechanism("light", gravity=mech.gravity)
    for body in mech.bodies.values():
        factor = masses if body.name == "coupler" else 1.0
        com = body.inertia.com
        light.add_body(
            mb.Body(body.name, mb.SpatialInertia.from_com(factor, com, 0.01 * factor * np.eye(3)))
        )
    for edge in mech.joints.values():
        frames = edge.S_pred, edge.S_succ
        light.add_joint(edge.joint, edge.predecessor, edge.successor, frames=frames)
    for coordinates in ("relative", "absolute"):
        system = in_coordinates(light, coordinates)
        q = system.reference_configuration()
        for solver in SOLVERS:
            kept = system.with_constraint_solver(solver).solved(q, np.zeros(system.nv))[2]
            assert system.nv - kept.sum() == 1


@pytest.mark.parametrize(("error", "moves"), [(1e-11, True), (1e-9, True), (1e-4, False)])
def test_an_overconstrained_linkage_with_errors_of_manufacture(error, moves):
    """Bennett's linkage moves by its measures alone."""
    mech = bennett()
    wrong = mb.Mechanism("Bennett", gravity=(0, 0, -9.81))
    for body in mech.bodies.values():
        wrong.add_body(body)
    for edge in mech.joints.values():
        S_pred, S_succ = edge.S_pred, edge.S_succ
        if edge.joint.name == "J2":
            tip = mb.spatial.rotation((1, 0, 0), error)
            S_pred, S_succ = S_pred @ tip, S_succ @ tip
        wrong.add_joint(edge.joint, edge.predecessor, edge.successor, frames=(S_pred, S_succ))
    system = wrong.assemble(mb.RelativeCoordinates(loop_joints=["J3"]))
    q = system.reference_configuration()
    assert system.diagnose(q).mobility == moves
    if moves:
        v = system.consistent_velocity({"J0": 1.0}, q)
        run = mb.simulate(system, (0.0, 0.2), 1e-3, q=q, v=v, progress=False)
        energy = run.kinetic_energy + run.potential_energy
        assert np.ptp(energy) < 1e-9 + 100.0 * error
        assert abs(run.q[-1] - q).max() > 0.01
    else:
        with pytest.warns(mb.LockedMechanismWarning, match="'J3', 'J2', 'J1', 'J0'"):
            mb.simulate(system, (0.0, 0.002), 1e-3, q=q, progress=False)


def skew_hinges():
    """Return a loop of four hinges on axes in no special position: mobility 4 - 6 + 0."""
    rng = np.random.default_rng(7)
    points = [(0, 0, 0), (0.1, 0.2, 0.5), (0.8, -0.1, 0.6), (0.9, 0.3, 0.1)]
    axes = rng.normal(size=(4, 3))
    joints = [hinge(n, p, a) for n, p, a in zip("ABCD", points, axes, strict=True)]
    return cycle("skew hinges", points, joints)


def skew_slider():
    """Return a slider-crank whose guide leaves the plane."""
    points = [(0, 0, 0), (0.2, 0, 0.2), (1, 0, 0), (1, 0, 0)]
    joints = [hinge(n, p, (0, 1, 0)) for n, p in zip("ABC", points[:3], strict=True)]
    guide = mb.PrismaticJoint("guide", axis=(1, 0.2, 0))
    return cycle("skew slider", points, [*joints, guide])


@pytest.mark.parametrize("make", [skew_hinges, skew_slider])
@pytest.mark.parametrize("coordinates", ["relative", "absolute"])
def test_a_locked_mechanism_is_told(make, coordinates):
    mech = make()
    last = list(mech.joints)[-1]
    chosen = (
        mb.RelativeCoordinates(loop_joints=[last])
        if coordinates == "relative"
        else mb.AbsoluteCoordinates()
    )
    system = mech.assemble(chosen)
    tau = np.ones(system.nv)
    with pytest.warns(mb.LockedMechanismWarning) as told:
        run = mb.simulate(system, (0.0, 0.01), 1e-3, tau=tau, progress=False)
    (text,) = [str(each.message) for each in told if "cannot move" in str(each.message)]
    assert "mobility is 0" in text
    for joint in mech.joints:
        assert f"'{joint}'" in text
    assert any("cannot move" in each for each in run.warnings)
    diagnosis = system.diagnose()
    assert diagnosis.mobility == 0
    assert "the mechanism cannot move" in str(diagnosis)
    np.testing.assert_allclose(run.v, 0.0, atol=1e-12)


@pytest.mark.parametrize("make", [four_bar, slider_crank, bennett])
def test_what_is_driven_or_moves_is_not_locked(make):
    mech = make()
    last = list(mech.joints)[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", mb.LockedMechanismWarning)
        loop = mb.RelativeCoordinates(loop_joints=[last])
        mb.simulate(mech.assemble(loop), (0.0, 0.002), 1e-3, progress=False)
        first = next(iter(mech.joints))
        moved = driven(mech, first, lambda t: 0.1 * np.sin(t))
        led = moved.assemble(loop)
        q = led.reference_configuration()
        v = led.close_loops(q, np.zeros(led.nv))[1]
        mb.simulate(led, (0.0, 0.002), 1e-3, q=q, v=v, progress=False)


def test_at_a_singular_posture_it_is_not_locked():
    system = parallelogram().assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    q = system.reference_configuration()
    assert system.diagnose(q).mobility == 2
    for solver in SOLVERS:
        kept = system.with_constraint_solver(solver).solved(q, np.zeros(3))[2]
        assert kept.sum() == 1
    v = system.consistent_velocity({"A": 1.0, "B": -1.0}, q)
    with pytest.warns(mb.SingularityWarning, match="2 branches of its motion meet there"):
        run = mb.simulate(system, (0.0, 0.1), 1e-3, q=q, v=v, progress=False)
    assert abs(run.q[-1, 0]) > 0.05
    assert abs(run.residuals).max() < 1e-10


def test_what_a_constraint_drives_is_not_locked():
    mech = mb.Mechanism("led")
    rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))))
    mech.add_joint(mb.PrismaticJoint("way", axis=(1, 0, 0)), mech.world, rod)
    point = mb.PrescribedPoint("hand", "rod", lambda t: [0.1 * t**2, 0.0, 0.0])
    mech.add_constraint(point)
    with warnings.catch_warnings():
        warnings.simplefilter("error", mb.LockedMechanismWarning)
        run = mb.simulate(mech.assemble(), (0.0, 0.1), 1e-2, progress=False)
    assert abs(run.q[-1, 0] - 0.1 * 0.1**2) < 1e-9
