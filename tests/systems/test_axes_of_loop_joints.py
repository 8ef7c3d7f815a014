"""Derivatives by the axis of a joint that closes a loop, wherever it points in the joint's frame.

Rows are measured in a frame on the axis, which some rule turns about it: no motion depends on that.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.bases.axes import frame_along
from mbkit.joints.defaults.differences import derivative
from tests.constraints.loops import closed_chain, consistent

pytestmark = pytest.mark.slow

KINDS = {
    "revolute": mb.RevoluteJoint,
    "helical": lambda name, axis: mb.HelicalJoint(name, pitch=0.1, axis=axis),
    "cylindrical": mb.CylindricalJoint,
    "planar": mb.PlanarJoint,
    "constant velocity": mb.ConstantVelocityJoint,
}

AXES = [*np.eye(3), *-np.eye(3)]
BETWEEN = [(1, 1, 0), (-1, 2, 0), (1, 0, 1e-3), (-1, 0, -1e-3), (1, 0, -1e-9), (3, 1, 1e-12)]

#: Where the axis lies in the ring.
FIXED = np.array([0.6, 0.0, 0.8])

BY = "joints.last.axis"


def ring(kind, axis, coordinates):
    """Return a ring closed by a joint with this axis in frames that are turned as it needs.

    The same mechanism for all axes, with its state; and the turn (3, 3) of the frames.
    """
    turn = np.eye(4)
    turn[:3, :3] = frame_along(FIXED) @ frame_along(axis).T
    mech, q = closed_chain(last=KINDS[kind]("last", axis=axis), turn=turn)
    relative = mech.assemble(mb.RelativeCoordinates(loop_joints=["last"]))
    v = consistent(relative, q, np.linspace(-1.0, 1.0, relative.nv))
    if coordinates == "relative":
        return relative, (q, v), turn[:3, :3]
    system = mech.assemble(mb.AbsoluteCoordinates())
    return system, system.state_of(relative, q, v), turn[:3, :3]


def by_axis(system, state):
    return system.derivatives("forward_dynamics", *state, by=(BY,))


def check_axis(kind, axis, coordinates, tolerance):
    """Compare derivatives of accelerations with those in frames that are not turned."""
    unit = np.array(axis) / np.linalg.norm(axis)
    expected = by_axis(*ring(kind, FIXED, coordinates)[:2])[BY]
    system, state, turn = ring(kind, unit, coordinates)
    found = by_axis(system, state)[BY]
    size = np.abs(expected).max()
    assert size > 1.0
    np.testing.assert_allclose(found, expected @ turn, rtol=0.0, atol=tolerance * size)


@pytest.mark.some(12)
@pytest.mark.parametrize("axis", [*AXES, *BETWEEN], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_accelerations_do_not_depend_on_frames(kind, axis):
    check_axis(kind, axis, "relative", 1e-11)


@pytest.mark.some(3)
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_nor_in_absolute_coordinates(axis):
    """There they are differences of systems whose rows keep their frames."""
    check_axis("revolute", axis, "absolute", 1e-9)


@pytest.mark.some(9)
@pytest.mark.parametrize("coordinates", ["relative", "absolute"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_axis_along_x_against_other_axes(kind, coordinates):
    """Accelerations of systems with other axes have no jump, whichever frames these choose."""
    system, state, _ = ring(kind, np.eye(3)[0], coordinates)
    found = by_axis(system, state)[BY]

    def accelerations(e, unit):
        other = system.with_parameters({BY: np.eye(3)[0] + e * unit})
        return other.forward_dynamics(*state)

    columns = [derivative(lambda e, u=u: accelerations(e, u)) for u in np.eye(3)]
    size = np.abs(columns).max()
    np.testing.assert_allclose(found, np.transpose(columns), rtol=0.0, atol=1e-8 * size)


@pytest.mark.some(2)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_multipliers_continue_those_of_the_half_space(sign):
    """Along x frames on axes above continue the present one; those below are half a turn away."""
    system, state, _ = ring("revolute", np.array([sign, 0.0, 0.0]), "relative")
    found = by_axis(system, state).multipliers[BY]

    def multipliers(e):
        other = system.with_parameters({BY: [sign, 0.0, e]})
        return other.solve_dynamics(*state)[1]

    h = 2e-4  # six points on one side
    weights = np.array([-137.0, 300.0, -300.0, 200.0, -75.0, 12.0]) / 60.0
    expected = sum(w * multipliers(k * h) for k, w in enumerate(weights)) / h
    size = np.abs(expected).max()
    np.testing.assert_allclose(found[:, 2], expected, rtol=0.0, atol=1e-8 * size)
    below, above = multipliers(-1e-9), multipliers(0.0)
    flipped = np.sign(below * above)
    assert sorted(flipped) == [-1.0, -1.0, -1.0, -1.0, 1.0]
