"""Strategies as the options of a result have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from mbkit.solvers import built_in
from mbkit.solvers.solver import ConstraintSolver

_OWN: dict[str, Any] = {
    name: kind for name, kind in vars(built_in).items() if isinstance(kind, type)
}


def described(solver: ConstraintSolver) -> Mapping[str, Any]:
    """Return a strategy as text and numbers."""
    kind = type(solver)
    if _OWN.get(kind.__name__) is kind:
        return {"kind": kind.__name__, **attrs.asdict(solver)}  # type: ignore[arg-type]
    return {"kind": f"{kind.__module__}.{kind.__qualname__}"}


def from_description(about: Mapping[str, Any]) -> ConstraintSolver | None:
    """Return the strategy that was described; None where it is not one of mbkit's."""
    numbers = {name: value for name, value in about.items() if name != "kind"}
    solver: ConstraintSolver | None = None
    if about["kind"] in _OWN:
        solver = _OWN[about["kind"]](**numbers)
    return solver
