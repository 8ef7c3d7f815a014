"""Systems with some joints locked where they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import ConstraintError, UsageError, check_kind, several
from mbkit.systems.blueprint import Blueprint

if TYPE_CHECKING:
    from mbkit.systems.system import System

#: Residual of a coupling of locked joints that is none. [m]
_CLOSED = 1e-9


def with_locked(
    system: System, blueprint: Blueprint, joints: Mapping[str, Any] | Iterable[str]
) -> System:
    """See `System.with_locked`."""
    if not isinstance(joints, Mapping):
        if not several(joints):
            raise UsageError(
                f"with_locked: joints must be names, or positions by name such as "
                f"{{'elbow': 0.5}}, got {joints!r}."
            )
        joints = dict.fromkeys(_names([joints] if isinstance(joints, str) else joints))
    positions, without = blueprint.locked_positions({name: joints[name] for name in _names(joints)})
    if without:
        _check_couplings(system, positions, without)
    return blueprint.locked(positions)


def _names(joints: Iterable[Any]) -> list[str]:
    names = list(joints)
    for name in names:
        check_kind("with_locked: the name of a joint", name, str, "text")
    return names


def _check_couplings(system: System, positions: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise ConstraintError where couplings of locked joints alone do not hold."""
    q = system.reference_configuration()
    for name, value in positions.items():
        if name in system.joint_names:
            q[system.position_slice(name)] = value
    residual = system.constraint_residual(q)
    rows = system.arrays.closure.position_row_names
    for name in names:
        own = [row for row, of in enumerate(rows) if of == name or of.startswith(f"{name}[")]
        gap = float(np.abs(residual[own]).max(initial=0.0))
        if gap > _CLOSED:
            raise ConstraintError(
                f"with_locked: constraint '{name}' couples locked joints, and misses {gap:.3g} m "
                f"at the positions given; give positions at which it holds."
            )
