"""Systems: equations of motion as frozen arrays and one twist representation."""

from mbkit.systems.derivatives.evaluation_derivatives import Derivatives as Derivatives
from mbkit.systems.equations_of_motion import EquationsOfMotion as EquationsOfMotion
from mbkit.systems.forms.binet import binet_christoffel as binet_christoffel
from mbkit.systems.forms.momentum_form import MomentumForm as MomentumForm
from mbkit.systems.forms.newton_euler import NewtonEulerEquations as NewtonEulerEquations
from mbkit.systems.jacobians.jacobian_rates import JacobianRates as JacobianRates
from mbkit.systems.jacobians.system_jacobian import SystemJacobian as SystemJacobian
from mbkit.systems.mass_factor import MassFactor as MassFactor
from mbkit.systems.parameters.base_parameters import BaseParameters as BaseParameters
from mbkit.systems.singularities import NearSingularity as NearSingularity
from mbkit.systems.singularities import near_singularity as near_singularity
from mbkit.systems.system import System as System

__all__ = [
    "BaseParameters",
    "Derivatives",
    "EquationsOfMotion",
    "MassFactor",
    "MomentumForm",
    "NewtonEulerEquations",
    "NearSingularity",
    "System",
    "JacobianRates",
    "SystemJacobian",
    "binet_christoffel",
    "near_singularity",
]
