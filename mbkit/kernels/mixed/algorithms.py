"""The algorithms of dynamics in mixed twists."""

from mbkit.kernels.mixed.steps import STEPS
from mbkit.kernels.recursions.algorithms import algorithms

globals().update(algorithms(STEPS, globals()))
