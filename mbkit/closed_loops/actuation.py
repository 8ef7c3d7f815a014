"""Actuated and passive velocities of a mechanism, and weights of efforts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, final

import attrs
import numpy as np

from mbkit.errors import ConstraintError, UsageError, check_kind, listed
from mbkit.given_values import positive_number
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import entries_of, names_of

if TYPE_CHECKING:
    from mbkit.systems.system import System
__all__ = ["Actuation"]

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
        """Return the actuation that a user gives by names."""
        entries = entries_of(system, actuated, "actuated")
        passive = [k for k in range(system.nv) if k not in set(entries)]
        check_kind("minimise", minimise, (str, Mapping), _MINIMISE)
        if minimise == "constraint":
            return cls(system, entries, passive, None)
        weights = np.ones(system.nv)
        if isinstance(minimise, Mapping):
            for name, weight in minimise.items():
                mine = entries_of(system, [name], "minimise")
                number = positive_number(f"minimise: the weight of '{name}'", weight)
                if not set(mine) <= set(entries):
                    raise UsageError(f"minimise: joint '{name}' has no actuator to be weighed.")
                weights[mine] = number
        elif minimise != "effort":
            raise UsageError(f"minimise must be {_MINIMISE}, got {minimise!r}.")
        return cls(system, entries, passive, np.sqrt(weights[entries]))

    def enough(self, missing: Floats, forces: Floats) -> Any:
        """Whether nothing but rounding is missing at passive velocities, bool (N,).

        Both (N, nv) in newtons: the residual, after efforts and multipliers, of the forces the tree
        needs for the motion, and these forces.
        """
        left, most = (np.abs(x).max(axis=-1, initial=0.0) for x in (missing, forces))
        return ~(left > _MISSING * most)

    def refusal(self, missing: Floats) -> ConstraintError:
        """Return the error that names the efforts (passive,) that are missing."""
        names = names_of(self.system, self.passive)
        off = np.argsort(-np.abs(missing))
        off = off[np.abs(missing[off]) > 1e-6 * np.abs(missing).max()]
        shown = listed([f"'{names[k]}' {missing[k]:.6g}" for k in off], str)
        actuated = listed(names_of(self.system, self.actuated)) if self.actuated else "no joint"
        return ConstraintError(
            f"System '{self.system.name}': no efforts of {actuated} give this motion. "
            f"What comes nearest leaves efforts missing at passive joints: "
            f"{shown} [N m, N]. Actuate more joints, or give a motion that these can drive: "
            f"System.forward_dynamics."
        )
