"""Twist representations: how the velocity of a body is written down, and with which recursion."""

from mbkit.representations.body_fixed import BodyFixed as BodyFixed
from mbkit.representations.hybrid import Hybrid as Hybrid
from mbkit.representations.mixed import Mixed as Mixed
from mbkit.representations.representation import Representation as Representation
from mbkit.representations.spatial import Spatial as Spatial

__all__ = ["BodyFixed", "Hybrid", "Mixed", "Representation", "Spatial"]
