"""Coordinates: strategies that assemble a mechanism into a system."""

from mbkit.coordinates.relative import RelativeCoordinates as RelativeCoordinates

__all__ = ["RelativeCoordinates"]
