"""A parallelogram linkage, driven through its change points.

Twice a turn all four rods lie in one line. There the crank and the follower could part: the
closure has one rank less, for as long as an instant. The linkage lies flat, without gravity, and a
motor turns the crank with a constant torque M: all is known, since (J_crank + J_follower + m L^2)
theta'' = M. Run it:

    python examples/closed_loops/parallelogram.py
"""

from __future__ import annotations

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

SHORT, LONG = 0.5, 1.2  # crank and follower; coupler and frame [m]
START = np.pi / 2  # angle of the crank at the start [rad]
TORQUE = 0.6  # [N m]


def rod(length: float) -> mb.SpatialInertia:
    """Return the inertia of a rod along x, of 1 kg/m."""
    return mb.SpatialInertia.box(length, size=(length, 0.02, 0.02))


def build() -> mb.Mechanism:
    """Return the linkage in the x, y plane; angles of joints are zero at the start."""
    mech = mb.Mechanism("parallelogram", gravity=(0, 0, 0))
    up = SHORT * np.array([np.cos(START), np.sin(START), 0.0])
    A, D = np.zeros(3), np.array([LONG, 0.0, 0.0])
    turned = rotation((0, 0, 1), START)
    mech.add_body(mb.Body("crank", rod(SHORT), translation(A + up / 2) @ turned))
    mech.add_body(mb.Body("coupler", rod(LONG), translation(A + up + D / 2)))
    mech.add_body(mb.Body("follower", rod(SHORT), translation(D + up / 2) @ turned))
    mech.add_joint(mb.RevoluteJoint("A", point=A), "world", "crank")
    mech.add_joint(mb.RevoluteJoint("B", point=A + up), "crank", "coupler")
    mech.add_joint(mb.RevoluteJoint("C", point=D + up), "coupler", "follower")
    mech.add_joint(mb.RevoluteJoint("D", point=D), "world", "follower")
    mech.add_force(mb.JointEffort("motor", "A", effort=TORQUE))
    return mech


def exact_turn(t: np.ndarray) -> np.ndarray:
    """Return by how much the crank has turned at times t [s], from rest."""
    hinged = SHORT * SHORT**2 / 4 + rod(SHORT).moment_about_com[2, 2]
    return 0.5 * TORQUE / (2 * hinged + LONG * SHORT**2) * np.asarray(t) ** 2


def main() -> None:
    """Drive the crank twice around; compare with the exact motion."""
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # it is known here
    system = build().assemble()
    run = mb.simulate(system, (0.0, 4.5), 1e-3, save_every=100, progress=False)
    exact = float(exact_turn(run.t[-1]))
    signs = {"A": 1, "B": -1, "C": 1, "D": 1}
    print(f"{f't = {run.t[-1]:g} s':28}{'mbkit':>18}{'exact':>18}{'difference':>12}")
    for name in system.velocity_names:
        found, value = run.q[-1, system.position_slice(name)][0], signs[name] * exact
        print(
            f"{f'angle of joint {name} [rad]':28}{found:18.12f}{value:18.12f}{found - value:12.1e}"
        )


if __name__ == "__main__":
    main()
