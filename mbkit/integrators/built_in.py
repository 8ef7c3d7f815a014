"""The integrators that mbkit brings, and classes of their coefficients: here each has its line.

They are made again from their fields where a run goes on. Their names in studies, and the public
ones, follow from this list: see `mbkit.catalogue`.
"""

# isort: off
from mbkit.integrators.bliedf import BLieDF as BLieDF
from mbkit.integrators.exponentials import CommutatorFree as CommutatorFree
from mbkit.integrators.exponentials import CrouchGrossman as CrouchGrossman
from mbkit.integrators.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from mbkit.integrators.classical.local_vector_space import LocalVectorSpace as LocalVectorSpace
from mbkit.integrators.multistep_munthe_kaas import MultistepMuntheKaas as MultistepMuntheKaas
from mbkit.integrators.classical.quaternion_vector_space import (
    QuaternionVectorSpace as QuaternionVectorSpace,
)
from mbkit.integrators.rattlie import RATTLie as RATTLie
from mbkit.integrators.munthe_kaas import RungeKuttaMuntheKaas as RungeKuttaMuntheKaas
from mbkit.integrators.generalized_alpha import AlphaCoefficients as AlphaCoefficients
from mbkit.integrators.coefficients.composition import Composition as Composition
from mbkit.integrators.coefficients.tableau import Tableau as Tableau
