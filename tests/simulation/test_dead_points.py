"""Runs that end at a dead point say so, whatever has failed there, and blame no step size."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.closed_mechanisms import cycle, hinge, rod

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning"),
]

R, L, START = 0.1, 0.4, 0.5


def pushed_piston():
    """Return a slider-crank whose piston is pushed outwards at 0.1 m/s, and when it is in line."""
    mech = mb.Mechanism("piston", gravity=(0, 0, 0))
    pin = np.array([R * np.cos(START), 0, R * np.sin(START)])
    wrist = np.array([pin[0] + np.sqrt(L**2 - pin[2] ** 2), 0, 0])
    mech.add_body(rod("crank", (0, 0, 0), pin))
    mech.add_body(rod("rod", pin, wrist))
    mech.add_body(mb.Body("slider", mb.SpatialInertia.sphere(1.0, radius=0.05)))
    mech.add_joint(hinge("main", (0, 0, 0), (0, 1, 0)), mech.world, "crank")
    mech.add_joint(hinge("pin", pin, (0, 1, 0)), "crank", "rod")
    guide = mb.PrismaticJoint("guide", axis=(1, 0, 0)).prescribe("0.1*t")
    mech.add_joint(guide, mech.world, "slider")
    mech.add_joint(hinge("wrist", wrist, (0, 1, 0)), "rod", "slider")
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["wrist"]))
    return system, (R + L - wrist[0]) / 0.1


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("integrator", "h"),
    [
        (None, None),
        (None, 1e-3),
        (mb.GeneralizedAlpha(rtol=1e-5), 1e-3),
        (mb.GeneralizedAlpha(), 1e-3),
        (mb.BLieDF(3), 1e-3),
    ],
)
def test_a_drive_into_a_dead_point_names_it(integrator, h):
    """With steps of every kind, at the time at which crank and rod are in line."""
    system, end = pushed_piston()
    options = {} if integrator is None else {"integrator": integrator}
    with pytest.raises(mb.ConstraintError, match="dead point") as caught:
        mb.simulate(system, (0.0, 0.3), h, **options)
    message = str(caught.value)
    for said in ("To drive 'guide' on, ", "'main'", "'pin'", "No smaller h and no other tolerance"):
        assert said in message
    assert abs(caught.value.result.t[-1] - end) < 2e-3
    assert isinstance(caught.value.__cause__, mb.MbkitError)


def test_before_it_other_failures_are_told_as_they_are():
    system, _ = pushed_piston()
    failing = mb.ForceFunction("fault", lambda t, q, v: np.full(1, np.inf), joints="main")
    with pytest.raises(mb.NotFiniteError) as caught:
        mb.simulate(system, (0.0, 0.1), 1e-3, forces=[failing])
    assert "dead point" not in str(caught.value)


def test_axes_that_miss_by_little_are_named():
    """A four-bar with an axis tilted by about what still counts as parallel."""
    points = [(0, 0, 0), (0.3, 0, 0.6), (1.0, 0, 0.7), (1, 0, 0)]
    axes = [(0, 1, 0), (1e-6, 1, 0), (0, 1, 0), (0, 1, 0)]
    joints = [hinge(n, p, a) for n, p, a in zip("ABCD", points, axes, strict=True)]
    system = cycle("bars", points, joints).assemble(mb.RelativeCoordinates(loop_joints=["C"]))
    with pytest.raises(mb.ConstraintError, match="miss by little") as caught:
        mb.simulate(system, (0.0, 1.0))
    assert "the loop of 'C'" in str(caught.value)


@pytest.mark.some(2)
@pytest.mark.parametrize("integrator", [mb.GeneralizedAlpha(), mb.BLieDF(3)], ids=["alpha", "bdf"])
def test_implicit_steps_that_leave_loops_open_say_so(integrator):
    """They leave out constraints that depend on others but for 1e-6; exact axes are not told of."""
    points = [(0, 0, 0), (0.3, 0, 0.6), (1.0, 0, 0.7), (1, 0, 0)]
    found = []
    for tilt in (0.0, 1e-6):
        axes = [(0, 1, 0), (tilt, 1, 0), (0, 1, 0), (0, 1, 0)]
        joints = [hinge(n, p, a) for n, p, a in zip("ABCD", points, axes, strict=True)]
        system = cycle("bars", points, joints).assemble(mb.RelativeCoordinates(loop_joints=["C"]))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", mb.LockedMechanismWarning)
            run = mb.simulate(system, (0.0, 0.6), 1e-3, integrator=integrator)
        found.append([str(each.message) for each in told])
        gaps = np.abs(system.constraint_residual(run.q, run.t)).max(axis=1)
        assert (gaps.max() > 1.2e-6) == bool(tilt)
        assert [text for text in run.warnings if "Loops open" in text] == found[-1]
    assert not found[0]
    (text,) = found[1]
    assert text.startswith("Loops open as the mechanism moves: at t = 0.")
    assert "miss by little" in text


@pytest.mark.long
def test_starts_that_ask_too_much_say_how_much():
    """One freedom, two joints that are named; a place out of reach; a piston in line."""
    points = [(0, 0, 0), (0.3, 0, 0.6), (1.0, 0, 0.7), (1, 0, 0)]
    joints = [hinge(n, p, (0, 1, 0)) for n, p in zip("ABCD", points, strict=True)]
    system = cycle("bars", points, joints).assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    with pytest.raises(mb.ConstraintError, match="have 1 freedom: 1 can be fixed") as caught:
        mb.simulate(system, (0.0, 1.0), q={"A": 0.2, "B": 0.5})
    assert "keeps 'A', 'B'" in caught.value.__notes__[0]
    with pytest.raises(mb.ConstraintError, match=r"has 1 freedom .* these are 2: give 1 of them"):
        mb.simulate(system, (0.0, 1.0), v={"A": 1.0, "B": 1.0})
    with pytest.raises(
        mb.ConstraintError, match=r"Without 'A' fixed .* nearby with 'A' at .*, not"
    ):
        mb.simulate(system, (0.0, 1.0), q={"A": -1.5})


def test_a_mechanism_that_cannot_move_says_so_where_a_joint_is_placed():
    points = [(0, 0, 0), (0.3, 0, 0.6), (1.0, 0, 0.7), (1, 0, 0)]
    axes = [(0, 1, 0), (0.5, 1, 0), (0, 1, 0.2), (0, 1, 0)]
    joints = [hinge(n, p, a) for n, p, a in zip("ABCD", points, axes, strict=True)]
    system = cycle("bars", points, joints).assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    with pytest.raises(mb.ConstraintError, match="no freedom: the mechanism cannot move"):
        mb.simulate(system, (0.0, 1.0), q={"A": 0.1})
