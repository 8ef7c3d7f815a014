"""Forces in a mechanism: names that are new, and things that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbkit.errors import DuplicateNameError
from mbkit.forces import Force, check_force_definition, check_force_names
from mbkit.model.known import BodiesAndWorld, JointSizes

if TYPE_CHECKING:
    from mbkit.model.mechanism import Mechanism

__all__ = ["add_force"]


def add_force(mechanism: Mechanism, forces: dict[str, Force], force: Force) -> None:
    """Enter a force among `forces`, those of the mechanism; see `Mechanism.add_force`."""
    check_force_definition(force)
    what = f"mechanism {mechanism.name!r}"
    if force.name in forces:
        raise DuplicateNameError(
            f"There is a force {force.name!r} in {what} already; choose another name."
        )
    joints, bodies = JointSizes(mechanism.joints), BodiesAndWorld(mechanism.bodies)
    check_force_names(force, what, joints, bodies)
    forces[force.name] = force
