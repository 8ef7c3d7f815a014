"""A delta robot: three arms move a platform that never turns.

Each arm is hinged to the base, and carries the platform by two parallel rods, each on a cross at
the arm and a ball joint at the platform (Clavel's robot has balls at both ends, about whose line
the rods could spin). Six ball joints hold the platform, of which five close loops. Run it:

    python examples/closed_loops/delta_robot.py
"""

from __future__ import annotations

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

#: Radii of the base and the platform, lengths of arm and rods, half the distance of two rods. [m]
BASE, PLATE, ARM, ROD, HALF = 0.2, 0.06, 0.3, 0.6, 0.05
START = np.radians(20.0)  # angle of the arms below the horizontal at the start [rad]
#: Directions of the three arms, seen from the middle, and of the hinges about which they swing.
OUT = np.array([(np.cos(a), np.sin(a), 0.0) for a in np.radians([0, 120, 240])])
HINGES = np.cross((0, 0, 1), OUT)
REACH = BASE + ARM * np.cos(START) - PLATE  # from the platform's edge to the elbow, level [m]
DEPTH = ARM * np.sin(START) + np.sqrt(ROD**2 - REACH**2)  # of the platform at the start [m]

ARM_INERTIA = mb.SpatialInertia.box(0.6, size=(ARM, 0.03, 0.02))  # along x
ROD_INERTIA = mb.SpatialInertia.cylinder(0.1, radius=0.005, length=ROD)  # along z
PLATE_INERTIA = mb.SpatialInertia.cylinder(0.8, radius=PLATE, length=0.02)
STIFFNESS = 15.0, 20.0, 25.0  # of the springs in the hinges [N m/rad]


def build() -> mb.Mechanism:
    """Return the robot, without motors; the angles of its hinges grow downwards."""
    mech = mb.Mechanism("delta robot")
    mech.add_body(mb.Body("platform", PLATE_INERTIA, translation((0, 0, -DEPTH))))
    for k, (out, hinge) in enumerate(zip(OUT, HINGES, strict=True), 1):
        along = np.cos(START) * out - np.sin(START) * np.array([0, 0, 1.0])
        elbow = BASE * out + ARM * along
        wrist = PLATE * out - np.array([0, 0, DEPTH])
        pose = translation(BASE * out + ARM / 2 * along)
        pose[:3, :3] = np.column_stack([along, hinge, np.cross(along, hinge)])
        mech.add_body(mb.Body(f"arm{k}", ARM_INERTIA, pose))
        mech.add_joint(
            mb.RevoluteJoint(f"hip{k}", axis=hinge, point=BASE * out), "world", f"arm{k}"
        )
        down = (wrist - elbow) / ROD
        second = np.cross(down, hinge)
        for side, shift in (("a", HALF * hinge), ("b", -HALF * hinge)):
            name = f"{k}{side}"
            pose = translation(0.5 * (elbow + wrist) + shift)
            pose[:3, :3] = np.column_stack([hinge, second, down])
            mech.add_body(mb.Body(f"rod{name}", ROD_INERTIA, pose))
            elbow_joint = mb.UniversalJoint(f"elbow{name}", hinge, second, elbow + shift)
            mech.add_joint(elbow_joint, f"arm{k}", f"rod{name}")
            wrist_joint = mb.SphericalJoint(f"wrist{name}", point=wrist + shift)
            mech.add_joint(wrist_joint, f"rod{name}", "platform")
    return mech


def springs() -> list[mb.JointSpring]:
    """Return springs for the hinges that are free of force at the start."""
    return [
        mb.JointSpring(f"spring{k}", f"hip{k}", stiffness=stiffness)
        for k, stiffness in enumerate(STIFFNESS, 1)
    ]


def hip_angles(place: np.ndarray) -> np.ndarray:
    """Return the angles (3,) of the arms below the horizontal from the place (3,) of the platform.

    Notes
    -----
    With the hip at (x, y, z) outwards, sideways and upwards of where the rods end, the elbow at
    the end of the arm a is as far from there as the rods are long, l:
    (x + a cos(q))^2 + y^2 + (z - a sin(q))^2 = l^2, an equation e cos(q) + f sin(q) = g. Of its
    two solutions that with the elbow outside is taken.
    """
    x = BASE - PLATE - OUT @ place
    y = HINGES @ place
    z = -place[2]
    e, f = 2.0 * ARM * x, -2.0 * ARM * z
    g = ROD**2 - ARM**2 - x**2 - y**2 - z**2
    return np.arctan2(f, e) + np.arccos(g / np.hypot(e, f))


def main() -> None:
    """Let the platform go on the springs of the hinges."""
    mech = build()
    for spring in springs():
        mech.add_force(spring)
    system = mech.assemble()
    run = mb.simulate(system, (0.0, 0.5), 1e-3, progress=False)
    platform = system.poses(run.q[-1])[system.body_index("platform")]
    x, y, z = platform[:3, 3]
    print(f"After {run.t[-1]:g} s the platform is at ({x:.6f}, {y:.6f}, {z:.6f}) m,")
    print(f"and has turned by {np.abs(platform[:3, :3] - np.eye(3)).max():.1e} rad.")
    print(f"{'angle of an arm [rad]':28}{'mbkit':>16}{'closed form':>16}{'difference':>12}")
    for k, exact in enumerate(hip_angles(platform[:3, 3]), 1):
        found = START + run.q[-1, system.position_slice(f"hip{k}")][0]
        print(f"{f'arm {k}':28}{found:16.12f}{exact:16.12f}{found - exact:12.1e}")
    drift = np.abs(run.energy_drift).max() / run.kinetic_energy.max()
    print(f"Energy is kept to {drift:.1e} of the peak of the kinetic energy.")


if __name__ == "__main__":
    main()
