"""A Stewart platform: six legs between a base and a platform.

Each leg stands on a universal joint, has a prismatic one in it, and carries the platform by a ball
joint. Springs in the legs let the platform bounce in its six directions. The lengths and angles of
the legs follow from the pose of the platform in closed form (`leg_coordinates`); the other way
round there is no such formula. Run it:

    python examples/closed_loops/stewart_platform.py
"""

from __future__ import annotations

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

HEIGHT = 1.0  # of the platform at the start [m]
#: Where the legs stand on the base and on the platform, at the start, (6, 3). [m]
FEET, BALLS = (
    np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(6, height)])
    for radius, height, angles in (
        (1.0, 0.0, np.radians([-10, 10, 110, 130, 230, 250])),
        (0.6, HEIGHT, np.radians([-50, 50, 70, 170, 190, 290])),
    )
)
#: Directions of the legs, and of the axes of their crosses: fixed in the base, fixed in the leg.
LEGS = (BALLS - FEET) / np.linalg.norm(BALLS - FEET, axis=1)[:, None]
FIRST = np.cross((0, 0, 1), LEGS) / np.linalg.norm(np.cross((0, 0, 1), LEGS), axis=1)[:, None]
SECOND = np.cross(LEGS, FIRST)

LOWER = mb.SpatialInertia.cylinder(2.0, radius=0.03, length=0.5)  # both along their z axes
UPPER = mb.SpatialInertia.cylinder(1.0, radius=0.02, length=0.6)
PLATFORM = mb.SpatialInertia.cylinder(20.0, radius=0.6, length=0.05)
STIFFNESS = np.linspace(1.5e4, 2.5e4, 6)  # of the springs in the legs [N/m]


def build() -> mb.Mechanism:
    """Return the platform with its legs leg1 to leg6, without springs."""
    mech = mb.Mechanism("Stewart platform")
    mech.add_body(mb.Body("platform", PLATFORM, translation((0, 0, HEIGHT))))
    for k in range(6):
        turned = np.eye(4)
        turned[:3, :3] = np.column_stack([FIRST[k], SECOND[k], LEGS[k]])
        lower, upper = f"lower{k + 1}", f"upper{k + 1}"
        mech.add_body(mb.Body(lower, LOWER, translation(FEET[k] + 0.25 * LEGS[k]) @ turned))
        mech.add_body(mb.Body(upper, UPPER, translation(BALLS[k] - 0.3 * LEGS[k]) @ turned))
        foot = mb.UniversalJoint(f"foot{k + 1}", FIRST[k], SECOND[k], FEET[k])
        mech.add_joint(foot, "world", lower)
        mech.add_joint(mb.PrismaticJoint(f"leg{k + 1}", axis=LEGS[k]), lower, upper)
        ball = mb.SphericalJoint(f"ball{k + 1}", point=BALLS[k])
        mech.add_joint(ball, upper, "platform")
    return mech


def springs() -> list[mb.JointSpring]:
    """Return springs for the legs that are free of force at the start."""
    return [
        mb.JointSpring(f"spring{k}", f"leg{k}", stiffness=stiffness)
        for k, stiffness in enumerate(STIFFNESS, 1)
    ]


def leg_coordinates(pose: np.ndarray) -> np.ndarray:
    """Return the coordinates (6, 3) of foot (two angles) and leg (change of length).

    Parameters
    ----------
    pose : ndarray, shape (4, 4)
        Of the platform, in the world.

    Notes
    -----
    By its angles a, b the cross turns the leg to sin(b) e1 + cos(b) (cos(a) u0 - sin(a) e2), with
    its axes e1, e2 and the direction u0 of the leg at the start.
    """
    legs = (BALLS - (0, 0, HEIGHT)) @ pose[:3, :3].T + pose[:3, 3] - FEET
    along, first, second = (np.sum(legs * axes, axis=1) for axes in (LEGS, FIRST, SECOND))
    lengths = np.linalg.norm(legs, axis=1)
    change = lengths - np.linalg.norm(BALLS - FEET, axis=1)
    return np.column_stack([np.arctan2(-second, along), np.arcsin(first / lengths), change])


def main() -> None:
    """Let the platform go on its springs."""
    mech = build()
    for spring in springs():
        mech.add_force(spring)
    system = mech.assemble()
    run = mb.simulate(system, (0.0, 0.5), 1e-3, progress=False)
    q = run.q[-1]
    platform = system.poses(q)[system.body_index("platform")]
    x, y, z = platform[:3, 3]
    print(f"After {run.t[-1]:g} s the platform is at ({x:.6f}, {y:.6f}, {z:.6f}) m.")
    print(f"{'change of length [m]':28}{'mbkit':>16}{'closed form':>16}{'difference':>12}")
    for k, exact in enumerate(leg_coordinates(platform)[:, 2], 1):
        found = q[system.position_slice(f"leg{k}")][0]
        print(f"{f'leg {k}':28}{found:16.12f}{exact:16.12f}{found - exact:12.1e}")
    drift = np.abs(run.energy_drift).max() / run.kinetic_energy.max()
    print(f"Energy is kept to {drift:.1e} of the peak of the kinetic energy.")


if __name__ == "__main__":
    main()
