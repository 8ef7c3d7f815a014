"""A seven-joint arm, from a model file to a picture.

The Franka Emika Panda with its published parameters (see models/panda.toml) is loaded, held against
gravity, let go, and moved along a path. Run it:

    python examples/seven_joint_arm.py
    python examples/seven_joint_arm.py --output /tmp/arm

It writes seven_joint_arm.nc and seven_joint_arm.png to the folder, "results" if none is given.
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np

import mbkit as mb

MODEL = pathlib.Path(__file__).parent / "models" / "panda.toml"

#: The pose in which the arm waits for work: elbow bent, flange pointing down. [rad]
READY = np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4])


def describe(mechanism: mb.Mechanism, system: mb.System) -> None:
    """Print what was loaded, and where the flange is."""
    print(f"{MODEL.name}: {len(mechanism.bodies)} bodies, {len(mechanism.joints)} joints, "
          f"{system.nv} degrees of freedom, {system.mass:.1f} kg")  # fmt: skip
    for name, edge in mechanism.joints.items():
        mass = mechanism.bodies[edge.successor].inertia.mass
        kind = type(edge.joint).__name__
        print(f"  {name:7} {kind:14} {edge.predecessor:>6} -> {edge.successor:7} {mass:6.3f} kg")
    flange = system.poses(READY)[system.body_index("flange")]
    x, y, z = flange[:3, 3]
    print(f"In the ready pose the flange is at ({x:.3f}, {y:.3f}, {z:.3f}) m.\n")


def hold(system: mb.System) -> None:
    """Print what the motors must give to stand still: the bias force at rest."""
    gravity = system.bias_force(READY, np.zeros(system.nv))
    print("Torques that hold it there, in N m:")
    print("  " + "  ".join(f"{torque:6.2f}" for torque in gravity) + "\n")


def let_go(system: mb.System) -> mb.Result:
    """Swing without motors and friction: nothing but the method may change the energy."""
    print("Two seconds of free swing with Runge-Kutta-Munthe-Kaas of order 4:")
    drifts = []
    for h in (1e-3, 5e-4):
        run = mb.simulate(system, t_span=(0.0, 2.0), h=h, q=READY)
        peak = run.kinetic_energy.max()
        drifts.append(np.abs(run.energy_drift).max() / peak)
        print(f"  h = {1e3 * h:.1f} ms: energy kept to {drifts[-1]:.1e} of the peak, {peak:.0f} J")
    print(f"  half the step, {drifts[0] / drifts[1]:.0f} times less drift: "
          f"order {np.log2(drifts[0] / drifts[1]):.1f}")  # fmt: skip
    steps, wall = run.options["steps"], run.options["wall_time"]
    print(f"  {steps} steps in {1e3 * wall:.0f} ms, {2.0 / wall:.0f} times faster than the arm\n")
    return run


def move(system: mb.System) -> None:
    """Follow a path by computed torque, with a Python function for the motors.

    Inverse dynamics gives the torques for an acceleration. Asked for the path's acceleration plus
    what corrects the error e, it leaves e'' + 20 e' + 100 e = 0 of the arm: an error of 0.1 rad
    at the start is gone after a second.
    """
    target = READY + np.array([0.8, 0.5, -0.4, 0.6, 0.3, 0.4, -0.5])
    duration = 2.0

    def path(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        s = t / duration  # 10 s^3 - 15 s^4 + 6 s^5: at rest at both ends
        step = target - READY
        q = READY + step * (10 * s**3 - 15 * s**4 + 6 * s**5)
        v = step * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
        vdot = step * (60 * s - 180 * s**2 + 120 * s**3) / duration**2
        return q, v, vdot

    def motors(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        q_path, v_path, vdot_path = path(t)
        vdot = vdot_path + 20.0 * (v_path - v) + 100.0 * (q_path - q)
        return system.inverse_dynamics(q, v, vdot)

    run = mb.simulate(system, (0.0, duration), h=1e-3, q=READY + 0.1, tau=motors)
    errors = np.abs(run.q - [path(t)[0] for t in run.t]).max(axis=1)
    print(f"Two seconds of computed torque, motors in Python, {run.options['wall_time']:.2f} s:")
    for t in (0.0, 0.5, 1.0, 2.0):
        error = errors[np.searchsorted(run.t, t - 1e-9)]
        print(f"  t = {t:.1f} s: {error:.1e} rad from the path")
    print()


def main() -> None:
    """Run the parts one after the other, and write the results of the free swing."""
    parser = argparse.ArgumentParser(description="Simulate a seven-joint arm.")
    parser.add_argument(
        "--output", type=pathlib.Path, default=pathlib.Path("results"), help="folder to write to"
    )
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)

    mechanism = mb.load_model(MODEL)
    system = mechanism.assemble()
    describe(mechanism, system)
    hold(system)
    run = let_go(system)
    move(system)

    run.save(output / "seven_joint_arm.nc")
    run.plot(output / "seven_joint_arm.png")
    print(f"Wrote the free swing to {output}/seven_joint_arm.nc and {output}/seven_joint_arm.png.")


if __name__ == "__main__":
    main()
