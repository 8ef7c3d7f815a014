"""Bodies that are light beside others, in absolute coordinates."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.spatial import translation


def ball_between(mass):
    """A ball of 1 cm on a hinge of the world, and a box of 1 kg on a hinge of the ball."""
    mech = mb.Mechanism("box on a ball")
    mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(mass, radius=0.01)))
    box = mb.SpatialInertia.box(1.0, size=(0.3, 0.1, 0.2))
    mech.add_body(mb.Body("box", box, translation((0.2, 0, 0))))
    mech.add_joint(mb.RevoluteJoint("h", axis=(0, 1, 0)), mech.world, "ball")
    mech.add_joint(mb.RevoluteJoint("i", axis=(1, 0, 0.3)), "ball", "box")
    return mech


@pytest.mark.some(2)
@pytest.mark.parametrize("mass", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("local", [mb.ScrewCoordinates(), mb.RotationVectorPosition()], ids=str)
def test_steps_need_not_be_smaller_for_a_light_body(mass, local):
    """Rows that are nearly dependent by mass are not those that are so by design."""
    mech = ball_between(mass)
    relative = mech.assemble()
    q, v = [0.3, 0.4], [1.0, 2.0]
    exact = mb.simulate(relative, (0.0, 1.0), 1e-3, q=q, v=v, save_every=1000, progress=False)
    system = mech.assemble(mb.AbsoluteCoordinates(local=local))
    start = system.state_of(relative, q, v)
    options = {"q": start[0], "v": start[1], "progress": False}
    errors = []
    for steps in (50, 100):
        run = mb.simulate(system, (0.0, 1.0), 1.0 / steps, **options)
        ends = system.poses(run.q[-1]) - relative.poses(exact.q[-1])
        errors.append(np.abs(ends).max())
    assert errors[1] < 1e-5
    assert np.log2(errors[0] / errors[1]) > 3.7
