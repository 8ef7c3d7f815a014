"""
Bennett's linkage
=================

Four bars and four hinges in space, which a count of freedoms calls rigid (mobility -2). It moves
where opposite bars have equal lengths and twists with sin(twist)/length the same for all.
Tangents of half the angles of neighbours then have a constant product.
"""

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

lengths = (1.0, 0.5)
twists = (np.pi / 2, np.pi / 6)  # sin / length is 1 for both
rows = [(lengths[k % 2], twists[k % 2]) for k in range(4)]


def bars(t1):
    """Return the poses of the four bars for the first angle of the hinges."""
    t2 = 2 * np.arctan(K / np.tan(t1 / 2))
    pose, poses = np.eye(4), []
    for (length, twist), t in zip(rows, (t1, t2, -t1, -t2), strict=True):
        poses.append(pose @ rotation((0, 0, 1), t))
        pose = poses[-1] @ translation((length, 0, 0)) @ rotation((1, 0, 0), twist)
    return poses, pose


K = np.sin((twists[1] + twists[0]) / 2) / np.sin((twists[1] - twists[0]) / 2)
poses, closed = bars(2.0)
assert np.allclose(closed, np.eye(4))
mech = mb.Mechanism("Bennett", gravity=(0, 0, 0))
for k in range(3):
    mech.add_body(mb.Rod(f"bar {k}", rows[k][0], 0.02, mass=1.0, pose=poses[k]))
names = ["bar 0", "bar 1", "bar 2", "world"]
hinges = [
    mb.RevoluteJoint(f"hinge {k}", axis=poses[k][:3, 2], point=poses[k][:3, 3]) for k in range(4)
]
for k in range(4):
    mech.add_joint(hinges[k], names[k - 1], names[k])
warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # the mechanism lives on them
system = mech.assemble()
run = mb.simulate(system, (0.0, 2.0), 1e-3, v={"hinge 1": 3.0}, progress=False)
assert np.ptp(run["hinge 1"]) > 1.0
first, last = (system.diagnose(q).mobility for q in (run.q[0], run.q[-1]))
assert first == last == 1
run.animate("bennett.gif", frame_rate=8, size=(480, 360))
