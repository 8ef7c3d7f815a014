"""A stiff flyball governor: benchmark A05 of the IFToMM library.

Two arms with balls swing on a spinning shaft; stiff springs with dampers join them to a sleeve
that slides on the shaft. The loops are closed by forces here, not by joints, and what that costs
is seen in the step: a rate of 8117 1/s limits it to 3.4e-4 s for an explicit method of order 4,
however slow the motion is. Run it:

    python examples/closed_loops/flyball_governor.py
"""

from __future__ import annotations

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

DENSITY, BALL = 3000.0, 5.0  # [kg/m^3], [kg]
LENGTH, WIDTH, SLEEVE = 1.0, 0.01, 0.1  # rods and shaft, and the cube that slides [m]
HINGE = 0.05  # of the arms, from the axis [m]
STIFFNESS, DAMPING, REST_LENGTH = 8e5, 4e4, 0.5  # [N/m], [N s/m], [m]
DROOP = np.pi / 6  # of the arms at the start, below the horizontal [rad]
HEIGHT = 0.5  # of the sleeve at the start [m]
SPIN = 2.0 * np.pi  # of the shaft at the start [rad/s]

#: Height of the sleeve at t = 0.5 s. [m]
HEIGHT_AFTER_500_MS = 0.7432494247863245


def build() -> mb.Mechanism:
    """Return the governor; the angles of both arms grow downwards."""
    mech = mb.Mechanism("flyball governor")
    rod = mb.SpatialInertia.box(density=DENSITY, size=(LENGTH, WIDTH, WIDTH))
    shaft = mb.SpatialInertia.box(density=DENSITY, size=(WIDTH, WIDTH, LENGTH))
    sleeve = mb.SpatialInertia.box(density=DENSITY, size=(SLEEVE,) * 3)
    ball = mb.SpatialInertia.from_com(BALL, (LENGTH / 2, 0, 0))
    mech.add_body(mb.Body("shaft", shaft, translation((0, 0, LENGTH / 2))))
    mech.add_body(mb.Body("sleeve", sleeve, translation((0, 0, HEIGHT))))
    mech.add_joint(mb.RevoluteJoint("spin"), "world", "shaft")
    mech.add_joint(mb.PrismaticJoint("slide"), "shaft", "sleeve")
    for name, side in (("right", 1.0), ("left", -1.0)):
        hinge = np.array([side * HINGE, 0.0, LENGTH])
        direction = np.pi * (side < 0) + side * DROOP  # about y: from x downwards
        pose = translation(hinge) @ rotation((0, 1, 0), direction) @ translation((LENGTH / 2, 0, 0))
        mech.add_body(mb.Body(f"{name} arm", rod + ball, pose))
        joint = mb.RevoluteJoint(name, axis=(0, side, 0), point=hinge)
        mech.add_joint(joint, "shaft", f"{name} arm")
        spring = mb.SpringDamper(
            f"{name} spring", "sleeve", f"{name} arm", stiffness=STIFFNESS, damping=DAMPING,
            rest_length=REST_LENGTH, point_a=(side * HINGE, 0, 0),
        )  # fmt: skip
        mech.add_force(spring)
    return mech


def initial_velocity(system: mb.System) -> np.ndarray:
    """Return the velocity at the start, at which all spins with the shaft."""
    v = np.zeros(system.nv)
    v[system.velocity_slice("spin")] = SPIN
    return v


def main() -> None:
    """Spin for half a second: the balls rise and pull the sleeve up."""
    system = build().assemble()
    v = initial_velocity(system)
    run = mb.simulate(system, (0.0, 0.5), 2e-4, v=v, save_every=100, progress=False)
    found = HEIGHT + run.q[-1, system.position_slice("slide")][0]
    print(f"{'t = 0.5 s':28}{'mbkit':>16}{'reference':>16}{'difference':>12}")
    what, exact = "height of the sleeve [m]", HEIGHT_AFTER_500_MS
    print(f"{what:28}{found:16.12f}{exact:16.12f}{found - exact:12.1e}")
    momenta = [system.momentum(q, v)[2] for q, v in ((run.q[0], run.v[0]), (run.q[-1], run.v[-1]))]
    what, (before, after) = "angular momentum [kg m^2/s]", momenta
    print(f"{what:28}{after:16.9f}{before:16.9f}{after - before:12.1e}")


if __name__ == "__main__":
    main()
