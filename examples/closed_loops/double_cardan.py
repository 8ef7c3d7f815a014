"""Two double Cardan shafts in parallel between the same two shafts.

An inclined shaft joins two parallel ones by a cross at either end; with equal bends and yokes in
phase the turn of the input arrives unchanged at the output. Here a hollow shaft does the same
around a slim one, with crosses at the same two points:

                         o======= output
                        //
                       //  slim and hollow shaft
                      //
        input =======o

Both move together with one freedom, although the count of Gruebler and Kutzbach is -2. The yokes
of the hollow shaft are a quarter turn ahead: where the slim shaft runs fastest, the hollow one
runs slowest, by tan(b) = tan(a) cos(bend) and tan(b) = tan(a) / cos(bend). Run it:

    python examples/closed_loops/double_cardan.py
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.integrate import quad

import mbkit as mb
from mbkit.spatial import rotation, translation

BEND = np.radians(35.0)  # between the inclined shafts and the others [rad]
INCLINED = 0.5  # distance of the crosses [m]
SPEED = 5.0  # of the input shaft at the start [rad/s]

X, Y, Z = np.eye(3)
NEAR, FAR = np.zeros(3), INCLINED * np.array([np.cos(BEND), np.sin(BEND), 0.0])
ALONG = FAR / INCLINED  # direction of the inclined shafts; the others point along x

#: What turns, each about its own z axis.
INERTIAS = {
    "input": mb.SpatialInertia.cylinder(1.0, radius=0.08, length=0.05),
    "slim": mb.SpatialInertia.cylinder(2.0, radius=0.05, length=0.4),
    "hollow": mb.SpatialInertia.cylinder(1.5, radius=0.1, length=0.3),
    "output": mb.SpatialInertia.cylinder(0.5, radius=0.1, length=0.02),
}


def build() -> mb.Mechanism:
    """Return the mechanism; all angles are zero at the start."""
    mech = mb.Mechanism("double Cardan shafts in parallel", gravity=(0, 0, 0))
    z_to_x = rotation(Y, np.pi / 2)
    inclined = translation(FAR / 2) @ rotation(Z, BEND) @ z_to_x
    poses = {
        "input": translation(NEAR - 0.2 * X) @ z_to_x,
        "slim": inclined,
        "hollow": inclined,
        "output": translation(FAR + 0.2 * X) @ z_to_x,
    }
    for name, pose in poses.items():
        mech.add_body(mb.Body(name, INERTIAS[name], pose))
    mech.add_joint(mb.RevoluteJoint("drive", axis=X, point=NEAR), "world", "input")
    across = np.cross(Z, ALONG)
    for shaft, fork, cross in (("slim", Z, across), ("hollow", Y, Z)):
        first = mb.UniversalJoint(f"{shaft} at input", fork, cross, NEAR)
        mech.add_joint(first, "input", shaft)
        second = mb.UniversalJoint(f"{shaft} at output", cross, fork, FAR)
        mech.add_joint(second, shaft, "output")
    mech.add_joint(mb.RevoluteJoint("driven", axis=X, point=FAR), "world", "output")
    return mech


def initial_velocity(system: mb.System) -> np.ndarray:
    """Return the velocity at which the input turns by `SPEED`.

    A cross between the turning shafts d1 and d2 has w2 d2 - w1 d1 = q1' axis1 + q2' axis2.
    """
    across = np.cross(Z, ALONG)
    speed = {"slim": SPEED * np.cos(BEND), "hollow": SPEED / np.cos(BEND)}
    rates = {"drive": SPEED, "driven": SPEED}
    for shaft, fork, cross in (("slim", Z, across), ("hollow", Y, Z)):
        spin = speed[shaft] * ALONG - SPEED * X
        axes = np.column_stack([fork, cross])
        there = np.linalg.lstsq(axes, spin, rcond=None)[0]
        rates |= {f"{shaft} at input": there, f"{shaft} at output": -there[::-1]}
    v = np.zeros(system.nv)
    for name, rate in rates.items():
        if name not in system.loop_joints:
            v[system.velocity_slice(name)] = rate
    return v


def shaft_angle(shaft: str, a: float) -> float:
    """Return the angle b of an inclined shaft where the input has turned by a.

    tan(b) = r tan(a) with r = cos(bend) for the slim shaft, 1 / cos(bend) for the hollow one; here
    written for b - a, which stays within a quarter turn.
    """
    ratio = np.cos(BEND) if shaft == "slim" else 1.0 / np.cos(BEND)
    sine, cosine = np.sin(a), np.cos(a)
    return a + float(np.arctan2((ratio - 1.0) * sine * cosine, cosine**2 + ratio * sine**2))


def time_of(a: float) -> float:
    """Return when the input has turned by a, in s: the kinetic energy is kept."""
    J = {name: inertia.moment_about_com[2, 2] for name, inertia in INERTIAS.items()}

    def seen_from_input(a: float) -> float:
        ratio = np.cos(BEND)
        slim = ratio / (np.cos(a) ** 2 + (ratio * np.sin(a)) ** 2)
        hollow = ratio / ((ratio * np.cos(a)) ** 2 + np.sin(a) ** 2)
        return float(J["input"] + J["output"] + J["slim"] * slim**2 + J["hollow"] * hollow**2)

    def slowness(a: float) -> float:
        return float(np.sqrt(seen_from_input(a) / seen_from_input(0.0)) / SPEED)

    return float(quad(slowness, 0.0, a, epsabs=1e-13, epsrel=1e-13, limit=200)[0])


def main() -> None:
    """Turn the shafts for a second; compare angles and time with formulas."""
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # it is known here
    system = build().assemble()
    run = mb.simulate(system, (0.0, 1.0), 1e-3, v=initial_velocity(system), progress=False)
    a, out = (run.q[-1, system.position_slice(name)][0] for name in ("drive", "driven"))
    poses = system.poses(run.q[-1])
    rows = [("output [rad]", out, a)]
    for shaft in ("slim", "hollow"):
        found = _turn(build().bodies[shaft].pose, poses[system.body_index(shaft)])
        exact = shaft_angle(shaft, a)
        rows.append((f"{shaft} shaft [rad]", found, np.arctan2(np.sin(exact), np.cos(exact))))
    rows.append(("time [s]", run.t[-1], time_of(a)))
    print(f"{f'where the input is at {a:.6f}':30}{'mbkit':>16}{'formula':>16}{'difference':>12}")
    for what, found, exact in rows:
        print(f"{what:30}{found:16.12f}{exact:16.12f}{found - exact:12.1e}")


def _turn(before: np.ndarray, after: np.ndarray) -> float:
    """Return the angle about the body's z axis between two poses, within half a turn."""
    R = before[:3, :3].T @ after[:3, :3]
    return float(np.arctan2(R[1, 0], R[0, 0]))


if __name__ == "__main__":
    main()
