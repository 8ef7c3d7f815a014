"""Systems: equations of motion as frozen arrays and one twist representation."""

from mbkit.systems.mass_factor import MassFactor as MassFactor
from mbkit.systems.system import System as System
from mbkit.systems.system_jacobian import SystemJacobian as SystemJacobian

__all__ = ["MassFactor", "System", "SystemJacobian"]
