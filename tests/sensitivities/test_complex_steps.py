"""Derivatives of runs of a closed mechanism by generalized-alpha, against complex steps.

The method is written here anew with complex numbers, from the equations in its docstring; the
derivatives of its end are imaginary parts, exact to rounding.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import qr

import mbkit as mb
from mbkit.closed_loops.loop_equations import position_rows
from mbkit.kernels.implicit_integrators.starting_values import INTO
from mbkit.sensitivities.recorded_run import RecordedRun
from tests.constraints.closed_mechanisms import assembled, four_bar
from tests.sensitivities.differences import assert_adjoint
from tests.sensitivities.rolling_ball import RATES, START, ball
from tests.systems.complex_steps import STEP, ComplexEvaluation
from tests.systems.test_complex_steps_of_closed import allowed

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

H, STEPS, RHO, RESTITUTION = 0.01, 2, 0.8, 0.5
MASSES, STIFFNESS = ("bodies.rod 2.mass", "bodies.on ring y.mass"), "forces.spring.stiffness"


def linkage():
    """Return a four-bar with a spring and a damper, and a state that is closed."""
    mech = four_bar()
    mech.add_force(mb.JointSpring("spring", "A", stiffness=8.0, rest=0.25))
    mech.add_force(mb.JointDamper("damper", "B", damping=0.3))
    system = assembled(mech, "D")
    q = system.close_loops(np.array([0.3, 0.0, 0.0]))
    return system, q, system.close_loops(q, [6.0, 0.0, 0.0])[1]


def rolling():
    """Return a ball that rolls, and a state in which it does."""
    system = ball().assemble()
    q = system.close_loops(START)
    return system, q, system.close_loops(q, RATES)[1]


def mass_of(system):
    """Return the name of a mass."""
    return next(name for name in MASSES if name in system.parameters)


class ComplexMethod:
    """What a method asks of a system with complex numbers.

    With the parameters `free`, of which `moves` are imaginary parts.
    """

    NAMES: tuple[str, ...] = ()

    def __init__(self, system, q, free, tau):
        self.system, self.tau, self.moves = system, tau, {}
        self.own = {n: ComplexEvaluation(system, n, free) for n in self.NAMES}
        self.rows = np.zeros(0, dtype=int)
        if system.num_velocity_constraints:
            A = system.constraint_jacobian(q)
            rank = np.linalg.matrix_rank(A, tol=1e-9)
            self.rows = np.sort(qr(A.T, mode="r", pivoting=True)[1][:rank])

    def at(self, name, t=0.0, **given):
        """Return what an evaluation is for complex numbers."""
        value, rate = self.own[name]({"tau": self.tau, **given}, self.moves, t)
        return value + 1j * STEP * rate.reshape(value.shape)


class Alpha(ComplexMethod):
    """Generalized-alpha, of a closed mechanism whose positions add."""

    NAMES = ("mass_matrix", "inverse_dynamics", "constraint_jacobian", "constraint_residual",
             "forward_dynamics")  # fmt: skip

    def __init__(self, system, q, formulation, start, number):
        super().__init__(system, q, (number, STIFFNESS), np.zeros(system.nv))
        self.stabilised, self.plain = formulation == "stabilized_index2", start == "plain"
        # of these rows, which have a residual, and the places of their residuals
        self.held = np.isin(self.rows, position_rows(system))
        self.residuals = np.searchsorted(position_rows(system), self.rows[self.held])
        self.c, self.solved = mb.AlphaCoefficients.from_rho_inf(RHO), {}

    def residual(self, x, state, A_start, h):
        """Return equations of motion and constraints at the end, and the state there."""
        q, v, a, vdot, c = *state, self.c
        n, m = len(v), len(self.rows)
        next_vdot, force, eta = x[:n], x[n : n + m], x[n + m :]
        next_a = (1.0 - c.alpha_f) * next_vdot + c.alpha_f * vdot - c.alpha_m * a
        next_a = next_a / (1.0 - c.alpha_m)
        moved = v + h * ((0.5 - c.beta) * a + c.beta * next_a)
        if self.stabilised:
            moved = moved - A_start[self.held].T @ eta
        q, v = self.moved(q, h * moved), v + h * ((1.0 - c.gamma) * a + c.gamma * next_a)
        balance = self.at("inverse_dynamics", q=q, v=v, vdot=next_vdot)
        end = q, v, next_a, next_vdot
        if not m:
            return balance, end
        A = self.jacobian(q)
        parts = [balance - A.T @ force, self.at("constraint_residual", q=q)[self.residuals] / h]
        parts.append(A @ v if self.stabilised else A[~self.held] @ v)
        return np.concatenate(parts), end

    def moved(self, q, x):
        """Return the configuration at the end of a step."""
        return q + x

    def jacobian(self, q):
        """Return the independent rows of the constraints."""
        return self.at("constraint_jacobian", q=q)[self.rows]

    def step(self, state, h=H):
        """Solve for the end of a step, by Newton's method.

        With differences of real parts, which are the same whatever moves: they are taken once.
        """
        A_start = self.jacobian(state[0])
        key = np.round([*state[1].real, np.real(h)], 9).tobytes()
        if key not in self.solved:
            self.solved[key] = self.real_end(state, A_start, h)
        x, matrix = self.solved[key]
        for _ in range(6):
            x = x - np.linalg.solve(matrix, self.residual(x, state, A_start, h)[0])
        return self.residual(x, state, A_start, h)[1]

    def real_end(self, state, A_start, h):
        """Return the real parts of the unknowns of a step, and the matrix of Newton's method."""
        unknowns = len(state[1]) + len(self.rows) + self.stabilised * self.held.sum()
        x = np.zeros(unknowns)
        x[: len(state[1])] = state[3].real
        matrix = np.eye(unknowns)
        for _ in range(5):
            here = self.residual(x, state, A_start, h)[0].real
            columns = [
                (self.residual(x + 1e-6 * e, state, A_start, h)[0].real - here) / 1e-6
                for e in np.eye(len(x))
            ]
            matrix = np.transpose(columns)
            x = x - np.linalg.solve(matrix, here)
        return x, matrix

    def begin(self, q, v, h):
        """Return the state of the method at a start, as steps to events begin too."""
        vdot, c = self.at("forward_dynamics", q=q, v=v), self.c
        if self.plain:
            return q, v, vdot, vdot
        s = INTO * h
        later = {"q": self.moved(q, s * v + 0.5 * s * s * vdot), "v": v + s * vdot}
        change = (self.at("forward_dynamics", **later) - vdot) / INTO
        lag = c.alpha_m - c.alpha_f
        if not self.stabilised:
            missed = (1.0 - 6.0 * c.beta - 3.0 * lag) / 6.0 * h * change
            v = v + self.least(q, missed)
        return q, v, vdot + lag * change, vdot

    def least(self, q, x):
        """Return the least vector, by kinetic energy, that A takes where it takes x.

        Rows without residuals, as of rolling, take it to zero.
        """
        A = self.at("constraint_jacobian", q=q)[self.rows]
        freed = np.linalg.solve(self.at("mass_matrix", q=q), A.T)
        return freed @ np.linalg.solve(A @ freed, self.held * (A @ x))

    def resized(self, state, rate, before, h):
        """Return the state where a step of another size begins than the one before."""
        q, v, a, vdot = state
        a = a + (self.c.alpha_m - self.c.alpha_f) * (h - before) * rate
        if not self.stabilised:
            v = v - (1.0 - (h / before) ** 2) * self.least(q, v)
        return q, v, a, vdot

    def walk(self, q, v, sizes):
        """Return where steps of these sizes lead to, from a start at (q, v)."""
        state = self.begin(q, v, sizes[0])
        before = rate = None
        for h in sizes:
            state = state if before is None else self.resized(state, rate, before, h)
            end = self.step(state, h)
            rate, before, state = (end[3] - state[3]) / h, h, end
        return state

    def impact(self, start, level, fractions):
        """Return the time in a step at which the crank hits its stop, and q and v after it."""
        h = 0.5 * H + 0j
        for _ in range(6):  # Newton's method, with the velocity there
            q, v, *_ = self.walk(*start, h * fractions)
            h = h - (q[0] - level) / v[0]
        q, v, *_ = self.walk(*start, h * fractions)
        push = self.at("forward_dynamics", q=q, v=v, tau=np.eye(len(q))[0])
        push = push - self.at("forward_dynamics", q=q, v=v)
        return h, (q, v - (1.0 + RESTITUTION) * v[0] / push[0] * push)

    def end(self, q, v, sizes, level=None, **moves):
        """Return q and v at the end of the run, with what inputs move by as imaginary parts.

        sizes of all its steps. With a level the crank hits a stop in the second interval, and they
        are those of the first, of the part until the stop and of the rest; the time of the stop
        stands first.
        """
        self.moves = {name: np.asarray([x]) for name, x in moves.items()}
        if level is None:
            return np.concatenate(self.walk(q, v, sizes)[:2])
        q, v, *_ = self.walk(q, v, sizes[0])
        fractions = [each / sum(each) for each in sizes]
        hit, (q, v) = self.impact((q, v), level, fractions[1])
        return np.concatenate([[H + hit], *self.walk(q, v, (H - hit) * fractions[2])[:2]])


