"""
Suspension of a car
===================

A quarter of a car on springs runs over no bump at all, but is let go too high: body and wheel
swing as the eigenvalues of its linear model say.
"""

import numpy as np
import scipy.linalg

import mbkit as mb
from mbkit.spatial import rotation, translation

body, wheel, spring, tyre = 250.0, 40.0, 16e3, 160e3
mech = mb.Mechanism("suspension", gravity=(0, 0, 0))
mech.add_body(
    mb.Box("body", (1.0, 0.6, 0.3), mass=body, pose=translation((0, 0, 1.0)), color="#3366cc")
)
lying = rotation((1, 0, 0), np.pi / 2)
mech.add_body(
    mb.Cylinder("wheel", 0.3, 0.2, mass=wheel, shape_pose=lying, pose=translation((0, 0, 0.3)))
)
mech.add_joint(mb.PrismaticJoint("tyre", axis=(0, 0, 1)), "world", "wheel")
mech.add_joint(mb.PrismaticJoint("strut", axis=(0, 0, 1)), "wheel", "body")
mech.add_force(mb.JointSpring("tyre spring", "tyre", tyre))
mech.add_force(mb.JointSpring("strut spring", "strut", spring))
system = mech.assemble()
run = mb.simulate(system, (0.0, 2.0), 2e-4, q={"strut": 0.1}, progress=False)
stiffness = np.array([[tyre + spring, -spring], [-spring, spring]])  # of heights of wheel and body
squares, modes = scipy.linalg.eigh(stiffness, np.diag([wheel, body]))
start = modes.T @ np.diag([wheel, body]) @ (0.0, 0.1)
heights = modes @ (start[:, None] * np.cos(np.sqrt(squares)[:, None] * run.t))
assert np.allclose(run["tyre"], heights[0], atol=1e-7)
assert np.allclose(run["tyre"] + run["strut"], heights[1], atol=1e-7)
run.animate("car_suspension.gif", frame_rate=8, size=(480, 360))
