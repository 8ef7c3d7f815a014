"""A planar five-bar linkage with more motors than it needs.

Two arms of two rods each hold a point in the plane, which has two freedoms. Motors sit in all four
joints of the arms: which efforts they make is not determined by the motion, and the least ones (in
the sum of their squares) come from the pseudoinverse of the motors' Jacobian. Run it:

    python examples/closed_loops/five_bar.py
"""

from __future__ import annotations

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

HALF_BASE, UPPER, LOWER = 0.15, 0.35, 0.45  # half the distance of the shoulders; rods [m]
POINT = np.array([0.05, 0.55])  # where the arms meet at the start [m]
GRAVITY = 9.81  # along -y [m/s^2]
MOTORS = "left shoulder", "left elbow", "right shoulder", "right elbow"


def rod(length: float) -> mb.SpatialInertia:
    """Return the inertia of a rod along x, of 2 kg/m."""
    return mb.SpatialInertia.box(2.0 * length, size=(length, 0.03, 0.03))


def directions(point: np.ndarray) -> np.ndarray:
    """Return the angles (4,) of the rods: left upper, left lower, right upper, right lower, in rad.

    Both arms are bent outwards; lower rods are directed to the `point` (2,) where they meet.
    """
    found = []
    for side in (-1.0, 1.0):
        reach = point - (side * HALF_BASE, 0.0)
        distance, bearing = np.hypot(*reach), np.arctan2(reach[1], reach[0])
        inside = np.arccos((UPPER**2 + distance**2 - LOWER**2) / (2 * UPPER * distance))
        beyond = np.arccos((LOWER**2 + distance**2 - UPPER**2) / (2 * LOWER * distance))
        found += [bearing - side * inside, bearing + side * beyond]
    return np.array(found)


def build() -> mb.Mechanism:
    """Return the linkage; the loop is closed where the two arms meet."""
    mech = mb.Mechanism("five-bar", gravity=(0.0, -GRAVITY, 0.0))
    angles = directions(POINT)
    for side, x, pair in (("left", -HALF_BASE, angles[:2]), ("right", HALF_BASE, angles[2:])):
        start, body = np.array([x, 0.0, 0.0]), "world"
        for name, joint, length, angle in zip(
            ("upper", "lower"), ("shoulder", "elbow"), (UPPER, LOWER), pair, strict=True
        ):
            end = start + length * np.array([np.cos(angle), np.sin(angle), 0.0])
            pose = translation(0.5 * (start + end)) @ rotation((0, 0, 1), angle)
            mech.add_body(mb.Body(f"{side} {name}", rod(length), pose))
            hinge = mb.RevoluteJoint(f"{side} {joint}", point=start)
            mech.add_joint(hinge, body, f"{side} {name}")
            start, body = end, f"{side} {name}"
    meeting = mb.RevoluteJoint("meeting", point=(*POINT, 0.0))
    mech.add_joint(meeting, "left lower", "right lower")
    return mech


#: Angles of the joints from those of the rods.
_RELATIVE = np.array([[1, 0, 0, 0], [-1, 1, 0, 0], [0, 0, 1, 0], [0, 0, -1, 1]])


def joint_angles(point: np.ndarray) -> np.ndarray:
    """Return the coordinates (4,) of the motors' joints, zero at the start, in rad."""
    return _RELATIVE @ (directions(point) - directions(POINT))


def rod_rates(point: np.ndarray) -> np.ndarray:
    """Return the derivative (4, 2) of the rods' angles by the point, in rad/m.

    The velocity of the point is w1 n1 + w2 n2, with the rates w of the two rods of an arm and their
    normals n, which are as long as they.
    """
    arms = directions(point).reshape(2, 2)
    lengths = np.array([UPPER, LOWER])
    normals = (lengths * np.array([-np.sin(arm), np.cos(arm)]) for arm in arms)
    return np.vstack([np.linalg.inv(each) for each in normals])


def holding_efforts(point: np.ndarray) -> np.ndarray:
    """Return the least efforts (4,) of the motors that hold the linkage at rest, in N m."""
    upper, lower = rod(UPPER).mass * GRAVITY, rod(LOWER).mass * GRAVITY
    levers = np.tile([UPPER * (upper / 2 + lower), LOWER * lower / 2], 2) * np.cos(
        directions(point)
    )
    slope = levers @ rod_rates(point)  # of the potential energy, by the point
    return np.linalg.pinv((_RELATIVE @ rod_rates(point)).T) @ slope


def main() -> None:
    """Hold the linkage with the least efforts, then let two motors do it."""
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # it is known here
    system = build().assemble()
    efforts = holding_efforts(POINT)
    print(f"{'effort of a motor [N m]':28}{'least':>12}{'shoulders':>12}")
    jacobian = _RELATIVE @ rod_rates(POINT)
    shoulders = np.zeros(4)
    shoulders[::2] = np.linalg.solve(jacobian[::2].T, jacobian.T @ efforts)
    for name, *values in zip(MOTORS, efforts, shoulders, strict=True):
        print(f"{name:28}" + "".join(f"{value:12.6f}" for value in values))
    print(f"{'sum of squares':28}{efforts @ efforts:12.6f}{shoulders @ shoulders:12.6f}")
    for what, tau in (("the least efforts", efforts), ("the shoulders' alone", shoulders)):
        run = mb.simulate(system, (0.0, 0.2), 1e-3, tau=tau, progress=False)
        print(f"With {what} it moves by {np.abs(run.q).max():.1e} rad in 0.2 s.")


if __name__ == "__main__":
    main()
