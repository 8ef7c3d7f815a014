"""A system is immutable, and holds addresses: in another process it is assembled again."""

import copy
import pathlib
import pickle

import numpy as np
import pytest

import mbkit as mb
from mbkit.simulation.long_runs.identity import system_digest

MODELS = pathlib.Path(__file__).parents[2] / "docs" / "studies" / "models"
COORDINATES = {
    "hybrid": mb.RelativeCoordinates(mb.Hybrid(), "com"),
    "absolute": mb.AbsoluteCoordinates(),
}


def slider_crank():
    model = MODELS / "slider-crank.toml"
    return mb.load_model(model)


@pytest.mark.parametrize("name", COORDINATES)
def test_copies_are_the_system_itself_and_pickles_the_same_to_the_last_bit(name):
    """Also with a closed loop, other numbers than the mechanism's, further forces, a solver."""
    plain = slider_crank().assemble(COORDINATES[name])
    body = plain.body_names[1]
    changed = plain.with_parameters({f"bodies.{body}.mass": 0.7})
    field = mb.UniformField("wind", acceleration=np.array([0.1, 0.2, 0.3]))
    system = changed.with_forces([field]).with_constraint_solver(mb.NullSpace())
    assert copy.copy(system) is system
    assert copy.deepcopy(system) is system
    again = pickle.loads(pickle.dumps(system))  # noqa: S301 - our own
    assert system_digest(again) == system_digest(system) != system_digest(plain)
    assert again.model_text == system.model_text
    assert again.loop_joints == system.loop_joints
    q, v = system.close_loops(system.reference_configuration(), np.zeros(system.nv))
    for found, expected in zip(
        again.solve_dynamics(q, v), system.solve_dynamics(q, v), strict=True
    ):
        assert np.array_equal(found, expected)
