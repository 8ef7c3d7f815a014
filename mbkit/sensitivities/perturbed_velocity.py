"""The perturbed velocity with which generalized-alpha of second order begins in index 3.

    v' = v + w,    w = M^-1 A^T (A M^-1 A^T)^+ T A l,

with T one for rows of A that are rates of residuals, and zero for rows of velocities alone, as of
rolling, which w leaves satisfied: see ``add_least_change`` in
`mbkit.kernels.implicit_integrators.starting_values`. w solves

    E = M w - A^T n = 0,    R = A w - T A l = 0,

which are differentiated as the corrections of `mbkit.sensitivities.corrections` are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from mbkit.sensitivities.constraint_rows import by_row, moving_rows, rate_by_steps, row_changes
from mbkit.sensitivities.corrections import (
    correction_point,
    efforts_by_parameter,
    efforts_by_places,
    efforts_by_steps,
)
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import Change, Point

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["PerturbedVelocity"]


class PerturbedVelocity(NamedTuple):
    """Derivatives of v' by its inputs besides v.

    Attributes
    ----------
    point : Point
        The state, with w as accelerations and n as multipliers.
    missed : ndarray, shape (1, nv)
        l.
    by_steps, by_missed : ndarray, shape (nv, ndx), (nv, nv)
        By q and by l.
    adjoints : tuple of ndarray, shape (1, nv, nv), (1, m, nv)
        Of changes of E and of R by entries of w.
    """

    point: Point
    missed: Floats
    by_steps: Floats
    by_missed: Floats
    adjoints: tuple[Floats, Floats]

    @classmethod
    def of(cls, system: System, t: float, q: Floats, missed: Floats, kept: Floats) -> Self:
        """Return those at a state; kept (m,) is not zero for rows of constraints that count."""
        at = np.array([t]), q[None]
        still = correction_point(system, *at, np.zeros((1, system.nv)), kept[None])
        A = _of_positions(system) * still.jacobian()
        w = still.solution.solve(Change(rows=-A @ missed[:, None]))["vdot"][..., 0]
        point = correction_point(system, *at, w, kept[None])
        by_efforts, by_rows = point.solution.transposed(np.eye(system.nv)[None])
        t3, q3, v3 = _thrice(point, missed[None])
        R = _of_R(system, rate_by_steps(system, q3, v3, t3))
        by_steps = _T(by_efforts) @ efforts_by_steps(point) + _T(by_rows) @ R
        by_missed = -_T(by_rows) @ A
        return cls(point, missed[None], by_steps[0], by_missed[0], (by_efforts, by_rows))

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return the derivatives of v' by parameters, (1, nv, k) by name, where not zero."""
        by_efforts, by_rows = map(_T, self.adjoints)
        return {name: by_efforts @ E + by_rows @ R for name, E, R in self._changes(names)}

    def contracted(self, adjoints: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return sums of adjoints (1, nv) times `by_inputs`, (k,)."""
        by_efforts, by_rows = (each[0] @ adjoints[0] for each in self.adjoints)
        return {name: by_efforts @ E[0] + by_rows @ R[0] for name, E, R in self._changes(names)}

    def _changes(self, names: Sequence[str]) -> Iterator[tuple[str, Floats, Floats]]:
        """Give parameters with the changes of E (1, nv, k) and of R (1, m, k)."""
        point, system = self.point, self.point.system
        parameters = [
            name for name in names
            if name in system.parameters and _kind(name) not in ("gravity", "forces")
        ]  # fmt: skip
        t, q, v = _thrice(point, self.missed)
        n = np.zeros((3, point.multipliers.shape[-1]))
        n[0] = point.multipliers[0]
        rows = row_changes(system, parameters, t, q, v, (t, q, n))
        places = efforts_by_places(point, parameters)
        for name in parameters:
            if name in places:
                E = places[name]
            elif _kind(name) != "bodies" and moving_rows(system, name) is not None:
                E = -rows[name].eta_forces[:1]
            else:
                E = efforts_by_parameter(point, name)
            nothing = np.zeros((1, n.shape[-1], E.shape[-1]))
            yield name, E, _of_R(system, rows[name].rate) if name in rows else nothing


def _thrice(point: Point, missed: Floats) -> tuple[Floats, Floats, Floats]:
    """Return t, q and v of three states, with w, l and zero for v: rows of these make R."""
    v = np.concatenate([point.vdot, missed, np.zeros(missed.shape)])
    return np.repeat(point.t, 3), np.repeat(point.q, 3, axis=0), v


def _of_R(system: System, rates: Floats) -> Floats:
    """Return changes of R (1, m, k) from those of A v + g_t at these states, (3, m, k)."""
    of_w, of_missed = rates[:2] - rates[2]
    return np.asarray(of_w - _of_positions(system) * of_missed)[None]


def _of_positions(system: System) -> Floats:
    """Return T: 1 for rows of A that are rates of residuals, else 0, (m, 1)."""
    return by_row(system, np.ones(system.num_position_constraints))[:, None]


def _kind(name: str) -> str:
    return name.partition(".")[0]


def _T(matrices: Floats) -> Floats:
    return np.swapaxes(matrices, -1, -2)
