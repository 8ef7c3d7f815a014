"""Arguments of a simulation, given or left out, mean the same in both kinds of coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.constraints import closed_mechanisms
from tests.constraints.driven import driven
from tests.coordinates.same_mechanism import COORDINATES, IDS, check_same
from tests.trees import random_mechanism, random_state

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

each_coordinates = pytest.mark.parametrize("coordinates", COORDINATES, ids=IDS)
each_way = pytest.mark.parametrize("coordinates", COORDINATES[::2], ids=IDS[::2])


def brake(system):
    gains = np.random.default_rng(2).uniform(0.5, 2.0, system.nv)
    return mb.ForceFunction("brake", lambda t, q, v: -gains * v, power="dissipated")


def test_a_late_force_on_all_joints_acts_on_those_of_the_mechanism():
    """It names none: the joints of relative coordinates, in their order, and no body by itself."""
    rng = np.random.default_rng(5)
    mech = random_mechanism(rng, 5, ("revolute", "spherical", "prismatic"))
    relative = mech.assemble()
    force = brake(relative)
    state = random_state(rng, relative)
    joints = relative.joint_names
    absolute = mech.assemble(mb.AbsoluteCoordinates(joints=reversed(joints)))
    check_same(relative.with_forces([force]), absolute.with_forces([force]), state.q, state.v)
    assert absolute.with_forces([force]).without_forces(["brake"]).force_names == ()


def test_a_late_force_along_joints_without_coordinates_is_refused():
    """It did nothing, and nothing said so."""
    mech = closed_mechanisms.four_bar()
    relative = mech.assemble()
    force = brake(relative)
    kept = relative.joint_names[1:]
    absolute = mech.assemble(mb.AbsoluteCoordinates(joints=kept))
    message = rf"'brake' names no joints.*{relative.joint_names[0]!r} have no coordinates.*joints="
    with pytest.raises(mb.ForceError, match=message):
        absolute.with_forces([force])
    with pytest.raises(mb.ForceError, match=message):
        mb.simulate(absolute, (0.0, 0.1), 0.01, forces=[force], progress=False)
    mech.add_force(force)
    assert set(relative.joint_names) <= set(mech.assemble(absolute.coordinates).joint_names)


def driven_arm():
    """An arm of three bodies, its base turning, its wrist on a ball joint that is moved."""
    mech = mb.Mechanism("arm", gravity=(0, 0, -9.81))
    for name, x in (("base", 0.2), ("link", 0.6), ("hand", 1.0)):
        box = mb.SpatialInertia.box(1.0, size=(0.4, 0.1, 0.2))
        mech.add_body(mb.Body(name, box, mb.spatial.translation((x, 0, 0))))
    turn = mb.RevoluteJoint("turn", axis=(0, 0, 1))
    mech.add_joint(turn.prescribe(lambda t: 0.3 + t * t + t), "world", "base")
    mech.add_joint(mb.RevoluteJoint("elbow", axis=(0, 1, 0), point=(0.4, 0, 0)), "base", "link")
    wrist = mb.SphericalJoint("wrist", point=(0.8, 0, 0))
    wrist = wrist.prescribe(lambda t: np.array([np.cos(t / 2), 0, np.sin(t / 2), 0]))
    mech.add_joint(wrist, "link", "hand")
    return mech


@pytest.mark.some(3)
@each_coordinates
@pytest.mark.parametrize("given", ["nothing", "q", "v"])
def test_driven_mechanisms_start_from_the_same_state(given, coordinates):
    """Bodies go along on the joints that are prescribed, with their speeds."""
    mech = driven_arm()
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    span = (0.7, 0.9)
    q, v, _ = relative.prescribed_state(span[0])
    elbow = relative.position_slice("elbow"), relative.velocity_slice("elbow")
    if given == "q":
        q[elbow[0]] = 0.4
    elif given == "v":
        v[elbow[1]] = 1.2
    own = dict(zip("qv", absolute.state_of(relative, q, v), strict=True))
    options = {given: own[given]} if given in own else {}
    other = {given: {"q": q, "v": v}[given]} if given in own else {}
    runs = [
        mb.simulate(system, span, 0.01, progress=False, **start)
        for system, start in ((relative, other), (absolute, options))
    ]
    expected = absolute.state_of(relative, runs[0].q[0], runs[0].v[0])
    np.testing.assert_allclose(runs[1].q[0], expected[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(runs[1].v[0], expected[1], rtol=0, atol=1e-11)
    ends = [s.poses(run.q[-1])[1:4] for s, run in zip((relative, absolute), runs, strict=True)]
    assert np.abs(ends[1] - ends[0]).max() < 1e-6


@each_way
def test_a_drive_starts_by_itself_with_the_loops_closed(coordinates):
    """A crank that stands elsewhere than at its reference: the other bars follow, alike."""
    mech = driven(closed_mechanisms.four_bar(), "A", lambda t: 0.3 + t)
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    runs = [mb.simulate(s, (0.0, 0.1), 0.01, progress=False) for s in (relative, absolute)]
    assert all(run.options["solved"]["q"] for run in runs)
    expected = absolute.state_of(relative, runs[0].q[0], runs[0].v[0])
    np.testing.assert_allclose(runs[1].q[0], expected[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(runs[1].v[0], expected[1], rtol=0, atol=1e-11)
    assert np.abs(absolute.constraint_residual(runs[1].q[0])).max() < 1e-11


@each_way
def test_a_state_that_opens_loops_is_told_how_to_find_one_by_the_joints(coordinates):
    """Bodies that stand or move apart from their joints."""
    mech = driven_arm()
    system = mech.assemble(coordinates)
    with pytest.raises(mb.ConstraintError, match=r"initial q.*state_of\(relative, q, v\)"):
        mb.simulate(system, (0.0, 0.1), 0.01, q=system.reference_configuration(), progress=False)
    with pytest.raises(mb.ConstraintError, match=r"initial v.*state_of\(relative, q, v\)"):
        mb.simulate(system, (0.0, 0.1), 0.01, v=np.ones(system.nv), progress=False)
