"""Efforts of actuators that give a motion against constraints.

Source: Kim 2012, section 3. With r the generalized forces that the tree needs for the motion, minus
the applied ones, p the passive velocities and a the actuated ones:
    A_p^T lambda = r_p,   efforts = r_a - A_a^T lambda,
    lambda = (A_p^T)^+ r_p + N s,   N = null(A_p^T).
s is free. Minimum-norm multipliers: s = 0. Efforts of least weighted norm, with weights w:
    s = (W A_a^T N)^+ W (r_a - A_a^T lambda_0),   W = diag(w)^(1/2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, final

import attrs
import numpy as np

from mbkit.errors import ConstraintError, UsageError, check_kind, listed
from mbkit.spatial.arrays import frozen_number
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import entries_of, names_of
from mbkit.systems.rank import Ranked, singular_values

if TYPE_CHECKING:
    from mbkit.systems.system import System

_MINIMISE = "'effort', 'constraint' or weights by joint"
_MISSING = 1e-7  # of the largest effort: less is rounding


@final
@attrs.frozen(eq=False)
class Actuation:
    """The actuated and passive velocities of a system, entries of v, and weights of efforts.

    `roots` are square roots of the weights of the actuated ones; None for minimum-norm multipliers.
    """

    system: System
    actuated: list[int]
    passive: list[int]
    roots: Floats | None

    @classmethod
    def of(cls, system: System, actuated: Sequence[str], minimise: Any) -> Self:
        """Return what a user says by names."""
        entries = entries_of(system, actuated, "actuated")
        passive = [k for k in range(system.nv) if k not in set(entries)]
        check_kind("minimise", minimise, (str, Mapping), _MINIMISE)
        if minimise == "constraint":
            return cls(system, entries, passive, None)
        weights = np.ones(system.nv)
        if isinstance(minimise, Mapping):
            for name, weight in minimise.items():
                mine = entries_of(system, [name], "minimise")
                number = frozen_number(weight)
                if not (isinstance(number, float) and 0.0 < number < np.inf):
                    raise UsageError(
                        f"minimise: the weight of '{name}' must be a positive number, got "
                        f"{weight!r}."
                    )
                if not set(mine) <= set(entries):
                    raise UsageError(f"minimise: joint '{name}' has no actuator to be weighed.")
                weights[mine] = number
        elif minimise != "effort":
            raise UsageError(f"minimise must be {_MINIMISE}, got {minimise!r}.")
        return cls(system, entries, passive, np.sqrt(weights[entries]))

    def solve(self, A: Floats, needed: Floats, sizes: Floats) -> tuple[Floats, Floats, int]:
        """Return efforts (nv,), multipliers (m,) and how many efforts could be chosen.

        From the constraint Jacobian A (m, nv), the generalized forces (nv,) that the tree needs for
        the motion, minus the applied ones, and the displacement of the bodies [m] for a unit of
        each velocity, which makes velocities comparable. ConstraintError if there are no such
        efforts.
        """
        scaled = A / sizes
        forces = needed / sizes
        largest = float(singular_values(scaled, compute_uv=False)[0]) if scaled.size else 0.0
        held = Ranked.of(scaled[:, self.passive].T, largest)
        multipliers = held.solve(forces[self.passive])
        missing = forces[self.passive] - scaled[:, self.passive].T @ multipliers
        if np.abs(missing).max(initial=0.0) > _MISSING * np.abs(forces).max(initial=0.0):
            raise ConstraintError(self._refusal(missing * sizes[self.passive]))
        across = A[:, self.actuated].T
        if self.roots is not None and held.null.shape[1]:
            left = needed[self.actuated] - across @ multipliers
            free = Ranked.of(self.roots[:, None] * (across @ held.null), self._bound(across))
            multipliers = multipliers + held.null @ free.solve(self.roots * left)
        efforts = np.zeros(len(needed))
        efforts[self.actuated] = needed[self.actuated] - across @ multipliers
        return efforts, multipliers, Ranked.of(scaled, largest).rank - held.rank

    def _bound(self, across: Floats) -> float:
        assert self.roots is not None
        weighed = self.roots[:, None] * across
        return float(singular_values(weighed, compute_uv=False)[0]) if weighed.size else 0.0

    def _refusal(self, missing: Floats) -> str:
        names = names_of(self.system, self.passive)
        off = np.argsort(-np.abs(missing))
        off = off[np.abs(missing[off]) > 1e-6 * np.abs(missing).max()]
        shown = listed([f"'{names[k]}' {missing[k]:.6g}" for k in off], str)
        actuated = listed(names_of(self.system, self.actuated)) if self.actuated else "no joint"
        return (
            f"System '{self.system.name}': no efforts of {actuated} give this motion. "
            f"What comes nearest leaves efforts missing at passive joints: "
            f"{shown} [N m, N]. Actuate more joints, or give a motion that these can drive: "
            f"System.forward_dynamics."
        )
