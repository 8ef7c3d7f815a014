"""Write the pictures of README.md, docs/results.md and docs/pictures.md into docs/images.

    python tools/write_pictures.py [FOLDER]

It needs the extras `plot` and `pictures`.
"""

from __future__ import annotations

import pathlib
import sys
import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

FOLDER = pathlib.Path(__file__).parents[1] / "docs" / "images"


def linkage() -> mb.Mechanism:
    """Return Hoecken's linkage: its pen goes back and forth on a line that is nearly straight.

    Lengths are 1 of the crank, 2 of the ground, 2.5 of the rocker, and 5 of the coupler, which the
    rocker holds in its middle [0.1 m]. The crank turns once in two seconds.
    """
    A, D = np.zeros(3), np.array([0.2, 0.0, 0.0])
    B = np.array([0.0, 0.0, 0.1])
    # C is 0.25 m from B and from D
    middle, along = 0.5 * (B + D), D - B
    across = np.cross(along, (0.0, 1.0, 0.0)) / np.linalg.norm(along)
    C = middle - across * np.sqrt(0.25**2 - 0.25 * along @ along)
    pen = 2.0 * C - B
    mech = mb.Mechanism("Hoecken's linkage", gravity=(0.0, 0.0, -9.81))
    for name, start, end, tip in (
        ("crank", A, B, None), ("coupler", B, pen, pen), ("rocker", D, C, None),
    ):  # fmt: skip
        centre = 0.5 * (start + end)
        inertia = mb.SpatialInertia.sphere(0.5, radius=0.02)
        frames = {} if tip is None else {"pen": translation(tip - centre)}
        mech.add_body(mb.Body(name, inertia, translation(centre), frames=frames))
    axis = (0.0, -1.0, 0.0)
    motor = mb.RevoluteJoint("motor", axis, A).prescribe(lambda t: np.pi * t)
    mech.add_joint(motor, "world", "crank")
    mech.add_joint(mb.RevoluteJoint("B", axis, B), "crank", "coupler")
    mech.add_joint(mb.RevoluteJoint("C", axis, C), "coupler", "rocker")
    mech.add_joint(mb.RevoluteJoint("D", axis, D), "world", "rocker")
    return mech


def pendulum() -> mb.Result:
    """Return the run of README.md."""
    rod = mb.SpatialInertia.cylinder(mass=1.0, radius=0.02, length=1.0)
    mech = mb.Mechanism("double pendulum")
    upper = mech.add_body(mb.Body("upper", rod, translation((0, 0, -0.5))))
    lower = mech.add_body(mb.Body("lower", rod, translation((0, 0, -1.5))))
    mech.add_joint(mb.RevoluteJoint("shoulder", axis=(0, 1, 0)), mech.world, upper)
    mech.add_joint(mb.SphericalJoint("elbow", point=(0, 0, -1)), upper, lower)
    start = {"q": {"shoulder": 1.2}, "v": {"elbow": (0, 0, 3)}}
    return mb.simulate(mech.assemble(), (0.0, 5.0), **start)


def main(folder: pathlib.Path) -> None:
    """Write all pictures."""
    pendulum().plot(folder / "pendulum.png")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # it is planar
        run = mb.simulate(linkage().assemble(), (0.0, 2.0), 0.01)
    # the last frame of a film stays for a second, and this one goes round
    run.animate(folder / "linkage.gif", traces="pen", size=(360, 300), frame_rate=20.0)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
