"""
Arm of an excavator
===================

A hydraulic cylinder lifts a boom: the law of cosines connects the length of the cylinder with the
angle of the boom.
"""

import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

foot, eye = np.array([0.5, 0, -0.5]), np.array([1.0, 0, 0.0])
along = eye - foot
length = np.linalg.norm(along)
mech = mb.Mechanism("excavator")
mech.add_body(
    mb.Box("boom", (2, 0.2, 0.2), mass=200.0, shape_pose=translation((1, 0, 0)), color="#ccaa33")
)
mech.add_body(mb.Rod("barrel", 0.6 * length, 0.06, mass=20.0, axis=along, pose=translation(foot)))
mech.add_body(mb.Rod("piston", 0.95 * length, 0.03, mass=10.0, axis=-along, pose=translation(eye)))
mech.add_joint(mb.RevoluteJoint("boom", axis=(0, -1, 0)), "world", "boom")
mech.add_joint(mb.RevoluteJoint("foot", axis=(0, -1, 0), point=foot), "world", "barrel")
stroke = mb.PrismaticJoint("stroke", axis=along / length)
mech.add_joint(stroke.prescribe("0.15 * (1 - cos(pi * t))"), "barrel", "piston")
mech.add_joint(mb.SphericalJoint("eye", eye), "piston", "boom")
warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # all is in one plane
run = mb.simulate(mech.assemble(), (0.0, 2.0), 1e-3, progress=False)
now = length + 0.15 * (1 - np.cos(np.pi * run.t))
cosine = (1.0 + foot @ foot - now**2) / (2 * np.linalg.norm(foot))
assert np.allclose(np.pi / 4 + run["boom"], np.arccos(cosine), atol=1e-8)
run.animate("excavator.gif", frame_rate=8, size=(480, 360))
