"""Functions as forces: the same as the class with the same formula, along joints and on bodies."""

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import REPRESENTATIONS
from tests.simulation.long_runs import ball_and_hinge


@pytest.mark.compiled
@pytest.mark.parametrize("representation", REPRESENTATIONS, ids=lambda each: each.name)
def test_they_do_what_the_compiled_ones_do(representation):
    system = ball_and_hinge().assemble(mb.RelativeCoordinates(representation))
    wrench = np.array([0.1, -0.2, 0.3, 1.0, 2.0, -0.5])
    compiled = system.with_forces(
        [
            mb.JointDamper("damper", "hinge", damping=0.7),
            mb.BodyWrench("push", "lower", wrench=wrench, axes="world"),
        ]
    )
    functions = system.with_forces(
        [
            mb.ForceFunction("damper", lambda t, q, v: -0.7 * v, "hinge", power="dissipated"),
            mb.ForceFunction("push", lambda t, poses, twists: [wrench], bodies="lower"),
        ]
    )
    rng = np.random.default_rng(3)
    q = system.retract(system.reference_configuration(), rng.normal(size=4))
    v = rng.normal(size=4)
    np.testing.assert_allclose(
        functions.generalized_forces(q, v), compiled.generalized_forces(q, v), atol=1e-13
    )
    np.testing.assert_allclose(
        functions.force_powers(q, v), compiled.force_powers(q, v), atol=1e-13
    )
    run, same = (mb.simulate(each, (0.0, 0.3), 1e-3, v=v) for each in (functions, compiled))
    np.testing.assert_allclose(run.q, same.q, atol=1e-11)
    assert np.abs(run.energy_balance).max() < 1e-7


def test_all_joints_are_meant_where_none_is_named():
    system = ball_and_hinge().assemble()
    force = mb.ForceFunction("all", lambda t, q, v: -2.0 * v)
    v = np.array([1.0, 2.0, 3.0, 4.0])
    q = system.reference_configuration()
    np.testing.assert_array_equal(system.with_forces([force]).generalized_forces(q, v), -2.0 * v)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mb.ForceFunction("f", 3.0), "must be a function"),
        (lambda: mb.ForceFunction("f", print, "hinge", "lower"), "on joints or on bodies"),
        (lambda: mb.ForceFunction("f", print, power="conservative"), "must be 'supplied' or"),
        (lambda: ball_and_hinge().add_force(lambda t: 0), r"mbkit.ForceFunction\('name'"),
        (
            lambda: mb.simulate(
                ball_and_hinge().assemble(), (0.0, 0.1), 1e-2,
                forces=[mb.ForceFunction("f", lambda t, q, v: np.zeros(3), "hinge")],
            ),
            r"Force 'f': its function must return an array of shape \(1,\), got \(3,\)",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(mb.MbkitError, match=message):
        make()


def test_a_run_goes_on_with_the_same_function_alone(tmp_path):
    """Functions are compared by their code, as those of `tau` are."""
    system = ball_and_hinge().assemble()
    stop = mb.Event("stop", lambda t, q, v: 1.0 / 0.0 if t > 0.06 else 1.0)
    options = {"events": [stop], "progress": False, "output": tmp_path / "run"}
    force = [mb.ForceFunction("f", lambda t, q, v: -0.3 * v)]
    with pytest.raises(ZeroDivisionError):
        mb.simulate(system, (0.0, 0.1), 1e-3, forces=force, v=[1, 0, 0, 1], **options)
    other = [mb.ForceFunction("f", lambda t, q, v: -0.4 * v)]
    with pytest.raises(mb.UsageError, match="force 'f': 'function'"):
        mb.resume(tmp_path / "run", forces=other, events=[stop], progress=False)
