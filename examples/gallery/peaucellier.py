"""
Peaucellier's straight line
===========================

Seven bars and hinges alone draw an exact straight line: the tip is the inverse, with respect to a
circle, of a pin that moves on a circle through its centre.
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


long, short, crank = 1.0, 0.4, 0.35
origin, Q = np.zeros(3), np.array([crank, 0.0, 0.0])
P = np.array([2 * crank, 0.0, 0.0])  # on the circle about Q through the origin
x = (long**2 - short**2 + P[0] ** 2) / (2 * P[0])
A = np.array([x, 0, np.sqrt(long**2 - x**2)])
B = A * (1, 1, -1)
T = np.array([2 * x - P[0], 0, 0])
bars = {
    "OA": (origin, A),
    "OB": (origin, B),
    "QP": (Q, P),
    "PA": (P, A),
    "PB": (P, B),
    "TA": (T, A),
    "TB": (T, B),
}
mech = mb.Mechanism("Peaucellier", gravity=(0, 0, 0))
for name, (start, end) in bars.items():
    mech.add_body(bar(name, start, end))
hinges = [
    ("world", "OA", origin), ("world", "OB", origin), ("world", "QP", Q),
    ("QP", "PA", P), ("QP", "PB", P),
    ("OA", "TA", A), ("OB", "TB", B), ("PA", "OA", A), ("PB", "OB", B), ("TA", "TB", T),
]  # fmt: skip
for k, (first, second, point) in enumerate(hinges):
    joint = mb.RevoluteJoint(f"{first}-{second}", axis=(0, -1, 0), point=point)
    if k == 2:
        joint = joint.prescribe("0.6 * sin(2 * pi * t)")
    mech.add_joint(joint, first, second)
warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # all loops are in one plane
system = mech.assemble()
run = mb.simulate(system, (0.0, 1.0), 2e-3, progress=False)
tip = system.poses(run.q)[:, system.body_index("TA"), :3, 3]
assert np.allclose(tip[:, 0], T[0], atol=1e-8)
assert np.ptp(tip[:, 2]) > 0.3
run.animate("peaucellier.gif", traces="TA", frame_rate=8, size=(480, 360))
