"""
Whip
====

A whip of links that get lighter: the wave runs to the tip, which becomes several times faster
than the handle ever was, without any energy that the hand has not given.
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

links, length = 16, 0.1
mech = mb.Mechanism("whip", gravity=(0, 0, 0))
before = "world"
for k in range(links):
    at = (k * length, 0, 0)
    frames = {"tip": translation((length, 0, 0))} if k == links - 1 else {}
    mass = 0.2 * 0.75**k
    mech.add_body(
        mb.Rod(f"link {k}", length, 0.02 * 0.9**k, mass=mass, pose=translation(at), frames=frames)
    )
    mech.add_joint(mb.RevoluteJoint(f"hinge {k}", (0, 1, 0), at), before, f"link {k}")
    before = f"link {k}"
system = mech.assemble()
rates = {"hinge 0": 10.0} | {f"hinge {k}": -3.0 for k in range(1, 6)}
run = mb.simulate(system, (0.0, 0.6), 1e-4, v=rates, progress=False)
assert abs(run.energy_drift).max() < 1e-6 * run.kinetic_energy[0]
speed = [np.linalg.norm(system.twist("tip", q, v)[3:]) for q, v in zip(run.q, run.v, strict=True)]
print(f"The tip is {max(speed) / speed[0]:.1f} times as fast as at the start.")
run.animate(
    "whip.gif",
    traces="tip",
    speed=0.3,
    frame_rate=8,
    size=(480, 360),
)
