"""The integrators of mbkit, by the names that studies and files call them."""

from __future__ import annotations

from collections.abc import Mapping

from mbkit.integrators.bliedf import BLieDF
from mbkit.integrators.classical.local_vector_space import LocalVectorSpace
from mbkit.integrators.classical.quaternion_vector_space import QuaternionVectorSpace
from mbkit.integrators.composition import Composition
from mbkit.integrators.exponentials import CommutatorFree, CrouchGrossman
from mbkit.integrators.generalized_alpha import AlphaCoefficients, GeneralizedAlpha
from mbkit.integrators.integrator import Integrator
from mbkit.integrators.multistep_munthe_kaas import MultistepMuntheKaas
from mbkit.integrators.munthe_kaas import RungeKuttaMuntheKaas
from mbkit.integrators.rattlie import RATTLie
from mbkit.integrators.tableau import Tableau

__all__ = ["COEFFICIENTS", "INTEGRATORS"]

#: By name. Those of attrs are made again from their fields when a run goes on.
INTEGRATORS: Mapping[str, type[Integrator]] = {
    "bliedf": BLieDF,
    "commutator_free": CommutatorFree,
    "crouch_grossman": CrouchGrossman,
    "generalized_alpha": GeneralizedAlpha,
    "local_vector_space": LocalVectorSpace,
    "multistep_munthe_kaas": MultistepMuntheKaas,
    "quaternion_vector_space": QuaternionVectorSpace,
    "rattlie": RATTLie,
    "runge_kutta_munthe_kaas": RungeKuttaMuntheKaas,
}

#: What their fields hold beside numbers and words: attrs classes as well.
COEFFICIENTS = (AlphaCoefficients, Composition, Tableau)
