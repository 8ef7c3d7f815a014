"""
Dzhanibekov's effect
====================

A body that turns about its middle axis of inertia turns over again and again, and keeps its
energy and its angular momentum.
"""

import numpy as np

import mbkit as mb

mech = mb.Mechanism("racket", gravity=(0, 0, 0))
mech.add_body(mb.Box("racket", (0.3, 0.2, 0.02), mass=1.0, color="#3366cc"))
mech.add_joint(mb.SphericalJoint("free"), "world", "racket")
system = mech.assemble()
run = mb.simulate(system, (0.0, 4.0), 1e-3, v=[1e-3, 10.0, 1e-3], progress=False)
R = system.poses(run.q)[:, 1, :3, :3]
momentum = np.einsum("kij,j,kj->ki", R, np.diag(system.mass_matrix(run.q[0])), run.v)
assert np.allclose(momentum, momentum[0], atol=1e-8)
assert run.v[:, 1].min() < -9.9  # it has turned over
run.animate("tennis_racket.gif", frame_rate=8, size=(480, 360))
