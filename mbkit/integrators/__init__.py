"""Integrators: how a system moves in time."""

from mbkit.integrators import tableaus as tableaus
from mbkit.integrators.generalized_alpha import AlphaCoefficients as AlphaCoefficients
from mbkit.integrators.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from mbkit.integrators.integrator import Integrator as Integrator
from mbkit.integrators.munthe_kaas import RungeKuttaMuntheKaas as RungeKuttaMuntheKaas
from mbkit.integrators.tableaus import Tableau as Tableau

__all__ = [
    "AlphaCoefficients",
    "GeneralizedAlpha",
    "Integrator",
    "RungeKuttaMuntheKaas",
    "Tableau",
    "tableaus",
]
