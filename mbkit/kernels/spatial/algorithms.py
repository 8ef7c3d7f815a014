"""The algorithms of dynamics in spatial twists."""

from mbkit.kernels.recursions.algorithms import algorithms
from mbkit.kernels.spatial.steps import STEPS

globals().update(algorithms(STEPS, globals()))
