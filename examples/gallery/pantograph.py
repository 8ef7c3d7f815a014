"""
Pantograph
==========

A parallelogram of bars draws twice as large what its pin follows.
"""

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import translation


def bar(name, start, end):
    """Return a round bar of 2 kg/m from one point to another."""
    along = np.subtract(end, start)
    length = np.linalg.norm(along)
    return mb.Rod(name, length, 0.02, mass=2 * length, axis=along, pose=translation(start))


origin = np.zeros(3)
A, B = np.array([0.3, 0, 0.4]), np.array([0.3, 0, -0.4])  # the sides of the parallelogram
pin, pen = A + B, 2 * (A + B)
mech = mb.Mechanism("pantograph", gravity=(0, 0, 0))
mech.add_body(bar("first", origin, 2 * A))
mech.add_body(bar("second", 2 * A, pen))
mech.add_body(bar("third", A, pin))
mech.add_body(bar("fourth", 2 * A + B, pin))
mech.add_joint(
    mb.RevoluteJoint("O", (0, 1, 0), origin).prescribe("0.3 * sin(2 * pi * t)"), "world", "first"
)
bend = mb.RevoluteJoint("bend", (0, 1, 0), 2 * A).prescribe("0.4 * (1 - cos(2 * pi * t))")
mech.add_joint(bend, "first", "second")
mech.add_joint(mb.RevoluteJoint("A", (0, 1, 0), A), "first", "third")
mech.add_joint(mb.RevoluteJoint("B", (0, 1, 0), 2 * A + B), "second", "fourth")
mech.add_joint(mb.RevoluteJoint("pin", (0, 1, 0), pin), "third", "fourth")
warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # all is in one plane
system = mech.assemble()
run = mb.simulate(system, (0.0, 1.0), 2e-3, progress=False)
poses = system.poses(run.q)
small = poses[:, system.body_index("third")] @ (*B, 1)
large = poses[:, system.body_index("second")] @ (*(2 * B), 1)
assert np.allclose(large[:, :3], 2 * small[:, :3], atol=1e-9)
run.animate("pantograph.gif", frame_rate=8, size=(480, 360))
