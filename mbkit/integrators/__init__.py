"""Integrators: how a system moves in time."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.integrators.built_in import *
    from mbkit.integrators.coefficients import tableaus as tableaus
    from mbkit.integrators.coefficients.composition import COMMUTATOR_FREE3 as COMMUTATOR_FREE3
    from mbkit.integrators.coefficients.composition import COMMUTATOR_FREE4 as COMMUTATOR_FREE4
    from mbkit.integrators.integrator import Integrator as Integrator
    from mbkit.integrators.names import INTEGRATORS as INTEGRATORS

look_up_names(__name__)
