"""Runs in which the configuration of a loop joint, which is searched for, jumps."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators.integrator import Rows
from mbkit.simulation.monitors.searched_joints import SearchedJoints
from tests.topology.test_searched_joints import CURVATURE, LEAD, LocatedScrew, VariableScrew, jack


class Hinge(mb.Joint):
    """A hinge by its pose alone: it counts its turns anew."""

    num_positions = num_velocities = 1

    def pose(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def rows_of(system, angles, height):
    """Rows on the way of a spindle, at equal times."""
    q = np.zeros((len(angles), system.nq))
    q[:, system.position_slice("turn")] = np.reshape(angles, (-1, 1))
    q[:, system.position_slice("guide")] = np.reshape(height, (-1, 1))
    t = 1e-3 * np.arange(len(angles))
    return Rows(t, q, np.zeros_like(q), np.zeros((len(t), 2)), np.zeros((len(t), 0)))


def cut_at(screw):
    return jack(screw).assemble(mb.RelativeCoordinates(loop_joints=["screw"]))


@pytest.mark.some(2)
@pytest.mark.parametrize("last", [6.5, 5.5])
def test_a_jump_to_another_configuration_of_the_same_pose_is_told(last):
    """At a spindle angle of 5.64; the screw's own angle is the opposite of it."""
    system = cut_at(VariableScrew("screw"))
    monitor = SearchedJoints.of(system)
    angles = np.linspace(5.0, last, 75)
    rows = rows_of(system, angles, -LEAD * angles + CURVATURE * angles**2)
    for some in np.array_split(np.arange(75), 4):
        monitor.look(Rows(*(part[some] for part in rows)), 0.0, rows.q[0])
    told = monitor.finding
    assert bool(told) == (last > 5.64)
    if told:
        assert told.startswith("The configuration of loop joint 'screw' goes from [-5.5")
        assert "to [0.6" in told
        with pytest.warns(mb.JumpWarning, match="Keep the joint in the tree"):
            monitor.tell()


def test_turns_that_are_counted_anew_are_no_jump():
    """Of a hinge, whose angle goes from pi to -pi, in the place of the screw."""
    system = cut_at(Hinge("screw"))
    monitor = SearchedJoints.of(system)
    angles = np.linspace(2.5, 4.0, 60)
    monitor.look(rows_of(system, angles, np.zeros(60)), 0.0, np.zeros(system.nq))
    assert monitor.finding == ""


def test_joints_that_say_themselves_where_they_are_are_not_looked_at():
    for screw in (LocatedScrew("screw"), mb.HelicalJoint("screw", axis=(0, 0, 1), pitch=LEAD)):
        assert SearchedJoints.of(cut_at(screw)) is None
    assert SearchedJoints.of(jack(VariableScrew("screw")).assemble()) is None
