"""The way back to the constraints at the ends of steps, linear about it.

`mbkit.kernels.constraints.solve.projection` corrects a configuration q0 by a step D, then once
more, which changes it no more but for rounding, and a velocity v0 by w:

    E1 = M D + A^T m = 0,   R1 = A D + g = 0   at q0;       g = 0   at q = retract(q0, D);
    E2 = M w + A^T n = 0,   R2 = A v + g_t = 0   at q, v = v0 + w.

Each is differentiated, with its change by D and w, which are small. The results are the adjoints
of changes of E1, R1, g, E2 and R2 by those of dq and dv.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from mbkit.sensitivities.charts import Charts
from mbkit.sensitivities.constraint_rows import (
    by_row,
    moving_rows,
    rate_by_steps,
    residual_by_steps,
    row_changes,
)
from mbkit.sensitivities.held_start import HeldStart, joint_motion
from mbkit.sensitivities.linear_steps import moving
from mbkit.sensitivities.passes.equations import WeightedEquations, weighted_changes
from mbkit.simulation.preparation import Prepared
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities
from mbkit.systems.constraints import kept_rows
from mbkit.systems.derivatives.evaluation_states import Change, Point
from mbkit.systems.derivatives.inertia_changes import field_of_inertia, inertial_changes
from mbkit.systems.derivatives.joint_changes import Motion, motion_by_joint
from mbkit.systems.derivatives.loosened import Loosened
from mbkit.systems.derivatives.numeric_changes import best_rate
from mbkit.systems.derivatives.parameter_moves import changed_by, moves_of

__all__ = [
    "Corrections",
    "back_to_start",
    "correction_point",
    "counted_rows",
    "efforts_by_parameter",
    "efforts_by_places",
    "efforts_by_steps",
]

#: Kinds of parameters, and inputs, that no constraint depends on; and those that no M depends on.
_NOT_OF_ROWS = ("bodies", "forces", "gravity", "tau", "q", "v")
_NOT_OF_MASS = ("forces", "gravity", "tau", "q", "v")


@final
@attrs.frozen(eq=False)
class Corrections:
    """N corrections, as adjoints (N, ..., size) by entries of those of (dq, dv) behind them.

    Attributes
    ----------
    first, velocity : Point
        The states q0 and q, with D and w as accelerations.
    end : tuple of ndarray
        q and v, closed.
    matrices : ndarray, shape (N, size, size)
        From (dq0, dv0) to (dq, dv).
    """

    first: Point
    velocity: Point
    end: tuple[Floats, Floats]
    matrices: Floats
    _by_first: tuple[Floats, Floats]
    _by_residual: Floats
    _by_velocity: tuple[Floats, Floats]

    @classmethod
    def at(
        cls, system: System, t: Floats, opened: Any, closed: Any, kept: Any,
        held: HeldStart | None = None,
    ) -> Corrections:  # fmt: skip
        """Return the corrections that lead from (q0, v0) to (q, v).

        kept (N, m) is not zero for the rows of constraints that count; `held` marks entries that
        are not changed, besides prescribed joints.
        """
        (q0, v0), (q, v) = opened, closed
        step = system.difference(q0, q)
        positions, velocities = (None, None) if held is None else (held.positions, held.velocities)
        first = correction_point(system, t, q0, step, kept, positions)
        velocity = correction_point(system, t, q, v - v0, kept, velocities)
        if held is not None and held.by_motion:  # D is zero there
            first.__dict__["mass_matrix"] = joint_motion(system, len(t))
        ndx, count = system.ndx, len(t)
        unit = np.broadcast_to(np.eye(ndx + system.nv), (count, ndx + system.nv, ndx + system.nv))
        A = velocity.jacobian()
        counts = by_row(system, np.ones(system.num_position_constraints))[:, None]
        by_v = unit[:, ndx:]
        by_velocity = velocity.solution.transposed(by_v)
        turned = rate_by_steps(system, q, v, t)
        by_q = (
            unit[:, :ndx]
            + _T(efforts_by_steps(velocity)) @ by_velocity[0]
            + _T(turned) @ by_velocity[1]
        )
        by_v = by_v + _T(A) @ by_velocity[1]
        by_residual = velocity.solution.transposed(by_q)[1] * counts
        by_q = by_q + _T(A) @ by_residual
        charts = Charts.of(system)
        C, E = charts.dense(charts.differentials(step, None, None), count)
        by_first = first.solution.transposed(_T(E) @ by_q)
        rows = residual_by_steps(system, q0, t)
        rows = rows + system.constraint_jacobian_velocity_derivative(q0, step, t)
        by_q = _T(C) @ by_q + _T(efforts_by_steps(first)) @ by_first[0] + _T(rows) @ by_first[1]
        found = np.ascontiguousarray(_T(np.concatenate([by_q, by_v], axis=1)))
        return cls(first, velocity, (q, v), found, by_first, by_residual, by_velocity)

    @classmethod
    def of_velocity(cls, system: System, t: Floats, q: Floats, v: Floats, kept: Any) -> Corrections:
        """Return those of states (q, v) whose loops are closed, but whose velocities are not."""
        point = correction_point(system, t, q, np.zeros(v.shape), kept)
        rows = system.constraint_velocity(q, v, t)[..., None]
        w = point.solution.solve(Change(rows=rows))["vdot"][..., 0]
        return cls.at(system, t, (q, v), (q, v + w), kept)

    @classmethod
    def at_start(cls, run: Prepared) -> Corrections | None:
        """Return the correction that closes the loops of a run at its start, where it has any."""
        system, problem = run.system, run.problem
        if not system.num_velocity_constraints:
            return None
        assert run.start is not None
        q, v, t = problem.q[None], problem.v[None], np.array([problem.t0])
        held = HeldStart.of(run)
        opened = run.start[0][None], (run.start[1] if held.v is None else held.v)[None]
        return cls.at(system, t, opened, (q, v), counted_rows(system, t, q, v), held)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return derivatives of (dq, dv) by inputs, (N, size, k) by name, where not zero."""
        return {
            name: np.asarray(sum(_T(x) @ change for x, change in terms))
            for name, terms in self._terms(names)
        }

    def contracted(self, adjoints: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return sums of adjoints (N, size) times `by_inputs`, (k,), where they do something."""
        found = dict(self._by_pass(adjoints, names))
        others = [name for name in names if name not in found]
        for name, terms in self._terms(others):
            found[name] = np.asarray(
                sum(np.einsum("nij,nj,nik->k", x, adjoints, change) for x, change in terms)
            )
        return found

    def _by_pass(self, adjoints: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return those of them that a pass finds."""
        adjoint = adjoints[..., None]
        E1, R1, E2, R2 = ((x @ adjoint)[..., 0] for x in (*self._by_first, *self._by_velocity))
        g, (q, v) = (self._by_residual @ adjoint)[..., 0], self.end
        first, velocity = self.first, self.velocity
        t, still = first.t, np.zeros(v.shape)
        return weighted_changes(
            first.system,
            [name for name in names if _kind(name) not in _NOT_OF_MASS],
            [
                WeightedEquations(
                    t, first.q, still, first.vdot, E1, first.multipliers, R1, residuals=R1,
                    closed=False, still=True,
                ),
                WeightedEquations(
                    t, q, still, velocity.vdot, E2, velocity.multipliers, still=True
                ),
                WeightedEquations(t, q, v, still, still, rates=R2, residuals=g, still=True),
            ],
        )  # fmt: skip

    def _terms(self, names: Sequence[str]) -> Iterator[tuple[str, list[tuple[Floats, Floats]]]]:
        """Give each input that does something, with adjoints, and changes of E1, E2, R1, g, R2."""
        adjoints = (
            self._by_first[0], self._by_velocity[0],
            self._by_first[1], self._by_residual, self._by_velocity[1],
        )  # fmt: skip
        places = self._by_places(names)
        left = [n for n in names if n not in places and _kind(n) not in _NOT_OF_MASS]
        rows = self._by_rows([name for name in left if _kind(name) not in _NOT_OF_ROWS])
        for name in names:
            if name in places:
                yield name, list(zip(adjoints, places[name], strict=True))
            elif name in left:
                efforts, others = rows.get(name, (None, []))
                if efforts is None:
                    points = self.first, self.velocity
                    efforts = [efforts_by_parameter(point, name) for point in points]
                yield name, list(zip(adjoints, [*efforts, *others], strict=False))

    def _by_rows(self, names: Sequence[str]) -> Mapping[str, tuple[Any, list[Floats]]]:
        """Return by name the changes of E1 and E2, None if M changes too, and of R1, g and R2."""
        first, velocity, (q, v) = self.first, self.velocity, self.end
        system, still = first.system, np.zeros(v.shape)
        t, states = np.tile(first.t, 3), np.concatenate([first.q, first.q, q])
        n = [first.multipliers, np.zeros(first.multipliers.shape), velocity.multipliers]
        changes = row_changes(
            system, names, t, states, np.concatenate([first.vdot, still, v]),
            (t, states, np.concatenate(n)),
        )  # fmt: skip
        found: dict[str, tuple[Any, list[Floats]]] = {}
        for name, change in changes.items():
            g, _, g_end = np.split(change.g, 3)
            # A D is the part of A v + g_t that is linear in v
            by_step, at_rest, at_end = np.split(change.rate, 3)
            rows = [by_step - at_rest + g, g_end, at_end]
            alone = moving_rows(system, name) is not None
            forces = np.split(change.eta_forces, 3) if alone else None
            found[name] = None if forces is None else [-forces[0], -forces[2]], rows
        return found

    def _by_places(self, names: Sequence[str]) -> Mapping[str, list[Floats]]:
        """Return the changes by places of joints, along free joints there, as of `_terms`.

        The length that scales rows depends on places too, and changes nothing: rows that vanish
        are scaled.
        """
        system = self.first.system
        loosened = Loosened.of(system, names)
        if loosened is None:
            return {}
        loose, nv = loosened.system, system.nv
        first, velocity = (loosened.at(each) for each in (self.first, self.velocity))
        v = np.concatenate([self.end[1], velocity.v[:, nv:]], axis=-1)
        with_g = by_row(system, np.ones(system.num_position_constraints))[:, None]
        rates = [loose.constraint_jacobian(each.q, each.t) * with_g for each in (first, velocity)]
        # of a free joint at rest the velocities are the rates of its steps
        by_g = [np.concatenate([0.0 * x[..., : system.ndx], x[..., nv:]], axis=-1) for x in rates]
        at_first = loose.constraint_jacobian_velocity_derivative(first.q, first.vdot, first.t)
        by_rate = rate_by_steps(loose, velocity.q, v, velocity.t) * loosened.moving
        changes = [
            *(efforts_by_steps(each)[:, :nv] for each in (first, velocity)),
            at_first + by_g[0], by_g[1], by_rate,
        ]  # fmt: skip
        return {name: [x @ steps for x in changes] for name, steps in loosened.steps.items()}


def back_to_start(run: Prepared, adjoint: Floats, names: Sequence[str]) -> dict[str, Floats]:
    """Return sums of the adjoint (ndx + nv,) times changes of the start by inputs, (k,) by name.

    Of those that do something. Prescribed joints start as they are prescribed to.
    """
    system, correction = run.system, Corrections.at_start(run)
    adjoint = moving(system) * adjoint
    found: dict[str, Floats] = {}
    if correction is not None:
        found |= correction.contracted(adjoint[None], names)
        adjoint = correction.matrices[0].T @ adjoint
    state = {"q": adjoint[: system.ndx], "v": adjoint[system.ndx :]}
    return found | {name: each for name, each in state.items() if name in names}


def counted_rows(system: System, t: Floats, q: Floats, v: Floats) -> Floats:
    """Return 1.0 for the rows of constraints that count at each state, (N, m)."""
    if not system.num_velocity_constraints:
        return np.zeros((len(t), 0))
    return kept_rows(system, q, v, t)


def _kind(name: str) -> str:
    return name.partition(".")[0]


def _T(matrices: Floats) -> Floats:
    return np.swapaxes(matrices, -1, -2)


def correction_point(
    system: System, t: Floats, q: Floats, change: Floats, kept: Any, held: Any = None
) -> Point:
    """Return states at rest whose accelerations and multipliers stand for a correction.

    `held` (nv,) marks the entries that are not corrected, if not those of prescribed joints alone.
    """
    none = np.zeros((len(t), system.num_velocity_constraints))
    given, still = prescribed_velocities(system), np.zeros(change.shape)
    given = given if held is None else held
    change = np.where(given, 0.0, change)
    rank = np.count_nonzero(kept, axis=-1)
    point = Point(system, q, still, change, still, t, none, rank, given, False, kept)
    missing = (system.mass_matrix(q) @ change[..., None])[..., 0]
    return attrs.evolve(point, multipliers=point.solution.multipliers(missing))


def efforts_by_steps(point: Point) -> Floats:
    """Return the derivative of E by q, (N, nv, ndx)."""
    system, q, still = point.system, point.q, point.v
    with_change, at_rest = (
        system._inverse_dynamics_derivatives(q, still, x, "raise")[0] for x in (point.vdot, still)
    )  # the forces of the mechanism do not depend on x
    return with_change - at_rest - system.constraint_force_derivative(q, point.multipliers, point.t)


def efforts_by_places(point: Point, names: Sequence[str]) -> Mapping[str, Floats]:
    """Return the changes of E by places of joints of the tree, (N, nv, k) by name."""
    loosened = Loosened.of(point.system, names)
    if loosened is None:
        return {}
    E = efforts_by_steps(loosened.at(point))[:, : point.system.nv]
    return {name: E @ steps for name, steps in loosened.steps.items()}


def efforts_by_parameter(point: Point, name: str) -> Floats:
    """Return the change of E by a parameter, (N, nv, k).

    Exact by numbers of inertia and of compiled joints of trees in relative coordinates, with
    differences of the joint alone for joints in Python; else by differences of systems.
    """
    system, still = point.system, point.v
    field = field_of_inertia(system, name)
    if field is not None:
        with_change, at_rest = (
            system.inertial_regressor(point.q, still, x) for x in (point.vdot, still)
        )
        Y = with_change - at_rest
        Y = Y.reshape((*Y.shape[:-1], -1, 10))
        return inertial_changes(system, Y, {name: field})[name]

    moves = moves_of(system, name)
    by_joint = motion_by_joint(point, name, *moves)
    if by_joint is not None:
        return _efforts_along(point, *by_joint)

    def efforts(other: System) -> Floats:
        found = other.mass_matrix(point.q) @ point.vdot[..., None]
        A = other.constraint_jacobian(point.q, point.t)
        return (found - _T(A) @ point.multipliers[..., None])[..., 0]

    start, values = moves
    rates = [
        best_rate(lambda e, k=k: efforts(changed_by(system, name, k, e)), start)  # type: ignore[misc]
        for k in range(len(values))
    ]
    return np.stack(rates, axis=-1)


def _efforts_along(point: Point, joint: str, motion: Motion) -> Floats:
    """Return the change of E where a free joint at the place of a joint moves so, (N, nv, k)."""
    loosened, nv = Loosened.of_joint(point.system, joint), point.system.nv
    there, own = loosened.at(point), point.system.velocity_slice(joint)
    twists, accelerations = motion.twists[..., 0], motion.accelerations[..., 0]
    M = loosened.system.mass_matrix(there.q)
    found = efforts_by_steps(there)[..., loosened.moving] @ twists + M[..., nv:] @ accelerations
    # a wrench on the free joint is one on the joint, along the twist that its number adds
    wrench = M @ there.vdot[..., None] - _T(there.jacobian()) @ there.multipliers[..., None]
    found[:, own] += np.einsum("nwkj,nwx->njk", motion.J, wrench[:, nv:])
    return np.asarray(found[:, :nv])
