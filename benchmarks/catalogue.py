"""Which methods are measured, by the names they have in tables and plots."""

from __future__ import annotations

from collections.abc import Mapping

import mbkit as mb

#: Integrators of mbkit that are compared with other programs.
COMPARED: Mapping[str, mb.Integrator] = {
    "RKMK4": mb.RungeKuttaMuntheKaas(),
    "RKMK5": mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5),
}

#: Integrators of which the orders are measured.
INTEGRATORS: Mapping[str, mb.Integrator] = {
    f"RKMK {tableau.name}": mb.RungeKuttaMuntheKaas(tableau)
    for tableau in mb.tableaus.TABLEAUS.values()
}
