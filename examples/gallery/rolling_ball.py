"""
Ball on an incline
==================

A ball that rolls without slip has 5/7 of the acceleration of a point that slides.
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

slope = np.radians(10.0)
down = np.array([np.sin(slope), 0.0, -np.cos(slope)])
mech = mb.Mechanism("incline", gravity=9.81 * down)  # x is down the incline, z is normal to it
mech.add_body(mb.Box("plane", (3, 1, 0.02), mass=1.0, pose=translation((1, 0, -0.11))))
mech.add_joint(mb.FixedJoint("ground"), "world", "plane")
mech.add_body(mb.Sphere("ball", 0.1, mass=1.0, color="#cc3333"))
mech.add_joint(mb.FreeJoint("free"), "world", "ball")
mech.add_constraint(mb.RollingSphere("roll", "world", "ball", radius=0.1, point_a=(0, 0, -0.1)))
system = mech.assemble()
run = mb.simulate(system, (0.0, 1.5), 1e-3, progress=False)
x = system.poses(run.q)[:, system.body_index("ball"), 0, 3]
assert np.allclose(x, 5 / 7 * 9.81 * np.sin(slope) * run.t**2 / 2, atol=1e-9)
run.animate("rolling_ball.gif", frame_rate=8, size=(480, 360))
