"""Starts of runs by the names of joints: loops are closed from there."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.closed_mechanisms import cycle, four_bar, hinge
from tests.every_representation import each_representation

H = 1e-3


def run_of(system, **start):
    return mb.simulate(system, (0.0, 3 * H), H, progress=False, **start)


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize(
    "coordinates", [mb.RelativeCoordinates(), mb.AbsoluteCoordinates()], ids=["joints", "bodies"]
)
def test_loops_are_closed_from_what_is_named(coordinates):
    """The named joint has its numbers, the others follow, and the result says which."""
    mech = four_bar()
    relative, system = mech.assemble(), mech.assemble(coordinates)
    name, *others = relative.joint_names
    q = relative.close_loops(
        relative.checked("q", [0.2, *relative.reference_configuration()[1:]]), fixed=[name]
    )
    v = relative.consistent_velocity({name: 3.0}, q)
    run = run_of(system, q={name: 0.2}, v={name: 3.0})
    found = relative.state_of(system, run.q[0], run.v[0])
    np.testing.assert_allclose(found[0], q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found[1], v, rtol=0, atol=1e-10)
    assert run.options["solved"] == {"q": tuple(others), "v": tuple(others)}
    with pytest.raises(mb.NameUnknownError, match="q: there is no joint 'mian'"):
        run_of(system, q={"mian": 0.2})
    with pytest.raises(mb.UsageError, match=r"v: .* takes 1 number"):
        run_of(system, v={name: [1.0, 2.0]})


@each_representation
def test_entries_of_joints_in_trees(representation):
    """Numbers or arrays, of a joint or of one of its entries; a run of vectors is the same."""
    mech = mb.Mechanism("arm")
    inertia = mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))
    upper, lower = (mech.add_body(mb.Body(name, inertia)) for name in ("upper", "lower"))
    mech.add_joint(mb.UniversalJoint("shoulder", (1, 0, 0), (0, 1, 0)), mech.world, upper)
    mech.add_joint(mb.RevoluteJoint("elbow", (0, 0, 1)), upper, lower)
    system = mech.assemble(mb.RelativeCoordinates(representation))
    run = run_of(system, q={"shoulder[1]": np.float64(0.3), "elbow": 1}, v={"shoulder": [0.1, -2]})
    expected = run_of(system, q=[0.0, 0.3, 1.0], v=[0.1, -2.0, 0.0])
    np.testing.assert_array_equal(run.q, expected.q)
    np.testing.assert_array_equal(run.v, expected.v)
    assert "solved" not in run.options


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_drives_start_by_themselves():
    """A crank that is prescribed: nothing need be given, and its own state cannot be."""
    points = [(0, 0, 0), (0, 0, 0.3), (0.8, 0, 0.5), (0.9, 0, 0)]
    hinges = [hinge(n, p, (0, 1, 0)) for n, p in zip("ABCD", points, strict=True)]
    hinges[0] = hinges[0].prescribe(lambda t: 0.4 + 2.0 * t, lambda t: 2.0, lambda t: 0.0)
    system = cycle("driven", points, hinges).assemble()
    drive = system.prescribed_joints[0]
    run = run_of(system)
    assert run.completed
    assert run.q[0, system.position_slice(drive)] == 0.4
    assert run.v[0, system.velocity_slice(drive)] == 2.0
    assert np.abs(system.constraint_residual(run.q[0])).max() < 1e-12
    assert np.abs(system.constraint_velocity(run.q[0], run.v[0])).max() < 1e-12
    with pytest.raises(mb.UsageError, match=f"q: joint '{drive}' is prescribed"):
        run_of(system, q={drive: 0.4})


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_vectors_that_open_loops_are_refused():
    """A whole configuration is meant as it is."""
    system = four_bar().assemble()
    q = system.close_loops() + 0.1
    with pytest.raises(mb.ConstraintError, match="initial q leaves loops open"):
        run_of(system, q=q, v={system.joint_names[0]: 1.0})


@pytest.mark.parametrize("units", [1.0, 5.0])
def test_advice_keeps_what_was_given(units):
    """A rotor geared to a shoulder, as of an armature: what the message says holds the shoulder."""
    mech = mb.Mechanism("arm")
    for name in ("shoulder", "rotor"):
        mech.add_body(mb.Body(name, mb.SpatialInertia.box(1.0, size=(units, 0.1, 0.1))))
        mech.add_joint(hinge(f"{name} hinge", (0, 0, units), (0, 1, 0)), mech.world, name)
    mech.add_constraint(mb.GearRatio("gear", "rotor hinge", "shoulder hinge", ratio=1.0))
    system = mech.assemble()
    q = system.configuration({"shoulder hinge": 0.45})
    with pytest.raises(mb.ConstraintError, match="Close them first") as raised:
        run_of(system, q=q)
    message = str(raised.value)
    gap, unit = map(
        float, re.search(r"by (\S+) m, where angles count by (\S+) m", message).groups()
    )
    assert abs(gap / unit - 0.45) < 5e-3
    fixed = re.search(r"q = system\.close_loops\(q, fixed=\['(.*?)'\]\)", message)[1]
    np.testing.assert_allclose(system.close_loops(q, fixed=[fixed]), 0.45, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_runs_of_an_ensemble_close_their_own_loops():
    """Each with its masses; of trees, all begin with what is named."""
    system = four_bar().assemble()
    name = system.joint_names[0]
    rates = np.array([1.0, 2.0])
    runs = run_of(system, q={name: 0.2}, parameters={"bodies.rod 1.mass": rates})
    for place, mass in enumerate(rates):
        alone = run_of(system.with_parameters({"bodies.rod 1.mass": mass}), q={name: 0.2})
        np.testing.assert_array_equal(runs[place].q, alone.q)
    with pytest.raises(mb.UsageError, match="must be text, got 2"):
        run_of(system, q={2: 0.2})


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_vectors_by_names_for_other_calls():
    """What holds a four-bar at rest is gravity's power along its one motion."""
    system = four_bar().assemble()
    cut = system.loop_joints[0]
    at = system.configuration({"A": 0.2})
    np.testing.assert_array_equal(at, [0.2 * (name == "A") for name in system.joint_names])
    q, rest = system.close_loops(at, fixed="A"), np.zeros(system.nv)
    hold = system.hybrid_dynamics(q, rest, vdot=system.velocity({"A": 0.0}), prescribed=["A"])[1]
    np.testing.assert_array_equal(system.close_loops({"A": 0.2}), q)
    way = system.consistent_velocity({"A": 1.0}, q)
    both = system.close_loops({"A": 0.2}, {"A": 1.0})
    np.testing.assert_allclose(both[1], way, atol=1e-12)
    rest_at = system.equilibrium({"A": 0.2}, fixed=["A"])
    np.testing.assert_allclose(rest_at.q, q, atol=1e-12)
    model = system.linearize({"A": 0.2}, tau=rest_at.efforts)
    np.testing.assert_array_equal(model.A, system.linearize(q, tau=rest_at.efforts).A)
    np.testing.assert_array_equal(system.linearize().A, system.linearize(system.equilibrium()).A)
    expected = system.velocity({"A": way @ system.bias_force(q, rest)})
    np.testing.assert_allclose(hold, expected, atol=1e-11)
    for call in (
        lambda: system.configuration({cut: 1.0}),
        lambda: run_of(system, q={cut: 1.0}),
        lambda: system.close_loops(fixed=cut),
        lambda: run_of(system, outputs=[f"{cut}.effort"]),
        lambda: system.velocity_slice(cut),
    ):
        with pytest.raises(mb.MbkitError, match=rf"joint '{cut}' closes a loop and .*loop_joints="):
            call()
    for given, error in (
        ({"A": [1.0, 2.0]}, mb.UsageError),
        ({"nix": 1.0}, mb.NameUnknownError),
        ({"A": "x"}, mb.UsageError),
        (3.0, mb.UsageError),
    ):
        with pytest.raises(error, match="velocity: "):
            system.velocity(given)


