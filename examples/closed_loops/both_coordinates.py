"""One four-bar linkage in relative and in absolute coordinates: one argument is another.

In relative coordinates three joints have an angle, and the fourth closes the loop. In absolute ones
each of the three rods moves by itself, and four joints hold them. Run it:

    python examples/closed_loops/both_coordinates.py
"""

from __future__ import annotations

import warnings

import numpy as np

import mbkit as mb

try:
    from examples.closed_loops import four_bar
except ImportError:  # run from its own folder
    import four_bar

#: Orientations and local coordinates that are shown.
ABSOLUTE = (
    mb.AbsoluteCoordinates(mb.UnitQuaternion(), mb.ScrewCoordinates()),
    mb.AbsoluteCoordinates(mb.RotationVector(), mb.RotationVectorPosition()),
    mb.AbsoluteCoordinates(mb.UnitQuaternion(), mb.RodriguesPosition(), "right"),
    mb.AbsoluteCoordinates(mb.EulerAngles("zyx"), mb.ExtendedRodrigues(), "right"),
)


def difference(
    coordinates: mb.AbsoluteCoordinates, h: float, span: float = 1.0
) -> tuple[float, float]:
    """Return how far bodies are apart after a time, and reactions of joint C at the start.

    Parameters
    ----------
    coordinates : AbsoluteCoordinates
        Compared with relative ones.
    h, span : float
        Step of RKMK of order 4 with projection, and how long. [s]

    Returns
    -------
    tuple of float
        The largest entries of the differences. [m, rad], [N m, N]
    """
    mech = four_bar.build()
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    q, v = relative.reference_configuration(), four_bar.initial_velocity(relative)
    states = ((relative, q, v), (absolute, *absolute.state_of(relative, q, v)))
    ends, reactions = [], []
    for system, q, v in states:
        steps = round(span / h)
        run = mb.simulate(system, (0.0, span), h, q=q, v=v, save_every=steps, progress=False)
        ends.append(system.poses(run.q[-1]))
        reactions.append(system.reaction("C", q, v, minimum_norm=True)[3:5])
    gaps = [float(np.abs(one - other).max()) for one, other in (ends, reactions)]
    return gaps[0], gaps[1]


def main() -> None:
    """Print the sizes of both systems, and how their motions differ."""
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # it is known here
    mech = four_bar.build()
    print(f"{'coordinates':48}{'nq':>4}{'nv':>4}{'rows':>6}{'bodies differ after 1 s by':>30}")
    print(f"{'':62}{'h = 2e-3':>15}{'h = 1e-3':>15}")
    system = mech.assemble()
    print(f"{'relative':48}{system.nq:4}{system.nv:4}{system.num_velocity_constraints:6}")
    for coordinates in ABSOLUTE:
        system = mech.assemble(coordinates)
        parts = (coordinates.orientation, coordinates.local)
        name = ", ".join([*(type(part).__name__ for part in parts), coordinates.trivialised])
        gaps = [difference(coordinates, h)[0] for h in (2e-3, 1e-3)]
        rows = system.num_velocity_constraints
        print(f"{name:48}{system.nq:4}{system.nv:4}{rows:6}{gaps[0]:15.1e}{gaps[1]:15.1e}")
    forces = max(difference(each, 1e-3, 1e-3)[1] for each in ABSOLUTE)
    print(f"The force in joint C, across the axes, is the same to {forces:.1e} N.")


if __name__ == "__main__":
    main()
