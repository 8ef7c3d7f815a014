"""Effect of the group of a step on constraints that are not enforced: SE(3) against SO(3) x R^3.

A heavy top in absolute coordinates, its frame in the centre of mass, a ball joint to the ground at
its tip. Accelerations satisfy the constraint; positions and velocities are not brought back to it
(``stabilisation=None``: index 1 without projection). Steps on SE(3) keep the tip where it is, to
rounding, whatever the step: velocities that the joint allows are body-fixed twists of a subalgebra,
in which every stage stays, and their exponential is a motion of the joint. Steps on SO(3) x R^3
turn and shift the body separately, and the tip drifts, by the order of the method.

So it is with every lower pair to the ground (in Cayley maps: but for helical ones). Between two
bodies that both move it is not: the velocity of one relative to the other is of the joint, and the
steps of both are not. Run it:

    python examples/effect_of_the_group.py
"""

from __future__ import annotations

import warnings

import numpy as np

import mbkit as mb

#: From the tip to the centre of mass. [m]
ARM = np.array([0.0, 1.0, 0.0])
#: Angular velocity at the start, in the top's axes. [rad/s]
SPIN = np.array([0.0, 150.0, -4.61538])
MASS, MOMENTS = 15.0, (0.234375, 0.46875, 0.234375)  # [kg], [kg m^2]

#: Steps on SE(3), then on SO(3) x R^3.
LOCAL = (
    mb.ScrewCoordinates(), mb.ExtendedRodrigues(), mb.DualRodrigues(),
    mb.ExtendedWienerMilenkovic(), mb.RotationVectorPosition(), mb.RodriguesPosition(),
    mb.WienerMilenkovicPosition(),
)  # fmt: skip
#: Runge-Kutta-Munthe-Kaas methods of order 1 to 5.
METHODS = ("euler", "heun", "kutta3", "rk4", "dormand_prince5")


def top() -> mb.Mechanism:
    """Return a heavy top on a ball joint in the world's origin, its frame in its centre of mass."""
    mech = mb.Mechanism("heavy top")
    inertia = mb.SpatialInertia.from_com(MASS, (0, 0, 0), np.diag(MOMENTS))
    body = mech.add_body(mb.Body("top", inertia, mb.spatial.translation(ARM)))
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, body)
    return mech


def two_tops() -> mb.Mechanism:
    """Return a top that stands on the end of another one."""
    mech = top()
    inertia = mb.SpatialInertia.from_com(MASS, (0, 0, 0), np.diag(MOMENTS))
    mech.add_body(mb.Body("upper", inertia, mb.spatial.translation(3 * ARM)))
    mech.add_joint(mb.SphericalJoint("between", point=2 * ARM), "top", "upper")
    return mech


def opening(
    mech: mb.Mechanism, local: mb.joints.LocalCoordinates, method: str = "rk4", h: float = 1e-3
) -> dict[str, float]:
    """Return how far each joint opens in half a second at most, without projection, in metres.

    Parameters
    ----------
    mech : Mechanism
        It starts at its reference, and spins on its joint "tip".
    local : local coordinates
        What steps are.
    method : str
        Key of `mbkit.tableaus.TABLEAUS`.
    h : float
        Step. [s]
    """
    relative = mech.assemble()
    absolute = mech.assemble(mb.AbsoluteCoordinates(mb.UnitQuaternion(), local))
    v = np.zeros(relative.nv)
    v[relative.velocity_slice("tip")] = SPIN
    q, v = absolute.state_of(relative, relative.reference_configuration(), v)
    with warnings.catch_warnings():
        # low orders miss all of the energy in such steps; what is looked at are the joints
        warnings.simplefilter("ignore", mb.EnergyBalanceWarning)
        run = mb.simulate(
            absolute, (0.0, 0.5), h, q=q, v=v, stabilisation=None, progress=False,
            integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.TABLEAUS[method]),
        )  # fmt: skip
    gaps = np.abs(absolute.constraint_residual(run.q)).max(axis=0)
    rows = absolute.constraint_names
    return {
        joint: float(max(gap for row, gap in zip(rows, gaps, strict=True) if joint in row))
        for joint in absolute.loop_joints
    }


def main() -> None:
    """Print how far joints open, on both groups."""
    print("How far joints open in 0.5 s at h = 1e-3 s, at most, without projection [m]\n")
    print(f"{'one top, by method':28}{'SE(3)':>12}{'SO(3) x R^3':>14}")
    for method in METHODS:
        gaps = [
            opening(top(), local, method)["tip"]
            for local in (mb.ScrewCoordinates(), mb.RotationVectorPosition())
        ]
        print(f"{method:28}{gaps[0]:12.1e}{gaps[1]:14.1e}")
    print(f"\n{'':28}{'one top':>12}{'two tops':>26}")
    print(f"{'order 4, by steps':28}{'to ground':>12}{'to ground':>14}{'between':>12}")
    for local in LOCAL:
        one, two = opening(top(), local)["tip"], opening(two_tops(), local)
        name = type(local).__name__
        print(f"{name:28}{one:12.1e}{two['tip']:14.1e}{two['between']:12.1e}")


if __name__ == "__main__":
    main()
