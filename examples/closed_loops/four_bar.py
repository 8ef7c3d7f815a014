"""A four-bar linkage of four revolute joints in space.

Each joint constrains all it can: three of the five rows of the joint that closes the loop say
nothing that the other joints do not say already. The crank turns all around. Run it:

    python examples/closed_loops/four_bar.py
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

import mbkit as mb
from mbkit.spatial import rotation, translation

#: Lengths of the frame and the rods; the shortest rod can turn all around. [m]
GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.4, 0.9, 0.7
#: Angle of the crank at the start, and its rate. [rad], [rad/s]
START, RATE = np.pi / 3, 6.0


def corners(crank: float) -> np.ndarray:
    """Return the points A, B, C, D (4, 2) of the linkage from the angle of its crank."""
    A, D = np.zeros(2), np.array([GROUND, 0.0])
    B = CRANK * np.array([np.cos(crank), np.sin(crank)])
    span = D - B
    distance = np.hypot(*span)
    along = (COUPLER**2 - ROCKER**2 + distance**2) / (2.0 * distance)
    aside = np.sqrt(COUPLER**2 - along**2)
    C = B + (along * span + aside * np.array([-span[1], span[0]])) / distance
    return np.array([A, B, C, D])


def build(
    place: ArrayLike = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
) -> mb.Mechanism:
    """Return the linkage in the x, y plane of `place`, a pose in the world; gravity is along -y."""
    place = np.array(place, dtype=float)
    mech = mb.Mechanism("four-bar", gravity=place[:3, :3] @ (0.0, -9.81, 0.0))
    points = corners(START)
    ends = {"crank": points[:2], "coupler": points[1:3], "rocker": points[3:1:-1]}
    for name, (start, end) in ends.items():
        length, angle = np.hypot(*(end - start)), np.arctan2(*(end - start)[::-1])
        inertia = mb.SpatialInertia.box(length, size=(length, 0.02, 0.02))  # 1 kg/m
        pose = translation([*0.5 * (start + end), 0.0]) @ rotation((0, 0, 1), angle)
        mech.add_body(mb.Body(name, inertia, place @ pose))
    joints = {
        "A": ("world", "crank"), "B": ("crank", "coupler"),
        "C": ("coupler", "rocker"), "D": ("world", "rocker"),
    }  # fmt: skip
    for (name, bodies), point in zip(joints.items(), points, strict=True):
        there = place @ [*point, 0.0, 1.0]
        mech.add_joint(mb.RevoluteJoint(name, axis=place[:3, 2], point=there[:3]), *bodies)
    return mech


def initial_velocity(system: mb.System, rate: float = RATE) -> np.ndarray:
    """Return the velocity at which the crank turns by `rate` at the start."""
    A, B, C, D = corners(START)
    sides = np.column_stack([B - A, C - B, D - C])  # w1 (B - A) + w2 (C - B) + w3 (D - C) = 0
    coupler, rocker = np.linalg.solve(sides[:, 1:], -rate * sides[:, 0])
    rates = {"A": rate, "B": coupler - rate, "C": rocker - coupler, "D": rocker}
    v = np.zeros(system.nv)
    for name, value in rates.items():
        if name not in system.loop_joints:
            v[system.velocity_slice(name)] = value
    return v


def main() -> None:
    """Turn the crank, and compare with the angles of a planar linkage."""
    system = build().assemble()  # joint C closes the loop
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = mb.simulate(system, (0.0, 2.0), 1e-3, v=initial_velocity(system), progress=False)
    print(caught[0].message, end="\n\n")
    crank, coupler, rocker = (run.q[-1, system.position_slice(name)][0] for name in "ABD")
    _, B, C, D = corners(START + crank)
    _, B0, C0, D0 = corners(START)
    expected = {
        "angle of the coupler [rad]": (crank + coupler, _turn(C0 - B0, C - B)),
        "angle of the rocker [rad]": (rocker, _turn(C0 - D0, C - D)),
    }
    print(f"After {run.t[-1]:g} s the crank has turned by {crank:.9f} rad.")
    print(f"{'':28}{'mbkit':>16}{'planar':>16}{'difference':>12}")
    for what, (found, exact) in expected.items():
        print(f"{what:28}{found:16.12f}{exact:16.12f}{found - exact:12.1e}")
    drift = np.abs(run.energy_drift).max() / run.kinetic_energy.max()
    print(f"Energy is kept to {drift:.1e} of the peak of the kinetic energy.")


def _turn(old: np.ndarray, new: np.ndarray) -> float:
    """Return the angle from one direction of the plane to another, within half a turn."""
    return float(np.arctan2(old[0] * new[1] - old[1] * new[0], old @ new))


if __name__ == "__main__":
    main()
