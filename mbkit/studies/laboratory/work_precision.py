"""The work at which each combination reaches an error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.errors import UsageError, check_choice
from mbkit.studies.laboratory.findings.table import Table

__all__ = ["AtMost", "decades", "work_at", "work_table"]


class AtMost(float):
    """A number that is a bound from above, "<= 40" in tables."""

    def __format__(self, spec: str) -> str:
        return f"<= {float(self):{spec}}"


def work_at(errors: Sequence[float], work: Sequence[float], wanted: float) -> float:
    """Return the least work at which an error is reached, between measurements by powers.

    Infinite where no measurement reaches it. Where all of them do, larger steps might as well, with
    less work: an `AtMost`.

    Examples
    --------
    >>> round(work_at([1e-2, 1e-4], [1.0, 4.0], 1e-3), 12)
    2.0
    >>> work_at([1e-2, 1e-4], [1.0, 4.0], 1e-5)
    inf
    >>> f"{work_at([1e-2, 1e-4], [1.0, 4.0], 0.1):.3g}"
    '<= 1'
    """
    pairs = [
        (e, w) for e, w in zip(errors, work, strict=True) if math.isfinite(e) and math.isfinite(w)
    ]
    found = [w for e, w in pairs if e <= wanted]
    pairs.sort(reverse=True)
    for (coarse, less), (fine, more) in itertools.pairwise(pairs):
        if 0.0 < fine <= wanted < coarse and less > 0.0:
            share = math.log(coarse / wanted) / math.log(coarse / fine)
            found.append(less * (more / less) ** share)
    least = min(found, default=math.inf)
    return AtMost(least) if pairs and pairs[0][0] <= wanted else least


def decades(cases: Table) -> list[float]:
    """Return powers of ten between the errors of a table, above the doubt of its reference."""
    errors = cases["error"]
    errors = errors[np.isfinite(errors) & (errors > 0.0)]
    if not errors.size:
        return []
    least = max(errors.min(), 10.0 * float(np.nanmax(cases["doubt"], initial=0.0)), 1e-300)
    first, last = math.floor(math.log10(errors.max())), math.ceil(math.log10(least))
    return [10.0**k for k in range(first, last - 1, -1)][:16]


def _checked(errors: Any) -> list[float]:
    try:
        levels = [float(each) for each in errors]
    except (TypeError, ValueError, OverflowError):
        levels = [math.nan]
    if not all(0.0 < each < math.inf for each in levels):
        raise UsageError(f"errors must be positive numbers, got {errors!r}.")
    return levels


def work_table(cases: Table, errors: Sequence[float] | None = None, by: str = "time") -> Table:
    """Return the work for each error, a row a combination; empty where it is not reached.

    Numbers are bounds, `AtMost`, at the errors that the column "note" lists.
    """
    levels = decades(cases) if errors is None else _checked(errors)
    check_choice("by", by, tuple(cases.units))
    factors = tuple(name for name in cases.factors if name != "h")
    rows = []
    for group in cases.groups("h").values():
        row = {name: group.rows[0].get(name) for name in factors}
        for level in levels:
            found = work_at(group["error"], group[by], level)
            row[f"{by} at {level:.0e}"] = found if math.isfinite(found) else None
        bounds = [f"{x:.0e}" for x in levels if isinstance(row[f"{by} at {x:.0e}"], AtMost)]
        if bounds:
            row["note"] = f"at most, at {', '.join(bounds)}: the largest step is more precise"
        rows.append(row)
    units = {**dict.fromkeys(factors, ""), **{
        f"{by} at {level:.0e}": cases.units[by] for level in levels
    }, "note": ""}  # fmt: skip
    return Table(rows, units, factors)
