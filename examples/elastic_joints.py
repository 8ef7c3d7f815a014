"""Computed torque of an arm with elastic joints, by the second rate of inverse dynamics.

Behind each joint of the arm sits a motor of inertia J at an angle r, and the gear between is a
spring of stiffness K:

    Q(q, v, vdot) = K (r - q),     J r'' + K (r - q) = u.

Differentiating the first equation twice gives r'' = vdot + Q''/K, and Q'' contains the fourth
derivative of q: the controller chooses it, by the desired motion and the errors of q and its first
three rates, and computes u. The error then follows a linear equation exactly, here with a fourfold
pole. Computed torque for stiff joints, with the same motors, does not know of the springs.
Source: Mueller 2018, section 6.3; de Luca 1988 for the feedback. Run it:

    python examples/elastic_joints.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import mbkit as mb

#: Stiffness of the gears [N m/rad], inertia of the motors at the arm [kg m^2].
STIFFNESS = np.array([2000.0, 2000.0, 800.0])
MOTORS = np.array([1.0, 1.0, 0.3])
#: Fourfold pole of the error [1/s]; and that of stiff computed torque, twofold.
POLE = 15.0
#: Start of the tracking error [rad], duration [s].
START, DURATION = np.array([0.02, -0.02, 0.03]), 1.5


def arm() -> mb.System:
    """Return an arm with a vertical axis and two horizontal ones, and friction in the joints."""
    mech = mb.Mechanism("arm")
    inner, height = mech.world, 0.0
    for k, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0)]):
        size, mass = (0.5, 8.0 / (k + 1))
        box = mb.SpatialInertia.box(mass, size=(0.1, 0.1, size)).transformed(
            mb.spatial.translation((0.02, 0.01, 0.5 * size))
        )
        link = mech.add_body(mb.Body(f"link{k + 1}", box))
        place = mb.spatial.translation((0, 0, height))
        mech.add_joint(mb.RevoluteJoint(f"joint{k + 1}", axis), inner, link, reference=place)
        mech.add_force(mb.JointDamper(f"damper{k + 1}", f"joint{k + 1}", damping=2.0))
        inner, height = link, size
    return mech.assemble()


def desired(t: float) -> Any:
    """Return the desired q and its first four rates, (5, 3): a motion of three frequencies."""
    sizes, w = np.array([0.6, 0.4, 0.7]), np.array([3.0, 4.0, 5.0])
    phases = w * t + np.arange(5)[:, None] * np.pi / 2
    motion: Any = sizes * w ** np.arange(5)[:, None] * np.sin(phases)
    motion[0] += (0.0, 0.3, 0.8)
    return motion


def rates(system: mb.System, q: Any, v: Any, r: Any, s: Any) -> tuple[Any, Any]:
    """Return vdot and vddot of the arm from the state of its motors, r and s = r'."""
    zero = np.zeros(3)
    M = system.mass_matrix(q)
    vdot = system.forward_dynamics(q, v, STIFFNESS * (r - q))
    rest = system.inverse_dynamics_rate(q, v, vdot, zero)
    return vdot, np.linalg.solve(M, STIFFNESS * (s - v) - rest)


def elastic(system: mb.System, t: float, q: Any, v: Any, r: Any, s: Any) -> Any:
    """Return the motors' torques of computed torque that knows of the springs."""
    vdot, vddot = rates(system, q, v, r, s)
    *errors, snap = desired(t) - np.array([q, v, vdot, vddot, np.zeros(3)])
    gains = POLE ** np.array([4, 3, 2, 1]) * [1, 4, 6, 4]
    snap = snap + gains @ errors
    second = system.inverse_dynamics_second_rate(q, v, vdot, vddot, snap)
    return MOTORS * (vdot + second / STIFFNESS) + STIFFNESS * (r - q)


def stiff(system: mb.System, t: float, _q: Any, _v: Any, r: Any, s: Any) -> Any:
    """Return those of computed torque that takes the motors' angles for those of the arm."""
    wish = desired(t)
    vdot = wish[2] + 2 * POLE * (wish[1] - s) + POLE**2 * (wish[0] - r)
    return MOTORS * vdot + system.inverse_dynamics(r, s, vdot)


def tracked(system: mb.System, controller: Any) -> tuple[Any, Any]:
    """Return times and the errors of the arm's joints under a controller."""
    q, v, vdot, vddot, _ = desired(0.0)
    q = q - START

    def efforts(q: Any) -> Any:
        return system.inverse_dynamics(q, v, vdot)

    r = q + efforts(q) / STIFFNESS
    s = v + system.inverse_dynamics_rate(q, v, vdot, vddot) / STIFFNESS

    def state_rate(t: float, state: Any) -> Any:
        q, v, r, s = state.reshape(4, 3)
        u = controller(system, t, q, v, r, s)
        spring = STIFFNESS * (r - q)
        vdot = system.forward_dynamics(q, v, spring)
        return np.concatenate([v, vdot, s, (u - spring) / MOTORS])

    start = np.concatenate([q, v, r, s])
    t = np.linspace(0.0, DURATION, 61)
    run = solve_ivp(state_rate, (0.0, DURATION), start, "RK45", t, rtol=1e-7, atol=1e-10)
    return t, np.array([desired(each)[0] for each in t]) - run.y[:3].T


def main() -> None:
    """Print the tracking errors of both controllers; check the linear one."""
    system = arm()
    t, linear = tracked(system, elastic)
    _, other = tracked(system, stiff)
    x = POLE * t[:, None]
    exact = START * np.exp(-x) * (1 + x + x**2 / 2 + x**3 / 6)
    print("tracking error after the first second, largest of the joints")
    print(f"  with Q-double-dot           {np.abs(linear[t > 1.0]).max():.1e} rad")
    print(f"  computed torque, stiff      {np.abs(other[t > 1.0]).max():.1e} rad")
    deviation = np.abs(linear - exact).max()
    print(f"the error follows the fourfold pole within {deviation:.1e} rad")
    assert deviation < 1e-6
    assert np.abs(linear[t > 1.0]).max() < 1e-2 * np.abs(other[t > 1.0]).max()


if __name__ == "__main__":
    main()
