"""Derivatives of runs of four closed mechanisms, against complex steps.

The classical method and the way back to closed loops are written here anew with complex numbers,
generalized-alpha in `test_complex_steps`; the derivatives of the end of the run are imaginary
parts, exact to rounding.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import bricard, double_cardan, four_bar, spatial_slider_crank
from mbkit.closed_loops.loop_equations import position_rows
from mbkit.sensitivities.passes.loops import takes_one_pass
from tests.sensitivities.differences import assert_adjoint
from tests.sensitivities.test_complex_steps import ComplexMethod, closed_motion, compare, rolling
from tests.sensitivities.test_python_constraints_by_pass import state_of, yoke
from tests.systems.complex_steps import STEP
from tests.systems.test_complex_steps_of_closed import closed

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

H, STEPS = 0.002, 2

#: Mechanisms whose positions add, with a parameter; of three some constraints are redundant. Masses
#: of shafts that only turn do not matter. Then places of joints, and how their axes move with them:
#: a plane linkage has to stay plane. And axes of a joint that
#: closes a loop.
CLOSED = {
    "four-bar": (four_bar, "bodies.coupler.mass", {"joints.C.S_succ": (0, 0, 0.3, 0.5, 0.1, 0)}),
    "slider-crank": (
        spatial_slider_crank, "bodies.rod.mass",
        {"joints.ball.S_succ": (3, 1, 2, 5, 4, 1), "joints.pivot.axis": (0.1, 0.2, 0.3)},
    ),
    "Bricard": (bricard, "bodies.rod3.mass", {}),
    "double Cardan": (
        double_cardan, "forces.damper.damping",
        {f"joints.hollow at output.{axis}": (0.1, 0.2, 0.3) for axis in ("axis1", "axis2")},
    ),
}  # fmt: skip
STIFFNESS = "forces.spring.stiffness"


class Classical(ComplexMethod):
    """Steps of the classical method, each of which ends where loops are closed."""

    NAMES = ("mass_matrix", "forward_dynamics", "constraint_jacobian", "constraint_residual")

    def least(self, q, x):
        """Return the least vector y, by kinetic energy, with A y = x."""
        A = self.at("constraint_jacobian", q=q)[self.rows]
        freed = np.linalg.solve(self.at("mass_matrix", q=q), A.T)
        return freed @ np.linalg.solve(A @ freed, x[self.rows])

    def closed(self, q, v):
        """Return the state where loops are closed, nearest by kinetic energy.

        Rows without residuals, as of rolling, are not left on the way.
        """
        for _ in range(2):
            g = np.zeros(self.system.num_velocity_constraints, dtype=complex)
            g[position_rows(self.system)] = self.at("constraint_residual", q=q)
            q = q - self.least(q, g)
        return q, v - self.least(q, self.at("constraint_jacobian", q=q) @ v)

    def end(self, q, v, **moves):
        """Return q and v at the end of the run, with what inputs move by as imaginary parts."""
        self.moves = {name: np.asarray([x]) for name, x in moves.items()}
        q, v = self.closed(q, v)
        for step in range(STEPS):
            speeds, rates, here = [], [], (q, v)
            for c, ahead in ((0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 0.0)):
                x, w = here
                speeds.append(w)
                rates.append(self.at("forward_dynamics", q=x, v=w, t=(step + c) * H))
                here = q + ahead * H * speeds[-1], v + ahead * H * rates[-1]
            b = np.array([1.0, 2.0, 2.0, 1.0]) * H / 6.0
            q, v = self.closed(q + b @ speeds, v + b @ rates)
        return np.concatenate([q, v])


#: Each mechanism by one of the two methods; both know nothing of what it is.
WITH_PLACES = ("slider-crank", "double Cardan")


def each_mechanism(kept):
    """Parametrize by the mechanisms, of which those that are not kept are in `make long`."""
    return pytest.mark.parametrize(
        "name", [pytest.param(n, marks=() if n in kept else pytest.mark.long) for n in CLOSED]
    )


@pytest.mark.slow
@each_mechanism(WITH_PLACES)
def test_runs_of_closed_mechanisms(name):
    """Forward and adjoint, by state, efforts, a mass or damping, a stiffness, and places."""
    example, number, places = CLOSED[name]
    system, state = closed(example)
    compare_classical(system, *(state[each] for each in ("q", "v", "tau")), number, places)


@pytest.mark.slow
def test_runs_of_a_ball_that_rolls():
    """One row of positions, two of velocities alone; by the place of a ring, and of the table."""
    system, q, v = rolling()
    assert takes_one_pass(system)
    tau = np.random.default_rng(2).normal(size=system.nv)
    places = {
        "joints.ring y.S_succ": (0.3, 1.0, 2.0, 0.5, 0.4, 1.0),
        "constraints.table.point_a": (0.1, 0.2, 0.3),
        "constraints.table.center": (0.2, 0.1, -0.3),
    }
    compare_classical(system, q, v, tau, "bodies.on ring y.mass", places)


@pytest.mark.slow
def test_runs_with_a_coupling_in_python():
    hinge = mb.RevoluteJoint("last", axis=(0.2, 0.3, 1.0), point=(0.2, 0.1, 0.4))
    system = yoke(lambda x: 0.1 * np.sin(x) + 0.3 * x**2, last=hinge)
    q, v = state_of(system)
    tau = np.random.default_rng(2).normal(size=system.nv)
    places = {"joints.slide.S_succ": (0.3, 1.0, 2.0, 0.5, 0.4, 1.0)}
    compare_classical(system, q, v, tau, "bodies.pan.mass", places)


def compare_classical(system, q, v, tau, number, places):
    """Compare derivatives of a run with complex steps, and with its adjoint."""
    assert system.nq == system.nv == system.ndx
    run = mb.simulate(system, (0.0, STEPS * H), H, q=q, v=v, tau=tau)
    method = Classical(system, q, (number, STIFFNESS, *places), tau)
    end = method.end(q + 0j, v + 0j).real
    assert np.abs(end - np.concatenate([run.q[-1], run.v[-1]])).max() < 1e-11 * np.abs(end).max()
    x, w, u = closed_motion(system, q, v)
    found = mb.sensitivities(run, by=["q", "v", "tau", number, STIFFNESS, *places])
    assert_adjoint(run, found, rtol=1e-11)

    def own(of, move):
        parts = found.q[of][-1], found.v[of][-1]
        return np.concatenate([np.tensordot(part, move, np.ndim(move)) for part in parts])

    e = 1j * STEP
    pull = np.random.default_rng(1).normal(size=system.nv)
    cases = {
        "positions": (method.end(q + e * x, v + e * w), own("q", x) + own("v", w)),
        "velocities": (method.end(q + 0j, v + e * u), own("v", u)),
        "efforts": (method.end(q + 0j, v + 0j, tau=pull), own("tau", pull)),
    }
    # all parameters at once, each by a number of its own: their derivatives add
    along = {number: 1.3, STIFFNESS: 0.7, **places}
    changes = {each: method.own["mass_matrix"].changes(each) for each in places}
    moves = {each: x @ changes[each] if each in places else [x] for each, x in along.items()}
    derivative = sum(own(each, x) for each, x in along.items())
    cases["parameters"] = method.end(q + 0j, v + 0j, **moves), derivative
    for of, (moved, derivative) in cases.items():
        exact = moved.imag / STEP
        assert np.abs(derivative - exact).max() < 1e-10 * np.abs(exact).max(), of


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")  # of light rods that turn fast
@each_mechanism({*CLOSED} - {*WITH_PLACES})
def test_runs_by_generalized_alpha(name):
    """Forward and adjoint, by state, a mass or damping, and a stiffness."""
    example, number, _ = CLOSED[name]
    system, state = closed(example)
    system = system.without_forces(["push"])  # of Python, which knows the time
    given = system, state["q"], state["v"], "stabilized_index2", "second order"
    compare(*given, h=H, number=number)
