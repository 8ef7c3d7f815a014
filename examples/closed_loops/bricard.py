"""Bricard's mechanism: benchmark A04 of the IFToMM library.

Five rods and the ground make one loop of six revolute joints, along three edges of a cube and
three more. A loop of six joints in space is rigid in general. This one moves: five rows of its
closure have rank four in every posture, and no perturbation of the posture gives the fifth. Run
it:

    python examples/closed_loops/bricard.py
"""

from __future__ import annotations

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

#: Points of the six joints while the mechanism stands like the edges of a cube [m], and their axes.
POINTS = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))
#: Rods of one kilogram with a square section. [kg], [m]
MASS, LENGTH, WIDTH = 1.0, 1.0, 0.1

#: Where the third joint is at t = 1 s. [m]
THIRD_POINT_AFTER_1_S = (0.27448131926477504, -0.8867079387347057, -0.4623300026873609)


def build() -> mb.Mechanism:
    """Return the mechanism; the joints are joint1 to joint6 around the loop."""
    mech = mb.Mechanism("Bricard", gravity=(0.0, -9.81, 0.0))
    points = np.array(POINTS, dtype=float)
    for k in range(5):
        start, end = points[k], points[k + 1]
        size = np.where(end != start, LENGTH, WIDTH)
        inertia = mb.SpatialInertia.box(MASS, size=size)
        mech.add_body(mb.Body(f"rod{k + 1}", inertia, translation(0.5 * (start + end))))
    bodies = ("world", *mech.bodies, "world")
    for k, (point, axis) in enumerate(zip(points, AXES, strict=True)):
        joint = mb.RevoluteJoint(f"joint{k + 1}", axis=axis, point=point)
        mech.add_joint(joint, bodies[k], bodies[k + 1])
    return mech


def third_point(system: mb.System, q: np.ndarray) -> np.ndarray:
    """Return where the third joint is (..., 3), at the end of rod 2, for q (..., nq). [m]."""
    end = np.array([*np.array(POINTS[2]) - 0.5 * (np.array(POINTS[1]) + POINTS[2]), 1.0])
    return system.poses(q)[..., system.body_index("rod2"), :3, :] @ end


def main() -> None:
    """Let the mechanism fall for a second."""
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # it is known here
    system = build().assemble()
    run = mb.simulate(system, (0.0, 1.0), 1e-3, progress=False)
    found = third_point(system, run.q[-1])
    print(f"{'third joint at t = 1 s [m]':28}{'mbkit':>16}{'reference':>16}{'difference':>12}")
    for name, value, exact in zip("xyz", found, THIRD_POINT_AFTER_1_S, strict=True):
        print(f"{name:28}{value:16.12f}{exact:16.12f}{value - exact:12.1e}")
    drift = np.abs(run.energy_drift).max() / run.kinetic_energy.max()
    print(f"Energy is kept to {drift:.1e} of the peak of the kinetic energy.")


if __name__ == "__main__":
    main()
