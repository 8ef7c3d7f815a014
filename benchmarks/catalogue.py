"""Which methods are measured, by the names they have in tables and plots."""

from __future__ import annotations

from collections.abc import Mapping

import mbkit as mb
from benchmarks.compared_exudyn import Method

#: Integrators of mbkit that are compared with other programs.
COMPARED: Mapping[str, mb.Integrator] = {
    "RKMK4": mb.RungeKuttaMuntheKaas(),
    "RKMK5": mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5),
}

#: Exudyn's, each in the ways it may be fast.
EXUDYN_METHODS = tuple(
    Method(f"{name}{', sparse' if sparse else ''}", sparse=sparse, each_step=True, **settings)
    for name, settings in {
        "generalized-alpha": {},
        "generalized-alpha of 2010": {"original": True},
        "trapezoidal rule, index 2": {"index_2": True},
    }.items()
    for sparse in (False, True)
)
