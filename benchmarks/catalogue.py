"""Which methods are measured, by the names they have in tables and plots."""

from __future__ import annotations

from collections.abc import Mapping

import mbkit as mb

#: Integrators of which the orders are measured.
INTEGRATORS: Mapping[str, mb.Integrator] = {
    **{
        f"RKMK {tableau.name}": mb.RungeKuttaMuntheKaas(tableau)
        for tableau in mb.tableaus.TABLEAUS.values()
    },
    **{
        f"generalized-alpha, {name}, {formulation}": mb.GeneralizedAlpha(
            coefficients, formulation=formulation
        )
        for name, coefficients in {
            "0.9": mb.AlphaCoefficients.from_rho_inf(0.9),
            "0.6": mb.AlphaCoefficients.from_rho_inf(0.6),
        }.items()
        for formulation in ("stabilised", "index 3")
    },
    "Newmark, stabilised": mb.GeneralizedAlpha(mb.AlphaCoefficients.newmark()),
    "HHT -0.1, index 3": mb.GeneralizedAlpha(mb.AlphaCoefficients.hht(-0.1), formulation="index 3"),
}

#: Without what follows the curvature of the group, and the orders that are then missed.
UNCORRECTED: Mapping[str, tuple[mb.Integrator, int]] = {}

#: Integrators that are compared with other programs.
COMPARED: Mapping[str, mb.Integrator] = {
    "RKMK4": mb.RungeKuttaMuntheKaas(),
    "RKMK5": mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5),
    "generalized-alpha": mb.GeneralizedAlpha(),
    "Newmark": mb.GeneralizedAlpha(mb.AlphaCoefficients.newmark()),
}

#: Integrators of constrained systems on Andrews' squeezer, and the steps at which they are exact to
#: 1e-10 rad after 0.03 s.
SQUEEZED: Mapping[str, tuple[mb.Integrator, int]] = {
    "RKMK4": (mb.RungeKuttaMuntheKaas(), 3200),
    "RKMK5": (mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), 1200),
}

#: Integrators for stiff systems.
STIFF: Mapping[str, mb.Integrator] = {
    "generalized-alpha": mb.GeneralizedAlpha(),
    "generalized-alpha, 0.5": mb.GeneralizedAlpha(mb.AlphaCoefficients.from_rho_inf(0.5)),
}
