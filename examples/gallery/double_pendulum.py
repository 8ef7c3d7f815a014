"""
Double pendulum
===============

Two rods on hinges, released from above: the motion is chaotic, and its energy is kept. The red
line is the way of the tip.
"""

import mbkit as mb
from mbkit.spatial import translation

mech = mb.Mechanism("double pendulum")
upper = mb.Rod("upper", length=1.0, radius=0.02, mass=1.0)
lower = mb.Rod(
    "lower", length=1.0, radius=0.02, mass=1.0, pose=translation((1, 0, 0)),
    frames={"tip": translation((1, 0, 0))},
)  # fmt: skip
mech.add_body(upper)
mech.add_body(lower)
mech.add_joint(mb.RevoluteJoint("shoulder", axis=(0, 1, 0)), "world", "upper")
mech.add_joint(mb.RevoluteJoint("elbow", axis=(0, 1, 0), point=(1, 0, 0)), "upper", "lower")
run = mb.simulate(mech.assemble(), (0.0, 3.0), q={"shoulder": -1.0}, progress=False)
assert abs(run.energy_drift).max() < 1e-5 * run.kinetic_energy.max()
run.animate(
    "double_pendulum.gif",
    traces="tip",
    frame_rate=8,
    size=(480, 360),
)
