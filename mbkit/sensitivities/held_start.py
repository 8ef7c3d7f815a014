"""Joints that the start of a run holds because it names them, while others close the loops."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, final

import attrs
import numpy as np
from numpy.typing import NDArray

from mbkit.errors import StartDerivativeWarning, listed
from mbkit.simulation.preparation import Prepared
from mbkit.solvers.solver import RANK
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.by_name import fill_all
from mbkit.systems.calls.entries import prescribed_velocities, velocity_scales
from mbkit.users_line import users_line

__all__ = ["HeldStart"]

#: How far joints may be from where they were put. [rad], [m]
_MOVED = 1e-9

#: Inputs, and kinds of parameters, that open no loops.
_OPENS_NONE = ("v", "tau", "bodies", "forces", "gravity")


@final
@attrs.frozen(eq=False)
class HeldStart:
    """How the start of a run follows from the caller's q and v.

    A start by names keeps the joints that it names. The others close the loops by the least motion
    of joints, and find their velocities by the least kinetic energy. Arrays are brought to the
    constraints as the end of a step is.

    Attributes
    ----------
    positions, velocities : ndarray of bool, shape (nv,)
        The entries that are kept, prescribed joints included.
    v : ndarray, shape (nv,), or None
        The velocity before the others were found; None where it is that of the start.
    by_motion : bool
        Whether loops are closed by the least motion of joints.
    depends_on_search : bool
        Whether the joints that are not named have been moved, and could close the loops elsewhere:
        where they do depends on the search for it, which is not differentiated.
    """

    positions: NDArray[np.bool_]
    velocities: NDArray[np.bool_]
    v: Floats | None
    by_motion: bool
    depends_on_search: bool = False

    @classmethod
    def of(cls, run: Prepared) -> Self:
        """Return that of a run whose loops are closed.

        Where the joints that are not named could not close loops which a parameter opens, since
        nearly all are named, none is kept.
        """
        system, problem = run.system, run.problem
        q, v = run.given or (problem.q, problem.v)
        prescribed = prescribed_velocities(system)
        if system.free_joints:  # which are not those that the caller named
            return cls(prescribed, prescribed, None, by_motion=False)
        A = system.constraint_jacobian(problem.q, problem.t0)
        positions, velocities = (_held(A, prescribed, _named(system, each)) for each in (q, v))
        before = None
        if v is None or isinstance(v, Mapping):
            before = system.prescribed_state(problem.t0)[1]
            fill_all(system, before, v or {}, "v", "v")
            before = np.where(_named(system, v) & ~velocities, problem.v, before)
        if not (q is None or isinstance(q, Mapping)):
            return cls(positions, velocities, before, by_motion=False)
        guess = system.prescribed_state(problem.t0)[0]
        fill_all(system, guess, q or {}, "q", "q")
        is_moved = bool((np.abs(system.difference(guess, problem.q)) > _MOVED).any())
        is_open = is_moved and _rank(A[:, ~positions]) < int(np.count_nonzero(~positions))
        return cls(positions, velocities, before, by_motion=True, depends_on_search=is_open)

    def warn(self, names: Sequence[str]) -> None:
        """Warn where derivatives by some of the inputs are those of a start nearby."""
        moving = [name for name in names if name.partition(".")[0] not in _OPENS_NONE]
        if self.depends_on_search and moving:
            warnings.warn(
                f"The start of the run leaves open where the loops are closed: q names too few "
                f"joints, and the others were moved. Derivatives by {listed(moving)} take the "
                f"closed start that is nearest to that of the run, by the motion of joints, which "
                f"differs from what simulate would find. Name as many joints in q as the mechanism "
                f"has degrees of freedom.",
                StartDerivativeWarning,
                stacklevel=users_line(),
            )


def _named(system: System, given: Any) -> NDArray[np.bool_]:
    """Return which velocities are of the joints or entries that are named, (nv,)."""
    found = np.zeros(system.nv, dtype=bool)
    names: Iterable[str] = given if isinstance(given, Mapping) else ()
    for name in names:
        if name in system.velocity_names:
            found[system.velocity_names.index(name)] = True
        else:
            found[system.velocity_slice(name.partition("[")[0])] = True
    return found


def _held(A: Floats, prescribed: NDArray[np.bool_], named: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the entries kept: those named, if the rest can move as freely as all could."""
    held = prescribed | named
    if (held == prescribed).all():
        return prescribed  # a rank of a large mechanism takes seconds
    return held if _rank(A[:, ~held]) == _rank(A[:, ~prescribed]) else prescribed


def _rank(A: Floats) -> int:
    return int(np.linalg.matrix_rank(A, rtol=RANK)) if A.size else 0


def joint_motion(system: System, count: int) -> Floats:
    """Return the matrix of the motion of joints, angles beside parts of the length, (N, nv, nv)."""
    return np.tile(np.diag(velocity_scales(system) ** -2.0), (count, 1, 1))
