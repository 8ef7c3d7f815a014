"""
Furuta pendulum
===============

A pendulum at the end of an arm that turns freely: energy and the moment about the vertical axis
are kept.
"""

import numpy as np

import mbkit as mb
from mbkit.spatial import translation

mech = mb.Mechanism("Furuta pendulum")
mech.add_body(mb.Rod("arm", 0.5, 0.02, mass=0.5))
hanging = translation((0.5, 0, 0))
mech.add_body(
    mb.Rod(
        "pendulum",
        0.6,
        0.015,
        mass=0.3,
        axis=(0, 0, -1),
        pose=hanging,
        frames={"tip": translation((0, 0, -0.6))},
    )
)
mech.add_joint(mb.RevoluteJoint("turn", axis=(0, 0, 1)), "world", "arm")
mech.add_joint(mb.RevoluteJoint("swing", axis=(1, 0, 0), point=(0.5, 0, 0)), "arm", "pendulum")
system = mech.assemble()
start = {"turn": 2.0}
run = mb.simulate(system, (0.0, 3.0), 1e-3, q={"swing": 2.5}, v=start, progress=False)
moment = (system.mass_matrix(run.q) @ run.v[:, :, None])[:, 0, 0]
assert np.allclose(moment, moment[0], atol=1e-8)
run.animate(
    "furuta_pendulum.gif",
    traces="tip",
    frame_rate=8,
    size=(480, 360),
)
