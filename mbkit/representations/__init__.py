"""Twist representations: how the velocity of a body is written down, and with which recursion."""

from mbkit.representations.body_fixed import BodyFixed as BodyFixed
from mbkit.representations.conversions import convert_acceleration as convert_acceleration
from mbkit.representations.conversions import convert_jacobian as convert_jacobian
from mbkit.representations.conversions import convert_jerk as convert_jerk
from mbkit.representations.conversions import convert_twist as convert_twist
from mbkit.representations.conversions import convert_wrench as convert_wrench
from mbkit.representations.hybrid import Hybrid as Hybrid
from mbkit.representations.mixed import Mixed as Mixed
from mbkit.representations.representation import Representation as Representation
from mbkit.representations.spatial import Spatial as Spatial

__all__ = [
    "REPRESENTATIONS",
    "BodyFixed",
    "Hybrid",
    "Mixed",
    "Representation",
    "Spatial",
    "convert_acceleration",
    "convert_jacobian",
    "convert_jerk",
    "convert_twist",
    "convert_wrench",
]

#: The representations by name, for files and command lines.
REPRESENTATIONS: dict[str, Representation] = {
    each.name: each for each in (BodyFixed(), Spatial(), Hybrid(), Mixed())
}
