"""
Robot arm with a controller
===========================

Two joints follow a motion by computed torques. The error decays as exp(-10 t) (1 + 10 t) e0,
whatever the arm weighs.
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

mech = mb.Mechanism("arm")
mech.add_body(mb.Rod("upper arm", 0.5, 0.03, mass=2.0))
at = translation((0.5, 0, 0))
mech.add_body(
    mb.Rod("forearm", 0.4, 0.025, mass=1.0, pose=at, frames={"hand": translation((0.4, 0, 0))})
)
mech.add_joint(mb.RevoluteJoint("shoulder", axis=(0, 1, 0)), "world", "upper arm")
mech.add_joint(mb.RevoluteJoint("elbow", axis=(0, 1, 0), point=(0.5, 0, 0)), "upper arm", "forearm")
system = mech.assemble()


def controller(t, q, v):
    """Return the efforts that make q follow (sin 2t, cos 2t)."""
    goal = np.array([np.sin(2 * t), np.cos(2 * t)])
    rate = 2 * np.array([np.cos(2 * t), -np.sin(2 * t)])
    return system.inverse_dynamics(q, v, -4 * goal + 100 * (goal - q) + 20 * (rate - v))


run = mb.simulate(system, (0.0, 2.0), 1e-3, q=[0, 0], v=[2, 0], tau=controller, progress=False)
error = np.cos(2 * run.t) - run["elbow"]
assert np.allclose(error, np.exp(-10 * run.t) * (1 + 10 * run.t), atol=1e-6)
run.animate("robot_arm.gif", traces="hand", frame_rate=8, size=(480, 360))
