"""Integrators: how a system moves in time."""

from mbkit.integrators import tableaus as tableaus
from mbkit.integrators.bliedf import BLieDF as BLieDF
from mbkit.integrators.classical.local_vector_space import LocalVectorSpace as LocalVectorSpace
from mbkit.integrators.classical.quaternion_vector_space import (
    QuaternionVectorSpace as QuaternionVectorSpace,
)
from mbkit.integrators.composition import COMMUTATOR_FREE3 as COMMUTATOR_FREE3
from mbkit.integrators.composition import COMMUTATOR_FREE4 as COMMUTATOR_FREE4
from mbkit.integrators.composition import Composition as Composition
from mbkit.integrators.exponentials import CommutatorFree as CommutatorFree
from mbkit.integrators.exponentials import CrouchGrossman as CrouchGrossman
from mbkit.integrators.generalized_alpha import AlphaCoefficients as AlphaCoefficients
from mbkit.integrators.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from mbkit.integrators.integrator import Integrator as Integrator
from mbkit.integrators.multistep_munthe_kaas import MultistepMuntheKaas as MultistepMuntheKaas
from mbkit.integrators.munthe_kaas import RungeKuttaMuntheKaas as RungeKuttaMuntheKaas
from mbkit.integrators.rattlie import RATTLie as RATTLie
from mbkit.integrators.tableau import Tableau as Tableau

__all__ = [
    "AlphaCoefficients",
    "BLieDF",
    "COMMUTATOR_FREE3",
    "COMMUTATOR_FREE4",
    "CommutatorFree",
    "Composition",
    "CrouchGrossman",
    "GeneralizedAlpha",
    "Integrator",
    "LocalVectorSpace",
    "MultistepMuntheKaas",
    "QuaternionVectorSpace",
    "RATTLie",
    "RungeKuttaMuntheKaas",
    "Tableau",
    "tableaus",
]
