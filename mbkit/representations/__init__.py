"""Twist representations: how the velocity of a body is written down, and with which recursion."""

from mbkit.catalogue import by_name
from mbkit.representations import built_in
from mbkit.representations.built_in import *
from mbkit.representations.conversions import convert_acceleration as convert_acceleration
from mbkit.representations.conversions import convert_jacobian as convert_jacobian
from mbkit.representations.conversions import convert_jerk as convert_jerk
from mbkit.representations.conversions import convert_twist as convert_twist
from mbkit.representations.conversions import convert_wrench as convert_wrench
from mbkit.representations.representation import Representation as Representation

#: The representations that mbkit brings, by the names that files and command lines have for them.
REPRESENTATIONS: dict[str, Representation] = {
    name: kind() for name, kind in by_name(built_in, Representation).items()
}
