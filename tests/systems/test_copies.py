"""A system is immutable, and holds addresses."""

import copy
import pickle

import pytest

import mbkit as mb


def test_copies_are_the_system_itself_and_pickles_are_refused():
    """Addresses mean nothing in another process; the mechanism and its text do."""
    mech = mb.Mechanism("ball")
    ball = mech.add_body(mb.Body("ball", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge", point=(0.1, 0, 0)), mech.world, ball)
    for frames in ("joint", "com"):
        system = mech.assemble(mb.RelativeCoordinates(body_frames=frames))
        assert copy.copy(system) is system
        assert copy.deepcopy(system) is system
        with pytest.raises(mb.UsageError, match=r"'ball' cannot be pickled.*model_text"):
            pickle.dumps(system)
    again = mb.parse_model(system.model_text).assemble()
    assert again.nv == 1
