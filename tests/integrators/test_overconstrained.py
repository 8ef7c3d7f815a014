"""Linkages whose rows depend on each other by design: orders and robustness of all methods.

Where loops are open, as inside a step, such rows are independent by as much as that.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME
from tests.constraints import closed_mechanisms

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

COORDINATES = {
    "relative": mb.RelativeCoordinates(),
    "absolute": mb.AbsoluteCoordinates(),
}
SPAN = 0.3
#: From a random velocity, at a posture that is not singular; the fastest joint's. [rad/s]
SPEEDS = {"bricard": 4.0, "bennett": 4.0, "sarrus": 2.0}

each_linkage = pytest.mark.parametrize("linkage", list(SPEEDS))
each_coordinates = pytest.mark.parametrize("coordinates", list(COORDINATES))


@functools.cache
def moving(linkage):
    """Return a linkage in relative coordinates, and its state at the start."""
    relative = getattr(closed_mechanisms, linkage)().assemble()
    q = relative.reference_configuration()
    rng = np.random.default_rng(0)
    _, v = relative.close_loops(q, rng.normal(size=relative.nv))
    if linkage == "bricard":  # off the posture in which it is symmetric
        q = relative.close_loops(relative.retract(q, 0.1 * v / np.abs(v).max()))
        _, v = relative.close_loops(q, v)
    return relative, q, v * SPEEDS[linkage] / np.abs(v).max()


def final(linkage, coordinates, steps, **options):
    """Return the poses of the bodies at the end of a run."""
    relative, q, v = moving(linkage)
    system = getattr(closed_mechanisms, linkage)().assemble(COORDINATES[coordinates])
    q, v = system.state_of(relative, q, v)
    run = mb.simulate(
        system, (0.0, SPAN), SPAN / steps, q=q, v=v, save_every=steps, progress=False, **options
    )
    return system.poses(run.q[-1])[[system.body_index(name) for name in relative.body_names]]


@functools.cache
def exact(linkage):
    """Return the same by a method of order 8, with a step eight times shorter than any."""
    return final(
        linkage, "relative", 800,
        integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8),
    )  # fmt: skip


@pytest.mark.some(4)
@each_linkage
@each_coordinates
@pytest.mark.parametrize(
    ("integrator", "order", "bound"),
    [
        (mb.RungeKuttaMuntheKaas(), 4, 3e-9),
        (mb.CommutatorFree(), 4, 3e-9),
        (mb.LocalVectorSpace("RK45"), 5, 2e-12),
    ],
    ids=["RungeKuttaMuntheKaas", "CommutatorFree", "LocalVectorSpace"],
)
def test_explicit_methods_keep_their_order(linkage, coordinates, integrator, order, bound):
    """The same rows are solved for at all stages of a step, compiled or in Python."""
    errors = [
        np.abs(final(linkage, coordinates, n, integrator=integrator) - exact(linkage)).max()
        for n in (25, 50, 100)
    ]
    if errors[-1] > 1e-12:  # far from rounding
        assert np.log2(errors[0] / errors[-1]) / 2.0 > order - 0.5, errors
    assert errors[-1] < bound


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "solver", [mb.SchurComplement(), mb.MinimumNorm(), mb.NullSpace()], ids=repr
)
@each_coordinates
def test_the_order_is_that_of_every_strategy(coordinates, solver):
    """All that decide on a rank."""
    errors = [
        np.abs(final("bricard", coordinates, n, constraint_solver=solver) - exact("bricard")).max()
        for n in (25, 50, 100)
    ]
    assert np.log2(errors[0] / errors[-1]) / 2.0 == pytest.approx(4.0, abs=0.2), errors


@pytest.mark.some(2)
@each_coordinates
@pytest.mark.parametrize(
    "integrator",
    [
        mb.RungeKuttaMuntheKaas(),
        mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-8),
        mb.LocalVectorSpace("RK45"),
    ],
    ids=["one size", "own steps", "in Python"],
)
def test_a_run_that_is_resumed_is_the_same_to_the_last_bit(
    tmp_path, monkeypatch, coordinates, integrator
):
    """Which rows count is a matter of where a step begins, and of nothing before it."""
    relative, q, v = moving("bricard")
    system = closed_mechanisms.bricard().assemble(COORDINATES[coordinates])
    q, v = system.state_of(relative, q, v)
    options = {"q": q, "v": v, "integrator": integrator, "progress": False}
    kind = type(integrator)
    prepare = kind.prepare

    def stopping(self, problem):
        inner = prepare(self, problem)

        def advance(first, steps, rows):
            if first >= 10:
                raise KeyboardInterrupt
            return inner(first, min(steps, 10), rows)

        return advance

    with monkeypatch.context() as patched:
        patched.setattr("mbkit.simulation.stepping.chunks.CHUNK", 1e-4)
        patched.setattr(kind, "prepare", stopping)
        assert not mb.simulate(
            system, (0.0, 0.2), 0.01, output=tmp_path / "run", **options
        ).completed
    went_on = mb.resume(tmp_path / "run", progress=False)
    whole = mb.simulate(system, (0.0, 0.2), 0.01, **options)
    np.testing.assert_array_equal(went_on.q, whole.q)
    np.testing.assert_array_equal(went_on.v, whole.v)


@pytest.mark.long
@each_linkage
@each_coordinates
@pytest.mark.parametrize(
    "integrator",
    [
        mb.GeneralizedAlpha(),
        mb.GeneralizedAlpha(formulation="index3"),
        mb.BLieDF(2),
        mb.BLieDF(3, formulation="index3"),
    ],
    ids=["alpha, index 2", "alpha, index 3", "BLieDF, index 2", "BLieDF, index 3"],
)
def test_implicit_methods_take_all_speeds_and_steps(linkage, coordinates, integrator):
    """Rows of Newton's matrix are those that count where loops are closed."""
    relative, q, v = moving(linkage)
    system = getattr(closed_mechanisms, linkage)().assemble(COORDINATES[coordinates])
    for factor in (-0.5, -0.25, 0.125, 0.25, 0.5):
        start = system.state_of(relative, q, factor * v)
        for steps in (10, 13, 23, 47, 100):
            run = mb.simulate(
                system, (0.0, 0.1), 0.1 / steps, q=start[0], v=start[1], integrator=integrator,
                progress=False,
            )  # fmt: skip
            assert run.residuals[:, 0].max() < 1e-10


@pytest.mark.some(2)
@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")  # of 20 ms
@pytest.mark.parametrize(
    "name",
    [
        "3-four-bar",
        "Bricard",
        "delta robot",
        pytest.param("Stewart platform", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("formulation", ["stabilized_index2", "index3"])
def test_several_loops_take_all_steps(name, formulation):
    """Of planar and parallel mechanisms, in absolute coordinates too."""
    case = BY_NAME[name]
    relative = case.system()
    start = relative.reference_configuration(), case.velocity(relative)
    for system in (relative, case.build().assemble(mb.AbsoluteCoordinates())):
        q, v = system.state_of(relative, *start)
        for method in (mb.GeneralizedAlpha, mb.BLieDF):
            for steps in (5, 12, 29):
                run = mb.simulate(
                    system, (0.0, 0.1), 0.1 / steps, q=q, v=v,
                    integrator=method(formulation=formulation), progress=False,
                )  # fmt: skip
                assert run.residuals[:, 0].max() < 1e-10
