"""
Scotch yoke
===========

A pin of the crank slides in a slot of the yoke: the yoke moves as a pure cosine, without a rod.
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

r = 0.3
mech = mb.Mechanism("Scotch yoke")
mech.add_body(mb.Rod("crank", r, 0.02, mass=1.0))
mech.add_body(mb.Box("yoke", (0.05, 0.1, 0.8), mass=2.0, pose=translation((r, 0, 0))))
motor = mb.RevoluteJoint("motor", axis=(0, -1, 0)).prescribe("2 * pi * t")
mech.add_joint(motor, "world", "crank")
mech.add_joint(mb.PrismaticJoint("guide", axis=(1, 0, 0)), "world", "yoke")
mech.add_constraint(mb.PointOnPlane("slot", "yoke", "crank", (1, 0, 0), point_b=(r, 0, 0)))
run = mb.simulate(mech.assemble(), (0.0, 1.0), 1e-3, progress=False)
assert np.allclose(run["guide"], r * np.cos(2 * np.pi * run.t) - r, atol=1e-9)
run.animate("scotch_yoke.gif", frame_rate=8, size=(480, 360))
