"""Integrators: how a system moves in time."""

from mbkit.integrators import tableaus as tableaus
from mbkit.integrators.integrator import Integrator as Integrator
from mbkit.integrators.munthe_kaas import RungeKuttaMuntheKaas as RungeKuttaMuntheKaas
from mbkit.integrators.rattlie import RATTLie as RATTLie
from mbkit.integrators.tableaus import Tableau as Tableau

__all__ = ["Integrator", "RATTLie", "RungeKuttaMuntheKaas", "Tableau", "tableaus"]
