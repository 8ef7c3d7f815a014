"""Twist representations: how the velocity of a body is written down, and with which recursion."""

from mbkit.representations.body_fixed import BodyFixed as BodyFixed
from mbkit.representations.representation import Representation as Representation

__all__ = ["BodyFixed", "Representation"]
