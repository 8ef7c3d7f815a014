"""Steps that implicit methods could not solve: messages, and the record of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators.newton_record import Newton
from mbkit.kernels.status import SINGULAR_STEP, failure
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS
from tests.integrators.motions import motion

FOUR_BAR = CONSTRAINED_PROBLEMS[-1]


class Singular(mb.Integrator):
    """A method whose matrix has no pivot in a column."""

    order = 2
    takes_constraints = keeps_constraints = True

    def __init__(self, column: int, corrections: tuple[float, ...] = ()) -> None:
        self.column = column
        self.corrections = corrections

    def prepare(self, problem: Any) -> Any:
        """Return steps that fail."""
        problem.newton = Newton.empty(5, problem.nv + problem.equations.num_velocity_constraints)
        problem.newton.count[0] = len(self.corrections) + 1
        problem.newton.history[: len(self.corrections), 0] = self.corrections
        return lambda first, steps, rows: (failure(SINGULAR_STEP, self.column), 0, 0)


def rails() -> mb.System:
    """Return two masses of 1 kg, each on a rail of its own."""
    mech = mb.Mechanism("rails", gravity=(0, 0, 0))
    for name in ("still", "moved"):
        body = mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(mb.PrismaticJoint(f"{name} rail"), mech.world, body)
    return mech.assemble()


@pytest.mark.parametrize(
    ("column", "name"),
    [(4, "velocity 'free[4]'"), (7, "row 'tip[1]'"), (10, "row 'tip[1]'")],
)
def test_a_singular_matrix_names_its_column(column: int, name: str) -> None:
    """A velocity, a constraint's multiplier, or what keeps its velocity: where nothing is wrong."""
    system, q, v, _ = motion("loop top")
    with pytest.raises(mb.ConvergenceError, match=re.escape(name)) as caught:
        mb.simulate(system, (0.0, 1.0), 0.1, q=q, v=v, integrator=Singular(column))
    assert "before any iteration, where it expects the step to end. A smaller h" in str(
        caught.value
    )
    for word in ("residuals", "Leave the constraint out", "Give bodies inertia"):
        assert word not in str(caught.value)
    assert caught.value.iterations.corrections.size == 0
    assert caught.value.iterations.residual == {}


@pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")
def test_a_row_that_depends_on_others_is_to_be_left_out() -> None:
    """Three of the five rows of a planar loop follow from the others, which those are."""
    system, q, v, _ = motion("four-bar")
    A = system.constraint_jacobian(q)
    rank = np.linalg.matrix_rank(A, tol=1e-9)
    for k in range(len(A)):
        depends = np.linalg.matrix_rank(np.delete(A, k, axis=0), tol=1e-9) == rank
        with pytest.raises(mb.ConvergenceError) as caught:
            mb.simulate(system, (0.0, 1.0), 0.1, q=q, v=v, integrator=Singular(system.nv + k))
        said = f"row '{system.constraint_names[k]}' depends on others there. Leave the constraint"
        assert (said in str(caught.value)) == depends


def test_a_velocity_without_inertia_is_told_where_it_has_none() -> None:
    """An arm that comes to lie along the axis that it hangs on."""
    mech = mb.Mechanism("arm")
    hub = mech.add_body(mb.Body("hub", mb.SpatialInertia.from_com(1.0, (0, 0, 0))))
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.from_com(1.0, (1, 0, 0))))
    mech.add_joint(mb.RevoluteJoint("turn", axis=(0, 0, 1)), mech.world, hub)
    mech.add_joint(mb.RevoluteJoint("lift", axis=(0, 1, 0)), hub, arm)
    for angle, told in ((np.pi / 2, True), (0.3, False)):
        with pytest.raises(mb.ConvergenceError, match="velocity 'turn'") as caught:
            mb.simulate(mech.assemble(), (0.0, 1.0), 0.1, q=[0.0, angle], integrator=Singular(0))
        assert ("Give bodies inertia where they can move" in str(caught.value)) == told


def test_a_matrix_that_is_singular_where_newtons_method_strays_to_is_no_cause() -> None:
    """The step is too large: bodies have the inertia that they need."""
    system, q, v, _ = motion("loop top")
    strays = Singular(4, corrections=(1e3, 2e9))
    with pytest.raises(mb.ConvergenceError, match=r"are 1\.0e\+03, 2\.0e\+09, and") as caught:
        mb.simulate(system, (0.0, 1.0), 0.1, q=q, v=v, integrator=strays)
    assert "singular, at velocity 'free[4]'" in str(caught.value)
    assert "A smaller h helps" in str(caught.value)
    assert "inertia" not in str(caught.value)


