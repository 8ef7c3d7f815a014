"""
Four-bar linkage
================

The crank turns, the rocker swings. Freudenstein's equation connects the angles of both; it holds
at every instant to rounding.
"""

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import translation


def bar(name, start, end):
    """Return a round bar of 2 kg/m from one point to another."""
    along = np.subtract(end, start)
    length = np.linalg.norm(along)
    return mb.Rod(name, length, 0.02, mass=2 * length, axis=along, pose=translation(start))


a, b, c, d = 0.4, 0.9, 0.7, 1.0  # crank, coupler, rocker, ground
A, B, D = np.array([(0, 0, 0), (0, 0, a), (d, 0, 0)], dtype=float)
span = np.hypot(d, a)
x = (b**2 - c**2 + span**2) / (2 * span)
C = B + x * (D - B) / span + np.sqrt(b**2 - x**2) * np.array([a, 0, d]) / span
mech = mb.Mechanism("four-bar", gravity=(0, 0, 0))
for name, start, end in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
    mech.add_body(bar(name, start, end))
mech.add_joint(mb.RevoluteJoint("A", (0, -1, 0), A).prescribe("2 * pi * t"), "world", "crank")
mech.add_joint(mb.RevoluteJoint("B", (0, -1, 0), B), "crank", "coupler")
mech.add_joint(mb.SphericalJoint("C", C), "coupler", "rocker")
mech.add_joint(mb.RevoluteJoint("D", (0, -1, 0), D), "world", "rocker")
warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # all is in one plane
run = mb.simulate(mech.assemble(), (0.0, 1.0), 1e-3, progress=False)
crank = np.pi / 2 + run["A"]
rocker = np.arctan2(C[2], C[0] - d) + run["D"]
tip = np.array([d + c * np.cos(rocker) - a * np.cos(crank), c * np.sin(rocker) - a * np.sin(crank)])
assert np.allclose(np.hypot(*tip), b, atol=1e-9)
run.animate("four_bar.gif", frame_rate=8, size=(480, 360))
