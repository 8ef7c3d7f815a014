"""Forces: what drives, holds and brakes a mechanism."""

from mbkit.catalogue import by_name
from mbkit.forces import built_in
from mbkit.forces.built_in import *
from mbkit.forces.definition import check_force_definition as check_force_definition
from mbkit.forces.definition import check_force_names as check_force_names
from mbkit.forces.derivatives import ForceDerivatives as ForceDerivatives
from mbkit.forces.force import Force as Force
from mbkit.forces.force_function import ForceFunction as ForceFunction
from mbkit.forces.kernels import ForceKernels as ForceKernels

#: The forces that mbkit brings, by the names that model files have for them.
FORCE_TYPES: dict[str, type[Force]] = by_name(built_in, Force)
