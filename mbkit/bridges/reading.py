"""Evaluations as users request them: by name, with options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.bridges.evaluations import EVALUATIONS, REFUSED, Asked, Derived, check_system
from mbkit.errors import UsageError, check_choice, check_kind, check_switch, several, suggestion
from mbkit.given_values import is_whole
from mbkit.representations import BodyFixed
from mbkit.systems import System
from mbkit.systems.calls.entries import entries_of
from mbkit.tracing.trace import Trace

#: Highest order of derivatives of matrices.
_HIGHEST = 4


@attrs.frozen
class Reading:
    """An evaluation as a user requests it.

    Attributes
    ----------
    name : str
        Its name.
    shapes : mapping of str to tuple of int
        The arrays that it depends on, besides parameters and time.
    compute : callable
        ``compute(trace, vectors)`` returns arrays of traced numbers by name.
    derived : Derived, optional
        The derivatives that are wanted in place of these.
    """

    name: str
    shapes: Mapping[str, tuple[int, ...]]
    compute: Callable[[Trace, Mapping[str, Any]], dict[str, Any]]
    derived: Derived | None = None


def read_evaluation(
    what: str, system: System, evaluation: str, options: Mapping[str, Any]
) -> Reading:
    """Return an evaluation with its options, None for those that were left out.

    UsageError where this cannot be.
    """
    check_system(what, system, dynamic=False)
    if isinstance(evaluation, str) and evaluation in REFUSED:
        raise UsageError(f"{what}: {evaluation!r} {REFUSED[evaluation]}.")
    if not (isinstance(evaluation, str) and evaluation in EVALUATIONS):
        raise UsageError(
            f"{what}: there is no evaluation {evaluation!r}; {suggestion(evaluation, EVALUATIONS)}"
        )
    asked = EVALUATIONS[evaluation]
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(asked, Asked):
        _check(what, system, evaluation, given, asked.needs, asked.takes)
        return _read(what, system, evaluation, asked, given)
    of, derived, name = asked.of, asked, evaluation
    if "of" in asked.needs:
        _check(what, system, evaluation, given, asked.needs, tuple(given))
        of = name = given.pop("of")
        check_choice(f"{what}: of", of, [n for n, e in EVALUATIONS.items() if isinstance(e, Asked)])
        derived = attrs.evolve(derived, by=_by(what, given.pop("by")))
    elif not asked.by:
        _check(what, system, evaluation, given, asked.needs, asked.takes)
        order = _whole(what, given.pop("order", 1), 1, _HIGHEST)
        derived = attrs.evolve(derived, by={evaluation: ("q",) * order})
    else:
        _check(what, system, evaluation, given, asked.needs, asked.takes)
    base: Any = EVALUATIONS[of] if isinstance(of, str) else of
    _check(what, system, name, given, base.needs, base.takes)
    carried = "wrenches" in asked.takes
    made = _read(what, system, name, base, given, carried=carried)
    return attrs.evolve(made, name=evaluation, derived=derived)


def _read(
    what: str,
    system: System,
    name: str,
    asked: Asked,
    options: dict[str, Any],
    *,
    carried: bool = False,
) -> Reading:
    """Return a quantity with its options; wrenches in body axes where they are `carried` along."""
    arguments = asked.arguments
    if asked.rates is not None:
        more, suffix = asked.rates
        order = _whole(what, options.pop("order", 1), 1 - more)
        names = [{0: "v", 1: "vdot", 2: "vddot"}.get(k, f"v{k}") for k in range(order + more)]
        arguments = (*arguments, *(f"{each}{suffix}" for each in names))
    check_switch(f"{what}: vdot", options.get("vdot", False))
    if options.get("vdot", False):  # in place of tau
        constrained = system.num_velocity_constraints > 0
        arguments = ("q", "v", "vdot", *(["multipliers"] if constrained else []))
    sizes = {"q": system.nq, "multipliers": system.num_velocity_constraints}
    sizes |= dict.fromkeys(("dx", "rate"), system.ndx)
    if "independent" in options:
        entries = entries_of(system, options["independent"], "independent")
        of_named = [each for each in arguments if each.endswith("_independent")]
        sizes |= dict.fromkeys(of_named, len(entries))
    shapes: dict[str, tuple[int, ...]] = {x: (sizes.get(x, system.nv),) for x in arguments}
    loaded = _loaded(what, system, options.pop("wrenches", ()))
    if loaded:
        shapes["wrenches"] = len(loaded), 6

    def compute(trace: Trace, vectors: Mapping[str, Any]) -> dict[str, Any]:
        more = [x for name, x in vectors.items() if name not in ("q", "v", "wrenches")]
        trace.wrenches = dict(zip(loaded, vectors.get("wrenches", ()), strict=True))
        trace.wrench_form = BodyFixed() if carried and loaded else None
        found = asked.compute(trace, *more, **options)
        return found if isinstance(found, dict) else {name: found}

    return Reading(name, shapes, compute)


def _loaded(what: str, system: System, wrenches: Any) -> tuple[str, ...]:
    """Return the bodies on which wrenches act from outside; UsageError unless each is one."""
    rule = (
        f"{what}: wrenches must be the names of the bodies that they act on, each once, such as "
        f"wrenches=[{system.body_names[-1]!r}], whose rows the function is given"
    )
    if not several(wrenches) or isinstance(wrenches, str | np.ndarray | Mapping):
        raise UsageError(f"{rule}; got {wrenches!r}.")
    names = tuple(wrenches)
    for name in names:
        check_kind(f"{what}: wrenches", name, str, "the name of a body")
    if len({system.body_index(name) for name in names}) < len(names):
        raise UsageError(f"{rule}; got {[*names]}.")
    return names


def _check(
    what: str,
    system: System,
    evaluation: str,
    given: Mapping[str, Any],
    needs: tuple[str, ...],
    takes: tuple[str, ...],
) -> None:
    """Raise UsageError unless options are those of an evaluation."""
    for name in needs:
        if name not in given:
            raise UsageError(f"{what}: {evaluation!r} needs {_needed(system)[name]}.")
    for name in given:
        if name not in (*needs, *takes):
            raise UsageError(f"{what}: {evaluation!r} takes no {name}; leave out {name}=.")


def _needed(system: System) -> dict[str, str]:
    """Return the texts of errors where an option is left out, by its name."""
    joint = (*system.joint_names, "hinge")[0]
    return {
        "body": f"a body; name it, body={system.body_names[-1]!r}",
        "joint": f"a joint; name it, joint={joint!r}",
        "prescribed": f"the joints whose acceleration is given, such as prescribed=[{joint!r}]",
        "actuated": f"the joints that have actuators, such as actuated=[{joint!r}]",
        "independent": "joints, or single velocities of joints, from which the others follow, such "
        f"as independent=[{joint!r}]",
        "order": "the order of the last derivative of the twists or velocities, such as order=3 "
        "for v to v3",
        "of": "the evaluation that is differentiated, such as of='forward_dynamics'",
        "by": "the inputs by which it is differentiated, such as by=['q', 'v']",
    }


def _whole(what: str, order: Any, least: int, most: int | None = None) -> int:
    """Return an order; UsageError unless it is a whole number in a range."""
    if not is_whole(order) or order < least or (most is not None and order > most):
        upper = "" if most is None else f" to {most}"
        raise UsageError(
            f"{what}: order must be a whole number, {least}{upper or ' or more'}, got {order!r}."
        )
    return int(order)


def _by(what: str, by: Any) -> dict[str, tuple[str, ...]]:
    """Return the inputs by which an evaluation is differentiated, one after the other each."""
    if not several(by):
        raise UsageError(f"{what}: by must be names of inputs, got {by!r}; such as by=['q', 'v'].")
    names = [*by]
    for name in names:
        check_kind(f"{what}: by", name, str, "the name of an input")
    return {name: (name,) for name in names}
