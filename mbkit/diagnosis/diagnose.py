"""The diagnosis of a system's constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.close_loops import checked_start
from mbkit.closed_loops.loop_equations import Loops, check_closed, checked_fixed
from mbkit.diagnosis.branches import branches
from mbkit.diagnosis.reactions import reactions, row_words
from mbkit.diagnosis.screws import loop_screws
from mbkit.memory import check_memory
from mbkit.results.diagnosis import Branch, Diagnosis
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.rank import RANK, rank_of, singular_values

if TYPE_CHECKING:
    from mbkit.systems import System

#: Gaps in parts of the length: accepted as closed, and closed before the diagnosis.
_ROUNDED = 1e-12


def diagnose(system: System, q: ArrayLike | None, t: float) -> Diagnosis:
    """Return the diagnosis of the constraints; see `System.diagnose`."""
    m, nv = system.num_velocity_constraints, system.nv
    check_memory(
        3.0 * m * nv + 2.0 * m * m + nv * nv,
        f"The diagnosis of {m} rows of constraints on {nv} velocities, which takes full matrices,",
        "diagnose a part of the mechanism: of what repeats, a few pieces",
    )
    start = _closed(system, q, t)
    loops = Loops.of(system, checked_fixed(system, (), "diagnose"), t)
    J = loops.velocity_jacobian(start)
    U, sizes, _ = singular_values(J)
    rank = rank_of(J)
    found = branches(loops, start)
    independent = _independent(loops, start, rank, found)
    names = system.constraint_names
    return Diagnosis(
        system=system.name,
        q=start,
        gap=float(np.abs(system.constraint_residual(start, t)).max(initial=0.0)),
        length=loops.length,
        num_velocities=len(loops.free),
        prescribed=system.prescribed_joints,
        num_rows=len(J),
        rank=rank,
        singular_values=sizes,
        tolerance=RANK * float(sizes.max(initial=0.0)),
        loops=loop_screws(system, start),
        branches=found,
        rows=row_words(system, start, t),
        redundant=tuple(name for k, name in enumerate(names) if k not in independent),
        independent=tuple(names[k] for k in independent),
        reactions=reactions(system, start, U[:, rank:], t),
    )


def _closed(system: System, q: ArrayLike | None, t: float) -> FloatArray:
    """Return a configuration with its loops closed to rounding; an error if they are open."""
    start = checked_start(system, q, t, "diagnose")
    g = np.abs(system.constraint_residual(start, t)) / system.arrays.closure.length
    if not g.max(initial=0.0) > _ROUNDED:
        return start
    if q is not None:
        check_closed(system, start, t, "diagnose")
    anything: Any = system
    return np.asarray(anything.close_loops(start, t=t))


def _independent(loops: Loops, q: FloatArray, rank: int, found: tuple[Branch, ...]) -> list[int]:
    """Return rows that suffice on all branches of the highest rank, or at q where there is none."""
    if not found:
        return independent_rows([loops.velocity_jacobian(q)], rank)
    least = min(branch.mobility for branch in found)
    generic = [branch.q for branch in found if branch.mobility == least]
    highest = len(loops.free) - least
    return independent_rows([loops.velocity_jacobian(each) for each in generic], highest)


def independent_rows(jacobians: Sequence[FloatArray], rank: int) -> list[int]:
    """Return as many rows as the rank is that are independent in all configurations, in order.

    The Jacobians (rows, velocities), one for each configuration, are all of that rank. A QR
    factorisation with column pivots proposes rows in each configuration; the proposal that is
    farthest from singular in all configurations is returned. Source: Golub and Van Loan, Matrix
    Computations, 4th edition, section 5.4.2.

    Examples
    --------
    >>> import numpy as np
    >>> independent_rows([np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])], 2)
    [1, 2]
    """
    from scipy.linalg import qr

    if rank == 0:
        return []
    choices = {tuple(sorted(qr(J.T, mode="r", pivoting=True)[1][:rank])) for J in jacobians}

    def worst(rows: tuple[int, ...]) -> float:
        sizes = [singular_values(J[list(rows)], compute_uv=False)[rank - 1] for J in jacobians]
        return float(min(sizes))

    return [int(row) for row in max(sorted(choices), key=worst)]
