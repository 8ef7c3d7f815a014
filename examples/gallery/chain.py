"""
Hanging chain
=============

Twenty links with ball joints swing as one chain. The centre of mass falls no deeper than it may:
kinetic and potential energy add up to the same number.
"""

import mbkit as mb
from mbkit.spatial import translation

links, length = 20, 0.05
mech = mb.Mechanism("chain")
before = "world"
for k in range(links):
    at = (k * length, 0, 0)
    mech.add_body(mb.Rod(f"link {k}", length, 0.008, mass=0.05, pose=translation(at)))
    mech.add_joint(mb.SphericalJoint(f"ball {k}", at), before, f"link {k}")
    before = f"link {k}"
run = mb.simulate(mech.assemble(), (0.0, 1.5), 5e-4, v={"ball 0": (0, 0, 2.0)}, progress=False)
assert abs(run.energy_drift).max() < 1e-6
run.animate("chain.gif", frame_rate=8, size=(480, 360))
