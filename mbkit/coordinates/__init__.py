"""Coordinates: strategies that assemble a mechanism into a system."""

from mbkit.coordinates.absolute import AbsoluteCoordinates as AbsoluteCoordinates
from mbkit.coordinates.cut_bodies import BodyCut as BodyCut
from mbkit.coordinates.relative import RelativeCoordinates as RelativeCoordinates
from mbkit.model.coordinates import Coordinates as Coordinates

__all__ = ["AbsoluteCoordinates", "BodyCut", "Coordinates", "RelativeCoordinates"]
