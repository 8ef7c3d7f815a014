"""The measured methods, by their names in tables and plots."""

from __future__ import annotations

from collections.abc import Mapping

import mbkit as mb
from benchmarks.timing import sized

_FORMULATIONS = {"stabilised": "stabilized_index2", "index 3": "index3"}

#: Integrators of which the orders are measured: all that mbkit has.
INTEGRATORS: Mapping[str, mb.Integrator] = {
    **{
        f"RKMK {tableau.name}": mb.RungeKuttaMuntheKaas(tableau)
        for tableau in mb.tableaus.TABLEAUS.values()
    },
    "Crouch-Grossman 3": mb.CrouchGrossman(mb.tableaus.CROUCH_GROSSMAN3),
    "Crouch-Grossman 4": mb.CrouchGrossman(mb.tableaus.CROUCH_GROSSMAN4),
    "commutator-free 3": mb.CommutatorFree(mb.COMMUTATOR_FREE3),
    "commutator-free 4": mb.CommutatorFree(mb.COMMUTATOR_FREE4),
    **{f"multistep Munthe-Kaas {k}": mb.MultistepMuntheKaas(k) for k in range(1, 6)},
    **{
        f"generalized-alpha, {rho}, {name}": mb.GeneralizedAlpha(rho, formulation=formulation)
        for rho in (0.9, 0.6)
        for name, formulation in _FORMULATIONS.items()
    },
    "Newmark, stabilised": mb.GeneralizedAlpha(coefficients=mb.AlphaCoefficients.newmark()),
    "HHT -0.1, index 3": mb.GeneralizedAlpha(
        coefficients=mb.AlphaCoefficients.hht(-0.1), formulation="index3"
    ),
    **{
        f"BLieDF {k}, {name}": mb.BLieDF(k, formulation=formulation)
        for k in range(1, 7)
        for name, formulation in _FORMULATIONS.items()
    },
    "RATTLie": mb.RATTLie(),
    "local RK23": mb.LocalVectorSpace("RK23"),
    "local RK45": mb.LocalVectorSpace("RK45"),
    "local DOP853": mb.LocalVectorSpace("DOP853"),
    "local Radau": mb.LocalVectorSpace("Radau"),
    "quaternions RK23": mb.QuaternionVectorSpace("RK23"),
    "quaternions RK45": mb.QuaternionVectorSpace("RK45"),
    "quaternions RK23, constrained": mb.QuaternionVectorSpace("RK23", norm="constrained"),
}

#: Without what follows the curvature of the group, and the orders that are then missed.
UNCORRECTED: Mapping[str, tuple[mb.Integrator, int]] = {
    f"BLieDF {k} without its correction": (mb.BLieDF(k, correction=False), k) for k in (3, 4)
}

#: Integrators that are compared with other programs.
COMPARED: Mapping[str, mb.Integrator] = {
    "RKMK4": mb.RungeKuttaMuntheKaas(),
    "RKMK5": mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5),
    "RKMK8": mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8),
    "multistep Munthe-Kaas 4": mb.MultistepMuntheKaas(4),
    "generalized-alpha": mb.GeneralizedAlpha(),
    "Newmark": mb.GeneralizedAlpha(coefficients=mb.AlphaCoefficients.newmark()),
    "BLieDF 3": mb.BLieDF(3),
    "BLieDF 5": mb.BLieDF(5),
    "RATTLie": mb.RATTLie(),
}

#: Integrators of constrained systems on Andrews' squeezer, and the steps at which they are exact to
#: 1e-10 rad after 0.03 s.
_SQUEEZED: Mapping[str, tuple[mb.Integrator, int]] = {
    "RKMK4": (mb.RungeKuttaMuntheKaas(), 3200),
    "RKMK5": (mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), 1200),
    "Crouch-Grossman 4": (mb.CrouchGrossman(mb.tableaus.CROUCH_GROSSMAN4), 4000),
    "commutator-free 4": (mb.CommutatorFree(mb.COMMUTATOR_FREE4), 3200),
    "multistep Munthe-Kaas 4": (mb.MultistepMuntheKaas(4), 19000),
    "multistep Munthe-Kaas 5": (mb.MultistepMuntheKaas(5), 12000),
    "local RK45": (mb.LocalVectorSpace("RK45"), 1200),
    "quaternions RK45": (mb.QuaternionVectorSpace("RK45"), 1200),
    "BLieDF 4": (mb.BLieDF(4), 16000),
    "BLieDF 5": (mb.BLieDF(5), 12000),
    "BLieDF 6": (mb.BLieDF(6), 6000),
    "generalized-alpha": (mb.GeneralizedAlpha(tolerance=1e-10), 2_000_000),
}

SQUEEZED = sized(_SQUEEZED, {name: _SQUEEZED[name] for name in ("RKMK5", "local RK45")})

#: Integrators for stiff systems.
STIFF: Mapping[str, mb.Integrator] = {
    "generalized-alpha": mb.GeneralizedAlpha(),
    "generalized-alpha, 0.5": mb.GeneralizedAlpha(rho_inf=0.5),
    "BLieDF 2": mb.BLieDF(2),
    "BLieDF 4": mb.BLieDF(4),
}
