"""
Stewart platform
================

Six legs of equal length carry a platform. Their motors move all alike, so that the platform goes
straight up and down: its height is sqrt(l^2 - d^2) by Pythagoras.
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

angles = np.radians([-10, 10, 110, 130, 230, 250])
tops = np.radians([-50, 50, 70, 170, 190, 290])
base = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
top = 0.6 * np.column_stack([np.cos(tops), np.sin(tops), 0 * tops]) + (0, 0, 1)
mech = mb.Mechanism("Stewart platform")
mech.add_body(mb.Cylinder("platform", 0.65, 0.05, mass=10.0, pose=translation((0, 0, 1))))
for k in range(6):
    along = top[k] - base[k]
    length = np.linalg.norm(along)
    low = mb.Rod(f"cylinder {k}", length / 2, 0.03, mass=1.0, axis=along, pose=translation(base[k]))
    high = mb.Rod(f"piston {k}", length / 2, 0.015, mass=0.5, axis=-along, pose=translation(top[k]))
    across = np.cross(along, (0, 0, 1))
    mech.add_body(low)
    mech.add_body(high)
    cardan = mb.UniversalJoint(f"cardan {k}", across, np.cross(along, across), base[k])
    motor = mb.PrismaticJoint(f"motor {k}", axis=along / length)
    mech.add_joint(cardan, "world", f"cylinder {k}")
    mech.add_joint(motor.prescribe("0.15 * sin(2 * pi * t)"), f"cylinder {k}", f"piston {k}")
    mech.add_joint(mb.SphericalJoint(f"ball {k}", top[k]), f"piston {k}", "platform")
system = mech.assemble()
run = mb.simulate(system, (0.0, 1.0), 2e-3, progress=False)
height = system.poses(run.q)[:, system.body_index("platform"), 2, 3]
legs = length + 0.15 * np.sin(2 * np.pi * run.t)
assert np.allclose(height, np.sqrt(legs**2 - length**2 + 1.0), atol=1e-7)
run.animate("stewart_platform.gif", frame_rate=8, size=(480, 360))
