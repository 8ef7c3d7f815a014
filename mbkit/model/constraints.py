"""Constraints in a mechanism: names that are new, and things that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbkit.constraints import (
    Constraint,
    check_constraint_definition,
    check_constraint_names,
)
from mbkit.errors import DuplicateNameError
from mbkit.model.known import BodiesAndWorld, JointSizes

if TYPE_CHECKING:
    from mbkit.model.mechanism import Mechanism

__all__ = ["add_constraint"]


def add_constraint(
    mechanism: Mechanism, constraints: dict[str, Constraint], constraint: Constraint
) -> None:
    """Enter a constraint among those of the mechanism; see `Mechanism.add_constraint`."""
    check_constraint_definition(constraint)
    what = f"mechanism {mechanism.name!r}"
    for kind, taken in (("constraint", constraints), ("joint", mechanism.joints)):
        if constraint.name in taken:
            raise DuplicateNameError(
                f"There is a {kind} {constraint.name!r} in {what} already; choose another name."
            )
    joints, bodies = JointSizes(mechanism.joints), BodiesAndWorld(mechanism.bodies)
    check_constraint_names(constraint, what, joints, bodies)
    constraints[constraint.name] = constraint