def test_a_mechanism_that_cannot_move_has_no_velocity_to_choose():
    points = [(0, 0, 0), (1, 0, 0), (1, 0, 1)]
    joints = [hinge(n, p, (0, 1, 0)) for n, p in zip("ABC", points, strict=True)]
    system = cycle("truss", points, joints).assemble()
    name = system.joint_names[0]
    with pytest.raises(mb.ConstraintError, match=r"cannot move.*: its mobility is 0"):
        run_of(system, v={name: 1.0})


def test_angles_in_degrees():
    """Ninety radians are pointed out as a start, an argument and a limit; metres are not."""
    mech = mb.Mechanism("arm")
    inertia = mb.SpatialInertia.from_com(1.0, (0.2, 0.1, -0.4))
    body = mech.add_body(mb.Body("arm", inertia))
    tool = mech.add_body(mb.Body("tool", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge", (1, 2, 3), (0.1, 0, 0)), mech.world, body)
    mech.add_joint(mb.PrismaticJoint("slide", (3, 0, 1)), body, tool)
    system = mech.assemble()
    with pytest.warns(mb.DegreesWarning, match=r"Position of joint 'hinge' is 90 rad.*14\.3 turns"):
        mb.simulate(system, (0.0, 0.01), 0.01, q={"hinge": 90})
    with pytest.warns(mb.DegreesWarning, match=r"math\.radians\(-45\)"):
        system.pose("tool", {"hinge": -45.0})
    system.pose("tool", {"hinge": 15.1, "slide": 90.0})
    hinge, limits = mb.RevoluteJoint("second", (0, 1, 0)), mb.JointLimits(lower=-90, upper=90)
    with pytest.warns(mb.DegreesWarning, match="A limit of joint 'second' is -90 rad"):
        mech.add_joint(hinge, tool, mech.add_body(mb.Body("other", inertia)), limits=limits)
