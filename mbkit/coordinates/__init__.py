"""Coordinates: strategies that assemble a mechanism into a system."""

from mbkit.coordinates.cut_bodies import BodyCut as BodyCut
from mbkit.coordinates.relative import RelativeCoordinates as RelativeCoordinates

__all__ = ["BodyCut", "RelativeCoordinates"]
