"""Integrators: how a system moves in time."""

from mbkit.catalogue import by_name
from mbkit.integrators import built_in
from mbkit.integrators import tableaus as tableaus
from mbkit.integrators.built_in import *
from mbkit.integrators.composition import COMMUTATOR_FREE3 as COMMUTATOR_FREE3
from mbkit.integrators.composition import COMMUTATOR_FREE4 as COMMUTATOR_FREE4
from mbkit.integrators.integrator import Integrator as Integrator

#: The integrators that mbkit brings, by the names that studies have for them.
INTEGRATORS: dict[str, type[Integrator]] = by_name(built_in, Integrator)
