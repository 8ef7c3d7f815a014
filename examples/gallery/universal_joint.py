"""
Shafts with a universal joint
=============================

The driven shaft of a Cardan joint does not turn uniformly: tan(out) = tan(in) / cos(bend) with
the fork of the driving shaft in the plane of both, as at the start here.
"""

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

bend = np.radians(40.0)
along = np.array([np.cos(bend), 0.0, np.sin(bend)])
mech = mb.Mechanism("Cardan shaft", gravity=(0, 0, 0))
mech.add_body(mb.Box("driving", (1, 0.1, 0.04), mass=1.0, pose=translation((-0.5, 0, 0))))
turned = translation(0.5 * along) @ rotation((0, -1, 0), bend)
mech.add_body(mb.Box("driven", (1, 0.1, 0.04), mass=1.0, pose=turned))
motor = mb.RevoluteJoint("motor", axis=(1, 0, 0)).prescribe("2 * pi * t")
mech.add_joint(motor, "world", "driving")
mech.add_joint(mb.RevoluteJoint("bearing", axis=along), "world", "driven")
mech.add_joint(mb.UniversalJoint("cross", (0, 0, 1), (0, 1, 0)), "driving", "driven")
warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # the cross holds the shaft as well
run = mb.simulate(mech.assemble(), (0.0, 1.0), 1e-3, progress=False)
turn = 2 * np.pi * run.t
exact = np.unwrap(np.arctan2(np.sin(turn), np.cos(turn) * np.cos(bend)))
assert np.allclose(run["bearing"], exact, atol=1e-8)
run.animate("universal_joint.gif", frame_rate=8, size=(480, 360))
