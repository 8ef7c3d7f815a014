"""The work at which each combination reaches an error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from mbkit.studies.laboratory.table import Table

__all__ = ["decades", "work_at", "work_table"]


def work_at(errors: Sequence[float], work: Sequence[float], wanted: float) -> float:
    """Return the least work at which an error is reached, between measurements by powers.

    Infinite where no measurement reaches it.

    Examples
    --------
    >>> round(work_at([1e-2, 1e-4], [1.0, 4.0], 1e-3), 12)
    2.0
    >>> work_at([1e-2, 1e-4], [1.0, 4.0], 1e-5)
    inf
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
    return min(found, default=math.inf)


def decades(cases: Table) -> list[float]:
    """Return powers of ten between the errors of a table, above the doubt of its reference."""
    errors = cases["error"]
    errors = errors[np.isfinite(errors) & (errors > 0.0)]
    if not errors.size:
        return []
    least = max(errors.min(), 10.0 * float(np.nanmax(cases["doubt"], initial=0.0)), 1e-300)
    first, last = math.floor(math.log10(errors.max())), math.ceil(math.log10(least))
    return [10.0**k for k in range(first, last - 1, -1)][:16]


def work_table(cases: Table, errors: Sequence[float] | None = None, by: str = "time") -> Table:
    """Return the work for each error, a row a combination; empty where it is not reached."""
    levels = decades(cases) if errors is None else list(errors)
    factors = tuple(name for name in cases.factors if name != "h")
    rows = []
    for group in cases.groups("h").values():
        row = {name: group.rows[0].get(name) for name in factors}
        for level in levels:
            found = work_at(group["error"], group[by], level)
            row[f"{by} at {level:.0e}"] = found if math.isfinite(found) else None
        rows.append(row)
    units = {**dict.fromkeys(factors, ""), **{
        f"{by} at {level:.0e}": cases.units[by] for level in levels
    }}  # fmt: skip
    return Table(rows, units, factors)
