"""A row of N four-bar linkages: benchmark A02 of the IFToMM library.

N + 1 upright rods on the ground are joined by N level ones at their tips. All rods have the same
length, so that the mechanism is singular where they lie level, and each window could fold its own
way there; it passes that posture eight times in eight seconds. The motion is known exactly: see

    M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, A benchmarking system for MBS simulation
    software, Multibody System Dynamics 16 (2006), 179-190,

for the problem, and `exact_angle` for its solution. Run it:

    python examples/closed_loops/n_four_bar.py
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy.special import ellipj, ellipk

import mbkit as mb
from mbkit.spatial import rotation, translation

LENGTH, MASS, GRAVITY = 1.0, 1.0, 9.81  # [m], [kg], [m/s^2]
#: Rate of the upright rods at the start. [rad/s]
RATE = 1.0

_ROD = mb.SpatialInertia.from_com(
    MASS, (0, 0, 0), np.diag([0.0, 1.0, 1.0]) * MASS * LENGTH**2 / 12.0
)


def build(windows: int) -> mb.Mechanism:
    """Return the mechanism; the angles of the joints on the ground are those of the rods."""
    mech = mb.Mechanism(f"{windows}-four-bar", gravity=(0.0, -GRAVITY, 0.0))
    upright = rotation((0, 0, 1), np.pi / 2)
    clockwise = (0, 0, -1)

    def pin(name: str, x: float, y: float, predecessor: str, successor: str) -> None:
        mech.add_joint(mb.RevoluteJoint(name, clockwise, (x, y, 0)), predecessor, successor)

    for i in range(windows + 1):
        x = i * LENGTH
        mech.add_body(mb.Body(f"rod{i}", _ROD, translation((x, LENGTH / 2, 0)) @ upright))
        pin(f"ground{i}", x, 0.0, "world", f"rod{i}")
        if i > 0:
            bar = mech.add_body(mb.Body(f"bar{i}", _ROD, translation((x - LENGTH / 2, LENGTH, 0))))
            pin(f"left{i}", x - LENGTH, LENGTH, f"rod{i - 1}", bar.name)
            pin(f"right{i}", x, LENGTH, bar.name, f"rod{i}")
    return mech


def initial_velocity(system: mb.System) -> np.ndarray:
    """Return the velocity at the start; the bars on top do not turn."""
    rates = {"ground": RATE, "left": -RATE, "right": RATE}
    v = np.zeros(system.nv)
    for k, name in enumerate(system.velocity_names):
        v[k] = rates[name.rstrip("0123456789")]
    return v


def exact_angle(windows: int, t: np.ndarray) -> np.ndarray:
    """Return the angle of the rods from the upright at times t [s].

    The rods have theta'' = kappa^2 sin(theta); with kappa^2 = 3 g / (2 L) (3 N + 1) / (4 N + 1),
    Omega^2 = theta'(0)^2 / 4 + kappa^2 and the modulus k = kappa / Omega it is
    theta = pi + 2 am(Omega t - K(k), k).
    """
    kappa2 = 1.5 * GRAVITY / LENGTH * (3 * windows + 1) / (4 * windows + 1)
    omega2 = RATE**2 / 4.0 + kappa2
    modulus2 = kappa2 / omega2
    amplitude = ellipj(np.sqrt(omega2) * np.asarray(t) - ellipk(modulus2), modulus2)[3]
    return np.pi + 2.0 * amplitude


def main() -> None:
    """Pass the singular posture several times; compare with the exact solution."""
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # it is known here
    parser = argparse.ArgumentParser(description="Simulate rows of four-bar linkages.")
    parser.add_argument("windows", nargs="*", type=int, default=[1, 10, 40])
    print(f"{'angle of the rods [rad]':28}{'mbkit':>16}{'exact':>16}{'difference':>12}")
    for windows in parser.parse_args().windows:
        system = build(windows).assemble()
        v = initial_velocity(system)
        run = mb.simulate(system, (0.0, 2.0), 1e-3, v=v, save_every=100, progress=False)
        found = run.q[-1, system.position_slice("ground0")][0]
        exact = float(exact_angle(windows, run.t[-1]))
        what = f"N = {windows}, t = {run.t[-1]:g} s"
        print(f"{what:28}{found:16.12f}{exact:16.12f}{found - exact:12.1e}")


if __name__ == "__main__":
    main()
