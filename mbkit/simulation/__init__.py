"""Simulation: a system and an integrator make a result."""

from mbkit.simulation.resume import resume as resume
from mbkit.simulation.simulate import simulate as simulate

__all__ = ["resume", "simulate"]
