"""The algorithms of dynamics in hybrid twists."""

from mbkit.kernels.hybrid.steps import STEPS
from mbkit.kernels.recursions.algorithms import algorithms

globals().update(algorithms(STEPS, globals()))
