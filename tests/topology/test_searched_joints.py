"""Joints that give a pose alone: where they close a loop, their configuration is searched for."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbkit as mb

LEAD, CURVATURE = 0.1, 0.02


class VariableScrew(mb.Joint):
    """A screw whose lead grows: its pose at two angles is the same, and not its motion."""

    num_positions = num_velocities = 1

    def pose(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        z = LEAD * q[0] + CURVATURE * q[0] ** 2
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, z], [0, 0, 0, 1]])


class LocatedScrew(VariableScrew):
    """It says itself where it is, as well as it can."""

    def configuration_from_pose(self, T):
        return np.arctan2(T[1, :1], T[0, :1])


def jack(screw):
    """A spindle, a table on a guide, and the screw between them, added in the middle."""
    mech = mb.Mechanism("jack", gravity=(0, 0, -9.81))
    mech.add_body(mb.Body("spindle", mb.SpatialInertia.cylinder(1.0, radius=0.02, length=0.3)))
    mech.add_body(mb.Box("table", (0.2, 0.2, 0.05), mass=5.0))
    mech.add_joint(mb.RevoluteJoint("turn", axis=(0, 0, 1)), "world", "spindle")
    mech.add_joint(screw, "spindle", "table")
    mech.add_joint(mb.PrismaticJoint("guide", axis=(0, 0, 1)), "world", "table")
    return mech


@pytest.mark.parametrize(
    ("screw", "cut"),
    [
        (VariableScrew("screw"), "guide"),
        (mb.CompositeJoint("screw", VariableScrew("own")), "guide"),
        (LocatedScrew("screw"), "screw"),
        (mb.HelicalJoint("screw", axis=(0, 0, 1), pitch=LEAD), "screw"),
    ],
    ids=["pose alone", "in a composite joint", "located", "of mbkit"],
)
def test_a_searched_joint_stays_in_the_tree_where_others_can_be_cut(screw, cut):
    """Others are cut by the depth of the tree, the middle of the ring."""
    assert jack(screw).topology().loop_joints == (cut,)


def test_a_searched_joint_is_cut_where_all_are_searched():
    """By the same criteria as others; a joint of more freedoms that is found directly is kept."""
    mech = jack(VariableScrew("screw"))
    for name in ("turn", "guide"):
        mech.add_body(mb.Sphere(f"ball {name}", 0.1, mass=1.0))
    mech.add_joint(VariableScrew("first"), "world", "ball turn")
    mech.add_joint(VariableScrew("second"), "ball turn", "ball guide")
    mech.add_joint(VariableScrew("third"), "ball guide", "world")
    assert mech.topology().loop_joints == ("guide", "second")


@pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")
def test_a_motion_passes_where_two_configurations_have_one_pose():
    """At a screw angle of -5.64, the pose is that of 0.64; the closed form is of one angle phi.

    With z(phi), (I + m z'^2) phi'' + m z' z'' phi'^2 = -m g z'.
    """
    run = mb.simulate(
        jack(VariableScrew("screw")).assemble(), (0.0, 0.3), v={"turn": 20.0}, progress=False
    )
    inertia, mass = 0.5 * 0.02**2, 5.0

    def rates(_t, y):
        slope = LEAD + 2.0 * CURVATURE * y[0]
        push = mass * slope * (-9.81 - 2.0 * CURVATURE * y[1] ** 2)
        return y[1], push / (inertia + mass * slope**2)

    exact = solve_ivp(rates, (0.0, 0.3), [0.0, -20.0], rtol=1e-11, atol=1e-12).y[0, -1]
    assert exact < -6.5
    assert run["turn"][-1] == pytest.approx(-exact, abs=1e-6)
    assert run["screw"][-1] == pytest.approx(exact, abs=1e-6)
