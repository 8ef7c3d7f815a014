"""Orders of convergence, and work at equal errors, of a mechanism in many combinations."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from mbkit.given_values import whole_number
from mbkit.model import Mechanism
from mbkit.studies.laboratory.compare import compare
from mbkit.studies.laboratory.findings.findings import Findings
from mbkit.studies.laboratory.findings.saving import kept
from mbkit.studies.laboratory.orders import orders_table
from mbkit.studies.laboratory.work_precision import work_table

__all__ = ["convergence", "work_precision"]


def convergence(
    mechanism: Mechanism | Mapping[str, Mechanism],
    t_span: tuple[float, float],
    h: Any,
    *,
    halvings: int = 5,
    repeats: int = 0,
    **options: Any,
) -> Findings:
    """Return the orders at which errors fall with the step, with confidence.

    Parameters
    ----------
    mechanism, t_span, **options
        As of `compare`.
    h : float or sequence of floats
        The largest step, which is halved, or all steps, four or more. [s]
    halvings : int, default 5
        How often `h` is halved.
    repeats : int, default 0
        How often each case is timed.

    Returns
    -------
    Findings
        ``table`` has for each combination and kind of error the ``order``, the interval ``low`` to
        ``high`` in which it is with 95 % confidence, and the asymptotic range ``h_largest`` to
        ``h_smallest`` from which it was taken: steps between which slopes differ by 0.2 at most,
        with errors ten times above those of the reference. Where there is none, ``note`` has why.
        ``tables["cases"]`` has all cases.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.from_com(1.0, (0, 0, -0.5))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    >>> found = mb.studies.convergence(mech, (0.0, 1.0), 0.05, q=[1.0], integrators="rkmk3")
    >>> row = found.table.rows[0]
    >>> row["of"], round(row["order"], 1)
    ('error', 3.0)
    """
    steps = h
    if not hasattr(h, "__iter__"):
        halvings = whole_number("halvings", halvings, 2)
        steps = [h / 2**k for k in range(halvings + 1)] if _is_number(h) else h
    found = compare(mechanism, t_span, steps, repeats=repeats, **options)
    cases = found.tables["cases"]
    tables = {"orders": orders_table(cases), "cases": cases}
    return _kept(attrs.evolve(found, kind="convergence", tables=tables))


def work_precision(
    mechanism: Mechanism | Mapping[str, Mechanism],
    t_span: tuple[float, float],
    h: Any,
    *,
    errors: Sequence[float] | None = None,
    by: str = "time",
    **options: Any,
) -> Findings:
    """Return the work at which each combination reaches given errors.

    Parameters
    ----------
    mechanism, t_span, h, **options
        As of `compare`.
    errors : sequence of float, optional
        Powers of ten between the errors that were measured, if left out.
    by : str, default "time"
        The column that is the work: "time", "evaluations", "operations", ...

    Returns
    -------
    Findings
        ``table`` has a row for each combination of all factors but the step, and a column for each
        error: the least work at which it is reached, between steps by powers; empty where none
        reaches it. ``tables["cases"]`` has all cases.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.from_com(1.0, (0, 0, -0.5))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    >>> found = mb.studies.work_precision(
    ...     mech, (0.0, 1.0), [0.05, 0.01], q=[1.0], integrators=["rkmk2", "rkmk4"],
    ...     errors=[1e-3], by="evaluations", repeats=0,
    ... )
    >>> [row["integrator"] for row in found.table if row["evaluations at 1e-03"] is not None]
    ['rkmk2', 'rkmk4']
    """
    found = compare(mechanism, t_span, h, **options)
    cases = found.tables["cases"]
    tables = {"work": work_table(cases, errors, by), "cases": cases}
    return _kept(attrs.evolve(found, kind="work_precision", tables=tables))


def _kept(found: Findings) -> Findings:
    return found if found.directory is None else kept(found, found.directory)


def _is_number(h: Any) -> bool:
    return isinstance(h, int | float) and not isinstance(h, bool) and abs(h) <= sys.float_info.max