def sizes_of(run):
    """Return the sizes of the steps of each interval, or of each of its parts."""
    steps, found = RecordedRun.of(run, by=["q"]), []
    for piece in steps.pieces(matrices=True):
        taken = steps.take(piece)
        parts = [each.steps for each in taken.parts] if piece[1] == 0 else [taken.steps]
        found += [np.diff(getattr(each, "steps", each).t) for each in parts]
    return found


def closed_motion(system, q, v):
    """Return how q and v move where constraints stay satisfied, and how v does alone.

    Along a direction of positions that not every motion can go where something rolls.
    """
    A = ComplexEvaluation(system, "constraint_jacobian")
    value = A({"q": q}, {})[0]
    x, w = (allowed(rows).sum(axis=1) for rows in (value[position_rows(system)], value))
    turned = A({"q": q}, {"q": x})[1].reshape(value.shape)
    return x, -np.linalg.pinv(value, rcond=1e-9) @ (turned @ v), w


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("start", ["plain", "second order"])
@pytest.mark.parametrize(
    ("formulation", "stopped", "rtol"),
    [
        ("stabilized_index2", False, None), ("stabilized_index2", True, None),
        ("index3", False, None), ("stabilized_index2", False, 1e-5),
        ("stabilized_index2", True, 1e-5), ("index3", False, 1e-5),
    ],
)  # fmt: skip
def test_generalized_alpha_of_a_closed_mechanism(formulation, stopped, rtol, start):
    """Two intervals of one step each or several, without an event and with an impact.

    Of index 3 the adjoint is as near as of the ball below, for its reason.
    """
    adjoint = 1e-11 if formulation == "index3" else 1e-12
    compare(*linkage(), formulation, start, stopped, rtol, adjoint=adjoint)


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize("rtol", [None, pytest.param(1e-5, marks=pytest.mark.long)])
@pytest.mark.parametrize("start", ["plain", "second order"])
@pytest.mark.parametrize("formulation", ["index3", "stabilized_index2"])
def test_generalized_alpha_of_a_ball_that_rolls(formulation, start, rtol):
    """One row of positions, two of velocities alone, which the perturbed start leaves alone.

    Index 3 divides what rounding leaves of rows of positions by h^2, in another order backwards.
    """
    compare(*rolling(), formulation, start, False, rtol, adjoint=1e-11)


