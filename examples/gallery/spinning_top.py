"""
Spinning top
============

A heavy top precesses steadily where (I3 w - I1 W cos a) W = m g l: the centre keeps its height.
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

mass, length, radius, tilt, W = 1.0, 0.3, 0.15, 0.5, 2.0
disc = mb.Cylinder("disc", radius, 0.02, mass=mass, shape_pose=translation((0, 0, length)))
stem = mb.CylinderShape(0.01, length, pose=translation((0, 0, length / 2)))
I1, _, I3 = np.diag(disc.inertia.matrix())[:3]  # about the tip
spin = (mass * 9.81 * length / W + I1 * W * np.cos(tilt)) / I3
mech = mb.Mechanism("top")
mech.add_body(mb.Body("top", disc.inertia, shapes=[disc.shape, stem]))
mech.add_joint(mb.SphericalJoint("tip"), "world", "top")
lean = [np.cos(tilt / 2), 0, np.sin(tilt / 2), 0]
w = [-W * np.sin(tilt), 0, spin]  # the precession along the vertical, in the axes of the body
system = mech.assemble()
run = mb.simulate(system, (0.0, 2.0), q=lean, v=w, progress=False)
axis = system.poses(run.q)[:, 1, :3, 2]
assert np.allclose(axis[:, 2], np.cos(tilt), atol=1e-7)
assert np.allclose(axis[:, 0], np.sin(tilt) * np.cos(W * run.t), atol=1e-5)
run.animate("spinning_top.gif", frame_rate=8, size=(480, 360))
