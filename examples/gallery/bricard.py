"""
Bricard's mechanism
===================

Six hinges along edges of a cube: a loop of six hinges is rigid in general, and this one moves.
The place of a joint after a second is that of the IFToMM benchmark A04.
"""

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

points = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)])
axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
mech = mb.Mechanism("Bricard", gravity=(0, -9.81, 0))
for k in range(5):
    size = np.where(points[k + 1] != points[k], 1.0, 0.1)
    middle = translation((points[k] + points[k + 1]) / 2)
    mech.add_body(mb.Box(f"rod {k}", size, mass=1.0, pose=middle))
bodies = ["world", *mech.bodies, "world"]
for k in range(6):
    hinge = mb.RevoluteJoint(f"hinge {k}", axis=axes[k], point=points[k])
    mech.add_joint(hinge, bodies[k], bodies[k + 1])
warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # five rows of rank four
system = mech.assemble()
run = mb.simulate(system, (0.0, 1.0), 1e-3, progress=False)
place = system.pose("rod 1", run.q[-1]) @ (0, -0.5, 0, 1)
assert np.allclose(place[:3], (0.2744813, -0.8867079, -0.4623300), atol=1e-5)
run.animate("bricard.gif", frame_rate=8, size=(480, 360))
