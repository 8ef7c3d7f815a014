"""Forces: drives, springs, dampers and loads of a mechanism."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.forces.built_in import *
    from mbkit.forces.definition import check_force_definition as check_force_definition
    from mbkit.forces.definition import check_force_names as check_force_names
    from mbkit.forces.derivatives import ForceDerivatives as ForceDerivatives
    from mbkit.forces.force import Force as Force
    from mbkit.forces.force_function import ForceFunction as ForceFunction
    from mbkit.forces.kernels import ForceKernels as ForceKernels
    from mbkit.forces.names import FORCE_TYPES as FORCE_TYPES

look_up_names(__name__)
