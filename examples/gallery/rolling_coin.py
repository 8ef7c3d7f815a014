"""
Rolling coin
============

A coin rolls on a table without slip and bends its way as it leans. The ground does no work.
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

radius = 0.1
table = mb.BoxShape((3.0, 3.0, 0.01), pose=translation((0, 0, -0.005)))
mech = mb.Mechanism("coin", world_shapes=[table])
upright = rotation((1, 0, 0), np.pi / 2)
coin = mb.Cylinder("coin", radius, 0.01, mass=0.1, shape_pose=upright, color="#ccaa33")
mech.add_body(coin)
mech.add_joint(mb.FreeJoint("free"), "world", "coin")
mech.add_constraint(mb.RollingDisc("table", "world", "coin", radius=radius, axis=(0, 1, 0)))
system = mech.assemble()
q = [1, 0, 0, 0, 0, 0, radius]
run = mb.simulate(system, (0.0, 2.0), 1e-3, q=q, v=[0, 10, 1, 1, 0, 0], progress=False)
assert abs(run.energy_drift).max() < 1e-8
pose = system.poses(run.q)[:, 1]
assert np.allclose(pose[:, 2, 3], radius * np.sqrt(1 - pose[:, 2, 1] ** 2), atol=1e-9)
run.animate("rolling_coin.gif", traces="coin", frame_rate=8, size=(480, 360))
