"""Checks of a constraint's definition, made as soon as it is added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mbkit.constraints.constraint import Constraint
from mbkit.definition_checks import check_methods, check_named, check_names, check_part
from mbkit.errors import ConstraintError


def defines(constraint: Constraint, method: str) -> bool:
    """Whether a constraint's class has a method of its own in the place of the default."""
    return getattr(type(constraint), method) is not getattr(Constraint, method)


def check_constraint_definition(constraint: Any) -> None:
    """Raise ConstraintError, with the requirement, if a definition is wrong in its structure.

    Examples
    --------
    >>> check_constraint_definition(Constraint("wire"))
    Traceback (most recent call last):
    mbkit.errors.ConstraintError: Constraint 'wire': num_rows must be an integer of 1 or more, \
    got 0.
    """
    what = check_part(constraint, Constraint, ConstraintError)
    kind = type(constraint).__name__
    check_methods(what, constraint, Constraint, ConstraintError)
    check_names(what, constraint, ConstraintError)
    for key, names in (("joints", constraint.joints), ("bodies", constraint.bodies)):
        if len(set(names)) < len(names):
            raise ConstraintError(f"{what}: {key} must have each name once, got {names!r}.")
    rows, position_rows = constraint.num_rows, constraint.num_position_rows
    if not isinstance(rows, int) or rows < 1:
        raise ConstraintError(f"{what}: num_rows must be an integer of 1 or more, got {rows!r}.")
    if not isinstance(position_rows, int) or not 0 <= position_rows <= rows:
        raise ConstraintError(
            f"{what}: num_position_rows must be an integer between 0 and num_rows = {rows}, got "
            f"{position_rows!r}."
        )
    if not constraint.joints and not constraint.bodies:
        raise ConstraintError(f"{what}: {kind} must name what it acts on in 'joints' or 'bodies'.")
    if constraint.kernel() is not None:
        return
    if position_rows and not defines(constraint, "residual"):
        raise ConstraintError(f"{what}: {kind} must define residual(t, q, poses), or kernel().")
    if position_rows < rows and not defines(constraint, "rows"):
        raise ConstraintError(
            f"{what}: {kind} has {rows} rows, of which {position_rows} have a residual; it must "
            "define rows(t, q, poses), which tells of all."
        )


def check_constraint_names(
    constraint: Constraint,
    owner: str,
    joints: Mapping[str, tuple[int, int]],
    bodies: Mapping[str, Any],
) -> None:
    """Raise unless the joints and bodies that a constraint names are there, and fit it.

    As `check_named`; and the joints move.
    """
    what = f"Constraint {constraint.name!r}"
    for name in constraint.joints:
        if name in joints and joints[name][1] == 0:
            raise ConstraintError(f"{what}: joint {name!r} does not move; choose one that does.")
    check_named(what, constraint, owner, joints, bodies)
