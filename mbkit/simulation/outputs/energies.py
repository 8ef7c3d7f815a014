"""Energies of rows and states: of the bodies, of gravity, and of all forces that have one."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from mbkit.errors import NotFiniteError
from mbkit.integrators.integrator import Rows
from mbkit.systems import System


def total_energy(system: System, t: float, q: Any, v: Any) -> float:
    """Return kinetic plus potential energy at one state."""
    kinetic, potential = _both(system, np.array([t]), q[None], v[None])
    return float(kinetic[0] + potential[0])


def energies(system: System, rows: Rows) -> tuple[Any, Any, BaseException | None]:
    """Return the energies of all rows, not a number where a joint fails, and the first failure."""
    try:
        kinetic, potential = _both(system, rows.t, rows.q, rows.v)
    except BaseException as error:
        kinetic, potential = np.full(rows.t.size, np.nan), np.full(rows.t.size, np.nan)
        with contextlib.suppress(BaseException):
            if isinstance(error, KeyboardInterrupt):  # is no fault of a row
                kinetic, potential = _both(system, rows.t, rows.q, rows.v)
                return kinetic, potential, error
            for row in range(rows.t.size):
                one = slice(row, row + 1)
                kinetic[one], potential[one] = _both(system, rows.t[one], rows.q[one], rows.v[one])
        return kinetic, potential, error
    bad = np.flatnonzero(~np.isfinite(kinetic + potential))
    if bad.size:
        fastest = system.velocity_names[int(np.abs(rows.v[bad[0]]).argmax())]
        return kinetic, potential, NotFiniteError(
            f"The energy at t = {rows.t[bad[0]]:.9g} s is too large for a number; '{fastest}' is "
            f"the fastest then. Start slower, or use a smaller h."
        )  # fmt: skip
    return kinetic, potential, None


def _both(system: System, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """Return kinetic energy, and potential energy of gravity and of all forces."""
    kinetic, potential = system.energies(q, v)
    if system.force_names:
        potential = potential + system.force_potentials(q, t).sum(axis=-1)
    return kinetic, potential
