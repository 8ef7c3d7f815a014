"""A spring, a damper and a mass of a four-bar, fitted to one measured motion by the adjoint.

The crank of a planar four-bar linkage hangs on a spring and is let go. One encoder measures its
angle for a second and a half. What is looked for are the stiffness of the spring, the damping of
the crank's bearing and the mass of the coupler: the numbers with which the simulated run is the
measured one. The loop is closed by the simulation after every step, and the gradient of the error
of the whole run comes from its adjoint, whatever there is to be fitted. Run it:

    python examples/adjoint_fit.py
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import minimize

import mbkit as mb

#: What is looked for, and the size by which it is counted.
TRUE = {
    "forces.spring.stiffness": 24.0,
    "forces.bearing.damping": 0.35,
    "bodies.coupler.mass": 1.7,
}
GUESS = dict(zip(TRUE, (15.0, 0.1, 1.0), strict=True))
SIZES = dict(zip(TRUE, (10.0, 0.2, 0.5), strict=True))

SPAN, STEP = (0.0, 1.5), 0.02


def four_bar() -> mb.Mechanism:
    """Return a crank-rocker in a vertical plane, z up."""
    points = np.array([(0, 0, 0), (0, 0, 0.25), (0.7, 0, 0.55), (0.8, 0, 0)], dtype=float)
    mech = mb.Mechanism("four-bar")
    bodies = [mech.world]
    for name, a, b, mass in zip(
        ("crank", "coupler", "rocker"), points[:-1], points[1:], (0.8, 1.0, 1.2), strict=True
    ):
        moment = mass * np.sum((b - a) ** 2) / 12.0 * np.diag([1.0, 1.0, 1.0])
        inertia = mb.SpatialInertia.from_com(mass, (a + b) / 2.0, moment)
        bodies.append(mech.add_body(mb.Body(name, inertia)))
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3)]
    for name, point, (a, b) in zip(("main", "B", "C", "D"), points, pairs, strict=True):
        mech.add_joint(mb.RevoluteJoint(name, axis=(0, 1, 0), point=point), bodies[a], bodies[b])
    mech.add_force(mb.JointSpring("spring", "main", stiffness=20.0, rest=-0.4))
    mech.add_force(mb.JointDamper("bearing", "main", damping=0.0))
    return mech


def simulated(system: mb.System, numbers: dict[str, Any]) -> mb.Result:
    """Return the run with some numbers of the model, from rest."""
    return mb.simulate(system.with_parameters(numbers), SPAN, STEP, progress=False)


def fit(system: mb.System, measured: Any) -> tuple[dict[str, float], Any]:
    """Return the numbers with which the crank moves as it was measured (k,), and how they came."""
    column = system.position_slice("main")

    def error(t: Any, q: Any, v: Any) -> tuple[float, Any, None]:
        missed, by_q = q[:, column] - measured[:, None], np.zeros(q.shape)
        by_q[:, column] = 2.0 * missed / t.size
        return float((missed**2).mean()), by_q, None

    def loss(x: Any) -> tuple[float, Any]:
        run = simulated(system, numbers(x))
        found = mb.gradient(run, error, by=GUESS)
        return found.value, [float(found[name]) * SIZES[name] for name in GUESS]

    def numbers(x: Any) -> dict[str, float]:
        return {name: GUESS[name] + SIZES[name] * each for name, each in zip(GUESS, x, strict=True)}

    start = np.zeros(len(GUESS))
    best = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8})
    return numbers(best.x), best


def main() -> None:
    """Fit, and compare with the truth."""
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # of every planar linkage
    system = four_bar().assemble(mb.RelativeCoordinates(loop_joints=["D"]))
    truth = simulated(system, TRUE)
    measured = truth.q[:, system.position_slice("main")][:, 0]
    found, best = fit(system, measured)
    print(f"{best.nit} iterations, {best.nfev} runs with their gradients;")
    print(f"the angle is missed by {np.sqrt(best.fun):.1e} rad, root mean square")
    for name, true in TRUE.items():
        print(
            f"  {name:24s} guessed {GUESS[name]:6.2f}  found {found[name]:10.6f}  true {true:6.2f}"
        )
        assert abs(found[name] - true) < 1e-3 * max(1.0, abs(true)), name


if __name__ == "__main__":
    main()
