"""
Cam and valve
=============

A cam lifts a valve by a plate: the lift is a table over the angle of the shaft, joined by a cubic
spline. It is that of a round cam whose centre is 20 mm beside the axle.
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

angle = np.linspace(0, 2 * np.pi, 73)
mech = mb.Mechanism("cam")
shaft = mb.Cylinder("shaft", 0.1, 0.04, mass=1.0, shape_pose=translation((0, -0.02, 0)))
mech.add_body(shaft)
stem = mb.Rod("stem", 0.3, 0.015, mass=0.2, axis=(0, 1, 0))
plate = mb.BoxShape((0.12, 0.01, 0.04), pose=translation((0, 0.005, 0)))
low = translation((0, 0.08, 0))  # on top of the cam, whose radius is 0.1 m
mech.add_body(mb.Body("valve", stem.inertia, low, shapes=[stem.shape, plate]))
mech.add_joint(mb.RevoluteJoint("axle").prescribe("2 * pi * t"), "world", "shaft")
mech.add_joint(mb.PrismaticJoint("guide", axis=(0, 1, 0)), "world", "valve")
lift = 0.04 * (1 - np.cos(angle)) / 2
mech.add_constraint(mb.Cam("cam", "axle", "guide", angle, lift, periodic=True))
run = mb.simulate(mech.assemble(), (0.0, 1.0), 1e-3, progress=False)
assert np.allclose(run["guide"], 0.02 * (1 - np.cos(2 * np.pi * run.t)), atol=1e-6)
run.animate("cam.gif", frame_rate=8, size=(480, 360))