def compare(
    system, q, v, formulation, start, stopped=False, rtol=None, *, h=H, adjoint=1e-12, number=None
):
    """Compare derivatives of a run with complex steps, and with its adjoint.

    Of the parameters by a stiffness and by a number, a mass by default.
    """
    mass = number or mass_of(system)
    method = mb.GeneralizedAlpha(
        RHO, formulation=formulation, start=start, tolerance=1e-13, rtol=rtol
    )
    options = {"q": q, "v": v, "integrator": method}
    run, level = mb.simulate(system, (0.0, STEPS * h), h, **options), None
    if stopped:
        level = float(run.q[1:, 0].mean())
        stop = mb.Event("stop", mb.JointPosition("A", level=level), direction="rising",
                        reset=mb.Impact(RESTITUTION), tolerance=0.0)  # fmt: skip
        run = mb.simulate(system, (0.0, STEPS * H), H, events=[stop], **options)
    alpha, sizes = Alpha(system, q, formulation, start, mass), sizes_of(run)
    every = np.concatenate(sizes)
    assert rtol is None or (len(every) > 4 and np.ptp(every) > 1e-4)

    def end(q, v, **moves):
        taken = sizes if stopped else every
        return alpha.end(q + 0j, v + 0j, taken, level, **moves)

    times = run.events.t if stopped else []
    expected = np.concatenate([times, run.q[-1], run.v[-1]])
    assert np.abs(end(q, v).real - expected).max() < 1e-11 * np.abs(expected).max()
    x, w, u = closed_motion(system, q, v)
    found = mb.sensitivities(run, by=["q", "v", mass, STIFFNESS])
    assert_adjoint(run, found, rtol=adjoint)

    def own(name, along):
        parts = [found.q[name][-1], found.v[name][-1]]
        parts = [found.events[name][-1][None], *parts] if stopped else parts
        return np.concatenate([np.tensordot(part, along, np.ndim(along)) for part in parts])

    cases = {
        "positions": (end(q + 1j * STEP * x, v + 1j * STEP * w), own("q", x) + own("v", w)),
        "velocities": (end(q, v + 1j * STEP * u), own("v", u)),
        # both at once, each by a number of its own: their derivatives add
        "parameters": (
            end(q, v, **{mass: 1.3, STIFFNESS: 0.7}), own(mass, 1.3) + own(STIFFNESS, 0.7)
        ),
    }  # fmt: skip
    for name, (moved, derivative) in cases.items():
        exact = moved.imag / STEP
        assert np.abs(derivative - exact).max() < 1e-10 * np.abs(exact).max(), name
