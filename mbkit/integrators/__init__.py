"""Integrators: how a system moves in time."""

from mbkit.integrators import tableaus as tableaus
from mbkit.integrators.bliedf import BLieDF as BLieDF
from mbkit.integrators.generalized_alpha import AlphaCoefficients as AlphaCoefficients
from mbkit.integrators.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from mbkit.integrators.integrator import Integrator as Integrator
from mbkit.integrators.munthe_kaas import RungeKuttaMuntheKaas as RungeKuttaMuntheKaas
from mbkit.integrators.rattlie import RATTLie as RATTLie
from mbkit.integrators.tableaus import Tableau as Tableau

__all__ = [
    "AlphaCoefficients",
    "BLieDF",
    "GeneralizedAlpha",
    "Integrator",
    "RATTLie",
    "RungeKuttaMuntheKaas",
    "Tableau",
    "tableaus",
]
