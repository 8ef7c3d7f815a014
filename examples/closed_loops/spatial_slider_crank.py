"""A slider-crank in space, with a ball joint and a cross: a benchmark of the IFToMM library.

A crank turns about an axis that is not normal to the slider's way. The rod hangs on the crank by a
ball joint, which closes the loop with three rows, and on the slider by a universal joint. Run it:

    python examples/closed_loops/spatial_slider_crank.py
"""

from __future__ import annotations

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

CRANK, ROD = 0.08, 0.3  # lengths [m]
PIVOT = np.array([0.0, 0.1, 0.12])  # of the crank, which turns about x [m]
TIP = PIVOT + np.array([0.0, 0.0, CRANK])  # of the crank at the start [m]
SLIDER = np.array([np.sqrt(ROD**2 - TIP[1] ** 2 - TIP[2] ** 2), 0.0, 0.0])  # at the start [m]
SPEED = 6.0  # of the crank at the start [rad/s]

#: Where the slider is at t = 0.1 s [m], and the angle of the crank [rad].
AFTER_100_MS = {"slider": 0.22678718855292254, "crank": 0.5600314820931057}


def build() -> mb.Mechanism:
    """Return the mechanism, with the crank upright."""
    mech = mb.Mechanism("spatial slider-crank")
    along = (TIP - SLIDER) / ROD
    aside = np.cross(
        (1, 0, 0), along
    )  # axis of the cross in the rod; the other is the slider's way
    crank = mb.SpatialInertia.from_com(0.12, (0, 0, 0), np.diag([1e-4, 1e-5, 1e-4]))
    slim = 4e-4 * np.outer(along, along) + 4e-3 * (np.eye(3) - np.outer(along, along))
    rod = mb.SpatialInertia.from_com(0.5, (0, 0, 0), slim)
    slider = mb.SpatialInertia.from_com(2.0, (0, 0, 0), 1e-4 * np.eye(3))  # it does not turn
    mech.add_body(mb.Body("crank", crank, translation(0.5 * (PIVOT + TIP))))
    mech.add_body(mb.Body("slider", slider, translation(SLIDER)))
    mech.add_body(mb.Body("rod", rod, translation(0.5 * (SLIDER + TIP))))
    mech.add_joint(mb.RevoluteJoint("pivot", axis=(1, 0, 0), point=PIVOT), "world", "crank")
    mech.add_joint(mb.PrismaticJoint("guide", axis=(1, 0, 0)), "world", "slider")
    mech.add_joint(mb.UniversalJoint("cross", (1, 0, 0), aside, SLIDER), "slider", "rod")
    mech.add_joint(mb.SphericalJoint("ball", point=TIP), "crank", "rod")
    return mech


def initial_velocity(system: mb.System) -> np.ndarray:
    """Return the velocity at which the crank turns by `SPEED`."""
    rod = TIP - SLIDER
    aside = np.cross((1, 0, 0), rod) / np.hypot(*rod[1:])
    # x v + (w1 x + w2 aside) x rod = the velocity of the crank's tip
    columns = [(1, 0, 0), np.cross((1, 0, 0), rod), np.cross(aside, rod)]
    tip = SPEED * np.cross((1, 0, 0), TIP - PIVOT)
    guide, *cross = np.linalg.solve(np.column_stack(columns), tip)
    ball = (cross[0] - SPEED, *cross[1] * aside[1:])  # spin of the rod relative to the crank
    rates = {"pivot": SPEED, "guide": guide, "cross": cross, "ball": ball}
    v = np.zeros(system.nv)
    for name, rate in rates.items():
        if name not in system.loop_joints:
            v[system.velocity_slice(name)] = rate
    return v


def main() -> None:
    """Turn the crank for a tenth of a second."""
    system = build().assemble()
    run = mb.simulate(system, (0.0, 0.1), 1e-4, v=initial_velocity(system), progress=False)
    slider = SLIDER[0] + run.q[-1, system.position_slice("guide")][0]
    crank = run.q[-1, system.position_slice("pivot")][0]
    rows = {"place of the slider [m]": (slider, "slider"), "angle of the crank": (crank, "crank")}
    print(f"{'t = 0.1 s':28}{'mbkit':>16}{'reference':>16}{'difference':>12}")
    for what, (found, name) in rows.items():
        exact = AFTER_100_MS[name]
        print(f"{what:28}{found:16.12f}{exact:16.12f}{found - exact:12.1e}")
    drift = np.abs(run.energy_drift).max() / run.kinetic_energy.max()
    print(f"Energy is kept to {drift:.1e} of the peak of the kinetic energy.")


if __name__ == "__main__":
    main()
