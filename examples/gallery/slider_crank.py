"""
Slider-crank
============

A motor turns the crank uniformly; the slider moves as the triangle of crank and rod says: x = r
cos a + sqrt(l^2 - r^2 sin^2 a).
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


r, rod = 0.3, 0.9
mech = mb.Mechanism("slider-crank")
mech.add_body(bar("crank", (0, 0, 0), (r, 0, 0)))
mech.add_body(bar("rod", (r, 0, 0), (r + rod, 0, 0)))
mech.add_body(mb.Box("slider", (0.2, 0.1, 0.1), mass=1.0, pose=translation((r + rod, 0, 0))))
motor = mb.RevoluteJoint("motor", axis=(0, -1, 0)).prescribe("2 * pi * t")
mech.add_joint(motor, "world", "crank")
mech.add_joint(mb.RevoluteJoint("pin", axis=(0, -1, 0), point=(r, 0, 0)), "crank", "rod")
mech.add_joint(mb.PrismaticJoint("guide", axis=(1, 0, 0)), "world", "slider")
mech.add_joint(mb.SphericalJoint("wrist", point=(r + rod, 0, 0)), "rod", "slider")
warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # all is in one plane
run = mb.simulate(mech.assemble(), (0.0, 1.0), 1e-3, progress=False)
angle = 2 * np.pi * run.t
exact = r * np.cos(angle) + np.sqrt(rod**2 - (r * np.sin(angle)) ** 2) - (r + rod)
assert np.allclose(run["guide"], exact, atol=1e-8)
run.animate("slider_crank.gif", frame_rate=8, size=(480, 360))
