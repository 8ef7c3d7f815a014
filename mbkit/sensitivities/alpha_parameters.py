"""Changes of the residuals of generalized-alpha steps by efforts and by parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.sensitivities.alpha_equations import Ends, Equations, Gains
from mbkit.sensitivities.constraint_rows import RowChange, free_entries, row_changes
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import Point
from mbkit.systems.derivatives.parameter_changes import change_by_parameter, changes_by_places

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Change", "changes_by_inputs"]


class Change(NamedTuple):
    """What an input changes of residuals (N, n, k), and of w besides (N, nv, k); 0: nothing."""

    residuals: Floats
    w: Any = 0.0


def changes_by_inputs(
    system: System, gains: Gains, ends: Ends, equations: Equations, names: Sequence[str]
) -> Mapping[str, Change]:
    """Return what each input changes, by name.

    Parameters
    ----------
    system, gains, ends, equations : System, Gains, Ends, Equations
        The steps.
    names : sequence of str
        "q" and "v", which change nothing, "tau", and parameters.
    """
    count, nv = ends.v.shape
    every = np.ones(nv, dtype=bool)
    point = Point(
        system, ends.q, ends.v, ends.vdot, np.zeros((count, nv)), ends.t, ends.multipliers,
        np.full(count, ends.multipliers.shape[-1]), every, by_motion=False,
    )  # fmt: skip
    parameters = [name for name in names if name not in ("q", "v", "tau")]
    rows: Mapping[str, RowChange] = {}
    if system.num_velocity_constraints:
        eta = None if equations.E is None else (ends.t_n, ends.q_n, ends.eta)
        rows = row_changes(system, parameters, ends.t, ends.q, ends.v, eta)
    places = changes_by_places(point, parameters)
    free = free_entries(system)[:, None]
    found = {}
    for name in names:
        if name in parameters:
            change = places[name] if name in places else change_by_parameter(point, name)
            efforts = change.efforts
        else:
            efforts = np.broadcast_to(-np.eye(nv) * (name == "tau"), (count, nv, nv))
        here = rows.get(name)
        residuals = equations.residuals(gains, efforts * free, here)
        found[name] = Change(residuals, 0.0 if here is None else here.eta_forces)
    return found
