"""
Screw jack
==========

A nut falls along a screw under its own weight, and turns: with the lead h per radian its
acceleration is g / (1 + I / (m h^2)).
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

lead = 0.05  # per radian
nut = mb.Box("nut", (0.3, 0.1, 0.1), mass=2.0)
mech = mb.Mechanism("screw jack")
mech.add_body(
    mb.Rod("spindle", 2.0, 0.03, mass=1.0, axis=(0, 0, -1), pose=translation((0, 0, 0.5)))
)
mech.add_body(nut)
mech.add_joint(mb.FixedJoint("frame"), "world", "spindle")
mech.add_joint(mb.ScrewJoint("thread", screw=(0, 0, 1, 0, 0, lead)), "world", "nut")
run = mb.simulate(mech.assemble(), (0.0, 1.5), 1e-3, progress=False)
moment = nut.inertia.matrix()[2, 2]
exact = -9.81 / (1 + moment / (2.0 * lead**2)) * run.t**2 / 2
assert np.allclose(lead * run["thread"], exact, atol=1e-9)
run.animate("screw_jack.gif", frame_rate=8, size=(480, 360))
