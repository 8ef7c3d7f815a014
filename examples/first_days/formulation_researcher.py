"""The first day of a formulation researcher: one body in every formulation, against a closed form.

A symmetric body turns about its centre of mass, free of forces. With L its angular momentum, A its
moment about an axis across, C about its own axis, and w3 its rate about that,

    R(t) = exp(t L / A) R(0) exp(t w3 (1 - C / A) e3)

by exponentials of rotation vectors. Errors, orders, drifts and operations of representations,
coordinates and integrators are measured against it. Run it:

    python examples/first_days/formulation_researcher.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import mbkit as mb

A, C = 0.2, 0.1  # [kg m^2]
SPIN = np.array([1.0, 0.4, 5.0])  # angular velocity at the start, where both frames agree [rad/s]
SPAN = (0.0, 1.0)


def top() -> mb.Mechanism:
    """Return the body on a ball joint at its centre of mass."""
    mech = mb.Mechanism("top", gravity=(0, 0, 0))
    mech.add_body(mb.Body("top", mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.diag([A, A, C]))))
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, "top")
    return mech


def closed_form(t: Any) -> Any:
    """Return R(t)."""
    L = np.array([A, A, C]) * SPIN
    turn = SPIN[2] * (1 - C / A) * np.array([0, 0, 1])
    return (Rotation.from_rotvec(t * L / A) * Rotation.from_rotvec(t * turn)).as_matrix()


def rotation(system: mb.System, q: Any, v: Any) -> Any:
    """Return R of each state, in any coordinates."""
    return system.pose("top", q)[..., :3, :3]


def main() -> None:
    """Go through the day."""
    mech = top()
    motion = {"v": SPIN, "quantity": rotation, "reference": closed_form}

    print("Four representations: one motion, to rounding")
    found = mb.studies.compare(mech, SPAN, 0.01, representations="all", repeats=0, **motion)
    print(found.table.markdown(["representation", "error", "energy_drift", "evaluations"]))
    assert np.ptp(found.table["error"]) < 1e-13
    assert found.table["error"].max() < 1e-7

    print("Orders, in relative and in absolute coordinates")
    expected = {"rkmk2": 2, "rkmk4": 4, "generalized_alpha(rho_inf=0.8)": 2, "bliedf3": 3}
    coordinates = ["relative", "unit_quaternion/screw_coordinates"]
    found = mb.studies.convergence(
        mech, SPAN, 0.05, coordinates=coordinates, integrators=list(expected), **motion
    )
    orders = found.table.select(of="error")
    print(orders.markdown(["coordinates", "integrator", "order", "low", "high"]))
    assert len(orders) == 8
    for row in orders:
        assert abs(row["order"] - expected[row["integrator"]]) < 0.05

    print("Work for an error of 1e-5, by evaluations of the equations of motion")
    integrators, steps = ["rkmk2", "rkmk4", "rkmk8"], [0.1, 0.05, 0.02, 0.01, 0.005, 1e-3]
    found = mb.studies.work_precision(
        mech, SPAN, steps, integrators=integrators, errors=[1e-5], by="evaluations", repeats=0,
        **motion,
    )  # fmt: skip
    print(found.table.markdown())

    print("Drifts over 20 turns")
    found = mb.studies.compare(
        mech,
        (0.0, 25.0),
        0.02,
        integrators=["rkmk4", "rattlie"],
        invariants={"momentum": lambda system, q, v: system.momentum(q, v)},
        repeats=0,
        **motion,
    )
    print(found.table.markdown(["integrator", "error", "energy_drift", "momentum_drift"]))
    variational = found.table.select(integrator="rattlie").rows[0]
    assert variational["energy_drift"] < 1e-13
    assert variational["momentum_drift"] < 1e-13

    print("Operations of the inverse dynamics")
    table = mb.studies.operations(mech, algorithms=["inverse_dynamics"])
    print(table.markdown(["representation", "multiplications", "additions"]))
    assert table.select(representation="body_fixed")["multiplications"][0] == min(
        table["multiplications"]
    )


if __name__ == "__main__":
    main()
