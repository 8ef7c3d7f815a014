"""Derivatives of dynamics by state, time and parameters, of trees and of closed mechanisms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NameUnknownError, UsageError, listed, suggestion
from mbkit.given_values import Named, as_list
from mbkit.memory import check_memory
from mbkit.systems.calls.arguments import Floats, check_on_error
from mbkit.systems.calls.entries import broadcast
from mbkit.systems.constraint_checks import check_certain, check_dependent
from mbkit.systems.derivatives.evaluation_states import Change, Point
from mbkit.systems.derivatives.input_changes import INPUTS, change_by_input, changes_by_state
from mbkit.systems.derivatives.parameter_changes import change_by_parameter, changes_by_places
from mbkit.systems.derivatives.parameter_moves import shape_of_parameter
from mbkit.systems.derivatives.tree_dynamics import (
    accelerations_of_tree,
    hybrid_derivatives,
)
from mbkit.systems.dynamics import check_unique

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Derivatives", "derivatives"]

#: By evaluation: its results, and the arguments that it takes besides q, v and t.
EVALUATIONS = {
    "forward_dynamics": (("vdot", "multipliers"), ("tau",)),
    "inverse_dynamics": (("tau",), ("vdot",)),
    "hybrid_dynamics": (("vdot", "tau", "multipliers"), ("tau", "vdot", "prescribed")),
    "closed_inverse_dynamics": (("tau", "multipliers"), ("tau", "vdot", "actuated", "minimise")),
}

#: Arguments that are no inputs.
_CHOICES = ("prescribed", "actuated", "minimise")

#: Inputs by which one kernel gives the derivatives of trees, by evaluation.
BY_STATE = {
    "forward_dynamics": frozenset(("q", "v", "tau")),
    "hybrid_dynamics": frozenset(("q", "v", "tau", "vdot")),
}


def _by_input(found: Mapping[str, Floats]) -> Mapping[str, Floats]:
    return MappingProxyType(Named(found, "These derivatives are not by"))


@final
@attrs.frozen(eq=False, repr=False)
class Derivatives:
    """Results of an evaluation, and their derivatives by several inputs: `System.derivatives`.

    ``found["q"]`` is the derivative by q of the evaluation's main result: of accelerations by
    forward dynamics, of efforts by inverse dynamics.

    Attributes
    ----------
    of : str
        The evaluation: "forward_dynamics", "inverse_dynamics", "hybrid_dynamics" or
        "closed_inverse_dynamics".
    values : mapping of str to ndarray
        The results: "vdot" (..., nv), "tau" (..., nv) and "multipliers" (..., m), as far as the
        evaluation has them.
    vdot, tau, multipliers : mapping of str to ndarray
        Their derivatives by the name of the input; empty if the evaluation does not have them. The
        axes of the input follow those of the result: (ndx,) of q, (nv,) of v, vdot and tau, none of
        t and of a parameter that is one number, (6,) of a pose, else those of the parameter.
    """

    of: str
    values: Mapping[str, Floats]
    vdot: Mapping[str, Floats] = attrs.field(converter=_by_input)
    tau: Mapping[str, Floats] = attrs.field(converter=_by_input)
    multipliers: Mapping[str, Floats] = attrs.field(converter=_by_input)

    def __repr__(self) -> str:
        results = (("vdot", self.vdot), ("tau", self.tau), ("multipliers", self.multipliers))
        lines = [
            f"  {result:<11} by {', '.join(f'{name} {by.shape}' for name, by in given.items())}"
            for result, given in results
            if given
        ]
        return "\n".join([f"<Derivatives of {self.of}, with their shapes:", *lines]) + ">"

    def __getitem__(self, name: str) -> Floats:
        """Return the derivative of accelerations or efforts by one input.

        Parameters
        ----------
        name : str
            An input, one of `by` in `System.derivatives`.

        Returns
        -------
        ndarray
            As in `vdot`, or in `tau` for inverse dynamics, closed or not.

        Raises
        ------
        NameUnknownError
            If the derivatives are not by this input.
        UsageError
            If they are of hybrid dynamics, which has two results.
        """
        if self.of == "hybrid_dynamics":
            raise UsageError(
                "hybrid_dynamics has two results: take .vdot[...] or .tau[...] of the derivatives."
            )
        found = self.tau if self.of.endswith("inverse_dynamics") else self.vdot
        if not (isinstance(name, str) and name in found):
            raise NameUnknownError(
                f"These derivatives are not by {name!r}; {suggestion(name, found)}"
            )
        return found[name]


def derivatives(
    system: System,
    of: str,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    vdot: ArrayLike | None = None,
    prescribed: Sequence[str] = (),
    actuated: Sequence[str] = (),
    minimise: str | Mapping[str, float] = "effort",
    by: Iterable[str] = ("q", "v"),
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> Derivatives:
    """See `System.derivatives`."""
    check_on_error(on_error)
    names = checked_names(
        system, of, by, tau=tau, vdot=vdot, prescribed=prescribed, actuated=actuated,
        minimise=None if isinstance(minimise, str) and minimise == "effort" else minimise,
    )  # fmt: skip
    if of in BY_STATE and BY_STATE[of].issuperset(names) and _is_tree_at(system, t):
        if of == "forward_dynamics":
            return _of_tree(accelerations_of_tree(system, q, v, tau, t=t, on_error=on_error), names)
        driven = tau, vdot, prescribed
        return _of_driven_tree(
            *hybrid_derivatives(system, q, v, driven, names, t=t, on_error=on_error)
        )
    zero = system.evaluator.zero
    given = broadcast(
        system, t, q=q, v=v, tau=zero if tau is None else tau, vdot=zero if vdot is None else vdot
    )
    leading = given[-1].shape
    check_room(system, names, math.prod(leading))
    state = _evaluated(system, of, given, leading, prescribed, on_error)
    return gathered(of, state, names, _solved, leading)


def check_room(system: System, names: Sequence[str], count: int) -> None:
    """Raise NoMemoryError unless there is room for derivatives of so many states by these names."""
    m = system.num_velocity_constraints
    widest = max((math.prod(_shape(system, name)) for name in names), default=0)
    check_memory(
        count * (system.nv + m) * (8.0 * max(widest, system.nv) + 2.0 * m),
        f"Derivatives of {system.nv} accelerations, of {count} states,",
        "ask for fewer samples at once",
    )


#: Yields the changes of results by names.
Solve = Callable[[Point, Sequence[str]], Iterator[tuple[str, Mapping[str, Floats]]]]


def gathered(
    of: str, state: Point, names: Sequence[str], solve: Solve, leading: tuple[int, ...]
) -> Derivatives:
    """Return the derivatives of all states; those of states that failed are not numbers."""
    count = len(state.q)
    values = {what: getattr(state, what) for what in EVALUATIONS[of][0]}
    good = np.isfinite(state.vdot).all(axis=-1) & np.isfinite(state.tau).all(axis=-1)
    point = state.chosen(good)
    found: dict[str, dict[str, Floats]] = {"vdot": {}, "tau": {}, "multipliers": {}}
    for name, parts in solve(point, names):
        shape = _shape(state.system, name)
        for what, value in values.items():
            whole = parts[what]
            if not good.all():
                whole = np.full((count, value.shape[-1], math.prod(shape)), np.nan)
                whole[good] = parts[what]
            found[what][name] = whole.reshape((*leading, value.shape[-1], *shape))
    return Derivatives(
        of,
        MappingProxyType({n: x.reshape((*leading, x.shape[-1])) for n, x in values.items()}),
        **{
            what: MappingProxyType({name: each[name] for name in names if name in each})
            for what, each in found.items()
        },
    )


def _is_tree_at(system: System, t: Any) -> bool:
    """Whether the motion is that of the tree alone, at times that its forces need, or one time."""
    if system.arrays.closure or system.motions:
        return False
    return bool(system.arrays.forces.forces) or (isinstance(t, float) and math.isfinite(t))


def _of_tree(found: tuple[Floats, ...], names: Sequence[str]) -> Derivatives:
    """Return the results of one kernel: derivatives by q, v and tau, and accelerations."""
    *parts, vdot = found
    by_name = dict(zip(("q", "v", "tau"), parts, strict=True))
    by_input = {name: by_name[name] for name in names}
    none = {name: part[..., :0, :] for name, part in by_input.items()}
    return Derivatives(
        "forward_dynamics",
        MappingProxyType({"vdot": vdot, "multipliers": vdot[..., :0]}),
        MappingProxyType(by_input),
        MappingProxyType({}),
        MappingProxyType(none),
    )


def _of_driven_tree(
    values: Mapping[str, Floats], found: Mapping[str, Mapping[str, Floats]]
) -> Derivatives:
    """Return the results of one kernel for hybrid dynamics."""
    none = {name: part[..., :0, :] for name, part in found["vdot"].items()}
    return Derivatives(
        "hybrid_dynamics",
        MappingProxyType({**values, "multipliers": values["vdot"][..., :0]}),
        *(MappingProxyType(part) for part in (found["vdot"], found["tau"], none)),
    )


def checked_names(system: System, of: Any, by: Any, **given: Any) -> list[str]:
    """Return the names of the inputs; errors list the inputs of the evaluation."""
    if not (isinstance(of, str) and of in EVALUATIONS):
        raise NameUnknownError(f"There are no derivatives of {of!r}; {suggestion(of, EVALUATIONS)}")
    takes = EVALUATIONS[of][1]
    for name, value in given.items():
        absent = value is None or (isinstance(value, Sequence) and not value)
        if name not in takes and not absent:
            raise UsageError(
                f"derivatives of {of} take no {name}; besides q and v they take {listed(takes)}."
            )
    if of.endswith("inverse_dynamics") and given["vdot"] is None:
        raise UsageError(f"derivatives of {of} need the acceleration: give vdot=.")
    names = as_list(by)
    inputs = ("q", "v", *(each for each in takes if each not in _CHOICES), "t")
    for name in names:
        if not (isinstance(name, str) and (name in inputs or name in system.parameters)):
            raise NameUnknownError(
                f"System '{system.name}' has no derivatives of {of} by {name!r}; "
                f"{suggestion(name, (*inputs, *system.parameters))}"
            )
    return list(dict.fromkeys(names))


def _shape(system: System, name: str) -> tuple[int, ...]:
    """Return the axes of an input."""
    if name in INPUTS:
        return {"q": (system.ndx,), "t": ()}.get(name, (system.nv,))
    return shape_of_parameter(system, name)


def changes_by_inputs(point: Point, names: Sequence[str]) -> dict[str, Change]:
    """Return the changes by those of the names that are inputs."""
    inputs = [name for name in names if name in INPUTS]
    known = changes_by_state(point) if {"q", "v"}.issubset(inputs) else {}
    return {n: known[n] if n in known else change_by_input(point, n) for n in inputs}


def changes_by_parameters(point: Point, names: Sequence[str]) -> Iterator[tuple[str, Change]]:
    """Yield the changes by the others of the names, one by one: they take room."""
    places = changes_by_places(point, names)
    for name in names:
        if name not in INPUTS:
            yield name, places[name] if name in places else change_by_parameter(point, name)


def _solved(point: Point, names: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Floats]]]:
    """Return the changes of the results by names: together by inputs, by one parameter each."""
    changes = changes_by_inputs(point, names)
    if changes:
        yield from point.solution.solve_each(changes).items()
    for name, change in changes_by_parameters(point, names):
        yield name, point.solution.solve(change)


def _evaluated(
    system: System,
    of: str,
    given: Sequence[Any],
    leading: tuple[int, ...],
    prescribed: Sequence[str],
    on_error: str,
) -> Point:
    """Return all samples, one a row, and the evaluation's results; given: q, v, tau, vdot, t."""
    q, v, tau, vdot, times = given
    t = float(times) if not leading and np.isfinite(times) else times  # a float: a direct call
    count = math.prod(leading)
    nv = system.nv
    multipliers, rank = np.zeros((count, 0)), np.zeros(count, dtype=np.int64)
    held = np.ones(nv, dtype=bool)
    by_motion = of == "forward_dynamics" and bool(system.motions)
    if by_motion:
        q, v, _ = system.prescribed_rows(t, q, v, on_error)
    if of == "inverse_dynamics":
        tau = system.inverse_dynamics(q, v, vdot, t=t, on_error=on_error)
    else:
        kept = multipliers
        names = system.prescribed_joints if by_motion else prescribed
        held = np.zeros(nv, dtype=bool)
        if names:
            held = system.known(None, None, names)[2 * nv :] != 0.0
        if of == "forward_dynamics":
            vdot, multipliers, kept = system.solved(q, v, tau, t=t, on_error=on_error)
        else:
            if system.arrays.closure:
                forces = system.generalized_forces(q, v, t, on_error=on_error)
                known = system.known(tau + forces, vdot, prescribed)
                vdot, found, multipliers, kept = system.solve_hybrid(
                    q, v, known, None, t=t, on_error=on_error
                )
                check_unique(system, q, kept, prescribed, found, t=t, on_error=on_error)
                found = found - forces
            else:
                vdot, found = system.hybrid_dynamics(
                    q, v, tau=tau, vdot=vdot, prescribed=prescribed, t=t, on_error=on_error
                )
            tau = np.where(held, found, tau)
        if on_error == "raise" and system.arrays.closure:
            check_certain(system, q, vdot, multipliers, t)
            if (kept == 0.0).any() and of == "forward_dynamics":
                check_dependent(system, q, v, vdot, t)
        rank = np.count_nonzero(kept, axis=-1)
    q, v, vdot, tau, multipliers = (
        np.reshape(x, (count, x.shape[-1])) for x in (q, v, vdot, tau, multipliers)
    )
    times, rank = (np.array(x).reshape(count) for x in (times, rank))
    return Point(system, q, v, vdot, tau, times, multipliers, rank, held, by_motion)
