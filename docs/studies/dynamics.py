"""Operations and time of dynamics in four representations, by bodies and kinds of joints.

python docs/studies/dynamics.py DIRECTORY    measures them; `make studies` writes dynamics.md
"""

from __future__ import annotations

import functools
import pathlib
import sys

import numpy as np

import mbkit as mb

X, Z = (1, 0, 0), (0, 0, 1)
JOINTS = {
    "revolute": lambda name: mb.RevoluteJoint(name, Z),
    "prismatic": lambda name: mb.PrismaticJoint(name, Z),
    "helical": lambda name: mb.HelicalJoint(name, Z, pitch=0.01),
    "cylindrical": lambda name: mb.CylindricalJoint(name, Z),
    "universal": lambda name: mb.UniversalJoint(name, X, Z),
    "planar": lambda name: mb.PlanarJoint(name, Z),
    "spherical": mb.SphericalJoint,
    "free": mb.FreeJoint,
}
SIZES = [2, 4, 8, 16, 32, 64]


def chain(kind: str, size: int) -> mb.Mechanism:
    """Return a chain of bodies with joints of one kind in places at random."""
    rng = np.random.default_rng(1)
    mech = mb.Mechanism(f"{kind} chain of {size}", gravity=(0, 0, -9.81))
    last = mech.world
    for k in range(size):
        moment = np.diag(rng.uniform(0.05, 0.08, 3))
        inertia = mb.SpatialInertia.from_com(rng.uniform(0.5, 1.5), rng.normal(0, 0.1, 3), moment)
        body = mech.add_body(mb.Body(f"body{k}", inertia))
        place = mb.spatial.rotation(rng.normal(size=3), rng.uniform(0.3, 3.0))
        place[:3, 3] = rng.normal(0.0, 0.3, 3)
        mech.add_joint(JOINTS[kind](f"joint{k}"), last, body, frames=(place, np.eye(4)))
        last = body
    return mech


def studied(directory: pathlib.Path | None = None) -> mb.studies.Findings:
    """Return times and operations of all chains."""
    makes = {kind: functools.partial(chain, kind) for kind in JOINTS}
    return mb.studies.scaling(
        makes, SIZES, operations=True, repeats=25, directory=directory, progress=True
    )


if __name__ == "__main__":
    sys.stdout.write(studied(pathlib.Path(sys.argv[1])).table.markdown() + "\n")
