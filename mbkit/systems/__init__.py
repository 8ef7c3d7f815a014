"""Systems: equations of motion as frozen arrays and one twist representation."""

from mbkit.systems.system import System as System
from mbkit.systems.system_jacobian import SystemJacobian as SystemJacobian
from mbkit.systems.system_jacobian import system_jacobian as system_jacobian

__all__ = ["System", "SystemJacobian", "system_jacobian"]
