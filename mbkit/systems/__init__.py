"""Systems: equations of motion as frozen arrays and one twist representation."""

from mbkit.systems.system import System as System

__all__ = ["System"]
