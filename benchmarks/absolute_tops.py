"""The heavy top in absolute coordinates, by every map between them and a group."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

import mbkit as mb
from mbkit.spatial import translation
from mbkit.testing.constrained_problems import SLOW
from mbkit.testing.standard_problems import StandardProblem

#: How bodies stand, and what steps are taken in: the eight of Mueller, 2021; Cayley's map of second
#: order and that of dual quaternions; three angles; and twists in the world.
COORDINATES: Mapping[str, mb.AbsoluteCoordinates] = {
    **{
        f"{orientation}, {local}": mb.AbsoluteCoordinates(
            {"Q": mb.UnitQuaternion, "rho": mb.RotationVector}[orientation](), chosen()
        )
        for orientation in ("Q", "rho")
        for local, chosen in {
            "screw": mb.ScrewCoordinates,
            "vector": mb.RotationVectorPosition,
            "Rodrigues": mb.RodriguesPosition,
            "extended Rodrigues": mb.ExtendedRodrigues,
        }.items()
    },
    "Q, Wiener-Milenkovic": mb.AbsoluteCoordinates(
        mb.UnitQuaternion(), mb.WienerMilenkovicPosition()
    ),
    "Q, extended W.-M.": mb.AbsoluteCoordinates(mb.UnitQuaternion(), mb.ExtendedWienerMilenkovic()),
    "Q, dual Rodrigues": mb.AbsoluteCoordinates(mb.UnitQuaternion(), mb.DualRodrigues()),
    "zyx, vector": mb.AbsoluteCoordinates(mb.EulerAngles("zyx"), mb.RotationVectorPosition()),
    "right: Q, screw": mb.AbsoluteCoordinates(
        mb.UnitQuaternion(), mb.ScrewCoordinates(), trivialised="right"
    ),
    "right: Q, vector": mb.AbsoluteCoordinates(
        mb.UnitQuaternion(), mb.RotationVectorPosition(), trivialised="right"
    ),
}


def mechanism() -> mb.Mechanism:
    """Return the slow, asymmetric top; the frame of its body is at the centre of mass."""
    mech = mb.Mechanism("heavy top", gravity=(0, 0, -9.81))
    moment = np.diag(SLOW.principal)
    inertia = mb.SpatialInertia.from_com(SLOW.mass, (0, 0, 0), moment_about_com=moment)
    body = mech.add_body(mb.Body("top", inertia, translation(SLOW.com)))
    mech.add_joint(mb.SphericalJoint("tip", point=(0, 0, 0)), mech.world, body)
    return mech


def velocity(system: mb.System) -> Any:
    """Return the velocity at the start, from that on the ball joint."""
    relative = mechanism().assemble()
    return system.state_of(relative, relative.reference_configuration(), SLOW.spin)[1]


def problem(name: str, coordinates: mb.AbsoluteCoordinates) -> StandardProblem:
    """Return the motion of the top in some coordinates."""
    return StandardProblem(
        name, functools.partial(mechanism().assemble, coordinates), 1.5, velocity
    )


TOPS = tuple(problem(name, coordinates) for name, coordinates in COORDINATES.items())
