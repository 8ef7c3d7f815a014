"""Andrews' squeezing mechanism: benchmark A03 of the IFToMM library.

Seven small bodies in a plane, three loops, a motor that turns a crank at up to 1100 rad/s and a
spring: 0.03 s are a long time. Geometry and numbers are those of

    E. Hairer, G. Wanner, Solving Ordinary Differential Equations II,
    2nd ed., Springer 1996, section VII.7,

and of the Test Set for IVP Solvers, with the names they have there. Run it:

    python examples/closed_loops/andrews_squeezer.py
"""

from __future__ import annotations

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

#: Masses [kg] and moments of inertia about the centre of mass [kg m^2] of the bodies K1 to K7.
MASSES = 0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498
MOMENTS = 2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5

#: Fixed points: of K5 and K7, of K3, of the spring. [m]
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
#: Stiffness [N/m] and rest length [m] of the spring, torque of the motor [N m].
STIFFNESS, REST_LENGTH, TORQUE = 4530.0, 0.07785, 0.033

#: Lengths. [m]
D, DA, E, EA = 0.028, 0.0115, 0.02, 0.01421
RR, RA, SS, SA, SB, SC, SD = 0.007, 0.00092, 0.035, 0.01874, 0.01043, 0.018, 0.02
TA, TB, U, UA, UB, ZF, ZT, FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421

#: The angles at the start, where the loops are closed, by the joints that have them. [rad]
START = {
    "beta": -0.06171389001427645,
    "theta": 0.0,
    "gamma": 0.45527981916307037,
    "phi": 0.22266839016588588,
    "delta": 0.48736497954384256,
    "omega": -0.22266839016588588,
    "epsilon": 1.2305474445498212,
}

#: The angles at t = 0.03 s: the published ones are good to 1e-9 only, these to 1e-12. [rad]
AFTER_30_MS = {
    "beta": 15.810771195153707,
    "theta": -15.756371058411839,
    "gamma": 0.040822240119646,
    "phi": -0.534730116342080,
    "delta": 0.524409965879954,
    "omega": 0.534730116342080,
    "epsilon": 1.048080741041938,
}


def build() -> mb.Mechanism:
    """Return the mechanism; theta, phi and omega are angles relative to another moving body."""
    mech = mb.Mechanism("Andrews' squeezer", gravity=(0, 0, 0))

    def add(
        number: int, hinge: tuple[float, ...], angle: float, com: tuple[float, ...]
    ) -> np.ndarray:
        moment = MOMENTS[number - 1] * np.diag([0.5, 0.5, 1.0])
        inertia = mb.SpatialInertia.from_com(MASSES[number - 1], (*com, 0.0), moment)
        pose = translation((*hinge[:2], 0.0)) @ rotation((0, 0, 1), angle)
        mech.add_body(mb.Body(f"K{number}", inertia, pose))
        return pose

    at = START
    K1 = add(1, (0.0, 0.0), at["beta"], (RA, 0.0))
    add(2, K1 @ (RR, 0, 0, 1), at["beta"] + at["theta"], (-DA, 0.0))
    K3 = add(3, B, at["gamma"], (SB, -SA))
    K5 = add(5, A, at["delta"], (TA, TB))
    add(4, K5 @ (ZT, 0, 0, 1), at["phi"] + at["delta"], (0.0, EA - E))
    K7 = add(7, A, at["epsilon"], (-UB, -UA))
    add(6, K7 @ (0, -U, 0, 1), at["omega"] + at["epsilon"], (ZF - FA, 0.0))

    joints = {
        "beta": ("world", "K1"), "theta": ("K1", "K2"), "gamma": ("world", "K3"),
        "phi": ("K5", "K4"), "delta": ("world", "K5"), "omega": ("K7", "K6"),
        "epsilon": ("world", "K7"),
    }  # fmt: skip
    for name, (predecessor, successor) in joints.items():
        hinge = mech.bodies[successor].pose[:3, 3]
        mech.add_joint(mb.RevoluteJoint(name, point=hinge), predecessor, successor)
    meeting = K3 @ (0, -SS, 0, 1)
    for body in ("K3", "K4", "K6"):
        joint = mb.RevoluteJoint(f"meeting {body}", point=meeting[:3])
        mech.add_joint(joint, "K2", body)

    mech.add_force(mb.JointEffort("motor", "beta", effort=TORQUE))
    mech.add_force(
        mb.SpringDamper(
            "spring", "world", "K3", stiffness=STIFFNESS, rest_length=REST_LENGTH,
            point_a=(*C, 0.0), point_b=(SD, -SC, 0.0),
        )
    )  # fmt: skip
    return mech


def angles(system: mb.System, q: np.ndarray) -> dict[str, float]:
    """Return those of the seven angles that are coordinates of the system, from q (nq,)."""
    return {
        name: START[name] + float(q[system.position_slice(name)][0])
        for name in START
        if name not in system.loop_joints
    }


def main() -> None:
    """Turn the crank for 0.03 s, two and a half times around."""
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # it is known here
    system = build().assemble()
    run = mb.simulate(system, (0.0, 0.03), 1e-5, save_every=10, progress=False)
    print(f"{'angle [rad] at t = 0.03 s':28}{'mbkit':>18}{'reference':>18}{'difference':>12}")
    for name, found in angles(system, run.q[-1]).items():
        exact = AFTER_30_MS[name]
        print(f"{name:28}{found:18.13f}{exact:18.13f}{found - exact:12.1e}")
    drift = np.abs(run.energy_balance).max() / run.kinetic_energy.max()
    print(f"The energy balance holds to {drift:.1e} of the peak of the kinetic energy.")


if __name__ == "__main__":
    main()
