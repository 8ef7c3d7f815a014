"""Outputs of a run about forces by name: efforts, wrenches, powers and potential energies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import ForceError
from mbkit.integrators.integrator import Rows
from mbkit.systems.calls.evaluations import FORCE_WRENCHES

if TYPE_CHECKING:
    from mbkit.forces import Force
    from mbkit.systems import System

__all__ = ["FORCES", "check_force_output", "force_named"]


def force_named(system: System, name: str) -> Force | None:
    """Return a force of a system by its name; None if there is none."""
    return next((force for force in system.forces if force.name == name), None)


def check_force_output(system: System, name: str, kind: str) -> None:
    """Raise ForceError where a force does not have the quantity."""
    force = force_named(system, name)
    assert force is not None
    on_bodies = force.acts_on == "bodies"
    if kind == ("effort" if on_bodies else "wrench"):
        acts, other = ("bodies", "wrench") if on_bodies else ("joints", "effort")
        raise ForceError(
            f"outputs: '{name}.{kind}': force '{name}' acts on {acts}; take '{name}.{other}', or "
            f"'{name}.power'."
        )


def entries_of(system: System, force: Force) -> Any:
    """Return the entries of v along which a force on joints acts."""
    joints = force.joints or system.joint_names
    return np.concatenate([np.r_[system.velocity_slice(joint)] for joint in joints])


def _wrenches(system: System, name: str, rows: Rows) -> tuple[Any, Any]:
    """Return generalized forces (k, nv) and wrenches (k, bodies + 1, 6) of one force alone."""
    alone = system.without_forces([each for each in system.force_names if each != name])
    time = rows.t[:, None]
    found = alone.evaluator.compute(FORCE_WRENCHES, rows.q, rows.v, time, on_error="nan")
    wrenches = found[:, system.nv :].reshape(-1, len(system.body_names), 6)
    return found[:, : system.nv], wrenches


def _effort(system: System, name: str, rows: Rows) -> Any:
    force = force_named(system, name)
    assert force is not None
    found = _wrenches(system, name, rows)[0][:, entries_of(system, force)]
    return found[:, 0] if found.shape[1] == 1 else found


def _wrench(system: System, name: str, rows: Rows) -> Any:
    force = force_named(system, name)
    assert force is not None
    bodies = [system.body_index(body) for body in force.bodies or system.body_names]
    found = _wrenches(system, name, rows)[1][:, bodies]
    return found[:, 0] if len(bodies) == 1 else found


def _power(system: System, name: str, rows: Rows) -> Any:
    alone = system.without_forces([each for each in system.force_names if each != name])
    efforts = alone.generalized_forces(rows.q, rows.v, rows.t, on_error="nan")
    return np.einsum("ki,ki->k", efforts, rows.v)


def _potential_energy(system: System, name: str, rows: Rows) -> Any:
    found = system.force_potentials(rows.q, rows.t, on_error="nan")
    return found[:, system.force_names.index(name)]


#: Quantities of a force, by (system, name, rows).
FORCES: dict[str, Callable[[System, str, Rows], Any]] = {
    "effort": _effort, "wrench": _wrench, "power": _power, "potential_energy": _potential_energy,
}  # fmt: skip
