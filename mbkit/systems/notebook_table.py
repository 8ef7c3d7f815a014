"""A system as a table for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbkit.errors import listed
from mbkit.results.facts import Facts

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["system_facts"]


def system_facts(system: System) -> tuple[str, Facts]:
    """Return the head, and texts on a system by label."""
    bodies = system.body_names[1:]
    units = [f"{name} [{unit or 1}]" for name, unit in zip(
        system.position_names, system.position_units, strict=True
    )]  # fmt: skip
    rows = len(system.constraint_names)
    closed = f", {rows} constraint row{'s' * (rows != 1)}" if rows else ""
    gravity = ", ".join(f"{each:g}" for each in system.gravity + 0.0)
    head = f"System '{system.name}': nq = {system.nq}, nv = {system.nv}{closed}"
    return head, [
        ("bodies", f"{len(bodies)}: {listed(bodies, str)}" if bodies else "none"),
        ("positions", listed(units, str)),
        ("loop joints", listed(system.loop_joints, str)),
        ("prescribed", listed(system.prescribed_joints, str)),
        ("forces", listed(system.force_names, str)),
        ("gravity", f"({gravity}) m/s^2"),
        ("mass", f"{system.mass:g} kg"),
        ("coordinates", type(system.coordinates).__name__),
        ("representation", f"{system.representation.name} twists"),
    ]