@pytest.mark.some(2)
@pytest.mark.compiled
@pytest.mark.parametrize("method", [mb.GeneralizedAlpha(), mb.BLieDF(2), mb.BLieDF(4)], ids=repr)
def test_an_iteration_that_does_not_converge_is_kept_whole(method: mb.Integrator) -> None:
    """A spatial four-bar in steps of 0.3 s: the message has its end, the exception all of it."""
    system = FOUR_BAR.system
    with pytest.raises(mb.ConvergenceError, match=r"stopped at t = 0\.\d s, in step") as caught:
        FOUR_BAR.run(method, 4)
    message, record = str(caught.value), caught.value.iterations
    count = len(record.corrections)
    assert f"after {count} iterations of Newton's method the corrections" in message
    assert count > 5
    for numbers in (record.corrections, record.residuals):
        assert numbers.shape == (count,)
        assert (numbers > 0.0).all()
        assert ", ".join(f"{x:.1e}" for x in numbers[-5:]) in message
    assert tuple(record.residual) == (*system.velocity_names, *system.constraint_names)
    worst = max(record.residual, key=lambda name: abs(record.residual[name]))
    assert f"Largest residuals: '{worst}' {record.residual[worst]:.3g}" in message
    assert abs(record.residual[worst]) == record.residuals[-1]
    assert "Leave the constraint out" not in message


@pytest.mark.compiled
def test_steps_that_the_error_makes_too_small_name_where_it_is() -> None:
    """A force with a pole in time."""
    with pytest.raises(mb.ConvergenceError, match="below the resolution of t to keep") as caught:
        mb.simulate(
            rails(), (0.0, 1.0), 0.1, tau=lambda t, q, v: [0.0, (abs(t - 0.35) + 1e-300) ** -1.5],
            integrator=mb.GeneralizedAlpha(rtol=1e-8), progress=False,
        )  # fmt: skip
    assert "the error of the last is the largest in 'moved rail'" in str(caught.value)


def test_steps_that_newtons_method_makes_too_small_tell_of_the_last() -> None:
    """A force that is another number each time that it is asked for."""
    rng = np.random.default_rng(5)
    with pytest.raises(mb.ConvergenceError, match="cannot be solved either") as caught:
        mb.simulate(
            rails(), (0.0, 1.0), 0.1, tau=lambda t, q, v: [0.0, 1e20 * rng.normal()],
            integrator=mb.GeneralizedAlpha(rtol=1e-6), progress=False,
        )  # fmt: skip
    record = caught.value.iterations
    assert f"In the last, after {len(record.corrections)} iterations" in str(caught.value)
    assert "Largest residuals: 'moved rail'" in str(caught.value)
    assert abs(record.residual["moved rail"]) == record.residuals[-1]


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")  # it is over in a step
@pytest.mark.parametrize("method", [mb.GeneralizedAlpha(), mb.BLieDF(1), mb.BLieDF(2)], ids=repr)
@pytest.mark.parametrize("in_python", [True, False])
def test_a_stiff_function_is_told_to_be_a_force(method: mb.Integrator, *, in_python: bool) -> None:
    """What Newton's method lacks is its derivative, which a force has."""
    system, options = rails(), {"q": [0.0, 1.0], "integrator": method, "progress": False}
    if in_python:
        with pytest.raises(mb.ConvergenceError, match="tau is not differentiated: where it is s"):
            mb.simulate(system, (0.0, 0.1), 1e-2, tau=lambda t, q, v: -1e6 * q - 3e3 * v, **options)
    else:
        forces = [
            mb.JointSpring("spring", "moved rail", stiffness=1e6),
            mb.JointDamper("damper", "moved rail", damping=3e3),
        ]
        assert mb.simulate(system, (0.0, 0.1), 1e-2, forces=forces, **options).completed


@pytest.mark.parametrize(
    ("method", "t"),
    [
        (mb.RungeKuttaMuntheKaas(), "0.495"), (mb.GeneralizedAlpha(), "0.5"),
        (mb.BLieDF(1), "0.5"), (mb.BLieDF(2), "0.5"),
    ],
)  # fmt: skip
def test_what_is_not_finite_is_so_at_the_time_that_is_named(method: mb.Integrator, t: str) -> None:
    """Which is that of an evaluation in the step, and not of its beginning."""
    with pytest.raises(mb.NotFiniteError, match=r"stopped at t = 0\.49 s, in step 50") as caught:
        mb.simulate(
            rails(), (0.0, 1.0), 1e-2, tau=lambda t, q, v: [np.nan if t > 0.494 else 0.0, 0.0],
            integrator=method, progress=False,
        )  # fmt: skip
    assert f"it must be finite. At t = {t}. The function tau" in str(caught.value)


def test_whole_seconds_end_with_one_dot() -> None:
    with pytest.raises(mb.NotFiniteError, match=r"At t = 0\. The function tau returned it"):
        mb.simulate(rails(), (0.0, 1.0), 1e-2, tau=lambda t, q, v: [np.nan, 0.0], progress=False)
