"""Derivatives of the efforts of actuators by state, time and parameters.

With r the generalized forces that the tree needs for the motion, minus the applied ones, efforts u
and multipliers l solve the equations of `mbkit.kernels.constraints.actuated_equations` for f = r
and g = 0. An input changes r and A, so that their changes solve the same equations for

    f = dr - dA^T l,    g = -dA y,

y the adjoints of u and l. Where rows depend on others and efforts are least, the l found are those
of least norm, l = A mu, without a part that no motion feels; that of dl is the one of d(A mu).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.actuated_states import ActuatedStates, ForceSides
from mbkit.closed_loops.actuation import Actuation
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import broadcast, velocity_sizes
from mbkit.systems.derivatives.evaluation_derivatives import (
    Derivatives,
    changes_by_inputs,
    changes_by_parameters,
    check_room,
    checked_names,
    gathered,
)
from mbkit.systems.derivatives.evaluation_states import Change, Point, is_zero

if TYPE_CHECKING:
    from mbkit.systems.system import System

_OF = "closed_inverse_dynamics"


def derivatives_of_efforts(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike | None,
    tau: ArrayLike | None,
    *,
    actuated: Sequence[str],
    minimise: str | Mapping[str, float],
    prescribed: Sequence[str],
    by: Iterable[str],
    t: ArrayLike,
    on_error: str,
) -> Derivatives:
    """See `System.derivatives`."""
    names = checked_names(system, _OF, by, vdot=vdot, tau=tau, prescribed=prescribed)
    assert vdot is not None  # see `checked_names`
    actuation = Actuation.of(system, actuated, minimise)
    tau = system.evaluator.zero if tau is None else tau
    found = system.closed_inverse_dynamics(
        q, v, vdot, actuated=actuated, tau=tau, minimise=minimise, t=t, on_error=on_error
    )
    *given, times = broadcast(
        system, t, q=q, v=v, vdot=vdot, x=found.efforts, multipliers=found.multipliers
    )
    count = math.prod(times.shape)
    check_room(system, names, count)
    q, v, vdot, efforts, multipliers = (np.reshape(x, (count, x.shape[-1])) for x in given)
    held = np.ones(system.nv, dtype=bool)
    rank = np.full(count, multipliers.shape[-1])
    times_of_all = np.array(times).reshape(count)
    state = Point(
        system, q, v, vdot, efforts, times_of_all, multipliers, rank, held, by_motion=False
    )
    return gathered(_OF, state, names, functools.partial(_solved, actuation), times.shape)


def _solved(
    actuation: Actuation, point: Point, names: Sequence[str]
) -> Iterator[tuple[str, dict[str, Floats]]]:
    """Yield the changes of efforts and multipliers by names."""
    sizes = velocity_sizes(point.system, np.zeros(point.system.nq))
    states = ActuatedStates.of(actuation, point.jacobian(), sizes)
    y, mu = states.adjoints(point.tau, point.multipliers)
    hidden: Iterator[Any] = itertools.repeat(None)
    if states.is_hidden:
        behind = _changes(attrs.evolve(point, turns=mu), names)
        hidden = (None if is_zero(change.turned) else change.turned for _, change in behind)
    changes = _changes(attrs.evolve(point, turns=y), names)
    for (name, change), more in zip(changes, hidden, strict=False):
        shape = (*point.v.shape, change.width)
        forces = np.broadcast_to(change.efforts - np.asarray(change.tau), shape)
        turned = None if is_zero(change.turned) else change.turned
        efforts, multipliers = states.solve(ForceSides(forces, turned, more))
        yield name, {"tau": efforts, "multipliers": multipliers}


def _changes(point: Point, names: Sequence[str]) -> Iterator[tuple[str, Change]]:
    """Yield the changes of the equations by names; tau are efforts besides the actuators'."""
    by_inputs = changes_by_inputs(point, [name for name in names if name != "tau"])
    if "tau" in names:
        by_inputs["tau"] = Change(tau=np.eye(point.system.nv))
    yield from by_inputs.items()
    yield from changes_by_parameters(point, names)
