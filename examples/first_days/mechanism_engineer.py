"""The first day of a mechanism engineer: a slider-crank with a spring, from lengths to a table.

Every number is compared with the closed form of the linkage: with crank r, rod l and crank angle
a the slider is at x = r cos a + sqrt(l^2 - r^2 sin^2 a), and one equation has all its dynamics,
J(a) a'' + J'(a) a'^2 / 2 + U'(a) = torque. Run it:

    python examples/first_days/mechanism_engineer.py
"""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import numpy as np

import mbkit as mb

MODEL = pathlib.Path(__file__).parents[1] / "models" / "slider_crank.toml"


def closed_form(a: Any, r: float = 0.1) -> tuple[Any, Any, Any]:
    """Return J(a), the potential U(a) and the slider's shift, of crank angles that may be complex.

    The rod's angle b has l sin b = r sin a. The rates of b and of x by a are b' and x'.
    """
    l = 0.4  # noqa: E741
    cos_b = np.sqrt(1 - (r * np.sin(a) / l) ** 2)
    rate_b = r * np.cos(a) / (l * cos_b)
    rate_x = -r * np.sin(a) - r * np.sin(a) * rate_b
    middle = r**2 * np.sin(a) ** 2 * (1 + rate_b / 2) ** 2 + (r * np.cos(a) / 2) ** 2
    J = 0.5 * r**2 / 3 + 1.0 * (middle + l**2 / 12 * rate_b**2) + 2.0 * rate_x**2
    shift = r * np.cos(a) + l * cos_b - (r + l)
    weight = 9.81 * (0.5 * r / 2 * np.sin(a) + 1.0 * r / 2 * np.sin(a))
    return J, weight + 800.0 * (shift + 0.1) ** 2 / 2, shift


def slope(k: int, a: Any) -> Any:
    """Return the derivative of one of the closed forms by the crank angle, by a complex step."""
    return closed_form(a + 1e-30j)[k].imag / 1e-30


def check(what: str, found: Any, expected: Any, tolerance: float) -> None:
    """Print the error, and refuse one beyond the tolerance."""
    error = np.abs(np.asarray(found) - expected).max()
    print(f"  {what}: {error:.1e} from the closed form")
    assert error < tolerance, (what, found, expected)


def main() -> None:
    """Go through the day."""
    system = mb.load_model(MODEL).assemble()
    # A planar loop in space has three constraint rows too many: nothing is wrong.
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)

    found = system.diagnose()
    print(f"Mobility {found.mobility}, redundant rows {len(found.redundant)}")
    assert (found.mobility, len(found.redundant)) == (1, 3)

    print("A first run, from an angle and a speed of the crank:")
    run = mb.simulate(system, (0.0, 1.0), q={"main": 0.5}, v={"main": 3.0})
    J, U, _ = closed_form(run["main"])
    energy = J[0] * 3.0**2 / 2 + U[0]
    check("speed of the crank [rad/s]", run.velocity("main") ** 2, 2 * (energy - U) / J, 1e-5)
    print(run)

    print("Motor torque and force in the wrist for 50 rad/s, by crank angle:")
    a = np.linspace(0.1, 2 * np.pi, 60)
    q, v, vdot = system.closed_motion({"main": (a, 0 * a + 50.0, 0 * a)})
    motor = system.closed_inverse_dynamics(q, v, vdot, actuated=["main"])
    torque = motor.efforts[:, system.velocity_slice("main")][:, 0]
    check("torque [N m]", torque, slope(0, a) / 2 * 50.0**2 + slope(1, a), 1e-8)
    wrist = system.reaction(
        "wrist", q, v, vdot=vdot, multipliers=motor.multipliers, minimum_norm=True
    )
    step = 1e-4  # the slider's acceleration, by differences of its closed form
    bend = (slope(2, a + step) - slope(2, a - step)) / (2 * step)
    check("force [N]", wrist[:, 3], 2.0 * bend * 50.0**2 + 800.0 * (closed_form(a)[2] + 0.1), 1e-4)

    print("Equilibrium, and the frequency about it:")
    rest = system.equilibrium(stable=True)
    print(rest)
    a = rest["main"]
    check("torque left [N m]", slope(1, a), 0.0, 1e-8)
    omega = system.linearize(rest).modes().omega[0]
    stiffness = (slope(1, a + step) - slope(1, a - step)) / (2 * step)
    check("frequency [rad/s]", omega, np.sqrt(stiffness / closed_form(a)[0]), 1e-6)
    passing = mb.Event("passing", mb.JointPosition("main", level=a), direction="rising")
    small = mb.simulate(system, (0.0, 10.0), q=rest.q, v={"main": 1e-3}, events=[passing])
    periods = np.diff(small.events["passing"].t)
    check("frequency of a run [rad/s]", 2 * np.pi / periods.mean(), omega, 1e-6)

    print("Another crank, of 0.12 m:")
    longer = mb.load_model(MODEL, parameters={"r": 0.12}).assemble()
    a = np.linspace(0.0, np.pi, 20)
    q, _, _ = longer.closed_motion({"main": (a, 0 * a, 0 * a)})
    shifts = q[:, longer.position_slice("guide")][:, 0]
    check("stroke [m]", shifts[-1], -0.24, 1e-12)
    check("way of the slider [m]", shifts, closed_form(a, r=0.12)[2], 1e-12)

    print("With a damper on the slider, and the motor's 2 N m:")
    forces = [mb.JointDamper("oil", "guide", damping=20.0), mb.JointEffort("motor", "main", 2.0)]
    run = mb.simulate(system, (0.0, 2.0), q={"main": 0.5}, forces=forces)
    turned = run["main"] - 0.5
    check("work of the motor [J]", run.supplied_energy, 2.0 * turned, 1e-6)
    lost = 20.0 * np.trapezoid(run.velocity("guide") ** 2, run.t)
    print(f"  lost in the damper {run.dissipated_energy[-1]:.4f} J, by the trapezium {lost:.4f} J")
    check("energy balance [J]", run.energy_balance, 0.0, 1e-6)

    run.save("run.csv")
    run.plot("run.png")
    print(run.to_dataframe()[["time", "q.main", "q.guide", "kinetic_energy"]].iloc[::250])


if __name__ == "__main__":
    main()
