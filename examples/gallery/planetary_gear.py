"""
Planetary gear
==============

With the ring held, the carrier turns slower than the sun by 1 + z_ring / z_sun (Willis).
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

sun, planet, ring = 20, 30, 80  # teeth, each of 4 mm on the radius
mech = mb.Mechanism("planetary gear", gravity=(0, 0, 0))
mech.add_body(
    mb.Box("carrier", (0.1, 0.02, 0.005), mass=1.0, shape_pose=translation((0.05, 0, 0.02)))
)
mech.add_body(mb.Cylinder("sun", 0.002 * sun, 0.02, mass=1.0, color="#ccaa33"))
at = translation((0.002 * (sun + planet), 0, 0))
mech.add_body(mb.Cylinder("planet", 0.002 * planet, 0.02, mass=1.0, pose=at, color="#3366cc"))
mech.add_joint(mb.RevoluteJoint("carrier"), "world", "carrier")
mech.add_joint(mb.RevoluteJoint("sun"), "carrier", "sun")
mech.add_joint(mb.RevoluteJoint("planet", point=at[:3, 3]), "carrier", "planet")
mech.add_constraint(mb.GearRatio("inner mesh", "sun", "planet", ratio=-sun / planet))
# relative to the carrier the ring turns by -carrier
mech.add_constraint(mb.GearRatio("outer mesh", "carrier", "planet", ratio=-ring / planet))
motor = mb.JointEffort("motor", "carrier", 0.05)
mech.add_force(motor)
run = mb.simulate(mech.assemble(), (0.0, 2.0), 1e-3, progress=False)
turned = run["carrier"][-1]
assert turned > 0.1
assert np.isclose((turned + run["sun"][-1]) / turned, 1 + ring / sun)
run.animate("planetary_gear.gif", frame_rate=8, size=(480, 360))
